//go:build ftrace_core

// The text trace: one line when a call begins, one when it ends.
//
//	G1   + main.add(a=1, b=2) { // #1
//	G1     } = 3 // main.add
//
// With fold or min= in force an entry line is held back until it is clear what follows: the exit of
// the same call (fold), or how long the call lasted (min). Held lines wait in order in the
// goroutine's held text. The frames say where each begins.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// name appends a function's name as a trace shows it: its package's name, a dot, the name.
func (b *ftraceText) name(f *ftraceFunc) {
	symbol := f.pkg.Symbol
	if f.flags&ftraceIsProbe != 0 {
		b.shown(symbol)
		b.str(":::")
		b.shown(f.name)
		return
	}
	if f.flags&ftraceIsWait != 0 {
		b.str("wait/")
		b.str(f.name)
		return
	}
	if f.flags&ftraceIsSpan != 0 {
		b.str(symbol)
		b.byte('/')
		b.shown(f.name)
		return
	}
	if !ftraceFormat.paths {
		symbol = f.pkg.label()
	}
	b.shown(symbol)
	b.byte('.')
	b.shown(f.name)
}

// flush writes the buffer's lines and empties it.
func (b *ftraceText) flush() {
	b.convert()
	ftraceWrite(unsafe.Pointer(&b.data), b.n)
	b.n = 0
}

// ftraceIndentMax is the number of levels that lines are indented at most. Calls that are tens of
// thousands deep would be all spaces.
const ftraceIndentMax = 1000

// prefix begins a line of goroutine gp at the given depth.
func (b *ftraceText) prefix(gp *g, depth int32) {
	from := b.n
	f := &ftraceFormat
	if f.seq {
		b.uint(atomic.Xadd64(&ftraceOut.atLine, 1))
		b.pad(from, 7)
		b.byte(' ')
	}
	if f.wall {
		b.wallTime()
	}
	if f.elapsed {
		at := b.n
		b.fixed((nanotime()-ftraceStarted)/1e3, 6)
		b.pad(at, 11)
		b.byte(' ')
	}
	if f.tid {
		at := b.n
		b.byte('T')
		b.uint(ftraceTid())
		b.pad(at, 8)
		b.byte(' ')
	}
	at := b.n
	b.colour(31 + gp.goid%6)
	painted := b.n - at
	b.byte('G')
	b.uint(gp.goid)
	b.colour(0)
	if b.n > at+painted && ftraceFormat.colour {
		painted += len("\x1b[0m")
	}
	b.pad(at, 4+painted)
	b.byte(' ')
	for range min(depth, ftraceIndentMax) {
		b.str("  ")
	}
}

// open begins a line about a call of f, up to its values.
func (b *ftraceText) open(gp *g, depth int32, mark string, f *ftraceFunc) {
	b.prefix(gp, depth)
	b.str(mark)
	b.name(f)
	b.byte('(')
}

// colour switches to a terminal's colour, 0 for none, if colours are on.
func (b *ftraceText) colour(code uint64) {
	if ftraceFormat.colour {
		b.number("\x1b[", code)
		b.byte('m')
	}
}

// ftracePrintEntry shows that the call of frame begins.
func ftracePrintEntry(gp *g, t *ftraceG, frame *ftraceFrame, args []any) {
	clause := frame.clause.ptr()
	b := ftraceNewText()
	brace := 0
	suppressed := atomic.Xchg(&frame.fn.ptr().suppressed, 0)
	if ftraceFormat.json {
		b.jsonEntry(gp, t, frame, clause, args, suppressed)
	} else {
		brace = b.entry(gp, t, frame, clause, args, suppressed)
	}
	t.headed = true
	if clause.Min > 0 || ftraceFormat.duration {
		frame.start = nanotime()
	}
	frame.Flags |= ftrace_format_FrameHasText
	t.entryLine(frame, b, brace)
	ftraceFreeText(b)
}

