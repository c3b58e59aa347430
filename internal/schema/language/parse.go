package language

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A parser makes trees of a statement's tokens. What MySQL's grammar does not have is an error near
// its first token; so is what is not understood of it.
//
// MySQL's operators, from those that bind least: := | OR || | XOR | AND && | NOT | = <=> < > <= >=
// <> != IS LIKE REGEXP IN BETWEEN | the mark | for bits | & | << >> | + - | * / DIV % MOD | ^ | - ~
// as prefixes | ! BINARY COLLATE.
type parser struct {
	*Statement
	i       int // the next token
	nested  int
	deepest int // of the expressions since the query began
}

// failure is what the parser and the restorer panic with, to be caught where they are called.
type failure struct{ err error }

func fail(err error) { panic(failure{err}) }

// caught gives the caller of a parser or a restorer its failure as an error.
func caught(err *error) {
	if p := recover(); p != nil {
		f, ok := p.(failure)
		if !ok {
			panic(p)
		}
		*err = f.err
	}
}

// TooDeep returns the error of a statement that is nested too deep.
func TooDeep() *mysqlerr.Error {
	return mysqlerr.New(mysqlerr.TooDeep, "Thread stack overrun: a statement can have %d nested parentheses or operators", engine.MaxDepth)
}

// parse calls f with a parser that begins at a token, and returns the first token that f left.
func (st *Statement) parse(i int, f func(*parser)) (next int, err error) {
	defer caught(&err)
	p := &parser{Statement: st, i: i}
	f(p)
	return p.i, nil
}

// read calls f with a parser that begins at a token, and has to come to the statement's end.
func read[T any](st *Statement, i int, f func(*parser) T) (t T, err error) {
	_, err = st.parse(i, func(p *parser) { t = f(p); p.end() })
	return t, err
}

// next returns the next token.
func (p *parser) next() *token { return p.at(p.i) }

// is reports whether the next tokens are these.
func (p *parser) is(words ...string) bool { return p.Is(p.i, words...) }

// among reports whether the next token is one of these.
func (p *parser) among(words ...string) bool {
	return slices.ContainsFunc(words, p.next().is)
}

// accept goes beyond the next tokens if they are these.
func (p *parser) accept(words ...string) bool {
	if !p.is(words...) {
		return false
	}
	p.i += len(words)
	return true
}

// taken goes beyond the next token, and returns it in capitals.
func (p *parser) taken() string {
	p.i++
	return strings.ToUpper(p.at(p.i - 1).text)
}

// label goes beyond a name or a string, and returns it.
func (p *parser) label() string {
	t := p.next()
	if !t.identifier() && t.kind != str {
		p.syntax()
	}
	p.i++
	return t.text
}

func (p *parser) syntax() { fail(mysqlerr.Near(p.rest(p.i))) }

func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.syntax()
		}
	}
}

// end fails if tokens are left.
func (p *parser) end() {
	if p.i < len(p.tokens) {
		p.syntax()
	}
}

// reserved are the words that are names only in backquotes, after a point, or after AS.
var reserved = setOf(`ALL AND AS ASC BETWEEN BY CASE COLLATE CROSS DELETE DESC DISTINCT DISTINCTROW DIV ELSE
	EXCEPT EXISTS FALSE FOR FORCE FROM GROUP HAVING IGNORE IN INNER INSERT INTERSECT INTERVAL
	INTO IS JOIN LATERAL LEFT LIKE LIMIT LOCK MOD NATURAL NOT NULL ON OR ORDER OUTER OVER
	PARTITION PROCEDURE REGEXP RENAME REPLACE RIGHT RLIKE SELECT SEPARATOR SET STRAIGHT_JOIN
	TABLE THEN TRUE UNION UPDATE USE USING VALUES WHEN WHERE WINDOW WITH XOR BINARY CONVERT CAST`)

// called are reserved words that are functions too.
var called = setOf("IF LEFT RIGHT REPLACE INSERT MOD VALUES")

func isReserved(t *token) bool { return t.kind == word && reserved[strings.ToUpper(t.text)] }

