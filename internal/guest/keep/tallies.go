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

// ftraceTally is a row.
type ftraceTally struct {
	_ sys.NotInHeap
	ftrace_format_Tally
}

const ftraceTallyPlaces = 16

// tally adds a call to a table.
func (w *ftraceWriter) tally(table int, by uint64, t *ftraceG, frame *ftraceFrame, outcome uint32, lasted uint64) {
	r := w.count(table, by, t, frame.Key)
	if r == nil {
		return
	}
	if frame.Flags&ftrace_format_FrameNotTimed == 0 {
		if r.Timed == 0 || lasted < r.Min {
			r.Min = lasted
		}
		r.Timed++
		r.Sum += lasted
		r.Max = max(r.Max, lasted)
		r.Self += lasted - min(lasted, frame.Within)
	}
	switch {
	case outcome&ftrace_format_CallFailed != 0:
		r.Errors++
	case outcome&ftrace_format_CallPanicked != 0:
		r.Panics++
	}
	if outcome&ftrace_format_CallWait != 0 {
		r.Bytes += w.bytes
	}
}

// count counts a call in a table, and returns its row, or nil if there is no place for one.
func (w *ftraceWriter) count(table int, by uint64, t *ftraceG, key uint32) *ftraceTally {
	if table != ftrace_format_ByGoroutine {
		t = nil
	}
	r := w.row(table, by, key, t)
	if r == nil {
		atomic.Xadd64(&ftraceMemory.head.Lost.Tallies, 1)
		return nil
	}
	r.Count++
	return r
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
	if free != nil && t != nil && w.row(table, 0, key, nil) != nil && free.Key != 0 {
		_, free = w.find(table, by, key) // it was taken for the row of goroutines that have ended
	}
	if free != nil {
		free.take(by, key, t)
		return free
	}
	for i := range uintptr(ftraceTallyPlaces) {
		r := w.tallyAt(table, by, key, i)
		if r.State == 0 || ftraceStateAt(r.State).goroutine == r.By {
			continue
		}
		if sum, _ := w.find(table, 0, r.Key); sum != nil {
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
		case r.Key == key && r.By == by:
			return r, nil
		case r.Key == 0:
			return nil, r
		}
	}
	return nil, nil
}

// tallyAt returns place i of those where the row can be, in the half that is written to.
func (w *ftraceWriter) tallyAt(table int, by uint64, key uint32, i uintptr) *ftraceTally {
	at := uintptr((by*0x9E3779B97F4A7C15 + uint64(key)*0xC2B2AE3D27D4EB4F) >> 32)
	return (*ftraceTally)(add(w.tallies[table], w.half+(at+i)&(uintptr(ftraceMemory.head.TalliesMax)-1)*unsafe.Sizeof(ftraceTally{})))
}

// take turns the row into that of something else, without calls.
func (r *ftraceTally) take(by uint64, key uint32, t *ftraceG) {
	*r = ftraceTally{}
	r.By, r.Key = by, key
	if t != nil {
		r.State = t.place()
	}
}

// add adds the numbers of another row.
func (r *ftraceTally) add(other *ftraceTally) {
	if other.Timed > 0 && (r.Timed == 0 || other.Min < r.Min) {
		r.Min = other.Min
	}
	r.Count += other.Count
	r.Timed += other.Timed
	r.Sum += other.Sum
	r.Max = max(r.Max, other.Max)
	r.Self += other.Self
	r.Errors += other.Errors
	r.Panics += other.Panics
	r.Bytes += other.Bytes
}

// place returns 1 + the goroutine's place among those in the memory file, or 0 if it is not there.
func (t *ftraceG) place() uint32 {
	h := ftraceArmed()
	at := uintptr(unsafe.Pointer(t)) - uintptr(ftraceMemory.gs)
	if h == nil || at >= uintptr(h.Goroutines.Max)*unsafe.Sizeof(ftraceG{}) {
		return 0
	}
	return uint32(at/unsafe.Sizeof(ftraceG{})) + 1
}

// ftraceStateAt returns the state for which place returned n.
func ftraceStateAt(n uint32) *ftraceG {
	return (*ftraceG)(add(ftraceMemory.gs, uintptr(n-1)*unsafe.Sizeof(ftraceG{})))
}
