package language

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A kind of token.
type kind uint8

const (
	word   kind = iota // an identifier or keyword
	name               // an identifier in backquotes
	str                // a string
	num                // a number
	op                 // an operator or a punctuation mark
	sysVar             // @@name
	usrVar             // @name
	param              // ?, with its number: ?1
)

// A token of a statement in MySQL's spelling.
type token struct {
	kind       kind
	text       string // of names, strings and variables: their meaning
	start, end int    // in the statement
}

// is reports whether a token is a keyword or an operator.
func (t *token) is(s string) bool {
	return (t.kind == word || t.kind == op) && strings.EqualFold(t.text, s)
}

// identifier reports whether a token may be a name.
func (t *token) identifier() bool { return t.kind == word || t.kind == name }

// maxTokens is how many tokens a statement can have.
const maxTokens = 1 << 20

// The content of /*!50700 x */ counts for MySQL from 5.7.0 on, and that of /*M!101100 x */ for
// MariaDB from 10.11.0 on. These are the versions that the server is like.
const (
	mysqlVersion   = 50744
	mariadbVersion = 101199
)

// tokens splits a statement. Comments are left out, except for /*! */ and /*M! */, whose content
// counts unless it is for a later version.
func tokens(s string) ([]token, error) {
	var list []token
	conditional := false // within /*! */
	params := 0
	var parts []string // of the string that is the last token, if it has several parts
	add := func(t token) {
		if last := len(list) - 1; parts != nil {
			list[last].text, parts = strings.Join(parts, ""), nil
		}
		list = append(list, t)
	}
	for i := 0; i < len(s); {
		if len(list) > maxTokens {
			return nil, mysqlerr.New(mysqlerr.Memory, "Out of memory: a statement can have %d words, numbers and marks", maxTokens)
		}
		c, start := s[i], i
		rest := s[i:]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				i += n
			} else {
				i = len(s)
			}
			continue
		case strings.HasPrefix(rest, "/*!"), strings.HasPrefix(rest, "/*M!"):
			mark, latest := "/*!", mysqlVersion
			if rest[2] == 'M' {
				mark, latest = "/*M!", mariadbVersion
			}
			content := strings.TrimLeft(rest[len(mark):], "0123456789")
			version, err := strconv.Atoi("0" + rest[len(mark):len(rest)-len(content)])
			if err == nil && version <= latest {
				i += len(rest) - len(content)
				conditional = true
				continue
			}
			n := comment(rest)
			if n == 0 {
				return nil, mysqlerr.Near(rest)
			}
			i += n
			continue
		case conditional && strings.HasPrefix(rest, "*/"):
			conditional = false
			i += 2
			continue
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return nil, mysqlerr.Near(rest)
			}
			i += n + 4
			continue
		case len(rest) > 1 && rest[1] == '\'' && strings.IndexByte("xXbBnN", c) >= 0:
			t, n := prefixed(rest)
			if n == 0 {
				return nil, mysqlerr.Near(rest)
			}
			i += n
			t.start, t.end = start, i
			add(t)
			continue
		case c == '\'' || c == '"' || c == '`':
			text, n := quoted(rest)
			k := str
			if c == '`' {
				k = name
			}
			if n == 0 || k == name && strings.Contains(text, "\x00") {
				return nil, mysqlerr.Near(rest)
			}
			i += n
			if last := len(list) - 1; k == str && last >= 0 && list[last].kind == str { // 'a' 'b' is 'ab'
				if parts == nil {
					parts = []string{list[last].text}
				}
				parts = append(parts, text)
				list[last].end = i
				continue
			}
			add(token{k, text, start, i})
			continue
		case c == '@':
			k := usrVar
			if i++; i < len(s) && s[i] == '@' {
				k = sysVar
				i++
			}
			if i < len(s) && (s[i] == '`' || s[i] == '\'' || s[i] == '"') {
				text, n := quoted(s[i:])
				if n == 0 {
					return nil, mysqlerr.Near(rest)
				}
				i += n
				add(token{k, text, start, i})
				continue
			}
			from := i
			for i < len(s) && (wordByte(s[i]) || s[i] == '.') {
				i++
			}
			add(token{k, s[from:i], start, i})
			continue
		case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
			i += len(written().FindString(rest))
			if c != '.' && i < len(s) && wordByte(s[i]) && s[start] != '0' {
				// An identifier may begin with digits.
				for i < len(s) && wordByte(s[i]) {
					i++
				}
				add(token{word, s[start:i], start, i})
				continue
			}
			t := token{num, s[start:i], start, i}
			if bits, ok := strings.CutPrefix(t.text, "0b"); ok {
				var known bool
				if t.text, known = binary(bits); !known {
					return nil, mysqlerr.Near(rest)
				}
			}
			add(t)
			continue
		case wordByte(c):
			for i < len(s) && wordByte(s[i]) {
				i++
			}
			add(token{word, s[start:i], start, i})
			continue
		case c == '?':
			i++
			params++
			add(token{param, fmt.Sprint("?", params), start, i})
			continue
		case c < ' ', c == '[', c == ']', c == ':' && !strings.HasPrefix(rest, ":="): // they mean something to SQLite
			return nil, mysqlerr.Near(rest)
		}
		n := 1
		for _, o := range []string{"<=>", "<=", ">=", "<>", "!=", ":=", "&&", "||", "<<", ">>", "->>", "->"} {
			if strings.HasPrefix(rest, o) {
				n = len(o)
				break
			}
		}
		if c >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(rest)
		}
		i += n
		add(token{op, s[start:i], start, i})
	}
	if parts != nil {
		list[len(list)-1].text = strings.Join(parts, "")
	}
	return list, nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// prefixed returns the token made by x'..', b'..' or n'..', and its length; 0 if there is none.
func prefixed(s string) (token, int) {
	text, n := quoted(s[1:])
	if n == 0 {
		return token{}, 0
	}
	ok, k := true, str
	switch s[0] {
	case 'x', 'X':
		b, err := hex.DecodeString(text)
		text, ok = string(b), err == nil
	case 'b', 'B':
		k = num
		text, ok = binary(text)
	}
	if !ok {
		return token{}, 0
	}
	return token{kind: k, text: text}, n + 1
}

// binary returns binary digits as decimal ones.
func binary(digits string) (string, bool) {
	n, err := strconv.ParseUint(digits, 2, 63)
	return strconv.FormatUint(n, 10), err == nil
}

// written matches the number that a text begins with.
var written = words.Regexp(`^(0[xX][0-9a-fA-F]*|0b[01]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)`)

// comment returns the length of the comment with which s begins, which may have others in it; 0 if
// it has no end.
func comment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); {
		switch s[i : i+2] {
		case "/*":
			depth++
			i += 2
		case "*/":
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return 0
}

// quoted returns the meaning of the quoted text with which s begins, and its length; 0 if the text
// does not end.
func quoted(s string) (string, int) {
	q := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch {
		case c == q && i+1 < len(s) && s[i+1] == q:
			b.WriteByte(q)
			i++
		case c == q:
			return b.String(), i + 1
		case c == '\\' && q != '`' && i+1 < len(s):
			i++
			if at := strings.IndexByte("ntrb0Z", s[i]); at >= 0 {
				b.WriteByte("\n\t\r\b\x00\x1a"[at])
				break
			}
			if s[i] == '%' || s[i] == '_' { // they are LIKE's
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0
}