// name reads a name, which may be any word if it is qualified.
func (p *parser) name(qualified bool) string {
	t := p.next()
	if !t.identifier() || !qualified && isReserved(t) {
		p.syntax()
	}
	if ownName(t.text) {
		fail(enginesName(t.text))
	}
	p.i++
	return t.text
}

// alias reads [AS] name.
func (p *parser) alias(allowString bool) (name string, any bool) {
	as := p.accept("AS")
	switch t := p.next(); {
	case t.kind == str && (allowString || as):
		p.i++
		return t.text, true
	case as:
		return p.name(true), true
	case t.identifier() && !isReserved(t):
		return p.name(false), true
	}
	return "", false
}

// deeper counts what stands within something else, and returns what ends it.
func (p *parser) deeper() func() {
	if p.nested++; p.nested > engine.MaxDepth {
		fail(TooDeep())
	}
	return func() { p.nested-- }
}

// node completes an expression that began at a token.
func (p *parser) node(first int, e *expr) *expr {
	e.first, e.last = first, p.i-1
	e.children(func(c *expr) *expr {
		e.depth = max(e.depth, c.depth)
		return c
	})
	if e.query != nil {
		e.depth = max(e.depth, e.query.depth)
	}
	if e.depth++; e.depth > engine.MaxDepth {
		fail(TooDeep())
	}
	p.deepest = max(p.deepest, e.depth)
	return e
}

func (p *parser) binary(first int, op string, a, b *expr) *expr {
	return p.node(first, &expr{form: binaryForm, text: op, args: []*expr{a, b}})
}

// exprs reads expressions with commas between them.
func (p *parser) exprs() (list []*expr) {
	for {
		list = append(list, p.expr())
		if !p.accept(",") {
			return list
		}
	}
}

// truths are the operators of truth, from those that bind least.
var truths = []map[string]string{{"OR": "OR", "||": "OR"}, {"XOR": "XOR"}, {"AND": "AND", "&&": "AND"}}

// expr reads an expression.
func (p *parser) expr() *expr {
	defer p.deeper()()
	return p.logic(0)
}

func (p *parser) logic(level int) *expr {
	if level == len(truths) {
		return p.negation()
	}
	first := p.i
	e := p.logic(level + 1)
	for {
		t := p.next()
		operator, ok := truths[level][strings.ToUpper(t.text)]
		if !ok || t.kind != word && t.kind != op {
			return e
		}
		p.i++
		e = p.binary(first, operator, e, p.logic(level+1))
	}
}

func (p *parser) negation() *expr {
	first := p.i
	if !p.accept("NOT") {
		return p.comparison()
	}
	defer p.deeper()()
	return p.node(first, &expr{form: prefixForm, text: "NOT", args: []*expr{p.negation()}})
}

// compares are the operators that compare.
var compares = setOf("= <=> < > <= >= <> !=")

func (p *parser) comparison() *expr {
	first := p.i
	e := p.predicate()
	for {
		t := p.next()
		switch {
		case t.kind == op && compares[t.text]:
			p.i++
			if p.among("ANY", "SOME", "ALL") && p.at(p.i+1).is("(") {
				at, all := p.i, p.is("ALL")
				p.i++
				of := p.node(at, &expr{form: anyForm, not: all, query: p.enclosedQuery()})
				e = p.binary(first, t.text, e, of)
				continue
			}
			e = p.binary(first, t.text, e, p.predicate())
		case p.accept("IS"):
			is := &expr{form: isForm, args: []*expr{e}, not: p.accept("NOT")}
			if is.text = strings.ToUpper(p.next().text); !p.among("NULL", "TRUE", "FALSE", "UNKNOWN") {
				p.syntax()
			}
			p.i++
			e = p.node(first, is)
		default:
			return e
		}
	}
}

