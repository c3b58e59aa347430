package schema

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/live"
	"github.com/ftrace-wrap/ftrace-wrap/recording"
)

// liveView makes a Snapshot of package live's.
type liveView struct {
	s         *liveProcess
	l         *live.Snapshot
	printer   *recording.Printer
	functions map[callName]uint32 // of calls that are known, for the callers of others
	mu        sync.Mutex          // of the printer and of values
	once      sync.Once
	byThread  []Summary
	byCaller  []Summary
	byObject  []Summary
}

// callName is a call, by the how-manyeth of its goroutine it is.
type callName struct{ goroutine, event uint64 }

func (v *liveView) snapshot() *Snapshot {
	l, program := v.l, v.l.Program
	s := &Snapshot{
		Process:   Process{v.s.p.PID, program.Process.Executable, program.Process.Args, program.Process.Release, program.Process.Start, "RUNNING"},
		Consumers: v.s.consumers(), Timer: v.s.timer, Actors: v.s.actors, Objects: v.s.objects,
		ByThread: v.summaries(&v.byThread), ByCaller: v.summaries(&v.byCaller), ByInstance: v.summaries(&v.byObject),
		Lost: []Counter{{"call_classes_lost", int64(l.Lost.Functions)}, {"thread_instances_lost", int64(l.Lost.Goroutines)}, {"nested_calls_lost", int64(l.Lost.Frames)},
			{"tables_lost", int64(l.Lost.Tables)}, {"records_lost", int64(l.Lost.Records)}},
		Limits: []Counter{{"events_calls_history_size", int64(l.HistoryMost)}, {"events_calls_history_long_size", int64(l.LongMost)}},
	}
	for _, m := range v.s.p.Memory() {
		s.Memory = append(s.Memory, Memory{m.Name, int64(m.Count), int64(m.Bytes), int64(m.Most)})
	}
	for i := range s.Buckets {
		s.Buckets[i] = v.since(1 << i)
	}
	for i := live.Buckets - 1; i < len(s.Buckets); i++ {
		s.Buckets[i] = 1<<63 - 1
	}
	for _, f := range program.Functions() {
		if f.Probe || int(f.Key) >= len(l.Functions) {
			continue
		}
		now := &l.Functions[f.Key]
		flags := Flags{now.Enabled, now.Timed || !now.Enabled && !v.s.untimed[f.Key]}
		if wanted, masked := v.s.wanted[f.Key]; masked && !now.Enabled {
			flags = wanted
		}
		s.Functions = append(s.Functions, Function{f.Key, f.Package, f.Name, f.File, f.Line, flags})
		if now.Summary.Count > 0 {
			s.Global = append(s.Global, v.global(f.Key, &now.Summary))
		}
	}
	for i := range l.Long {
		c := &l.Long[i]
		v.functions[callName{c.Goroutine, c.Event}] = c.Function
	}
	shown := map[uint64]bool{}
	for i := range l.Goroutines {
		t := v.thread(s, &l.Goroutines[i])
		shown[t.ID] = !t.Disabled
		if t.Disabled {
			t.Current, t.History = nil, nil
		}
		s.Threads = append(s.Threads, t)
	}
	for i := range l.Long {
		c := &l.Long[i]
		if on, known := shown[c.Goroutine]; known && !on {
			continue
		}
		s.Long = append(s.Long, v.call(c))
	}
	return s
}

func (v *liveView) since(ticks uint64) int64 { return Picoseconds(v.l.Clock.Between(0, ticks)) }
func (v *liveView) at(ticks uint64) int64    { return Picoseconds(v.l.Clock.Since(ticks)) }

func (v *liveView) global(key uint32, c *live.Counts) Summary {
	buckets, timed := new([64]uint64), uint64(0)
	copy(buckets[:], c.Log2[:])
	for _, n := range c.Log2 {
		timed += n
	}
	return Summary{Function: key, Count: c.Count, Timed: timed, Sum: v.since(c.Sum), Min: v.since(c.Min), Max: v.since(c.Max), Self: v.since(c.Self),
		Errors: c.Errors, Panics: c.Panics, Buckets: buckets}
}

// thread makes a row of a goroutine.
func (v *liveView) thread(s *Snapshot, g *live.Goroutine) Thread {
	t := Thread{ID: g.ID, Parent: g.Parent, Creator: g.ParentFn, Started: v.s.p.FunctionAt(g.Start)}
	nesting := uint64(0)
	for level, frame := range g.Stack {
		v.functions[callName{g.ID, frame.Event}] = frame.Function
		t.Current = append(t.Current, Call{Thread: g.ID, ID: frame.Event, Nesting: nesting, Level: level, Function: frame.Function, Inside: true,
			Timed: int(frame.Function) < len(v.l.Functions) && v.l.Functions[frame.Function].Timed, Start: v.at(frame.Start), Values: v.values(frame.Function, frame.Entry, live.Place{}, false)})
		nesting = frame.Event
	}
	for i := range g.History {
		c := &g.History[i]
		v.functions[callName{g.ID, c.Event}] = c.Function
		t.History = append(t.History, v.call(c))
	}
	switch {
	case len(g.Stack) > 0:
		t.Entry = g.Stack[0].Function
	case len(g.History) > 0:
		t.Entry = g.History[len(g.History)-1].Function
	}
	entry := s.entry(&t)
	t.Disabled = true
	for i := range v.s.actors {
		if r := &v.s.actors[i]; like(entry, r.Pattern[0]) || like(t.Started, r.Pattern[0]) {
			t.Disabled = !r.Enabled
		}
	}
	return t
}

