package dtrace

import (
	"math"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// builtins are the variables that D has, and bpftrace's names for them.
var builtins map[string]func(c *compiler, n *node) expr

// unknown are variables of D and of bpftrace that do not exist here, and why.
var unknown = map[string]string{
	"errno":       "in Go it is an error: err, at a return",
	"tid":         "goroutines move between threads: goid is the goroutine",
	"curthread":   "goid is the goroutine",
	"curpsinfo":   "pid and execname are of the process",
	"curlwpsinfo": "goid is the goroutine",
	"uregs":       "there are no registers in recordings",
	"ipl":         "that is the kernel's",
	"ppid":        "recordings do not have it",
	"uid":         "recordings do not have it",
	"gid":         "recordings do not have it",
	"cwd":         "recordings do not have it",
	"root":        "recordings do not have it",
	"zonename":    "that is Solaris's",
	"epid":        "probes are named by probeprov, probemod, probefunc and probename",
	"id":          "probes are named by probeprov, probemod, probefunc and probename",
	"probeid":     "probes are named by probeprov, probemod, probefunc and probename",
	"kstack":      "there is no kernel's stack in recordings: stack() is the goroutine's",
	"self":        "self is followed by ->NAME",
	"this":        "this is followed by ->NAME",
	"args":        "args is followed by [NUMBER]",
	"stackdepth":  "depth is the number of calls around this one",
	"ustackdepth": "depth is the number of calls around this one",
}

func init() {
	always := func(get expr) func(*compiler, *node) expr { return func(*compiler, *node) expr { return get } }
	constant := func(v value) func(*compiler, *node) expr { return always(func(*Machine) value { return v }) }
	onCalls := func(get expr) func(*compiler, *node) expr {
		return func(c *compiler, n *node) expr {
			c.p.needs.calls, c.p.needs.others = true, true
			return get
		}
	}
	timestamp := func(m *Machine) value { return number(m.first.Monotonic + int64(m.clock.Since(m.now))) }
	name := func(get func(*function) string) expr {
		return func(m *Machine) value {
			if m.fn == nil {
				return str("")
			}
			return str(get(m.fn))
		}
	}
	ofFunction := name(func(f *function) string { return f.name })
	goroutine := func(m *Machine) value {
		if m.event == nil {
			return number(0)
		}
		return unsignedNumber(m.event.Goroutine)
	}
	builtins = map[string]func(*compiler, *node) expr{
		"nil": constant(value{kind: null}), "NULL": constant(value{kind: null}),
		"true": constant(value{kind: boolean, n: 1}), "false": constant(value{kind: boolean}),
		"pid":       always(func(m *Machine) value { return number(int64(m.r.Env.PID)) }),
		"execname":  always(func(m *Machine) value { return str(m.execname) }),
		"comm":      always(func(m *Machine) value { return str(m.execname) }),
		"goid":      always(goroutine),
		"cpu":       always(func(m *Machine) value { return number(processor(m)) }),
		"probeprov": always(func(m *Machine) value { return str(m.provider()) }),
		"probemod":  always(name(func(f *function) string { return f.module })),
		"probefunc": always(ofFunction),
		"func":      always(ofFunction),
		"probename": always(func(m *Machine) value { return str(m.name) }),
		"probe": always(func(m *Machine) value {
			if m.fn == nil {
				return str(m.provider() + ":::" + m.name)
			}
			return str(m.fn.prov + ":" + m.fn.module + ":" + m.fn.name + ":" + m.name)
		}),
		"timestamp":     always(timestamp),
		"nsecs":         always(timestamp),
		"walltimestamp": always(func(m *Machine) value { return number(m.first.Wall + int64(m.clock.Since(m.now))) }),
		"vtimestamp":    vtimestamp,
		"offcpu":        notRunning(func(w waited) uint64 { return w.sum }),
		"runnable":      notRunning(func(w waited) uint64 { return w.ready }),
		"elapsed":       elapsed,
		"caller":        onCalls(caller),
		"depth":         onCalls(func(m *Machine) value { return number(int64(m.depth())) }),
		"ustack":        onCalls(func(m *Machine) value { return str(m.callers(math.MaxInt64, true)) }),
		"callid":        callid,
		"err":           failure,
		"panic":         panicked,
		"panicked":      always(func(m *Machine) value { return truth(m.at == atReturn && m.event.Kind == recording.ExitPanic) }),
	}
	for i := range 10 {
		builtins["arg"+string(rune('0'+i))] = func(c *compiler, n *node) expr {
			a := &access{node: n, text: n.text, param: &recording.Path{Value: i}}
			c.needAccess(n, a)
			return c.accessed(a)
		}
	}
}

func (m *Machine) provider() string {
	switch {
	case m.fn != nil:
		return m.fn.prov
	case m.at == atTick:
		return "profile"
	}
	return "dtrace"
}

func processor(m *Machine) int64 {
	if m.event == nil {
		return 0
	}
	return int64(m.event.Processor)
}

// vtimestamp is how long the goroutine has run since the program began: all the time in which it
// waited neither for a processor nor for something else.
func vtimestamp(c *compiler, n *node) expr {
	c.p.needs.waits = true
	return func(m *Machine) value {
		if m.event == nil {
			return value{} // of which goroutine?
		}
		waited := m.clock.Between(0, m.waited[m.event.Goroutine].sum)
		return number(int64(max(m.clock.Since(m.now)-m.clock.Since(m.start)-waited, 0)))
	}
}

// notRunning is how long the goroutine did not run: at a return within the call, elsewhere since
// the program began. of says for what.
func notRunning(of func(waited) uint64) func(*compiler, *node) expr {
	return func(c *compiler, n *node) expr {
		c.p.needs.waits = true
		if c.moments&atReturn != 0 {
			c.p.needs.calls = true
		}
		return func(m *Machine) value {
			if m.event == nil {
				return value{} // of which goroutine?
			}
			ticks := of(m.waited[m.event.Goroutine])
			if m.at == atReturn {
				call := m.call()
				if call == nil || call.Untimed {
					return value{} // its entry was not seen
				}
				ticks -= of(call.Data.before)
			}
			return number(int64(m.clock.Between(0, ticks)))
		}
	}
}

// elapsed is how long the call lasted, when it returns. Elsewhere it is the time since the program
// began.
func elapsed(c *compiler, n *node) expr {
	if c.moments&atReturn != 0 {
		c.p.needs.calls = true
	}
	return func(m *Machine) value {
		if m.at != atReturn {
			return number(int64(m.clock.Between(m.start, m.now)))
		}
		call := m.call()
		if call == nil || call.Untimed {
			return value{} // its entry was not seen
		}
		return number(int64(m.clock.Between(call.Start, m.now)))
	}
}

// caller is the function of the recorded call around this one.
func caller(m *Machine) value {
	if m.stack == nil || m.outer == 0 || m.outer > len(m.stack.Calls) {
		return value{}
	}
	return str(m.r.Function(m.stack.Calls[m.outer-1].Function).FullName())
}

// callid is n for the nth call of the function.
func callid(c *compiler, n *node) expr {
	if c.moments&atReturn != 0 {
		c.p.needs.calls = true
	}
	return func(m *Machine) value {
		switch {
		case m.event == nil:
		case m.at != atReturn:
			return unsignedNumber(m.event.Call)
		case m.call() != nil:
			return unsignedNumber(m.call().Number)
		}
		return value{}
	}
}

// failure is the error that a call returns, nil if there is none. It is absent if the function
// returns no error, or panicked.
func failure(c *compiler, n *node) expr {
	if c.moments&atReturn == 0 {
		c.fault(n.at, "err is only known when a call returns: use it in a clause of call:...:return")
	}
	c.p.needs.values = true
	return c.accessed(&access{node: n, text: "err", last: true, result: &recording.Path{Results: true, Value: -1}})
}

// panicked is the value that a call panics with.
func panicked(c *compiler, n *node) expr {
	if c.moments&atReturn == 0 {
		c.fault(n.at, "panic is only known when a call returns: use it in a clause of call:...:return")
	}
	c.p.needs.values = true
	return func(m *Machine) value {
		if m.at != atReturn || m.event.Kind != recording.ExitPanic {
			return value{kind: null}
		}
		if m.event.Layout == 0 {
			return value{}
		}
		return str(string(m.printer.AppendPanic(nil, 0, m.event)))
	}
}
