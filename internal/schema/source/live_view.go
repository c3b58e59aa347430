package source

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// liveView turns a snapshot of package live into one of this package.
type liveView struct {
	s       *liveProcess
	l       *live.Snapshot
	printer *recording.Printer
	sites   map[uint32]site // those that were needed
	mu      sync.Mutex      // guards the printer and known
	known   map[*live.Call]*Values
}

func (v *liveView) snapshot() *Snapshot {
	l, program := v.l, v.l.Program
	s := &Snapshot{
		Process:   Process{v.s.p.PID, program.Process.Executable, program.Process.Args, program.Process.Release, program.Process.Start, "RUNNING"},
		Consumers: v.s.consumers(), Timer: l.Timer, Budget: l.Kept, Actors: rulesOf(l.Setup.Actors, everyActor), Objects: rulesOf(l.Setup.Objects, everyObject),
		ByThread:   v.summaries(l.ByGoroutine, func(s *Summary, by uint64) { s.Thread = by }),
		ByCaller:   v.summaries(l.ByCaller, func(s *Summary, by uint64) { s.Caller = uint32(by) }),
		ByInstance: v.summaries(l.ByReceiver, func(s *Summary, by uint64) { s.Object = by }),
		Lost: []Counter{{"call_classes_lost", int64(l.Lost.Functions)}, {LeftOut, int64(l.LeftOut)}, {"thread_instances_lost", int64(l.Lost.Goroutines)}, {"nested_calls_lost", int64(l.Lost.Frames)},
			{"tables_lost", int64(l.Lost.Tables)}, {"summary_instances_lost", int64(l.Lost.Tallies)}, {"records_lost", int64(l.Lost.Records)}},
		Limits: append(historySizes(l.HistoryMax, l.LongMax, l.SpansMax, l.FiredMax), Counter{"max_call_classes", int64(l.Limits.Functions)}, Counter{"max_thread_instances", int64(l.Limits.Goroutines)},
			Counter{"max_summary_instances", int64(l.Limits.Rows)}, Counter{"max_statement_classes", live.SpanKindsMax}, Counter{"max_stage_classes", live.SpanKindsMax}, Counter{"max_sql_text_length", live.SpanTextMax}),
	}
	s.History, s.FileName, s.File = l.HistoryMax, program.File, v.s.p.Files()
	all := sync.OnceValues(v.goroutines)
	s.States = func() ([]State, error) {
		g, err := all()
		return g.states, err
	}
	places := sync.OnceValue(s.firstWaits)
	s.Name = func(address uint64) string {
		if name := v.s.names.Object(&symbols.Object{Address: address}); name != "" {
			return name
		}
		if g, err := all(); err == nil && g.objects[address] != nil {
			if o := g.objects[address]; o.Name != "" || o.Place != "" {
				return cmp.Or(o.Name, o.Place)
			}
		}
		if w := places()[address]; w != nil {
			return w.Place
		}
		return ""
	}
	s.Held = func() ([]Holder, error) {
		g, err := all()
		return g.held, err
	}
	s.Locks = sync.OnceValues(v.locks)
	s.Statements = sync.OnceValues(func() (Statements, error) { return v.s.statements(s.Probes) })
	s.Memory = sync.OnceValue(v.memory)
	for i := range s.Buckets {
		s.Buckets[i] = v.since(1 << i)
	}
	for i := live.Buckets - 1; i < len(s.Buckets); i++ {
		s.Buckets[i] = 1<<63 - 1
	}
	rows := v.s.functionsOf(l)
	s.Functions, s.Probes, s.Waits, s.Kinds = rows.lists.Functions, rows.lists.Probes, rows.lists.Waits, rows.lists.Kinds
	summed := 0
	for key := range l.Functions {
		if l.Functions[key].Summary.Count > 0 && rows.known[key] {
			summed++
		}
	}
	s.Global = make([]Summary, 0, summed)
	for key := range l.Functions {
		if c := l.Functions[key].Summary; c.Count > 0 && rows.known[key] {
			s.Global = append(s.Global, v.global(uint32(key), c))
		}
	}
	s.Threads, s.Spans, s.Fired = rowsFrom(l.Goroutines, v.thread), rowsFrom(l.Spans, v.span), rowsFrom(l.Fired, v.fired)
	s.Long, s.LongWaits = rowsFrom(l.Long, v.call), rowsFrom(l.LongWaits, v.wait)
	s.Now, s.Running = v.at(l.Latest), int(l.Running)
	return s
}

