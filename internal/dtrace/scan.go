package dtrace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error says what is wrong with a program, and where.
type Error struct {
	Offset  int // in bytes
	Message string
	source  string
}

// Error returns the place, the message, and the line with a caret below the place.
func (e *Error) Error() string {
	line, column, text := place(e.source, e.Offset)
	blank := []byte(strings.Repeat(" ", column-1))
	for i := range blank {
		if i < len(text) && text[i] == '\t' {
			blank[i] = '\t'
		}
	}
	return fmt.Sprintf("line %d, column %d: %s\n  %s\n  %s^", line, column, e.Message, text, blank)
}

// place returns the line and column of an offset, both from 1, and the text of the line. Columns
// are characters.
func place(source string, offset int) (line, column int, text string) {
	offset = min(offset, len(source))
	from := strings.LastIndexByte(source[:offset], '\n') + 1
	text = source[from:]
	if end := strings.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	return strings.Count(source[:offset], "\n") + 1, utf8.RuneCountInString(source[from:offset]) + 1, strings.ToValidUTF8(text, "?")
}

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber // number
	tokenFloat  // text
	tokenText   // text: what the quotes hold
	tokenMap    // text: @ and the name of an aggregation, which may be empty
	tokenLocal  // text: what follows the $ of bpftrace's variables
	tokenSign   // text
)

// token is a piece of a program.
type token struct {
	kind   tokenKind
	at     int
	text   string
	number int64
}

func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// scanner splits a program into tokens.
type scanner struct {
	source string
	at     int
}

// fault gives up: it panics with an *Error, which Compile recovers. The scanner, the parser and the
// compiler use it.
func (s *scanner) fault(at int, format string, args ...any) {
	panic(&Error{Offset: at, Message: fmt.Sprintf(format, args...), source: s.source})
}

// space skips white space and comments. A line that begins with # is one: #!/usr/bin/ftrace -s, and
// pragmas, which the parser has read before.
func (s *scanner) space() {
	for s.at < len(s.source) {
		rest := s.source[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "//"), rest[0] == '#' && (s.at == 0 || s.source[s.at-1] == '\n'):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			s.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				s.fault(s.at, "a comment that does not end")
			}
			s.at += end + 4
		default:
			return
		}
	}
}

// signs are the signs of more than one character, the longest first.
var signs = []string{"<<=", ">>=", "->", "++", "--", "&&", "||", "^^", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="}

// next returns the next token.
func (s *scanner) next() token {
	s.space()
	t := token{at: s.at}
	if s.at == len(s.source) {
		return t
	}
	rest := s.source[s.at:]
	c := rest[0]
	switch {
	case isLetter(c):
		t.kind, t.text = tokenName, rest[:nameLength(rest)]
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return s.number(t, rest)
	case c == '"':
		return s.text(t, rest)
	case c == '\'':
		return s.character(t, rest)
	case c == '@':
		t.kind, t.text = tokenMap, rest[:1+nameLength(rest[1:])]
	case c == '$':
		n := nameLength(rest[1:])
		if n == 0 {
			s.fault(s.at, "$ is followed by a name; positional parameters ($1, $$1) are not supported")
		}
		t.kind, t.text = tokenLocal, rest[1:1+n]
		s.at++
	default:
		t.kind = tokenSign
		for _, sign := range signs {
			if strings.HasPrefix(rest, sign) {
				t.text = sign
				break
			}
		}
		if t.text == "" {
			if strings.IndexByte("+-*/%&|^!~<>=?:;,.()[]{}`", c) < 0 {
				r, _ := utf8.DecodeRuneInString(rest)
				s.fault(s.at, "the character %q has no meaning here", r)
			}
			t.text = rest[:1]
		}
	}
	s.at += len(t.text)
	return t
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameLength returns the length of the name with which s begins.
func nameLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || n > 0 && isDigit(s[n])) {
		n++
	}
	return n
}

// units are the suffixes of D's numbers, as durations in ns.
var units = map[string]int64{
	"ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9, "m": 60e9, "min": 60e9, "h": 3600e9, "hour": 3600e9, "d": 86400e9, "day": 86400e9,
}

