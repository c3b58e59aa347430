package web

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// serving serves recordings for the test.
func serving(t testing.TB, dirs ...string) *Server {
	t.Helper()
	s, err := Listen(dirs, Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return s
}

func recorded(t testing.TB, name string) string {
	return filepath.Join(testenv.Root(t), "testdata", "recordings", name)
}

func get(t *testing.T, url string, change func(*http.Request)) (status int, head http.Header, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(b)
}

// TestWhoMay: only those get an answer who have the token, came by this host, and from this page.
func TestWhoMay(t *testing.T) {
	s := serving(t, recorded(t, "workers"))
	base := strings.TrimSuffix(s.URL(), s.token+"/")
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, c := range []struct {
		url    string
		change func(*http.Request)
		status int
	}{
		{s.URL(), nil, 200},
		{s.URL() + "status", nil, 200},
		{s.URL() + "status", header("Origin", strings.TrimSuffix(base, "/")), 200},
		{s.URL() + "status", header("Sec-Fetch-Site", "same-origin"), 200},
		{s.URL(), header("Sec-Fetch-Site", "cross-site"), 200}, // a link to the page
		{base, nil, 403},
		{base + "status", nil, 403},
		{base + s.token, nil, 403},
		{base + s.token[1:] + "/status", nil, 403},
		{base + strings.Repeat("A", len(s.token)) + "/status", nil, 403},
		{s.URL() + "status", header("Origin", "http://evil.example"), 403},
		{s.URL() + "status", header("Origin", "null"), 403},
		{s.URL() + "status", header("Sec-Fetch-Site", "cross-site"), 403},
		{s.URL() + "app.js", header("Sec-Fetch-Site", "same-site"), 403},
		{s.URL() + "status", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{s.URL() + "status", func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		{s.URL() + "status", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{s.URL() + "../web.go", nil, 404},
		{s.URL() + "nothing.js", nil, 404},
		{s.URL() + "slices?from=0&to=0&pixels=1&lanes=1", nil, 400},
		{s.URL() + "slices?from=0&to=10&pixels=1&lanes=x", nil, 400},
		{s.URL() + "slices?from=-1&to=10&pixels=1&lanes=1", nil, 400},
		{s.URL() + "table?by=nothing", nil, 400},
		{s.URL() + "search?q=/(/", nil, 400},
		{s.URL() + "tree?from=x", nil, 400},
		{s.URL() + "call?g=1&depth=70000&begin=1&end=2", nil, 404},
	} {
		status, head, body := get(t, c.url, c.change)
		if status != c.status {
			t.Errorf("%s: %d, not %d: %s", c.url, status, c.status, body)
		}
		if csp := head.Get("Content-Security-Policy"); csp != policy || head.Get("X-Content-Type-Options") != "nosniff" || head.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", c.url, head)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Error(policy)
	}
}

// TestAddress: the page is for this machine.
func TestAddress(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "nonsense"} {
		if s, err := Listen([]string{recorded(t, "workers")}, Options{Address: address}); err == nil {
			s.Close()
			t.Errorf("%s: it listens", address)
		}
	}
}

// TestAssets: the page has no inline script or style, and nothing of other hosts.
func TestAssets(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<script>|<style|\son\w+=|style=|https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function`)
	files, err := fs.ReadDir(assets, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := f.Name()
		if path.Ext(name) == ".svg" {
			continue // a picture, which is shown as such
		}
		b, err := fs.ReadFile(assets, name)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.ReplaceAll(b, []byte(`"http://www.w3.org/2000/svg"`), nil) // a namespace, which nothing loads
		if found := inline.Find(b); found != nil {
			t.Errorf("%s has %q", name, found)
		}
	}
}

// TestLines: the pages of the trace are together what replay writes, whatever a page begins with.
func TestLines(t *testing.T) {
	for _, name := range []string{"workers", "parser", "convoy"} {
		r, err := recording.Open(recorded(t, name))
		if err != nil {
			t.Fatal(err)
		}
		format, err := text.ParseFormat("duration")
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := text.Replay(walk.Source{Recording: r}, text.Options{Format: format}, &want); err != nil {
			t.Fatal(err)
		}
		var have strings.Builder
		at, pages := place{}, 0
		clock := r.Converter()
		for {
			n, next := 0, ""
			err := lines(r, at, nil, nil, func(float64) bool { return true }, func(l line) bool {
				have.WriteString(strings.TrimSpace(l.Text) + "\n")
				next = l.Next
				n++
				return n < 7
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			if at, err = parsePlace(next, &clock); err != nil {
				t.Fatal(err)
			}
			pages++
		}
		var bare strings.Builder
		remark := regexp.MustCompile(`^G\d+ +`)
		for l := range strings.Lines(want.String()) {
			bare.WriteString(strings.TrimSpace(remark.ReplaceAllString(l, "")) + "\n")
		}
		// Of a call that began before it a page does not know when, nor what it recovered.
		recovered := regexp.MustCompile(` recovered .*?( // )`)
		duration := regexp.MustCompile(`(?m)(// \S+) [0-9.]+[num]?s| from G\d+.*$`)
		same := func(s string) string {
			return duration.ReplaceAllString(recovered.ReplaceAllString(s, "$1"), "$1")
		}
		if diff := cmp.Diff(strings.Split(same(bare.String()), "\n"), strings.Split(same(have.String()), "\n")); pages < 2 || diff != "" {
			t.Errorf("%s, %d pages:\n%s", name, pages, diff)
		}
	}
}

// TestContains: upper and lower case are the same, also of letters that are not ASCII.
func TestContains(t *testing.T) {
	for _, c := range []struct {
		word, line string
		want       bool
	}{
		{"main.SUM", "+ main.sum(a=1) {", true},
		{"sum(b", "+ main.sum(a=1) {", false},
		{"STRASSE über", `"Strasse ÜBER"`, true},
		{"k", "\u212a", true}, // the Kelvin sign, whose lower case is k
		{"\xff", "\xff", true},
		{"", "", true},
	} {
		if have := contains(c.word)([]byte(c.line)); have != c.want || have != strings.Contains(strings.ToLower(c.line), strings.ToLower(c.word)) {
			t.Errorf("%q in %q: %v", c.word, c.line, have)
		}
	}
}

// BenchmarkSearch looks for what is in no line.
func BenchmarkSearch(b *testing.B) {
	r := viewtest.MadeUp(b)
	for b.Loop() {
		if err := lines(r, place{}, nil, contains("nosuchthing"), func(float64) bool { return true }, func(l line) bool {
			b.Fatalf("found %q", l.Text)
			return false
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSearchProgress: how far a search is goes by the time until which it looks, where it ends
// before the files do: those of a recording that grows.
func TestSearchProgress(t *testing.T) {
	r := viewtest.MadeUp(t)
	var first, last uint64
	all := r.Events(recording.Window{})
	defer all.Close()
	for e := new(recording.Event); all.Next(e); last = e.Ticks {
		if first == 0 {
			first = e.Ticks
		}
	}
	until := first + (last-first)/4
	var parts []float64
	more := func(done float64) bool { parts = append(parts, done); return true }
	if err := lines(r, place{until: until}, nil, contains("nosuchthing"), more, nil); err != nil {
		t.Fatal(err)
	}
	if len(parts) < 4 || !slices.IsSorted(parts) || parts[0] > 0.5 || parts[len(parts)-1] < 0.6 || parts[len(parts)-1] > 1 {
		t.Errorf("it is at %v", parts)
	}
}

// TestSearch: a search finds each line of the trace that has the word, or that the expression
// matches.
func TestSearch(t *testing.T) {
	s := serving(t, recorded(t, "workers"))
	r, err := recording.Open(s.shown[0].dir)
	if err != nil {
		t.Fatal(err)
	}
	for q, matches := range map[string]func(string) bool{
		"MAIN.":      func(s string) bool { return strings.Contains(s, "main.") },
		"/^ *} = .*": regexp.MustCompile(`^ *} = `).MatchString,
		"no such":    func(string) bool { return false },
	} {
		want := 0
		if err := lines(r, place{}, nil, nil, func(float64) bool { return true }, func(l line) bool {
			if matches(l.Text) {
				want++
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		_, _, body := get(t, s.URL()+"search?q="+url.QueryEscape(q), nil)
		have, ended := 0, false
		for l := range strings.Lines(body) {
			var found struct {
				Text string
				End  bool
			}
			if err := json.Unmarshal([]byte(l), &found); err != nil {
				t.Fatal(err)
			}
			if ended = found.End; found.Text != "" {
				have++
			}
		}
		if have != want || !ended || q != "no such" && want == 0 {
			t.Errorf("%s: %d, not %d:\n%s", q, have, want, body)
		}
	}
}