// rowsFrom returns what f makes of each element of a list.
func rowsFrom[From, Row any](list []From, f func(*From) Row) []Row {
	rows := make([]Row, len(list))
	for i := range list {
		rows[i] = f(&list[i])
	}
	return rows
}

// functionRows are a process's functions as rows of a snapshot.
type functionRows struct {
	program *recording.Recording
	flags   []Flags // by key
	known   []bool  // by key: there is a row
	lists   Snapshot
}

// functionsOf returns the rows of the functions in a snapshot: those of the one before if they are
// the same.
func (s *liveProcess) functionsOf(l *live.Snapshot) *functionRows {
	now := func(key int) Flags { return Flags{l.Functions[key].On, !l.Functions[key].Untimed} }
	same := s.rows != nil && s.rows.program == l.Program && len(s.rows.flags) == len(l.Functions)
	for key := 0; same && key < len(l.Functions); key++ {
		same = s.rows.flags[key] == now(key)
	}
	if same {
		return s.rows
	}
	r := &functionRows{program: l.Program, flags: make([]Flags, len(l.Functions)), known: make([]bool, len(l.Functions))}
	for key := range l.Functions {
		r.flags[key] = now(key)
	}
	for _, f := range l.Program.Functions() {
		if int(f.Key) >= len(l.Functions) {
			continue
		}
		r.lists.add(f, r.flags[f.Key])
		r.known[f.Key] = true
	}
	s.rows = r
	return r
}

func (v *liveView) since(ticks uint64) int64 { return Picoseconds(v.l.Clock.Between(0, ticks)) }
func (v *liveView) at(ticks uint64) int64    { return Picoseconds(v.l.Clock.Since(ticks)) }

func (v *liveView) global(key uint32, c *live.Counts) Summary {
	return Summary{Function: key, Count: c.Count, Timed: c.Timed, Sum: v.since(c.Sum), Min: v.since(c.Min), Max: v.since(c.Max), Self: v.since(c.Self),
		Errors: c.Errors, Panics: c.Panics, Bytes: c.Bytes, LeftOut: uint64(max(0, int64(c.LeftOut))), More: c.More, Buckets: c.Log2}
}

// firstWaits returns, by object, the first of the waits in a snapshot that have ended.
func (s *Snapshot) firstWaits() map[uint64]*Wait {
	first := map[uint64]*Wait{}
	add := func(waits []Wait) {
		for i := range waits {
			if w := &waits[i]; w.Place != "" && (first[w.Object] == nil || w.End < first[w.Object].End) {
				first[w.Object] = w
			}
		}
	}
	add(s.LongWaits)
	for i := range s.Threads {
		add(s.Threads[i].Waits)
	}
	return first
}

// thread returns the row of a goroutine.
func (v *liveView) thread(g *live.Goroutine) Thread {
	t := Thread{ID: g.ID, Parent: g.Parent, Creator: g.ParentFn, Started: v.s.names.Function(g.Start), Disabled: g.Muted}
	nesting := uint64(0)
	for level, frame := range g.Stack {
		e := Event{Thread: g.ID, ID: frame.Event, Nesting: nesting, Level: level, Function: frame.Function, Inside: true, Timed: frame.Timed, Start: v.at(frame.Start)}
		if f := v.l.Program.Function(frame.Function); f != nil && f.Wait {
			t.Waiting = &Wait{Event: e, Runnable: -1, Object: frame.Receiver, Operation: recording.Operation(frame.Count)}
			continue
		} else if f != nil && f.Span {
			nesting = frame.Event // the row is among those of spans
			continue
		}
		t.Current = append(t.Current, Call{Event: e, Self: v.selfOf(g, level), Values: v.values(&live.Call{Function: frame.Function, Receiver: frame.Receiver, Entry: frame.Entry})})
		nesting = frame.Event
	}
	t.Innermost, t.Level = nesting, len(g.Stack)
	t.History, t.Waits = rowsFrom(g.History, v.call), rowsFrom(g.Waits, v.wait)
	switch {
	case len(t.Current) > 0:
		t.Entry = t.Current[0].Function
	case len(t.History) > 0:
		t.Entry = t.History[len(t.History)-1].Function
	}
	return t
}