func (p *parser) predicate() *expr {
	first := p.i
	e := p.bits(0)
	for {
		not := p.is("NOT") && (p.at(p.i+1).is("IN") || p.at(p.i+1).is("LIKE") || p.at(p.i+1).is("BETWEEN") || p.at(p.i+1).is("REGEXP") || p.at(p.i+1).is("RLIKE"))
		if not {
			p.i++
		}
		switch {
		case p.accept("IN"):
			in := &expr{form: inForm, args: []*expr{e}, not: not}
			if p.beginsQuery(p.i) {
				in.query = p.enclosedQuery()
			} else {
				p.expect("(")
				in.args = append(in.args, p.exprs()...)
				p.expect(")")
			}
			e = p.node(first, in)
		case p.accept("LIKE"):
			like := &expr{form: likeForm, args: []*expr{e, p.bits(0)}, not: not}
			if p.accept("ESCAPE") {
				like.args = append(like.args, p.prefix())
			}
			e = p.node(first, like)
		case p.accept("REGEXP"), p.accept("RLIKE"):
			e = p.node(first, &expr{form: binaryForm, text: "REGEXP", args: []*expr{e, p.bits(0)}, not: not})
		case p.accept("BETWEEN"):
			from := p.bits(0)
			p.expect("AND")
			e = p.node(first, &expr{form: betweenForm, args: []*expr{e, from, p.predicate()}, not: not})
		case p.is("SOUNDS", "LIKE"):
			fail(mysqlerr.NotYet("SOUNDS LIKE"))
		default:
			return e
		}
	}
}

// arithmetic are the operators of numbers, from those that bind least.
var arithmetic = [][]string{{"|"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "DIV", "%", "MOD"}, {"^"}}

// sums is the level of + and -.
const sums = 3

func (p *parser) bits(level int) *expr {
	if level == len(arithmetic) {
		return p.prefix()
	}
	first := p.i
	e := p.bits(level + 1)
	for p.among(arithmetic[level]...) {
		op := p.taken()
		b := p.bits(level + 1)
		if level == sums && (e.form == intervalForm || b.form == intervalForm) {
			e = p.shift(first, op, e, b)
			continue
		}
		e = p.binary(first, op, e, b)
	}
	return e
}

// shift completes a sum of a time and an interval.
func (p *parser) shift(first int, operator string, a, b *expr) *expr {
	bare := func(e *expr) bool { return e.enclosed || e.form != binaryForm }
	switch {
	case b.form == intervalForm && a.form != intervalForm && bare(a):
	case a.form == intervalForm && b.form != intervalForm && bare(b) && operator == "+":
		// More than one operand means different things in MySQL and MariaDB.
		t := p.next()
		if p.among("+", "-", "*", "/", "DIV", "%", "MOD", "^", "|", "&", "<<", ">>", "IS", "IN", "LIKE", "BETWEEN", "REGEXP", "RLIKE", "NOT") || t.kind == op && compares[t.text] {
			fail(functions.IntervalError(p.rest(a.first)))
		}
	case a.form == intervalForm:
		fail(functions.IntervalError(p.rest(a.first)))
	default:
		fail(functions.IntervalError(p.rest(b.first)))
	}
	return p.node(first, &expr{form: shiftForm, text: operator, args: []*expr{a, b}})
}

func (p *parser) prefix() *expr {
	first := p.i
	t := p.next()
	switch {
	case t.kind == op && (t.text == "-" || t.text == "+" || t.text == "~" || t.text == "!"):
	case t.is("BINARY") && !p.at(p.i+1).is("."):
	default:
		return p.collated()
	}
	defer p.deeper()()
	p.i++
	return p.node(first, &expr{form: prefixForm, text: strings.ToUpper(t.text), args: []*expr{p.prefix()}})
}

// collated reads a value and what may come after each.
func (p *parser) collated() *expr {
	first := p.i
	e := p.value()
	for {
		switch {
		case p.accept("COLLATE"):
			name := p.label()
			e = p.node(first, &expr{form: collateForm, text: name, args: []*expr{e}})
		case e.form == columnForm && (p.is("->") || p.is("->>")) && p.at(p.i+1).kind == str:
			op := p.next().text
			path := &expr{form: stringForm, text: p.at(p.i + 1).text}
			p.i += 2
			e = p.binary(first, op, e, path)
		default:
			return e
		}
	}
}

// beginsQuery reports whether a parenthesis at a token is around a query that no expression begins
// with.
func (p *parser) beginsQuery(i int) bool {
	t := p.at(i + 1)
	return p.at(i).is("(") && (t.is("SELECT") || t.is("WITH") || t.is("TABLE") && p.at(i+2).identifier() || t.is("VALUES") && (p.at(i+2).is("ROW") || p.at(i+2).is("(")))
}

