package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// TestBundle: modules become functions, in the order in which they need each other, and what is not
// understood is refused.
func TestBundle(t *testing.T) {
	files := func(pairs ...string) fs.FS {
		m := fstest.MapFS{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]+".js"] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
		return m
	}
	have, err := bundle(files(
		"app", "import { f, C } from \"./b.js\";\nimport { x } from \"./a.js\";\nf(x);\n",
		"b", "import { x } from \"./a.js\";\nexport async function f() {}\nexport class C {}\n",
		"a", "export const x = 1;\n"), "app")
	want := `const module_a = (() => {
const x = 1;

return { x };
})();
const module_b = (() => {
const { x } = module_a;
async function f() {}
class C {}

return { f, C };
})();
const module_app = (() => {
const { f, C } = module_b;
const { x } = module_a;
f(x);

return {  };
})();
`
	if err != nil || have != want {
		t.Errorf("%v:\n%s", err, have)
	}
	for _, text := range []string{"export default 1;\n", "import \"./a.js\";\n", "import * as a from \"./a.js\";\n", "export { x };\n", "await import(\"./a.js\");\n", "const s = \"</SCRIPT>\";\n", "// <!--\n"} {
		if script, err := bundle(files("app", text, "a", ""), "app"); err == nil {
			t.Errorf("%q becomes %s", text, script)
		}
	}
	if _, err := bundle(assets, "app"); err != nil {
		t.Error(err)
	}
}

// opened opens a file that was saved, which asks for nothing else.
func opened(t *testing.T, name, hash string) (actions []chromedp.Action) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^ ']+'; style-src 'sha256-[^ ']+'; img-src data:; base-uri 'none'; form-action 'none'">`).Match(b) {
		t.Errorf("%s has no policy: %.600s", name, b)
	}
	return anew("file://" + name + "#" + hash)
}