// selfOf returns how much time a call under way has spent by itself, 0 if that is not known.
func (v *liveView) selfOf(g *live.Goroutine, level int) int64 {
	frame, until := &g.Stack[level], v.l.Latest
	if level+1 < len(g.Stack) {
		until = g.Stack[level+1].Start
	}
	if frame.Left || !frame.Timed || until < frame.Start {
		return 0
	}
	lasted := until - frame.Start
	return v.since(lasted - min(lasted, frame.Within))
}

// memory returns what the tracer's memory in the process is used for.
func (v *liveView) memory() (rows []Memory) {
	v.s.use(func() error {
		for _, m := range v.s.p.Memory() {
			rows = append(rows, Memory{m.Name, int64(m.Count), int64(m.Bytes), int64(m.Most)})
		}
		return nil
	})
	return rows
}

// locks returns what the process knows of its locks.
func (v *liveView) locks() (to Locks, err error) {
	err = v.s.use(func() error {
		from, err := v.s.p.Locks()
		to.Holders = v.holders(&from)
		kinds := map[live.FindingKind]string{live.FindingOrder: "ORDER", live.FindingRecursion: "RECURSION", live.FindingLong: "LONG"}
		for _, f := range from.Findings {
			row := Finding{Kind: kinds[f.Kind], Count: f.Count, Lasted: v.since(f.Lasted), Objects: [2]uint64{f.Locks[0] &^ 1, f.Locks[1] &^ 1}}
			for i, a := range f.Acts {
				if i == 1 || f.Kind == live.FindingOrder {
					row.Acts[i] = Act{a.Goroutine, a.Function, a.Call, source(a.Held), source(a.Took)}
				}
			}
			to.Findings = append(to.Findings, row)
		}
		return err
	})
	return to, err
}

// holders returns the rows of those who hold locks.
func (v *liveView) holders(l *live.Locks) (rows []Holder) {
	for _, h := range l.Holders {
		rows = append(rows, Holder{h.Lock, holdModes[uint32(h.Mode)], h.Goroutine, v.since(l.Now - min(h.Since, l.Now)), h.Function, h.Call, source(h.At)})
	}
	return rows
}

func source(at live.Position) string {
	if at.File == "" {
		return ""
	}
	return at.File + ":" + strconv.Itoa(at.Line)
}

// goroutines are all of the process, what they wait for, and who holds that.
type goroutines struct {
	states  []State
	objects map[uint64]*live.Object
	held    []Holder
}

func (v *liveView) goroutines() (all goroutines, err error) {
	err = v.s.use(func() error {
		states, _, locks, err := v.s.p.StatesAndLocks()
		if err != nil {
			return err
		}
		all.held = v.holders(&locks)
		slices.SortFunc(states, func(a, b live.State) int { return cmp.Compare(a.ID, b.ID) })
		all.states = rowsFrom(states, v.state)
		all.objects, err = v.s.p.Objects(states, locks, v.s.names)
		return err
	})
	return all, err
}

func (v *liveView) state(g *live.State) State {
	s := State{Thread: g.ID, Started: g.Start, Wait: g.Kind, Object: g.Object, Objects: g.Objects, Stuck: g.Stuck, Parent: g.Parent, Creator: g.Creator, Since: -1, Least: Picoseconds(g.Least), Does: g.Status.String()}
	if g.Status == live.Waiting {
		s.Does, s.Waits = g.Reason, true
	}
	if g.Since != 0 {
		s.Since = v.at(g.Since)
	}
	if at := g.Place(); at.Function != "" {
		s.Within, s.Source = at.Function, at.File+":"+strconv.Itoa(at.Line)
	}
	return s
}

// span returns the row of a statement or stage.
func (v *liveView) span(s *live.Span) Span {
	row := Span{Event: Event{Thread: s.Goroutine, ID: s.Event, EndID: s.Last, Nesting: s.Nesting, Level: s.Depth, Function: s.Function, Timed: s.Start != 0, Inside: s.End == 0},
		Failed: s.Failed, Panicked: s.Panicked, Status: s.Status, Text: s.Text, Trace: s.Trace, Parent: s.Parent, Message: s.Message}
	if row.Timed {
		row.Start = v.at(s.Start)
		if !row.Inside {
			row.End = v.at(s.End)
		}
	}
	return row
}

