package dtrace

// variable is a variable that can be set.
type variable struct {
	get expr
	set func(*Machine, value)
}

// place compiles a variable. It returns nil if n is not a variable.
func (c *compiler) place(n *node) *variable {
	switch n.op {
	case "name":
		if i, ok := c.globals[n.text]; ok {
			return &variable{func(m *Machine) value { return m.globals[i] }, func(m *Machine, v value) { m.globals[i] = v.kept() }}
		}
	case "this", "local":
		if len(n.kids) > 0 {
			c.fault(n.at, "arrays are global or self->: this->%s has no keys", n.text)
		}
		i := slot(c.locals, n.op+n.text, &c.p.locals)
		return &variable{func(m *Machine) value { return m.locals[i] }, func(m *Machine, v value) { m.locals[i] = v.kept() }}
	case "self":
		return c.ownPlace(n)
	case "map":
		return c.mapPlace(n)
	case "index":
		if n.kids[0].op == "name" {
			if i, ok := c.arrays[n.kids[0].text]; ok {
				return arrayPlace(c.keyOf(n.kids[1:]), func(m *Machine) *map[string]*value { return &m.arrays[i] })
			}
		}
	}
	return nil
}

// ownPlace compiles self->x and self->x[KEYS], which each goroutine has.
func (c *compiler) ownPlace(n *node) *variable {
	if c.moments&(atEntry|atReturn|atProbe) == 0 {
		c.fault(n.at, "self-> belongs to a goroutine, and BEGIN, END and tick run on none")
	}
	c.p.needs.calls = true
	if len(n.kids) > 0 {
		i := slot(c.ownArrays, n.text, &c.p.ownArrays)
		return arrayPlace(c.keyOf(n.kids), func(m *Machine) *map[string]*value {
			if m.stack == nil { // BEGIN and the like, in a clause that is also for calls
				return new(map[string]*value)
			}
			m.stack.Keep = true
			g := &m.stack.Data
			for len(g.arrays) <= i {
				g.arrays = append(g.arrays, nil)
			}
			return &g.arrays[i]
		})
	}
	i := slot(c.own, n.text, &c.p.own)
	get := func(m *Machine) value {
		if m.stack == nil || i >= len(m.stack.Data.values) {
			return number(0)
		}
		return m.stack.Data.values[i]
	}
	return &variable{get, func(m *Machine, v value) {
		if m.stack == nil {
			return
		}
		g := &m.stack.Data
		for len(g.values) <= i {
			g.values = append(g.values, number(0))
		}
		g.values[i] = v.kept()
		m.stack.Keep = true
	}}
}

// arrayPlace compiles an element of an array. Setting it to 0 removes it, as in D.
func arrayPlace(key keyed, array func(*Machine) *map[string]*value) *variable {
	get := func(m *Machine) value {
		k := key(m)
		v := (*array(m))[string(k.bytes(m))]
		k.done(m)
		if v == nil {
			return number(0)
		}
		return *v
	}
	return &variable{get, func(m *Machine, v value) {
		k, a := key(m), array(m)
		element := (*a)[string(k.bytes(m))]
		switch {
		case v == number(0):
			delete(*a, string(k.bytes(m)))
		case element != nil:
			*element = v.kept()
		default:
			if *a == nil {
				*a = map[string]*value{}
			}
			kept := v.kept()
			(*a)[string(k.bytes(m))] = &kept
		}
		k.done(m)
	}}
}

// mapPlace compiles a variable of bpftrace's, @x or @x[KEYS].
func (c *compiler) mapPlace(n *node) *variable {
	a := c.aggregation(n)
	key := c.keyOf(n.kids)
	get := func(m *Machine) value {
		k := key(m)
		cell := a.cells[string(k.bytes(m))]
		k.done(m)
		if cell == nil {
			return number(0)
		}
		return a.result(cell)
	}
	if a.function == noAggregator {
		c.fault(n.at, "%s is not set anywhere in the program", n.text)
	}
	return &variable{get, func(m *Machine, v value) {
		k := key(m)
		a.find(k.bytes(m), k.values(m)).value = v.kept()
		k.done(m)
	}}
}

// assign compiles x = v, x += v and so on.
func (c *compiler) assign(n *node) expr {
	to := n.kids[0]
	if to.op == "map" && c.maps[to.text].function != aggValue {
		c.fault(n.at, "%s is an aggregation: only its function sets it", to.text)
	}
	p, right := c.place(to), c.expr(n.kids[1])
	if n.text == "=" {
		return func(m *Machine) value {
			v := right(m)
			p.set(m, v)
			return v
		}
	}
	op := n.text[:len(n.text)-1]
	return func(m *Machine) value {
		v := right(m)
		v = arithmetic(op, p.get(m), v)
		p.set(m, v)
		return v
	}
}

// step compiles ++ and --.
func (c *compiler) step(n *node) expr {
	if to := n.kids[0]; to.op == "map" && c.maps[to.text].function != aggValue {
		c.fault(n.at, "%s is an aggregation: only its function sets it", to.text)
	}
	p, op, first := c.place(n.kids[0]), n.text[:1], n.number == 1
	return func(m *Machine) value {
		old := p.get(m)
		v := arithmetic(op, old, number(1))
		p.set(m, v)
		if first {
			return v
		}
		return old
	}
}

// A key is under construction in the machine's memory. Keys of maps within its values are made
// after it.
type key struct{ from, values0 int }

// keyed makes the key of an event. done releases it.
type keyed func(*Machine) key

func (k key) bytes(m *Machine) []byte { return m.key[k.from:] }

func (k key) values(m *Machine) []value { return m.keys[k.values0:] }

func (k key) done(m *Machine) { m.key, m.keys = m.key[:k.from], m.keys[:k.values0] }

// keyOf compiles keys.
func (c *compiler) keyOf(nodes []*node) keyed {
	var list []expr
	for _, n := range nodes {
		list = append(list, c.expr(n))
	}
	return func(m *Machine) key {
		k := key{len(m.key), len(m.keys)}
		for _, e := range list {
			v := e(m)
			m.key = v.appendKey(m.key)
			m.keys = append(m.keys, v)
		}
		return k
	}
}
