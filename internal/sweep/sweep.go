// Package sweep runs tests with each function failing that can, and tells what comes of it.
//
// In come flags, packages and flags of tests. Their tests are built with hooks, and run once as
// they are, which shows what each reaches (sweep.go). Functions whose source shows that they need
// not fail are left out, and errors are taken from that of the others (source.go). Each test runs
// once for each of these, with FTRACE_FAIL; how it ends is judged, and where the error went is told
// by another run (run.go). That is kept in a report (report.go), and summed up by the place at
// fault (findings.go, sarif.go). Command ftrace-wrap calls it for its verb sweep. It instruments
// nothing itself: that is done by -toolexec.
package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/progress"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Options say what is run.
type Options struct {
	Time     time.Duration // 0: as long as it takes
	Tests    string        // regular expression for their names
	Funcs    string        // rules that name the functions; "": all
	Report   string        // a file for results; "": none
	Baseline string        // a file of known findings; "": none
	Update   bool          // write that file, instead of reading it
	SARIF    string        // a file for findings; "": none
	Parallel int           // runs at a time
	Always   bool          // all calls of the function fail, not one
	Errors   string        // with which errors: One, All, None
	From     string        // a recording that has the errors; "": they are those of the source
	Build    []string      // flags of go test -c
	Packages []string      // patterns; none: that of the current directory
	Args     []string      // flags of the tests
}

// The errors with which a function fails.
const (
	One  = "one"  // the first of those that its source returns
	All  = "all"  // each of them
	None = "none" // one that is made up, as where the source tells none
)

// Run runs each test once for each function that it reaches and that returns an error, with that
// function failing. It reports whether there were panics or hangs; with a baseline, new findings.
func Run(stdout, stderr io.Writer, o *Options) (bad bool, err error) {
	s := &sweeper{Options: *o, stderr: stderr, progress: progress.New(os.Stderr, screen.Terminal(os.Stderr))}
	if len(s.Packages) == 0 {
		s.Packages = []string{"."}
	}
	toolexec, err := gocmd.ToolexecFlag("test", s.Build)
	if err != nil {
		return false, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	if s.report, err = openReport(s.Report); err != nil {
		return false, err
	}
	defer func() {
		if err := s.report.close(); err != nil {
			fmt.Fprintf(stderr, "ftrace-wrap: sweep: -report: %v: it is not complete\n", err)
		}
	}()
	if s.Errors == "" {
		s.Errors = One
	}
	if s.From != "" {
		if s.seen, err = readSeen(s.From); err != nil {
			return false, fmt.Errorf("-from: %v", err)
		}
	}
	if s.Baseline != "" && !s.Update {
		if s.known, err = readBaseline(s.Baseline); err != nil {
			return false, err
		}
	}
	if s.temp, err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "ftrace-wrap-sweep-"); err != nil {
		return false, fmt.Errorf("making a directory for the tests: %v: set TMPDIR or GOTMPDIR to a writable one", err)
	}
	defer os.RemoveAll(s.temp)
	if s.temp, err = filepath.Abs(s.temp); err != nil {
		return false, err
	}
	s.selectFuncs()
	first := gocmd.AnnounceFirst()
	packages, err := s.prepare(ctx, toolexec)
	if first != nil {
		first()
	}
	if err != nil {
		return false, err
	}
	// The time is the tests': how long a build takes depends on what was built before. At most half
	// of it is for the tests as they are.
	running, surveying := ctx, ctx
	if s.Time > 0 {
		var cancel, cancelSurvey context.CancelFunc
		running, cancel = context.WithTimeout(ctx, s.Time)
		defer cancel()
		surveying, cancelSurvey = context.WithTimeout(ctx, s.Time/2)
		defer cancelSurvey()
	}
	var jobs []job
	for _, p := range packages {
		jobs = append(jobs, s.survey(surveying, p)...)
	}
	orderJobs(jobs)
	s.runAll(running, jobs)
	s.progress.End()
	why := "the time was up"
	if ctx.Err() != nil {
		why = "it was interrupted"
	}
	return s.summarize(stdout, why)
}

