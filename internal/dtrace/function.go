package dtrace

import (
	"math"
	"path"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// called is a function of D: the number of its arguments, and what it returns for them.
type called struct {
	least, most int
	of          func(args []value) value
}

// functions are those whose value depends only on their arguments. Texts consist of bytes, numbered
// from 0.
var functions = map[string]called{
	"strlen":      {1, 1, func(a []value) value { return ofText(a[0], func(s string) value { return number(int64(len(s))) }) }},
	"substr":      {2, 3, substr},
	"strjoin":     {2, 32, func(a []value) value { return str(joined(a)) }},
	"strstr":      {2, 2, func(a []value) value { return from(a[0], strings.Index(a[0].String(), a[1].String())) }},
	"strchr":      {2, 2, func(a []value) value { return from(a[0], strings.IndexRune(a[0].String(), character(a[1]))) }},
	"strrchr":     {2, 2, func(a []value) value { return from(a[0], strings.LastIndex(a[0].String(), string(character(a[1])))) }},
	"index":       {2, 3, func(a []value) value { return index(a, strings.Index) }},
	"rindex":      {2, 2, func(a []value) value { return index(a, strings.LastIndex) }},
	"strcontains": {2, 2, func(a []value) value { return truth(strings.Contains(a[0].String(), a[1].String())) }},
	"strncmp":     {3, 3, strncmp},
	"toupper":     {1, 1, func(a []value) value { return ofText(a[0], func(s string) value { return str(strings.ToUpper(s)) }) }},
	"tolower":     {1, 1, func(a []value) value { return ofText(a[0], func(s string) value { return str(strings.ToLower(s)) }) }},
	"basename":    {1, 1, func(a []value) value { return ofText(a[0], func(s string) value { return str(path.Base(s)) }) }},
	"dirname":     {1, 1, func(a []value) value { return ofText(a[0], func(s string) value { return str(path.Dir(s)) }) }},
	"lltostr":     {1, 1, func(a []value) value { return str(a[0].String()) }},
	"strtoll":     {1, 1, strtoll},
	"str":         {1, 2, func(a []value) value { return a[0] }},
	"abs":         {1, 1, func(a []value) value { return magnitude(a[0]) }},
}

// ofText applies a function of a text. What is absent stays absent.
func ofText(v value, f func(string) value) value {
	if v.kind <= null {
		return value{}
	}
	return f(v.String())
}

func substr(a []value) value {
	return ofText(a[0], func(s string) value {
		i, n := a[1].int(), int64(len(s))
		if i < 0 {
			i = max(0, n+i)
		}
		i = min(i, n)
		end := n
		if len(a) == 3 {
			if count := a[2].int(); count < 0 {
				end = max(i, n+max(count, -n))
			} else if count < n-i {
				end = i + count
			}
		}
		return str(s[i:end])
	})
}

func joined(a []value) string {
	var b []byte
	for _, v := range a {
		b = v.append(b)
	}
	return string(b)
}

// from returns a text from byte i on, nil if i is negative.
func from(v value, i int) value {
	switch {
	case v.kind <= null:
		return value{}
	case i < 0:
		return value{kind: null}
	}
	return str(v.String()[i:])
}

func character(v value) rune {
	if v.kind == text {
		for _, r := range v.s {
			return r
		}
		return 0
	}
	return rune(min(max(v.int(), 0), math.MaxInt32))
}

func index(a []value, find func(s, part string) int) value {
	return ofText(a[0], func(s string) value {
		skip := int64(0)
		if len(a) == 3 {
			skip = min(max(a[2].int(), 0), int64(len(s)))
		}
		i := find(s[skip:], a[1].String())
		if i >= 0 {
			i += int(skip)
		}
		return number(int64(i))
	})
}

func strncmp(a []value) value {
	n := min(max(a[2].int(), 0), math.MaxInt32)
	cut := func(s string) string { return s[:min(int64(len(s)), n)] }
	return number(int64(strings.Compare(cut(a[0].String()), cut(a[1].String()))))
}

func strtoll(a []value) value {
	s := strings.TrimSpace(a[0].String())
	digits, minus := strings.CutPrefix(s, "-")
	n, ok := parseInteger(strings.ReplaceAll(digits, "_", "?"))
	switch {
	case !ok:
		return number(0)
	case minus:
		return number(-n)
	}
	return number(n)
}

func magnitude(v value) value {
	switch {
	case v.kind == float:
		return floatNumber(math.Abs(v.float()))
	case v.kind == integer && v.n < 0:
		return number(-v.n)
	}
	return v
}

// elsewhere are functions of D and bpftrace that do not exist here, and why.
var elsewhere = map[string]string{
	"system":      "a program looks at processes and does nothing to them",
	"stop":        "a program looks at processes and does nothing to them",
	"raise":       "a program looks at processes and does nothing to them",
	"signal":      "a program looks at processes and does nothing to them",
	"panic":       "a program looks at processes and does nothing to them",
	"chill":       "a program looks at processes and does nothing to them",
	"breakpoint":  "a program looks at processes and does nothing to them",
	"override":    "a program looks at processes and does nothing to them: package mock replaces functions",
	"copyout":     "a program looks at processes and does nothing to them",
	"copyin":      "parameters and what they lead to are values: arg.req->URL->Path",
	"copyinstr":   "strings are values as they are",
	"stringof":    "strings are values as they are; (string)x makes one of a number",
	"alloca":      "there is no memory of one's own",
	"bcopy":       "there is no memory of one's own",
	"speculation": "events are recorded before they are looked at, so a later clause can decide",
	"speculate":   "events are recorded before they are looked at, so a later clause can decide",
	"commit":      "events are recorded before they are looked at, so a later clause can decide",
	"discard":     "events are recorded before they are looked at, so a later clause can decide",
	"tracemem":    "there is no memory in recordings, but values",
	"jstack":      "stack() is the goroutine's calls",
	"kstack":      "there is no kernel's stack in recordings: stack() is the goroutine's",
	"ftruncate":   "-o FILE is written once",
	"freopen":     "-o FILE is written once",
	"rand":        "a program is to say the same of the same recording",
	"reg":         "there are no registers in recordings",
	"ksym":        "functions have their names: probefunc, caller",
	"usym":        "functions have their names: probefunc, caller",
	"kaddr":       "functions have their names: probefunc, caller",
	"uaddr":       "functions have their names: probefunc, caller",
	"ntop":        "addresses are texts: args[2]->ip_saddr",
	"sizeof":      "there is no memory of one's own",
	"offsetof":    "there is no memory of one's own",
	"cat":         "a program looks at events, not at files",
	"buf":         "strings and bytes are values as they are",
}

// call compiles a function that has a value.
func (c *compiler) call(n *node) expr {
	switch n.text {
	case "stack", "ustack":
		return c.stackText(n)
	case "len":
		return c.length(n)
	case "exit":
		c.fault(n.at, "exit() has no value")
	case "int", "uint64", "int64", "uint32", "int32":
		if len(n.kids) == 1 {
			return c.cast(&node{op: "cast", at: n.at, text: n.text, kids: n.kids})
		}
	}
	f, ok := functions[n.text]
	if !ok {
		c.noFunction(n)
	}
	c.count(n, f.least, f.most)
	var args []expr
	for _, k := range n.kids {
		args = append(args, c.expr(k))
	}
	return func(m *Machine) value {
		var room [4]value
		list := room[:0]
		for _, a := range args {
			list = append(list, a(m))
		}
		return f.of(list)
	}
}

// noFunction reports that there is no such function, and which may be meant.
func (c *compiler) noFunction(n *node) {
	switch {
	case elsewhere[n.text] != "":
		c.fault(n.at, "%s() does not exist here: %s", n.text, elsewhere[n.text])
	case actions[n.text] != nil:
		c.fault(n.at, "%s() has no value: it is an action by itself", n.text)
	case aggregators[n.text] != 0:
		c.fault(n.at, "%s() is for a map: @NAME[KEYS] = %s(...)", n.text, n.text)
	}
	c.fault(n.at, "there is no function %s()", n.text)
}

// count reports a call with too few or too many arguments.
func (c *compiler) count(n *node, least, most int) {
	switch {
	case len(n.kids) < least || len(n.kids) > most:
		want := "arguments"
		if most == 1 {
			want = "argument"
		}
		if least != most {
			c.fault(n.at, "%s() takes %d to %d %s, not %d", n.text, least, most, want, len(n.kids))
		}
		c.fault(n.at, "%s() takes %d %s, not %d", n.text, least, want, len(n.kids))
	}
}

// stackText compiles stack() as a value: the functions of the calls under way.
func (c *compiler) stackText(n *node) expr {
	c.count(n, 0, 1)
	most := int64(math.MaxInt64)
	if len(n.kids) == 1 {
		if n.kids[0].op != "number" {
			c.fault(n.kids[0].at, "the number of calls must be a number")
		}
		most = n.kids[0].number
	}
	c.p.needs.calls, c.p.needs.others = true, true
	return func(m *Machine) value { return str(m.callers(most, true)) }
}

// length compiles len(x). For a recorded value that is its full length, even if it was cut.
func (c *compiler) length(n *node) expr {
	c.count(n, 1, 1)
	k := n.kids[0]
	if c.place(k) == nil && (k.op == "field" || k.op == "index" || k.op == "name" && builtins[k.text] == nil) {
		a := c.access(k)
		return func(m *Machine) value {
			f := a.find(m)
			switch {
			case f.Kind > recording.Nil && f.Len >= 0:
				return number(f.Len)
			case f.Kind == recording.Nil:
				return number(0)
			}
			return value{}
		}
	}
	e := c.expr(k)
	return func(m *Machine) value {
		return ofText(e(m), func(s string) value { return number(int64(len(s))) })
	}
}
