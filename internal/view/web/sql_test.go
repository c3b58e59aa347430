package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// TestSQL: the console answers as the Performance Schema does, in part if there is much, and
// changes nothing.
func TestSQL(t *testing.T) {
	s := serving(t, recorded(t, "parser"))
	for _, c := range []struct {
		query  string
		status int
		want   string // in the answer
	}{
		{"SELECT 1 AS one, 'a' AS a, NULL AS n", 200, `{"columns":[{"name":"one","number":true},{"name":"a","number":false},{"name":"n","number":false}],"rows":[["1","a",null]],"more":false,"cut":0,"before":0,`},
		{"SELECT 9223372036854775807 AS n", 200, `"9223372036854775807"`},
		{"SELECT COUNT(*) FROM parser.threads", 200, `"rows":[["`},
		{"USE parser; SELECT DATABASE();", 200, `[["parser"]],"more":false,"cut":0,"before":0`},
		{"SELECT 1; SELECT 2", 200, `[["2"]],"more":false,"cut":0,"before":1`},
		{"SET @a = 5; SELECT @a", 200, `[["5"]]`},
		{"SELECT @a", 200, `[[null]]`}, // each answer has a session of its own
		{"SET @a = 1", 200, `"rows":null`},
		{"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 999) SELECT n FROM c", 200, `["999"]],"more":false`},
		{"SET cte_max_recursion_depth = 2000; WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1001) SELECT n FROM c", 200, `["1000"]],"more":true`},
		{"SELECT REPEAT('é', 4000)", 200, `é…"]],"more":false,"cut":1`},
		{"", 400, "there is no statement"},
		{";", 200, `"error":"ERROR 1065 (42000): Query was empty`},
		{"SELEC 1", 200, `"error":"ERROR 1064 (42000): You have an error in your SQL syntax`},
		{"SELECT x FROM threads", 200, `"error":"ERROR 1054 (42S22): Unknown column 'x'`},
		{"SELECT 'a", 200, `"error":"ERROR 1064`},
		{"UPDATE setup_instruments SET ENABLED = 'NO'", 200, `"error":"ERROR 1290 (HY000): This can only be read from, so it cannot execute 'UPDATE'`},
		{"CREATE TABLE test.t (a INT)", 200, `"error":"ERROR 1290`},
		{"SET GLOBAL max_statement_time = 1", 200, `"error":"ERROR 1290`},
		{"SET max_statement_time = 0.01; SELECT SLEEP(100)", 200, `"error":"ERROR 3024 (HY000): Query execution was interrupted, maximum statement execution time exceeded`},
	} {
		status, _, body := get(t, s.URL()+"sql?q="+url.QueryEscape(c.query), nil)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, not %s", c.query, status, body, c.want)
		}
	}
	var names struct {
		Tables   []schema.NamedTable
		Keywords []string
	}
	_, _, body := get(t, s.URL()+"tables", nil)
	if err := json.Unmarshal([]byte(body), &names); err != nil || !slices.Contains(names.Keywords, "SELECT") {
		t.Fatal(err, body)
	}
	for _, want := range []string{"performance_schema.threads", "sys.top_functions", "parser.threads"} {
		if !slices.ContainsFunc(names.Tables, func(n schema.NamedTable) bool { return n.Schema+"."+n.Name == want && len(n.Columns) > 3 }) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestConsole uses the console as people do.
func TestConsole(t *testing.T) {
	ctx := browser(t)
	s := serving(t, recorded(t, "parser"))
	do(t, ctx, chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready)
	do(t, ctx, chromedp.KeyEvent("5"))
	becomes(t, ctx, `document.getElementById("sql-tables").length > 50`)
	shots(t, ctx, "sql-empty")

	// What is typed is completed.
	offered := `[...document.querySelectorAll("#sql-words li")].map(e => e.firstChild.textContent)`
	text := `document.getElementById("sql-text").value`
	do(t, ctx, chromedp.SendKeys("#sql-text", "sel", chromedp.ByQuery))
	becomes(t, ctx, offered+`[0] === "SELECT"`)
	do(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.SendKeys("#sql-text", " COUNT_STAR FROM ", chromedp.ByQuery))
	becomes(t, ctx, offered+`.includes("threads")`)
	do(t, ctx, chromedp.SendKeys("#sql-text", "events_calls_summary_g", chromedp.ByQuery))
	becomes(t, ctx, offered+`.length === 1`)
	shots(t, ctx, "sql-complete")
	do(t, ctx, chromedp.KeyEvent(kb.Tab))
	if have := value[string](t, ctx, text); have != "SELECT COUNT_STAR FROM events_calls_summary_global_by_event_name" {
		t.Errorf("the statement is %q", have)
	}
	do(t, ctx, chromedp.SendKeys("#sql-text", " g WHERE g.sum_e", chromedp.ByQuery))
	becomes(t, ctx, offered+`.join() === "SUM_ERRORS"`)
	do(t, ctx, chromedp.KeyEvent(kb.Escape))
	if n := value[int](t, ctx, offered+`.length`); n != 0 {
		t.Errorf("%d completions are left", n)
	}

	// Ctrl Enter runs it. An error is the engine's.
	control := chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl))
	do(t, ctx, control)
	becomes(t, ctx, `document.getElementById("sql").dataset.state === "failed" && document.getElementById("sql-note").textContent.startsWith("ERROR 1054 (42S22)")`)
	shots(t, ctx, "sql-error")

	// An example runs when it is chosen. Its rows are what the recording has, and its columns sort.
	do(t, ctx, chromedp.Evaluate(`{ const e = document.getElementById("sql-examples"); e.selectedIndex = 1; e.dispatchEvent(new Event("change")); }`, nil))
	done := `document.getElementById("sql").dataset.state === "done"`
	becomes(t, ctx, done+` && `+text+`.includes("SUM_TIMER_WAIT")`)
	cells := `[...document.querySelectorAll("#sql tbody tr")].map(r => [...r.cells].map(c => c.textContent))`
	rows := value[[][]string](t, ctx, cells)
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	events := r.Events(recording.Window{})
	defer events.Close()
	for e := (recording.Event{}); events.Next(&e); {
		if e.Enters() {
			calls[strings.NewReplacer("(*", "", ")", "").Replace(r.Function(e.Function).FullName())]++
		}
	}
	for _, row := range rows {
		name := strings.ReplaceAll(strings.TrimPrefix(row[0], "call/"), "/", ".")
		if row[1] != fmt.Sprint(calls[name]) {
			t.Errorf("%s: %s calls, not %d", name, row[1], calls[name])
		}
	}
	if len(rows) < 3 || len(rows) != len(calls) {
		t.Errorf("%d rows of %v", len(rows), calls)
	}
	column := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll("#sql thead button")[%d].click()`, n)
	}
	sorted := func(n int) []string {
		do(t, ctx, chromedp.Evaluate(column(n), nil))
		var list []string
		for _, row := range value[[][]string](t, ctx, cells) {
			list = append(list, row[n])
		}
		return list
	}
	if names := sorted(0); !slices.IsSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
	down, up := sorted(1), sorted(1)
	slices.Reverse(up)
	if !slices.Equal(down, up) || len(down[0]) < len(down[len(down)-1]) || down[0] == down[len(down)-1] {
		t.Errorf("sorted: %q, and the other way, reversed: %q", down, up)
	}

	// A column is charted, and the URL reopens statement and chart.
	do(t, ctx, chromedp.Evaluate(`{ const e = document.getElementById("sql-chart"); e.value = "bars"; e.dispatchEvent(new Event("change")); }`, nil))
	becomes(t, ctx, fmt.Sprintf(`document.getElementById("sql-canvas").dataset.points === "%d" && location.hash.includes("chart=bars")`, len(rows)))
	shots(t, ctx, "sql-bars")
	do(t, ctx, chromedp.Reload())
	becomes(t, ctx, fmt.Sprintf(`%s && document.getElementById("sql-canvas").dataset.points === "%d" && %s.length === %d`, done, len(rows), cells, len(rows)))
	saved := filepath.Join(t.TempDir(), "saved")
	do(t, ctx, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(saved), click("#sql-save"))
	if svg := drawn(t, filepath.Join(saved, "parser-chart.svg")); len(svg["rect"]) != 1+len(rows) || !slices.Contains(svg["text"], rows[0][0]) {
		t.Errorf("the chart has not %d bars: %v", len(rows), svg)
	}
	do(t, ctx, anew(s.URL()+"#view=sql&chart=line&of=n&over=row&sql="+url.QueryEscape("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300) SELECT n, 300 - n AS m FROM c"))...)
	becomes(t, ctx, done+` && document.getElementById("sql-canvas").dataset.points === "300"`)
	shots(t, ctx, "sql-line")

	// A call's beginning leads to the timeline.
	do(t, ctx, anew(s.URL()+"#view=sql&sql="+url.QueryEscape("SELECT EVENT_NAME, THREAD_ID, TIMER_START FROM events_calls_history_long WHERE EVENT_NAME = 'call/main/evaluate' ORDER BY TIMER_START LIMIT 1"))...)
	becomes(t, ctx, done)
	do(t, ctx, click("#sql tbody button"))
	becomes(t, ctx, ready+` && !document.getElementById("timeline").hidden`)
	near := value[float64](t, ctx, `(() => { const d = ftrace.timeline.data; let near = Infinity;
		for (let i = 0; i < d.n; i++) if (ftrace.function(d.what[i] & 0xffffff).name === "main.evaluate") near = Math.min(near, Math.abs(d.begin[i] - ftrace.mark)); return near; })()`)
	if near > 1 {
		t.Errorf("the nearest call is %v ns away", near)
	}

	// Strings are text, and too much is said to be.
	do(t, ctx, anew(s.URL()+"#view=sql&chart=bars&of=<b>&over=<b>&sql="+url.QueryEscape("SELECT '<img src=x onerror=window.pwned=1>' AS `<b>x</b>`, 1 AS n"))...)
	becomes(t, ctx, done+` && document.getElementById("sql-rows").innerText.includes("<b>x</b>") && document.getElementById("sql-rows").innerText.includes("<img src=x")`)
	if value[bool](t, ctx, `"pwned" in window || !!document.querySelector("#sql-rows b, #sql-rows img")`) {
		t.Error("it became markup")
	}
	do(t, ctx, anew(s.URL()+"#view=sql&sql="+url.QueryEscape("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 999) SELECT a.n FROM c a, c b"))...)
	becomes(t, ctx, done+` && document.querySelectorAll("#sql tbody tr").length === 1000 && document.getElementById("sql-note").textContent.startsWith("The first 1,000 rows: there are more")`)
	do(t, ctx, anew(s.URL()+"#view=sql&sql="+url.QueryEscape("DROP TABLE test.t"))...)
	becomes(t, ctx, `document.getElementById("sql-note").textContent.includes("it cannot execute 'DROP'")`)
}
