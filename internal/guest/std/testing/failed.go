//go:build ftrace_core

// This file is added to package testing. It tells the core that a test fails: that is an error of
// the goroutine which calls Error, Fatal or Fail. The calls that the core returns are folded by
// package testtree, and kept until the result of the test is printed.

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

//go:linkname ftraceTesting runtime.ftrace_api_testing
func ftraceTesting() int

//go:linkname ftraceFailed runtime.ftrace_api_failed
func ftraceFailed(what string, take func(kind byte, depth int, line string)) int

//go:linkname ftraceCalls runtime.ftrace_api_calls
func ftraceCalls(goid uint64, take func(kind byte, depth int, line string))

//go:linkname ftraceGoroutine runtime.ftrace_api_goroutine
func ftraceGoroutine() uint64

// ftraceFailure is what a test keeps of its failures until they are printed. The test's mu guards
// it.
type ftraceFailure struct {
	message string // what was logged last
	text    string
	lines   int // in text
	more    int // failures for which there is no room
}

const ftraceLeast = 4 // lines, for a failure after the first

// ftraceGoroutines are those of the tests that have begun, by name. FTRACE_ON_ERROR is set.
var ftraceGoroutines sync.Map

// ftraceBegins is called by the test's goroutine before the test.
func (t *T) ftraceBegins() {
	if ftraceTesting() > 0 {
		ftraceGoroutines.Store(t.name, ftraceGoroutine())
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
	most := ftraceFailed(what, ftraceCollect(&lines))
	if len(lines) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if used > 0 && most-used < ftraceLeast {
		c.ftrace.more++
		return
	}
	text := ftraceTree(what, ftraceGoroutine(), lines, message, most-used)
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

// ftraceTree returns the folded lines, after one that says what happened.
func ftraceTree(what string, goid uint64, lines []ftrace_tree_Line, message string, most int) string {
	return "# ftrace: " + what + " on G" + strconv.FormatUint(goid, 10) + "\n" + ftrace_tree_Fold(lines, message, most)
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
	most := ftraceTesting()
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
		goid, ok := ftraceGoroutines.Load(name)
		if !ok {
			continue
		}
		var lines []ftrace_tree_Line
		ftraceCalls(goid.(uint64), ftraceCollect(&lines))
		fmt.Fprint(os.Stderr, ftraceTree(name+" had not ended in time", goid.(uint64), lines, "", most))
	}
}
