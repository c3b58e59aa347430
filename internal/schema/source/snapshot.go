package source

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// snapshot makes the tables from what was counted.
func (p *pass) snapshot() *Snapshot {
	s := &Snapshot{
		Process:   Process{p.r.Process.PID, p.r.Process.Executable, p.r.Process.Args, p.r.Process.Release, p.r.Process.Start, "RECORDED"},
		Consumers: EveryConsumer &^ LockHolders, Timer: timerOf(p.r), Actors: []Rule{everyActor}, Objects: []Rule{everyObject},
		Lost: []Counter{{"thread_instances_lost", p.lost.threads}, {"summary_instances_lost", p.lost.instances + p.statements.lost}, {"records_lost", p.lost.records}},
		Limits: append(historySizes(p.options.History, p.options.HistoryLong, p.options.HistoryLong, p.options.HistoryLong),
			Counter{"max_thread_instances", int64(p.options.Threads)}, Counter{"max_summary_instances", int64(p.options.Instances)}),
	}
	s.History = p.options.History
	_, last := p.r.Clocks()
	leftOut := map[uint32]recording.LeftOut{}
	for _, l := range p.r.LeftOut(last.Ticks) {
		leftOut[l.Function] = l
	}
	s.Lost = append(s.Lost, Counter{LeftOut, int64(len(leftOut))})
	s.known(p.r, p.objects, p.statements.snapshot(), p.holdersAtEnd())
	var byThread, byCaller, byInstance []Summary
	s.ByThread, s.ByCaller, s.ByInstance = func() []Summary { return byThread }, func() []Summary { return byCaller }, func() []Summary { return byInstance }
	for i := range s.Buckets {
		s.Buckets[i] = p.since(1 << i)
	}
	s.Buckets[63] = 1<<63 - 1
	for _, f := range p.r.Functions() {
		s.add(f, Flags{p.global.has(f.Key), true})
	}
	current := map[uint64][]Call{}
	for _, st := range p.w.Stacks.Every() {
		current[st.Goroutine] = p.under(st, s)
	}
	calls, waits := p.calls.byThread(p.threads, ofCalls), p.waits.byThread(p.threads, ofWaits)
	for _, id := range slices.Sorted(maps.Keys(p.threads)) {
		t := p.threads[id]
		t.Current = current[id]
		t.History = p.rows(calls[t])
		for _, r := range waits[t] {
			t.Waits = append(t.Waits, r.of)
		}
		s.Threads = append(s.Threads, t.Thread)
		for _, i := range t.sums.sorted(cmp.Compare[uint32]) {
			byThread = append(byThread, p.summary(t.sums.tallies[i], Summary{Function: t.sums.keys[i], Thread: id}))
		}
	}
	for _, r := range p.spans.last() {
		s.Spans = append(s.Spans, r.of)
	}
	slices.SortStableFunc(s.Spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, r := range p.probes.last() {
		f := r.of.Span
		args := p.printed(&recording.Event{Layout: r.of.layout, Data: r.of.args}, p.r.Function(f.Function).Params)
		f.Args = func() Text { return args }
		s.Fired = append(s.Fired, f)
	}
	for _, r := range p.waits.last() {
		s.LongWaits = append(s.LongWaits, r.of)
	}
	s.Long, s.Now = p.rows(p.calls.last()), p.at(p.w.Now)
	for _, i := range p.global.sorted(cmp.Compare[uint32]) {
		key := p.global.keys[i]
		s.Global = append(s.Global, p.summary(p.global.tallies[i], Summary{Function: key, Buckets: p.lengths[key][:]}).with(leftOut[key]))
	}
	for _, i := range p.byCaller.sorted(func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) }) {
		key := p.byCaller.keys[i]
		byCaller = append(byCaller, p.summary(p.byCaller.tallies[i], Summary{Function: key[0], Caller: key[1]}))
	}
	for _, i := range p.byObject.sorted(func(a, b objectKey) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.object, b.object))
	}) {
		key := p.byObject.keys[i]
		byInstance = append(byInstance, p.summary(p.byObject.tallies[i], Summary{Function: key.function, Object: key.object}))
	}
	return s
}

