//go:build ftrace_core

// What package ftrace (github.com/ftrace-wrap/ftrace-wrap/runtime) calls.

package runtime

import _ "unsafe" // for go:linkname

// ftrace_api_rules returns the rules in force.
//
//go:linkname ftrace_api_rules
func ftrace_api_rules() string {
	if c := ftraceLoadConfig(); c != nil {
		return c.text
	}
	return ""
}

// ftrace_api_setRules puts rules in force. It returns what is wrong with them, and where, or "".
//
//go:linkname ftrace_api_setRules
func ftrace_api_setRules(rules string) (message string, offset, length int) {
	if ftraceStarted == 0 {
		ftraceStarted = nanotime()
		ftraceBinary = ftraceExecutable()
		if !ftraceOpen(gogetenv("FTRACE_OUT")) {
			ftraceStarted = 0
			return "FTRACE_OUT can't be opened", 0, 0
		}
		ftraceFormat.terminal(ftraceOut.fd)
	}
	c, err, ok := ftraceNewConfig(rules)
	if !ok {
		return err.Message, err.Offset, err.Length
	}
	ftraceArm(c)
	return "", 0, 0
}

// ftrace_api_matches returns how many functions clause i of the rules in force decides for, -1 if there is no such clause.
//
//go:linkname ftrace_api_matches
func ftrace_api_matches(i int) int {
	c := ftraceLoadConfig()
	if c == nil || i < 0 || i >= len(c.clauses) {
		return -1
	}
	return int(c.matches[i])
}

// ftrace_api_depth returns how many shown calls are under way on this goroutine, and whether the innermost armed call is shown.
//
//go:linkname ftrace_api_depth
func ftrace_api_depth() (depth int, shown bool) {
	t := getg().ftrace
	if t == nil || t.depth == 0 {
		return 0, false
	}
	return int(t.shown), t.frame(t.depth-1).clause != nil
}

// ftrace_api_note adds text to the line that ends the innermost armed call of this goroutine.
//
//go:linkname ftrace_api_note
func ftrace_api_note(text string) {
	gp := getg()
	t := gp.ftrace
	if t == nil || t.depth == 0 || !ftraceMayTrace(gp) {
		return
	}
	frame := t.frame(t.depth - 1)
	if frame.clause == nil {
		return
	}
	if t.notes == nil {
		t.notes = ftraceNewText()
	}
	notes := t.notes
	if frame.note == 0 {
		frame.note = int32(notes.n) + 1
	} else {
		notes.str(", ")
	}
	room := max(0, min(len(text), len(notes.data)-notes.n-1, ftraceFormat.line))
	for i := 0; i < room; i++ {
		c := text[i]
		if c < ' ' || c == 0x7F {
			c = ' ' // a note stays on its line
		}
		notes.byte(c)
	}
}