// value reads a value without operators.
func (p *parser) value() *expr {
	first, t := p.i, p.next()
	take := func(e *expr) *expr {
		p.i++
		return p.node(first, e)
	}
	switch t.kind {
	case str:
		return take(&expr{form: stringForm, text: t.text})
	case num:
		return take(&expr{form: numberForm, text: t.text})
	case param:
		return take(&expr{form: paramForm, text: t.text})
	case sysVar:
		return take(&expr{form: sysForm, text: t.text})
	case usrVar:
		if p.i++; !p.accept(":=") {
			return p.node(first, &expr{form: userForm, text: strings.ToLower(t.text)})
		}
		return p.node(first, &expr{form: assignForm, text: strings.ToLower(t.text), args: []*expr{p.expr()}})
	case op:
		switch {
		case p.beginsQuery(p.i):
			q := p.enclosedQuery()
			return p.node(first, &expr{form: queryForm, query: q})
		case p.is("("):
			return p.parenthesis()
		case p.accept("*"):
			return p.node(first, &expr{form: starForm})
		}
		p.syntax()
	}
	if t.kind == word {
		if e := p.keyword(first, t); e != nil {
			return e
		}
	}
	e := &expr{form: columnForm, path: []string{p.name(false)}, quoted: t.kind == name}
	for p.accept(".") {
		if p.accept("*") {
			e.form = starForm
			return p.node(first, e)
		}
		e.quoted = p.next().kind == name
		e.path = append(e.path, p.name(true))
	}
	if len(e.path) > 1 && p.is("(") && strings.EqualFold(e.path[0], "sys") && len(e.path) == 2 {
		return p.call(first, e.path[1])
	}
	return p.node(first, e)
}

// parenthesis reads (expression), (a, b), or a query that begins with one in parentheses.
func (p *parser) parenthesis() *expr {
	first := p.i
	p.i++
	defer p.deeper()()
	e := p.expr()
	if e.form == queryForm && p.among("UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT") {
		e = p.node(first, &expr{form: queryForm, query: p.continued(e.query)})
	}
	if p.is(",") {
		p.i++
		e = p.node(first, &expr{form: rowForm, args: append([]*expr{e}, p.exprs()...)})
	}
	p.expect(")")
	e.enclosed = true
	return e
}

// keyword reads a value that begins with a word other than a name; nil if it does not.
func (p *parser) keyword(first int, t *token) *expr {
	upper := strings.ToUpper(t.text)
	follows := p.at(p.i + 1)
	if follows.is(".") {
		return nil
	}
	call := follows.is("(")
	switch {
	case upper == "NULL" || upper == "TRUE" || upper == "FALSE" || upper == "DEFAULT" && !call:
		p.i++
		return p.node(first, &expr{form: wordForm, text: upper})
	case upper == "CASE":
		return p.caseOf()
	case upper == "EXISTS" && call:
		p.i++
		return p.node(first, &expr{form: existsForm, query: p.enclosedQuery()})
	case upper == "INTERVAL":
		return p.interval()
	case (upper == "CAST" || upper == "CONVERT") && call:
		return p.cast(upper)
	case upper == "ROW" && call:
		p.i += 2
		e := &expr{form: rowForm, args: p.exprs()}
		p.expect(")")
		return p.node(first, e)
	case follows.kind == str && (strings.HasPrefix(upper, "_UTF8") || upper == "_LATIN1" || upper == "_BINARY"): // the character set of what follows
		p.i++
		if upper == "_BINARY" {
			return p.node(first, &expr{form: prefixForm, text: "BINARY", args: []*expr{p.value()}})
		}
		return p.value()
	case follows.kind == str && (upper == "DATE" || upper == "TIME" || upper == "TIMESTAMP"):
		p.i += 2
		return p.node(first, &expr{form: callForm, text: upper, args: []*expr{{form: stringForm, text: follows.text}}})
	case clocks[upper] != "" && !call, upper == "CURRENT_USER" && !call:
		p.i++
		return p.node(first, &expr{form: callForm, text: upper})
	case call && (!reserved[upper] || called[upper]):
		p.i++
		return p.call(first, t.text)
	}
	return nil
}

