package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// TestClocks: where the clocks of two machines differ, the times of a process are moved so that
// nothing is served before it is made.
func TestClocks(t *testing.T) {
	s := serving(t, recorded(t, "shop"), recorded(t, "stock"))
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		p := processes{ctx: t.Context(), starts: make([]time.Time, 2)}
		all := []*recording.Recording{opens(t, "shop"), opens(t, "stock")}
		first, _ := all[0].Lifetime()
		second, _ := all[1].Lifetime()
		apart := second.Sub(first)
		all[1].Shift(by)
		p.align(s.shown, all)
		if p.err != nil || !p.read || len(p.passed) != 3 {
			t.Fatalf("%v: %d requests: %v", by, len(p.passed), p.err)
		}
		if off := p.starts[1].Sub(p.starts[0]) - apart; off.Abs() > 100*time.Millisecond || by == 0 && off != 0 {
			t.Errorf("%v: the clocks are off by %v", by, off)
		}
		if moved := strings.Contains(p.said, "its times are moved by"); moved != (by != 0) {
			t.Errorf("%v: %q", by, p.said)
		}
		for _, one := range p.passed {
			made := p.starts[one.Made.R].Add(time.Duration(one.Made.At))
			if served := p.starts[one.Served.R].Add(time.Duration(one.Served.At)); one.Made.R != 0 || one.Served.R != 1 || served.Before(made) {
				t.Errorf("%v: %+v is made at %v, served at %v", by, one, made, served)
			}
		}
	}
}

// TestSQLClock: in SQL, too, nothing is served before it is made, or after its answer has come.
func TestSQLClock(t *testing.T) {
	s := serving(t, recorded(t, "shop"), recorded(t, "stock"))
	const query = `SELECT COUNT(*), SUM(b.TIMER_START < a.TIMER_START), SUM(b.TIMER_START > a.TIMER_END)
		FROM stock.events_stages_history_long b JOIN shop.events_stages_history_long a ON a.TRACE_ID = b.TRACE_ID AND a.SPAN_ID = b.PARENT_SPAN_ID`
	if status, _, body := get(t, s.URL()+"sql?q="+url.QueryEscape(query), nil); status != 200 || !strings.Contains(body, `"rows":[["3","0","0"]]`) {
		t.Errorf("%d %s", status, body)
	}
}