// summarize writes what was found, and reports whether any of it is bad: panics and hangs, or, with
// a baseline, all that this lacks.
func (s *sweeper) summarize(stdout io.Writer, why string) (bad bool, err error) {
	f, known := &s.found, 0
	bad = f.count[panicked]+f.count[hung] > 0
	switch {
	case s.Update:
		if err := f.writeBaseline(s.Baseline); err != nil {
			return false, err
		}
		bad = false
	case s.Baseline != "":
		known = f.forget(s.known)
		bad = len(f.places) > 0
	}
	f.write(stdout, why, s.Report)
	if known > 0 {
		fmt.Fprintf(stdout, "%s known to %s\n", words.Count(known, "finding"), s.Baseline)
	}
	if s.SARIF != "" {
		err = f.writeSARIF(s.SARIF)
	}
	return bad, err
}

// sweeper is one run of the command.
type sweeper struct {
	Options
	stderr   io.Writer
	goroot   string
	temp     string
	report   *report
	known    map[string]bool // findings of the baseline
	named    bool            // the user says which functions fail
	source   *source
	seen     map[string][]seenError // in the recording
	progress *progress.Display

	mu    sync.Mutex
	runs  int // for names in temp
	found findings
}

// selectFuncs gives hooks to what the tests replace, as "ftrace-wrap test" does.
func (s *sweeper) selectFuncs() {
	added := targets.Select(slices.Concat(s.Build, s.Packages))
	if s.named = s.Funcs != ""; !s.named {
		s.Funcs = strings.Join(append([]string{"*"}, added...), ";!pkg:")
	}
}

// testPackage is a package with tests.
type testPackage struct {
	path, dir string
	program   string // its tests
	content   string // a hash of the program and its arguments
	tests     []string
}

// prepare finds the packages, builds their tests and lists them.
func (s *sweeper) prepare(ctx context.Context, toolexec string) ([]*testPackage, error) {
	path, err := gocmd.Path()
	if err != nil {
		return nil, err
	}
	if s.goroot, err = gocmd.Goroot(ctx); err != nil {
		return nil, err
	}
	const form = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	list := exec.CommandContext(ctx, path, slices.Concat([]string{"list", "-f", form}, targets.LoadFlags(s.Build), s.Packages)...)
	list.Stderr = s.stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %v", strings.Join(s.Packages, " "), err)
	}
	var found []*testPackage
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found = append(found, &testPackage{path: path, dir: dir, program: filepath.Join(s.temp, fmt.Sprintf("%d.test%s", len(found), exe))})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: there are no packages with tests", strings.Join(s.Packages, " "))
	}
	for _, p := range found {
		s.progress.Say("sweep: building the tests of %s", p.path)
		cmd := exec.CommandContext(ctx, path, slices.Concat([]string{"test", "-c", toolexec, "-o", p.program}, s.Build, []string{p.path})...)
		var printed strings.Builder
		cmd.Stdout, cmd.Stderr = &printed, &printed
		if err := cmd.Run(); err != nil {
			s.progress.End()
			io.WriteString(s.stderr, printed.String())
			return nil, fmt.Errorf("building the tests of %s: %v", p.path, err)
		}
		if p.content, err = hashFile(p.program, s.Args); err != nil {
			return nil, err
		}
		r := s.execute(ctx, p, "", []string{"-test.list", s.Tests}, plainLimit)
		if r.status != 0 {
			s.progress.End()
			io.WriteString(s.stderr, r.output)
			return nil, fmt.Errorf("listing the tests of %s: exit status %d", p.path, r.status)
		}
		p.tests = testName().FindAllString(r.output, -1)
	}
	s.found.several = len(found) > 1
	s.source = &source{list: func(importPath string) (dir string) {
		cmd := exec.CommandContext(ctx, path, slices.Concat([]string{"list", "-f", "{{.Dir}}"}, targets.LoadFlags(s.Build), []string{importPath})...)
		out, _ := cmd.Output() // of what is not found, source knows nothing
		return strings.TrimSpace(string(out))
	}}
	return found, nil
}

var testName = words.Regexp(`(?m)^(Test|Example|Fuzz)[\pL\pN_]*$`)

