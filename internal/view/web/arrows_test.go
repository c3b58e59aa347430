package web

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// TestArrows: the arrows are those that the trace tells of, of the goroutines that are asked about,
// and no more than are wanted.
func TestArrows(t *testing.T) {
	s := serving(t, recorded(t, "convoy"))
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	who := regexp.MustCompile(`(ended by|// #\d+ from) G(\d+)`)
	var want []string
	if err := lines(r, place{}, nil, nil, nil, func(l line) bool {
		if m := who.FindStringSubmatch(l.Text); m != nil {
			want = append(want, fmt.Sprintf("%s -> %d %t", m[2], l.G, m[1] != "ended by"))
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Arrows []arrow
		More   bool
	}
	get1 := func(query string) []arrow {
		t.Helper()
		all.Arrows = nil
		status, _, body := get(t, s.URL()+"arrows?"+query, nil)
		if err := json.Unmarshal([]byte(body), &all); err != nil || status != 200 {
			t.Fatal(status, body)
		}
		return all.Arrows
	}
	for !s.shown[0].now().Finished {
		time.Sleep(time.Millisecond)
	}
	var goroutines string
	for _, l := range s.shown[0].laneList(false, 0) {
		goroutines += "," + strconv.FormatUint(l.G, 10)
	}
	list := get1("lanes=" + goroutines[1:])
	var have []string
	for _, a := range list {
		have = append(have, fmt.Sprintf("%d -> %d %t", a.From, a.To, a.Starts))
		if a.At > a.End || a.At < 0 {
			t.Errorf("%+v", a)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) || len(want) < 10 || all.More {
		t.Errorf("%q, not %q", have, want)
	}
	from, to := list[5].End-1, list[len(list)/2].End+2
	some := get1(fmt.Sprintf("lanes=1&from=%d&to=%d", from, to))
	n := 0
	for _, a := range list {
		if (a.From == 1 || a.To == 1) && a.End >= from && a.End <= to {
			n++
		}
	}
	if len(some) != n || n == 0 {
		t.Errorf("%d arrows, not %d", len(some), n)
	}
	for _, query := range []string{"", "lanes=x", "lanes=1&from=-1"} {
		if status, _, body := get(t, s.URL()+"arrows?"+query, nil); status != 400 {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	made := viewtest.MadeUp(t)
	for _, c := range []struct{ most, events, want int }{{10, math.MaxInt, 10}, {math.MaxInt, 100, -1}} {
		if list, more, err := arrowsOf(made, recording.Window{}, nil, c.most, c.events); err != nil || !more || c.want >= 0 && len(list) != c.want {
			t.Errorf("%d arrows of %+v, %v, %v", len(list), c, more, err)
		}
	}
}

// TestArrowsDrawn: arrows are on the timeline, and what is said of a wait has who ended it.
func TestArrowsDrawn(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "convoy"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready+` && ftrace.timeline.arrows && !ftrace.timeline.arrowsTurn.asking`)
	shots(t, ctx, "arrows")
	n := value[int](t, ctx, `ftrace.timeline.arrows.list.length`)
	dir := filepath.Join(t.TempDir(), "saved")
	do(t, ctx, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir), click("#timeline-save"))
	if svg := drawn(t, filepath.Join(dir, "convoy-timeline.svg")); len(svg["polyline"]) != n || n < 10 {
		t.Errorf("%d arrows are drawn, not %d", len(svg["polyline"]), n)
	}
	becomes(t, ctx, `(() => { const t = ftrace.timeline, d = t.data, a = t.arrows.list.find(a => !a.starts);
		for (let i = 0; i < d.n; i++) if (d.lanes[d.lane[i]].g === a.to.g && d.row[i] === 1 && d.calls[i] === 1 && Math.abs(d.end[i] - a.end) <= 1) {
			t.pick({ ...a.to, row: 1, begin: d.begin[i], end: d.end[i], what: d.what[i], calls: 1, key: d.what[i] & 0xffffff });
			return document.getElementById("details").innerText.includes("woken by\nG" + a.from.g + " ");
		} })()`)
	shots(t, ctx, "arrows-picked")
	do(t, ctx, chromedp.Evaluate(`document.querySelector("#details dd button:last-of-type").click()`, nil))
	becomes(t, ctx, `ftrace.timeline.end - ftrace.timeline.from < ftrace.status.end / 2 && ftrace.mark > 0`)

	// Without them the URL says so, and nothing is drawn.
	do(t, ctx, click("#arrows"))
	becomes(t, ctx, `location.hash.includes("arrows=0")`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, ready+` && !document.getElementById("arrows").checked && !ftrace.timeline.arrows`)
}