func (v *liveView) call(c *live.Call) Call {
	row := Call{Thread: c.Goroutine, ID: c.Event, EndID: c.Last, Nesting: c.Nesting, Level: c.Depth, Function: c.Function, Timed: c.Start != 0,
		Panicked: c.Panicked, Failed: c.Failed, Values: v.values(c.Function, c.Entry, c.Exit, c.Failed)}
	if row.Timed {
		row.Start, row.End = v.at(c.Start), v.at(c.End)
	}
	return row
}

// values returns what reads a call's values from the rings, when they are asked for, and once.
func (v *liveView) values(function uint32, entry, exit live.Place, fails bool) func() *Values {
	var known *Values
	return func() *Values {
		v.mu.Lock()
		defer v.mu.Unlock()
		if known != nil {
			return known
		}
		known = &Values{}
		v.s.use(func() error {
			*known = v.read(function, entry, exit, fails)
			return nil
		})
		return known
	}
}

func (v *liveView) read(function uint32, entry, exit live.Place, fails bool) Values {
	f := v.l.Program.Function(function)
	var values Values
	var e recording.Event
	if v.s.p.Event(exit, &e) && e.Exits() {
		values = *outcome(v.printer, f, &e, fails)
	}
	if v.s.p.Event(entry, &e) && e.Kind == recording.EntryArgs {
		values.Args = Text{string(v.printer.Append(nil, 0, &e, f.Params)), true}
		if len(f.Name) > 1 && f.Name[:2] == "(*" {
			values.Object, _ = v.printer.Address(&e)
		}
	}
	return values
}

// summaries returns what returns one of the lists that summarize makes.
func (v *liveView) summaries(list *[]Summary) func() []Summary {
	return func() []Summary {
		v.once.Do(v.summarize)
		return *list
	}
}

// summarize makes the summaries by thread, caller and receiver, of the calls in the long history.
func (v *liveView) summarize() {
	type key struct {
		thread   uint64
		caller   uint32
		object   uint64
		function uint32
	}
	byThread, byCaller, byObject := map[key]*Summary{}, map[key]*Summary{}, map[key]*Summary{}
	add := func(m map[key]*Summary, k key, c *live.Call, inner uint64) {
		s := m[k]
		if s == nil {
			s = &Summary{Function: k.function, Thread: k.thread, Caller: k.caller, Object: k.object}
			m[k] = s
		}
		s.Count++
		if c.Failed {
			s.Errors++
		}
		if c.Panicked {
			s.Panics++
		}
		if c.Start == 0 {
			return
		}
		lasted := v.since(c.End - c.Start)
		if s.Timed == 0 || lasted < s.Min {
			s.Min = lasted
		}
		s.Timed++
		s.Sum, s.Max, s.Self = saturated(s.Sum, lasted), max(s.Max, lasted), saturated(s.Self, v.since(c.End-c.Start-min(inner, c.End-c.Start)))
	}
	inner := map[callName]uint64{} // ticks in calls that a call made
	for i := range v.l.Long {
		c := &v.l.Long[i]
		if c.Start != 0 && c.Nesting != 0 {
			inner[callName{c.Goroutine, c.Nesting}] += c.End - c.Start
		}
	}
	for i := range v.l.Long {
		c := &v.l.Long[i]
		within := inner[callName{c.Goroutine, c.Event}]
		add(byThread, key{thread: c.Goroutine, function: c.Function}, c, within)
		add(byCaller, key{caller: v.functions[callName{c.Goroutine, c.Nesting}], function: c.Function}, c, within)
		if object := v.values(c.Function, c.Entry, c.Exit, c.Failed)().Object; object != 0 {
			add(byObject, key{object: object, function: c.Function}, c, within)
		}
	}
	list := func(m map[key]*Summary) []Summary {
		var rows []Summary
		for _, k := range slices.SortedFunc(maps.Keys(m), func(a, b key) int {
			return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.function, b.function), cmp.Compare(a.caller, b.caller), cmp.Compare(a.object, b.object))
		}) {
			rows = append(rows, *m[k])
		}
		return rows
	}
	v.byThread, v.byCaller, v.byObject = list(byThread), list(byCaller), list(byObject)
}

// saturated adds times; the largest number there is stands for more.
func saturated(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}
