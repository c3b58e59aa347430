package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// TestRuns: a run lasts to the goroutine's last event on the processor, or to where it stopped.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name    string
		partial bool
		do      func(r *runs)
		more    bool
		want    string
	}{
		{"one after another", false, func(r *runs) {
			r.event(7, 0, 10)
			r.event(7, 0, 20)
			r.event(8, 0, 30)
			r.event(8, 0, 40)
			r.event(7, 0, 50)
		}, false, "0: G7 10-20, 0: G8 30-40, 0: G7 50-50"},
		{"it moves", false, func(r *runs) {
			r.event(7, 0, 10)
			r.event(7, 1, 20)
			r.event(7, 1, 25)
			r.event(7, 0, 30)
		}, false, "0: G7 10-10, 1: G7 20-25, 0: G7 30-30"},
		{"it stops after its last event", false, func(r *runs) {
			r.event(7, 0, 10)
			r.event(8, 0, 30)
			r.stopped(7, 25) // the wait's record comes later
			r.event(7, 1, 40)
		}, false, "0: G7 10-25, 0: G8 30-30, 1: G7 40-40"},
		{"not longer than until another one runs", false, func(r *runs) {
			r.event(7, 0, 10)
			r.event(8, 0, 20)
			r.stopped(7, 25)
		}, false, "0: G7 10-20, 0: G8 20-20"},
		{"nor shorter than to its last event", false, func(r *runs) {
			r.event(7, 0, 10)
			r.event(7, 0, 30)
			r.stopped(7, 25)
			r.event(7, 0, 40)
		}, false, "0: G7 10-30, 0: G7 40-40"},
		{"what may have begun before", true, func(r *runs) {
			r.event(7, 0, 10)
			r.event(8, 0, 20)
			r.event(9, 2, 30)
			r.event(7, 0, 40)
			r.stopped(7, 45)
		}, false, "0: G7 10-10?, 0: G8 20-20, 0: G7 40-45, 2: G9 30-30?"},
		{"what may go on", false, func(r *runs) {
			r.event(7, 0, 10)
			r.event(8, 0, 20)
			r.event(9, 1, 30)
			r.stopped(9, 35)
		}, true, "1: G9 30-35, 0: G7 10-10, 0: G8 20-20?"},
		{"no processor", false, func(r *runs) {
			r.event(7, -1, 10)
			r.event(7, processorsMax, 10)
			r.stopped(8, 20)
		}, false, ""},
	} {
		var have []string
		r := newRuns(func(processor int32, r *run) {
			doubt := ""
			if r.doubt {
				doubt = "?"
			}
			have = append(have, fmt.Sprintf("%d: G%d %d-%d%s", processor, r.goroutine, r.begin, r.end, doubt))
		})
		r.partial = c.partial
		c.do(r)
		r.finish(c.more)
		if have := strings.Join(have, ", "); have != c.want {
			t.Errorf("%s: %s, not %s", c.name, have, c.want)
		}
	}

	// However long it is not known where runs ended, they are not kept for ever.
	n := 0
	r := newRuns(func(int32, *run) { n++ })
	for g := range uint64(5000) {
		r.event(g, 0, g)
	}
	if n != 5000-runsMax || len(r.last) != runsMax {
		t.Errorf("%d runs are given, %d are kept", n, len(r.last))
	}
}

// TestRunsOverlap: a processor runs one goroutine at a time, each event is in a run of its
// goroutine, and no goroutine runs on two processors.
func TestRunsOverlap(t *testing.T) {
	for _, r := range []*recording.Recording{viewtest.MadeUp(t), opens(t, "convoy"), opens(t, "workers")} {
		on, of := map[int32][]run{}, map[uint64][]run{}
		list := newRuns(func(processor int32, r *run) {
			on[processor] = append(on[processor], *r)
			of[r.goroutine] = append(of[r.goroutine], *r)
		})
		h := hears{runs: list}
		s := r.Events(recording.Window{})
		events := 0
		for e := (recording.Event{}); s.Next(&e); events++ {
			h.ran(&e)
		}
		s.Close()
		list.finish(false)
		for processor, runs := range on {
			if !slices.IsSortedFunc(runs, func(a, b run) int { return cmp.Compare(a.begin, b.begin) }) {
				t.Errorf("processor %d: not in the order of time", processor)
			}
			for i := 1; i < len(runs); i++ {
				if runs[i].begin < runs[i-1].end {
					t.Fatalf("processor %d: %v before %v ends", processor, runs[i], runs[i-1])
				}
			}
		}
		for g, runs := range of {
			slices.SortFunc(runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end)) })
			for i := 1; i < len(runs); i++ {
				if runs[i].begin < runs[i-1].end {
					t.Fatalf("G%d: on processor %d from %d, on %d until %d", g, runs[i].on.number, runs[i].begin, runs[i-1].on.number, runs[i-1].end)
				}
			}
		}
		if events == 0 || len(on) == 0 {
			t.Fatal("nothing ran")
		}
	}
}

