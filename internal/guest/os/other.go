//go:build ftrace_core

// The tracer on systems other than Linux: text to stderr or stdout.

package runtime

import "unsafe"

type ftraceError struct {
	errno int32
	text  string
}

var ftraceErrors = [...]ftraceError{{78, "trace files and recordings in files are supported on linux only; use stderr, stdout or ring"}}

// Recordings in files are for Linux; those in memory do without these.

const (
	ftraceWorkingDir = 0
	ftraceENOENT     = 2
	ftraceEEXIST     = 17
	ftraceELOOP      = 40
	ftraceAppend     = 0
	ftraceAppendNew  = 0
	ftraceCreate     = 0
	ftraceDirectory  = 0
	ftracePlain      = 0
	ftraceNoLink     = 0
)

func ftraceOpenAt(dir int32, name string, flags uintptr) int32 { return -78 }

func ftraceStatus(fd int32) (ftrace_ownfile_Stat, bool) { return ftrace_ownfile_Stat{}, false }

func ftraceIsProc(fd int32) bool { return false }

func ftraceReadLink(dir int32, name string) string { return "" }

func ftraceLetWait(fd int32) {}

func ftraceUser() uint32 { return 0 }

func ftraceMakeDir(dir int32, name string) int32 { return 78 }

func ftraceWriteAt(fd int32, data unsafe.Pointer, n int, offset int64) int32 { return 78 }

func ftraceMapFile(fd int32, offset int64, size uintptr) (unsafe.Pointer, int32) { return nil, 78 }

// There is no memory that others can see, nor any in its place.

func ftraceMemoryFile(size uint64) int32 { return 0 }

func ftraceResize(fd int32, size uint64) int32 { return 78 }

func ftraceMapMemory(at, size uint64) unsafe.Pointer { return nil }

func ftraceForget(at, size uint64) {}

func ftraceWait(p *uint32, v uint32, ns int64) bool { return false }

func ftraceWake(p *uint32) int { return 0 }

//go:nosplit
func ftraceSystemTicks() uint64 { return 0 }

const ftraceSystemTicksPerSecond = 0

func ftraceUnmap(p unsafe.Pointer, size uintptr) {}

func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 { return write(uintptr(fd), data, n) }

// Nothing is held, so nothing is left to be written in haste.

//go:nosplit
func ftraceWriteNow(fd int32, data unsafe.Pointer, n int32) int32 { return -78 }

//go:nosplit
func ftraceSendNow(fd int32, data unsafe.Pointer, n int32) int32 { return -78 }

func ftraceStreamSocket(fd int32) bool { return false }

func ftraceOpenAgain(fd int32) int32 { return 0 }

//go:nosplit
func ftracePause() {}

//go:nosplit
func ftraceWritable(fd int32, ms int64) bool { return false }

//go:nosplit
func ftraceSleepOn(p *uint32, v uint32) {}

//go:nosplit
func ftraceWakeOne(p *uint32) {}

const ftraceStreamsKnown = false

// ftraceStatCall is syscall.Fstat, set by package syscall where what is written is woven.
//
//go:linkname ftraceStatCall
var ftraceStatCall func(fd int) (dev, ino, rdev uint64, regular, ok bool)

func ftraceStat(fd int32) (id ftraceFileID, ok bool) {
	if ftraceStatCall != nil {
		var regular bool
		if id.dev, id.ino, id.rdev, regular, ok = ftraceStatCall(int(fd)); regular {
			id.kind = ftraceFileRegular
		}
	}
	return id, ok
}

func ftraceTryAgain(errno int32) bool { return false }

func ftracePid() int32 { return 0 }

func ftraceTid() uint64 { return getg().m.procid }

func ftraceTerminal(fd int32) bool { return false }

func ftraceProbe(p uintptr, n uintptr) bool { return false }

func ftraceExecutable() string { return ftraceArg0() }

func ftraceClose(fd int32) {}

func ftraceMayBePrivileged() bool { return isSecureMode() }

// ftraceProcessTime is not known here.
func ftraceProcessTime() int64 { return 0 }
