package dtrace

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Machine runs a program over the events of a process, in the order of time. It is for one
// goroutine.
//
//	m := dtrace.NewMachine(program, r, os.Stdout, os.Stderr)
//	m.Begin()
//	for stream.Next(&e) && !m.Done() { m.Event(&e) }
//	m.End()
type Machine struct {
	Quiet bool // no columns before what clauses print

	program *Program
	r       *recording.Recording
	out     io.Writer
	errors  io.Writer
	failed  bool // something was reported
	printer *recording.Printer
	clock   recording.Converter
	first   recording.Clock
	start   uint64 // ticks at which the program began

	functions []*function // by key
	stacks    recording.Stacks[goroutine, saved]
	waited    map[uint64]waited // by goroutine, if the program needs waits
	begins    []*clause
	ends      []*clause
	ticks     []*ticking
	nextTick  uint64 // ticks at which the next tick is due

	// The event for which clauses are run.
	clause  *clause
	event   *recording.Event // nil at BEGIN, END and tick
	fn      *function
	at      moment
	name    string           // of the probe
	args    *recording.Event // the event that has the parameters
	results *recording.Event
	stack   *recording.Stack[goroutine, saved]
	outer   int // number of calls on the stack around the one that begins or ends, or around the probe
	now     uint64
	entered recording.Event // args at return

	globals  []value
	locals   []value
	arrays   []map[string]*value
	key      []byte
	keys     []value
	text     []byte // what was printed and not yet written
	lineOpen bool
	headed   bool

	sawWait  bool
	done     bool
	status   int
	dropped  uint64
	execname string
}

// function is what a program does at a function's probes.
type function struct {
	f      *recording.Function
	entry  []*clause
	leave  []*clause
	fires  []*clause
	prov   string
	module string
	name   string
	probe  string // name of a static probe
}

// goroutine is what a program keeps for a goroutine.
type goroutine struct {
	values []value
	arrays []map[string]*value
	data   []byte // parameters of the calls under way
}

// waited is how long a goroutine has waited since the program began, how much of that it was ready
// to run, and until when. In ticks.
type waited struct{ sum, ready, end uint64 }

// saved is where a call's parameters are, and how long its goroutine had waited when it began.
type saved struct {
	from, n int
	layout  uint32
	before  waited
}

// ticking is a tick probe.
type ticking struct {
	d      *description
	clause *clause
	next   int64 // ns since the program began
}

// NewMachine returns a machine. It writes what the program prints to out, and what is wrong with
// values to errors.
func NewMachine(p *Program, r *recording.Recording, out, errors io.Writer) *Machine {
	format := recording.DefaultFormat
	m := &Machine{Quiet: p.Quiet, program: p, r: r, out: out, errors: errors, printer: r.Printer(format), nextTick: math.MaxUint64,
		globals: make([]value, p.globals), locals: make([]value, p.locals), arrays: make([]map[string]*value, p.arrays), waited: map[uint64]waited{}}
	for i := range m.globals {
		m.globals[i] = number(0)
	}
	m.execname = filepath.Base(r.Env.Executable)
	for _, c := range p.clauses {
		for _, d := range c.descriptions {
			switch d.moments {
			case atBegin:
				m.begins = append(m.begins, c)
			case atEnd:
				m.ends = append(m.ends, c)
			case atTick:
				m.ticks = append(m.ticks, &ticking{d: d, clause: c, next: int64(d.every)})
			}
		}
	}
	m.first, _ = r.Clocks()
	m.Start(m.first.Ticks)
	return m
}

// Start sets the ticks at which the program began, if that was not when the recording's tables did.
// The tables of an attached process begin when it was first looked at.
func (m *Machine) Start(ticks uint64) {
	m.start = ticks
	m.Refresh()
}

// Refresh reads what was added to the recording's tables.
func (m *Machine) Refresh() {
	m.clock = m.r.Converter()
	m.first, _ = m.r.Clocks()
	m.setNextTick()
}

func (m *Machine) setNextTick() {
	m.nextTick = math.MaxUint64
	for _, t := range m.ticks {
		m.nextTick = min(m.nextTick, m.clock.Ticks(m.clock.Since(m.start)+time.Duration(t.next)))
	}
}

// Done reports whether the program has called exit.
func (m *Machine) Done() bool { return m.done }