// fired returns the row of a static probe that fired.
func (v *liveView) fired(f *live.Fired) Span {
	row := Span{Event: Event{Thread: f.Goroutine, ID: f.Event, EndID: f.Event, Nesting: f.Nesting, Level: f.Depth, Function: f.Function, Timed: f.At != 0}}
	if row.Timed {
		row.Start = v.at(f.At)
		row.End = row.Start
	}
	row.Args = func() Text {
		v.mu.Lock()
		defer v.mu.Unlock()
		return valuesOf(v.printer, &recording.Event{Kind: recording.Probe, Layout: f.Layout, Data: f.Data}, v.l.Program.Function(f.Function).Params)
	}
	return row
}

// event returns what is common to the rows of calls and waits that have ended.
func (v *liveView) event(c *live.Call) Event {
	e := Event{Thread: c.Goroutine, ID: c.Event, EndID: c.Last, Nesting: c.Nesting, Level: c.Depth, Function: c.Function, Timed: c.Start != 0}
	if e.Timed {
		e.Start, e.End = v.at(c.Start), v.at(c.End)
	}
	return e
}

// wait returns the row of a wait that has ended.
func (v *liveView) wait(w *live.Wait) Wait {
	at := v.siteOf(w.Site)
	row := Wait{Event: v.event(&w.Call), Runnable: -1, Object: w.Receiver, Source: at.source, Place: at.place, Ender: Ender{w.Ender.Goroutine, w.Ender.Function, w.Ender.Call},
		Operation: recording.Operation(w.Operation), Others: w.Others}
	if row.Timed && w.Known {
		row.Runnable = v.since(w.Runnable)
	}
	return row
}

// site is where goroutines stopped.
type site struct{ source, place string }

// siteOf returns where a site is. Many waits are at the same ones.
func (v *liveView) siteOf(number uint32) site {
	at, known := v.sites[number]
	if !known {
		if s := v.l.Program.Site(number); s != nil {
			at = site{sourceOf(v.l.Program, number), recording.PlaceName(s.Function, s.File, s.Line)}
		}
		v.sites[number] = at
	}
	return at
}

// sourceOf returns where a site is, file:line.
func sourceOf(r *recording.Recording, site uint32) string {
	s := r.Site(site)
	if s == nil {
		return ""
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

func (v *liveView) call(c *live.Call) Call {
	return Call{Event: v.event(c), Panicked: c.Panicked, Failed: c.Failed, Values: v.values(c)}
}

// values returns a function that reads a call's values from the rings, once, when they are first
// needed.
func (v *liveView) values(c *live.Call) func() *Values {
	return func() *Values {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.known[c] == nil {
			values := &Values{}
			v.s.use(func() error {
				*values = v.read(c)
				return nil
			})
			values.Object = c.Receiver
			v.known[c] = values
		}
		return v.known[c]
	}
}

func (v *liveView) read(c *live.Call) Values {
	f := v.l.Program.Function(c.Function)
	var values Values
	if v.s.p.ToFiles() && v.s.consumers().InForce()&ValuesConsumer == 0 {
		return values
	}
	var e recording.Event
	if v.s.p.Event(c.Exit, c.Function, &e) && e.Exits() {
		values = *outcome(v.printer, f, &e, c.Failed)
	}
	if v.s.p.Event(c.Entry, c.Function, &e) && e.Kind == recording.EntryArgs {
		values.Args = Text{string(v.printer.Append(nil, 0, &e, f.Params)), true}
	}
	return values
}

// summaries returns a function that makes rows from a list in which each processor may have a row
// of the same key. set stores the key.
func (v *liveView) summaries(list []live.Tally, set func(s *Summary, by uint64)) func() []Summary {
	return sync.OnceValue(func() []Summary {
		type key struct {
			function uint32
			by       uint64
		}
		sums := map[key]*live.Tally{}
		for i := range list {
			t := &list[i]
			k := key{t.Function, t.By}
			if sum := sums[k]; sum == nil {
				first := *t
				sums[k] = &first
			} else {
				sum.Add(t)
			}
		}
		rows := make([]Summary, 0, len(sums))
		for _, k := range slices.SortedFunc(maps.Keys(sums), func(a, b key) int { return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.function, b.function)) }) {
			t := sums[k]
			row := Summary{Function: k.function, Count: t.Count, Timed: t.Timed, Sum: v.since(t.Sum), Min: v.since(t.Min), Max: v.since(t.Max), Self: v.since(t.Self), Errors: t.Errors, Panics: t.Panics, Bytes: t.Bytes}
			set(&row, k.by)
			rows = append(rows, row)
		}
		return rows
	})
}
