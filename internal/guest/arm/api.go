//go:build ftrace_core

// What package ftrace (github.com/ftrace-wrap/ftrace-wrap/runtime) calls.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	_ "unsafe" // for go:linkname
)

// ftrace_api_rules returns the rules in force.
//
//go:linkname ftrace_api_rules
func ftrace_api_rules() string {
	if c := ftraceLoadConfig(); c != nil {
		return c.text
	}
	return ""
}

// ftrace_api_setRules puts rules in force. It returns "", or what is wrong with them and where.
//
//go:linkname ftrace_api_setRules
func ftrace_api_setRules(rules string) (message string, offset, length int) {
	r, err, ok := ftraceNewRules(rules, !ftraceRecording.wanted)
	if !ok {
		return err.Message, err.Offset, err.Length
	}
	if !ftraceShowFromNow() {
		return "FTRACE_OUT can't be opened", 0, 0
	}
	return ftraceArm(0, r, false), 0, 0
}

// ftraceShowFromNow has calls written as lines, unless an environment variable has said what to do
// with them. It returns false if that is not possible.
func ftraceShowFromNow() bool {
	semacquire(&ftracePreparing)
	defer semrelease(&ftracePreparing)
	if ftraceOut.fd == 0 || ftraceOut.spare {
		ftracePrepare(0, ftraceConsumersOr(ftrace_format_ConsumersAll))
		if !ftraceOut.spare && !ftraceOpen(ftraceGetenv("FTRACE_OUT")) {
			return false
		}
		ftraceFormat.terminal(ftraceOut.fd)
		stw := stopTheWorld(stwUnknown) // calls armed from outside may be under way, which look at on
		ftraceOut.on, ftraceOut.spare = true, false
		startTheWorld(stw)
	}
	return true
}

// ftrace_api_budget returns what the program's own recording may cost, in percent, 0: there is no
// limit.
//
//go:linkname ftrace_api_budget
func ftrace_api_budget() int { return int(atomic.Load(&ftraceBudget.own) / 1e4) }

// ftrace_api_setBudget sets that. It returns "", or why it can't.
//
//go:linkname ftrace_api_setBudget
func ftrace_api_setBudget(percent int) string { return ftraceAskBudget(0, uint32(percent)*1e4) }

// ftrace_api_matches returns how many functions clause i of the rules in force decides for, or -1
// if there is no such clause.
//
//go:linkname ftrace_api_matches
func ftrace_api_matches(i int) int {
	c := ftraceLoadConfig()
	if c == nil || i < 0 || i >= len(c.clauses) {
		return -1
	}
	return int(c.matches[i])
}

// ftrace_api_depth returns how many shown calls are under way on this goroutine.
//
//go:linkname ftrace_api_depth
func ftrace_api_depth() int {
	gp := getg()
	t := gp.ftrace
	if t == nil {
		return 0
	}
	if t.busy == 0 && ftraceMayTrace(gp) {
		t.busy++
		t.verify(gp, nil, 0)
		t.busy--
	}
	return int(t.shown)
}

// ftrace_api_goroutine returns the goroutine's number.
//
//go:linkname ftrace_api_goroutine
func ftrace_api_goroutine() uint64 { return getg().goid }

// ftrace_api_unwoven begins (1) or ends (-1) a stretch in which what the goroutine writes is not
// woven into the trace.
//
//go:linkname ftrace_api_unwoven
func ftrace_api_unwoven(delta int32) { getg().ftraceWeave.unwoven += delta }

// ftrace_api_logged takes a line that the goroutine is about to write without weaving it in.
//
//go:linkname ftrace_api_logged
func ftrace_api_logged(level int, line []byte) {
	if gp := getg(); ftraceTakesLines(gp, sys.GetCallerSP()) {
		ftraceConsumeLines(gp, line, int32(max(level, ftrace_format_LevelUnknown)))
	}
}

// ftrace_api_tests is called when a program of tests begins, before TestMain, with the import path
// of their package. If they are to show nothing, quiet is true.
//
//go:linkname ftrace_api_tests
func ftrace_api_tests(importPath string, quiet bool) {
	ftraceTesting, ftraceTestRings.tests = true, importPath
	if quiet {
		ftraceOnError, ftraceTestRings.directory = 0, ""
	}
}

// ftrace_api_testing is called when a test begins. It returns FTRACE_ON_ERROR, and the time. Within
// a budget the first calls of the test are noted.
//
//go:linkname ftrace_api_testing
func ftrace_api_testing() (onError int, now uint64) {
	if ftraceOnError == 0 {
		return 0, 0
	}
	ftraceBudgetAnew()
	return ftraceOnError, ftraceTicks()
}

