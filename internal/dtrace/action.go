package dtrace

import (
	"math"
	"strings"
)

// actions are the actions by name.
var actions map[string]func(c *compiler, n *node) func(*Machine)

func init() {
	actions = map[string]func(*compiler, *node) func(*Machine){
		"trace":       (*compiler).trace,
		"print":       (*compiler).print,
		"printf":      (*compiler).printf,
		"printa":      (*compiler).printa,
		"stack":       (*compiler).printStack,
		"ustack":      (*compiler).printStack,
		"exit":        (*compiler).exit,
		"clear":       (*compiler).clear,
		"zero":        (*compiler).clear,
		"trunc":       (*compiler).trunc,
		"normalize":   (*compiler).normalize,
		"denormalize": (*compiler).normalize,
		"delete":      (*compiler).remove,
	}
}

// trace compiles trace(x): the value in a column.
func (c *compiler) trace(n *node) func(*Machine) {
	c.count(n, 1, 1)
	c.clause.prints, c.clause.plain = true, true
	e := c.expr(n.kids[0])
	return func(m *Machine) {
		v := e(m)
		if m.Quiet {
			if m.lineOpen {
				m.text = append(m.text, ' ')
			}
			m.text = v.append(m.text)
		} else {
			m.text = append(m.text, "  "...)
			if v.kind != text {
				s := v.String()
				m.text = append(m.text, strings.Repeat(" ", max(0, valueWidth-1-len(s)))...)
			}
			m.text = v.append(m.text)
		}
		m.lineOpen = true
	}
}

// print compiles bpftrace's print(@x) and print(x).
func (c *compiler) print(n *node) func(*Machine) {
	c.count(n, 1, 2)
	if n.kids[0].op != "map" || len(n.kids[0].kids) > 0 {
		if len(n.kids) > 1 {
			c.fault(n.kids[1].at, "print() takes 1 argument, not 2")
		}
		c.clause.prints = true
		e := c.expr(n.kids[0])
		return func(m *Machine) { m.text = append(e(m).append(m.text), '\n') }
	}
	a := c.named(n.kids[0])
	c.clause.prints = true
	return func(m *Machine) { m.text = a.show(m.text) }
}

// printf compiles printf("FORMAT", VALUES).
func (c *compiler) printf(n *node) func(*Machine) {
	c.count(n, 1, 64)
	if n.kids[0].op != "text" {
		c.fault(n.kids[0].at, "printf() begins with a format in quotes")
	}
	verbs := c.parseFormat(n.kids[0].at, n.kids[0].text, false)
	if want := arguments(verbs); want != len(n.kids)-1 {
		c.fault(n.at, "the format takes %d values, not %d", want, len(n.kids)-1)
	}
	c.clause.prints = true
	var list []expr
	for _, k := range n.kids[1:] {
		list = append(list, c.expr(k))
	}
	return func(m *Machine) {
		var room [8]value
		values := room[:0]
		for _, e := range list {
			values = append(values, e(m))
		}
		m.text = appendFormat(m.text, verbs, values, nil)
		m.lineOpen = len(m.text) > 0 && m.text[len(m.text)-1] != '\n'
	}
}

// named returns the map that an action names without keys.
func (c *compiler) named(n *node) *aggregation {
	if n.op != "map" {
		c.fault(n.at, "expected a map, such as @x")
	}
	if len(n.kids) > 0 {
		c.fault(n.at, "name the map without keys here: %s", n.text)
	}
	a := c.maps[n.text]
	if a == nil || a.function == noAggregator {
		c.fault(n.at, "%s is not set anywhere in the program", n.text)
	}
	return a
}

// printa compiles printa(@x) and printa("FORMAT", @x).
func (c *compiler) printa(n *node) func(*Machine) {
	c.count(n, 1, 2)
	c.clause.prints = true
	a := c.named(n.kids[len(n.kids)-1])
	if len(n.kids) == 1 {
		return func(m *Machine) {
			a.printed = true
			m.text = append(m.text, '\n')
			m.text = a.show(m.text)
		}
	}
	if n.kids[0].op != "text" {
		c.fault(n.kids[0].at, "printa() begins with a format in quotes, or is printa(@NAME)")
	}
	verbs := c.parseFormat(n.kids[0].at, n.kids[0].text, true)
	if want := arguments(verbs); want > a.keys {
		c.fault(n.at, "the format takes %d keys, and %s has %d", want, a.name, a.keys)
	}
	return func(m *Machine) {
		a.printed = true
		for _, cell := range a.sorted() {
			m.text = appendFormat(m.text, verbs, cell.keys, func(b []byte, v verb) []byte {
				if a.histogram() {
					return a.bars(append(b, '\n'), cell)
				}
				return v.append(b, a.result(cell))
			})
		}
	}
}

// printStack compiles stack() as an action.
func (c *compiler) printStack(n *node) func(*Machine) {
	e := c.stackText(n)
	c.clause.prints, c.clause.plain = true, true
	return func(m *Machine) {
		if !m.Quiet || m.lineOpen {
			m.text = append(m.text, '\n')
		}
		for line := range strings.Lines(e(m).s) {
			m.text = append(append(m.text, "              "...), line...)
		}
		m.lineOpen = false
	}
}