// Status returns the argument of exit, or 1 if values that the program uses were missing.
func (m *Machine) Status() int {
	if m.status == 0 && m.failed {
		return 1
	}
	return m.status
}

// Dropped returns how many events were lost.
func (m *Machine) Dropped() uint64 { return m.dropped }

// Begin fires BEGIN.
func (m *Machine) Begin() {
	m.now = m.start
	m.moment(atBegin, "BEGIN", m.begins)
}

// End fires END, and prints the maps.
func (m *Machine) End() {
	done := m.done
	m.done = false
	m.moment(atEnd, "END", m.ends)
	m.done = done || m.done
	for _, a := range m.program.accesses {
		a.say(m)
	}
}

// AppendMaps appends all maps that printa did not print, as dtrace shows them.
func (m *Machine) AppendMaps(b []byte) []byte { return m.showAll(b) }

// Flush writes what the program has printed.
func (m *Machine) Flush() error {
	if len(m.text) == 0 {
		return nil
	}
	_, err := m.out.Write(m.text)
	m.text = m.text[:0]
	return err
}

// report writes an error of the program.
func (m *Machine) report(err error) {
	m.failed = true
	m.Flush()
	fmt.Fprintf(m.errors, "ftrace: %v\n", err)
}

// moment runs clauses at a moment without an event.
func (m *Machine) moment(at moment, name string, clauses []*clause) {
	if len(clauses) == 0 {
		return
	}
	m.event, m.fn, m.args, m.results, m.stack, m.outer = nil, nil, nil, nil, nil, 0
	m.at, m.name = at, name
	m.fire(clauses)
}

// Advance fires the tick probes that are due at a time of day, even if there is no event.
func (m *Machine) Advance(to time.Time) {
	since := to.UnixNano() - m.first.Wall
	if len(m.ticks) > 0 && m.first.Wall != 0 && since > 0 && !m.done {
		if now := m.clock.Ticks(time.Duration(since)); now >= m.nextTick {
			m.tick(now)
		}
	}
}

// tick fires the tick probes that are due.
func (m *Machine) tick(now uint64) {
	for m.nextTick <= now && !m.done {
		var t *ticking
		for _, other := range m.ticks {
			if t == nil || other.next < t.next {
				t = other
			}
		}
		m.now = m.nextTick
		t.next += int64(t.d.every)
		m.moment(atTick, t.d.name, []*clause{t.clause})
		m.setNextTick()
	}
}

// Event handles an event. Events come in the order of time.
func (m *Machine) Event(e *recording.Event) {
	if e.Ticks >= m.nextTick {
		m.tick(e.Ticks)
	}
	if m.done {
		return
	}
	m.now = e.Ticks
	switch e.Kind {
	case recording.Entry, recording.EntryArgs:
		fn := m.function(e.Function)
		if m.program.needs.calls {
			m.enter(fn, e)
		}
		if len(fn.entry) > 0 {
			m.event, m.fn, m.at, m.name, m.args, m.results = e, fn, atEntry, "entry", e, nil
			m.fire(fn.entry)
		}
	case recording.Exit, recording.ExitResults, recording.ExitPanic, recording.ExitGoexit:
		m.exit(m.function(e.Function), e)
	case recording.Probe:
		fn := m.function(e.Function)
		if m.program.needs.calls {
			m.stack = m.stacks.Of(e)
			m.outer = len(m.stack.Calls)
		}
		if len(fn.fires) > 0 {
			m.event, m.fn, m.at, m.name, m.args, m.results = e, fn, atProbe, fn.probe, e, nil
			m.fire(fn.fires)
		}
	case recording.Wait:
		m.sawWait = true
		m.wait(m.function(e.Function), *e)
	case recording.GoroutineEnd:
		delete(m.waited, e.Goroutine)
		if m.program.needs.calls {
			m.stacks.Forget(e.Goroutine)
		}
	case recording.Lost:
		m.dropped += e.Call
	}
}

