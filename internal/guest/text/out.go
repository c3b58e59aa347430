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

	id ftraceFileID // of the file
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
	ftraceOut.id, _ = ftraceStat(ftraceOut.fd)
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

// ftraceItoa writes v at the end of buf.
func ftraceItoa(buf []byte, v uint64) []byte {
	i := len(buf)
	for {
		i--
		buf[i] = byte('0' + v%10)
		v /= 10
		if v == 0 {
			return buf[i:]
		}
	}
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
		end := "\n"
		if ftraceOut.open.painted {
			end = "\x1b[0m\n"
		}
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

// add appends n bytes if there is room for all of them.
func (b *ftraceText) add(data unsafe.Pointer, n int) bool {
	if n > len(b.data)-b.n {
		return false
	}
	memmove(unsafe.Pointer(&b.data[b.n]), data, uintptr(n))
	b.n += n
	return true
}

// ftraceDead says once that no more can be written. From then on lines are counted.
func ftraceDead(errno int32) {
	if atomic.Cas(&ftraceOut.dead, 0, 1) {
		ftraceComplain("FTRACE_OUT: writing to " + ftraceOut.name + ": " + ftraceErrno(errno) + "; the program runs on, its trace ends here")
	}
	atomic.Xadd(&ftraceOut.lost, 1)
}

// ftraceComplain tells the user on stderr what is wrong.
func ftraceComplain(message string) {
	ftraceWriteHeldFirst(2)
	line := "ftrace: "
	for len(message) > 0 {
		n := ftrace_escape_Plain(message)
		line += message[:n]
		if message = message[n:]; message != "" {
			code, size := ftrace_escape_Code(message[0])
			line += string(code[:size])
			message = message[1:]
		}
	}
	line += "\n"
	write(2, unsafe.Pointer(unsafe.StringData(line)), int32(len(line)))
}

// ftraceErrno names the errors that a user is likely to see.
func ftraceErrno(errno int32) string {
	if errno > ftraceRefused {
		return ftrace_ownfile_Refusal(errno - ftraceRefused).String()
	}
	for _, e := range ftraceErrors {
		if e.errno == errno {
			return e.text
		}
	}
	var digits [20]byte
	return "error " + string(ftraceItoa(digits[:], uint64(uint32(errno))))
}
