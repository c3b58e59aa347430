//go:build ftrace_core

// The tracer on systems other than Linux: text to stderr or stdout.

package runtime

import "unsafe"

type ftraceError struct {
	errno int32
	text  string
}

var ftraceErrors = [...]ftraceError{{78, "trace files are supported on linux only; use stderr or stdout"}}

func ftraceOpenFile(name string) int32 { return -78 }

func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 { return write(uintptr(fd), data, n) }

// ftraceStatCall is syscall.Fstat, set by package syscall where what is written is woven.
//
//go:linkname ftraceStatCall
var ftraceStatCall func(fd int) (dev, ino, rdev uint64, regular, ok bool)

func ftraceStat(fd int32) (id ftraceFileID, ok bool) {
	if ftraceStatCall != nil {
		id.dev, id.ino, id.rdev, id.regular, ok = ftraceStatCall(int(fd))
	}
	return id, ok
}

func ftraceTryAgain(errno int32) bool { return false }

func ftracePid() int32 { return 0 }

func ftraceTid() uint64 { return getg().m.procid }

func ftraceTerminal(fd int32) bool { return false }

func ftraceProbe(p uintptr, n uintptr) bool { return false }

func ftraceExecutable() string { return ftraceArg0() }
