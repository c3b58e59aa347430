package web

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/pprof/profile"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// TestPprof: pprof's pages have a policy by which its own scripts run, and nothing else does. What
// reads files or writes them is not there.
func TestPprof(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	s := serving(t, recorded(t, "parser"), recorded(t, "workers"))
	nonce := regexp.MustCompile(`^default-src 'none'; script-src 'nonce-(\w{20,})'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$`)
	seen := map[string]bool{}
	for _, at := range []string{"flamegraph", "top", "peek?f=evaluate", "top?si=calls"} {
		status, head, body := get(t, s.URL()+"pprof/0/0-0/"+at, nil)
		m := nonce.FindStringSubmatch(head.Get("Content-Security-Policy"))
		if status != http.StatusOK || m == nil || seen[m[1]] || !strings.Contains(body, "main.evaluate") || strings.Contains(body, "<script>") {
			t.Fatalf("%s: %d %v\n%.300s", at, status, head, body)
		}
		seen[m[1]] = true
	}
	if _, _, body := get(t, s.URL()+"pprof/1/0-0/top", nil); strings.Contains(body, "main.evaluate") || !strings.Contains(body, "main.") {
		t.Errorf("of the second recording: %.300s", body)
	}
	for at, want := range map[string]int{
		"0/0-0/source?f=.": 404, "0/0-0/disasm?f=.": 404, "0/0-0/saveconfig?config=x": 404, "0/0-0/deleteconfig?config=x": 404, "0/0-0/../../status": 404,
		"2/0-0/top": 404, "-1/0-0/top": 404, "0/0-/top": 404, "0/-1-0/top": 404, "0/0-0x/top": 404, "0/0-0": 404, "0/900000000000-0/top": 500, "0/0-0/top?f=(": 400,
	} {
		if status, head, body := get(t, s.URL()+"pprof/"+at, nil); status != want || head.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: %d: %.200s", at, status, body)
		}
	}
	// The profile is that of ftrace export, and of a stretch of time has its calls alone.
	calls := func(stretch string) (n int64) {
		_, _, body := get(t, s.URL()+"pprof/0/"+stretch+"/download", nil)
		p, err := profile.ParseData([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range p.Sample {
			n += sample.Value[0]
		}
		return n
	}
	if all, some := calls("0-0"), calls("300000-400000"); all != 30 || some == 0 || some >= all {
		t.Errorf("%d calls, and %d in a part", all, some)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("pprof has left files: %v %v", left, err)
	}
}

// TestPprofPage: the scripts of pprof's pages run in a browser, and what the program made up, or
// what a picture has, does not.
func TestPprofPage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test puts a shell script in the place of the program dot")
	}
	ctx := browser(t)
	bin := t.TempDir()
	dot := "#!/bin/sh\ncat >/dev/null\necho '<svg width=\"9\" height=\"9\" viewBox=\"0 0 9 9\"><g id=\"graph0\"><text>drawn</text></g></svg>'\n"
	if err := os.WriteFile(filepath.Join(bin, "dot"), []byte(dot), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := serving(t, recorded(t, "parser"))
	do(t, ctx, chromedp.Navigate(s.URL()+"#view=flame&selection=300000-560000"))
	becomes(t, ctx, `document.getElementById("flame").dataset.state === "done"`)
	link := value[string](t, ctx, `document.getElementById("flame-pprof").href`)
	if link != s.URL()+"pprof/0/300000-560000/" {
		t.Errorf("the link is %s", link)
	}
	do(t, ctx, chromedp.Navigate(link))
	becomes(t, ctx, `location.pathname.endsWith("/flamegraph") && document.querySelectorAll("#stack-chart .boxtext").length > 5`)
	if text := value[string](t, ctx, `document.getElementById("stack-chart").textContent`); !strings.Contains(text, "evaluate") {
		t.Errorf("the flame graph has %q", text)
	}
	if hidden := value[bool](t, ctx, `["list", "disasm", "config"].every(id => getComputedStyle(document.getElementById(id)).display === "none")`); !hidden {
		t.Error("there are links to what is not there")
	}
	shots(t, ctx, "pprof")
	do(t, ctx, chromedp.Navigate(s.URL()+"pprof/0/0-0/top"))
	becomes(t, ctx, `document.querySelectorAll("#rows tr").length > 3`)
	shots(t, ctx, "pprof-top")
	do(t, ctx, chromedp.Navigate(s.URL()+"pprof/0/0-0/graph"))
	becomes(t, ctx, `document.querySelector("#graph svg").textContent.includes("drawn")`)

	// Names that look like markup are text.
	dir := filepath.Join(t.TempDir(), "hostile")
	viewtest.Copy(t, "parser", dir)
	name := filepath.Join(dir, "tables")
	tables, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	evil := strings.NewReplacer("evaluate", "<script>", "product", "<b>x<b>", "factor", "<br/>\n")
	if err := os.WriteFile(name, []byte(evil.Replace(string(tables))), 0o600); err != nil {
		t.Fatal(err)
	}
	s = serving(t, dir)
	for _, at := range []string{"top", "flamegraph", "peek?f=."} {
		do(t, ctx, chromedp.Navigate(s.URL()+"pprof/0/0-0/"+at))
		becomes(t, ctx, `document.readyState === "complete" && document.body.textContent.includes("<b>x<b>")`)
		if value[bool](t, ctx, `!!document.querySelector("table b, #stack-chart b, pre b, #content b")`) {
			t.Errorf("%s: it became markup", at)
		}
	}
}

// TestNonce: only scripts of pprof itself get to run, not those of a picture within a graph.
func TestNonce(t *testing.T) {
	page := `<head></head><script>a</script><div id="graph"><svg><script>b</script><svg></svg><script>c</script></svg></div><script>d</script>`
	have := string(withNonce([]byte(page), "N"))
	want := `<head>` + pprofStyle + `</head><script nonce="N">a</script><div id="graph"><svg><script>b</script><svg></svg><script>c</script></svg></div><script nonce="N">d</script>`
	if have != want {
		t.Errorf("%s\nnot\n%s", have, want)
	}
}