// TestSave: a file shows what the page shows, without a server.
func TestSave(t *testing.T) {
	ctx := browser(t)
	asked := []string{}
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(e.Request.URL, "data:") {
			asked = append(asked, e.Request.URL)
		}
	})
	s := serving(t, recorded(t, "parser"))
	do(t, ctx, network.Enable(), chromedp.Navigate(s.URL()))
	becomes(t, ctx, ready)
	const drawn = `[...Array(ftrace.timeline.data.n).keys()].filter(i => { const t = ftrace.timeline; return t.data.end[i] >= t.from && t.data.begin[i] <= t.end; }).map(i => { const d = ftrace.timeline.data; return [d.lanes[d.lane[i]].g, d.row[i], d.begin[i], d.end[i], d.what[i], d.calls[i]].join(" "); }).sort().join("\n")`
	type view struct{ hash, until, shown string }
	views := []view{
		{"view=timeline", ready, drawn},
		{"view=timeline&from=450000&to=560000", ready, drawn},
		{"view=tree&line=0", `document.querySelectorAll("#lines .l").length`, `document.getElementById("lines").innerText`},
		{"view=table", `document.querySelectorAll("#table tbody tr").length`, `document.getElementById("table").innerText`},
		{"view=table&by=goroutine&waits=1&sort=self", `document.querySelectorAll("#table tbody tr").length`, `document.getElementById("table").innerText`},
		{"view=flame", `document.getElementById("flame").dataset.state === "done" && ftrace.flame.boxes`, `ftrace.flame.canvas.ariaLabel + JSON.stringify(ftrace.flame.boxes)`},
		{"view=tree&line=0&q=division by zero", `document.getElementById("results").dataset.state === "done"`, `document.getElementById("results").innerText`},
		{"view=tree&line=0&q=/sum.*=/", `document.getElementById("results").dataset.state === "done"`, `document.getElementById("results").innerText`},
	}
	const loaded = `document.body.dataset.ready === "yes" && `
	want := map[view]string{}
	for _, v := range views {
		do(t, ctx, anew(s.URL()+"#"+v.hash)...)
		becomes(t, ctx, loaded+v.until)
		if want[v] = value[string](t, ctx, v.shown); len(want[v]) < 10 {
			t.Errorf("%s shows %q", v.hash, want[v])
		}
	}

	// The button saves it, as it is shown.
	dir := filepath.Join(t.TempDir(), "saved")
	do(t, ctx, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	do(t, ctx, anew(s.URL()+"#view=flame")...)
	becomes(t, ctx, loaded+`location.hash.includes("view=flame") && !document.getElementById("save-file").hidden`)
	do(t, ctx, click("#save-file"))
	name := filepath.Join(dir, "parser.html")
	downloaded(t, name)
	asked = nil
	do(t, ctx, opened(t, name, "")...)
	becomes(t, ctx, loaded+`!document.getElementById("flame").hidden`)
	for _, v := range views {
		do(t, ctx, opened(t, name, v.hash)...)
		becomes(t, ctx, loaded+v.until)
		if have := value[string](t, ctx, v.shown); have != want[v] {
			t.Errorf("%s shows\n%s\nnot\n%s", v.hash, have, want[v])
		}
	}
	do(t, ctx, opened(t, name, "view=timeline")...)
	becomes(t, ctx, ready)
	shots(t, ctx, "saved")
	do(t, ctx, chromedp.Evaluate(`{ const t = ftrace.timeline, d = t.data; for (let i = 0; i < d.n; i++) if (ftrace.function(d.what[i] & 0xffffff).name === "main.evaluate")
		t.pick({ r: 0, g: d.lanes[d.lane[i]].g, row: d.row[i], begin: d.begin[i], end: d.end[i], what: d.what[i], calls: 1, key: d.what[i] & 0xffffff }); }`, nil))
	becomes(t, ctx, `/parameters\s*text="-\(1\+\)"/.test(document.getElementById("details").innerText) && /results/.test(document.getElementById("details").innerText)`)
	for _, url := range asked {
		if url != "about:blank" && !strings.HasPrefix(url, "file://"+name) {
			t.Errorf("the file asks for %s", url)
		}
	}

	// A stretch of time is saved alone.
	do(t, ctx, anew(s.URL()+"#view=timeline&selection=450000-560000")...)
	becomes(t, ctx, ready)
	calls := value[int](t, ctx, `(() => { const d = ftrace.timeline.data; let n = 0; for (let i = 0; i < d.n; i++) n += d.row[i] >= 2 && d.begin[i] <= 560000 && d.end[i] >= 450000 ? d.calls[i] : 0; return n; })()`)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, click("#save-file"))
	downloaded(t, name)
	do(t, ctx, opened(t, name, "")...)
	becomes(t, ctx, ready)
	if said := value[string](t, ctx, `document.getElementById("status").textContent`); !strings.HasPrefix(said, fmt.Sprintf("%d calls of 1 goroutine in 110µs.", calls)) || !strings.Contains(said, "It has the recording from 450.000us to 560.000us.") || calls == 0 || calls == 30 {
		t.Errorf("%d calls: %q", calls, said)
	}
	if from, to := value[float64](t, ctx, `ftrace.timeline.from`), value[float64](t, ctx, `ftrace.timeline.end`); from != 450000 || to != 560000 {
		t.Errorf("it shows %v to %v", from, to)
	}
	if trace := value[[]float64](t, ctx, `(async () => { ftrace.tree.show("0"); await new Promise(r => setTimeout(r, 300)); return [...document.querySelectorAll("#lines .at")].map(e => parseFloat(e.textContent.replace(",", ""))); })()`); len(trace) == 0 {
		t.Error("it has no trace")
	}
}

// downloaded waits for a file.
func downloaded(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	t.Fatalf("%s does not come", name)
}

// TestSaveMuch: of what is too much the file has a part, and says so.
func TestSaveMuch(t *testing.T) {
	var b bytes.Buffer
	dir := viewtest.MadeUp(t).Dir
	if _, err := Save(&b, dir, Options{}, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Logf("the file has %d bytes", b.Len())
	if b.Len() > 20<<20 {
		t.Errorf("the file has %d bytes", b.Len())
	}
	if _, err := Save(&b, dir, Options{}, 1<<60, 0); err == nil || !strings.Contains(err.Error(), "the recording has nothing from ") {
		t.Error(err)
	}
	s, err := newShown(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.index.build(nil, func() bool { return true }, nil, nil)
	a, err := s.saved(s.first, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Lines) != savedLines || len(a.Calls) != savedCalls || !strings.Contains(a.Status.Notes, "the first 20000 lines of the trace, the values of the first 20000 calls") {
		t.Errorf("%d lines, values of %d calls: %s", len(a.Lines), len(a.Calls), a.Status.Notes)
	}
	if b, err := json.Marshal(a.Status); err != nil || !bytes.Contains(b, []byte(`"from":0`)) {
		t.Error(string(b), err)
	}
}
