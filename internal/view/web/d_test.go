package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/probes"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// TestD: a program prints on the page what ftrace -n prints of it, and its maps are the same.
func TestD(t *testing.T) {
	dir := recorded(t, "parser")
	s := serving(t, dir)
	for _, q := range []string{
		`call:::entry { @[probefunc] = count(); }`,
		`call:::return { @[probefunc] = quantize(elapsed); @all = sum(elapsed); }`,
		`call:::return /err != nil/ { printf("%s: %s\n", probefunc, err); @e[err] = count(); } END { printa(@e); }`,
		`call:main:evaluate:entry { trace(text); } BEGIN { trace("begin"); } tick-10us { @t = count(); }`,
	} {
		program, err := dtrace.Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		var text, maps, warn bytes.Buffer
		if _, err := probes.Run(program, probes.Options{Source: q, JSON: true, Recording: dir}, probes.Output{Text: &text, JSON: &maps, Warn: &warn}); err != nil {
			t.Fatal(err)
		}
		_, _, body := get(t, s.URL()+"d?q="+url.QueryEscape(q), nil)
		var have struct {
			Text, Error, Errors, Stopped string
			Maps                         []json.RawMessage
			Events                       int
		}
		if err := json.Unmarshal([]byte(body), &have); err != nil {
			t.Fatal(err, body)
		}
		var lines bytes.Buffer
		for _, m := range have.Maps {
			fmt.Fprintf(&lines, "%s\n", m)
		}
		if have.Text != text.String() || strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(lines.String()) != maps.String() || have.Error+have.Stopped != "" || have.Events < 60 || text.Len()+maps.Len() == 0 {
			t.Errorf("%s:\n%s\nnot\n%s%s", q, body, text.String(), maps.String())
		}
	}

	// Of a stretch of time it has the events of that alone.
	const count = `call:::entry { @ = count(); }`
	whole := runD(t.Context(), s.shown[0].first, recording.Window{}, count)
	part := runD(t.Context(), s.shown[0].first, s.shown[0].window(300_000, 400_000), count)
	if part.Events == 0 || part.Events >= whole.Events || whole.Maps[0].Entries[0].Value == part.Maps[0].Entries[0].Value {
		t.Error(whole, part)
	}
}

// TestDRefused: what is no program, or acts on others, says so.
func TestDRefused(t *testing.T) {
	s := serving(t, recorded(t, "parser"))
	for q, want := range map[string]string{
		`call:::entry { system("rm"); }`:     "does nothing to them",
		`call:::entry { stop(); }`:           "does nothing to them",
		`call:::entry { @[ = count(); }`:     "line 1, column 19",
		`call:nosuch:none:entry { @=count()`: "",
		`call::nosuch:entry { trace(1); }`:   "matches no probe",
	} {
		_, _, body := get(t, s.URL()+"d?q="+url.QueryEscape(q), nil)
		var have dAnswer
		if err := json.Unmarshal([]byte(body), &have); err != nil || have.Error == "" || !strings.Contains(have.Error, want) || have.Events > 0 {
			t.Errorf("%s: %q, not %q: %v", q, have.Error, want, err)
		}
	}
	if status, _, _ := get(t, s.URL()+"d?q=%20", nil); status != http.StatusBadRequest {
		t.Error(status)
	}
}

// TestDLimits: a program that prints or keeps too much is stopped, and so is one that nobody waits
// for.
func TestDLimits(t *testing.T) {
	r := viewtest.MadeUp(t)
	left, leave := context.WithCancel(t.Context())
	leave()
	long := strings.Repeat("x", 1000)
	for q, c := range map[string]struct {
		ctx  context.Context
		want string
	}{
		`call:::entry { printf("` + long + `\n"); }`:                               {t.Context(), "it printed more than 1 MB"},
		`call:::entry { @[timestamp, callid, goid] = count(); }`:                   {t.Context(), "its maps have more than 20000 entries"},
		`call:::entry { @[probefunc] = count(); }`:                                 {left, "nobody waits for it"},
		`call:::entry { @[probefunc] = count(); } call:::return { @b = count(); }`: {t.Context(), ""},
	} {
		a := runD(c.ctx, r, recording.Window{}, q)
		if a.Stopped != c.want || a.Error != "" || len(a.Text) > dText || a.Events == 0 {
			t.Errorf("%.60s: %q, not %q: %s", q, a.Stopped, c.want, a.Error)
		}
		for _, m := range a.Maps {
			if len(m.Entries) > dEntries || len(m.Entries) == 0 {
				t.Errorf("%.60s: %d entries", q, len(m.Entries))
			}
		}
		if strings.HasPrefix(c.want, "its maps") && a.Left == 0 {
			t.Error("nothing is left out")
		}
	}
}