// clocks are functions that may be written with or without parentheses.
var clocks = map[string]string{"CURRENT_TIMESTAMP": "now", "LOCALTIME": "now", "LOCALTIMESTAMP": "now", "CURRENT_DATE": "curdate", "CURRENT_TIME": "curtime", "UTC_TIMESTAMP": "utc_timestamp", "UTC_DATE": "utc_date", "UTC_TIME": "utc_time"}

func (p *parser) caseOf() *expr {
	defer p.deeper()()
	first := p.i
	p.expect("CASE")
	e := &expr{form: caseForm, args: []*expr{nil}}
	if !p.is("WHEN") {
		e.args[0] = p.expr()
	}
	for first := true; first || p.is("WHEN"); first = false {
		p.expect("WHEN")
		when := p.expr()
		p.expect("THEN")
		e.args = append(e.args, when, p.expr())
	}
	var otherwise *expr
	if p.accept("ELSE") {
		otherwise = p.expr()
	}
	e.args = append(e.args, otherwise)
	p.expect("END")
	return p.node(first, e)
}

func (p *parser) interval() *expr {
	first := p.i
	p.i++
	if p.i >= len(p.tokens) {
		fail(functions.IntervalError(p.rest(first)))
	}
	n := p.expr()
	unit := strings.ToUpper(p.next().text)
	_, known := functions.Units[unit]
	if p.next().kind != word || !known && functions.CompositeUnits[unit] == nil {
		fail(functions.IntervalError(p.rest(first)))
	}
	p.i++
	return p.node(first, &expr{form: intervalForm, text: unit, args: []*expr{n}})
}

// cast reads CAST(x AS type), CONVERT(x, type) and CONVERT(x USING charset), which is x. AS BINARY
// is as BINARY x.
func (p *parser) cast(name string) *expr {
	defer p.deeper()()
	first := p.i
	p.i += 2
	e := &expr{form: castForm, args: []*expr{p.expr()}}
	if name == "CONVERT" && p.accept("USING") {
		to := map[bool]string{true: "BINARY", false: "+"}[p.is("BINARY")]
		p.i++
		p.expect(")")
		return p.node(first, &expr{form: prefixForm, text: to, args: e.args})
	}
	if !(name == "CAST" && p.accept("AS")) && !(name == "CONVERT" && p.accept(",")) || p.next().kind != word {
		p.syntax()
	}
	e.text = p.taken()
	if p.accept("(") {
		for ok := true; ok; ok = p.accept(",") {
			if p.next().kind != num {
				p.syntax()
			}
			e.path = append(e.path, p.next().text)
			p.i++
		}
		p.expect(")")
	}
	p.accept("INTEGER")
	p.accept("INT")
	if p.accept("CHARACTER", "SET") || p.accept("CHARSET") {
		p.i++
	}
	p.expect(")")
	if e.text == "BINARY" {
		if e.text = "CHAR"; len(e.path) == 0 {
			return p.node(first, &expr{form: prefixForm, text: "BINARY", args: e.args})
		}
		return p.node(first, &expr{form: prefixForm, text: "BINARY", args: []*expr{p.node(first, e)}})
	}
	return p.node(first, e)
}

// separators are the words between the arguments of functions.
var separators = map[string][]string{"TRIM": {"FROM"}, "SUBSTRING": {"FROM", "FOR"}, "SUBSTR": {"FROM", "FOR"}, "MID": {"FROM", "FOR"}}