// entry appends the line that says that a call begins. suppressed is the number of calls before it
// that were not shown. entry returns where the part after the brace begins.
func (b *ftraceText) entry(gp *g, t *ftraceG, frame *ftraceFrame, clause *ftrace_rule_Clause, args []any, suppressed uint32) (brace int) {
	f := frame.fn.ptr()
	b.open(gp, frame.shown, "+ ", f)
	if clause.Detail >= ftrace_rule_Args {
		p := b.printer(clause)
		p.list(f.names(false), args, false)
		if clause.Capture != "" {
			p.captured(&ftracePaths{f: f, text: clause.Capture, redaction: clause.Own}, args, false)
		}
	}
	b.str(") {")
	brace = b.n
	b.colour(2)
	b.number(" // #", frame.Count)
	if !t.headed && t.parentFn != 0 {
		b.number(" from G", t.parent)
		b.byte(' ')
		b.name(t.parentFn.ptr())
		b.number(" #", uint64(t.parentCount))
	}
	if suppressed != 0 {
		b.number(" (", uint64(suppressed))
		b.str(" calls not shown: ")
		b.str(f.hiddenBy())
		b.byte(')')
	}
	if ftraceFormat.pos {
		b.byte(' ')
		b.shown(f.pkg.Files[f.file])
		b.byte(':')
		b.uint(uint64(f.line))
	}
	b.colour(0)
	b.byte('\n')
	return brace
}

// hiddenBy returns the setting by which some calls of f are not shown.
func (f *ftraceFunc) hiddenBy() string {
	if l := f.loadLaid(); l != nil && l.clause != nil && l.clause.Rate != 0 {
		return "rate="
	}
	return "lines="
}

// entryLine prints or holds the entry line in b.
func (t *ftraceG) entryLine(frame *ftraceFrame, b *ftraceText, brace int) {
	if frame.clause.ptr().Min == 0 {
		t.release(t.depth - 1)
		if !ftraceFormat.fold || ftraceFormat.json {
			t.emit(b)
			frame.Flags |= ftrace_format_FramePrinted
			return
		}
	}
	if t.held == nil {
		t.held = ftraceNewText()
	}
	if t.held.n+b.n > len(t.held.data) {
		frame.Flags |= ftrace_format_FrameHeldLost
		return
	}
	frame.held = int32(t.held.n) + 1
	frame.heldAt = int32(t.held.n + brace)
	t.held.n += copy(t.held.data[t.held.n:], b.data[:b.n])
}

// release prints the held entry lines of the frames below number depth.
func (t *ftraceG) release(depth int32) {
	if t.held == nil || t.held.n == 0 {
		return
	}
	for i := depth - 1; i >= 0; i-- {
		frame := t.frame(i)
		if frame.Flags&ftrace_format_FramePrinted != 0 {
			break
		}
		if frame.held != 0 {
			frame.held = 0
			frame.Flags |= ftrace_format_FramePrinted
		}
	}
	t.emit(t.held)
}

// ftraceBeforeGo is called by newproc for each go statement: lines of the new goroutine must not
// come before that of the call that starts it.
func ftraceBeforeGo() {
	gp := getg()
	if t := gp.ftrace; t != nil && t.busy == 0 && ftraceMayTrace(gp) {
		t.releaseLong()
	}
}

// releaseLong prints the held entry lines of those calls that have already lasted as long as min=
// says.
func (t *ftraceG) releaseLong() {
	if t.held == nil || t.held.n == 0 {
		return
	}
	now := nanotime()
	for i := range t.depth {
		frame := t.frame(i)
		if frame.held != 0 && frame.clause.ptr().Min > now-frame.start {
			from, to := int(frame.held)-1, t.held.n
			t.held.n = from
			t.release(i)
			t.keep(i, from, to)
			return
		}
	}
	t.release(t.depth)
}

// keep moves the held text between from and to to the front. It belongs to the frames from number i
// on.
func (t *ftraceG) keep(i int32, from, to int) {
	t.held.n = copy(t.held.data[:], t.held.data[from:to])
	for ; i < t.depth; i++ {
		if frame := t.frame(i); frame.held != 0 {
			frame.held -= int32(from)
			frame.heldAt -= int32(from)
		}
	}
}

