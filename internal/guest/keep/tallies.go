//go:build ftrace_core

// Summaries of each function's calls by something more: by goroutine, by caller, by receiver. Each
// is a consumer of its own, which is off until it is switched on.
//
// Each processor has a hash table of fixed size for each. A row is in one of a few places in a row
// of places, and stays where it is. A call for whose row there is no place is counted as lost. Rows
// of goroutines that have ended make room: what they have goes to the row of goroutine 0, which has
// only the sum of all of these.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// The tables of a processor, and what a row is by.
const (
	ftraceByGoroutine = iota // the goroutine's id
	ftraceByCaller           // the key of the calling function, 0 if there was none
	ftraceByReceiver         // the receiver's address
	ftraceTallyTables
)

// ftraceTally is a row. Readers know it byte for byte.
type ftraceTally struct {
	_              sys.NotInHeap
	by             uint64
	key            uint32 // 0: nothing has been written here
	state          uint32 // by goroutine: 1 + its place among the goroutines, or 0 if it has none
	count, timed   uint64
	sum, min, max  uint64 // ticks, of the calls that were timed
	self           uint64
	errors, panics uint64
	_              [6]uint64 // so that no row crosses a page
}

const ftraceTallyPlaces = 16

// tally adds a call to a table.
func (w *ftraceWriter) tally(table int, by uint64, t *ftraceG, frame *ftraceFrame, outcome uint32, lasted uint64) {
	if table != ftraceByGoroutine {
		t = nil
	}
	r := w.row(table, by, frame.key, t)
	if r == nil {
		atomic.Xadd64(&ftraceMemory.head.lost.tallies, 1)
		return
	}
	r.count++
	if frame.flags&ftraceNotTimed == 0 {
		if r.timed == 0 || lasted < r.min {
			r.min = lasted
		}
		r.timed++
		r.sum += lasted
		r.max = max(r.max, lasted)
		r.self += lasted - min(lasted, frame.within)
	}
	switch {
	case outcome&ftraceCallFailed != 0:
		r.errors++
	case outcome&ftraceCallPanicked != 0:
		r.panics++
	}
}

// row returns the row of a function's calls by something, and makes it if it is new. It returns nil
// if there is no place for it. t is the goroutine's state if the row is by goroutine.
func (w *ftraceWriter) row(table int, by uint64, key uint32, t *ftraceG) *ftraceTally {
	if w.tallies[table] == nil {
		return nil
	}
	r, free := w.find(table, by, key)
	if r != nil {
		return r
	}
	if free != nil && t != nil && w.row(table, 0, key, nil) != nil && free.key != 0 {
		_, free = w.find(table, by, key) // it was taken for the row of goroutines that have ended
	}
	if free != nil {
		free.take(by, key, t)
		return free
	}
	for i := range uintptr(ftraceTallyPlaces) {
		r := w.tallyAt(table, by, key, i)
		if r.state == 0 || ftraceStateAt(r.state).goroutine == r.by {
			continue
		}
		if sum, _ := w.find(table, 0, r.key); sum != nil {
			sum.add(r)
			r.take(by, key, t)
			return r
		}
	}
	return nil
}

// find returns the row, or nil and a place where it can be made, if there is one.
func (w *ftraceWriter) find(table int, by uint64, key uint32) (r, free *ftraceTally) {
	for i := range uintptr(ftraceTallyPlaces) {
		switch r := w.tallyAt(table, by, key, i); {
		case r.key == key && r.by == by:
			return r, nil
		case r.key == 0:
			return nil, r
		}
	}
	return nil, nil
}

// tallyAt returns place i of those where the row can be, in the half that is written to.
func (w *ftraceWriter) tallyAt(table int, by uint64, key uint32, i uintptr) *ftraceTally {
	at := uintptr((by*0x9E3779B97F4A7C15 + uint64(key)*0xC2B2AE3D27D4EB4F) >> 32)
	return (*ftraceTally)(add(w.tallies[table], w.half+(at+i)&(uintptr(ftraceMemory.head.talliesMax)-1)*unsafe.Sizeof(ftraceTally{})))
}

// take turns the row into that of something else, without calls.
func (r *ftraceTally) take(by uint64, key uint32, t *ftraceG) {
	*r = ftraceTally{by: by, key: key}
	if t != nil {
		r.state = t.place()
	}
}

// add adds the numbers of another row.
func (r *ftraceTally) add(other *ftraceTally) {
	if other.timed > 0 && (r.timed == 0 || other.min < r.min) {
		r.min = other.min
	}
	r.count += other.count
	r.timed += other.timed
	r.sum += other.sum
	r.max = max(r.max, other.max)
	r.self += other.self
	r.errors += other.errors
	r.panics += other.panics
}

// place returns 1 + the goroutine's place among those in the memory file, or 0 if it is not there.
func (t *ftraceG) place() uint32 {
	h := ftraceArmed()
	at := uintptr(unsafe.Pointer(t)) - uintptr(ftraceMemory.gs)
	if h == nil || at >= uintptr(h.goroutines.most)*unsafe.Sizeof(ftraceG{}) {
		return 0
	}
	return uint32(at/unsafe.Sizeof(ftraceG{})) + 1
}

// ftraceStateAt returns the state for which place returned n.
func ftraceStateAt(n uint32) *ftraceG {
	return (*ftraceG)(add(ftraceMemory.gs, uintptr(n-1)*unsafe.Sizeof(ftraceG{})))
}
