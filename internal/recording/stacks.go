package recording

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// Stacks matches exits with their entries, on each goroutine. Its user keeps a G for each
// goroutine, and a C for each call under way.
type Stacks[G, C any] struct {
	byID map[uint64]*Stack[G, C]
	last *Stack[G, C]
}

// A Stack is a goroutine's calls under way.
type Stack[G, C any] struct {
	Goroutine uint64
	Calls     []Call[C] // the innermost last; of a deep stack only the inner ones, see Outer
	Data      G
	Keep      bool // it is not forgotten even if it has no calls under way

	outer  int // number of calls set aside, see aside.go
	aside  [][]byte
	counts map[uint32]int // number of calls set aside, by function
	notes  map[int]string // their notes, by their place
}

// Outer returns the number of calls around those in Calls.
func (st *Stack[G, C]) Outer() int { return st.outer }

// OuterCalls returns how many of those are calls of a function.
func (st *Stack[G, C]) OuterCalls(function uint32) int { return st.counts[function] }

// OuterFunctions returns the functions of those calls.
func (st *Stack[G, C]) OuterFunctions() iter.Seq[uint32] { return maps.Keys(st.counts) }

// All returns all calls, the outermost first. Each is valid until the next.
func (st *Stack[G, C]) All() iter.Seq[*Call[C]] {
	return func(yield func(*Call[C]) bool) {
		var block []Call[C]
		for i, b := range st.aside {
			if block == nil {
				block = make([]Call[C], asideCalls)
			}
			st.unfold(block, b, i*asideCalls)
			for j := range block {
				if !yield(&block[j]) {
					return
				}
			}
		}
		for i := range st.Calls {
			if !yield(&st.Calls[i]) {
				return
			}
		}
	}
}

// A Call is a call under way.
type Call[C any] struct {
	Note     string // what the program added, comma-separated; the first field, for aside.go
	Function uint32
	Depth    uint16
	Mock     bool // a replacement was called instead
	Untimed  bool
	AtEnd    bool   // its entry was noted when it ended, see Event: what was recorded within it is not within it here
	Number   uint64 // it is the nth call of the function
	Start    uint64 // ticks; if it was not timed, when it ended
	Data     C
}

// stacksMax is the number of goroutines that are kept before those without calls under way are
// forgotten.
const stacksMax = 1 << 16

// Of returns the stack of an event's goroutine.
func (s *Stacks[G, C]) Of(e *Event) *Stack[G, C] {
	if s.last != nil && s.last.Goroutine == e.Goroutine {
		return s.last
	}
	st := s.byID[e.Goroutine]
	if st == nil {
		if s.byID == nil {
			s.byID = map[uint64]*Stack[G, C]{}
		}
		if len(s.byID) >= stacksMax && len(s.byID)&(len(s.byID)-1) == 0 {
			for id, old := range s.byID {
				if len(old.Calls) == 0 && !old.Keep {
					delete(s.byID, id)
				}
			}
		}
		st = &Stack[G, C]{Goroutine: e.Goroutine}
		s.byID[e.Goroutine] = st
	}
	s.last = st
	return st
}

// Lookup returns the stack of a goroutine, or nil.
func (s *Stacks[G, C]) Lookup(goroutine uint64) *Stack[G, C] { return s.byID[goroutine] }

// Every returns all known stacks, ordered by goroutine.
func (s *Stacks[G, C]) Every() []*Stack[G, C] {
	return slices.SortedFunc(maps.Values(s.byID), func(a, b *Stack[G, C]) int { return cmp.Compare(a.Goroutine, b.Goroutine) })
}

// Len returns the number of calls under way.
func (st *Stack[G, C]) Len() int { return st.outer + len(st.Calls) }

// Unseen returns how many of the innermost calls have ended before e, an entry, exit or wait,
// without a record of their exits: they began before others were recorded, or records were lost.
// The caller takes them off by calling Pop for each.
func (st *Stack[G, C]) Unseen(e *Event) int {
	for n := range st.Calls {
		if st.Calls[len(st.Calls)-1-n].goesOn(e) {
			return n
		}
	}
	// The calls that are set aside stay so: Pop brings back a block at a time.
	n := len(st.Calls)
	var block []Call[C]
	for i := len(st.aside) - 1; i >= 0; i-- {
		if block == nil {
			block = make([]Call[C], asideCalls)
		}
		st.unfold(block, st.aside[i], i*asideCalls)
		for j := range block {
			if block[len(block)-1-j].goesOn(e) {
				return n
			}
			n++
		}
	}
	return n
}

// goesOn reports whether the call is under way when e, an entry, exit or wait, comes after it.
func (c *Call[C]) goesOn(e *Event) bool {
	return c.Depth < e.Depth || c.Depth == e.Depth && (e.Exits() || e.Depth == format.DepthMax)
}

// BeginKnown reports whether it is known when the call began.
func (c *Call[C]) BeginKnown() bool { return !c.AtEnd || !c.Untimed }

// Late reports whether the call began before its entry was noted, and it is known when.
func (c *Call[C]) Late() bool { return c.AtEnd && !c.Untimed }

// Push begins the call with the entry e.
func (st *Stack[G, C]) Push(e *Event) *Call[C] {
	c := st.room()
	c.Function, c.Depth, c.Number, c.Start, c.Untimed, c.AtEnd = e.Function, e.Depth, e.Call, e.began(), e.Untimed, e.AtEnd
	return c
}

// Add adds a call within all others.
func (st *Stack[G, C]) Add(c Call[C]) *Call[C] {
	to := st.room()
	*to = c
	return to
}

// room adds a call of which nothing is known yet.
func (st *Stack[G, C]) room() *Call[C] {
	n := len(st.Calls)
	if n >= 3*asideCalls && n%asideCalls == 0 {
		st.setAside()
		n = len(st.Calls)
	}
	if n == cap(st.Calls) {
		st.Calls = slices.Grow(st.Calls, 1)
	}
	st.Calls = st.Calls[:n+1]
	c := &st.Calls[n]
	*c = Call[C]{}
	return c
}

// Ends returns the innermost call, to which an exit, note or the like belongs, or nil if its entry
// was not seen. The calls that Unseen counts must have been taken off.
func (st *Stack[G, C]) Ends(e *Event) *Call[C] {
	if len(st.Calls) == 0 {
		return nil
	}
	c := &st.Calls[len(st.Calls)-1]
	if c.Depth != e.Depth || c.Function != e.Function {
		return nil
	}
	if c.Untimed && e.Exits() {
		c.Start = e.Ticks // it lasted for no time
	}
	return c
}

// Pop takes off the innermost call.
func (st *Stack[G, C]) Pop() {
	st.Calls = st.Calls[:len(st.Calls)-1]
	if st.outer > 0 && len(st.Calls) <= asideCalls {
		st.takeBack()
	}
}

// Forget forgets a goroutine that has ended.
func (s *Stacks[G, C]) Forget(goroutine uint64) {
	if s.last != nil && s.last.Goroutine == goroutine {
		s.last = nil
	}
	delete(s.byID, goroutine)
}
