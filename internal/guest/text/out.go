//go:build ftrace_core

// Where trace lines go: FTRACE_OUT. Each line is one write, made at once. So the lines up to then
// are written, whatever ends the program. Copies of lines that the program has written elsewhere
// can wait, see text/held.go.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceOut is where the lines go.
var ftraceOut = struct {
	on     bool // calls are shown, not only recorded
	spare  bool // it was opened for lines other than those of calls (FTRACE_PROTOCOL)
	fd     int32
	name   string // for messages
	dead   uint32 // a write failed, and nothing more is written; atomic
	lost   uint32 // lines since then; atomic
	lock   uint32 // semaphore: a pipe may mix long writes with others; see ftraceLockOut
	atLine uint64 // lines written, for the sequence number; atomic

	// Under the lock: whose unfinished line ends what was written so far, see weave/weave.go.
	open ftraceOpenLine
}{lock: 1}

// ftraceOpen opens what FTRACE_OUT names, "%p" being the process id. With "off" only the tracer's
// complaints are written. It reports on stderr what can't be opened; then nothing is traced.
func ftraceOpen(setting string) bool {
	switch setting {
	case "", "stderr", "off":
		ftraceOut.fd, ftraceOut.name = 2, "stderr"
	case "stdout":
		ftraceOut.fd, ftraceOut.name = 1, "stdout"
	default:
		name := ftraceExpand(setting)
		fd := ftraceOpenFile(name)
		if fd < 0 {
			ftraceComplain("FTRACE_OUT: can't open " + name + ": " + ftraceErrno(-fd) + "; the program runs untraced")
			return false
		}
		ftraceOut.fd, ftraceOut.name = fd, name
	}
	ftraceOut.dead = 0
	if ftraceStreamsKnown {
		ftraceHeld.off = 0
	}
	return true
}

// ftraceExpand replaces "%p" by the process id and "%%" by a percent sign.
func ftraceExpand(s string) string {
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+1 < len(s) {
			switch s[i+1] {
			case 'p':
				var digits [20]byte
				out = append(out, ftraceItoa(digits[:], uint64(ftracePid()))...)
				i++
				continue
			case '%':
				i++
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// ftraceWrite writes whole lines. It may let other goroutines run.
func ftraceWrite(data unsafe.Pointer, n int) {
	if n == 0 {
		return
	}
	if atomic.Load(&ftraceOut.dead) != 0 {
		atomic.Xadd(&ftraceOut.lost, 1)
		return
	}
	ftraceLockOut()
	if ftraceOut.open.goid != 0 {
		end := ftraceOut.open.end()
		ftraceOut.open = ftraceOpenLine{}
		ftraceWriteAll(unsafe.Pointer(unsafe.StringData(end)), len(end))
	}
	if errno := ftraceWriteAll(data, n); errno != 0 {
		ftraceDead(errno)
	}
	ftraceUnlockOut()
}

// ftraceWriteAll writes to where the lines go, under the lock, after what is held. It returns an
// errno or 0.
func ftraceWriteAll(data unsafe.Pointer, n int) (errno int32) {
	if ftraceHeld.whole > 0 {
		if ftraceHeld.text.add(data, n) {
			return ftraceWriteHeld()
		}
		if errno = ftraceWriteHeld(); errno != 0 {
			return errno
		}
	}
	for n > 0 {
		wrote := ftraceWriteFD(ftraceOut.fd, data, int32(n))
		if wrote > 0 {
			data = add(data, uintptr(wrote))
			n -= int(wrote)
		} else if !ftraceTryAgain(-wrote) {
			return -wrote
		}
	}
	return 0
}

// ftraceDead says once that no more can be written. From then on lines are counted.
func ftraceDead(errno int32) {
	if atomic.Cas(&ftraceOut.dead, 0, 1) {
		ftraceComplain("FTRACE_OUT: writing to " + ftraceOut.name + ": " + ftraceErrno(errno) + "; the program runs on, its trace ends here")
	}
	atomic.Xadd(&ftraceOut.lost, 1)
}

// ftraceOpenLine says which goroutine's line, written to which descriptor, does not end in a
// newline. Its zero value says that there is none.
type ftraceOpenLine struct {
	goid uint64
	fd   int32
	cr   bool // it ends in a carriage return

	painted bool    // it has changed colours
	begun   uint8   // bytes of a character at its end whose rest is to come
	bytes   [3]byte // those bytes
}

// end returns what ends the line, and the colours that it has begun. ftraceGroupsDying calls it on
// any stack.
//
//go:nosplit
func (l *ftraceOpenLine) end() string {
	if l.painted {
		return "\x1b[0m\n"
	}
	return "\n"
}

// ftraceRawLine is the owner of a line that is not woven: no goroutine goes on with it.
const ftraceRawLine = ^uint64(0)