// hashFile returns a hash of a file and of the arguments with which it is run.
func hashFile(name string, args []string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	fmt.Fprintf(h, "%q", args)
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)[:12]), err
}

// job is one test with one function failing.
type job struct {
	pkg    *testPackage
	test   string
	fn     string
	err    string        // with which it fails, as FTRACE_FAIL names it; "": one that is made up
	fail   string        // FTRACE_FAIL
	call   int           // which call fails
	always bool          // and all later ones
	plain  time.Duration // what the test takes without
	rank   int           // how many tests of the function are shorter
}

// survey runs the tests of a package as they are, and returns what is to be run of them. Calls
// before the first test, of the package's initialisation or its TestMain, are not made to fail.
func (s *sweeper) survey(ctx context.Context, p *testPackage) (jobs []job) {
	setting := s.Funcs + ";!file:*_test.go#0"
	before, ok := s.record(ctx, p, job{pkg: p, fail: setting})
	if !ok {
		s.found.unknown += len(p.tests)
		return nil
	}
	if before.Outcome != passed {
		s.found.leaveOut(p, "", before)
		return nil
	}
	for i, test := range p.tests {
		s.progress.Show("sweep: %s: %d of %d tests as they are: %s", p.path, i, len(p.tests), test)
		r, ok := s.record(ctx, p, job{pkg: p, test: test, fail: setting})
		if !ok {
			s.found.unknown += len(p.tests) - i
			return jobs
		}
		if r.Outcome != passed {
			s.found.leaveOut(p, test, r)
			continue
		}
		for fn, calls := range r.Reached {
			if first := before.Reached[fn] + 1; calls >= first && s.mayFail(fn) {
				j := job{pkg: p, test: test, fn: fn, call: first, always: s.Always, plain: time.Duration(r.Seconds * float64(time.Second))}
				for _, err := range s.errorsOf(fn) {
					jobs = append(jobs, j.with(err))
				}
			}
		}
	}
	return jobs
}

// mayFail reports whether a function is to fail. Those are left out whose error can't happen, or is
// what they make, unless the user names functions.
func (s *sweeper) mayFail(fn string) bool {
	if s.named {
		return true
	}
	why := s.source.why(fn)
	if why == "" {
		return true
	}
	if s.found.beside == nil {
		s.found.beside = map[string]string{}
	}
	s.found.beside[fn] = why
	return false
}

// with returns the job with the function failing with an error.
func (j job) with(err string) job {
	j.err = err
	j.fail = "func:" + pattern(j.fn)
	if err != "" {
		j.fail += "=" + err
	}
	j.fail += fmt.Sprintf("#%d", j.call)
	if j.always {
		j.fail += "+"
	}
	return j
}

// pattern returns a function's name as one in a rule, where * is any text.
func pattern(fn string) string { return strings.ReplaceAll(fn, "*", "?") }

// family returns a pattern for a function, or for all literals of the function that one is in:
// where that is inlined, its literals have other names on the stack than in the table of functions.
func family(fn string) string {
	at := literal().FindStringIndex(fn)
	if at == nil {
		return pattern(fn)
	}
	importPath, name := funcname.Split(fn[:at[0]])
	return importPath + ".*" + name[strings.LastIndexByte(name, '.')+1:] + ".func*"
}

var literal = words.Regexp(`([.-](func|gowrap|deferwrap|range)?\d+)+$`)

// errorsOf returns the errors with which a function is to fail.
func (s *sweeper) errorsOf(fn string) []string {
	errs := s.source.errors(fn)
	if s.From != "" {
		errs = s.source.seenNames(fn, s.seen[strings.ReplaceAll(fn, "%2e", ".")])
	}
	switch {
	case len(errs) == 0 || s.Errors == None:
		return []string{""}
	case s.Errors == All:
		return errs
	}
	return errs[:1]
}

// orderJobs puts first what tells most in little time: each function in the shortest of its tests,
// then in the next.
func orderJobs(jobs []job) {
	slices.SortFunc(jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.fn, b.fn), cmp.Compare(a.err, b.err), cmp.Compare(a.plain, b.plain), cmp.Compare(a.pkg.path, b.pkg.path), cmp.Compare(a.test, b.test))
	})
	for i := range jobs {
		if i > 0 && jobs[i].fn == jobs[i-1].fn && jobs[i].err == jobs[i-1].err {
			jobs[i].rank = jobs[i-1].rank + 1
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(a.rank, b.rank) })
}

