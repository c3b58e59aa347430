package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// stream makes a go test -json stream of lines such as "run p TestA", "pass p TestA", "pass p".
func stream(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) == 2 {
			f = append(f, "")
		}
		fmt.Fprintf(&b, `{"Action":%q,"Package":%q,"Test":%q,"Elapsed":1}`+"\n", f[0], f[1], f[2])
	}
	return b.String()
}

func parsed(t *testing.T, text string) *suite {
	t.Helper()
	s, err := parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// describe renders differences for comparing them with what a test wants.
func describe(diffs []*difference) []string {
	var all []string
	for _, d := range diffs {
		s := fmt.Sprintf("%s: %s -> %s", d.key, d.plain, d.got)
		if d.flaky {
			s += " flaky"
		}
		all = append(all, s)
	}
	return all
}

func TestParse(t *testing.T) {
	s := parsed(t, stream("start p", "run p TestA", "run p TestA/x", "pass p TestA/x", "pass p TestA",
		"run p ExampleE", "fail p ExampleE", "run p TestS", "skip p TestS", "run p TestHang", "fail p",
		"start empty", "skip empty")+"not json\n{broken\n")
	want := results{
		{"p", ""}: fail, {"p", "TestA"}: pass, {"p", "TestA/x"}: pass, {"p", "ExampleE"}: fail,
		{"p", "TestS"}: skip, {"p", "TestHang"}: unfinished, {"empty", ""}: skip,
	}
	if !reflect.DeepEqual(s.results, want) {
		t.Errorf("results = %v, want %v", s.results, want)
	}
	if got, want := s.results.count(), (counts{1, 5, 2, 2, 1, 0}); got != want {
		t.Errorf("count = %+v, want %+v", got, want)
	}
	if s.seconds != 2 {
		t.Errorf("seconds = %v, want 2", s.seconds)
	}
}

func TestParseLastLineWithoutNewline(t *testing.T) {
	s := parsed(t, strings.TrimSuffix(stream("run p TestA", "pass p TestA"), "\n"))
	if got := s.results.get(key{"p", "TestA"}); got != pass {
		t.Errorf("TestA: %s, want pass", got)
	}
}

const brokenBuild = `{"ImportPath":"p [p.test]","Action":"build-output","Output":"# p [p.test]\n"}
{"ImportPath":"p [p.test]","Action":"build-output","Output":"./p.go:3:1: undefined: hook\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}
`

func TestBuildFailure(t *testing.T) {
	plain := parsed(t, stream("start p", "run p TestA", "pass p TestA", "run p TestB", "pass p TestB", "pass p"))
	old := `{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}` + "\n" + stream("fail p") // before Go 1.24
	for _, text := range []string{brokenBuild, old} {
		diffs := compare("off", plain, parsed(t, text))
		if got, want := describe(diffs), []string{"p: pass -> does not build"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if d := compare("off", plain, parsed(t, brokenBuild))[0].detail; !strings.Contains(d, "undefined: hook") {
		t.Errorf("detail %q lacks the compiler's message", d)
	}
	if diffs := compare("off", parsed(t, brokenBuild), parsed(t, brokenBuild)); len(diffs) != 0 {
		t.Errorf("a package that never builds differs: %q", describe(diffs))
	}
}

func TestCompare(t *testing.T) {
	plain := []string{"start p", "run p TestA", "run p TestA/x", "run p TestA/x/y", "pass p TestA/x/y", "pass p TestA/x",
		"pass p TestA", "run p TestB", "fail p TestB", "run p ExampleC", "skip p ExampleC", "fail p",
		"start q", "run q TestQ", "pass q TestQ", "pass q"}
	for _, test := range []struct {
		name    string
		replace []string // pairs: line of plain, what is there instead ("" to leave it out)
		want    []string
	}{
		{"same", nil, nil},
		{"leaf explains its parents", []string{"pass p TestA/x/y", "fail p TestA/x/y", "pass p TestA/x", "fail p TestA/x",
			"pass p TestA", "fail p TestA"}, []string{"p TestA/x/y: pass -> fail"}},
		{"leaf explains its package", []string{"pass q TestQ", "fail q TestQ", "pass q", "fail q"},
			[]string{"q TestQ: pass -> fail"}},
		{"package alone", []string{"pass q", "fail q"}, []string{"q: pass -> fail"}},
		{"other change above", []string{"pass p TestA/x", "fail p TestA/x", "pass p TestA", "skip p TestA"},
			[]string{"p TestA: pass -> skip", "p TestA/x: pass -> fail"}},
		{"fixed", []string{"fail p TestB", "pass p TestB", "fail p", "pass p"}, []string{"p TestB: fail -> pass"}},
		{"skipped", []string{"skip p ExampleC", "pass p ExampleC"}, []string{"p ExampleC: skip -> pass"}},
		{"died", []string{"pass q TestQ", "", "pass q", "fail q"}, []string{"q: pass -> fail", "q TestQ: pass -> unfinished"}},
		{"not run", []string{"run p TestA/x/y", "", "pass p TestA/x/y", ""}, []string{"p TestA/x/y: pass -> missing"}},
		{"package gone", []string{"start q", "", "run q TestQ", "", "pass q TestQ", "", "pass q", ""},
			[]string{"q: pass -> missing", "q TestQ: pass -> missing"}},
		{"new test", []string{"skip p ExampleC", "skip p ExampleC|run p TestNew|pass p TestNew"},
			[]string{"p TestNew: missing -> pass"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, line := range plain {
				for i := 0; i < len(test.replace); i += 2 {
					if line == test.replace[i] {
						line = test.replace[i+1]
						break
					}
				}
				if line != "" {
					got = append(got, strings.Split(line, "|")...)
				}
			}
			diffs := describe(compare("armed", parsed(t, stream(plain...)), parsed(t, stream(got...))))
			if !reflect.DeepEqual(diffs, test.want) {
				t.Errorf("got %q, want %q", diffs, test.want)
			}
		})
	}
}

func TestVolatileNames(t *testing.T) {
	plain := parsed(t, stream("run p T/(0xa514f629d00)", "pass p T/(0xa514f629d00)", "run p T/(0xa514f629d20)",
		"pass p T/(0xa514f629d20)", "pass p T/0x1f"))
	got := parsed(t, stream("run p T/(0x3f7be42a1060)", "pass p T/(0x3f7be42a1060)", "run p T/(0x3f7be42a1080)",
		"fail p T/(0x3f7be42a1080)", "pass p T/0x1f"))
	want := []string{"p T/((varies))~2: pass -> fail"}
	if diffs := describe(compare("off", plain, got)); !reflect.DeepEqual(diffs, want) {
		t.Errorf("got %q, want %q", diffs, want)
	}
}

func TestReruns(t *testing.T) {
	diffs := []*difference{
		{key: key{"q", "TestB/x"}}, {key: key{"q", "TestA"}}, {key: key{"q", "TestB/y"}},
		{key: key{"p", "TestC"}}, {key: key{"p", ""}},
	}
	want := []rerun{{"p", "Given"}, {"q", "^(TestA|TestB)$"}}
	if got := reruns(diffs, "Given"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMarkFlaky(t *testing.T) {
	diffs := []*difference{
		{key: key{"p", "TestSteady"}, plain: pass, got: fail},
		{key: key{"p", "TestFlaky"}, plain: pass, got: fail},
		{key: key{"p", "TestGone"}, plain: pass, got: missing},
		{key: key{"p", "TestOnlyWrapped"}, plain: missing, got: pass},
	}
	markFlaky(diffs, parsed(t, stream("pass p TestSteady", "pass p TestFlaky")).results)
	markFlaky(diffs, parsed(t, stream("pass p TestSteady", "fail p TestFlaky", "pass p TestGone")).results)
	want := []string{"p TestSteady: pass -> fail", "p TestFlaky: pass -> fail flaky", "p TestGone: pass -> missing flaky",
		"p TestOnlyWrapped: missing -> pass"}
	if got := describe(diffs); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReport(t *testing.T) {
	var lines, fewer []string
	for i := range 5 {
		lines = append(lines, fmt.Sprintf("run p Test%d", i), fmt.Sprintf("pass p Test%d", i))
	}
	fewer = append(fewer, lines[:2]...)
	plain, off := parsed(t, stream(append(lines, "pass p")...)), parsed(t, stream(append(fewer, "fail p")...))
	r := &report{module: &module{path: "example.com/m", commit: "abc"}, suites: []*suite{plain, off, plain}}
	r.diffs = compare("off", plain, off)
	r.diffs = append(r.diffs, &difference{key: key{"p", "Test1"}, way: "armed", plain: pass, got: fail, flaky: true})
	var b strings.Builder
	r.print(&b, false)
	want := `example.com/m abc: 1 packages, 5 tests, plain 5 pass 0 fail 0 skip; differences: off 5, armed 0; 1 flaky plain; trace 0 B, 0 lines
  warning: no trace was written: the armed way shows nothing
  off: p: pass -> fail
  off: p: 4 tests missing: Test1, Test2, Test3 ...
  armed: flaky plain: p Test1: pass -> fail
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	row := "| example.com/m | abc | 1 | 5 | 5/0/0 | 5 | 0 | 1 | 0 | 0.0 (1.0) | 0.0 (1.0) | 0.0 (1.0) | 0 B, 0 lines |"
	if got := r.row(); got != row {
		t.Errorf("row:\n%s\nwant\n%s", got, row)
	}
}

func TestFirstDifference(t *testing.T) {
	plain, got := &progRun{stdout: []byte("a\nb\nc")}, &progRun{stdout: []byte("a\nx\nc")}
	if s := firstDifference(plain, got); !strings.Contains(s, `line 2: plain: "b"`) || !strings.Contains(s, `got:   "x"`) {
		t.Error(s)
	}
	if s := firstDifference(plain, &progRun{stdout: []byte("a\nb")}); !strings.Contains(s, "line 3: got:   (end)") {
		t.Error(s)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("FTRACE", "leaked")
	t.Setenv("FTRACE_STATS", "leaked")
	all, err := ways(&options{wrap: "/w", rule: "*", packages: "std"}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{nil, {"FTRACE_PACKAGES=std"},
		{"FTRACE_PACKAGES=std", "FTRACE=*", "FTRACE_OUT=" + filepath.Join(all[2].traces, "trace-%p.txt")}}
	for i, w := range all {
		var got []string
		for _, kv := range w.environ() {
			if strings.HasPrefix(kv, "FTRACE") {
				got = append(got, kv)
			}
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: %q, want %q", w.name, got, want[i])
		}
	}
}

// fakeWrap is a stand-in for ftrace-wrap: it runs the tool, but fails to link if BREAK is set.
// (Test binaries are linked anew each time, while what it compiles goes into the build cache as if
// compiled plainly.)
const fakeWrap = `#!/bin/sh
case "$BREAK $*" in
yes*/link\ -o*) echo "fake: broken" >&2; exit 1;;
esac
exec "$@"
`

// fixture is a module whose tests tell the ways apart.
var fixture = map[string]string{
	"go.mod": "module example.com/fixture\n\ngo 1.21\n",
	"p/p_test.go": `package p
import ("fmt"; "os"; "testing")
func TestSame(t *testing.T) {}
func TestArmed(t *testing.T) {
	out := os.Getenv("FTRACE_OUT")
	if out == "" { return }
	os.WriteFile(out, []byte("one\ntwo\n"), 0o600)
	t.Run("sub", func(t *testing.T) { t.Error("armed") })
}
func Example() { fmt.Println("x"); // Output: x
}
`,
	"cmd/main.go": `package main
import ("fmt"; "os")
func main() {
	fmt.Println(os.Args)
	if os.Getenv("FTRACE") != "" { fmt.Println("armed"); os.Exit(3) }
}
`,
}

func TestEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := filepath.Join(t.TempDir(), "with space")
	for name, text := range fixture {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	wrap := filepath.Join(dir, "wrap")
	if err := os.WriteFile(wrap, []byte(fakeWrap), 0o777); err != nil {
		t.Fatal(err)
	}
	corpus := func(args ...string) (int, string) {
		var out, progress strings.Builder
		code := run(context.Background(), append(append([]string{"-wrap", wrap}, args...), dir), &out, &progress)
		t.Logf("%s%s", out.String(), progress.String())
		return code, out.String()
	}
	code, out := corpus("-repeat-flaky", "-program", `./cmd 'a b' $TMP/x`, "-md")
	for _, want := range []string{
		"differences: off 0, armed 3; trace",
		"armed: example.com/fixture/p TestArmed: pass -> fail (again 3/3)",
		"armed: example.com/fixture/p TestArmed/sub: missing -> fail",
		"exit 3", `stdout line 2: got:   "armed"`, "8 B, 2 lines", "| example.com/fixture | - | 1 | 3 | 3/0/0 | 0 | 3 | 0 | 1 |",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q", want)
		}
	}
	if code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	if code, _ := corpus("-run", "TestSame", "-nested"); code != 0 {
		t.Errorf("exit status %d without differences", code)
	}
	t.Setenv("BREAK", "yes")
	if code, out := corpus("-run", "TestSame"); code != 1 || !strings.Contains(out, "fake: broken") {
		t.Errorf("exit status %d, or output without the build's message", code)
	}
}
