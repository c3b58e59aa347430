package dtrace

import (
	"math"
	"slices"
	"strconv"
)

// expr computes a value at an event.
type expr func(*Machine) value

// compiler makes closures from a tree.
type compiler struct {
	scanner
	tree *tree
	p    *Program

	globals, locals, own, arrays, ownArrays map[string]int
	maps                                    map[string]*aggregation

	clause  *clause // the clause being compiled
	moments moment
}

func newCompiler(t *tree) *compiler {
	return &compiler{scanner: scanner{source: t.source}, tree: t, p: &Program{source: t.source, Quiet: t.quiet},
		globals: map[string]int{}, locals: map[string]int{}, own: map[string]int{}, arrays: map[string]int{}, ownArrays: map[string]int{}, maps: map[string]*aggregation{}}
}

// slot returns the number of a name, and gives it one if it is new.
func slot(names map[string]int, name string, count *int) int {
	i, ok := names[name]
	if !ok {
		i = len(names)
		names[name] = i
		*count = len(names)
	}
	return i
}

// program compiles all clauses. What is set anywhere is a variable, so variables are found first.
func (c *compiler) program() {
	for _, t := range c.tree.clauses {
		c.declare(t.predicate)
		c.declare(t.body)
	}
	for _, t := range c.tree.clauses {
		c.p.clauses = append(c.p.clauses, c.compileClause(t))
	}
}

// declare finds variables that are set, and what each @name is.
func (c *compiler) declare(n *node) {
	if n == nil {
		return
	}
	if n.op == "assign" || n.op == "step" {
		to := n.kids[0]
		switch {
		case to.op == "name":
			if builtins[to.text] != nil || to.text == "args" || to.text == "arg" || to.text == "ret" {
				c.fault(to.at, "%s can't be set", to.text)
			}
			slot(c.globals, to.text, &c.p.globals)
		case to.op == "index":
			if name := to.kids[0].text; name == "args" || name == "arg" || name == "ret" {
				c.fault(to.at, "%s can't be set", name)
			}
			slot(c.arrays, to.kids[0].text, &c.p.arrays)
		case to.op == "map":
			c.declareMap(n, to)
		}
	}
	for _, k := range n.kids {
		c.declare(k)
	}
}

// declareMap determines the function of a map: @x = count(), or @x = VALUE.
func (c *compiler) declareMap(n, to *node) {
	a := c.aggregation(to)
	function := aggValue
	if n.op == "assign" {
		if right := n.kids[1]; right.op == "call" && aggregators[right.text] != 0 {
			if n.text != "=" {
				c.fault(n.at, "%s is followed by = and a function: %s = %s(...)", to.text, to.text, right.text)
			}
			function = aggregators[right.text]
		}
	}
	if a.function != noAggregator && a.function != function {
		c.fault(to.at, "%s is used with two functions", to.text)
	}
	a.function = function
}

// aggregation returns the map of a node. It must always have the same number of keys.
func (c *compiler) aggregation(n *node) *aggregation {
	a := c.maps[n.text]
	if a == nil {
		a = &aggregation{name: n.text, at: n.at, keys: len(n.kids)}
		c.maps[n.text] = a
		c.p.aggregations = append(c.p.aggregations, a)
	}
	if a.keys != len(n.kids) {
		c.fault(n.at, "%s has %d keys here, and %d elsewhere", n.text, len(n.kids), a.keys)
	}
	return a
}

func (c *compiler) compileClause(t *clauseTree) *clause {
	to := &clause{descriptions: t.descriptions, exact: true}
	c.clause = to
	c.moments = 0
	for _, d := range t.descriptions {
		c.moments |= d.moments
		to.exact = to.exact && (d.moments == atProbe || d.exact())
	}
	to.moments = c.moments
	if t.predicate != nil {
		to.predicate = c.condition(t.predicate)
	}
	if t.body == nil || len(t.body.kids) == 0 {
		to.prints = true // it prints the line that says that it fired
		return to
	}
	to.actions = c.block(t.body)
	return to
}

func (c *compiler) block(n *node) (list []func(*Machine)) {
	for _, s := range n.kids {
		list = append(list, c.statement(s))
	}
	return list
}

// statement compiles what does something and has no value.
func (c *compiler) statement(n *node) func(*Machine) {
	switch n.op {
	case "if":
		condition, yes := c.condition(n.kids[0]), c.block(n.kids[1])
		var no []func(*Machine)
		if len(n.kids) > 2 {
			no = c.block(n.kids[2])
		}
		return func(m *Machine) {
			list := no
			if condition(m) {
				list = yes
			}
			for _, s := range list {
				if s(m); m.done {
					return
				}
			}
		}
	case "block":
		list := c.block(n)
		return func(m *Machine) {
			for _, s := range list {
				if s(m); m.done {
					return
				}
			}
		}
	case "assign":
		if right := n.kids[1]; n.kids[0].op == "map" && right.op == "call" && aggregators[right.text] != 0 {
			return c.aggregate(n.kids[0], right)
		}
	case "call":
		if action := actions[n.text]; action != nil {
			return action(c, n)
		}
		if aggregators[n.text] != 0 {
			c.fault(n.at, "%s() is for a map: @NAME[KEYS] = %s(...)", n.text, n.text)
		}
	}
	e := c.expr(n)
	return func(m *Machine) { e(m) }
}

