package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// A walker goes through a recording, puts exits together with their entries, and says which calls the rules show.
type walker struct {
	r      *recording.Recording
	verb   string // for the progress bar; "": there is none
	rules  *rules // nil: all is shown
	stacks recording.Stacks[goroutine, call]

	only map[uint64]bool // goroutines that are wanted; nil: all
	keep bool            // goroutines are not forgotten that have no calls under way
	now  uint64          // ticks of the event that is walked: calls whose ends were not seen ended by then
	part *partWalk       // it walks a part of the recording; nil: all of it

	// What the walker's user wants to hear of. Of calls these are the shown ones.
	begin func(st *stack, c *frame, e *recording.Event)
	// end is called when a call ends, while it is still on the stack. e is nil if its exit was not seen.
	end func(st *stack, c *frame, e *recording.Event)
	// more is called with a panic that was recovered, and with records that are of no call: a goroutine's start, lines, probes that fired, lost ones (st is nil).
	more func(st *stack, c *frame, e *recording.Event)

	// Of a recording that is walked in parts; nil if the user does not want to hear it.
	resume func(st *stack)              // the innermost call began in a part that has been walked by another
	total  func(st *stack, t statTotal) // the time in calls that were made by the innermost one, in a part
}

type (
	stack = recording.Stack[goroutine, call]
	frame = recording.Call[call]
)

// goroutine is what is known of one.
type goroutine struct {
	inherited inherited // from the call that started it; until it has been said, and its mask for good
	parent    uint64
	shown     int32 // shown calls under way
	hidden    bool  // it is not wanted, but its calls are of interest to the rules
	text      *goroutineText
	parted    parted
}

// call is what is known of a call under way.
type call struct {
	clause clause // by which it is shown
	mask   uint32
	shown  int32  // shown calls around it
	inner  uint64 // ticks in shown calls that it made
	held   int32  // 1 + where its entry line begins in the goroutine's held text, 0 if it is not held
	heldAt int32  // where the part behind the brace begins
	heldIn uint32 // which of the goroutine's held texts that is
	around uint32 // for reports: bits of the stats of this call and those around it
	flags  uint8
}

// clause is what a call is shown by. There are no pointers in a call, so that it can be set aside.
type clause struct {
	Min    int64
	Detail rule.Detail
	shown  bool // the call is shown
}

// everything is the clause of calls that no rules were asked about.
var everything = clause{Detail: rule.Deep, shown: true}

// event takes in an event.
func (w *walker) event(e *recording.Event) {
	if e.Kind == recording.Lost {
		w.more(nil, nil, e)
		return
	}
	hidden := w.only != nil && !w.only[e.Goroutine]
	if hidden && w.rules == nil {
		return
	}
	w.now = e.Ticks
	st := w.stacks.Of(e)
	st.Data.hidden = hidden
	if w.part != nil && w.later(st, e) {
		return
	}
	if e.Kind == recording.GoroutineStart {
		w.started(st, e)
		return
	}
	if e.Enters() || e.Exits() {
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
			w.end(st, nil, e)
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
	case e.Kind == recording.Probe:
		if !hidden && w.fires(st, e) {
			w.more(st, nil, e)
		}
	case e.Kind == recording.Recovered, e.Kind == recording.Line:
		c := st.Ends(e)
		if !hidden && (e.Kind == recording.Line || c != nil && c.Data.clause.shown) {
			w.more(st, c, e)
		}
	}
}

// fires reports whether a probe that fired is shown. If its arguments are not, the event has none then.
func (w *walker) fires(st *stack, e *recording.Event) bool {
	if w.rules == nil {
		return true
	}
	f := w.rules.function(e.Function)
	if f.clause == 0 {
		return false // what is in a tree is calls
	}
	mask := st.Data.inherited.mask
	if n := len(st.Calls); n > 0 {
		mask = st.Calls[n-1].Data.mask
	}
	clause := w.rules.shows(f, mask, st.Data.shown, e)
	if clause != nil && clause.Detail < rule.Args {
		e.Layout, e.Data = 0, nil
	}
	return clause != nil
}

// enter begins a call.
func (w *walker) enter(st *stack, e *recording.Event) {
	if w.rules == nil {
		c := st.Push(e)
		c.Data.clause = everything
		c.Data.shown = int32(e.Depth)
		w.begin(st, c, e)
		st.Keep = w.keep
		return
	}
	mask := st.Data.inherited.mask
	if n := len(st.Calls); n > 0 {
		mask = st.Calls[n-1].Data.mask
	}
	f := w.rules.function(e.Function)
	w.rules.triggered |= f.triggers
	c := st.Push(e)
	d := &c.Data
	d.mask = mask | f.marks
	d.shown = st.Data.shown
	if by := w.rules.shows(f, d.mask, d.shown, e); by != nil {
		d.clause = clause{by.Min, by.Detail, true}
		st.Data.shown++
		if !st.Data.hidden {
			w.begin(st, c, e)
		}
		st.Keep = d.mask != 0 || w.keep
	}
}

// ended takes the innermost call off, which ends by e, or unseen.
func (w *walker) ended(st *stack, c *frame, e *recording.Event) {
	d := &c.Data
	if d.clause.shown && !st.Data.hidden {
		w.end(st, c, e)
	}
	if w.rules != nil {
		if d.clause.shown {
			st.Data.shown--
		}
		if v := w.passedOn(st, len(st.Calls)-1); v.mask != 0 || v.function != 0 {
			w.rules.ended.add(callName{st.Goroutine, c.Number, c.Function}, v)
		}
	}
	if e != nil && d.clause.shown {
		if caller := shownCaller(st); caller != nil {
			caller.Data.inner += e.Ticks - c.Start
		} else if w.part != nil {
			st.Data.parted.below.inner += e.Ticks - c.Start
		}
	}
	st.Pop()
}

// passedOn returns what a goroutine has from the i-th call, which starts it.
func (w *walker) passedOn(st *stack, i int) inherited {
	v := inherited{mask: st.Calls[i].Data.mask}
	for ; i >= 0; i-- {
		if c := &st.Calls[i]; c.Data.clause.shown || w.rules.function(c.Function).marks != 0 {
			v.function, v.number = c.Function, c.Number
			return v
		}
	}
	v.function, v.number = st.Data.inherited.function, st.Data.inherited.number
	return v
}

// started takes in which call started a goroutine.
func (w *walker) started(st *stack, e *recording.Event) {
	st.Data.parent = e.Parent
	st.Data.inherited = inherited{function: e.Function, number: e.Call}
	st.Keep = true
	if !st.Data.hidden {
		w.more(st, nil, e)
	}
	parent := w.stacks.Lookup(e.Parent)
	if w.rules == nil || e.Function == 0 {
		return
	}
	if parent != nil {
		for i := range parent.Calls {
			if c := &parent.Calls[i]; c.Function == e.Function && c.Number == e.Call {
				st.Data.inherited = w.passedOn(parent, i)
				return
			}
		}
	}
	st.Data.inherited = w.rules.ended.lookup(callName{e.Parent, e.Call, e.Function})
}

// shownCaller returns the innermost shown call around the topmost, or nil.
func shownCaller(st *stack) *frame {
	for i := len(st.Calls) - 2; i >= 0; i-- {
		if c := &st.Calls[i]; c.Data.clause.shown {
			return c
		}
	}
	return nil
}
