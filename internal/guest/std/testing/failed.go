//go:build ftrace_core

// This file is added to package testing. It tells the core that a test fails: that is an error of
// the goroutine which calls Error, Fatal or Fail. The calls that the core returns, of this
// goroutine and the others of the test, are folded by package testtree, and kept until the result
// of the test is printed.

package testing

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	_ "unsafe" // for go:linkname
)

//go:linkname ftraceTests runtime.ftrace_api_tests
func ftraceTests(importPath string, quiet bool)

//go:linkname ftraceTesting runtime.ftrace_api_testing
func ftraceTesting() (onError int, now uint64)

//go:linkname ftraceFailed runtime.ftrace_api_failed
func ftraceFailed(what string, take func(kind byte, depth int, line string)) int

//go:linkname ftraceCalls runtime.ftrace_api_calls
func ftraceCalls(goid uint64, most int, since uint64, take func(kind byte, depth int, line string))

//go:linkname ftraceStarted runtime.ftrace_api_started
func ftraceStarted(since uint64, take func(goid, by, at uint64))

//go:linkname ftraceKeep runtime.ftrace_api_keep
func ftraceKeep(test string) string

//go:linkname ftraceLeftOut runtime.ftrace_api_left_out
func ftraceLeftOut(names []string) (n int)

//go:linkname ftraceGoroutine runtime.ftrace_api_goroutine
func ftraceGoroutine() uint64

// An ftraceTest is a test that has begun; of a benchmark all is zero.
type ftraceTest struct {
	goroutine uint64
	at        uint64 // ticks
	top       bool   // it is no subtest
}

// ftraceFailure is what a test keeps of its failures until they are printed. The test's mu guards
// what follows test.
type ftraceFailure struct {
	test    ftraceTest
	message string // what was logged last
	text    string
	lines   int // in text
	more    int // failures for which there is no room
}

const (
	ftraceLeast = 4    // lines, for a failure after the first
	ftraceAll   = 1000 // calls, as many as the core gives
)

// ftraceBegun are the tests that have begun, by name. FTRACE_ON_ERROR is set.
var ftraceBegun sync.Map

// ftraceStart is called before TestMain.
func ftraceStart(deps testDeps) {
	if onError, _ := ftraceTesting(); onError > 0 {
		ftraceTests(deps.ImportPath(), ftraceStartedByTest())
	}
}

// ftraceStartedByTest reports whether a test, of the same executable, started this process. The
// test looks at what this one prints. Workers of a fuzz test are no such process, nor is one with
// the same arguments: the tests themselves run there, as in a container that TestMain makes.
func ftraceStartedByTest() bool {
	if slices.Contains(os.Args, "-test.fuzzworker") {
		return false
	}
	parent := "/proc/" + strconv.Itoa(os.Getppid())
	own, err := os.Readlink("/proc/self/exe")
	if other, failed := os.Readlink(parent + "/exe"); err != nil || failed != nil || other != own {
		return false
	}
	line, err := os.ReadFile(parent + "/cmdline")
	_, args, _ := strings.Cut(string(line), "\x00")
	return err == nil && args != strings.Join(append(slices.Clone(os.Args[1:]), ""), "\x00")
}

// ftraceBegins is called by the test's goroutine before the test.
func (t *T) ftraceBegins() {
	if onError, now := ftraceTesting(); onError > 0 {
		t.ftrace.test = ftraceTest{ftraceGoroutine(), now, t.level == 1}
		ftraceBegun.Store(t.name, t.ftrace.test)
	}
}

// ftraceLog notes what is logged: a failure's message.
func (c *common) ftraceLog(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ftrace.message = s
}