// ftracePrintExit shows that the call of the topmost frame ends.
func ftracePrintExit(gp *g, t *ftraceG, frame *ftraceFrame, results []any, p *_panic) {
	var lasted int64
	if frame.start != 0 {
		lasted = nanotime() - frame.start
	}
	if frame.Flags&ftrace_format_FramePrinted == 0 && lasted < frame.clause.ptr().Min {
		if frame.held != 0 {
			t.held.n = int(frame.held) - 1
		}
		if frame.shown == 0 {
			t.ungroup()
		}
		return
	}
	b := ftraceNewText()
	comment := ""
	if frame.held != 0 && ftraceFormat.fold && !ftraceFormat.json {
		// "+ f() {" of the held line, the results, then the held comment. Its bytes are still in
		// held's data after its length: only this goroutine uses it.
		held := t.held
		start, brace := int(frame.held)-1, int(frame.heldAt)
		b.str(unsafe.String(&held.data[start], brace-start))
		comment = unsafe.String(&held.data[brace], held.n-brace)
		held.n = start
		t.release(t.depth - 1)
	} else {
		if frame.held != 0 || frame.Flags&ftrace_format_FrameHeldLost != 0 {
			t.releaseWith(gp, frame)
		}
		if !ftraceFormat.json {
			b.prefix(gp, frame.shown+1)
		}
	}
	if ftraceFormat.json {
		b.jsonEnding(gp, frame, results, p, lasted)
	} else {
		b.ending(gp, frame, results, p)
		b.comment(gp, frame, comment, lasted)
	}
	t.emit(b)
	if frame.shown == 0 {
		t.ungroup()
	}
	ftraceFreeText(b)
}

// releaseWith prints the held entry lines up to that of frame, the topmost. If that one did not
// fit, it is printed without parameters.
func (t *ftraceG) releaseWith(gp *g, frame *ftraceFrame) {
	t.release(t.depth)
	if frame.Flags&ftrace_format_FrameHeldLost == 0 {
		return
	}
	b := ftraceNewText()
	if ftraceFormat.json {
		b.jsonFrame(gp, frame, "call")
		b.str("}\n")
	} else {
		b.open(gp, frame.shown, "+ ", frame.fn.ptr())
		b.number("...) { // #", frame.Count)
		b.byte('\n')
	}
	t.emit(b)
	ftraceFreeText(b)
}

// ending appends how a call ended: the brace, then results or panic. The results of a function with
// inline hooks are values, others are pointers.
func (b *ftraceText) ending(gp *g, frame *ftraceFrame, results []any, p *_panic) {
	b.byte('}')
	printer := b.printer(frame.clause.ptr())
	switch {
	case p != nil && p.goexit:
		b.str(" Goexit")
		return
	case p != nil:
		printer.panicked(" panic ", p.arg, frame)
		return
	case frame.Flags&ftrace_format_FramePanicked != 0:
		printer.panicked(" panic ", gp.ftraceRecovered, frame)
		return
	}
	if len(results) > 0 && frame.clause.ptr().Detail >= ftrace_rule_Args {
		b.str(" = ")
		pointers := frame.Flags&ftrace_format_FrameAtReturns == 0
		printer.list(frame.fn.ptr().names(true), results, pointers)
		if clause := frame.clause.ptr(); clause.Capture != "" {
			printer.captured(&ftracePaths{f: frame.fn.ptr(), text: clause.Capture, results: true, redaction: clause.Own}, results, pointers)
		}
	}
	if frame.Flags&ftrace_format_FrameRecovered != 0 {
		printer.panicked(" recovered ", gp.ftraceRecovered, frame)
	}
}

// panicked appends a panic's value. Only its type is shown if parameters and results are not: it
// may hold what they do.
func (p *ftracePrinter) panicked(what string, value any, frame *ftraceFrame) {
	p.b.str(what)
	if t := efaceOf(&value)._type; frame.clause.ptr().Detail < ftrace_rule_Args && t != nil {
		p.b.shown(toRType(t).string())
		return
	}
	p.dynamic(value, true)
}

// comment appends what stands after an ending, and ends the line. entry is the comment of a folded
// entry line.
func (b *ftraceText) comment(gp *g, frame *ftraceFrame, entry string, lasted int64) {
	if entry != "" {
		b.str(entry[:len(entry)-1])
	} else {
		b.colour(2)
		b.str(" // ")
		b.name(frame.fn.ptr())
		b.colour(0)
	}
	if frame.Flags&ftrace_format_FrameReplaced != 0 {
		b.str(" mock")
	}
	if ftraceFormat.duration {
		b.byte(' ')
		b.duration(lasted)
	}
	if frame.note != 0 {
		notes := gp.ftrace.notes
		from := int(frame.note) - 1
		b.str(": ")
		b.str(unsafe.String(&notes.data[from], notes.n-from))
	}
	b.byte('\n')
}
