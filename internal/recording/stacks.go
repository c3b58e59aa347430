package recording

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Stacks puts exits together with their entries, on each goroutine. Its user keeps a G of each goroutine, and a C of each call under way.
type Stacks[G, C any] struct {
	byID map[uint64]*Stack[G, C]
	last *Stack[G, C]
}

// A Stack is a goroutine's calls under way.
type Stack[G, C any] struct {
	Goroutine uint64
	Calls     []Call[C] // the innermost last; of a deep stack these are the inner ones, see Outer
	Data      G
	Keep      bool // it is not forgotten, though it has no calls under way

	outer  int // calls that are set aside, see aside.go
	aside  [][]byte
	counts map[uint32]int // calls that are set aside, by function
	notes  map[int]string // theirs, by their place
}

// Outer returns how many calls are around those in Calls.
func (st *Stack[G, C]) Outer() int { return st.outer }

// OuterCalls returns how many of those are calls of a function.
func (st *Stack[G, C]) OuterCalls(function uint32) int { return st.counts[function] }

// OuterFunctions returns the functions of those calls.
func (st *Stack[G, C]) OuterFunctions() iter.Seq[uint32] { return maps.Keys(st.counts) }

// All returns all calls, the outermost first. Each is there until the next.
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

// A Call is under way.
type Call[C any] struct {
	Note     string // what the program added, comma-separated; the first field, for aside.go
	Function uint32
	Depth    uint16
	Mock     bool // a replacement was called in its place
	Untimed  bool
	Number   uint64 // the how-manyeth call of the function it is
	Start    uint64 // ticks; when it ended, if it was not timed
	Data     C
}

// stacksMax is how many goroutines are kept before those are forgotten that have no calls under way.
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

// Every returns all stacks that are known, in the order of their goroutines.
func (s *Stacks[G, C]) Every() []*Stack[G, C] {
	return slices.SortedFunc(maps.Values(s.byID), func(a, b *Stack[G, C]) int { return cmp.Compare(a.Goroutine, b.Goroutine) })
}

// deepest is the depth in records of calls that are that deep or deeper.
const deepest = 65535

// Unseen returns how many of the innermost calls have ended without their exits having been seen when e comes, which is an entry or exit: they began before
// others were recorded, or records were lost. The caller takes them off, one after the other, by Pop.
func (st *Stack[G, C]) Unseen(e *Event) int {
	for n := 0; ; n++ {
		if n == len(st.Calls) {
			if st.outer == 0 {
				return n
			}
			st.takeBack()
		}
		c := &st.Calls[len(st.Calls)-1-n]
		if c.Depth < e.Depth || c.Depth == e.Depth && (!e.Enters() || e.Depth == deepest) {
			return n
		}
	}
}

// Push begins the call whose entry e is.
func (st *Stack[G, C]) Push(e *Event) *Call[C] {
	return st.Add(Call[C]{Function: e.Function, Depth: e.Depth, Number: e.Call, Start: e.Ticks, Untimed: e.Untimed})
}

// Add adds a call that is within all others.
func (st *Stack[G, C]) Add(c Call[C]) *Call[C] {
	if len(st.Calls) >= 3*asideCalls && len(st.Calls)%asideCalls == 0 {
		st.setAside()
	}
	st.Calls = append(st.Calls, c)
	return &st.Calls[len(st.Calls)-1]
}

// Ends returns the call, the innermost, that an exit, note or the like is of, or nil if its entry was not seen. What Unseen counts is to be taken off
// before.
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

// Forget forgets a goroutine, which has ended.
func (s *Stacks[G, C]) Forget(goroutine uint64) {
	if s.last != nil && s.last.Goroutine == goroutine {
		s.last = nil
	}
	delete(s.byID, goroutine)
}
