package recording

import (
	"slices"
	"testing"
)

// TestLeftOut: times and calls add up, whatever the order in which the parts of a recording are
// read, and how often.
func TestLeftOut(t *testing.T) {
	events := []Event{
		{Kind: Off, Function: 1, Parent: 10, Ticks: 11}, {Kind: On, Function: 1, Parent: 10, Ticks: 30, Call: 7}, {Kind: Off, Function: 1, Parent: 50, Ticks: 50},
		{Kind: Off, Function: 2, Parent: 5, Ticks: 5}, {Kind: On, Function: 2, Parent: 5, Ticks: 70, Call: 8, Failed: 3, Noted: 2}, {Kind: On, Function: 2, Parent: 70, Ticks: 100, Call: 11, Failed: 2},
		{Kind: On, Function: 3, Parent: 20, Ticks: 40, Uncounted: true}, // when it was turned off is no longer in the rings
		{Kind: Off, Function: 4, Parent: 90, Ticks: 90},                 // later than the last moment that is known
	}
	want := []LeftOut{{2, 2, 95, 17, 5, false, 0}, {1, 2, 30, 7, 0, true, 0}, {3, 1, 20, 0, 0, true, 0}, {4, 1, 0, 0, 0, true, 0}}
	for range 3 {
		r := &Recording{}
		for range 2 {
			for i := range events {
				r.noteSwitch(&events[i])
			}
		}
		if got := r.LeftOut(60); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		another := &Recording{}
		another.ReadSwitches(r.AppendSwitches(nil))
		if got := another.LeftOut(60); !slices.Equal(got, want) {
			t.Errorf("written and read: %v, want %v", got, want)
		}
		for _, until := range []uint64{0, 30, 100} {
			r.SumLeftOut(until)
			if got := r.LeftOut(60); !slices.Equal(got, want) {
				t.Errorf("summed up until %d: %v, want %v", until, got, want)
			}
		}
		if len(r.offs) != 2 {
			t.Errorf("%d times are kept, and not those alone that have not ended", len(r.offs))
		}
		slices.Reverse(events)
	}
	if got := new(Recording).LeftOut(60); got != nil {
		t.Errorf("%v without events", got)
	}
}
