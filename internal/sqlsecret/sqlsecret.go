// Package sqlsecret tells which values of an SQL statement are secret, by the names beside them.
//
// In come a statement and a pattern of package redact. Out come the statement without secret
// literals, and which of its arguments and columns are secret. Package mock/doubles/sqlrecord calls
// it. It knows no dialect: where it can't be sure, it takes a value for a secret.
package sqlsecret

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
)

// Hidden stands for a literal that is a secret.
const Hidden = "'***'"

// A Statement is a statement whose secrets are known.
type Statement struct {
	Text string // with Hidden for secret literals

	pattern string
	args    map[int]bool    // by ordinal, from 1 on
	names   map[string]bool // of arguments
	columns map[string]bool // beside those whose own name is secret
}

// Arg reports whether the argument with this ordinal or name is secret.
func (s *Statement) Arg(ordinal int, name string) bool {
	return s.args[ordinal] || name != "" && (s.names[name] || redact.Secret(s.pattern, name))
}

// Column reports whether values of the column with this name are secret.
func (s *Statement) Column(name string) bool {
	return s.columns[strings.ToLower(name)] || redact.Secret(s.pattern, name)
}

// Parse finds the secrets of a statement.
func Parse(pattern, statement string) *Statement {
	s := &Statement{Text: statement, pattern: pattern, args: map[int]bool{}, names: map[string]bool{}, columns: map[string]bool{}}
	if pattern != "" {
		p := &parser{Statement: s, tokens: tokens(statement), groups: []*group{{}}}
		p.parse()
	}
	return s
}

// A kind is a kind of token. Quoted is a name to some databases, and a string to others.
type kind byte

const (
	word kind = iota
	quoted
	literal
	param
	operator
	open
	closing
	comma
	other
)

type token struct {
	kind kind
	text string
}

