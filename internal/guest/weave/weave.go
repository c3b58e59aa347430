//go:build ftrace_core

// Weaving: what the program writes to the file descriptors 1 and 2 appears in the trace, at the
// depth and on the goroutine that wrote it.
//
//	G1   + main.serve(addr=":8080") { // #1
//	G1     - listening on :8080
//
// Package syscall hands over its writes while something is traced (std/syscall/write.go). On
// Windows package internal/poll does so too, with what goes to a console
// (std/poll/console_windows.go). The builtin print functions come through weave/print.go. Packages
// log and log/slog say in weave/log.go what they are about to write.
//
// If the trace goes to the descriptor's file, the woven line takes the place of what was written.
// If not, that goes where it always went, as it is, and the woven line goes to the trace in
// addition.
//
// A write need not end in a newline. Then it leaves the line open, for the same goroutine to go on
// with. Whatever else is to be written ends that line first. Then the goroutine goes on with "-
// ...".

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceWeaves is not 0 while what is written is woven into the trace. Package syscall reads it at
// each write, packages log and log/slog at each line.
//
//go:linkname ftraceWeaves
var ftraceWeaves uint32

// FTRACE_WEAVE.
const (
	ftraceWeaveOn   = iota
	ftraceWeaveOff  // nothing is woven
	ftraceWeaveOnly // what is written to 1 and 2 goes to the trace alone
)

var ftraceWeaveMode int

// ftraceWeaveG is what the tracer knows of a goroutine's writes.
type ftraceWeaveG struct {
	log     *ftraceRecord // what package log or log/slog is writing, see weave/log.go
	moment  uint64        // tells the last record of log/slog that was woven from others; 0: there is none
	by      uintptr       // the handler that wrote it first
	unwoven int32         // calls of ftrace.WithoutWeaving under way
	fatal   bool          // package log's Fatal is under way, which ends the program
	partial uint8         // a bit for each descriptor: the last write did not end in a newline
}

// ftraceParseWeave reads FTRACE_WEAVE.
func ftraceParseWeave(s string) {
	switch s {
	case "", "1", "on", "true":
		ftraceWeaveMode = ftraceWeaveOn
	case "0", "off", "false":
		ftraceWeaveMode = ftraceWeaveOff
	case "only":
		ftraceWeaveMode = ftraceWeaveOnly
	default:
		ftraceComplain("FTRACE_WEAVE: " + s + " is neither on, off nor only")
	}
}

// ftraceMayWeave reports whether what goroutine gp writes now may be woven. What the tracer's own
// work writes, such as an Error method that it calls, is not.
func ftraceMayWeave(gp *g) bool {
	return ftraceMayTrace(gp) && (gp.ftrace == nil || gp.ftrace.busy == 0) && atomic.Load(&ftraceOut.dead) == 0
}

// ftrace_write does the work of syscall.Write, on Windows of WriteFile and WriteConsole, for the
// descriptors 1 and 2 while ftraceWeaves is set. errno is 0 if there was no error; otherwise n is
// negative.
//
//go:linkname ftrace_write
func ftrace_write(fd int32, p []byte) (n int, errno int32) {
	gp := getg()
	if len(p) == 0 || !ftraceMayWeave(gp) || !gp.ftraceWeave.log.canRead(p) {
		ftraceWriteHeldFirst(fd)
		return ftraceWriteRaw(fd, p)
	}
	if !ftraceOut.on { // it is only recorded, before it is written
		if gp.ftraceWeave.unwoven == 0 {
			ftraceWeave(gp, fd, p, gp.stack.hi-sys.GetCallerSP(), false)
		}
		if ftraceOnError != 0 && ftraceOwn(fd) { // the trace's lines must not begin in the middle of one
			return ftraceWriteRawOwn(fd, p)
		}
		return ftraceWriteRaw(fd, p)
	}
	own := ftraceOwn(fd)
	if gp.ftraceWeave.unwoven != 0 || fd == 1 && own && ftraceByTesting() {
		if own {
			if r := gp.ftraceWeave.log; r != nil {
				r.used = true // by the logger's writer, in its own form
			}
			return ftraceWriteRawOwn(fd, p)
		}
		return ftraceWriteRaw(fd, p)
	}
	n = len(p)
	if !own && ftraceWeaveMode != ftraceWeaveOnly {
		if n, errno = ftraceWriteRaw(fd, p); n <= 0 {
			return n, errno
		}
	}
	done, errno := ftraceWeave(gp, fd, p[:n], gp.stack.hi-sys.GetCallerSP(), own)
	switch {
	case !own:
		if errno != 0 {
			ftraceDead(errno)
		}
		return n, 0
	case done == 0 && errno != 0:
		return -1, errno
	}
	return done, 0
}

// ftraceWriteRaw writes p as it is.
func ftraceWriteRaw(fd int32, p []byte) (n int, errno int32) {
	wrote := ftraceWriteFD(fd, unsafe.Pointer(unsafe.SliceData(p)), int32(min(len(p), 1<<30)))
	if wrote < 0 {
		return -1, -wrote
	}
	return int(wrote), 0
}