// TestProcessesEnd: requests are not read any more when the server has ended.
func TestProcessesEnd(t *testing.T) {
	s, err := Listen([]string{recorded(t, "shop"), recorded(t, "stock")}, Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p := &s.together
	p.align(s.shown, []*recording.Recording{opens(t, "shop"), opens(t, "stock")})
	if !errors.Is(p.err, context.Canceled) || !p.read || len(p.passed) > 0 {
		t.Errorf("%d requests are read, %v", len(p.passed), p.err)
	}
}

// TestAtOnce: only processes that ran at the same time are shown so unasked.
func TestAtOnce(t *testing.T) {
	for _, c := range []struct {
		dirs []string
		is   bool
	}{
		{[]string{"shop", "stock"}, true},
		{[]string{"workers", "shop", "stock"}, true},
		{[]string{"shop", "shop"}, false},
		{[]string{"parser", "workers"}, false},
	} {
		var list []*shown
		for _, name := range c.dirs {
			list = append(list, &shown{first: opens(t, name)})
		}
		if is := atOnce(list); is != c.is {
			t.Errorf("%v ran at once: %v", c.dirs, is)
		}
	}
}

// TestPassings: a request is found in a stretch of time that has one of its ends. A stretch may
// begin before the recording.
func TestPassings(t *testing.T) {
	s := serving(t, recorded(t, "shop"), recorded(t, "stock"))
	ask := func(query string) (list []passing) {
		for {
			_, _, said := get(t, s.URL()+"processes", nil)
			if strings.Contains(said, `"reading":false`) {
				break
			}
		}
		status, _, body := get(t, s.URL()+"passings?"+query, nil)
		var answer struct{ Passings []passing }
		if err := json.Unmarshal([]byte(body), &answer); status != 200 || err != nil {
			t.Fatalf("%s: %d %s", query, status, body)
		}
		return answer.Passings
	}
	all := ask("from=-1000000000000&to=1000000000000")
	if len(all) != 3 {
		t.Fatal(all)
	}
	at := all[1].Made.At
	if one := ask(fmt.Sprintf("from=%d&to=%d", at-1, at+1)); len(one) != 1 || one[0] != all[1] {
		t.Error(one)
	}
	at = all[2].Served.At
	if one := ask(fmt.Sprintf("r=1&from=%d&to=%d", at-1, at+1)); len(one) != 1 || one[0] != all[2] {
		t.Error(one)
	}
	for _, query := range []string{"from=x", "r=2"} {
		if status, _, body := get(t, s.URL()+"passings?"+query, nil); status != 400 {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

const asked = ` && ftrace.timeline.arrows && !ftrace.timeline.arrowsTurn.asking`

// TestPageProcesses: processes that ran at once are on one timeline, whose calls are those of their
// recordings, and requests lead from one to the other.
func TestPageProcesses(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "shop"), recorded(t, "stock"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	both := ready + asked + ` && ftrace.parts.length === 2 && ftrace.timeline.groups.length === 2`
	becomes(t, ctx, both+` && ftrace.timeline.arrows.list.filter(a => a.passes).length === 3`)
	if !value[bool](t, ctx, `document.getElementById("tab-timeline").ariaSelected === "true" && !document.getElementById("tab-compare").hidden`) {
		t.Error("the page does not begin with the timeline, or has no comparison")
	}
	shots(t, ctx, "processes")

	// What is drawn is what each recording has, on one clock.
	do(t, ctx, chromedp.EmulateViewport(1280, 4000))
	becomes(t, ctx, ready+` && ftrace.timeline.visible().length === ftrace.timeline.lanes.length && ftrace.timeline.visible().every(l => ftrace.timeline.data.index.has(l.id))`)
	type call struct {
		R     int
		G     uint64
		Row   int
		Begin int64
		Name  string
	}
	drawn := map[call]bool{}
	for _, c := range value[[]call](t, ctx, `(() => { const t = ftrace.timeline, d = t.data, list = [];
		for (let i = 0; i < d.n; i++) if (d.calls[i] === 1 && d.row[i] >= 2) { const l = d.lanes[d.lane[i]];
			list.push({ r: l.r, g: l.g, row: d.row[i], begin: d.begin[i] - t.part(l.r).at, name: ftrace.function(d.what[i] & 0xffffff).name }); }
		return list; })()`) {
		drawn[c] = true
	}
	all := 0
	for i, name := range []string{"shop", "stock"} {
		r := opens(t, name)
		clock := r.Converter()
		events := r.Events(recording.Window{})
		for e := (recording.Event{}); events.Next(&e); {
			if !e.Enters() {
				continue
			}
			all++
			delete(drawn, call{i, e.Goroutine, int(callsRow) + int(e.Depth), int64(clock.Since(e.Ticks)), r.Function(e.Function).ShortName()})
		}
		events.Close()
	}
	if len(drawn) > 0 || all < 20 {
		t.Errorf("of %d calls none are %v", all, drawn)
	}
	if n := value[int](t, ctx, `ftrace.timeline.data.calls.reduce((n, c, i) => n + (ftrace.timeline.data.row[i] >= 2 ? c : 0), 0)`); n != all {
		t.Errorf("%d of %d calls are drawn", n, all)
	}
	do(t, ctx, chromedp.EmulateViewport(1280, 800))

	// A request leads to who serves it, whose values are those of its own recording.
	pick := func(side string) string {
		return `(() => { const t = ftrace.timeline, a = t.arrows.list.find(a => a.passes), x = a.` + side + `, begin = Math.` + map[string]string{"from": "round(a.at)", "to": "round(a.end)"}[side] + `;
			t.show(begin - 1e6, begin + 3e6);
			return [x.r, x.g, x.depth, begin]; })()`
	}
	hit := func(at []float64) {
		t.Helper()
		becomes(t, ctx, fmt.Sprintf(`ftrace.timeline.to && `+ready+` && (() => { const t = ftrace.timeline, d = t.data; if (!t.holds(d) || !t.sharp(d)) return false; t.showLane(%v, %v);
			for (let i = 0; i < d.n; i++) { const l = d.lanes[d.lane[i]]; if (l.r === %v && l.g === %v && d.row[i] === 2 + %v && Math.abs(d.begin[i] - %v) <= 1) {
				t.pick({ r: l.r, g: l.g, row: d.row[i], begin: d.begin[i], end: d.end[i], what: d.what[i], calls: d.calls[i], key: d.what[i] & 0xffffff }); return true; } } })()`, at[1], at[0], at[0], at[1], at[2], at[3]))
	}
	made := value[[]float64](t, ctx, pick("from"))
	hit(made)
	details := `document.getElementById("details").innerText`
	becomes(t, ctx, details+`.includes("served by\n"+ftrace.timeline.part(1).name+" G") && `+details+`.includes("stage/grpc/client/shop.Stock/Count") && `+details+`.includes("parameters")`)
	shots(t, ctx, "processes-request")
	do(t, ctx, chromedp.Evaluate(`[...document.querySelectorAll("#details dd button")].at(-1).click()`, nil))
	becomes(t, ctx, `ftrace.mark === ftrace.timeline.arrows.list.find(a => a.passes).end`)
	hit(value[[]float64](t, ctx, pick("to")))
	becomes(t, ctx, details+`.includes("asked by\n"+ftrace.timeline.part(0).name+" G") && `+details+`.includes("stage/grpc/server/shop.Stock/Count") && /parameters\nrequest=/.test(`+details+`)`)
	shots(t, ctx, "processes-served")

	// Its trace is that of its own recording. Back there, all processes are shown, with other
	// times.
	do(t, ctx, chromedp.KeyEvent("t"))
	becomes(t, ctx, `document.body.dataset.ready === "yes" && document.title.startsWith("stock") && location.hash.includes("r=1") && document.getElementById("lines").innerText.includes("stage/grpc/server/shop.Stock/Count")`)
	do(t, ctx, click("#tab-timeline"))
	becomes(t, ctx, both+` && ftrace.timeline.part(0).at > 0 && ftrace.timeline.part(1).at === 0`)

	// A process folds, and times before the recording's own are in the URL.
	do(t, ctx, anew(s.URL())...)
	becomes(t, ctx, both)
	becomes(t, ctx, `(() => { const t = ftrace.timeline, first = ftrace.status.from; if (!(first < 0)) return false; t.show(first, first + 1e6); return true; })()`)
	becomes(t, ctx, `/from=-\d+&/.test(location.hash)`)
	stretch := value[string](t, ctx, `document.getElementById("range").textContent`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, both+fmt.Sprintf(` && document.getElementById("range").textContent === %q`, stretch))
	lanes := value[int](t, ctx, `ftrace.timeline.lanes.filter(l => l.r === 1).length`)
	at := value[[]float64](t, ctx, `(() => { const r = ftrace.timeline.scroll.getBoundingClientRect(); return [r.left + 60, r.top + 10]; })()`)
	do(t, ctx, chromedp.MouseClickXY(at[0], at[1]))
	becomes(t, ctx, fmt.Sprintf(`ftrace.timeline.folded.has("0") && ftrace.timeline.lanes.length === %d`, lanes))
	shots(t, ctx, "processes-folded")

	// One of them alone, and both again.
	choose := func(by string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById("lanes-by"); e.value = %q; e.dispatchEvent(new Event("change")); }`, by), nil)
	}
	do(t, ctx, choose(""))
	becomes(t, ctx, `ftrace.parts.length === 1 && ftrace.status.from === 0 && ftrace.timeline.lanes.length && ftrace.timeline.lanes.every(l => l.r === 0) && `+ready)
	do(t, ctx, choose("process"))
	becomes(t, ctx, both+` && ftrace.status.from < 0`)
}

// TestFold: a folded lane shows only the outermost calls of its goroutine. The keyboard folds one
// lane, a checkbox all of them, and the URL says which are folded. Going to a call in a folded lane
// unfolds it.
func TestFold(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "workers"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready+` && ftrace.timeline.lanes.filter(l => l.rows > 1).length > 1 && document.querySelectorAll(".fold-lane").length > 1`)
	state := func() string {
		t.Helper()
		return value[string](t, ctx, `[...document.querySelectorAll(".fold-lane")].map(b => b.ariaLabel.split(",")[0] + " " + b.ariaExpanded).sort().join(", ")`)
	}
	drawn := func() int {
		t.Helper()
		return value[int](t, ctx, `ftrace.timeline.picture().svg.querySelectorAll("rect").length`)
	}
	open, rects := state(), drawn()
	if strings.Contains(open, "false") {
		t.Fatalf("before anything is folded: %s", open)
	}
	do(t, ctx, chromedp.Evaluate(`window.folding = ftrace.timeline.lanes.find(l => l.rows > 1); ftrace.timeline.buttons.get(folding.id).focus(); 0`, nil), chromedp.KeyEvent(kb.Enter))
	one := fmt.Sprintf(`ftrace.timeline.lanes.find(l => l.id === %q)`, value[string](t, ctx, `folding.id`))
	becomes(t, ctx, `document.activeElement.ariaExpanded === "false" && `+one+`.height < `+one+`.rows * 17 + 33 && location.hash.includes("folded=")`)
	if now := drawn(); now >= rects {
		t.Errorf("%d rectangles are drawn, and %d when a lane is folded", rects, now)
	}
	if hits := value[int](t, ctx, `(() => { const l = `+one+`; let n = 0; for (let x = 0; x < ftrace.timeline.width; x++) for (let y = 0; y < l.height; y++) if (ftrace.timeline.hit(x, l.y - ftrace.timeline.scroll.scrollTop + y)?.row > 2) n++; return n; })()`); hits != 0 {
		t.Errorf("calls that are not drawn are at %d places", hits)
	}
	folded := state()
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, ready+` && document.querySelectorAll(".fold-lane").length > 1`)
	if now := state(); now != folded || strings.Count(now, "false") != 1 {
		t.Errorf("after a reload: %s, not %s", now, folded)
	}
	shots(t, ctx, "folded")

	// All of them, and again none.
	do(t, ctx, click("#lanes-folded"))
	becomes(t, ctx, `ftrace.timeline.lanes.every(l => l.height <= 50) && location.hash.includes("folds=1") && [...document.querySelectorAll(".fold-lane")].every(b => b.ariaExpanded === "false")`)
	shots(t, ctx, "all-folded")
	do(t, ctx, chromedp.Evaluate(`ftrace.showAt(0, `+one+`.g)`, nil))
	becomes(t, ctx, `!ftrace.timeline.isFolded(`+one+`) && ftrace.timeline.lanes.some(l => ftrace.timeline.isFolded(l)) && location.hash.includes("folded=")`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, ready+` && !ftrace.timeline.isFolded(`+one+`) && ftrace.timeline.lanes.some(l => ftrace.timeline.isFolded(l))`)
	do(t, ctx, click("#lanes-folded"), chromedp.Evaluate(`ftrace.timeline.show(ftrace.status.from, ftrace.status.end)`, nil))
	becomes(t, ctx, `!location.hash.includes("fold") && !ftrace.timeline.turn.asking`)
	if now := state(); now != open {
		t.Errorf("unfolded: %s, not %s", now, open)
	}

	// The lane of a processor has one row, and nothing to fold.
	do(t, ctx, chromedp.Evaluate(`ftrace.timeline.setBy("processor")`, nil))
	becomes(t, ctx, `ftrace.timeline.lanes.length && !document.querySelector(".fold-lane") && document.getElementById("lanes-folded").parentNode.hidden`)
}

// TestThree: more than two recordings are on one timeline, and are not compared.
func TestThree(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"), recorded(t, "workers"), recorded(t, "books"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready+` && ftrace.parts.length === 3 && ftrace.timeline.groups.every(g => g.lanes.length)`)
	if !value[bool](t, ctx, `document.getElementById("tab-compare").hidden`) {
		t.Error("three recordings are compared")
	}
}
