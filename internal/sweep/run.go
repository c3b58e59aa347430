package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/paths"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// execution is what a test program did.
type execution struct {
	output   string // the end of it, if it is long
	trace    string // what the core wrote
	status   int
	signal   os.Signal // that ended it, or nil
	timedOut bool      // we ended it
	lasted   time.Duration
}

// execute runs a package's tests with FTRACE_FAIL and other settings, for limit at most, and
// removes what they leave in the directory for temporary files.
func (s *sweeper) execute(ctx context.Context, p *testPackage, fail string, args []string, limit time.Duration, settings ...string) execution {
	s.mu.Lock()
	s.runs++
	dir := filepath.Join(s.temp, fmt.Sprint("run", s.runs))
	s.mu.Unlock()
	trace := dir + ".trace"
	if runtime.GOOS != "linux" {
		trace = "stderr" // the core writes to files on linux alone
	}
	defer os.Remove(trace) // of "stderr" there is none
	if err := os.Mkdir(dir, 0o700); err == nil {
		defer os.RemoveAll(dir)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.program, append(args, s.Args...)...)
	cmd.Dir = p.dir
	for _, v := range os.Environ() {
		if !runtimeSetting().MatchString(v) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "PWD="+p.dir, "TMPDIR="+dir, "FTRACE_FAIL="+fail, "FTRACE_OUT="+trace)
	cmd.Env = append(cmd.Env, settings...)
	var out tail
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 2 * time.Second // for processes that it started
	start := time.Now()
	err := cmd.Run()
	e := execution{output: string(out), lasted: time.Since(start)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		e.status = exit.ExitCode()
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			e.signal = w.Signal()
		}
		e.timedOut = limited.Err() != nil
	} else if err != nil && cmd.ProcessState == nil {
		e.status, e.output = 1, err.Error()
	}
	if e.trace = e.output; trace != "stderr" {
		text, _ := os.ReadFile(trace) // there is none if the program did not come so far
		e.trace = string(text)
	}
	return e
}

// runtimeSetting matches the variables that concern the program when it runs.
var runtimeSetting = words.Regexp(`^(FTRACE|FTRACE_(OUT|STATS|SHOW|FORMAT|FAIL)|PWD|TMPDIR)=`)

// tail keeps the end of what is written to it: at least a megabyte.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if n := len(*t); n > 2<<20 {
		*t = append((*t)[:0], (*t)[n-1<<20:]...)
	}
	return len(p), nil
}

// The ways in which a test ends.
const (
	passed     = "passed"     // as it is
	failed     = "failed"     // as it is: not of interest
	handled    = "handled"    // with a function failing: it fails, or is skipped
	panicked   = "panic"      // the program panics, or the runtime throws
	testPanic  = "test panic" // the code that panics is in a test file
	hung       = "hang"
	testHang   = "test hang" // what the test does when it has failed
	swallowed  = "swallowed" // it passes: a function of the program got the error, and returned none
	reached    = "reached"   // it passes: the error reached the test's code
	expected   = "expected"  // it passes: the call, or the one that the test makes, returns an error without us, too
	lost       = "lost"      // it passes: where the error went is not known
	unusable   = "unusable"  // the program has no such error, or can't say what it is
	notReached = "unreached" // the call that was to fail was not made this time
)

