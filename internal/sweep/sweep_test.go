package sweep

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const nilPanic = `=== RUN   TestX
--- FAIL: TestX (0.00s)
panic: runtime error: invalid memory address or nil pointer dereference [recovered, repanicked]
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x533f0f]

goroutine 7 [running]:
testing.tRunner.func1.2({0x559360, 0x6b7a50})
	/go/src/testing/testing.go:1974 +0x232
testing.tRunner.func1()
	/go/src/testing/testing.go:1977 +0x349
panic({0x559360?, 0x6b7a50?})
	/go/src/runtime/panic.go:860 +0x132
runtime.panicmem(...)
	/go/src/runtime/panic.go:336
example.com/m.(*T).use(0x0, {0x1, 0x2})
	/src/FILE:18 +0x2f
example.com/m.TestX(0xc000003500)
	/src/m_test.go:13 +0x1b
`

const plainPanic = `panic: open: ftrace-wrap: injected failure of example.com/m.open

goroutine 21 [running]:
example.com/m.worker.func1()
	/src/m.go:40 +0x65
created by example.com/m.worker in goroutine 20
	/src/m.go:38 +0x1a
`

const timeout = `=== RUN   TestX
panic: test timed out after 5s
	running tests:
		TestX (5s)

goroutine 33 [running]:
testing.(*M).startAlarm.func1()
	/go/src/testing/testing.go:2802 +0x605

goroutine 1 [chan receive]:
testing.(*T).Run(0xc000003500, {0x5847a3, 0x8}, 0x58c1b8)
	/go/src/testing/testing.go:2109 +0x8a5

goroutine 7 [sync.Cond.Wait]:
sync.runtime_notifyListWait(0xc00001c090, 0x0)
	/go/src/runtime/sema.go:617 +0x14b
sync.(*Cond).Wait(0xc00001c080)
	/go/src/sync/cond.go:71 +0x85
internal/poll.(*FD).Read(0x1)
	/go/src/internal/poll/fd.go:1
example.com/m.Wait(...)
	/src/m.go:31
example.com/m.TestX(0xc000003500)
	/src/m_test.go:16 +0x13
`

// TestJudge: what became of a failure is told by how the test program ended.
func TestJudge(t *testing.T) {
	const once, never = "# ftrace: example.com/m.f failed in 1 of 3 calls\n", "# ftrace: example.com/m.f failed in 0 of 1 calls\n"
	for _, c := range []struct {
		e    execution
		fn   string
		want string // outcome, detail, at
	}{
		{execution{status: 0, trace: once}, "f", "lost||"},
		{execution{status: 0, trace: never}, "f", "unreached||"},
		{execution{status: 0, trace: never + once}, "f", "lost||"},
		{execution{status: 0}, "f", "unreached||"},
		{execution{status: 0, trace: once, output: "=== RUN   TestX\n--- SKIP: TestX (0.00s)\nPASS\n"}, "f", "handled||"},
		{execution{status: 1, trace: once, output: "panic: said the test\n--- FAIL: TestX\n"}, "f", "handled||"},
		{execution{status: 2, output: "usage\n"}, "f", "handled||"},
		{execution{status: 2, output: strings.ReplaceAll(nilPanic, "FILE", "m.go")}, "f",
			"panic|panic: runtime error: invalid memory address or nil pointer dereference|example.com/m.(*T).use (/src/m.go:18), called in /src/m_test.go:13"},
		{execution{status: 2, output: strings.ReplaceAll(nilPanic, "FILE", "x_test.go")}, "f",
			"test panic|panic: runtime error: invalid memory address or nil pointer dereference|example.com/m.(*T).use (/src/x_test.go:18)"},
		{execution{status: 2, output: plainPanic}, "f", "panic|panic: open: ftrace-wrap: injected failure of example.com/m.open|example.com/m.worker.func1 (/src/m.go:40)"},
		{execution{status: 2, output: "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\nmain.main()\n\t/src/m.go:3 +0x1\n"}, "f",
			"panic|fatal error: all goroutines are asleep - deadlock!|main.main (/src/m.go:3)"},
		{execution{status: 2, output: timeout}, "f", "hang|no end after 5s [sync.Cond.Wait]|example.com/m.Wait (/src/m.go:31), called in /src/m_test.go:16"},
		{execution{status: 2, output: strings.Replace(timeout, "example.com/m.TestX(", "runtime.Goexit()\n\t/go/src/runtime/panic.go:694 +0x5\nexample.com/m.TestX(", 1)}, "f",
			"test hang|no end after 5s [sync.Cond.Wait]|example.com/m.Wait (/src/m.go:31), called in /src/m_test.go:16"},
		{execution{status: -1, signal: os.Kill, timedOut: true}, "f", "hang|no end after 5s|"},
		{execution{status: -1, signal: os.Kill}, "f", "panic|signal: killed|"},
		{execution{status: 1, trace: once, output: "ftrace: FTRACE_FAIL: this program has no error x.E, so nothing fails with it\n"}, "f", "unusable||"},
		{execution{status: 0, trace: once, output: "ftrace: FTRACE_FAIL: x.E was nil, so another error was made up\n"}, "f", "unusable||"},
		{execution{status: 2, output: strings.NewReplacer("FILE", "m.go", ").use(", ").Error(").Replace(nilPanic)}, "f",
			"unusable|panic: runtime error: invalid memory address or nil pointer dereference|example.com/m.(*T).Error (/src/m.go:18), called in /src/m_test.go:13"},
		{execution{status: 0, trace: once}, "", "passed||"},
		{execution{status: 1}, "", "failed|exit status 1|"},
	} {
		r := result{Test: "TestX", Error: "*example.com/m.T"}
		if c.fn != "" {
			r.Func = "example.com/m." + c.fn
		}
		r.judge(c.e, 5*time.Second, "/go")
		if got := r.Outcome + "|" + r.Detail + "|" + r.At; got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.e, got, c.want)
		}
	}
	r := result{}
	r.judge(execution{trace: never + once + "# ftrace: example.com/m.(*T).g failed in 0 of 2 calls\n# ftrace: \"x\" matches\n"}, 0, "/go")
	if fmt.Sprint(r.Reached) != "map[example.com/m.(*T).g:2 example.com/m.f:4]" {
		t.Error(r.Reached)
	}
}

