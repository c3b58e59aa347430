package recording

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A LeftOut says for how long calls of a function were not recorded, because tracing was to cost no
// more than its budget, and how many they were.
type LeftOut struct {
	Function uint32 // key
	Times    int    // how often it was turned off
	Ticks    uint64 // for which it was off, together
	Calls    uint64 // that were counted meanwhile, but for those that were noted at their end
	Failed   uint64 // of these, so many failed
	More     bool   // others were not, or it can't be known

	noted uint64 // of Calls, while these are added up: they were noted at their end
}

// noteSwitch takes in when a function was turned off or on.
func (r *Recording) noteSwitch(e *Event) {
	r.damages.Lock()
	defer r.damages.Unlock()
	if r.offs == nil {
		r.offs = map[offKey]offSpan{}
	}
	k := offKey{e.Function, e.Parent}
	o := r.offs[k]
	if e.Kind == On {
		o = offSpan{e.Ticks, e.Call, e.Failed, e.Noted, e.Uncounted}
	}
	r.offs[k] = o
}

const switchBytes = 7 * 8

// AppendSwitches appends what was read of when functions were turned off and on. ReadSwitches takes
// that in, for who does not read it again.
func (r *Recording) AppendSwitches(b []byte) []byte {
	r.damages.Lock()
	defer r.damages.Unlock()
	for k, o := range r.offs {
		more := uint64(0)
		if o.more {
			more = 1
		}
		for _, n := range []uint64{uint64(k.function), k.since, o.until, o.calls, o.failed, o.noted, more} {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return b
}

func (r *Recording) ReadSwitches(b []byte) {
	r.damages.Lock()
	defer r.damages.Unlock()
	if r.offs == nil {
		r.offs = map[offKey]offSpan{}
	}
	for ; len(b) >= switchBytes; b = b[switchBytes:] {
		r.offs[offKey{uint32(le64(b)), le64(b[8:])}] = offSpan{le64(b[16:]), le64(b[24:]), le64(b[32:]), le64(b[40:]), le64(b[48:]) != 0}
	}
}

// offKey is a time when a function was off.
type offKey struct {
	function uint32
	since    uint64
}

// offSpan is how long that was, and how many calls were left out.
type offSpan struct {
	until  uint64 // ticks; 0: not known
	calls  uint64
	failed uint64
	noted  uint64
	more   bool
}

// LeftOut returns of which functions calls were left out to keep within a budget, as far as what
// was read of the files says, the one that was off longest first. One that is off at the end is off
// until then, given in ticks.
func (r *Recording) LeftOut(end uint64) []LeftOut {
	r.damages.Lock()
	defer r.damages.Unlock()
	by := r.sumsBefore()
	for k, span := range r.offs {
		if span.until == 0 {
			span.until, span.more = end, true
		}
		k.addTo(by, span)
	}
	var list []LeftOut
	for _, o := range by {
		o.Calls, o.noted = o.Calls-min(o.Calls, o.noted), 0
		list = append(list, *o)
	}
	slices.SortFunc(list, func(a, b LeftOut) int {
		return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.Function, b.Function))
	})
	return list
}

// sumsBefore returns a copy of the sums that SumLeftOut has kept, by function.
func (r *Recording) sumsBefore() map[uint32]*LeftOut {
	by := map[uint32]*LeftOut{}
	for function, o := range r.offsBefore {
		by[function] = &o
	}
	return by
}

// addTo adds a time when a function was off to what is said of it.
func (k offKey) addTo(by map[uint32]*LeftOut, span offSpan) {
	o := by[k.function]
	if o == nil {
		o = &LeftOut{Function: k.function}
		by[k.function] = o
	}
	o.Times++
	o.Ticks += max(span.until, k.since) - k.since
	o.Calls += span.calls
	o.Failed += span.failed
	o.noted += span.noted
	o.More = o.More || span.more
}

// SumLeftOut keeps but the sums of times when functions were off that had ended by these ticks. It
// is for who follows a recording for long, and does not read those again.
func (r *Recording) SumLeftOut(until uint64) {
	r.damages.Lock()
	defer r.damages.Unlock()
	by := r.sumsBefore()
	for k, span := range r.offs {
		if span.until != 0 && span.until <= until {
			k.addTo(by, span)
			delete(r.offs, k)
		}
	}
	r.offsBefore = map[uint32]LeftOut{}
	for function, o := range by {
		r.offsBefore[function] = *o
	}
}