// judge sets what became of the run, and how. goroot is where Go's own packages are.
func (r *result) judge(e execution, limit time.Duration, goroot string) {
	r.Seconds = float64(e.lasted.Milliseconds()) / 1000
	counts := failedCalls(e.trace)
	panics := crash().FindStringIndex(e.output)
	timedOut := e.timedOut || e.status == 2 && strings.Contains(e.output, "panic: test timed out after ")
	switch {
	case r.Error != "" && unknownError().MatchString(e.output):
		r.Outcome = unusable
	case e.status == 0 && r.Func == "":
		r.Outcome = passed
		r.Reached = map[string]int{}
		for fn, n := range counts {
			r.Reached[fn] = n.calls
		}
	case r.Func == "" && !timedOut:
		r.Outcome, r.Detail = failed, fmt.Sprintf("exit status %d", e.status)
	case timedOut:
		stack := goroutineOf(e.output, r.Test)
		at, state := where(stack, goroot)
		r.Outcome, r.Detail, r.At = hung, "no end after "+limit.Round(100*time.Millisecond).String()+state, at
		if r.Func != "" && strings.Contains(stack, "\nruntime.Goexit(") {
			r.Outcome = testHang
		}
	case e.status == 2 && panics != nil:
		message := e.output[panics[0]:panics[1]]
		r.Detail, _, _ = strings.Cut(message, " [recovered")
		at, _ := where(firstGoroutine(e.output[panics[1]:]), goroot)
		r.Outcome, r.At = panicked, at
		if strings.HasPrefix(r.Error, "*") && strings.Contains(at, ").Error (") { // a new one has not all that its methods need
			r.Outcome = unusable
		}
		if place, ok := strings.CutSuffix(at, ")"); ok && testFile().MatchString(place) {
			r.Outcome = testPanic
		}
	case e.signal != nil:
		r.Outcome, r.Detail = panicked, "signal: "+e.signal.String()
	case e.status != 0, strings.Contains(e.output, "--- SKIP: "+r.Test+" "):
		r.Outcome = handled
	case counts[r.Func].failed == 0:
		r.Outcome = notReached
	default:
		r.Outcome = lost
	}
}

var (
	crash        = words.Regexp(`(?m)^(panic|fatal error): .*$`)
	testFile     = words.Regexp(`_test\.go:\d+$`)
	unknownError = words.Regexp(`(?m)^ftrace: FTRACE_FAIL: (this program has no error |\S+ was nil)`)
	calls        = words.Regexp(`(?m)^# ftrace: (.+) failed in (\d+) of (\d+) calls$`)
)

type callCounts struct{ failed, calls int }

// failedCalls reads what the core says at the end of a program with FTRACE_FAIL. There may be
// several programs, if one started others.
func failedCalls(trace string) map[string]callCounts {
	found := map[string]callCounts{}
	for _, m := range calls().FindAllStringSubmatch(trace, -1) {
		n := found[m[1]]
		failed, _ := strconv.Atoi(m[2])
		all, _ := strconv.Atoi(m[3])
		found[m[1]] = callCounts{n.failed + failed, n.calls + all}
	}
	return found
}

// firstGoroutine returns the first goroutine's stack in a traceback: the one that panicked.
func firstGoroutine(output string) string {
	for _, block := range strings.Split(output, "\n\n") {
		if strings.HasPrefix(strings.TrimSpace(block), "goroutine ") {
			return block
		}
	}
	return ""
}

// goroutineOf returns the stack of the goroutine that runs a test, from a traceback of all. If the
// test waits for a subtest, it is the subtest's stack.
func goroutineOf(output, test string) (stack string) {
	blocks := strings.Split(output, "\n\n")
	find := func(text string) bool {
		for _, block := range blocks {
			if strings.HasPrefix(block, "goroutine ") && strings.Contains(block+"\n", text) {
				stack = block
				return true
			}
		}
		return false
	}
	for found := find("." + test + "("); found && strings.Contains(stack, "]:\ntesting.(*T).Run("); {
		number, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		found = find("created by testing.(*T).Run in goroutine " + number + "\n")
	}
	return stack
}

var (
	frame   = words.Regexp(`(?m)^(\S.*)\(.*\)\n\t(.+:\d+)`)
	waiting = words.Regexp(`^goroutine [^[]*(\[[^]]+\])`)
)

// where returns the innermost function of a goroutine's stack that is not of Go's own packages,
// with its place, and where it was called if that is in a test: the test may have gone on as if
// there was no error. It also returns in which state the goroutine is. The stack of a panic that
// was raised again begins with what raised it.
func where(stack, goroot string) (at, state string) {
	if m := waiting().FindStringSubmatch(strings.TrimSpace(stack)); m != nil {
		state = " " + m[1]
	}
	if i := strings.LastIndex(stack, "\npanic("); i >= 0 {
		stack = stack[i+1:]
	}
	for _, m := range frame().FindAllStringSubmatch(stack, -1) {
		first, _, _ := strings.Cut(m[2], "/")
		switch {
		case paths.Within(m[2], filepath.Join(goroot, "src")), !filepath.IsAbs(m[2]) && !strings.Contains(first, "."): // with -trimpath, these are relative
		case at == "":
			at = fmt.Sprintf("%s (%s)", m[1], paths.Short(m[2]))
			if testFile().MatchString(m[2]) {
				return at, state
			}
		case testFile().MatchString(m[2]):
			return at + ", called in " + paths.Short(m[2]), state
		default:
			return at, state
		}
	}
	return at, state
}

