package web

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// TestSpans: all spans are there once, those of a row do not overlap, and neighbours are merged
// within a pixel and no further.
func TestSpans(t *testing.T) {
	kind := func(class, name string) *recording.Function {
		return &recording.Function{Span: true, Package: class, Name: name}
	}
	kinds := []*recording.Function{kind("stage", "http/server/GET /a/{b}"), kind("stage", "http/server/other"), kind("statement", "sql/select")}
	s := newSpans()
	random := rand.New(rand.NewPCG(5, 6))
	type open struct {
		at    spanAt
		begin int64
	}
	var under []open
	made, wrong := map[string]int{}, map[string]int{}
	for now := int64(0); now < 100_000; now += 1 + random.Int64N(20) {
		if len(under) < 12 && random.IntN(2) == 0 {
			at := spanAt{uint64(now) << 30, random.IntN(5)}
			f := kinds[random.IntN(len(kinds))]
			s.begin(f, at)
			under = append(under, open{at, now})
			made[familyOf(f)]++
			continue
		}
		if len(under) == 0 {
			continue
		}
		i := random.IntN(len(under))
		c := slice{begin: under[i].begin, end: now, calls: 1}
		if random.IntN(10) == 0 {
			c.what |= failed
			wrong[s.open[under[i].at].of.name]++
		}
		s.end(under[i].at, c)
		s.end(under[i].at, c) // a call that is no span
		under = append(under[:i], under[i+1:]...)
	}
	for _, o := range under {
		s.end(o.at, slice{begin: o.begin, end: 100_000, calls: 1, what: unfinished})
	}
	if len(s.families) != 2 || s.families[0].name == s.families[1].name || made["stage/http/server"] == 0 || made["statement/sql"] == 0 {
		t.Fatal(s.answer(), made)
	}
	for _, f := range s.families {
		if f.calls != uint64(made[f.name]) || f.failed != uint64(wrong[f.name]) || len(f.rows) < 2 || len(f.rows) > 12 {
			t.Errorf("%s: %d in %d rows, %d failed, not %d and %d", f.name, f.calls, len(f.rows), f.failed, made[f.name], wrong[f.name])
		}
		n := 0
		for _, row := range f.rows {
			for i, c := range row {
				if i > 0 && c.begin < row[i-1].end {
					t.Fatalf("%s: %v begins before the end of %v", f.name, c, row[i-1])
				}
				if c.goroutine>>30 != uint64(c.begin) {
					t.Fatalf("%s: %v is of goroutine %d", f.name, c, c.goroutine)
				}
			}
			n += len(row)
		}
		if n != made[f.name] {
			t.Errorf("%s: %d, not %d", f.name, n, made[f.name])
		}
	}
	for _, pixel := range []int64{0, 100, 10_000} {
		sum, list := uint32(0), s.in(0, 100_000, pixel)
		for _, c := range list {
			if sum += c.calls; c.calls > 1 && c.end-c.begin > pixel {
				t.Fatalf("%v are merged within %d", c, pixel)
			}
		}
		if int(sum) != s.n || pixel == 0 && len(list) != s.n || pixel > 0 && len(list) == s.n {
			t.Errorf("pixel %d: %d of %d in %d", pixel, sum, s.n, len(list))
		}
	}
	for _, c := range s.in(40_000, 50_000, 0) {
		if c.end < 40_000 || c.begin > 50_000 {
			t.Errorf("%v is not in the stretch of time", c)
		}
	}
}

// TestSpansMany: what has no row is counted.
func TestSpansMany(t *testing.T) {
	s := newSpans()
	f := &recording.Function{Span: true, Package: "statement", Name: "redis/get"}
	for g := range uint64(spanRows + 3) {
		s.begin(f, spanAt{g, 0})
	}
	for g := range uint64(spanRows + 3) {
		s.end(spanAt{g, 0}, slice{end: 1, calls: 1})
	}
	if a := s.answer()[0]; s.beyond != 3 || s.n != spanRows || a.Rows != spanRows || a.Calls != spanRows+3 {
		t.Error(s.beyond, a)
	}
}

