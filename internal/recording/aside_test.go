package recording

import (
	"runtime"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// TestAside: of a deep stack the outer calls are set aside, in few bytes for each, and come back as
// they were.
func TestAside(t *testing.T) {
	type data struct {
		inner uint64
		flags uint8
	}
	const deep = 100_000
	want := func(i int) Call[data] {
		c := Call[data]{Function: uint32(1 + i%3), Depth: uint16(min(i, format.DepthMax)), Number: uint64(i / 3), Start: uint64(1000*i + i*i%77), Untimed: i%1000 == 0,
			Mock: i%999 == 0, Data: data{uint64(i % 5), uint8(i)}}
		if i%5000 == 0 {
			c.Note = "here"
		}
		return c
	}
	var stacks Stacks[int, data]
	st := stacks.Of(&Event{Goroutine: 1})
	for i := range deep {
		*st.Add(Call[data]{}) = want(i)
	}
	if len(st.Calls)+st.Outer() != deep || st.Outer() < deep-3*asideCalls {
		t.Fatalf("%d calls are there and %d are set aside, of %d", len(st.Calls), st.Outer(), deep)
	}
	bytes := 0
	for _, b := range st.aside {
		bytes += len(b)
	}
	if each := float64(bytes) / float64(st.Outer()); each > 16 {
		t.Errorf("a call that is set aside takes %.1f bytes", each)
	}
	i := 0
	for c := range st.All() {
		if *c != want(i) {
			t.Fatalf("call %d is %+v, not %+v", i, *c, want(i))
		}
		i++
	}
	if i != deep {
		t.Fatalf("%d calls in all, not %d", i, deep)
	}
	// Those at a depth of 60,000 and above were left unseen when this one begins; all that are
	// deeper than a record can say have the same depth.
	const left = 60_000
	e := Event{Kind: Entry, Depth: left}
	unseen := st.Unseen(&e)
	if unseen != deep-left {
		t.Fatalf("%d calls ended unseen, not %d", unseen, deep-left)
	}
	if len(st.Calls) > 3*asideCalls {
		t.Errorf("%d calls were brought back to count them", len(st.Calls))
	}
	for i := deep - 1; i >= 0; i-- {
		if got := st.Calls[len(st.Calls)-1]; got != want(i) {
			t.Fatalf("call %d came back as %+v, not %+v", i, got, want(i))
		}
		st.Pop()
	}
	if len(st.Calls)+st.Outer()+len(st.counts)+len(st.notes) != 0 {
		t.Errorf("left: %d calls, %d set aside, %v %v", len(st.Calls), st.Outer(), st.counts, st.notes)
	}
}

// TestAsideMemory: a million calls under way take some megabytes.
func TestAsideMemory(t *testing.T) {
	var stacks Stacks[int, [4]uint64]
	st := stacks.Of(&Event{Goroutine: 1})
	for i := range 1_000_000 {
		st.Push(&Event{Kind: Entry, Function: 1, Depth: uint16(min(i, format.DepthMax)), Call: uint64(i), Ticks: uint64(i) * 300})
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 40<<20 {
		t.Errorf("%d MB are in use", m.HeapAlloc>>20)
	}
	runtime.KeepAlive(st)
}

// TestUnseenWait: a wait is no exit. A call at its depth has ended, and was not seen to.
func TestUnseenWait(t *testing.T) {
	var stacks Stacks[int, int]
	for depth := range 3 {
		e := Event{Kind: Entry, Goroutine: 1, Function: 2, Depth: uint16(depth)}
		stacks.Of(&e).Push(&e)
	}
	for depth, want := range []int{3, 2, 1, 0} {
		e := Event{Kind: Wait, Goroutine: 1, Depth: uint16(depth)}
		if n := stacks.Of(&e).Unseen(&e); n != want {
			t.Errorf("depth %d: %d calls have ended unseen, want %d", depth, n, want)
		}
	}
}
