package web

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// browser returns a page of Chromium for the test, which fails if the page reports an error.
func browser(t testing.TB) context.Context {
	t.Helper()
	testenv.NeedAll(t)
	testenv.Need(t, "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.WindowSize(1280, 800))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, end = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(end)
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page failed: %v", e.ExceptionDetails)
		case *log.EventEntryAdded: // among these is what its policy refuses
			if e.Entry.Level == log.LevelError {
				t.Errorf("the page says: %s %s", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	return ctx
}

// do runs actions in the page.
func do(t testing.TB, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// value returns what an expression in the page is.
func value[T any](t testing.TB, ctx context.Context, expression string) (v T) {
	t.Helper()
	do(t, ctx, evaluate(expression, &v))
	return v
}

func evaluate(expression string, to any) chromedp.Action {
	return chromedp.Evaluate(expression, to, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
}

// becomes waits until an expression in the page is true. While the page is loaded, it may fail.
func becomes(t testing.TB, ctx context.Context, expression string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var is bool
		err := chromedp.Run(ctx, evaluate("(() => { try { return !!("+expression+"); } catch { return false; } })()", &is))
		if err != nil && !strings.Contains(err.Error(), "Inspected target navigated or closed") { // it loads another page now
			t.Fatal(err)
		}
		if is {
			return
		}
	}
	shot(t, ctx, "failed")
	t.Fatalf("it is never true that %s; the page says %q", expression, value[string](t, ctx, "document.body.innerText"))
}

// click clicks what a selector finds.
func click(selector string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q).click()", selector), nil)
}

// anew loads a URL that may differ from the one before only by what follows #.
func anew(url string) []chromedp.Action {
	return []chromedp.Action{chromedp.Navigate("about:blank"), chromedp.Navigate(url)}
}

// shot writes a picture of the page into the directory that SCREENSHOTS names.
func shot(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	do(t, ctx, chromedp.Sleep(300*time.Millisecond), chromedp.CaptureScreenshot(&picture))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// shots writes pictures at two widths, light and dark.
func shots(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	if os.Getenv("SCREENSHOTS") == "" {
		return
	}
	for _, width := range []int64{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			do(t, ctx, chromedp.EmulateViewport(width, 800), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
			shot(t, ctx, fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	do(t, ctx, chromedp.EmulateViewport(1280, 800), emulation.SetEmulatedMedia())
}

// drawn waits for an SVG file, and returns what its elements have as text, by their names.
func drawn(t testing.TB, name string) map[string][]string {
	t.Helper()
	var b []byte
	for end := time.Now().Add(time.Minute); len(b) == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		b, _ = os.ReadFile(name)
	}
	texts := map[string][]string{}
	d := xml.NewDecoder(bytes.NewReader(b))
	var at []string
	for {
		token, err := d.Token()
		if err == io.EOF && len(b) > 0 {
			return texts
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, b)
		}
		switch token := token.(type) {
		case xml.StartElement:
			at = append(at, token.Name.Local)
			texts[token.Name.Local] = append(texts[token.Name.Local], "")
		case xml.EndElement:
			at = at[:len(at)-1]
		case xml.CharData:
			list := texts[at[len(at)-1]]
			list[len(list)-1] += string(token)
		}
	}
}

const ready = `document.body.dataset.ready === "yes" && ftrace.timeline.data && !ftrace.timeline.turn.asking`

// TestPage uses the page as people do, and compares what it shows with the recording.
func TestPage(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"))
	s.shown[0].o.Source = testenv.Root(t)
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready)

	// All calls are on the timeline.
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	all := plain(t, r, false)
	var calls, deepest uint64
	for of, list := range all {
		if of.row >= callsRow {
			calls += uint64(len(list))
			deepest = max(deepest, uint64(of.row))
		}
	}
	sum := value[float64](t, ctx, `(() => { const d = ftrace.timeline.data; let n = 0; for (let i = 0; i < d.n; i++) if (d.row[i] >= 2) n += d.calls[i]; return n; })()`)
	if uint64(sum) != calls || deepest < 4 {
		t.Errorf("%v calls are drawn, not %d, %d deep", sum, calls, deepest)
	}
	if inked := value[bool](t, ctx, `(() => { const c = ftrace.timeline.canvas; return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some(b => b); })()`); !inked {
		t.Error("nothing is drawn")
	}
	shots(t, ctx, "timeline")

	// A call that is zoomed to and clicked has the values that the trace has.
	type slice struct {
		G, Row, Begin, End float64
	}
	target := value[slice](t, ctx, `(() => { const t = ftrace.timeline, d = t.data; let best = -1;
		for (let i = 0; i < d.n; i++) if (d.calls[i] === 1 && ftrace.function(d.what[i] & 0xffffff).name === "main.evaluate" && best < 0) best = i;
		const s = { r: 0, g: d.lanes[d.lane[best]].g, row: d.row[best], begin: d.begin[best], end: d.end[best] };
		t.zoomTo(s); return s; })()`)
	becomes(t, ctx, `ftrace.timeline.to > 0 && ftrace.timeline.data.to - ftrace.timeline.data.from < 1e9 && !ftrace.timeline.turn.asking`)
	var line1 string
	if err := lines(r, place{}, nil, nil, nil, func(l line) bool {
		if float64(l.At) == target.Begin && strings.Contains(l.Text, "+ main.evaluate(") {
			line1 = l.Text
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	params := line1[strings.Index(line1, "(")+1 : strings.Index(line1, ") {")]
	at := value[[]float64](t, ctx, fmt.Sprintf(`(() => { const t = ftrace.timeline, l = t.lanes.find(l => l.g === %v), b = t.scroll.getBoundingClientRect();
		return [b.left + t.x(%v), b.top + l.y - t.scroll.scrollTop + 18 + 7 + (%v - 2) * 17 + 8]; })()`, target.G, (target.Begin+target.End)/2, target.Row))
	do(t, ctx, chromedp.MouseClickXY(at[0], at[1]))
	becomes(t, ctx, `document.getElementById("details").innerText.includes("parameters")`)
	if details := value[string](t, ctx, `document.getElementById("details").innerText`); params == "" || !strings.Contains(details, params) || !strings.Contains(details, "main.evaluate") {
		t.Errorf("the details have no %s:\n%s", params, details)
	}
	shots(t, ctx, "details")

	// Its source is beside it, with the values at its lines.
	do(t, ctx, chromedp.KeyEvent("c"))
	becomes(t, ctx, `document.getElementById("source").dataset.state === "done"`)
	if source := value[string](t, ctx, `[...document.querySelectorAll(".s")].find(e => e.querySelector(".t").textContent.startsWith("func evaluate(text string)")).querySelector(".v").textContent`); source != params {
		t.Errorf("the source has %q at its beginning, not %q", source, params)
	}
	shots(t, ctx, "source")
	do(t, ctx, click("#source-close"))

	// Keys move and zoom, and the URL reopens what is shown.
	width := `(ftrace.timeline.end - ftrace.timeline.from)`
	before := value[float64](t, ctx, width)
	do(t, ctx, chromedp.KeyEvent("s"))
	if wider := value[float64](t, ctx, width); wider < before*1.3 {
		t.Errorf("s zooms from %v to %v", before, wider)
	}
	do(t, ctx, chromedp.KeyEvent("w"), chromedp.KeyEvent("d"))
	becomes(t, ctx, `location.hash.includes("from=" + Math.round(ftrace.timeline.from))`)
	shown := value[string](t, ctx, `document.getElementById("range").textContent`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, ready)
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("range").textContent === %q`, shown))

	// A search finds what the trace has, and opens it.
	do(t, ctx, chromedp.KeyEvent("/"))
	becomes(t, ctx, `document.activeElement.id === "query"`)
	do(t, ctx, chromedp.Evaluate(`document.getElementById("query").value = ""`, nil), chromedp.SendKeys("#query", "division by zero\r", chromedp.ByQuery))
	becomes(t, ctx, `document.getElementById("results").dataset.state === "done"`)
	want := 0
	if err := lines(r, place{}, nil, nil, nil, func(l line) bool {
		if strings.Contains(l.Text, "division by zero") {
			want++
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if n := value[int](t, ctx, `document.querySelectorAll("#matches li").length`); n != want || n == 0 {
		t.Errorf("%d lines are found, not %d", n, want)
	}
	shots(t, ctx, "search")
	do(t, ctx, click("#matches li:first-child button"), click("#results-close"))

	// The trace is text, which folds.
	do(t, ctx, click("#tab-tree"))
	becomes(t, ctx, `document.querySelectorAll("#lines .l").length > 20`)
	if !value[bool](t, ctx, `(() => {
		const l = { at: 123456789012, g: 1234567, text: "+ f() {" }, row = ftrace.tree.line(l);
		ftrace.tree.widen([l]);
		document.getElementById("lines").append(row);
		const fits = [...row.children].every(e => e.scrollWidth <= e.clientWidth);
		row.remove();
		return fits;
	})()`) {
		t.Error("times or goroutines in the trace have too little room")
	}
	visible := `[...document.querySelectorAll("#lines .l")].filter(e => !e.hidden).length`
	many := value[int](t, ctx, visible)
	do(t, ctx, click("#lines button.fold"))
	if few := value[int](t, ctx, visible); few >= many {
		t.Errorf("%d lines of %d are left", few, many)
	}
	do(t, ctx, click("#lines button.fold"))
	do(t, ctx, click("#lines button.t"))
	becomes(t, ctx, `document.getElementById("source").dataset.state === "done" && location.hash.includes("source=")`)
	opened := value[string](t, ctx, `document.getElementById("source").innerText`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, fmt.Sprintf(`document.body.dataset.ready === "yes" && document.getElementById("source").innerText === %q && document.querySelectorAll(".s").length > 5`, opened))
	shots(t, ctx, "trace")
	do(t, ctx, click("#source-close"))

	// The table has all calls, and those of a selection.
	do(t, ctx, click("#tab-table"))
	cells := `[...document.querySelectorAll("#table tbody tr")].map(r => +r.cells[1].textContent.replaceAll(",", ""))`
	becomes(t, ctx, cells+`.length > 0`)
	var inTable uint64
	for _, n := range value[[]uint64](t, ctx, cells) {
		inTable += n
	}
	if inTable != calls {
		t.Errorf("the table has %d calls, not %d", inTable, calls)
	}
	shots(t, ctx, "table")
	do(t, ctx, chromedp.Evaluate(fmt.Sprintf(`ftrace.select([%v, %v]); ftrace.table.load()`, target.Begin, target.End), nil))
	becomes(t, ctx, cells+fmt.Sprintf(`.reduce((a, b) => a + b, 0) < %d`, calls))
	var some uint64
	for _, n := range value[[]uint64](t, ctx, cells) {
		some += n
	}
	selected := uint64(0)
	for of, list := range all {
		for _, c := range list {
			if of.row >= callsRow && float64(c.begin) >= target.Begin && float64(c.begin) <= target.End {
				selected++
			}
		}
	}
	if some != selected || selected == 0 {
		t.Errorf("the table of a call has %d calls, not %d", some, selected)
	}

	// So has the flame graph, in which a click shows one path, and the URL reopens that.
	done := `document.getElementById("flame").dataset.state === "done" && ftrace.flame.boxes`
	boxed := `ftrace.flame.boxes.filter(b => b.n).reduce((sum, b) => sum + ftrace.flame.data.calls[b.n], 0)`
	do(t, ctx, chromedp.KeyEvent("4"))
	becomes(t, ctx, done+` && `+fmt.Sprintf(`%s === %d`, boxed, selected))
	do(t, ctx, click("#flame-all"))
	becomes(t, ctx, done+` && ftrace.flame.data.calls.reduce((a, b) => a + b) === `+fmt.Sprint(calls))
	shots(t, ctx, "flame")
	saved := filepath.Join(t.TempDir(), "saved")
	do(t, ctx, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(saved), click("#flame-save"))
	svg := drawn(t, filepath.Join(saved, "parser-flame.svg"))
	if n := value[int](t, ctx, `ftrace.flame.boxes.length`); strings.Join(svg["title"], "") == "" || len(svg["rect"]) != n+1 || !slices.Contains(svg["text"], "main.evaluate") {
		t.Errorf("the file does not have %d boxes: %v", n, svg)
	}
	at = value[[]float64](t, ctx, `(() => { const f = ftrace.flame, b = f.boxes.find(b => f.name(b.n) === "main.evaluate"), r = f.canvas.getBoundingClientRect(); return [r.left + b.x + b.w / 2, r.top + b.y + 8]; })()`)
	do(t, ctx, chromedp.MouseEvent(input.MouseMoved, at[0], at[1]))
	becomes(t, ctx, `document.getElementById("tip").textContent.includes("main.evaluate\n3 calls\ntotal ")`)
	do(t, ctx, chromedp.MouseClickXY(at[0], at[1]))
	becomes(t, ctx, `ftrace.flame.name(ftrace.flame.root) === "main.evaluate" && location.hash.includes("path=")`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, done+` && ftrace.flame.name(ftrace.flame.root) === "main.evaluate" && ftrace.flame.boxes.find(b => b.n === ftrace.flame.root).w > 1000`)

	// Keys lead to the views from left to right, and the help is shown from its beginning.
	do(t, ctx, chromedp.KeyEvent("7"))
	becomes(t, ctx, `ftrace.view === "waiting" && document.querySelector("#tab-compare").hidden`)
	do(t, ctx, chromedp.Focus("#tab-waiting"), chromedp.KeyEvent(kb.ArrowRight))
	becomes(t, ctx, `ftrace.view === "timeline" && document.activeElement.id === "tab-timeline"`)
	do(t, ctx, chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	becomes(t, ctx, `ftrace.view === "d" && document.activeElement.id === "tab-d"`)
	do(t, ctx, chromedp.EmulateViewport(400, 500), chromedp.KeyEvent("?"))
	becomes(t, ctx, `document.getElementById("help").open`)
	if !value[bool](t, ctx, `(() => { const e = document.getElementById("help"); return e.scrollHeight > e.clientHeight && e.scrollTop === 0; })()`) {
		t.Error("the help does not begin with its first keys")
	}
	shots(t, ctx, "help")
}

// TestZoom: what the index does not have as exactly as it can be drawn is read of the recording.
func TestZoom(t *testing.T) {
	ctx := browser(t)
	s := serving(t, viewtest.MadeUp(t).Dir)
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready+` && ftrace.status.finished`)
	x := s.shown[0].index
	x.mu.Lock()
	for x.finest < 8 {
		x.giveUp()
	}
	x.mu.Unlock()
	do(t, ctx, chromedp.Evaluate(`{ const l = ftrace.timeline.lanes[0], at = (l.begin + l.end) / 2; ftrace.timeline.show(at - 10_000, at + 10_000); }`, nil))
	becomes(t, ctx, `!ftrace.timeline.turn.asking && ftrace.timeline.data.to - ftrace.timeline.data.from < 50_000`)
	type data struct {
		N, From, To, Pixel float64
		Exact, Sketch      bool
		Goroutines         []uint64
	}
	have := value[data](t, ctx, `(({ n, from, to, pixel, exact, sketch, lanes }) => ({ n, from, to, pixel, exact, sketch, goroutines: lanes.map(l => l.g) }))(ftrace.timeline.data)`)
	rough, finer := x.sketch(have.Goroutines, int64(have.From), int64(have.To), int64(have.Pixel))
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := x.picture(t.Context(), []*recording.Recording{r}, drawMax, have.Goroutines, int64(have.From), int64(have.To), max(1, int64(have.Pixel)))
	if err != nil || !finer || len(rough.list) >= len(want.list) {
		t.Fatalf("the index has %d of %d: %v", len(rough.list), len(want.list), err)
	}
	if !have.Exact || have.Sketch || int(have.N) != len(want.list) {
		t.Errorf("the page has %+v, not %d slices", have, len(want.list))
	}
}

// TestReading: while a recording is read, what is known meanwhile is drawn too, on lanes that were
// there before.
func TestReading(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready)
	x := s.shown[0].index
	x.mu.Lock()
	x.finished = false
	x.mu.Unlock()
	do(t, ctx, chromedp.Reload())
	const calls = `(() => { const d = ftrace.timeline.data; let n = 0; for (let i = 0; i < d.n; i++) if (d.row[i] >= 2) n += d.calls[i]; return n; })()`
	becomes(t, ctx, `!ftrace.status.finished && !ftrace.timeline.turn.asking && !ftrace.timeline.arrowsTurn.asking && ftrace.timeline.arrows && `+calls+` > 0`)
	const arrows = `(() => { ftrace.timeline.arrows.more = true; return performance.getEntriesByType("resource").filter(e => e.name.includes("/arrows?")).length; })()`
	before, asked := value[int](t, ctx, calls), value[int](t, ctx, arrows)
	x.mu.Lock()
	for g, l := range x.lanes {
		if g&processorLane == 0 && l.calls > 0 {
			x.take(g, callsRow, slice{begin: x.now + 1, end: x.now + 2, calls: 1})
			break
		}
	}
	x.mu.Unlock()
	becomes(t, ctx, fmt.Sprintf(`%s === %d`, calls, before+1))
	if n := value[int](t, ctx, arrows); n != asked {
		t.Errorf("the page asked %d times more for arrows that were too many", n-asked)
	}
	x.mu.Lock()
	x.finished = true
	x.mu.Unlock()
	becomes(t, ctx, ready)
}

// TestIndented: the trace of a call that others made begins at the left.
func TestIndented(t *testing.T) {
	ctx := browser(t)
	dir := recorded(t, "parser")
	s := serving(t, dir)
	q, err := url.ParseQuery(strings.TrimPrefix(called(t, dir, "main.evaluate"), "source?"))
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.URL()+"#view=tree&line="+q.Get("at")+"&g="+q.Get("g")))
	becomes(t, ctx, `document.querySelectorAll("#lines .l").length > 3`)
	const apart = `(() => { const l = [...document.querySelectorAll("#lines .l")].filter(e => +e.dataset.indent === ftrace.tree.common)[0].querySelector(".t"), r = document.createRange(), text = l.firstChild;
		r.setStart(text, ftrace.tree.common); r.setEnd(text, ftrace.tree.common + 1);
		return r.getBoundingClientRect().left - l.parentNode.querySelector(".fold").getBoundingClientRect().right; })()`
	if common, px := value[int](t, ctx, `ftrace.tree.common`), value[float64](t, ctx, apart); common == 0 || px < 0 || px > 20 {
		t.Errorf("%d columns are common, and the text begins %v pixels behind the triangles", common, px)
	}
	shot(t, ctx, "indented")
	do(t, ctx, click("#lines .l .fold"))
	becomes(t, ctx, `document.querySelectorAll("#lines .l[hidden]").length > 0`)
	do(t, ctx, click("#tree-start"))
	becomes(t, ctx, `ftrace.tree.common === 0`)
}

// TestNarrow: at 400 pixels no table has to be scrolled sideways, and its values are named.
func TestNarrow(t *testing.T) {
	ctx := browser(t)
	do(t, ctx, chromedp.EmulateViewport(400, 800))
	s := serving(t, recorded(t, "convoy"), recorded(t, "parser"))
	for _, of := range []struct{ view, table, value string }{
		{"view=table&waits=1", "#table", "calls 4"},
		{"view=table&by=package", "#table", "calls 40"},
		{"view=sql&sql=" + url.QueryEscape("SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT, FORMAT_PICO_TIME(SUM_TIMER_WAIT) FROM events_calls_summary_global_by_event_name ORDER BY COUNT_STAR DESC"), "#sql", "COUNT_STAR 16"},
		{"view=d&d=" + url.QueryEscape("call:::return { @[probemod, probefunc] = quantize(elapsed); }"), "#d", "count 16"},
		{"view=waiting", "#waiting", "where main.work"},
		{"view=compare&part=functions", "#compare-functions", "calls convoy 16"},
	} {
		do(t, ctx, anew(s.URL()+"#"+of.view)...)
		becomes(t, ctx, fmt.Sprintf(`document.body.dataset.ready === "yes" && document.querySelectorAll("%s tbody tr").length`, of.table))
		if wide := value[string](t, ctx, `[document.documentElement, ...document.querySelectorAll("main *")].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX !== "visible" && e.tagName !== "TEXTAREA").map(e => e.tagName + "#" + e.id + "." + e.className).join(" ")`); wide != "" {
			t.Errorf("%s: wider than the page: %s", of.view, wide)
		}
		cells := value[string](t, ctx, fmt.Sprintf(`[...document.querySelectorAll("%s tbody td")].filter(e => e.offsetParent).map(e => getComputedStyle(e, "::before").content.replaceAll('"', "") + e.textContent).join("\n")`, of.table))
		if !strings.Contains(cells, of.value) {
			t.Errorf("%s: no %q among\n%s", of.view, of.value, cells)
		}
		shot(t, ctx, "narrow-"+strings.TrimPrefix(of.table, "#"))
	}
}

// TestBeside: the trace can be read while the source and what a search found are beside it. On a
// narrow page each is as wide as the page.
func TestBeside(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"))
	do(t, ctx, chromedp.Navigate(s.URL()+"#view=tree&line=0&q=main"))
	becomes(t, ctx, `document.querySelector("#results[data-state=done]")`)
	becomes(t, ctx, `document.querySelector("#lines button.t")`)
	do(t, ctx, click("#lines button.t"))
	becomes(t, ctx, `!document.getElementById("source").hidden`)
	shots(t, ctx, "beside")
	width := func(id string) int { return value[int](t, ctx, `document.getElementById("`+id+`").offsetWidth`) }
	if trace, source, results := width("lines"), width("source"), width("results"); trace < 420 || source < 420 || results < 340 {
		t.Errorf("the trace is %d pixels wide, the source %d, the results %d", trace, source, results)
	}
	do(t, ctx, chromedp.EmulateViewport(400, 800))
	if source, results := width("source"), width("results"); source != 400 || results < 399 {
		t.Errorf("on a narrow page the source is %d pixels wide, the results %d", source, results)
	}
}

// TestHostile: what the program made up is text, whatever it looks like.
func TestHostile(t *testing.T) {
	ctx := browser(t)
	const markup = `<img src=x onerror=window.pwned=1>`
	dir := filepath.Join(t.TempDir(), markup[:4]+"hostile")
	viewtest.Copy(t, "parser", dir)
	name := filepath.Join(dir, "tables")
	tables, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	// Of the same length, so that the tables stay whole.
	evil := strings.NewReplacer("evaluate", "<b>x</b>", "product", "<script", "factor", "<br/>\n")
	if err := os.WriteFile(name, []byte(evil.Replace(string(tables))), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serving(t, dir)
	tree, err := json.Marshal("<b>x</b>")
	if err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.URL()+"#view=tree&line=0"))
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("lines").innerText.includes(%s)`, tree))
	do(t, ctx, anew(s.URL()+"#view=table")...)
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("table").innerText.includes(%s)`, tree))
	do(t, ctx, anew(s.URL()+"#view=tree&line=0&source=g%3D1%26at%3D"+strings.TrimPrefix(called(t, dir, "main.<b>x</b>"), "source?g=1&at="))...)
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("source").innerText.includes(%s)`, tree))
	do(t, ctx, anew(s.URL()+"#view=flame&path=<b>.1&kind=<b>")...)
	becomes(t, ctx, `document.body.dataset.ready === "yes" && ftrace.flame.boxes.length > 2`)
	do(t, ctx, chromedp.Evaluate(`(() => { const f = ftrace.flame, b = f.boxes.find(b => f.name(b.n) === "main.<b>x</b>"); f.tip({ clientX: 9, clientY: 9 }, b.n); })()`, nil))
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("tip").textContent.includes(%s) && !document.querySelector("#tip *")`, tree))
	saved := filepath.Join(t.TempDir(), "saved")
	do(t, ctx, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(saved), click("#flame-save"), click("#tab-timeline"))
	becomes(t, ctx, ready)
	do(t, ctx, click("#timeline-save"))
	for _, view := range []string{"flame", "timeline"} {
		svg := drawn(t, filepath.Join(saved, "_imghostile-"+view+".svg"))
		if !slices.Contains(svg["text"], "main.<b>x</b>") || len(svg["b"])+len(svg["script"])+len(svg["img"]) > 0 {
			t.Errorf("the %s has other elements, or not the name: %v", view, svg)
		}
	}
	do(t, ctx, chromedp.Evaluate(`ftrace.search.start("x</b")`, nil))
	becomes(t, ctx, `document.getElementById("results").dataset.state === "done" && document.querySelectorAll("#matches li").length > 0`)
	do(t, ctx, anew(s.URL()+"#view=<img src=x onerror=window.pwned=1>&line=<b>&y=x&from=-1&to=1e9&selection=a-b&by=<b>&sort=<b>&q="+"%3Cb%3E")...)
	becomes(t, ctx, ready)
	none := func() {
		t.Helper()
		if made := value[int](t, ctx, `document.querySelectorAll("main b, main img, main br, main script").length`); made != 0 || value[bool](t, ctx, `"pwned" in window`) {
			t.Errorf("names became %d elements", made)
		}
	}
	none()

	// So it is where recordings are compared.
	two := serving(t, recorded(t, "parser"), dir)
	for part, shown := range map[string]string{"functions": "main.<b>x</b>", "paths": "of <imghostile", "parting": "main.<b>x</b>"} {
		do(t, ctx, anew(two.URL()+"#view=compare&paths=[<b>]&width=<b>&part="+part)...)
		becomes(t, ctx, fmt.Sprintf(`%s && document.getElementById("compare").dataset.%s === "done" && document.getElementById("compare-%s").innerText.includes(%q)`, `document.body.dataset.ready === "yes"`, part, part, shown))
		none()
	}

	// So it is in a file.
	html := filepath.Join(t.TempDir(), "hostile.html")
	var file bytes.Buffer
	if _, err := Save(&file, dir, Options{}, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(html, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, opened(t, html, "view=tree&line=0")...)
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("lines").innerText.includes(%s)`, tree))
	do(t, ctx, opened(t, html, "view=table")...)
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("table").innerText.includes(%s) && document.title.startsWith("<imghostile")`, tree))
	none()
}