// TestRunsPicture: what is read of a stretch of time is what all events have of it, wherever a run
// begins or ends at its edge, and whenever the goroutine goes on.
func TestRunsPicture(t *testing.T) {
	for _, name := range []string{"convoy", "workers", "books"} {
		r := opens(t, name)
		all := plain(t, r, true)
		for _, finest := range []int{3, 5, 7} {
			x := built(r)
			for x.finest < finest {
				x.giveUp()
			}
			var lanes []uint64
			for lane := range x.lanes {
				if ofProcessor(lane) {
					lanes = append(lanes, lane)
				}
			}
			compared := 0
			for _, lane := range lanes {
				for _, s := range all[rowOf{lane, callsRow}] {
					const lasts = 20_000
					for _, from := range []int64{s.begin, s.end, s.end + 1, s.begin - lasts, s.begin - lasts - 1} {
						from = max(0, from)
						compared += compare(t, x, []*recording.Recording{r}, all, lanes, from, from+lasts)
					}
				}
			}
			if compared == 0 {
				t.Errorf("%s: nothing ran", name)
			}
		}
	}
}

func opens(t *testing.T, name string) *recording.Recording {
	t.Helper()
	r, err := recording.Open(recorded(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProcessors: the timeline has lanes of processors, and a run leads to its goroutine.
func TestProcessors(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "convoy"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready)
	do(t, ctx, chromedp.Evaluate(`{ const e = document.getElementById("lanes-by"); e.value = "processor"; e.dispatchEvent(new Event("change")); }`, nil))
	becomes(t, ctx, ready+` && ftrace.timeline.by === "processor" && location.hash.includes("lanes=processor")`)
	lanes := s.shown[0].laneList(true, 0)
	if n := value[int](t, ctx, `ftrace.timeline.lanes.length`); n != len(lanes) || n == 0 {
		t.Errorf("%d lanes, not %d", n, len(lanes))
	}
	runs := uint64(0)
	for _, l := range lanes {
		runs += l.Calls
	}
	if n := value[uint64](t, ctx, `ftrace.timeline.data.calls.reduce((a, b) => a + b, 0)`); n != runs {
		t.Errorf("%d runs, not %d", n, runs)
	}
	shots(t, ctx, "processors")
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, ready+` && ftrace.timeline.by === "processor" && document.getElementById("lanes-by").value === "processor"`)
	g := value[float64](t, ctx, `(() => { const t = ftrace.timeline, d = t.data; let best = 0;
		for (let i = 0; i < d.n; i++) if (d.calls[i] === 1 && d.end[i] - d.begin[i] > d.end[best] - d.begin[best]) best = i;
		const key = d.what[best] & 0xffffff;
		t.pick({ r: 0, g: d.lanes[d.lane[best]].g, row: d.row[best], begin: d.begin[best], end: d.end[best], what: d.what[best], calls: 1, key }); return key; })()`)
	if said := value[string](t, ctx, `document.getElementById("details").innerText`); !strings.HasPrefix(said, fmt.Sprintf("G%v\n", g)) || !strings.Contains(said, "processor") {
		t.Errorf("%s", said)
	}
	shots(t, ctx, "processors-picked")
	do(t, ctx, chromedp.Evaluate(`[...document.querySelectorAll("#details button")].find(b => b.textContent === "its calls").click()`, nil))
	becomes(t, ctx, fmt.Sprintf(`%s && ftrace.timeline.by === "" && ftrace.timeline.lanes.some(l => l.g === %v) && ftrace.mark >= 0 && !location.hash.includes("lanes=")`, ready, g))
	for query, want := range map[string]int{"lanes?by=processor": 200, "lanes?by=x": 400, "slices?by=x&from=0&to=10&pixels=1&lanes=1": 400, "slices?by=processor&from=0&to=10&pixels=1&lanes=99": 200} {
		if status, _, body := get(t, s.URL()+query, nil); status != want {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}
