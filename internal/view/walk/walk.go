// Package walk goes through a recording and tells a view which calls there were.
//
// It takes the events of package recording. It puts exits together with their entries by goroutine
// and depth. It applies rules to recorded calls, as internal/guest/arm/config.go and
// internal/guest/call/decide.go do to calls as they happen. A view sets the functions of a [Walker]
// and hears of the calls that are shown. The other packages of internal/view use it, and
// internal/schema/source; cmd/ftrace makes its [Source]. It prints nothing but what [Complain] is
// given a writer for, and knows nothing of what views make of calls: what they note of goroutines
// and calls are the type parameters G and C.
package walk

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// A Source is what is shown of a recording.
type Source struct {
	Recording *recording.Recording
	Window    recording.Window
	Rules     *Rules          // nil: all calls are shown
	Only      map[uint64]bool // goroutines; nil: all

	// Stretches are what is shown of each goroutine, in the order of time; nil: everything.
	Stretches map[uint64][]Stretch

	// Progress shows how far reading is, until end is called: done, called by another goroutine,
	// says how many of size bytes were read. nil: nothing shows it.
	Progress func(size int64, done func() int64) (end func())
}

type (
	// A Stack is a goroutine's calls under way.
	Stack[G, C any] = recording.Stack[Goroutine[G], Call[C]]
	// A Frame is a call under way.
	Frame[C any] = recording.Call[Call[C]]
)

// A Walker goes through a recording for a view, which notes a G of each goroutine and a C of each
// call. C has no pointers in it, so that calls can be set aside.
type Walker[G, C any] struct {
	Source
	Stacks recording.Stacks[Goroutine[G], Call[C]]
	Keep   bool   // goroutines are not forgotten that have no calls under way
	Now    uint64 // ticks of the event that is walked: calls whose ends were not seen ended by then
	Last   uint64 // ticks of the event before

	// What the view wants to hear of. Of calls these are the shown ones.
	Begin func(st *Stack[G, C], c *Frame[C], e *recording.Event)
	// End is called when a call ends, while it is still on the stack. e is nil if its exit was not
	// seen, c if its entry was not.
	End func(st *Stack[G, C], c *Frame[C], e *recording.Event)
	// More is called with a panic that was recovered, and with records that are of no call: a
	// goroutine's start, lines, probes that fired, lost ones (st is nil).
	More func(st *Stack[G, C], c *Frame[C], e *recording.Event)
	// After is called with the parameters of a call that ends. nil: they are of no interest.
	After func(st *Stack[G, C], c *Frame[C], e *recording.Event)
	// Wait is called with a wait that has ended. nil: a wait is a call to the view, which hears of
	// its beginning and its end at once.
	Wait func(st *Stack[G, C], e *recording.Event)
	// Divide has a wait that is a call contain another, of wait/cpu: while the goroutine could run,
	// and had no processor.
	Divide bool
	// Blocked is called with more about a wait under way, which follows. nil: it is of no interest.
	Blocked func(st *Stack[G, C], e *recording.Event)

	// Ended is called when a goroutine ends. nil: it is of no interest.
	Ended func(st *Stack[G, C], e *recording.Event)

	// Of a recording that is walked in parts; nil if the view does not want to hear it. Resume is
	// told that the innermost call began in a part which another walker has walked. Aside returns
	// what a part's view has to say of the calls of a goroutine that began before the part, or, at
	// the end of the part, of all. Taken is given that when the parts before have been walked. Next
	// is called before a part is walked, after which so many bytes of the recording come, and Over
	// when all of it has been taken up.
	Resume func(st *Stack[G, C])
	Aside  func(st *Stack[G, C], end bool) any
	Taken  func(st *Stack[G, C], said any)
	Next   func(left int64)
	Over   func()

	cpuKey    uint32
	soughtCPU bool

	rules *state          // nil: all is shown
	part  *partWalk[G, C] // it walks a part of the recording; nil: all of it
}