// function returns what the program does at a function's probes.
func (m *Machine) function(key uint32) *function {
	if int(key) < len(m.functions) && m.functions[key] != nil {
		return m.functions[key]
	}
	f := m.r.Function(key)
	fn := &function{f: f, prov: callProvider, module: module(f), name: f.Name}
	if f.Probe {
		fn.prov, fn.probe = f.Package, f.Name
		fn.module, fn.name = "", ""
	}
	if f.Wait {
		fn.prov, fn.module = waitProvider, ""
	}
	if f.Span {
		fn.prov, fn.module = f.Package, ""
	}
	for _, c := range m.program.clauses {
		var at moment
		for _, d := range c.descriptions {
			at |= d.matches(f)
		}
		if at&atEntry != 0 {
			fn.entry = append(fn.entry, c)
		}
		if at&atReturn != 0 {
			fn.leave = append(fn.leave, c)
		}
		if at&atProbe != 0 {
			fn.fires = append(fn.fires, c)
		}
	}
	if int(key) < m.r.Keys() {
		for len(m.functions) <= int(key) {
			m.functions = append(m.functions, nil)
		}
		m.functions[key] = fn
	}
	return fn
}

// waits adds a wait to those of its goroutine.
func (m *Machine) waits(e *recording.Event) {
	w, wait := m.waited[e.Goroutine], e.Wait()
	begin := max(wait.Begin, w.end, m.start)
	if begin >= e.Ticks {
		return
	}
	if wait.Ready != 0 {
		w.ready += e.Ticks - max(wait.Ready, begin)
	}
	m.waited[e.Goroutine] = waited{w.sum + e.Ticks - begin, w.ready, e.Ticks}
}

// LacksWaits reports whether the program needs waits, and none has been seen.
func (m *Machine) LacksWaits() bool { return m.program.needs.waits && !m.sawWait }

// wait runs the clauses of a wait, which is a call that begins and returns at once.
func (m *Machine) wait(fn *function, e recording.Event) {
	if e.Call == 0 {
		return // it is under way
	}
	if m.program.needs.calls {
		entry := e
		entry.Kind, entry.Ticks, entry.Data = recording.Entry, e.Wait().Begin, nil
		m.enter(fn, &entry)
	}
	if m.program.needs.waits {
		m.waits(&e)
	}
	e.Kind, e.Data = recording.Exit, nil
	m.exit(fn, &e)
}

// enter puts a call on its goroutine's stack.
func (m *Machine) enter(fn *function, e *recording.Event) {
	st := m.unseen(e)
	c := st.Push(e)
	c.Data = saved{before: m.waited[e.Goroutine]}
	g := &st.Data
	if m.program.needs.entries && len(fn.leave) > 0 && e.Layout != 0 && len(g.data)+len(e.Data) <= entriesMax {
		c.Data.from, c.Data.n, c.Data.layout = len(g.data), len(e.Data), e.Layout
		g.data = append(g.data, e.Data...)
	}
	m.stack, m.outer = st, len(st.Calls)-1
}

// entriesMax is the number of bytes that the parameters of a goroutine's calls under way may take.
// Calls beyond that, which a stack overflow has, return without them.
const entriesMax = 64 << 20

// unseen returns an event's stack, without the calls that ended unseen.
func (m *Machine) unseen(e *recording.Event) *recording.Stack[goroutine, saved] {
	st := m.stacks.Of(e)
	for n := st.Unseen(e); n > 0; n-- {
		pop(st)
	}
	return st
}

// pop takes off the innermost call.
func pop(st *recording.Stack[goroutine, saved]) {
	if d := &st.Calls[len(st.Calls)-1].Data; d.layout != 0 {
		st.Data.data = st.Data.data[:d.from]
	}
	st.Pop()
}

// exit runs the clauses of a return.
func (m *Machine) exit(fn *function, e *recording.Event) {
	var c *recording.Call[saved]
	m.args = nil
	if m.program.needs.calls {
		st := m.unseen(e)
		m.stack, m.outer = st, len(st.Calls)
		if c = st.Ends(e); c != nil {
			m.outer--
			if c.Data.layout != 0 {
				m.entered = recording.Event{Kind: recording.EntryArgs, Function: e.Function, Layout: c.Data.layout, Data: st.Data.data[c.Data.from : c.Data.from+c.Data.n]}
				m.args = &m.entered
			}
		}
	}
	if len(fn.leave) > 0 {
		m.event, m.fn, m.at, m.name, m.results = e, fn, atReturn, "return", nil
		if e.Kind == recording.ExitResults || e.Kind == recording.Exit && countResults(fn.f) > 0 {
			m.results = e
		}
		m.fire(fn.leave)
	}
	if c != nil {
		pop(m.stack)
	}
}