// exit compiles exit(STATUS).
func (c *compiler) exit(n *node) func(*Machine) {
	c.count(n, 0, 1)
	status := func(*Machine) value { return number(0) }
	if len(n.kids) == 1 {
		status = c.expr(n.kids[0])
	}
	return func(m *Machine) {
		m.status = int(status(m).int() & 255)
		m.done = true
	}
}

// clear compiles clear(@x). Its values are 0 again; a variable loses all keys.
func (c *compiler) clear(n *node) func(*Machine) {
	c.count(n, 1, 1)
	a := c.named(n.kids[0])
	return func(m *Machine) {
		a.printed = false
		if a.function == aggValue {
			a.truncate(0)
		} else {
			a.clear()
		}
	}
}

// trunc compiles trunc(@x) and trunc(@x, N).
func (c *compiler) trunc(n *node) func(*Machine) {
	c.count(n, 1, 2)
	a := c.named(n.kids[0])
	keep := func(*Machine) value { return number(0) }
	if len(n.kids) == 2 {
		keep = c.expr(n.kids[1])
	}
	return func(m *Machine) {
		a.printed = false
		a.truncate(keep(m).int())
	}
}

// normalize compiles normalize(@x, N) and denormalize(@x).
func (c *compiler) normalize(n *node) func(*Machine) {
	by := func(*Machine) value { return number(1) }
	if n.text == "normalize" {
		c.count(n, 2, 2)
		by = c.expr(n.kids[1])
	} else {
		c.count(n, 1, 1)
	}
	a := c.named(n.kids[0])
	return func(m *Machine) { a.scale = max(by(m).int(), 1) }
}

// remove compiles bpftrace's delete(@x[KEYS]) and delete(@x, KEY).
func (c *compiler) remove(n *node) func(*Machine) {
	c.count(n, 1, 2)
	of, keys := n.kids[0], n.kids[0].kids
	if of.op != "map" {
		c.fault(of.at, "delete() is for an element of a map: delete(@x[KEYS])")
	}
	if len(n.kids) == 2 {
		of, keys = &node{op: "map", at: of.at, text: of.text, kids: n.kids[1:]}, n.kids[1:]
	}
	a := c.aggregation(of)
	if a.function == noAggregator {
		c.fault(of.at, "%s is not set anywhere in the program", of.text)
	}
	k := c.keyOf(keys)
	return func(m *Machine) {
		made := k(m)
		a.remove(made.bytes(m))
		made.done(m)
	}
}

// aggregate compiles @x[KEYS] = FUNCTION(VALUE).
func (c *compiler) aggregate(to, call *node) func(*Machine) {
	a := c.aggregation(to)
	weight := func(*Machine) value { return number(1) }
	switch a.function {
	case aggCount:
		c.count(call, 0, 0)
		return c.counting(a, to)
	case aggLquantize:
		c.linear(a, call)
	case aggQuantize:
		c.count(call, 1, 2)
		if len(call.kids) == 2 {
			weight = c.expr(call.kids[1])
		}
	default:
		c.count(call, 1, 1)
	}
	v, k := c.expr(call.kids[0]), c.keyOf(to.kids)
	return func(m *Machine) {
		of := v(m)
		if !of.isNumber() {
			return
		}
		w := weight(m).int()
		made := k(m)
		a.add(a.find(made.bytes(m), made.values(m)), of, w)
		made.done(m)
	}
}

// counting compiles @x[KEYS] = count().
func (c *compiler) counting(a *aggregation, to *node) func(*Machine) {
	k := c.keyOf(to.kids)
	return func(m *Machine) {
		made := k(m)
		a.find(made.bytes(m), made.values(m)).count++
		made.done(m)
	}
}

// bucketsMax is the number of steps that an lquantize may have.
const bucketsMax = 10000

// linear reads the bounds of an lquantize: lquantize(VALUE, LOW, HIGH, STEP). The step is 1 if it
// is missing.
func (c *compiler) linear(a *aggregation, call *node) {
	c.count(call, 3, 4)
	var bounds [3]int64
	bounds[2] = 1
	for i, k := range call.kids[1:] {
		sign := int64(1)
		if k.op == "unary" && k.text == "-" {
			sign, k = -1, k.kids[0]
		}
		if k.op != "number" {
			c.fault(k.at, "the bounds and the step of %s() must be numbers", call.text)
		}
		bounds[i] = sign * k.number
	}
	low, high, step := bounds[0], bounds[1], bounds[2]
	if step < 1 || high <= low || uint64(high-low)/uint64(step) > bucketsMax || high-low < 0 || uint64(step) > math.MaxInt64/2 {
		c.fault(call.at, "%s(VALUE, LOW, HIGH, STEP): from %d to %d in steps of %d can't be shown: HIGH is above LOW, and there are at most %d steps", call.text, low, high, step, bucketsMax)
	}
	steps := int((high - low + step - 1) / step)
	if a.steps != 0 && (a.low != low || a.step != step || a.steps != steps) {
		c.fault(call.at, "%s has other bounds elsewhere", a.name)
	}
	a.low, a.step, a.steps = low, step, steps
}