// number scans a number: 10, 0x1f, 017, 1_000, 1.5, 10ms, 100ul.
func (s *scanner) number(t token, rest string) token {
	n := 0
	for n < len(rest) && (isDigit(rest[n]) || isLetter(rest[n]) || rest[n] == '.' && n+1 < len(rest) && isDigit(rest[n+1])) {
		n++
	}
	text := rest[:n]
	s.at += n
	t.text = text
	digits := strings.TrimRight(text, "uUlL")
	if !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		digits = strings.TrimRight(digits, "abcdefghijklmnopqrstuvwxyz")
	}
	unit := text[len(digits):]
	scale, timed := units[unit]
	if !timed {
		scale = 1
	}
	if unit != "" && !timed && strings.Trim(unit, "uUlL") != "" {
		s.fault(t.at, "%s is not a number", text)
	}
	if strings.Contains(digits, ".") {
		var f float64
		if _, err := fmt.Sscanf(digits+" ", "%g ", &f); err != nil || strings.Count(digits, ".") > 1 {
			s.fault(t.at, "%s is not a number", text)
		}
		if timed {
			t.kind, t.number = tokenNumber, int64(f*float64(scale))
			return t
		}
		t.kind, t.text = tokenFloat, digits
		return t
	}
	v, ok := parseInteger(digits)
	if !ok || v*scale/scale != v {
		s.fault(t.at, "%s is not a number, or is too large", text)
	}
	t.kind, t.number = tokenNumber, v*scale
	return t
}

// text scans a string.
func (s *scanner) text(t token, rest string) token {
	var b strings.Builder
	i := 1
	for {
		switch {
		case i >= len(rest) || rest[i] == '\n':
			s.fault(t.at, "a string that does not end")
		case rest[i] == '"':
			s.at += i + 1
			t.kind, t.text = tokenText, b.String()
			return t
		case rest[i] == '\\' && i+1 < len(rest):
			i += s.escape(&b, rest, i)
		default:
			b.WriteByte(rest[i])
			i++
		}
	}
}

// escape writes the character of the escape at rest[i], and returns the escape's length.
func (s *scanner) escape(b *strings.Builder, rest string, i int) int {
	const from, to = `ntrabfv0\"'?`, "\n\t\r\a\b\f\v\x00\\\"'?"
	if rest[i+1] == 'x' && i+3 < len(rest) {
		if v, ok := parseInteger("0x" + rest[i+2:i+4]); ok {
			b.WriteByte(byte(v))
			return 4
		}
	}
	k := strings.IndexByte(from, rest[i+1])
	if k < 0 {
		s.fault(s.at+i, "\\%c is not an escape", rest[i+1])
	}
	b.WriteByte(to[k])
	return 2
}

// character scans a character, which is a number.
func (s *scanner) character(t token, rest string) token {
	end := 1
	for end < len(rest) && rest[end] != '\'' && rest[end] != '\n' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(rest) || rest[end] != '\'' {
		s.fault(t.at, "a character that does not end")
	}
	var b strings.Builder
	inner := rest[1:end]
	if strings.HasPrefix(inner, `\`) && len(inner) > 1 {
		s.escape(&b, rest, 1)
	} else {
		b.WriteString(inner)
	}
	r, n := utf8.DecodeRuneInString(b.String())
	if n == 0 || n != b.Len() {
		s.fault(t.at, "%s is not one character", rest[:end+1])
	}
	s.at += end + 1
	t.kind, t.number, t.text = tokenNumber, int64(r), rest[:end+1]
	return t
}

// parseInteger reads digits in C's notation.
func parseInteger(s string) (int64, bool) {
	base := uint64(10)
	switch {
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0':
		base, s = 8, s[1:]
	}
	var v uint64
	digits := 0
	for i := range len(s) {
		c := s[i]
		var d uint64
		switch {
		case c == '_':
			continue
		case isDigit(c):
			d = uint64(c - '0')
		case c >= 'a' && c <= 'f':
			d = uint64(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = uint64(c-'A') + 10
		default:
			return 0, false
		}
		if d >= base || v > (1<<63-1-d)/base {
			return 0, false
		}
		v = v*base + d
		digits++
	}
	return int64(v), digits > 0
}
