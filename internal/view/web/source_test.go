package web

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// called returns the first call of a function of a recording: its goroutine and its place.
func called(t *testing.T, dir, name string) (query string) {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lines(r, place{}, nil, nil, nil, func(l line) bool {
		if query == "" && strings.Contains(l.Text, "+ "+name+"(") {
			query = fmt.Sprintf("source?g=%d&at=%s", l.G, l.Next)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if query == "" {
		t.Fatalf("%s is not called", name)
	}
	return query
}

func listed(t *testing.T, s *Server, query string) (l listing) {
	t.Helper()
	status, _, body := get(t, s.URL()+query, nil)
	if err := json.Unmarshal([]byte(body), &l); status != 200 || err != nil {
		t.Fatalf("%d: %s", status, body)
	}
	return l
}

// TestSource: parameters are noted where they are declared, results at the only return.
func TestSource(t *testing.T) {
	s := serving(t, recorded(t, "parser"))
	s.shown[0].o.Source = testenv.Root(t)
	for name, want := range map[string]map[string]string{
		"main.evaluate": {`text="2*(3+4)"`: "func evaluate(text string)", "value=14, err=nil": "return value, err"},
		"main.sum":      {`text="2*(3+4)"`: "func sum(text string)", `value=14, rest="", err=nil`: "return"},
	} {
		l := listed(t, s, called(t, s.shown[0].dir, name))
		if l.Error != "" || l.Function != name || len(l.Notes) != len(want) {
			t.Errorf("%s: %+v", name, l)
			continue
		}
		for _, n := range l.Notes {
			line := strings.TrimSpace(l.Lines[n.Line-l.First])
			if begin := want[n.Text]; begin == "" || !strings.HasPrefix(line, begin) {
				t.Errorf("%s: %q is at %q", name, n.Text, line)
			}
		}
	}
}

// TestSourceGone: source that is missing or has changed is refused, and says so.
func TestSourceGone(t *testing.T) {
	s := serving(t, recorded(t, "parser"))
	query := called(t, s.shown[0].dir, "main.sum")
	s.shown[0].o.Source = t.TempDir()
	if l := listed(t, s, query); !strings.Contains(l.Error, "is not on this machine") || l.Lines != nil || l.Function != "main.sum" {
		t.Errorf("missing: %+v", l)
	}
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "examples", "parser", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.shown[0].o.Source, "examples", "parser")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(s.shown[0].o.Source, "go.mod"): "module github.com/ftrace-wrap/ftrace-wrap\n",
		filepath.Join(dir, "main.go"):                "\n" + string(text),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if l := listed(t, s, query); !strings.Contains(l.Error, "it has changed since") || l.Lines != nil {
		t.Errorf("changed: %+v", l)
	}
	// A question names no file.
	if l := listed(t, s, query+"&path=/etc/passwd&file=/etc/passwd"); strings.Contains(l.Path, "passwd") {
		t.Errorf("asked for a file: %+v", l)
	}
}

// TestPlaces: a recording that somebody made up leads to no file that is not Go, nor out of the
// directories that are looked in.
func TestPlaces(t *testing.T) {
	t.Setenv("GOMODCACHE", "/cache")
	dir := t.TempDir()
	for file, want := range map[string][]string{
		"/etc/passwd":                           nil,
		"../../secret.go":                       nil,
		"a.b/c@v1/../../../x.go":                nil,
		"github.com/A/b@v1.2.3/c/d.go":          {"/cache/github.com/!a/b@v1.2.3/c/d.go"},
		"/ci/pkg/mod/example.com/b@v1.2.3/d.go": {"/ci/pkg/mod/example.com/b@v1.2.3/d.go", "/cache/example.com/b@v1.2.3/d.go"},
		"/ci/app/main.go":                       {"/ci/app/main.go", dir + "/ci/app/main.go", dir + "/app/main.go", dir + "/main.go"},
	} {
		have := places(file, dir)
		for _, path := range have {
			if strings.Contains(path, "..") || !strings.HasPrefix(path, "/ci/") && !strings.HasPrefix(path, "/cache/") && !strings.HasPrefix(path, dir) && !strings.HasSuffix(path, "/src/"+file) {
				t.Errorf("%s may be %s", file, path)
			}
		}
		for _, path := range want {
			if !strings.Contains(strings.Join(have, "\n"), filepath.FromSlash(path)) {
				t.Errorf("%s is not looked for as %s, but %q", file, path, have)
			}
		}
		if want == nil && len(have) > 0 {
			t.Errorf("%s is looked for as %q", file, have)
		}
	}
}