// condition compiles a predicate.
func (c *compiler) condition(n *node) func(*Machine) bool {
	if n.op == "binary" {
		switch n.text {
		case "&&":
			a, b := c.condition(n.kids[0]), c.condition(n.kids[1])
			return func(m *Machine) bool { return a(m) && b(m) }
		case "||":
			a, b := c.condition(n.kids[0]), c.condition(n.kids[1])
			return func(m *Machine) bool { return a(m) || b(m) }
		case "^^":
			a, b := c.condition(n.kids[0]), c.condition(n.kids[1])
			return func(m *Machine) bool { return a(m) != b(m) }
		case "==", "!=", "<", "<=", ">", ">=":
			return c.comparison(n)
		}
	}
	if n.op == "unary" && n.text == "!" {
		a := c.condition(n.kids[0])
		return func(m *Machine) bool { return !a(m) }
	}
	e := c.expr(n)
	return func(m *Machine) bool { return e(m).true() }
}

// comparison compiles == != < <= > >=. What is absent is neither more nor less than anything, and
// equal only to nil.
func (c *compiler) comparison(n *node) func(*Machine) bool {
	a, b := c.expr(n.kids[0]), c.expr(n.kids[1])
	holds := ordered[n.text]
	if right := n.kids[1]; right.op == "number" && n.text != "!=" {
		// Integers from least to most.
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		k := right.number
		switch n.text {
		case "==":
			least, most = k, k
		case "<":
			most = k - 1 // k is not negative
		case "<=":
			most = k
		case ">":
			least = k + 1
			if k == math.MaxInt64 {
				least, most = 1, 0
			}
		case ">=":
			least = k
		}
		of := number(k)
		return func(m *Machine) bool {
			x := a(m)
			switch {
			case x.kind == integer:
				return least <= x.n && x.n <= most
			case holds == nil:
				return equal(x, of)
			}
			return comparable(x, of) && holds(compare(x, of))
		}
	}
	switch n.text {
	case "==":
		return func(m *Machine) bool { return equal(a(m), b(m)) }
	case "!=":
		return func(m *Machine) bool {
			x, y := a(m), b(m)
			switch {
			case x.kind == absent && y.kind != null, y.kind == absent && x.kind != null:
				return false
			}
			return !equal(x, y)
		}
	}
	return func(m *Machine) bool {
		x, y := a(m), b(m)
		if x.kind == integer && y.kind == integer {
			return holds(order(x.n, y.n))
		}
		return comparable(x, y) && holds(compare(x, y))
	}
}

var ordered = map[string]func(int) bool{
	"<": func(d int) bool { return d < 0 }, "<=": func(d int) bool { return d <= 0 }, ">": func(d int) bool { return d > 0 }, ">=": func(d int) bool { return d >= 0 },
}

// expr compiles what has a value.
func (c *compiler) expr(n *node) expr {
	switch n.op {
	case "number":
		v := number(n.number)
		return func(*Machine) value { return v }
	case "float":
		f, _ := strconv.ParseFloat(n.text, 64)
		v := floatNumber(f)
		return func(*Machine) value { return v }
	case "text":
		v := str(n.text)
		return func(*Machine) value { return v }
	case "unary":
		return c.unary(n)
	case "cast":
		return c.cast(n)
	case "binary":
		if _, compares := ordered[n.text]; compares || slices.Contains([]string{"&&", "||", "^^", "==", "!="}, n.text) {
			holds := c.condition(n)
			return func(m *Machine) value { return truth(holds(m)) }
		}
		a, b, op := c.expr(n.kids[0]), c.expr(n.kids[1]), n.text
		return func(m *Machine) value {
			x := a(m)
			return arithmetic(op, x, b(m))
		}
	case "choice":
		condition, yes, no := c.condition(n.kids[0]), c.expr(n.kids[1]), c.expr(n.kids[2])
		return func(m *Machine) value {
			if condition(m) {
				return yes(m)
			}
			return no(m)
		}
	case "assign":
		return c.assign(n)
	case "step":
		return c.step(n)
	case "call":
		return c.call(n)
	case "name", "this", "self", "local", "map", "index", "field":
		return c.read(n)
	}
	c.fault(n.at, "this has no value")
	return nil
}

func (c *compiler) unary(n *node) expr {
	a := c.expr(n.kids[0])
	switch n.text {
	case "!":
		return func(m *Machine) value { return truth(!a(m).true()) }
	case "~":
		return func(m *Machine) value {
			if v := a(m); v.isNumber() {
				return number(^v.int())
			}
			return value{}
		}
	case "-":
		return func(m *Machine) value { return arithmetic("-", number(0), a(m)) }
	}
	return a
}

// cast compiles (int32_t)x and (string)x.
func (c *compiler) cast(n *node) expr {
	a, size := c.expr(n.kids[0]), types[n.text]
	return func(m *Machine) value {
		v := a(m)
		switch {
		case size == 0 && v.kind > null:
			return str(v.String())
		case size == 0 || !v.isNumber():
			return v
		case size < 0:
			return number(v.int() << (64 + size) >> (64 + size))
		}
		return unsignedNumber(uint64(v.int()) << (64 - size) >> (64 - size))
	}
}

// read compiles a variable, a value of the event, or an element of a map or array.
func (c *compiler) read(n *node) expr {
	if p := c.place(n); p != nil {
		return p.get
	}
	if n.op == "name" {
		if b := builtins[n.text]; b != nil {
			return b(c, n)
		}
		if why := unknown[n.text]; why != "" {
			c.fault(n.at, "%s does not exist here: %s", n.text, why)
		}
	}
	a := c.access(n)
	if a.never {
		return func(*Machine) value { return value{} }
	}
	return c.accessed(a)
}