// ftrace_api_keep makes a recording of what the rings have, if FTRACE_KEEP names a directory for
// it. It returns what is wrong.
//
//go:linkname ftrace_api_keep
func ftrace_api_keep(test string) string {
	return ftraceKeepRings(test)
}

// ftrace_api_failed is called when a test fails, which is an error of the goroutine. If take is not
// nil it gets the goroutine's last calls, and those under way. ftrace_api_failed returns
// FTRACE_ON_ERROR.
//
//go:linkname ftrace_api_failed
func ftrace_api_failed(what string, take ftraceTakesLine) int {
	gp := getg()
	if !ftraceTakesLines(gp, sys.GetCallerSP()) {
		return 0
	}
	ftraceRecordLine(gp, ftraceLevelError, what)
	if t := gp.ftrace; take != nil && ftraceOnError != 0 && t != nil && t.recorded && t.busy == 0 && ftraceMayTrace(gp) {
		t.busy++
		ftraceContext(gp, t, ftraceOnErrorMax, t.contextShown, take)
		t.busy--
	}
	return ftraceOnError
}

// ftrace_api_calls gives the last calls of another goroutine since then to take, at most so many,
// as far as they are still in the rings.
//
//go:linkname ftrace_api_calls
func ftrace_api_calls(goid uint64, most int, since uint64, take ftraceTakesLine) {
	if ftraceOnError != 0 && ftraceMayTrace(getg()) {
		gp := new(g) // as good as the goroutine's: only its number is read
		gp.goid = goid
		ftraceContext(gp, nil, min(most, ftraceOnErrorMax), since, take)
	}
}

// ftrace_api_started gives the goroutines to take that calls have started since then, each with the
// one that started it and the time of its first record, as far as that is still in the rings.
//
//go:linkname ftrace_api_started
func ftrace_api_started(since uint64, take func(goid, by, at uint64)) {
	if ftraceOnError != 0 && ftraceMayTrace(getg()) {
		ftraceStartedSince(since, take)
	}
}

// ftraceTakesLines reports whether what the goroutine logs is recorded, and prepares for that. sp
// is the stack pointer of the function that called the core.
func ftraceTakesLines(gp *g, sp uintptr) bool {
	if !ftraceRecords() || !ftraceMayWeave(gp) {
		return false
	}
	if r := gp.ftraceWeave.log; r != nil {
		r.observed = true
	}
	if t := gp.ftrace; t != nil {
		t.busy++
		t.sweep(gp, gp.stack.hi-sp)
		t.busy--
	}
	return true
}

// ftrace_api_enabled reports whether the call that called its caller, a function of package ftrace,
// is shown.
//
//go:linkname ftrace_api_enabled
func ftrace_api_enabled() bool {
	return ftraceShownAt(sys.GetCallerPC(), sys.GetCallerSP()) != nil
}

// ftraceShownAt returns the frame of the function that called the one at pc with this stack
// pointer, or nil if that call is not shown.
func ftraceShownAt(pc, sp uintptr) *ftraceFrame {
	gp := getg()
	t := gp.ftrace
	if t == nil || t.depth == 0 || t.busy != 0 || !ftraceMayTrace(gp) {
		return nil
	}
	caller := sp + uintptr(funcspdelta(findfunc(pc), pc))
	if !usesLR {
		caller += goarch.PtrSize // its return address
	}
	t.sweep(gp, gp.stack.hi-caller)
	if t.depth == 0 {
		return nil
	}
	frame := t.frame(t.depth - 1)
	if frame.sp != gp.stack.hi-caller || frame.clause == 0 && frame.Flags&ftraceFrameSessions == 0 {
		return nil
	}
	return frame
}

// ftrace_api_note adds text to the line that ends the call of its caller's caller.
//
//go:linkname ftrace_api_note
func ftrace_api_note(text string) {
	frame := ftraceShownAt(sys.GetCallerPC(), sys.GetCallerSP())
	if frame == nil {
		return
	}
	t := getg().ftrace
	ftraceRecordNote(getg(), t, frame, text)
	if frame.clause == 0 {
		return
	}
	if t.notes == nil {
		t.notes = ftraceNewText()
	}
	notes := t.notes
	if frame.note == 0 {
		frame.note = int32(notes.n) + 1
		frame.Flags |= ftrace_format_FrameHasText
	} else {
		notes.str(", ")
	}
	room := max(0, min(len(text), len(notes.data)-notes.n-1, ftraceFormat.line))
	notes.shown(text[:room])
}
