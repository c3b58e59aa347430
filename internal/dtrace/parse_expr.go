package dtrace

import "slices"

// Expressions.

var assignments = []string{"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}

// expression parses an expression, assignments included.
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
		p.fault(left.at, "this is not a variable and can't be set")
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

// levels are the operators between two operands. Those that bind least come first.
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

// endsPredicate reports whether the current token, a /, is followed by a clause's {.
func (p *parser) endsPredicate() bool {
	s := p.scanner
	s.space()
	return s.at == len(s.source) || s.source[s.at] == '{'
}

// types are the names of types that a cast may have, by size in bits, which is negative for signed
// types. 0: not a number.
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
		p.fault(t.at, "there is no * before a value here: -> and . follow pointers")
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

// variable reports what can't be assigned or stepped.
func (p *parser) variable(n *node) {
	switch {
	case n.op == "name", n.op == "map", n.op == "local", n.op == "this", n.op == "self", n.op == "index" && n.kids[0].op == "name":
	default:
		p.fault(n.at, "this is not a variable and can't be set")
	}
}

// postfix parses a value and what follows it.
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
	p.fault(t.at, "expected a value, not %v", t)
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

// list parses values separated by commas, up to an end.
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
			p.fault(p.token.at, "expected , or %s, not %v", end, p.token)
		}
	}
}

// suffixes parses [KEYS], ->FIELD and .FIELD after a value, and ++ and --.
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
				p.fault(p.token.at, "expected a field, not %v", p.token)
			}
			n = &node{op: "field", at: n.at, text: p.token.text, kids: []*node{n}}
			p.advance()
		default:
			return p.steps(n)
		}
		if p.nested++; p.nested > nestedMax {
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
