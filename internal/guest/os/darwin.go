//go:build ftrace_core

// The tracer on macOS: text to stderr or stdout.

package runtime

import "unsafe"

type ftraceError struct {
	errno int32
	text  string
}

const ftraceUnsupported = 78 // ENOSYS

var ftraceErrors = [...]ftraceError{{ftraceUnsupported, "trace files and recordings in files are not supported on macOS; use stderr, stdout or ring"}}

// ftraceNotInNames are the characters that the name of a file may not have.
const ftraceNotInNames = "/"

const ftraceEEXIST = 17

func ftraceOpenFile(name string) int32 { return -ftraceUnsupported }

func ftraceOpenOwnDir(name string) int32 { return -ftraceUnsupported }

// Recordings in memory do without these.

func ftraceCreateAt(dir int32, name string) int32 { return -ftraceUnsupported }

func ftraceWriteAt(fd int32, data unsafe.Pointer, n int, offset int64) int32 {
	return ftraceUnsupported
}

func ftraceMapFile(fd int32, offset int64, size uintptr) (unsafe.Pointer, int32) {
	return nil, ftraceUnsupported
}

func ftraceUnmap(p unsafe.Pointer, size uintptr) {}

func ftraceClose(fd int32) {}

func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 { return write(uintptr(fd), data, n) }

func ftraceTryAgain(errno int32) bool { return false }

func ftracePid() int32 { return 0 }

func ftraceExecutable() string { return ftraceArg0() }

func ftraceGetenv(name string) string { return gogetenv(name) }

func ftraceArguments() []string { return argslice }

func ftraceProbe(p uintptr, n uintptr) bool { return false }

// ftraceProcessTime is not known here.
func ftraceProcessTime() int64 { return 0 }