// TestSubtestOf: a test that waits for its subtest is not what hangs.
func TestSubtestOf(t *testing.T) {
	const output = "goroutine 7 [chan receive]:\ntesting.(*T).Run(0xc)\n\t/go/src/testing/testing.go:1\nexample.com/suite.Run()\n\t/src/suite.go:3\n" +
		"example.com/m.TestX(0xc)\n\t/src/m_test.go:4\ncreated by testing.(*T).Run in goroutine 1\n\n" +
		"goroutine 8 [select]:\nexample.com/m.Lock()\n\t/src/m.go:9\nexample.com/m.TestX.func1(0xc)\n\t/src/m_test.go:5\ncreated by testing.(*T).Run in goroutine 7\n\n" +
		"goroutine 77 [select]:\nexample.com/m.other()\n\t/src/m.go:1\n"
	if got := goroutineOf(output, "TestX"); !strings.HasPrefix(got, "goroutine 8 ") {
		t.Error(got)
	}
}

// TestFollow: where an error ends is told by the callers of what failed, and by a trace of them.
func TestFollow(t *testing.T) {
	const (
		calls  = "# ftrace: m.f was called by m.g (m.go:3), m.(*T).h (h.go:4), m.F[...].func1 (m.go:5), "
		inTest = "m.TestX (m_test.go:9), testing.tRunner (testing.go:1)\n"
		start  = `{"event":"return","func":"m.h","goroutine":7,"depth":0,"results":{"0":null}}` + "\n" +
			`{"event":"return","func":"m.f","goroutine":8,"depth":3,"results":{"n":1,"err":"*runtime.ftraceInjected(\"x\")"},"mock":true}` + "\n" +
			`{"event":"return","func":"m.x","goroutine":7,"depth":0,"results":{"err":null}}` + "\n" +
			`{"event":"return","func":"m.later","goroutine":8,"depth":3,"results":{"err":null}}` + "\n"
		g  = `{"event":"return","func":"m.g","goroutine":8,"depth":2,"results":{"0":0,"err":"*fmt.wrapError(\"g: x\" -> *errors.errorString)"}}` + "\n"
		h  = `{"event":"return","func":"m.(*T).h","goroutine":8,"depth":1,"panic":"*errors.errorString(\"x\")"}` + "\n"
		f1 = `{"event":"return","func":"m.F[...].func1","goroutine":8,"depth":0,"results":{"0":"m.E{n:1}"}}` + "\n"
	)
	for _, c := range []struct{ calls, trace, want string }{
		{calls + inTest, start + g + h + f1, "reached|m.TestX (/src/m_test.go:9)"},
		{calls + inTest, start + g + h, "lost|m.F[...].func1 (/src/m.go:5)"}, // which had not returned
		{calls + inTest, start, "lost|m.g (/src/m.go:3)"},
		{calls + inTest, g + h + f1, "lost|"},                      // nothing failed this time
		{calls[:len(calls)-2] + "\n", start + g + h + f1, "lost|"}, // of another goroutine
		{calls + inTest, start + strings.Replace(g, `"*fmt.wrapError(\"g: x\" -> *errors.errorString)"`, `"*(text)"`, 1) + h + f1, "swallowed|m.g (/src/m.go:3)"},
		{calls + inTest, start + strings.Replace(g, `"*fmt.wrapError(\"g: x\" -> *errors.errorString)"`, "null", 1) + h + f1, "swallowed|m.g (/src/m.go:3)"},
		{calls + inTest, start + g + strings.Replace(h, `,"panic":"*errors.errorString(\"x\")"`, "", 1) + f1, "swallowed|m.(*T).h (/src/h.go:4)"},
		{calls + inTest, start + g + h + strings.Replace(f1, `"m.E{n:1}"`, "false", 1), "swallowed|m.F[...].func1 (/src/m.go:5)"},
	} {
		s := &sweeper{source: &source{list: func(string) string { return "/src" }}}
		r := result{Func: "m.f", Outcome: lost}
		within, outside := program(callersOf("# ftrace: m.f failed in 1 of 1 calls\n"+c.calls, "m.f"))
		if len(within) != 3 {
			t.Fatal(within)
		}
		top := s.follow(&r, c.trace, within, outside)
		if r.Outcome == reached && top.Func != "m.F[...].func1" {
			t.Error(top)
		}
		if got := r.Outcome + "|" + r.At; got != c.want {
			t.Errorf("%s%s\n got %s\nwant %s", c.calls, c.trace, got, c.want)
		}
	}
}