// Goroutine is the state of a goroutine.
type Goroutine[G any] struct {
	View      G
	Inherited Inherited // from the call that started it; until it has been said, and its mask for good
	Parent    uint64
	Seen      uint64 // ticks of the last event
	Shown     int32  // shown calls under way
	Hidden    bool   // it is not wanted, but its calls are of interest to the rules
	stretch   uint64 // where the stretch that it is in begins, 0: it is in none
	outside   int32  // shown calls that were under way when that began, less those that are to be around it
	parted    parted
}

// Call is the state of a call under way.
type Call[C any] struct {
	View   C
	Clause Clause // by which it is shown
	mask   uint32
	Shown  int32  // shown calls around it
	Inner  uint64 // ticks in shown calls that it made

	// Around is how many calls out the innermost shown call around it is, 0 if there is none:
	// nobody looks for it in all of a deep stack. passes is the innermost call that is shown, or
	// sets marks, the call included.
	Around int32
	passes caller
}

// Clause is what a call is shown by.
type Clause struct {
	Min    int64 // ns; shorter calls are not shown
	Detail rule.Detail
	Shown  bool // the call is shown
	Span   bool // it is a span of OpenTelemetry, however short
}

// everything is the clause of calls that no rules were asked about.
var everything = Clause{Detail: rule.Deep, Shown: true}

// New returns what goes through a source. The view sets Begin, End and More.
func New[G, C any](s Source) *Walker[G, C] {
	w := &Walker[G, C]{Source: s}
	if s.Rules != nil {
		w.rules = s.Rules.state()
	}
	return w
}

// Ruled reports whether rules choose among the calls.
func (w *Walker[G, C]) Ruled() bool { return w.rules != nil }

// Refresh takes in that the recording, which is being written, has other tables.
func (w *Walker[G, C]) Refresh() {
	if w.rules != nil {
		w.rules.refresh(w.Recording)
	}
}

// Walk goes through the events until more, which may be nil, returns false. What is under way then
// stays so.
func (w *Walker[G, C]) Walk(more func() bool) error {
	s := w.Events()
	defer s.Close()
	for e := s.Next(); e != nil && (more == nil || more()); e = s.Next() {
		w.Event(e)
		w.Last = e.Ticks
	}
	return s.Err()
}

// Run goes through all events. Then it ends what is under way, without events.
func (w *Walker[G, C]) Run(more func() bool) error {
	err := w.Walk(more)
	w.EndAll()
	return err
}

// EndAll ends the calls that are under way, without events.
func (w *Walker[G, C]) EndAll() {
	for _, st := range w.Stacks.Every() {
		for len(st.Calls) > 0 {
			w.ended(st, &st.Calls[len(st.Calls)-1], nil)
		}
	}
}

// Complain says what of a recording could not be read, and what is not in it.
func Complain(to io.Writer, r *recording.Recording) {
	if n := r.Lost(); n > 0 {
		fmt.Fprintf(to, "ftrace: %s: %d records were lost when it was made: counts and times are without them (ftrace replay shows where)\n", r.Dir, n)
	}
	if left := LeftOut(r); left != "" {
		fmt.Fprintf(to, "ftrace: %s: %s; counts and times are without them\n", r.Dir, left)
	}
	damage := r.Damage()
	for i, d := range damage {
		if i == 5 {
			fmt.Fprintf(to, "ftrace: %s: and %d more places (ftrace info lists them)\n", r.Dir, len(damage)-i)
			break
		}
		fmt.Fprintf(to, "ftrace: %s: damaged: %v\n", r.Dir, d)
	}
}

// leftOutNamed is how many functions are named whose calls were left out.
const leftOutNamed = 5

