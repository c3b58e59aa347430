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
	body         *node // nil: there is none, which is not the same as an empty one
}

// nestedMost is how deeply expressions may be nested.
const nestedMost = 200

// parser makes a tree of a program.
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

// pragmas takes in lines such as #pragma D option quiet.
func (p *parser) pragmas(t *tree) {
	at := 0
	for line := range strings.Lines(p.source) {
		if rest, ok := strings.CutPrefix(line, "#pragma"); ok {
			words := strings.Fields(rest)
			if len(words) != 3 || words[0] != "D" || words[1] != "option" {
				p.fault(at, "a pragma that is not #pragma D option NAME")
			}
			name, _, _ := strings.Cut(words[2], "=")
			switch {
			case name == "quiet":
				t.quiet = true
			case !slices.Contains(otherOptions, name):
				p.fault(at+strings.LastIndex(line, words[2]), "the option %s is not known here", name)
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
			p.fault(at, "a probe is wanted here, such as call:main::entry, not %v", p.token)
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
			p.fault(p.token.at, "the predicate goes on to a / in front of {, and not to %v", p.token)
		}
		p.advance()
		if !p.is("{") {
			p.fault(p.token.at, "behind the predicate { is wanted, not %v", p.token)
		}
	}
	switch {
	case p.is("{"):
		c.body = p.block(false)
	case p.is(";"):
	case p.token.kind == tokenEnd:
	default:
		p.fault(p.token.at, "behind the probes /PREDICATE/ or { is wanted, not %v", p.token)
	}
	return c
}

// descriptionLength returns how many bytes from here on are a probe description. A / is a predicate's if all colons are in front of it.
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

// is says whether the token is this sign.
func (p *parser) is(sign string) bool { return p.token.kind == tokenSign && p.token.text == sign }

// accept goes over this sign, if it is there.
func (p *parser) accept(sign string) bool {
	if !p.is(sign) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) want(sign string) {
	if !p.accept(sign) {
		p.fault(p.token.at, "%s is wanted here, not %v", sign, p.token)
	}
}

// block parses { ACTIONS }. The last brace of a clause is not gone over by advance, since probes follow.
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
			p.fault(p.token.at, "; or } is wanted here, not %v", p.token)
		}
	}
	if inner {
		p.advance()
	}
	return b
}

func column(source string, at int) int { _, c, _ := place(source, at); return c }
func line(source string, at int) int   { l, _, _ := place(source, at); return l }

// loops are words that begin statements which D does not have.
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
		p.fault(at, "there is no %s in D: a program for each event is to come to its end", p.token.text)
	}
	return p.expression()
}

// branch is what an if does: a block or one statement.
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
	if p.nested++; p.nested > nestedMost {
		p.fault(p.token.at, "this is nested too deeply")
	}
}

func (p *parser) shallower() { p.nested-- }