// TestSpansPage: requests and statements are above the lanes, and lead to their calls.
func TestSpansPage(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "books"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	drawn := ready + ` && ftrace.spans.data && !ftrace.spans.turn.asking && !document.getElementById("spans").hidden`
	becomes(t, ctx, drawn)
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	if err := lines(r, place{}, nil, nil, nil, func(l line) bool {
		for _, kind := range []string{"stage/", "statement/"} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(l.Text), "+ "+kind); ok {
				names = append(names, kind+name[:strings.IndexByte(name, '(')])
			}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	shown := value[[]string](t, ctx, `[...Array(ftrace.spans.data.n).keys()].sort((a, b) => ftrace.spans.data.begin[a] - ftrace.spans.data.begin[b]).map(i => ftrace.function(ftrace.spans.data.what[i] & 0xffffff).name)`)
	if strings.Join(shown, "\n") != strings.Join(names, "\n") || len(names) != 6 {
		t.Errorf("%q are shown, not %q", shown, names)
	}
	if titles := value[[]string](t, ctx, `ftrace.spans.families.map(f => f.title + " " + f.calls)`); strings.Join(titles, ", ") != "HTTP requests served 2, HTTP requests made 2, SQL statements 2" {
		t.Errorf("%q", titles)
	}
	shots(t, ctx, "spans")

	// A click on the second statement shows what it was, and its calls.
	at := value[[]float64](t, ctx, `(() => { const s = ftrace.spans, f = s.families.find(f => f.name === "statement/sql"), d = s.data, r = s.canvas.getBoundingClientRect();
		const i = [...Array(d.n).keys()].filter(i => d.lane[i] === f.lane).at(-1); s.box.scrollTop = 1000;
		const now = s.canvas.getBoundingClientRect(); return [now.left + ftrace.timeline.x((d.begin[i] + d.end[i]) / 2), now.top + f.y + 17 + 7]; })()`)
	do(t, ctx, chromedp.MouseClickXY(at[0], at[1]))
	becomes(t, ctx, `document.getElementById("details").innerText.includes("results")`)
	details := value[string](t, ctx, `document.getElementById("details").innerText`)
	for _, want := range []string{"sql/select", "SELECT title FROM books WHERE id = ?", "there is no such book", "failed"} {
		if !strings.Contains(details, want) {
			t.Errorf("the details have no %s:\n%s", want, details)
		}
	}
	shots(t, ctx, "spans-details")
	do(t, ctx, chromedp.KeyEvent("f"))
	becomes(t, ctx, `ftrace.timeline.end - ftrace.timeline.from < 3e6 && !ftrace.timeline.turn.asking && ftrace.timeline.visible().some(l => l.g === ftrace.timeline.picked.g)`)
	do(t, ctx, chromedp.KeyEvent("t"))
	becomes(t, ctx, `document.querySelector("#lines .l")?.innerText.includes("statement/sql/select")`)

	// They can be hidden, which the URL keeps, and are in a file too.
	do(t, ctx, chromedp.KeyEvent("1"), click("#spans-shown"))
	becomes(t, ctx, `document.getElementById("spans").hidden && location.hash.includes("spans=0")`)
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, ready+` && document.getElementById("spans").hidden`)
	do(t, ctx, click("#spans-shown"))
	var svg string
	do(t, ctx, chromedp.Evaluate(`ftrace.timeline.picture().text`, &svg))
	if !strings.Contains(svg, "HTTP requests served   2") {
		t.Errorf("the picture has no requests: %.300s", svg)
	}
	var page bytes.Buffer
	if _, err := Save(&page, s.shown[0].dir, Options{}, 5_500_000, 7_000_000); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, opened(t, name, "")...)
	becomes(t, ctx, drawn)
	if titles := value[[]string](t, ctx, `ftrace.spans.families.map(f => f.title + " " + f.calls)`); strings.Join(titles, ", ") != "HTTP requests served 2, HTTP requests made 2, SQL statements 2" {
		t.Errorf("the file has %q", titles)
	}
}
