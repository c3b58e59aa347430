//go:build ftrace_core

// What package ftrace (github.com/ftrace-wrap/ftrace-wrap/runtime) calls.

package runtime

import (
	"internal/goarch"
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
	c, err, ok := ftraceNewConfig(rules)
	if !ok {
		return err.Message, err.Offset, err.Length
	}
	if !ftraceShowFromNow() {
		return "FTRACE_OUT can't be opened", 0, 0
	}
	ftraceArm(c)
	return "", 0, 0
}

// ftraceShowFromNow has calls written as lines, unless an environment variable has said what to do
// with them. It returns false if that is not possible.
func ftraceShowFromNow() bool {
	semacquire(&ftracePreparing)
	defer semrelease(&ftracePreparing)
	if ftraceOut.fd == 0 || ftraceOut.spare {
		ftracePrepare(0, ftraceParseConsumers(gogetenv("FTRACE_CONSUMERS"), ftrace_format_ConsumersAll))
		if !ftraceOut.spare && !ftraceOpen(gogetenv("FTRACE_OUT")) {
			return false
		}
		ftraceFormat.terminal(ftraceOut.fd)
		stw := stopTheWorld(stwUnknown) // calls armed from outside may be under way, which look at on
		ftraceOut.on, ftraceOut.spare = true, false
		startTheWorld(stw)
	}
	return true
}

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
	gp := getg()
	if !ftraceRecording.on || !ftraceMayWeave(gp) {
		return
	}
	if r := gp.ftraceWeave.log; r != nil {
		r.observed = true
	}
	if t := gp.ftrace; t != nil {
		t.busy++
		t.sweep(gp, gp.stack.hi-sys.GetCallerSP())
		t.busy--
	}
	ftraceConsumeLines(gp, line, int32(max(level, ftrace_format_LevelUnknown)))
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
	if frame.sp != gp.stack.hi-caller || frame.clause == 0 {
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
	if ftraceRecording.on {
		ftraceRecordNote(getg(), frame, text)
	}
	t := getg().ftrace
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
