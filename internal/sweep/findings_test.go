package sweep

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// found returns findings of 67 tests that panic at one line, and of an error that is lost.
func found() *findings {
	f := &findings{jobs: 69}
	p := &testPackage{path: "example.com/m"}
	for i := range 67 {
		test := "Test" + string(rune('A'+i%26)) + strings.Repeat("x", i/26)
		f.add(job{pkg: p, test: test, fn: "example.com/m.open"}, result{Outcome: panicked, Detail: "panic: nil", At: "example.com/m.use (m.go:18), called in m_test.go:12"})
	}
	f.add(job{pkg: p, test: "TestLost", fn: "example.com/m.flush"}, result{Outcome: lost})
	f.add(job{pkg: p, test: "TestSave", fn: "example.com/m.flush"}, result{Outcome: handled})
	return f
}

// TestFindingsByPlace: what 67 tests find in one line is one finding.
func TestFindingsByPlace(t *testing.T) {
	const want = `panic     example.com/m.use (m.go:18): nil
          if example.com/m.open fails: TestA at m_test.go:12, TestAx at m_test.go:12, TestAxx at m_test.go:12, TestB at m_test.go:12, TestBx at m_test.go:12 and 62 more
swallowed example.com/m.Save (m.go:30)
          if example.com/m.flush fails: TestA
          if example.com/m.flush fails with *fs.PathError: TestA, TestC
          if example.com/m.flush fails with io.EOF: the same
lost      example.com/m.flush: TestLost
reached   example.com/m.TestB (m_test.go:40)
          if example.com/m.flush fails with io.EOF: TestB
75 of 75 runs, 67 panic, 5 swallowed, 1 lost, 1 reached, 1 handled
`
	var b strings.Builder
	f := found()
	f.jobs = 75
	addPassing(f)
	f.write(&b, "", "")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// addPassing adds findings of tests that pass.
func addPassing(f *findings) {
	p, at := &testPackage{path: "example.com/m"}, "example.com/m.Save (m.go:30)"
	f.add(job{pkg: p, test: "TestA", fn: "example.com/m.flush", err: "*io/fs.PathError"}, result{Outcome: swallowed, At: at})
	f.add(job{pkg: p, test: "TestA", fn: "example.com/m.flush"}, result{Outcome: swallowed, At: at})
	f.add(job{pkg: p, test: "TestC", fn: "example.com/m.flush", err: "*io/fs.PathError"}, result{Outcome: swallowed, At: at})
	f.add(job{pkg: p, test: "TestC", fn: "example.com/m.flush", err: "io.EOF"}, result{Outcome: swallowed, At: at})
	f.add(job{pkg: p, test: "TestA", fn: "example.com/m.flush", err: "io.EOF"}, result{Outcome: swallowed, At: at})
	f.add(job{pkg: p, test: "TestB", fn: "example.com/m.flush", err: "io.EOF"}, result{Outcome: reached, At: "example.com/m.TestB (m_test.go:40)"})
}

// TestBaseline: what a baseline has is no news, at whatever line it is.
func TestBaseline(t *testing.T) {
	name := filepath.Join(t.TempDir(), "baseline")
	if known, err := readBaseline(name); err != nil || known != nil {
		t.Error(known, err)
	}
	first := found()
	addPassing(first)
	if err := first.writeBaseline(name); err != nil {
		t.Fatal(err)
	}
	const want = "lost\texample.com/m.flush\texample.com/m.flush\npanic\texample.com/m.use\texample.com/m.open\nreached\texample.com/m.TestB\texample.com/m.flush\nswallowed\texample.com/m.Save\texample.com/m.flush\n"
	if text, _ := os.ReadFile(name); string(text) != want {
		t.Errorf("%q", text)
	}
	known, err := readBaseline(name)
	if err != nil {
		t.Fatal(err)
	}
	f := found()
	addPassing(f)
	f.add(job{pkg: &testPackage{}, test: "TestNew", fn: "example.com/m.sync"}, result{Outcome: lost})
	if n := f.forget(known); n != 6 || len(f.places) != 1 || f.sorted()[0].place != "example.com/m.sync" {
		t.Error(n, f.places)
	}
	os.WriteFile(name, []byte("panic\n"), 0o666)
	if _, err := readBaseline(name); err == nil || !strings.Contains(err.Error(), "baseline:1 is no line of a baseline") {
		t.Error(err)
	}
}

// TestSARIF: testdata/findings.sarif is valid by the schema of SARIF 2.1.0.
func TestSARIF(t *testing.T) {
	f := found()
	f.add(job{pkg: &testPackage{}, test: "TestOther", fn: "os.Open"}, result{Outcome: hung, Detail: "no end after 5s", At: "net/http.Get (/go/src/net/http/client.go:7)"})
	f.add(job{pkg: &testPackage{}, test: "TestOther", fn: "os.Open"}, result{Outcome: panicked, Detail: "signal: killed", At: "a/b.F (dir x/m.go:7)"})
	addPassing(f)
	text, err := json.MarshalIndent(f.sarif(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/findings.sarif")
	if err != nil || string(want) != string(text)+"\n" {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestSource: which functions need not fail.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "m.go"), []byte(`package m

import ("errors"; "fmt"; "os")

func (c *conf) Close() error { return nil }
func through() (int, error) { return 1, nil }
func calls() (int, error) { if x { return 0, nil }; return through() }
func recursive() error { if x { return recursive() }; return nil }
func named() (err error) { return nil }
func opens() (*os.File, error) { return os.Open("x") }
func variable() error { err := opens(); return err }
func shadows() error { through := opens; return through() }
func (badRequest) make(s string) error { if s == "" { return errors.New("x") }; return fmt.Errorf("%s", s) }
func makes() error { return &badRequest{} }
func both() error { if x { return nil }; return &badRequest{} }
func (e *badRequest) Unwrap() error { return e.err }
func Unwrap() error { return x }
func literal() (f func() error, err error) { return func() error { return nil }, nil }
func assembly() error
`), 0o666)
	asked := 0
	s := &source{list: func(path string) string { asked++; return map[string]string{"example.com/m": dir}[path] }}
	got := map[string]string{}
	for _, name := range strings.Fields("(*conf).Close through calls recursive named opens variable shadows badRequest.make makes both (*badRequest).Unwrap Unwrap literal assembly nope") {
		got[name] = s.why("example.com/m." + name)
	}
	const none, made, unwraps = "their error is always nil", "they always return an error", "they return an error that they are about"
	for name, want := range map[string]string{
		"(*conf).Close": none, "through": none, "calls": none, "recursive": none, "named": "", "opens": "", "variable": "", "shadows": "",
		"badRequest.make": made, "makes": made, "both": "", "(*badRequest).Unwrap": unwraps, "Unwrap": "", "literal": "", "assembly": "", "nope": "",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if asked != 1 {
		t.Error(asked)
	}
	dotted := &source{list: func(path string) string { return map[string]string{"gopkg.in/m.v2": dir}[path] }}
	for name, want := range map[string]string{"gopkg.in/m.v2.(*conf).Close": none, "gopkg.in/m.v2.makes": made, "gopkg.in/m.v3.makes": ""} {
		if got := dotted.why(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSourceErrors: which errors functions return.
func TestSourceErrors(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "m.go"), []byte(`package m

import ("errors"; "fmt"; "io"; "os"; yaml "gopkg.in/yaml.v3"; "example.com/x/v2"; "example.com/y.v3")

func sentinel() error { if x { return ErrA }; return x.ErrB }
func types() (int, error) { if x { return 0, &T{} }; if y { return 1, T{} }; return 2, &yaml.TypeError{} }
func wraps() error { return fmt.Errorf("x: %w", errWrapped) }
func joins(err error) error { return errors.Join(err, y.ErrC, n) }
func variable() error { err := ErrA; if x { err = sentinel() }; return err }
func named() (n int, err error) { err = io.ErrShortWrite; return }
func last() error { if x { return io.EOF }; if y { return SkipIt }; return ErrA }
func system() error { f, err := os.Open("x"); f.Close(); return err }
func recursive() error { return mutual() }
func mutual() error { if x { return recursive() }; return ErrM }
func parameter(err error) error { return err }
func text() (err string) { return ErrA }
func pointer() *T { return nil }
func nothing() {}
func own() failing { return nil }
func (t *T) receiver() error { return t.err }
`), 0o666)
	s := &source{list: func(path string) string { return dir }}
	for name, want := range map[string]string{
		"sentinel": "example.com/m.ErrA example.com/x/v2.ErrB", "types": "*example.com/m.T example.com/m.T *gopkg.in/yaml.v3.TypeError", "wraps": "example.com/m.errWrapped",
		"joins": "example.com/y.v3.ErrC", "variable": "example.com/m.ErrA example.com/x/v2.ErrB", "named": "io.ErrShortWrite",
		"last": "example.com/m.ErrA io.EOF example.com/m.SkipIt", "system": "io/fs.ErrPermission", "recursive": "example.com/m.ErrM", "parameter": "", "(*T).receiver": "", "absent": "",
	} {
		if got := strings.Join(s.errors("example.com/m."+name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"text", "pointer", "nothing"} {
		if _, r := s.find("example.com/m." + name); !r.noError {
			t.Error(name)
		}
	}
	for _, name := range []string{"sentinel", "types", "own"} {
		if _, r := s.find("example.com/m." + name); r.noError {
			t.Error(name)
		}
	}
}