// ftraceFails is called when a test calls Fail, not for the tests around it.
func (c *common) ftraceFails() {
	c.mu.Lock()
	message := c.ftrace.message
	c.mu.Unlock()
	for c.isSynctest { // the test around it is printed
		c = c.parent
	}
	c.mu.Lock()
	used, full := c.ftrace.lines, c.ftrace.more > 0
	c.mu.Unlock()
	what := c.name + " failed"
	if full {
		ftraceFailed(what, nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ftrace.more++
		return
	}
	var lines []ftrace_tree_Line
	if used == 0 {
		lines, _ = c.ftrace.test.others(ftraceGoroutine(), ftraceMaxCalls)
	}
	before := len(lines)
	most := ftraceFailed(what, ftraceCollect(&lines))
	if len(lines) == before {
		return
	}
	hint := ""
	if used == 0 && ftraceCount(lines) <= ftraceFew {
		around, whole := c.ftraceAround()
		lines = append(around, lines...)
		if !whole {
			hint = "# ftrace: run by itself, with -run, it shows what the test around it did for it\n"
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if used > 0 && most-used < ftraceLeast {
		c.ftrace.more++
		return
	}
	text := ftraceTree(what, ftraceGoroutine(), lines, message, most-used) + hint
	c.ftrace.lines += strings.Count(text, "\n")
	if c.bench { // of which only the result is printed
		fmt.Fprint(os.Stderr, text)
		return
	}
	c.ftrace.text += text
}

// ftraceCollect returns a function that appends a copy of each line to lines.
func ftraceCollect(lines *[]ftrace_tree_Line) func(kind byte, depth int, line string) {
	return func(kind byte, depth int, line string) {
		*lines = append(*lines, ftrace_tree_Line{Kind: kind, Depth: depth, Text: strings.Clone(line)})
	}
}

// The limits of what is shown of the other goroutines of a test.
const (
	ftraceMaxOthers = 32 // goroutines: those that were started last
	ftraceMaxCalls  = 30 // of each, of a test around a subtest ftraceAll
)

// others returns the last calls, at most so many of each, of the goroutines of a test, other than
// this one: its own, and those that were started by it, but not by other tests. It reports whether
// there are no more goroutines than it looks at.
func (t ftraceTest) others(this uint64, most int) (lines []ftrace_tree_Line, whole bool) {
	type goroutine struct{ goid, by, at uint64 }
	var started []goroutine
	by := map[uint64]uint64{}
	ftraceStarted(t.at, func(goid, parent, at uint64) {
		started = append(started, goroutine{goid, parent, at})
		by[goid] = parent
	})
	tests := map[uint64]bool{}
	ftraceBegun.Range(func(_, test any) bool {
		tests[test.(ftraceTest).goroutine] = true
		return true
	})
	own := t.goroutine
	if own == 0 {
		own = this
	}
	started = slices.DeleteFunc(started, func(g goroutine) bool {
		goid := g.goid
		for n := 0; n < len(by) && goid != 0 && goid != own && !tests[goid]; n++ {
			goid = by[goid]
		}
		return goid != own || g.goid == own || g.goid == this
	})
	slices.SortFunc(started, func(a, b goroutine) int { return int(a.at - b.at) })
	whole = len(started) <= ftraceMaxOthers
	started = started[max(len(started)-ftraceMaxOthers, 0):]
	if own != this {
		started = append(started, goroutine{goid: own, at: t.at})
	}
	for _, g := range started {
		ftraceCalls(g.goid, most, g.at, ftraceCollect(&lines))
		lines = append(lines, ftrace_tree_Line{Kind: ftrace_tree_Switch})
	}
	return lines, whole
}

// ftraceFew is how many calls, itself included, a subtest makes at most that only looks at what the
// test around it has done: a table of results, say.
const ftraceFew = 2

// ftraceCount returns how many calls begin in lines.
func ftraceCount(lines []ftrace_tree_Line) (n int) {
	for _, l := range lines {
		if l.Kind == ftrace_tree_Begins {
			n++
		}
	}
	return n
}

// ftraceAround returns the last calls of a test around c: the innermost that made any. It reports
// whether they are whole. If that test started many goroutines, it returns no calls and false,
// since most of them belong to other subtests.
func (c *common) ftraceAround() (lines []ftrace_tree_Line, whole bool) {
	for p := c.parent; p != nil && p.ftrace.test.goroutine != 0; p = p.parent {
		if lines, whole = p.ftrace.test.others(ftraceGoroutine(), ftraceAll); !whole {
			return nil, false
		} else if ftraceCount(lines) > 1 {
			return lines, true
		}
	}
	return nil, true
}

// ftraceKeeps is called when a test, or a fuzz test, has ended.
func (c *common) ftraceKeeps() {
	if c.level == 1 && c.Failed() { // it is no subtest
		ftraceKeepTest(c.name)
	}
}

var ftraceKeepMu sync.Mutex

// ftraceKeepTest keeps a recording of a test that failed, if FTRACE_KEEP says so.
func ftraceKeepTest(name string) {
	ftraceKeepMu.Lock()
	defer ftraceKeepMu.Unlock()
	if wrong := ftraceKeep(name); wrong != "" {
		fmt.Fprintf(os.Stderr, "# ftrace: FTRACE_KEEP: %s: %s\n", name, wrong)
	}
}

// ftraceTree returns the folded lines, after one that says what happened.
func ftraceTree(what string, goid uint64, lines []ftrace_tree_Line, message string, most int) string {
	text := "# ftrace: " + what + " on G" + strconv.FormatUint(goid, 10) + "\n" + ftrace_tree_Fold(lines, message, most)
	if strings.Contains(text, "=***") || strings.Contains(text, "= ***") || strings.Contains(text, ", ***") || strings.Contains(text, ":***") {
		text += "# ftrace: *** hides what may be secret by its name: FTRACE_REDACT=off shows it\n"
	}
	names := make([]string, 3)
	n := ftraceLeftOut(names)
	if n == 0 {
		return text
	}
	text += "# ftrace: FTRACE_BUDGET=off shows all calls; some were left out of " + strings.Join(names[:min(n, len(names))], ", ")
	if n > len(names) {
		text += " and " + strconv.Itoa(n-len(names)) + " more"
	}
	return text + "\n"
}

// ftraceFail is Fail for the tests around one that fails.
func (c *common) ftraceFail() {
	if c.parent != nil {
		c.parent.ftraceFail()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		panic("Fail in goroutine after " + c.name + " has completed")
	}
	c.failed = true
}

// ftraceFlush prints the failures before the result, to where that goes. Its caller has locked c
// and its parent p.
func (c *common) ftraceFlush(p *common, testName string) {
	text := c.ftrace.text
	if text == "" {
		return
	}
	if c.ftrace.more > 0 {
		text += "# ftrace: " + testName + " failed " + strconv.Itoa(c.ftrace.more) + " times more: -lines or FTRACE_ON_ERROR shows more lines\n"
	}
	c.ftrace.text, c.ftrace.more = "", 0
	if c.chatty != nil && (p.w == c.chatty.w || c.chatty.json) {
		c.chatty.Printf(testName, "%s", text)
	} else {
		fmt.Fprint(p.w, text)
	}
}

// ftraceTimedOut prints the calls of the tests that run when the time is up.
func ftraceTimedOut() {
	most, _ := ftraceTesting()
	if most == 0 {
		return
	}
	var names []string
	running.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	slices.Sort(names)
	for _, name := range names {
		begun, ok := ftraceBegun.Load(name)
		if !ok {
			continue
		}
		test := begun.(ftraceTest)
		lines, _ := test.others(test.goroutine, ftraceMaxCalls)
		ftraceCalls(test.goroutine, ftraceAll, test.at, ftraceCollect(&lines))
		fmt.Fprint(os.Stderr, ftraceTree(name+" had not ended in time", test.goroutine, lines, "", most))
		if test.top {
			ftraceKeepTest(name)
		}
	}
}
