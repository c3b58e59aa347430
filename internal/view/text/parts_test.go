package text

import (
	"bytes"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// TestParts: what is made of a recording in parts is what is made of it one event after the other.
func TestParts(t *testing.T) {
	r := viewtest.MadeUp(t)
	middle := r.Events(recording.Window{})
	var e recording.Event
	for range 75_000 {
		middle.Next(&e)
	}
	middle.Close()
	for _, only := range []map[uint64]bool{nil, {101: true, 103: true, 120: true}} {
		for _, window := range []recording.Window{{}, {From: e.Ticks}, {To: e.Ticks}} {
			for _, of := range []string{"", "duration,elapsed,pos", "color=always"} {
				f, err := ParseFormat(of)
				if err != nil {
					t.Fatal(err)
				}
				want, got := viewtest.AtOnce(t, func() string {
					var out bytes.Buffer
					if err := Replay(walk.Source{Recording: r, Only: only, Window: window}, Options{Format: f}, &out); err != nil {
						t.Fatal(err)
					}
					return out.String()
				})
				if got != want {
					a, b := bytes.Split([]byte(want), []byte("\n")), bytes.Split([]byte(got), []byte("\n"))
					i := 0
					for i < min(len(a), len(b)) && bytes.Equal(a[i], b[i]) {
						i++
					}
					t.Fatalf("replay of %v, %q: line %d of %d is\n%s\nwant\n%s", window, of, i, len(a), b[min(i, len(b)-1)], a[min(i, len(a)-1)])
				}
				if len(want) < 1000 {
					t.Errorf("replay of %v has %d bytes", window, len(want))
				}
			}
		}
	}
}
