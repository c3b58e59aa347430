package dtrace

import (
	"slices"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// How values of events are compiled.

// accessed compiles a value of the event.
func (c *compiler) accessed(a *access) expr {
	return func(m *Machine) value {
		if a.of == m.fn && a.at == m.at && a.chosen != nil {
			e := m.args
			if a.chosen.Results {
				e = m.results
			}
			if e != nil {
				if n, ok := a.chosen.Int(e); ok {
					return number(n)
				}
			}
		}
		f := a.find(m)
		return valueOf(&f)
	}
}

// access returns the value that a program means by a name or a path that is not a variable.
func (c *compiler) access(n *node) *access {
	var fields []string
	base := n
	for ; base.op == "field"; base = base.kids[0] {
		fields = append(fields, base.text)
	}
	slices.Reverse(fields)
	a := &access{node: n}
	switch {
	case base.op == "index" && base.kids[0].op == "name":
		list := base.kids[0].text
		if list != "args" && list != "arg" && list != "ret" {
			c.fault(base.at, "%s is not set anywhere in the program, and only args and ret are numbered", list)
		}
		if len(base.kids) != 2 || base.kids[1].op != "number" || base.kids[1].number < 0 || base.kids[1].number > 255 {
			c.fault(base.kids[len(base.kids)-1].at, "%s is numbered from 0 on: %s[0], %s[1]", list, list, list)
		}
		path := &recording.Path{Value: int(base.kids[1].number), Fields: fields, Results: list == "ret"}
		if path.Results {
			a.result = path
		} else {
			a.param = path
		}
		a.text = list + "[" + strconv.FormatInt(base.kids[1].number, 10) + "]"
	case base.op != "name":
		c.fault(n.at, "this has no fields: parameters and results have")
	case base.text == "args" || base.text == "arg":
		if len(fields) == 0 {
			c.fault(n.at, "%s is followed by a parameter: args[0], arg.NAME", base.text)
		}
		a.text, a.param = base.text+"."+fields[0], &recording.Path{Name: fields[0], Fields: fields[1:]}
		fields = fields[1:]
	case base.text == "ret" || base.text == "retval":
		a.text = "ret"
		if len(fields) == 0 {
			a.result = &recording.Path{Results: true}
			break
		}
		a.result = &recording.Path{Name: fields[0], Fields: fields[1:], Results: true}
		a.field = &recording.Path{Fields: fields, Results: true}
	default:
		a.text = base.text
		a.param = &recording.Path{Name: base.text, Fields: fields}
		a.result = &recording.Path{Name: base.text, Fields: fields, Results: true}
	}
	for _, f := range fields {
		a.text += "." + f
	}
	c.needAccess(n, a)
	return a
}

// needAccess notes what must be recorded for a path.
func (c *compiler) needAccess(n *node, a *access) {
	needs := &c.p.needs
	switch {
	case c.moments&(atEntry|atReturn|atProbe) == 0:
		c.fault(n.at, "%s is neither set in the program nor known to D, and BEGIN, END and tick have no parameters", a.text)
	case a.param == nil && c.moments&atReturn == 0:
		c.fault(n.at, "results are only known when a call returns: use them in a clause of call:...:return")
	}
	if c.moments&(atEntry|atReturn) != 0 {
		needs.values = true
		if c.moments&atReturn != 0 && a.param != nil {
			needs.entries, needs.calls = true, true
		}
		for _, p := range []*recording.Path{a.param, a.result, a.field} {
			if p != nil && len(p.Fields) > 0 && !slices.Contains(needs.paths, p.String()) {
				needs.paths = append(needs.paths, p.String())
			}
		}
	}
	network := false
	if c.moments == atProbe && a.param != nil {
		if network, a.never = c.networkPath(n, a.param); a.never {
			return
		}
	}
	if c.moments&atProbe != 0 && a.param != nil {
		if len(a.param.Fields) == 0 || !network {
			needs.whole = true
		} else if f := a.param.Fields[0]; !slices.Contains(needs.fields, f) {
			needs.fields = append(needs.fields, f)
		}
	}
	c.p.accesses = append(c.p.accesses, a)
}