// LeftOut says of which functions calls were left out to keep within a budget, as far as what was
// read of r says, or returns "".
func LeftOut(r *recording.Recording) string {
	_, last := r.Clocks()
	left := r.LeftOut(last.Ticks)
	if len(left) == 0 {
		return ""
	}
	clock := r.Converter()
	var names []string
	for i, l := range left {
		if i == leftOutNamed {
			names = append(names, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		calls := fmt.Sprintf("%d calls", l.Calls)
		switch {
		case l.More && l.Calls == 0:
			calls = "uncounted calls"
		case l.More:
			calls += " and more"
		}
		if l.Failed > 0 {
			calls += fmt.Sprintf(" (%d failed)", l.Failed)
		}
		names = append(names, fmt.Sprintf("%s of %s in %s", calls, r.Function(l.Function).ShortName(), recording.AppendDuration(nil, int64(clock.Between(0, l.Ticks)))))
	}
	return "left out to keep within the budget: " + strings.Join(names, ", ")
}

// Event takes in an event.
func (w *Walker[G, C]) Event(e *recording.Event) {
	if e.Kind == recording.Lost {
		w.More(nil, nil, e)
		return
	}
	hidden := w.Only != nil && !w.Only[e.Goroutine]
	var stretch *Stretch
	if w.Stretches != nil {
		stretch = stretchOf(w.Stretches[e.Goroutine], e.Ticks)
		hidden = hidden || stretch == nil
	}
	if hidden && w.rules == nil {
		return
	}
	w.Now = e.Ticks
	st := w.Stacks.Of(e)
	st.Data.Hidden, st.Data.Seen = hidden, e.Ticks
	if stretch != nil && st.Data.stretch != stretch.From {
		st.Data.stretch, st.Data.outside = stretch.From, st.Data.Shown-stretch.level
		if w.rules == nil {
			st.Data.outside = stretch.depth - stretch.level
		}
	}
	if w.part != nil && w.later(st, e) {
		return
	}
	switch e.Kind {
	case recording.GoroutineStart:
		w.started(st, e)
		return
	case recording.GoroutineEnd:
		if w.Ended != nil && !hidden {
			w.Ended(st, e)
		}
		return
	}
	if e.Enters() || e.Exits() || e.Kind == recording.Wait {
		for n := st.Unseen(e); n > 0; n-- {
			w.ended(st, &st.Calls[len(st.Calls)-1], nil)
		}
	}
	switch {
	case e.Enters():
		w.enter(st, e)
	case e.Exits():
		if c := st.Ends(e); c != nil {
			w.ended(st, c, e)
		} else if w.rules == nil {
			w.End(st, nil, e)
		}
	case e.Kind == recording.Note:
		if c := st.Ends(e); c != nil {
			if c.Note != "" {
				c.Note += ", "
			}
			c.Note += string(e.Data)
		}
	case e.Kind == recording.Mock:
		if c := st.Ends(e); c != nil {
			c.Mock = true
		}
	case e.Kind == recording.After:
		if c := st.Ends(e); c != nil && c.Data.Clause.Shown && w.After != nil && !hidden {
			w.After(st, c, e)
		}
	case e.Kind == recording.Wait && w.Wait == nil:
		w.waited(st, e)
	case e.Kind == recording.Wait:
		if !hidden && w.fires(st, e) {
			w.Wait(st, e)
		}
	case e.Kind == recording.Blocked:
		if w.Blocked != nil && !hidden && w.fires(st, e) {
			w.Blocked(st, e)
		}
	case e.Kind == recording.Probe:
		if !hidden && w.fires(st, e) {
			w.More(st, nil, e)
		}
	case e.Kind == recording.Off, e.Kind == recording.On:
		if !hidden && (w.rules == nil || w.rules.function(e.Function).clause != 0) {
			w.More(st, nil, e)
		}
	case e.Kind == recording.Recovered, e.Kind == recording.Line:
		c := st.Ends(e)
		if !hidden && (e.Kind == recording.Line || c != nil && c.Data.Clause.Shown) {
			w.More(st, c, e)
		}
	}
}

// waited makes a call of a wait.
func (w *Walker[G, C]) waited(st *Stack[G, C], e *recording.Event) {
	part := *e
	part.Kind, part.Ticks, part.Data = recording.Entry, e.Wait().Begin, nil
	w.enter(st, &part)
	if e.Call == 0 {
		return // it is under way
	}
	if ready := e.Wait().Ready; w.Divide && ready != 0 && ready < e.Ticks && e.Function != w.cpu() && w.cpu() != 0 {
		inner := part
		inner.Function, inner.Ticks, inner.Depth = w.cpu(), ready, e.Depth+1
		w.enter(st, &inner)
		inner.Kind, inner.Ticks = recording.Exit, e.Ticks
		w.ended(st, &st.Calls[len(st.Calls)-1], &inner)
	}
	part.Kind, part.Ticks = recording.Exit, e.Ticks
	w.ended(st, &st.Calls[len(st.Calls)-1], &part)
}

// cpu returns the key of wait/cpu, 0 if the recording does not have it.
func (w *Walker[G, C]) cpu() uint32 {
	if !w.soughtCPU {
		w.soughtCPU = true
		list := w.Recording.Functions()
		if i := slices.IndexFunc(list, func(f *recording.Function) bool { return f.Wait && f.Name == "cpu" }); i >= 0 {
			w.cpuKey = list[i].Key
		}
	}
	return w.cpuKey
}

// fires reports whether a probe that fired, or a wait, is shown. If a probe's arguments are not,
// the event has none then.
func (w *Walker[G, C]) fires(st *Stack[G, C], e *recording.Event) bool {
	if w.rules == nil {
		return true
	}
	f := w.rules.function(e.Function)
	if f.clause == 0 {
		return false // what is in a tree is calls
	}
	mask := st.Data.Inherited.mask
	if n := len(st.Calls); n > 0 {
		mask = st.Calls[n-1].Data.mask
	}
	clause := w.rules.shows(f, mask, st.Data.Shown, e)
	if clause != nil && e.Kind == recording.Wait && clause.Min > 0 {
		if int64(w.rules.clock.Between(e.Wait().Begin, e.Ticks)) < clause.Min {
			return false
		}
	}
	if clause != nil && e.Kind == recording.Probe && clause.Detail < rule.Args {
		e.Layout, e.Data = 0, nil
	}
	return clause != nil
}

// enter begins a call.
func (w *Walker[G, C]) enter(st *Stack[G, C], e *recording.Event) {
	if w.rules == nil {
		c := st.Push(e)
		w.around(st)
		c.Data.Clause = everything
		c.Data.Shown = int32(e.Depth) - st.Data.outside
		w.Begin(st, c, e)
		st.Keep = w.Keep
		return
	}
	mask := st.Data.Inherited.mask
	if n := len(st.Calls); n > 0 {
		mask = st.Calls[n-1].Data.mask
	}
	f := w.rules.function(e.Function)
	w.rules.triggered |= f.triggers
	var passes caller
	if n := len(st.Calls); n > 0 {
		passes = st.Calls[n-1].Data.passes
	}
	c := st.Push(e)
	w.around(st)
	d := &c.Data
	d.mask = mask | f.marks
	d.Shown = st.Data.Shown - st.Data.outside
	if f.marks != 0 {
		passes = caller{c.Function, c.Number}
	}
	d.passes = passes
	if by := w.rules.shows(f, d.mask, st.Data.Shown, e); by != nil {
		d.Clause = Clause{by.Min, by.Detail, true, by.Span}
		d.passes = caller{c.Function, c.Number}
		st.Data.Shown++
		if !st.Data.Hidden {
			w.Begin(st, c, e)
		}
		st.Keep = d.mask != 0 || w.Keep
	}
}

// ended takes the innermost call off, which ends by e, or unseen.
func (w *Walker[G, C]) ended(st *Stack[G, C], c *Frame[C], e *recording.Event) {
	d := &c.Data
	if c.AtEnd && e != nil {
		d.Inner = e.Ticks - c.Start
	}
	if d.Clause.Shown && !st.Data.Hidden {
		w.End(st, c, e)
	}
	if w.rules != nil {
		if d.Clause.Shown {
			st.Data.Shown--
		}
		if v := passedOn(st, c); v.mask != 0 || v.Function != 0 {
			w.rules.ended.add(callName{st.Goroutine, c.Number, c.Function}, v)
		}
	}
	if e != nil && d.Clause.Shown && !c.AtEnd {
		w.spend(st, ShownCaller(st), e.Ticks-c.Start)
	}
	st.Pop()
}

// Spend records the ticks of a wait that the view does not show as a call. They are taken off the
// self time of the innermost call that is shown.
func (w *Walker[G, C]) Spend(st *Stack[G, C], ticks uint64) { w.spend(st, Innermost(st), ticks) }

// spend adds to Inner of a call. If c is nil, the call began before the part, and is told later.
func (w *Walker[G, C]) spend(st *Stack[G, C], c *Frame[C], ticks uint64) {
	if c != nil {
		c.Data.Inner += ticks
	} else if w.part != nil {
		st.Data.parted.inner += ticks
	}
}

// passedOn returns what a goroutine has from a call, which starts it.
func passedOn[G, C any](st *Stack[G, C], c *Frame[C]) Inherited {
	by := c.Data.passes
	if by.Function == 0 {
		by = st.Data.Inherited.caller
	}
	return Inherited{by, c.Data.mask}
}

// started takes in which call started a goroutine.
func (w *Walker[G, C]) started(st *Stack[G, C], e *recording.Event) {
	st.Data.Parent = e.Parent
	st.Data.Inherited = Inherited{caller: caller{e.Function, e.Call}}
	st.Keep = true
	if !st.Data.Hidden {
		w.More(st, nil, e)
	}
	parent := w.Stacks.Lookup(e.Parent)
	if w.rules == nil || e.Function == 0 {
		return
	}
	if parent != nil {
		for i := len(parent.Calls) - 1; i >= 0; i-- { // it is near
			if c := &parent.Calls[i]; c.Function == e.Function && c.Number == e.Call {
				st.Data.Inherited = passedOn(parent, c)
				return
			}
		}
	}
	st.Data.Inherited = w.rules.ended.lookup(callName{e.Parent, e.Call, e.Function})
}

// around notes where the innermost shown call around the innermost call is.
func (w *Walker[G, C]) around(st *Stack[G, C]) {
	n := len(st.Calls) - 1
	if n == 0 {
		return
	}
	of := &st.Calls[n].Data
	switch outer := &st.Calls[n-1].Data; {
	case outer.Clause.Shown:
		of.Around = 1
	case outer.Around > 0:
		of.Around = outer.Around + 1
	default:
		of.Around = 0
	}
}

// Callers returns the shown calls around the innermost one, from the inside out, as far as they are
// not set aside.
func Callers[G, C any](st *Stack[G, C]) iter.Seq[*Frame[C]] {
	return func(yield func(*Frame[C]) bool) {
		for i := len(st.Calls) - 1; st.Calls[i].Data.Around > 0; {
			if i -= int(st.Calls[i].Data.Around); i < 0 || !yield(&st.Calls[i]) {
				return
			}
		}
	}
}

// Innermost returns the innermost shown call under way, or nil.
func Innermost[G, C any](st *Stack[G, C]) *Frame[C] {
	n := len(st.Calls)
	if n == 0 {
		return nil
	}
	if c := &st.Calls[n-1]; c.Data.Clause.Shown {
		return c
	}
	return ShownCaller(st)
}

// ShownCaller returns the innermost shown call around the innermost one, or nil.
func ShownCaller[G, C any](st *Stack[G, C]) *Frame[C] {
	for c := range Callers(st) {
		return c
	}
	return nil
}