// call reads the arguments of a function, from the parenthesis on.
func (p *parser) call(first int, function string) *expr {
	defer p.deeper()()
	if ownName(function) {
		fail(enginesName(function))
	}
	e := &expr{form: callForm, text: strings.ToUpper(function)}
	p.expect("(")
	switch e.text {
	case "TIMESTAMPDIFF", "TIMESTAMPADD", "EXTRACT": // the unit
		t := p.next()
		unit := strings.ToUpper(t.text)
		if _, known := functions.Units[unit]; t.kind != word || p.at(p.i+1).is("(") {
			p.syntax()
		} else if !known && (e.text != "EXTRACT" || functions.CompositeUnits[unit] == nil) {
			fail(mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support '%s(%s, ...)'", e.text, t.text))
		}
		p.i++
		e.args = append(e.args, &expr{form: stringForm, text: unit})
		if e.text != "EXTRACT" {
			p.expect(",")
			break
		}
		p.expect("FROM")
	case "TRIM":
		for _, where := range []string{"LEADING", "TRAILING", "BOTH"} {
			if p.is(where) && !p.at(p.i+1).is(",") && !p.at(p.i+1).is(")") {
				p.i++
				e.path = []string{where}
				break
			}
		}
		if e.path != nil && p.is("FROM") {
			e.args = append(e.args, &expr{form: stringForm, text: " "})
			p.i++
		}
	case "POSITION":
		part := p.bits(0)
		p.expect("IN")
		e.args = append(e.args, part)
		e.text = "LOCATE"
	}
	e.distinct = p.accept("DISTINCT")
	if !e.distinct && aggregates[e.text] {
		p.accept("ALL")
	}
	for !p.is(")") {
		e.args = append(e.args, p.expr())
		if slices.ContainsFunc(separators[e.text], p.next().is) {
			if e.text == "TRIM" && e.path == nil {
				e.path = []string{"BOTH"}
			}
			p.i++
			continue
		}
		if e.text == "CHAR" && p.accept("USING") {
			p.i++
			break
		}
		if !p.accept(",") {
			break
		}
		if p.is(")") {
			p.syntax()
		}
	}
	if p.is("ORDER") {
		e.order = p.orderBy()
	}
	if e.text == "GROUP_CONCAT" && p.accept("SEPARATOR") {
		if p.next().kind != str {
			p.syntax()
		}
		e.separator = &p.next().text
		p.i++
	}
	p.expect(")")
	if p.accept("OVER") {
		e.window = p.over()
	}
	return p.node(first, e)
}

// over reads what comes after OVER.
func (p *parser) over() *window {
	if !p.is("(") {
		return &window{name: p.name(false)}
	}
	return p.windowOf()
}

// windowOf reads (name PARTITION BY ... ORDER BY ... frame).
func (p *parser) windowOf() *window {
	defer p.deeper()()
	w := &window{defined: true}
	p.expect("(")
	if t := p.next(); t.identifier() && !isReserved(t) && !p.among("ROWS", "RANGE", "GROUPS") {
		w.name = p.name(false)
	}
	if p.accept("PARTITION", "BY") {
		w.partition = p.exprs()
	}
	if p.is("ORDER") {
		w.order = p.orderBy()
	}
	if p.among("ROWS", "RANGE", "GROUPS") {
		w.frame = []string{p.taken()}
		if p.accept("BETWEEN") {
			w.frame = append(append(w.frame, "BETWEEN"), p.bound()...)
			p.expect("AND")
			w.frame = append(w.frame, "AND")
		}
		w.frame = append(w.frame, p.bound()...)
	}
	p.expect(")")
	return w
}

// bound reads where a window's frame begins or ends.
func (p *parser) bound() []string {
	from := ""
	switch t := p.next(); {
	case p.accept("CURRENT", "ROW"):
		return []string{"CURRENT ROW"}
	case p.accept("UNBOUNDED"):
		from = "UNBOUNDED"
	case t.kind == num, t.kind == param:
		from = t.text
		p.i++
	case p.is("INTERVAL"):
		fail(mysqlerr.NotYet("a window's frame of an INTERVAL"))
	default:
		p.syntax()
	}
	if !p.among("PRECEDING", "FOLLOWING") {
		p.syntax()
	}
	p.i++
	return []string{from, strings.ToUpper(p.at(p.i - 1).text)}
}

// orderBy reads ORDER BY.
func (p *parser) orderBy() (list []ordered) {
	p.expect("ORDER", "BY")
	for {
		o := ordered{of: p.expr()}
		if o.desc = p.accept("DESC"); !o.desc {
			p.accept("ASC")
		}
		list = append(list, o)
		if !p.accept(",") {
			return list
		}
	}
}

// number reads what LIMIT has: a number or a parameter.
func (p *parser) number() *expr {
	t := p.next()
	if t.kind == num {
		if _, err := strconv.ParseUint(t.text, 10, 64); err != nil {
			p.syntax()
		}
	} else if t.kind != param {
		p.syntax()
	}
	return p.value()
}