// ftraceWriteRawOwn writes p as it is to the file that the trace goes to, but not in the middle of
// a line of the trace.
func ftraceWriteRawOwn(fd int32, p []byte) (n int, errno int32) {
	ftraceLockOut()
	ftraceWriteHeld()
	if n, errno = ftraceWriteRaw(fd, p); n > 0 {
		ftraceOut.open = ftraceOpenLine{}
		if p[n-1] != '\n' {
			ftraceOut.open.goid = ftraceRawLine
		}
	}
	ftraceUnlockOut()
	return n, errno
}

// ftraceWeave weaves p, which the goroutine writes to fd, except for what was woven before. offset
// is how far below the stack's top the call stands that writes it. own says that the trace goes to
// the same file: what is not written then is not done, and the error is the program's.
func ftraceWeave(gp *g, fd int32, p []byte, offset uintptr, own bool) (done int, errno int32) {
	r := gp.ftraceWeave.log
	if r != nil {
		switch r.match(p) {
		case ftraceRecordText:
			if r.used {
				return len(p), 0
			}
			if _, errno = ftraceWeaveText(gp, fd, r.bytes(), offset, own, r); errno != 0 {
				return 0, errno
			}
			r.used = true
			return len(p), 0
		case ftraceRecordOn:
			return len(p), 0
		}
	}
	if atomic.Load(&ftraceUnseen.n) == 0 {
		return ftraceWeaveText(gp, fd, p, offset, own, nil)
	}
	for from, to := 0, 0; ; {
		before, seen := ftraceUnseen.take(fd, p[to:], r != nil)
		if before != nil { // it seemed to be a known line, and was not
			_, errno = ftraceWeaveText(gp, fd, before.data[:before.n], offset, own, nil)
			ftraceFreeText(before)
			if errno != 0 {
				return from, errno
			}
		}
		if from < to && (seen > 0 || to == len(p)) {
			n, errno := ftraceWeaveText(gp, fd, p[from:to], offset, own, nil)
			if errno != 0 {
				return from + n, errno
			}
		}
		if to == len(p) {
			return len(p), 0
		}
		if seen > 0 {
			to += seen
			from = to
		} else if i := bytealg.IndexByte(p[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(p)
		}
	}
}

// ftraceWeaveText weaves text as it is, a record's if r is not nil.
func ftraceWeaveText(gp *g, fd int32, text []byte, offset uintptr, own bool, r *ftraceRecord) (done int, errno int32) {
	w := ftraceWeaver{gp: gp, fd: fd, own: own, open: &ftraceOut.open}
	t := gp.ftrace
	if t != nil {
		t.busy++
		t.sweep(gp, offset)
		t.busy--
	}
	if r == nil || !r.observed {
		level := int32(ftrace_format_LevelUnknown)
		if r != nil && (r.message > 0 || r.level != 0) {
			level = int32(r.level)
		}
		ftraceConsumeLines(gp, text, level)
	}
	if !ftraceOut.on {
		return len(text), 0
	}
	if t != nil {
		t.busy++
		t.release(t.depth)
		w.depth = min(t.shown, ftraceTextSize/8) // leaves room for the text
	}
	ftraceLockOut()
	switch {
	case t.grouping():
		w.group = ftraceGroupOf(t)
		w.b, w.open = w.group.text(1), &w.group.open
	case !own && ftraceWeaveMode == ftraceWeaveOn && ftraceCopyCanWait():
		w.b, w.held = ftraceHeld.text, true
	default:
		w.b = ftraceNewText()
	}
	if ftraceFormat.json {
		w.json(text, r)
	} else {
		w.text(text)
	}
	switch {
	case w.group != nil:
		w.done = w.at
	case w.held:
		w.done = w.at
		ftraceCopyHeld()
	default:
		w.flush()
		ftraceFreeText(w.b)
	}
	if w.done > 0 {
		w.leaveOpen(text[:w.done])
	}
	if w.group != nil {
		w.group.ended()
	}
	ftraceUnlockOut()
	if t != nil {
		t.busy--
	}
	return w.done, w.errno
}

// ftraceWeaver is one write that is woven. It is used under ftraceOut's lock.
type ftraceWeaver struct {
	gp    *g
	group *ftraceGroup // the group that gets the text; nil if it is written now
	b     *ftraceText
	open  *ftraceOpenLine
	fd    int32
	depth int32
	own   bool
	held  bool // it is a copy that is held
	wrote bool
	line  ftraceOpenLine // the line that is being written
	at    int            // how much of what is woven is in b or written
	done  int            // how much of it was written, or is held
	errno int32          // why the rest was not
}

// text adds lines of text, and the beginning of one.
func (w *ftraceWeaver) text(text []byte) {
	open := *w.open
	mine := open.goid == w.gp.goid && open.fd == w.fd
	if mine {
		w.line = open
	}
	if open.goid != 0 && !mine && w.room(8) {
		w.b.uncolour(open.painted)
		w.b.byte('\n')
	}
	continued := !mine && w.gp.ftraceWeave.partial>>w.fd&1 != 0
	start := !mine || open.cr && text[0] != '\n'
	for w.at < len(text) && w.room(int(w.depth)*2+512) {
		b := w.b
		if start {
			b.prefix(w.gp, w.depth)
			b.byte('-')
			switch {
			case continued:
				b.str(" ...")
				continued = false
			case text[w.at] != '\n':
				b.byte(' ')
			}
		}
		end := w.at + ftraceLineEnd(text[w.at:])
		for w.at < end && len(b.data)-b.n > 256 {
			w.at += w.part(unsafe.String(&text[w.at], end-w.at), end == len(text))
		}
		start = false
		if w.at == end && end < len(text) {
			if text[end] == '\n' {
				b.uncolour(w.line.painted)
				w.line.painted = false
			}
			w.line.begun = 0
			b.byte(text[end])
			w.at++
			// A carriage return goes back to the beginning of the line, prefix and all.
			start = text[end] == '\n' || w.at < len(text) && text[w.at] != '\n'
		}
	}
}

// part adds a part of s, which is the rest of a line, and returns how long the part is. last says
// that nothing comes after s. What must not reach a terminal is escaped, except for tabs and for
// what changes colours.
//
// Where a write ends within a character, its bytes are shown as they are. So are the other bytes
// when they come, if the character is one that may be shown.
func (w *ftraceWeaver) part(s string, last bool) int {
	b := w.b
	if begun := int(w.line.begun); begun > 0 {
		w.line.begun = 0
		var c [4]byte
		copy(c[:], w.line.bytes[:begun])
		more := copy(c[begun:], s)
		whole := unsafe.String(&c[0], begun+more)
		if n, safe := ftrace_escape_Next(whole); safe && n > begun {
			b.str(s[:n-begun])
			return n - begun
		}
		if last && more == len(s) && len(whole) < 4 && ftrace_escape_Unfinished(whole) == len(whole) {
			w.line.begun = uint8(copy(w.line.bytes[:], whole))
			b.str(s)
			return len(s)
		}
	}
	if n := ftrace_escape_Plain(s); n > 0 {
		if room := len(b.data) - b.n - 8; n > room {
			for n = room; s[n]&0xC0 == 0x80; {
				n--
			}
		}
		b.str(s[:n])
		return n
	}
	if s[0] == '\t' {
		b.byte('\t')
		return 1
	}
	if n := ftrace_escape_Colour(s); n > 0 {
		b.str(s[:n])
		w.line.painted = s[:n] != "\x1b[0m" && s[:n] != "\x1b[m"
		return n
	}
	if last && ftrace_escape_Unfinished(s) == len(s) {
		w.line.begun = uint8(copy(w.line.bytes[:], s))
		b.str(s)
		return len(s)
	}
	n, _ := ftrace_escape_Next(s)
	for i := range n {
		b.escape(s[i])
	}
	return n
}

// uncolour ends the colours that a line has begun, so that they do not affect what follows.
func (b *ftraceText) uncolour(painted bool) {
	if painted {
		b.str("\x1b[0m")
	}
}

// leaveOpen notes whether the text that was woven ended its line. In JSON all lines are ended.
func (w *ftraceWeaver) leaveOpen(text []byte) {
	bit := uint8(1) << w.fd
	*w.open = ftraceOpenLine{}
	w.gp.ftraceWeave.partial &^= bit
	if last := text[len(text)-1]; last != '\n' {
		w.gp.ftraceWeave.partial |= bit
		if !ftraceFormat.json {
			*w.open = w.line
			w.open.goid, w.open.fd, w.open.cr = w.gp.goid, w.fd, last == '\r'
		}
	}
}

// ftraceLineEnd returns where a newline or a carriage return is in p, or its length.
func ftraceLineEnd(p []byte) int {
	if i := bytealg.IndexByte(p, '\n'); i >= 0 {
		p = p[:i]
	}
	if i := bytealg.IndexByte(p, '\r'); i >= 0 {
		return i
	}
	return len(p)
}

// room makes room for n bytes in the buffer. It returns false if what is in it could not be
// written.
func (w *ftraceWeaver) room(n int) bool {
	if len(w.b.data)-w.b.n >= n {
		return true
	}
	if w.group != nil {
		w.b = w.group.text(n)
		return true
	}
	return w.flush()
}

// flush writes what is in the buffer. The first error of a write that the program made is the
// program's, as are "try again" and the like. What was left unwritten then counts as never given.
func (w *ftraceWeaver) flush() bool {
	if w.errno != 0 || w.b.n == 0 {
		return w.errno == 0
	}
	if w.held {
		ftraceHeld.whole = w.b.n
		ftraceWriteHeld()
		return true
	}
	from := 0
	if w.own && !w.wrote {
		ftraceWriteHeld()
		n := ftraceWriteFD(ftraceOut.fd, unsafe.Pointer(&w.b.data), int32(w.b.n))
		if n < 0 {
			w.errno = -n
			w.b.n = 0
			return false
		}
		from = int(n)
	}
	if w.errno = ftraceWriteAll(unsafe.Pointer(&w.b.data[from]), w.b.n-from); w.errno != 0 {
		return false
	}
	w.wrote = true
	w.done = w.at
	w.b.n = 0
	return true
}