// Rules that choose everything.
var (
	everyActor  = Rule{[3]string{"%", "%"}, Flags{true, true}}
	everyObject = Rule{[3]string{"%", "%", "%"}, Flags{true, true}}
)

func (p *pass) summary(t *tally, s Summary) Summary {
	s.Count, s.Timed, s.Errors, s.Panics, s.Bytes = t.count, t.count, t.errors, t.panics, t.bytes
	s.Sum, s.Min, s.Max, s.Self = p.since(t.sum), p.since(t.least), p.since(t.most), p.since(t.self)
	return s
}

// with returns the summary of a function with the calls of it that were left out.
func (s Summary) with(l recording.LeftOut) Summary {
	s.Count += l.Calls
	s.Errors += l.Failed
	s.LeftOut, s.More = l.Calls, l.More
	return s
}

// under returns the calls that are under way on a goroutine, and its spans.
func (p *pass) under(st *passStack, s *Snapshot) (list []Call) {
	t := st.Data.View
	if t == nil {
		return nil
	}
	args, until := t.args, st.Data.Seen
	if t.since != 0 {
		until = t.since
	}
	for _, c := range slices.Backward(st.Calls) { // of a very deep stack only the inner ones
		d := &c.Data.View
		entry := entry(&c, args)
		if f := p.r.Function(c.Function); f != nil && f.Span {
			s.Spans = append(s.Spans, p.span(t, &c, f, entry))
		} else {
			values := Values{Object: d.object, Args: p.printed(&entry, p.r.Function(c.Function).Params)}
			lasted := until - min(c.Start, until)
			list = append(list, Call{Event: Event{Thread: t.ID, ID: d.id, Nesting: d.nesting, Level: int(c.Depth), Function: c.Function, Timed: true, Inside: true, Start: p.at(c.Start)},
				Self: p.since(lasted - min(lasted, c.Data.Inner)), Values: values.returned()})
		}
		args = args[:len(args)-int(d.args)]
		until = c.Start
	}
	slices.Reverse(list)
	return list
}

// rows returns the rows of calls.
func (p *pass) rows(list []*row[endedCall]) (calls []Call) {
	for _, r := range list {
		c := &r.of
		f := p.r.Function(c.function)
		v := outcome(p.printer, f, &recording.Event{Kind: c.kind, Layout: c.results, Data: c.values[c.argsSize:]}, c.fails)
		v.Object, v.Args = c.object, p.printed(&recording.Event{Layout: c.args, Data: c.values[:c.argsSize]}, f.Params)
		calls = append(calls, Call{Event: Event{Thread: c.thread, ID: c.id, EndID: c.endID, Nesting: c.nesting, Level: int(c.level), Function: c.function, Timed: true, Start: p.at(c.start), End: p.at(r.end)},
			Panicked: c.kind == recording.ExitPanic, Failed: c.fails, Values: v.returned()})
	}
	return calls
}

// returned returns a function that returns the values, or nil if there are none.
func (v Values) returned() func() *Values {
	if v == (Values{}) {
		return nil
	}
	return func() *Values { return &v }
}

// outcome returns the values with which a call ended. fails means that the last of them is an error
// that is not nil.
func outcome(printer *recording.Printer, f *recording.Function, exit *recording.Event, fails bool) *Values {
	v := &Values{}
	switch exit.Kind {
	case recording.ExitPanic:
		v.Error = Text{string(printer.AppendPanic(nil, 0, exit)), true}
	case recording.ExitResults:
		if exit.Layout == 0 {
			break
		}
		v.Results = Text{string(printer.Append(nil, 0, exit, f.Results)), true}
		if !fails {
			break
		}
		if list := printer.Values(exit, f.Results); len(list) > 0 {
			v.Error = Text{list[len(list)-1].Text, true}
		}
	}
	return v
}

func (p *pass) printed(e *recording.Event, names []recording.Param) Text {
	return valuesOf(p.printer, e, names)
}

// valuesOf returns the values of an event as text.
func valuesOf(printer *recording.Printer, e *recording.Event, names []recording.Param) Text {
	if e.Layout == 0 {
		return Text{}
	}
	return Text{string(printer.Append(nil, 0, e, names)), true}
}