// TestDPage uses the console as people do.
func TestDPage(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready)
	do(t, ctx, chromedp.KeyEvent("6"))
	becomes(t, ctx, `!document.getElementById("d").hidden && ftrace.d.known`)

	// Probes are completed, and within a clause what D has.
	offered := `[...document.querySelectorAll("#d-words li")].map(e => e.firstChild.textContent)`
	do(t, ctx, chromedp.SendKeys("#d-text", "call:main:eval", chromedp.ByQuery))
	becomes(t, ctx, offered+`.slice(0, 2).join() === "call:main:evaluate:entry,call:main:evaluate:return"`)
	shots(t, ctx, "d-complete")
	do(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.SendKeys("#d-text", " { @[text] = cou", chromedp.ByQuery))
	becomes(t, ctx, offered+`[0] === "count"`)
	do(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.SendKeys("#d-text", "(); printf(\"<b>%s</b>\\n\", text); }", chromedp.ByQuery))
	if have := value[string](t, ctx, `document.getElementById("d-text").value`); have != `call:main:evaluate:entry { @[text] = count(); printf("<b>%s</b>\n", text); }` {
		t.Fatalf("the program is %q", have)
	}

	// Ctrl Enter runs it. What it prints is text, and its map a table that can be charted.
	do(t, ctx, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	done := `document.getElementById("d").dataset.state === "done"`
	cells := `[...document.querySelectorAll("#d tbody tr")].map(r => [...r.cells].map(c => c.textContent))`
	becomes(t, ctx, done)
	if out := value[string](t, ctx, `document.getElementById("d-out").textContent`); !strings.Contains(out, "<b>1/0</b>\n") || value[bool](t, ctx, `!!document.querySelector("#d-out b")`) {
		t.Errorf("it printed %q", out)
	}
	if rows := value[[][]string](t, ctx, cells); len(rows) != 3 || rows[0][1] != "1" {
		t.Errorf("%q", rows)
	}
	do(t, ctx, chromedp.Evaluate(`{ const e = document.getElementById("d-chart"); e.value = "bars"; e.dispatchEvent(new Event("change")); }`, nil))
	becomes(t, ctx, `document.getElementById("d-canvas").dataset.points === "3" && location.hash.includes("dchart=bars")`)
	shots(t, ctx, "d")

	// The URL reopens it, with the chart.
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, done+` && document.getElementById("d-canvas").dataset.points === "3" && `+cells+`.length === 3`)

	// A distribution has a row a bucket. Of several maps one is chosen.
	do(t, ctx, anew(s.URL()+"#view=d&dchart=bars&d="+url.QueryEscape(`call:::return { @a[probefunc] = quantize(elapsed); @b[probefunc, err] = max(elapsed); }`))...)
	becomes(t, ctx, done+` && [...document.querySelectorAll("#d thead th")].map(e => e.innerText).join() === "key,from,count"`)
	total := value[float64](t, ctx, cells+`.reduce((sum, r) => sum + Number(r.at(-1).replaceAll(",", "")), 0)`)
	a := runD(t.Context(), s.shown[0].first, recording.Window{}, `call:::return { @ = count(); }`)
	if fmt.Sprint(total) != fmt.Sprint(a.Maps[0].Entries[0].Value) {
		t.Errorf("the buckets have %v, not %v", total, a.Maps[0].Entries[0].Value)
	}
	shots(t, ctx, "d-buckets")
	do(t, ctx, chromedp.Evaluate(`{ const e = document.getElementById("d-map"); e.value = "@b"; e.dispatchEvent(new Event("change")); }`, nil))
	becomes(t, ctx, `[...document.querySelectorAll("#d thead th")].map(e => e.innerText).join() === "key 1,key 2,@b" && location.hash.includes("map=%40b")`)

	// A mistake is said with its place. A selection restricts it.
	do(t, ctx, anew(s.URL()+"#view=d&d="+url.QueryEscape(`call:::entry { system("x"); }`))...)
	becomes(t, ctx, `document.getElementById("d").dataset.state === "failed" && document.getElementById("d-note").textContent.includes("does nothing to them")`)
	do(t, ctx, anew(s.URL()+"#view=d&selection=300000-400000&d="+url.QueryEscape(`call:::entry { @ = count(); }`))...)
	becomes(t, ctx, done+` && document.getElementById("d-range").textContent.includes("100µs")`)
	some := value[string](t, ctx, `document.querySelector("#d tbody td").textContent`)
	do(t, ctx, click("#d-all"))
	becomes(t, ctx, done+` && document.getElementById("d-range").textContent === "" && document.querySelector("#d tbody td").textContent !== "`+some+`"`)
}