// runAll runs the jobs, some at a time.
func (s *sweeper) runAll(ctx context.Context, jobs []job) {
	s.found.jobs = len(jobs)
	queue := make(chan job)
	var wg sync.WaitGroup
	for range s.Parallel {
		wg.Go(func() {
			for j := range queue {
				r, ok := s.record(ctx, j.pkg, j)
				if ok && r.Outcome == unusable {
					j = j.with("")
					r, ok = s.record(ctx, j.pkg, j)
				}
				if ok {
					s.mu.Lock()
					s.found.add(j, r)
					s.progress.Show("sweep: %s: %s, %s failing", s.found.counts(), j.test, j.fn)
					s.mu.Unlock()
				}
			}
		})
	}
	for _, j := range jobs {
		queue <- j // after ctx is done, they are all dropped
	}
	close(queue)
	wg.Wait()
}

// record returns what the report has of a job, or runs it and adds that to the report. It returns
// false if there was no time for it.
func (s *sweeper) record(ctx context.Context, p *testPackage, j job) (result, bool) {
	r := result{Binary: p.content, Package: p.path, Test: j.test, Func: j.fn, Error: j.err, Fail: j.fail}
	limit := plainLimit
	switch {
	case j.fn != "":
		limit = max(faultLimit, 10*j.plain)
	case s.Time > 0:
		limit = min(limit, max(s.Time/20, 2*time.Second))
	}
	if known, ok := s.report.find(r); ok && (known.Outcome != hung || known.Seconds >= limit.Seconds()) {
		return known, true
	}
	if ctx.Err() != nil {
		return r, false
	}
	name := "^$"
	if j.test != "" {
		name = "^" + j.test + "$"
	}
	args := []string{"-test.run", name, "-test.v", "-test.paniconexit0", "-test.timeout", limit.String()}
	e := s.execute(ctx, p, j.fail, args, limit+5*time.Second)
	if e.signal == os.Interrupt { // which the terminal sends to the tests as well as to us
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	if ctx.Err() != nil {
		return r, false
	}
	r.judge(e, limit, s.goroot)
	if r.Outcome == lost {
		s.explain(ctx, p, j, &r, e, args, 2*limit+5*time.Second)
		if ctx.Err() != nil {
			return r, false
		}
	}
	s.report.add(r)
	return r, true
}

// explain tells why a test passes: where the error went, or that the call, or the one by which the
// error reached the test, fails without us as well. It runs the test again, tracing what that
// takes.
func (s *sweeper) explain(ctx context.Context, p *testPackage, j job, r *result, e execution, args []string, limit time.Duration) {
	traced := func(fail string, functions ...caller) string {
		var rules []string
		for _, c := range functions {
			rules = append(rules, "func:"+family(c.fn)+"=first=0")
		}
		return s.execute(ctx, p, fail, args, limit, "FTRACE="+strings.Join(rules, ";"), "FTRACE_FORMAT=json,path").trace
	}
	own, top := caller{fn: j.fn}, event{Func: j.fn, Call: j.call}
	within, outside := program(callersOf(e.trace, j.fn))
	if len(within) > 0 {
		if end := s.follow(r, traced(j.fail, append(slices.Clone(within), own)...), within, outside); end.Func != "" {
			top = end
		}
	} else if outside != nil {
		r.Outcome, r.At = reached, s.place(*outside)
	}
	plain := traced("", own, caller{fn: top.Func})
	if s.failsAnyway(plain, j.fn, j.call) || r.Outcome == reached && s.failsAnyway(plain, top.Func, top.Call) {
		r.Outcome, r.At = expected, ""
	}
}

const (
	plainLimit = 10 * time.Minute // for a test as it is, go test's own; with -time at most a twentieth of that, or 2s
	faultLimit = 5 * time.Second  // for a test with a function failing at least, else ten times what it takes without
)
