package recording

import (
	"cmp"
	"slices"
)

// A LeftOut says for how long calls of a function were not recorded, because tracing was to cost no
// more than its budget.
type LeftOut struct {
	Function uint32 // key
	Times    int    // how often it was turned off
	Ticks    uint64 // for which it was off, together
}

// noteSwitch takes in when a function was turned off or on.
func (r *Recording) noteSwitch(e *Event) {
	r.damages.Lock()
	defer r.damages.Unlock()
	if r.offs == nil {
		r.offs = map[offKey]uint64{}
	}
	k := offKey{e.Function, e.Parent}
	if until := r.offs[k]; e.Kind == On {
		r.offs[k] = max(until, e.Ticks)
	} else {
		r.offs[k] = until
	}
}

// offKey is a time when a function was off.
type offKey struct {
	function uint32
	since    uint64
}

// LeftOut returns of which functions calls were left out to keep within a budget, as far as what
// was read of the files says, the one that was off longest first. One that is off at the end is off
// until then, given in ticks.
func (r *Recording) LeftOut(end uint64) []LeftOut {
	r.damages.Lock()
	defer r.damages.Unlock()
	by := map[uint32]*LeftOut{}
	for k, until := range r.offs {
		if until == 0 {
			until = end
		}
		o := by[k.function]
		if o == nil {
			o = &LeftOut{Function: k.function}
			by[k.function] = o
		}
		o.Times++
		o.Ticks += max(until, k.since) - k.since
	}
	var list []LeftOut
	for _, o := range by {
		list = append(list, *o)
	}
	slices.SortFunc(list, func(a, b LeftOut) int {
		return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.Function, b.Function))
	})
	return list
}