var assignments = []string{"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}

// expression parses one, with assignments.
func (p *parser) expression() *node {
	p.deeper()
	defer p.shallower()
	left := p.choice()
	if p.token.kind != tokenSign || !slices.Contains(assignments, p.token.text) {
		return left
	}
	n := &node{op: "assign", at: p.token.at, text: p.token.text}
	switch left.op {
	case "name", "map", "local", "this", "self":
	case "index":
		if left.kids[0].op == "name" {
			break
		}
		fallthrough
	default:
		p.fault(left.at, "this is no variable, and can't be set")
	}
	p.advance()
	n.kids = []*node{left, p.expression()}
	return n
}

// choice parses A ? B : C.
func (p *parser) choice() *node {
	c := p.binary(0)
	if !p.is("?") {
		return c
	}
	n := &node{op: "choice", at: p.token.at}
	p.advance()
	yes := p.expression()
	p.want(":")
	p.deeper()
	n.kids = []*node{c, yes, p.choice()}
	p.shallower()
	return n
}

// levels are the operators between two operands, those that bind least first.
var levels = [][]string{{"||"}, {"^^"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for p.token.kind == tokenSign && slices.Contains(levels[level], p.token.text) {
		if p.is("/") && p.endsPredicate() {
			break
		}
		n := &node{op: "binary", at: p.token.at, text: p.token.text}
		p.advance()
		n.kids = []*node{left, p.binary(level + 1)}
		left = n
	}
	return left
}

// endsPredicate says whether the / that is the token is followed by a clause's {.
func (p *parser) endsPredicate() bool {
	s := p.scanner
	s.space()
	return s.at == len(s.source) || s.source[s.at] == '{'
}

// types are the names of types that a cast may have, by size in bits; of those with a sign it is negative. 0: no number.
var types = map[string]int64{
	"char": -8, "short": -16, "int": -32, "long": -64, "int8_t": -8, "int16_t": -16, "int32_t": -32, "int64_t": -64, "uint8_t": 8, "uint16_t": 16, "uint32_t": 32, "uint64_t": 64,
	"int8": -8, "int16": -16, "int32": -32, "int64": -64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "uintptr_t": 64, "size_t": 64, "pid_t": -32, "string": 0,
}

func (p *parser) unary() *node {
	p.deeper()
	defer p.shallower()
	t := p.token
	if t.kind != tokenSign {
		return p.postfix()
	}
	switch t.text {
	case "!", "~", "-", "+":
		p.advance()
		return &node{op: "unary", at: t.at, text: t.text, kids: []*node{p.unary()}}
	case "++", "--":
		p.advance()
		n := &node{op: "step", at: t.at, text: t.text, number: 1, kids: []*node{p.unary()}}
		p.variable(n.kids[0])
		return n
	case "*":
		p.fault(t.at, "there is no * in front of a value here: -> and . go through pointers")
	case "(":
		p.advance()
		if _, cast := types[p.token.text]; p.token.kind == tokenName && cast {
			n := &node{op: "cast", at: t.at, text: p.token.text}
			p.advance()
			p.want(")")
			n.kids = []*node{p.unary()}
			return n
		}
		inner := p.expression()
		p.want(")")
		return p.suffixes(inner)
	}
	return p.postfix()
}

// variable faults what can't be stepped.
func (p *parser) variable(n *node) {
	switch {
	case n.op == "name", n.op == "map", n.op == "local", n.op == "this", n.op == "self", n.op == "index" && n.kids[0].op == "name":
	default:
		p.fault(n.at, "this is no variable, and can't be set")
	}
}

// postfix parses a value and what is behind it.
func (p *parser) postfix() *node {
	t := p.token
	n := &node{at: t.at, text: t.text, number: t.number}
	switch t.kind {
	case tokenNumber:
		n.op = "number"
		p.advance()
		return n
	case tokenFloat:
		n.op = "float"
		p.advance()
		return n
	case tokenText:
		n.op = "text"
		p.advance()
		return n
	case tokenMap:
		n.op = "map"
		p.advance()
		if p.accept("[") {
			n.kids = p.list("]")
		}
		return p.steps(n)
	case tokenLocal:
		n.op = "local"
		p.advance()
		return p.suffixes(n)
	case tokenName:
		return p.named(n)
	}
	p.fault(t.at, "a value is wanted here, not %v", t)
	return nil
}

// named parses a variable, a call, this->x, self->x.
func (p *parser) named(n *node) *node {
	p.advance()
	if n.text == "this" || n.text == "self" {
		if !p.accept("->") && !p.accept(".") {
			p.fault(p.token.at, "%s is followed by ->NAME", n.text)
		}
		if p.token.kind != tokenName {
			p.fault(p.token.at, "%s-> is followed by a name, not %v", n.text, p.token)
		}
		n.op, n.text = n.text, p.token.text
		p.advance()
		if p.accept("[") {
			n.kids = p.list("]")
		}
		return p.suffixes(n)
	}
	if p.accept("(") {
		n.op = "call"
		n.kids = p.list(")")
		return p.suffixes(n)
	}
	n.op = "name"
	return p.suffixes(n)
}

// list parses what is separated by commas, up to an end.
func (p *parser) list(end string) []*node {
	var list []*node
	if p.accept(end) {
		return nil
	}
	for {
		list = append(list, p.expression())
		if p.accept(end) {
			return list
		}
		if !p.accept(",") {
			p.fault(p.token.at, ", or %s is wanted here, not %v", end, p.token)
		}
	}
}

// suffixes parses [KEYS], ->FIELD and .FIELD behind a value, and ++ and --.
func (p *parser) suffixes(n *node) *node {
	for {
		at := p.token.at
		switch {
		case p.accept("["):
			n = &node{op: "index", at: n.at, kids: append([]*node{n}, p.list("]")...)}
			if len(n.kids) == 1 {
				p.fault(at, "[] is empty")
			}
		case p.accept("->"), p.accept("."):
			if p.token.kind != tokenName {
				p.fault(p.token.at, "a field is wanted here, not %v", p.token)
			}
			n = &node{op: "field", at: n.at, text: p.token.text, kids: []*node{n}}
			p.advance()
		default:
			return p.steps(n)
		}
		if p.nested++; p.nested > nestedMost {
			p.fault(at, "this is nested too deeply")
		}
		defer p.shallower()
	}
}

func (p *parser) steps(n *node) *node {
	if !p.is("++") && !p.is("--") {
		return n
	}
	p.variable(n)
	n = &node{op: "step", at: p.token.at, text: p.token.text, kids: []*node{n}}
	p.advance()
	return n
}
