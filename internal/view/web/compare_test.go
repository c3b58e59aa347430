package web

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// rewritten writes a recording with the events of parser that change keeps, as it changes them. It
// gets the name of the function that is entered or left.
func rewritten(t *testing.T, change func(e *recording.Event, name string, clock *recording.Converter) bool) (dir string) {
	t.Helper()
	r := opens(t, "parser")
	dir = filepath.Join(t.TempDir(), "changed")
	w, err := r.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	clock := r.Converter()
	s := r.Events(recording.Window{})
	defer s.Close()
	for e := (recording.Event{}); s.Next(&e); {
		name := ""
		if e.Enters() || e.Exits() {
			name = r.Function(e.Function).Name
		}
		if !change(&e, name, &clock) {
			continue
		}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// changed writes a recording like parser, in which main.evaluate.func1 is called once less, and the
// third call of main.evaluate lasts 100 µs longer.
func changed(t *testing.T) (dir string) {
	ended, left := 0, 0
	return rewritten(t, func(e *recording.Event, name string, clock *recording.Converter) bool {
		if name == "evaluate.func1" && left < 2 {
			left++
			return false
		}
		if name == "evaluate" && e.Exits() {
			ended++
		}
		if ended == 3 {
			e.Ticks += clock.Ticks(100_000) - clock.Ticks(0)
		}
		return true
	})
}

// TestValues: where values differ, they are side by side.
func TestValues(t *testing.T) {
	ctx := browser(t)
	var before []byte // the parameters of the call before
	s := serving(t, recorded(t, "parser"), rewritten(t, func(e *recording.Event, name string, _ *recording.Converter) bool {
		if name == "factor" && e.Enters() {
			data := bytes.Clone(e.Data)
			if e.Call == 6 {
				e.Data = before
			}
			before = data
		}
		return true
	}))
	do(t, ctx, chromedp.Navigate(s.URL()+"#view=compare&part=parting"))
	becomes(t, ctx, `document.body.dataset.ready === "yes" && document.getElementById("compare").dataset.parting === "done"`)
	rows := value[[]string](t, ctx, `[...document.querySelectorAll("#compare-parting tr")].map(r => r.className + ": " + [...r.cells].map(c => c.textContent).join(" "))`)
	if !slices.Equal(rows, []string{": value parser changed", `differs: text "0" "1/0"`}) {
		t.Errorf("%q", rows)
	}
	shots(t, ctx, "compare-values")
}

// TestBoth: what differs between two recordings is what was changed, and each question is about the
// recording that it names.
func TestBoth(t *testing.T) {
	s := serving(t, recorded(t, "parser"), changed(t))
	_, _, body := get(t, s.URL()+"both", nil)
	for l := range strings.Lines(body) {
		var f struct {
			Function string
			Calls    [2]int
			Total    [2]int64
		}
		if err := json.Unmarshal([]byte(l), &f); err != nil {
			t.Fatal(err)
		}
		calls, longer := f.Calls[1]-f.Calls[0], f.Total[1]-f.Total[0]
		switch f.Function {
		case "main.evaluate.func1":
			if calls != -1 || longer >= 0 {
				t.Error(l)
			}
		case "main.evaluate", "main.main":
			if calls != 0 || longer < 99_990 || longer > 100_010 {
				t.Error(l)
			}
		default:
			if calls != 0 || longer < -10 || longer > 10 {
				t.Error(l)
			}
		}
	}
	if strings.Count(body, "\n") < 6 {
		t.Error(body)
	}
	_, _, body = get(t, s.URL()+"parting", nil)
	var parting struct {
		Recordings  []string
		Divergences []struct {
			What  string
			Times []int64
		}
	}
	if err := json.Unmarshal([]byte(body), &parting); err != nil || len(parting.Divergences) != 1 || parting.Divergences[0].What != "main.evaluate.func1 is not called" || parting.Divergences[0].Times[0] == 0 {
		t.Errorf("%v: %s", err, body)
	}
	for query, want := range map[string]int{"status": 200, "status?r=1": 200, "status?r=2": 400, "status?r=-1": 400, "status?r=x": 400, "tree?r=1": 200} {
		if status, _, body := get(t, s.URL()+query, nil); status != want {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	for r, want := range []string{`"name":"parser"`, `"name":"changed"`} {
		if _, _, body := get(t, s.URL()+"status?r="+string(rune('0'+r)), nil); !strings.Contains(body, want) || !strings.Contains(body, `"all":["parser","changed"]`) {
			t.Error(body)
		}
	}
	if _, _, body := get(t, s.URL()+"sql?q=SELECT+COUNT(*)+FROM+parser.threads+JOIN+changed.threads+USING+(THREAD_ID)", nil); !strings.Contains(body, `[["1"]]`) {
		t.Error(body)
	}
	one := serving(t, recorded(t, "parser"))
	if status, _, body := get(t, one.URL()+"both", nil); status != 400 || !strings.Contains(body, "ftrace web A B") {
		t.Errorf("%d %s", status, body)
	}
}

// TestComparing compares two recordings as people do.
func TestComparing(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"), changed(t))
	do(t, ctx, chromedp.Navigate(s.URL()))
	state := func(part string) string { return `document.getElementById("compare").dataset.` + part + ` === "done"` }
	becomes(t, ctx, `document.body.dataset.ready === "yes" && !document.getElementById("compare").hidden && `+state("functions"))
	cells := `[...document.querySelectorAll("#compare-functions tbody tr")].map(r => [...r.cells].map(c => c.textContent))`
	rows := value[[][]string](t, ctx, cells)
	if i := slices.IndexFunc(rows, func(r []string) bool { return r[0] == "main.evaluate.func1" }); i < 0 || len(rows[i]) != 10 || rows[i][7] != "3" || rows[i][8] != "2" || !strings.HasPrefix(rows[i][9], "−1 ") {
		t.Errorf("%q", rows)
	}
	if wide := value[[]int](t, ctx, `(e => [e.scrollWidth, e.clientWidth])(document.querySelector("#compare-functions .grid"))`); wide[0] > wide[1] {
		t.Errorf("the table is %d pixels wide, of which %d are seen", wide[0], wide[1])
	}
	for _, r := range rows {
		if r[0] == "main.evaluate" && (!strings.HasSuffix(r[3], " %)") || !strings.HasSuffix(r[6], " (×7)")) {
			t.Errorf("%q", r)
		}
	}
	shots(t, ctx, "compare-functions")
	do(t, ctx, click("#compare-differ"))
	if names := value[[]string](t, ctx, cells+`.map(r => r[0])`); !slices.Equal(names, []string{"main.evaluate.func1"}) {
		t.Errorf("what differs is %q", names)
	}

	// The flame graph has the paths of both, and the colour of what took longer.
	do(t, ctx, click("#compare-to-paths"))
	becomes(t, ctx, state("paths")+` && ftrace.compare.flame.boxes`)
	hue := func(name string) string {
		return value[string](t, ctx, `(() => { const f = ftrace.compare.flame, b = f.boxes.find(b => f.name(b.n) === "`+name+`"); return f.fill(b.n); })()`)
	}
	if fill := hue("main.evaluate"); !strings.HasPrefix(fill, "hsl(8 ") || strings.HasPrefix(fill, "hsl(8 0%") {
		t.Errorf("what took longer is %s", fill)
	}
	if fill := hue("main.sum"); !strings.Contains(fill, " 0% ") {
		t.Errorf("what took as long is %s", fill)
	}
	shots(t, ctx, "compare-paths")
	at := value[[]float64](t, ctx, `(() => { const f = ftrace.compare.flame, b = f.boxes.find(b => f.name(b.n) === "main.evaluate"), r = f.canvas.getBoundingClientRect(); return [r.left + b.x + b.w / 2, r.top + b.y + 8]; })()`)
	do(t, ctx, chromedp.MouseEvent(input.MouseMoved, at[0], at[1]))
	becomes(t, ctx, `/^main.evaluate\nparser: 3 calls, total .*\nchanged: 3 calls, total .*\n(99\.9|100)\S*µs more in changed$/.test(document.getElementById("tip").textContent)`)
	do(t, ctx, chromedp.MouseClickXY(at[0], at[1]))
	becomes(t, ctx, `location.hash.includes("paths=")`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, state("paths")+` && ftrace.compare.flame.boxes && ftrace.compare.flame.name(ftrace.compare.flame.root) === "main.evaluate"`)

	// Where they part is what ftrace diff says, and leads to the timeline of either.
	do(t, ctx, click("#compare-to-parting"))
	becomes(t, ctx, state("parting")+` && location.hash.includes("part=parting")`)
	if said := value[string](t, ctx, `document.getElementById("compare-parting").innerText`); !strings.HasPrefix(said, "main.evaluate.func1 is not called\n") || !strings.Contains(said, "timeline of parser") || !strings.Contains(said, "1 differ") {
		t.Errorf("%s", said)
	}
	shots(t, ctx, "compare-parting")
	do(t, ctx, click("#compare-parting a:nth-of-type(2)"))
	becomes(t, ctx, ready+` && !document.getElementById("timeline").hidden && document.title.startsWith("changed") && ftrace.mark > 0`)
	if from, to := value[float64](t, ctx, `ftrace.timeline.from`), value[float64](t, ctx, `ftrace.mark`); to-from != 50_000 {
		t.Errorf("%v is shown from %v on", to, from)
	}
	shots(t, ctx, "compare-timeline")

	// SQL says which tables are of one recording.
	do(t, ctx, click("#tab-sql"))
	becomes(t, ctx, `/all recordings, and those of (parser and changed|changed and parser) have/.test(document.getElementById("sql-schemas").textContent)`)

	// Another recording is chosen in the head, and has the same view.
	do(t, ctx, click("#tab-table"))
	first := `document.querySelector("#table tbody td:nth-child(2)")`
	becomes(t, ctx, first+` && location.hash.includes("view=table") && location.hash.includes("r=1")`)
	do(t, ctx, chromedp.Evaluate(`{ const e = document.getElementById("recording"); e.value = "0"; e.dispatchEvent(new Event("change")); }`, nil))
	becomes(t, ctx, `document.body.dataset.ready === "yes" && document.title.startsWith("parser") && `+first+` && !document.getElementById("table").hidden && !location.hash.includes("r=1")`)
}