// A caller is a function that was on the stack when a function failed.
type caller struct{ fn, file, line string }

var (
	calledBy = words.Regexp(`(?m)^# ftrace: (\S+) was called by (.+)$`)
	aCaller  = words.Regexp(`(\S+) \((.+?):(\d+)\)(?:, |$)`)
)

// callersOf returns the callers of the function that failed, the direct one first.
func callersOf(trace, fn string) (chain []caller) {
	for _, m := range calledBy().FindAllStringSubmatch(trace, -1) {
		if m[1] == fn && chain == nil {
			for _, c := range aCaller().FindAllStringSubmatch(m[2], -1) {
				chain = append(chain, caller{c[1], c[2], c[3]})
			}
		}
	}
	return chain
}

// program returns the callers that are before the first of test code or of package testing, and
// what that is: nil if there is none, as on a goroutine of the program.
func program(chain []caller) (within []caller, outside *caller) {
	for i, c := range chain {
		if strings.HasSuffix(c.file, "_test.go") || strings.HasPrefix(c.fn, "testing.") {
			return chain[:i], &chain[i]
		}
	}
	return chain, nil
}

// An event is the end of a call in a trace in JSON.
type event struct {
	Event, Func            string
	Goroutine, Depth, Call int
	Results                json.RawMessage
	Mock, Goexit           bool
	Panic                  any
}

func returns(trace string) iter.Seq[event] {
	return func(yield func(event) bool) {
		for line := range strings.Lines(trace) {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == "return" && !yield(e) {
				return
			}
		}
	}
}

// failsAnyway reports whether a call of a function returns an error in a trace of the test as it
// is.
func (s *sweeper) failsAnyway(trace, fn string, call int) bool {
	for e := range returns(trace) {
		if e.Func == fn && e.Call == call {
			return s.isError(e.Func, e.Results)
		}
	}
	return false
}

// follow tells by a trace of the callers, in JSON, how far up the injected error came: to the
// test's code, or to a function that returned without one. It returns the return of the last caller
// that it saw.
func (s *sweeper) follow(r *result, trace string, within []caller, outside *caller) (top event) {
	goroutine, depth, left := 0, 0, len(within)
	under := within // those that have not returned
	for e := range returns(trace) {
		switch {
		case goroutine == 0:
			if e.Func == r.Func && e.Mock {
				goroutine, depth, top = e.Goroutine, e.Depth, e
			}
			continue
		case e.Goroutine != goroutine || e.Depth >= depth:
			continue
		}
		depth, top = e.Depth, e
		if e.Panic == nil && !e.Goexit && !s.isError(e.Func, e.Results) {
			r.Outcome = swallowed
			for _, c := range within {
				if family(c.fn) == family(e.Func) {
					r.At = s.place(c)
					break
				}
			}
			if r.At == "" {
				r.At = e.Func
			}
			return top
		}
		for i, c := range under {
			if family(c.fn) == family(e.Func) {
				under = under[i+1:]
				break
			}
		}
		if left = depth; left == 0 {
			break
		}
	}
	switch {
	case goroutine == 0:
	case left == 0 && outside != nil:
		r.Outcome, r.At = reached, s.place(*outside)
	case len(under) > 0:
		r.At = s.place(under[0])
	}
	return top
}

// place returns a caller with the place of its call.
func (s *sweeper) place(c caller) string {
	return fmt.Sprintf("%s (%s:%s)", c.fn, paths.Short(s.source.file(c.fn, c.file)), c.line)
}

// isError reports whether the last of a function's results, in JSON, is an error that is not nil.
func (s *sweeper) isError(fn string, results []byte) bool {
	if _, known := s.source.find(fn); known != nil && known.noError {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(results))
	d.Token()
	var last json.RawMessage
	for d.More() {
		if d.Token(); d.Decode(&last) != nil {
			return false
		}
	}
	return errorForm().Match(last)
}

// errorForm matches what a trace has for errors: their type and message, or the type alone.
var errorForm = words.Regexp(`^"\*?[\pL_][^ "]*[({]`)