// TestFailsAnyway: a call that fails in the test as it is tells nothing.
func TestFailsAnyway(t *testing.T) {
	const trace = `{"event":"return","func":"m.f","call":1,"results":{"err":null}}
{"event":"call","func":"m.f","call":2}
{"event":"return","func":"m.g","call":2,"results":{"err":null}}
{"event":"return","func":"m.f","call":2,"results":{"err":"*fs.PathError(\"x\")"}}
`
	s := &sweeper{source: &source{list: func(string) string { return "" }}}
	for call, want := range map[int]bool{1: false, 2: true, 3: false} {
		if got := s.failsAnyway(trace, "m.f", call); got != want {
			t.Error(call, got)
		}
	}
}

// TestFamily: literals have several names.
func TestFamily(t *testing.T) {
	for fn, want := range map[string]string{
		"example.com/m.(*T).f": "example.com/m.(?T).f", "example.com/m.f.func1": "example.com/m.*f.func*", "example.com/m.TestX.f.func2.1": "example.com/m.*f.func*",
		"example.com/m.(*T).f.func1": "example.com/m.*f.func*", "example.com/m.TestX.func7.f.1.2": "example.com/m.*f.func*", "example.com/m.f.gowrap1": "example.com/m.*f.func*",
		"example.com/m.f.func1-range2": "example.com/m.*f.func*", "example.com/m2.f1": "example.com/m2.f1",
	} {
		if got := family(fn); got != want {
			t.Errorf("%s: %s, want %s", fn, got, want)
		}
	}
}

// TestOrderJobs: each function fails once, in its shortest test, before any fails twice.
func TestOrderJobs(t *testing.T) {
	p := &testPackage{}
	jobs := []job{
		{pkg: p, test: "A", fn: "f", plain: 3}, {pkg: p, test: "B", fn: "f", plain: 1}, {pkg: p, test: "C", fn: "f", plain: 2},
		{pkg: p, test: "A", fn: "g", plain: 3}, {pkg: p, test: "B", fn: "h", plain: 1}, {pkg: p, test: "A", fn: "h", plain: 3},
	}
	orderJobs(jobs)
	var got []string
	for _, j := range jobs {
		got = append(got, j.fn+j.test)
	}
	if want := strings.Fields("fB gA hB fC hA fA"); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestReport(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report")
	p, err := openReport(name)
	if err != nil {
		t.Fatal(err)
	}
	a, b := result{Binary: "x", Test: "A", Fail: "f#1", Outcome: lost}, result{Binary: "x", Test: "A", Fail: "f#1+", Outcome: hung}
	p.add(a)
	p.add(b)
	p.close()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range text { // of which the last line is cut
		if err := os.WriteFile(name, text[:len(text)-cut], 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := openReport(name)
		if err != nil {
			t.Fatal(cut, err)
		}
		_, haveA := p.find(a)
		_, haveB := p.find(b)
		if !haveB {
			p.add(b)
		}
		p.close()
		if again, _ := os.ReadFile(name); haveA && string(again) != string(text) || haveB != (cut == 0) {
			t.Fatalf("%d cut: %v %v %s", cut, haveA, haveB, again)
		}
	}
	if err := os.WriteFile(name, []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openReport(name); err == nil {
		t.Error("no error")
	}
}

// TestReportPlace: others who may write to a directory do not choose what a report is written to.
func TestReportPlace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere files are opened as ever")
	}
	dir, own := t.TempDir(), filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(own, link); err != nil {
		t.Fatal(err)
	}
	if _, err := openReport(link); err == nil {
		t.Error("the link was followed")
	}
	p, err := openReport(filepath.Join(dir, "new"))
	if err != nil {
		t.Fatal(err)
	}
	p.close()
	if info, err := os.Stat(filepath.Join(dir, "new")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestTail(t *testing.T) {
	var out tail
	for i := range 3 << 20 / 16 {
		fmt.Fprintf(&out, "%015d\n", i)
	}
	if !strings.HasSuffix(string(out), fmt.Sprintf("%015d\n", 3<<20/16-1)) || len(out) < 1<<20 || len(out) > 2<<20 {
		t.Error(len(out))
	}
}
