package dtrace

import (
	"slices"
	"strings"
)

// node is a part of a program's tree.
//
//	number   number                  text    text              float  text
//	name     text                    map     text, keys        local  text       this, self  text, keys
//	index    what, keys              field   what, text        call   text, arguments
//	unary    text (! ~ - +), operand  cast   text, operand
//	binary   text, left, right       choice  condition, yes, no
//	assign   text (= += ...), left, right     step  text (++ --), operand; number is 1 in front of it
//	if       condition, block, block          block  statements
type node struct {
	op     string
	at     int
	text   string
	number int64
	kids   []*node
}

// tree is a program as it is written.
type tree struct {
	source  string
	quiet   bool
	clauses []*clauseTree
}

type clauseTree struct {
	at           int
	descriptions []*description
	predicate    *node // nil: always
	body         *node // nil: there is none, which differs from an empty one
}

// nestedMax is how deeply expressions may be nested.
const nestedMax = 200

// parser makes the tree of a program.
type parser struct {
	scanner
	token  token
	nested int
}

// parse makes the tree. It panics with an *Error.
func parse(source string) *tree {
	p := &parser{scanner: scanner{source: source}}
	t := &tree{source: source}
	p.pragmas(t)
	for {
		p.space()
		if p.at == len(source) {
			break
		}
		t.clauses = append(t.clauses, p.clause())
	}
	if len(t.clauses) == 0 {
		p.fault(0, "the program is empty: a clause is PROBES /PREDICATE/ { ACTIONS }")
	}
	return t
}

// otherOptions are options of dtrace that make no difference here.
var otherOptions = []string{"aggrate", "aggsize", "aggsortkey", "bufpolicy", "bufresize", "bufsize", "cleanrate", "cpu", "defaultargs", "dynvarsize", "nspec", "specsize", "stackframes", "statusrate", "strsize", "switchrate", "ustackframes"}

// pragmas reads lines such as #pragma D option quiet.
func (p *parser) pragmas(t *tree) {
	at := 0
	for line := range strings.Lines(p.source) {
		if rest, ok := strings.CutPrefix(line, "#pragma"); ok {
			words := strings.Fields(rest)
			if len(words) != 3 || words[0] != "D" || words[1] != "option" {
				p.fault(at, "the only pragma is #pragma D option NAME")
			}
			name, _, _ := strings.Cut(words[2], "=")
			switch {
			case name == "quiet":
				t.quiet = true
			case !slices.Contains(otherOptions, name):
				p.fault(at+strings.LastIndex(line, words[2]), "unknown option %s", name)
			}
		}
		at += len(line)
	}
}

// clause parses PROBES /PREDICATE/ { ACTIONS }.
func (p *parser) clause() *clauseTree {
	c := &clauseTree{at: p.at}
	for {
		p.space()
		at := p.at
		text := p.source[at : at+p.descriptionLength()]
		p.at += len(text)
		if text == "" {
			p.advance()
			p.fault(at, "expected a probe, such as call:main::entry, not %v", p.token)
		}
		c.descriptions = append(c.descriptions, p.newDescription(at, text))
		p.space()
		if p.at == len(p.source) || p.source[p.at] != ',' {
			break
		}
		p.at++
	}
	p.advance()
	if p.is("/") {
		p.advance()
		c.predicate = p.expression()
		if !p.is("/") {
			p.fault(p.token.at, "the predicate ends with a / before {, not with %v", p.token)
		}
		p.advance()
		if !p.is("{") {
			p.fault(p.token.at, "expected { after the predicate, not %v", p.token)
		}
	}
	switch {
	case p.is("{"):
		c.body = p.block(false)
	case p.is(";"):
	case p.token.kind == tokenEnd:
	default:
		p.fault(p.token.at, "expected /PREDICATE/ or { after the probes, not %v", p.token)
	}
	return c
}

// descriptionLength returns how many bytes from here on belong to a probe description. A / begins a
// predicate if all colons come before it.
func (p *parser) descriptionLength() int {
	rest := p.source[p.at:]
	end := strings.IndexAny(rest, " \t\r\n,{;")
	if end < 0 {
		end = len(rest)
	}
	rest = rest[:end]
	last := strings.LastIndexByte(rest, ':')
	if strings.Count(rest, ":") > 3 {
		last = 0
		for range 3 {
			last += 1 + strings.IndexByte(rest[last:], ':')
		}
	}
	if i := strings.IndexByte(rest[last+1:], '/'); i >= 0 {
		end = last + 1 + i
	}
	return end
}

func (p *parser) advance() { p.token = p.next() }

// is reports whether the token is this sign.
func (p *parser) is(sign string) bool { return p.token.kind == tokenSign && p.token.text == sign }

// accept skips this sign if it is next, and reports whether it was.
func (p *parser) accept(sign string) bool {
	if !p.is(sign) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) want(sign string) {
	if !p.accept(sign) {
		p.fault(p.token.at, "expected %s, not %v", sign, p.token)
	}
}

// block parses { ACTIONS }. It does not call advance for the last brace of a clause, since probes
// follow.
func (p *parser) block(inner bool) *node {
	p.deeper()
	defer p.shallower()
	b := &node{op: "block", at: p.token.at}
	p.want("{")
	for !p.is("}") {
		if p.accept(";") {
			continue
		}
		if p.token.kind == tokenEnd {
			p.fault(p.token.at, "the { at column %d of line %d is not closed", column(p.source, b.at), line(p.source, b.at))
		}
		s := p.statement()
		b.kids = append(b.kids, s)
		if s.op != "if" && s.op != "block" && !p.is("}") && !p.is(";") && p.token.kind != tokenEnd {
			p.fault(p.token.at, "expected ; or }, not %v", p.token)
		}
	}
	if inner {
		p.advance()
	}
	return b
}

func column(source string, at int) int { _, c, _ := place(source, at); return c }
func line(source string, at int) int   { l, _, _ := place(source, at); return l }

// loops are words that begin statements that D does not have.
var loops = []string{"for", "while", "do", "unroll", "switch", "goto", "return"}

func (p *parser) statement() *node {
	at := p.token.at
	switch {
	case p.is("{"):
		return p.block(true)
	case p.token.kind == tokenName && p.token.text == "if":
		p.advance()
		p.want("(")
		n := &node{op: "if", at: at, kids: []*node{p.expression()}}
		p.want(")")
		n.kids = append(n.kids, p.branch())
		if p.accept(";") && !(p.token.kind == tokenName && p.token.text == "else") {
			return n
		}
		if p.token.kind == tokenName && p.token.text == "else" {
			p.advance()
			n.kids = append(n.kids, p.branch())
		}
		return n
	case p.token.kind == tokenName && slices.Contains(loops, p.token.text):
		p.fault(at, "there is no %s in D: a program must end for each event", p.token.text)
	}
	return p.expression()
}

// branch parses the body of an if: a block or one statement.
func (p *parser) branch() *node {
	p.deeper()
	defer p.shallower()
	if p.is("{") {
		return p.block(true)
	}
	s := p.statement()
	return &node{op: "block", at: s.at, kids: []*node{s}}
}

func (p *parser) deeper() {
	if p.nested++; p.nested > nestedMax {
		p.fault(p.token.at, "this is nested too deeply")
	}
}

func (p *parser) shallower() { p.nested-- }
