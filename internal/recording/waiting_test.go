package recording

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// TestHeld: what was recorded of a wait under way counts if it is the goroutine's last record,
// wherever the recording is divided into parts.
func TestHeld(t *testing.T) {
	const waiting = format.KindWaiting
	wait := func(number uint64) Event { return Event{Goroutine: 2, Kind: Wait, Call: number} }
	still, holder, exit := Event{Goroutine: 2, Kind: waiting}, Event{Goroutine: 2, Kind: Blocked}, Event{Goroutine: 2, Kind: Exit}
	other := Event{Goroutine: 3, Kind: Exit}
	for _, test := range []struct {
		events []Event
		want   string
	}{
		{[]Event{still}, "2 wait 1 at 9"},
		{[]Event{still, other, still}, "3 exit 2, 2 wait 3 at 9"},
		{[]Event{holder, holder, other, still}, "3 exit 3, 2 blocked 1 at 9, 2 blocked 2 at 9, 2 wait 4 at 9"},
		{[]Event{holder, still, holder, still}, "2 blocked 3 at 9, 2 wait 4 at 9"},
		{[]Event{holder, still, still}, "2 wait 3 at 9"},
		{[]Event{holder, still, exit}, "2 exit 3"},
		{[]Event{holder, still, wait(5)}, "2 wait 3"},
		{[]Event{holder, still, other}, "3 exit 3, 2 blocked 1 at 9, 2 wait 2 at 9"},
		{[]Event{holder, wait(5)}, "2 wait 2"},
		{[]Event{holder, wait(0)}, "2 blocked 1, 2 wait 2"},
		{[]Event{holder, still, wait(0)}, "2 wait 3"},
		{[]Event{holder, still, holder, wait(0)}, "2 blocked 3, 2 wait 4"},
		{[]Event{holder}, ""},
	} {
		for parts := range len(test.events) {
			if before := slices.DeleteFunc(slices.Clone(test.events[:parts]), func(e Event) bool { return e.Goroutine != 2 }); len(before) > 0 && before[len(before)-1].Kind == Blocked {
				continue // that is lost
			}
			var got []string
			note := func(e *Event, end string) {
				got = append(got, fmt.Sprintf("%d %v %s%s", e.Goroutine, e.Kind, e.Data, end))
			}
			all, part := Held{}, Held{}
			for i, e := range test.events {
				if i == parts && parts > 0 {
					all.GoOn(part)
					part = Held{}
				}
				e.Data = []byte{'1' + byte(i)}
				var ready []Event
				held := part.keep(&e, parts > 0, &ready)
				if !held {
					note(&e, "")
				}
				for j := range ready {
					note(&ready[j], "")
				}
			}
			all.GoOn(part)
			for _, e := range all.AtEnd(9) {
				note(&e, fmt.Sprint(" at ", e.Ticks))
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("%v, divided at %d: %q, want %q", test.events, parts, got, test.want)
			}
		}
	}
}