// tokens splits a statement. The texts of all tokens are the statement, but for white space and
// comments, which are tokens of the kind other.
func tokens(s string) (list []token) {
	isWord := func(c byte) bool {
		return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	for s != "" {
		n, k := 1, other
		words := func() {
			for n < len(s) && isWord(s[n]) {
				n++
			}
		}
		switch c := s[0]; {
		case strings.HasPrefix(s, "--"), c == '#' && (len(s) == 1 || s[1] != '>'):
			n = until(s, "\n")
		case strings.HasPrefix(s, "/*"):
			n = until(s, "*/")
		case strings.HasPrefix(s, "::"):
			n = 2
		case c == '\'':
			n, k = quote(s, true), literal
		case c == '"':
			n, k = quote(s, true), quoted
		case c == '`':
			n, k = quote(s, false), word
		case c == '[':
			if end := strings.IndexAny(s, "]'\"(,"); end > 0 && s[end] == ']' {
				n, k = end+1, word
			}
		case c == '?', (c == '$' || c == ':' || c == '@') && len(s) > 1 && (isWord(s[1]) || s[1] == '@'):
			k = param
			for n < len(s) && s[n] == '@' {
				n++
			}
			words()
		case '0' <= c && c <= '9':
			k = literal
			for n < len(s) && (isWord(s[n]) || s[n] == '.') {
				n++
			}
		case isWord(c):
			k = word
			words()
			if n < len(s) && s[n] == '\'' && n == 1 { // as in N'text' and x'00'
				n, k = n+quote(s[n:], true), literal
			}
		case c == '(':
			k = open
		case c == ')':
			k = closing
		case c == ',':
			k = comma
		case strings.IndexByte("=<>!~", c) >= 0:
			k = operator
		}
		list = append(list, token{k, s[:n]})
		s = s[n:]
	}
	return list
}

// until returns the length of s to the end of what ends a comment.
func until(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

// quote returns the length of the quoted text that s begins with.
func quote(s string, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == s[0] && i+1 < len(s) && s[i+1] == s[0]:
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// A group is what is between parentheses, or the statement.
type group struct {
	base    bool // all values in it are secret
	active  bool // those that follow are, until what ends an expression
	last    bool // the name that came last is secret
	between bool // BETWEEN came, and its AND did not
	inner   bool // a secret name is in it

	selects bool     // what follows are columns to select
	names   []string // in this column
	secret  bool     // this column has a secret name in it

	list   bool // it is INSERT's list of columns
	row    bool // it is a row of values of INSERT, or what that selects
	column int  // of that list or row
}

type parser struct {
	*Statement
	tokens  []token
	groups  []*group
	n       int    // parameters without a name
	into    bool   // INTO came: a list of columns may follow
	inserts []bool // which of INSERT's columns are secret
	values  bool   // VALUES came
}

// ends are the words that end an expression.
var ends = []string{"and", "or", "where", "set", "values", "value", "from", "on", "then", "else", "when", "end", "having", "group", "order", "limit", "offset",
	"returning", "union", "select", "into", "update", "using", "join"}

// compares are the words that compare.
var compares = []string{"like", "ilike", "in", "is", "regexp", "rlike", "similar", "between", "identified"}

func (p *parser) parse() {
	var out strings.Builder
	var tokens []token
	for _, t := range p.tokens { // without what has no meaning
		if t.kind != other || strings.TrimSpace(t.text) == "." {
			tokens = append(tokens, t)
		}
	}
	at := -1
	for _, t := range p.tokens {
		if t.kind != other || strings.TrimSpace(t.text) == "." {
			at++
		}
		if p.token(tokens, at, t) {
			t.text = Hidden
		}
		out.WriteString(t.text)
	}
	for _, g := range p.groups {
		p.endColumn(g)
	}
	p.Text = out.String()
}

// token goes on by a token, and reports whether it is a literal that is secret.
func (p *parser) token(tokens []token, at int, t token) (hide bool) {
	g := p.groups[len(p.groups)-1]
	switch t.kind {
	case word:
		p.word(g, t.text)
	case quoted:
		if g.list || !g.active && !g.base {
			p.word(g, t.text)
		}
		return p.secret(g, tokens, at) && !g.list
	case literal:
		return p.secret(g, tokens, at)
	case param:
		name := strings.TrimLeft(t.text, "?$:@")
		secret := p.secret(g, tokens, at)
		ordinal, err := strconv.Atoi(strings.TrimPrefix(name, "p"))
		switch {
		case name == "":
			p.n++
			p.args[p.n] = secret
		case err == nil:
			p.args[ordinal] = p.args[ordinal] || secret
		default:
			p.names[name] = p.names[name] || secret
			p.word(g, name)
		}
	case operator:
		g.active = g.base || g.active || g.last
	case comma:
		g.column++
		p.endColumn(g)
		p.endExpression(g)
	case open:
		function := at > 0 && tokens[at-1].kind == word && redact.Secret(p.pattern, tokens[at-1].text)
		inner := &group{base: g.active || g.base || function}
		if p.into && len(p.groups) == 1 {
			inner.list, p.into = true, false
		}
		inner.row = p.values && len(p.groups) == 1
		inner.base = inner.base && !inner.list && !inner.row
		inner.active = inner.base
		p.groups = append(p.groups, inner)
	case closing:
		p.endColumn(g)
		if len(p.groups) == 1 {
			break
		}
		p.groups = p.groups[:len(p.groups)-1]
		outer := p.groups[len(p.groups)-1]
		outer.last = outer.last || g.inner
		outer.secret = outer.secret || g.inner
		outer.inner = outer.inner || g.inner
	}
	return false
}

// word goes on by a name or a keyword.
func (p *parser) word(g *group, text string) {
	name := strings.Trim(text, "`\"[]")
	secret := redact.Secret(p.pattern, name)
	key := strings.ToLower(text)
	switch {
	case g.list:
		for len(p.inserts) <= g.column {
			p.inserts = append(p.inserts, false)
		}
		p.inserts[g.column] = secret
		return
	case key == "and" && g.between:
		g.between = false
		return
	case slices.Contains(compares, key):
		g.active = g.base || g.active || g.last || key == "identified"
		g.between = key == "between"
		return
	case slices.Contains(ends, key):
		p.endExpression(g)
		if key == "from" || key == "union" || key == "where" {
			p.endColumn(g)
			g.selects = false
		}
		g.selects = g.selects || key == "select" || key == "returning"
		switch {
		case key == "select" && len(p.groups) == 1: // as of INSERT ... SELECT
			g.row, g.column = true, 0
		case slices.Contains([]string{"from", "where", "union", "returning", "on", "set"}, key):
			g.row = false
		}
		p.into = p.into || key == "into"
		p.values = (p.values || key == "values" || key == "value") && key != "on" && key != "returning"
		return
	}
	// A name that is not secret leaves the one before it in force, as in PASSWORD FOR.
	g.last = g.last && !g.selects || secret
	g.inner = g.inner || secret
	g.secret = g.secret || secret
	g.names = append(g.names, strings.ToLower(name))
}

func (p *parser) endExpression(g *group) { g.active, g.last, g.between = g.base, false, false }

// endColumn ends a column that is selected. All names that it may have in the result are secret if
// one in it is.
func (p *parser) endColumn(g *group) {
	if g.selects && g.secret {
		for _, name := range g.names {
			p.columns[name] = true
		}
	}
	g.names, g.secret = nil, false
}

// secret reports whether the value that a token is or stands for is secret.
func (p *parser) secret(g *group, tokens []token, at int) bool {
	row := g
	for _, outer := range p.groups {
		if outer.row {
			row = outer
			break
		}
	}
	next := at + 1
	for next < len(tokens) && tokens[next].kind == operator {
		next++
	}
	reversed := next > at+1 && next < len(tokens) && tokens[next].kind <= quoted && redact.Secret(p.pattern, tokens[next].text)
	direct := at > 0 && tokens[at-1].kind == word && redact.Secret(p.pattern, tokens[at-1].text) // as in PASSWORD 'x'
	return g.active || reversed || direct || row.row && row.column < len(p.inserts) && p.inserts[row.column]
}
