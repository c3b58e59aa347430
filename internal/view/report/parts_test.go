package report

import (
	"bytes"
	"path/filepath"
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
			for _, by := range []string{"function", "package", "goroutine"} {
				want, got := viewtest.AtOnce(t, func() string {
					o := Options{By: by, Sort: "name"}
					s, err := Summarize([]walk.Source{{Recording: r, Only: only, Window: window}}, o)
					if err != nil {
						t.Fatal(err)
					}
					var out bytes.Buffer
					if err := s.Write(&out, o); err != nil {
						t.Fatal(err)
					}
					return out.String()
				})
				if got != want {
					t.Fatalf("report of %v by %s is\n%s\nwant\n%s", window, by, got, want)
				}
			}
		}
	}
}

// TestDeepParts: calls so deep that their depths are all the same end in later parts than they
// began in.
func TestDeepParts(t *testing.T) {
	const deep, endless = 300_000, 1000
	r := viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), deep, endless)
	one, several := viewtest.AtOnce(t, func() stat {
		s, err := Summarize([]walk.Source{{Recording: r}}, Options{By: "function", Sort: "name"})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.stats) != 1 {
			t.Fatalf("there are %d functions", len(s.stats))
		}
		return *s.stats[0]
	})
	if one.open != endless || several.open != one.open || several.calls != one.calls || several.total != one.total {
		t.Errorf("in parts there are %d calls, %d of them open, in %d ticks; at once %d, %d, %d", several.calls, several.open, several.total, one.calls, one.open, one.total)
	}
}
