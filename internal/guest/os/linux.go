//go:build ftrace_core

// What the tracer needs of Linux.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	syscall "internal/runtime/syscall/linux"
	"unsafe"
)

const (
	ftraceEAGAIN       = 11
	ftraceENAMETOOLONG = 36
	ftraceELOOP        = 40
	ftraceEDQUOT       = 122

	ftraceWorkingDir = -100 // AT_FDCWD

	ftraceOCreat    = 0x40
	ftraceOExcl     = 0x80
	ftraceONoctty   = 0x100
	ftraceOAppend   = 0x400
	ftraceONonblock = 0x800
	ftraceOCloexec  = 0x80000
	ftraceOPath     = 0x200000

	ftraceDupCloexec   = 1030 // F_DUPFD_CLOEXEC
	ftraceMapAnonymous = 0x20
	ftraceMapNoReserve = 0x4000

	ftraceClockProcess = 2 // CLOCK_PROCESS_CPUTIME_ID
	ftraceClockThread  = 3 // CLOCK_THREAD_CPUTIME_ID
)

// The size of what is kept in memory, unless FTRACE_MEMORY says otherwise. What is not touched
// takes no memory.
const (
	ftraceTablesMax      = 256 << 20 // bytes
	ftraceFramesMax      = 1 << 30   // bytes
	ftraceFunctionsUsual = 1 << 16
	ftraceRowsUsual      = 1 << 16
)

// ftraceSystemCall6 makes a system call by its number.
//
//go:nosplit
func ftraceSystemCall6(number uintptr, args *[6]uintptr) (result uintptr, errno int32) {
	result, _, failed := syscall.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
	return result, int32(failed)
}

// ftraceReserve makes a file longer by size bytes from offset on. It returns an errno or 0.
func ftraceReserve(fd int32, offset int64, size uintptr) int32 {
	const notPermitted, noSuchCall, notSupported = 1, 38, 95
	// A signal interrupts fallocate, and on tmpfs undoes what it did. While the world is being
	// stopped, signals come to preempt this goroutine, which keeps its processor: it could start
	// again for ever.
	var mask sigset
	sigprocmask(_SIG_SETMASK, &sigset_all, &mask)
	_, _, errno := syscall.Syscall6(ftraceSysFallocate, uintptr(fd), 0, uintptr(offset), size, 0, 0)
	sigprocmask(_SIG_SETMASK, &mask, nil)
	switch errno {
	case notSupported, noSuchCall, notPermitted: // a sandbox may forbid it
		return ftraceFill(fd, offset, size)
	}
	return int32(errno)
}

// ftraceMemoryFile makes a file of size bytes that is in memory alone. It returns its descriptor,
// or
// 0. The descriptor is a high one, so that the program's own are what they would be without it.
func ftraceMemoryFile(size uint64) int32 {
	const cloexec, noexec, inval = 1, 8, 22
	var limit [2]uint64
	const fileSize = 1
	if _, _, errno := syscall.Syscall6(ftraceSysGetrlimit, fileSize, uintptr(unsafe.Pointer(&limit)), 0, 0, 0, 0); errno != 0 || limit[0] != ^uint64(0) {
		return 0 // going beyond it brings a signal
	}
	name := "ftrace\x00"
	fd, _, errno := syscall.Syscall6(ftraceSysMemfdCreate, uintptr(unsafe.Pointer(unsafe.StringData(name))), cloexec|noexec, 0, 0, 0, 0)
	if errno == inval {
		fd, _, errno = syscall.Syscall6(ftraceSysMemfdCreate, uintptr(unsafe.Pointer(unsafe.StringData(name))), cloexec, 0, 0, 0, 0)
	}
	if errno != 0 {
		return 0
	}
	// It belongs to the user that the program starts as, even if the program becomes another one
	// later.
	syscall.Syscall6(ftraceSysFchmod, fd, 0o600, 0, 0, 0, 0)
	high := ftraceHigh(int32(fd))
	if high != 0 && ftraceResize(high, size) != 0 {
		ftraceClose(high)
		return 0
	}
	return high
}

// ftraceResize sets a file's size. It returns an errno or 0.
func ftraceResize(fd int32, size uint64) int32 {
	_, _, errno := syscall.Syscall6(ftraceSysFtruncate, uintptr(fd), uintptr(size), 0, 0, 0, 0)
	return int32(errno)
}

// ftraceEndMemory does nothing: the file has no name, and goes with the program.
func ftraceEndMemory() {}

// ftraceForget empties a part of the memory file, which is mapped at p, and gives its memory back.
func ftraceForget(_ unsafe.Pointer, at, size uint64) {
	const punch, keepSize = 2, 1
	syscall.Syscall6(ftraceSysFallocate, uintptr(ftraceMemory.fd), punch|keepSize, uintptr(at), uintptr(size), 0, 0)
}

// ftraceWait waits while the word at p, in the memory file, is v, for at most ns nanoseconds. It
// reports whether these have passed.
func ftraceWait(p *uint32, v uint32, ns int64) bool {
	const wait, timedOut = 0, 110
	timeout := timespec{tv_sec: ns / 1e9, tv_nsec: ns % 1e9}
	_, _, errno := syscall.Syscall6(ftraceSysFutex, uintptr(unsafe.Pointer(p)), wait, uintptr(v), uintptr(unsafe.Pointer(&timeout)), 0, 0)
	return errno == timedOut
}

// ftraceWake wakes those who wait for the word at p, and returns how many there were.
func ftraceWake(p *uint32) int {
	const wake = 1
	woken, _, errno := syscall.Syscall6(ftraceSysFutex, uintptr(unsafe.Pointer(p)), wake, 1<<30, 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(woken)
}

// ftraceSystemTicks reads the system's ticks.
//
//go:nosplit
func ftraceSystemTicks() uint64 {
	ticks, _, _ := syscall.Syscall6(ftraceSysTimes, 0, 0, 0, 0, 0, 0)
	return uint64(ticks)
}

const ftraceSystemTicksPerSecond = 100 // Linux reports this to programs, whatever its own tick is

// ftraceWriteNow writes on any stack. It returns the number of bytes written or a negative errno.
//
//go:nosplit
func ftraceWriteNow(fd int32, data unsafe.Pointer, n int32) int32 {
	return write1(uintptr(fd), data, n)
}

// ftraceSendNow writes to a socket, on any stack, without waiting.
//
//go:nosplit
func ftraceSendNow(fd int32, data unsafe.Pointer, n int32) int32 {
	const dontWait, noSignal = 0x40, 0x4000
	sent, _, errno := syscall.Syscall6(ftraceSysSendto, uintptr(fd), uintptr(data), uintptr(n), dontWait|noSignal, 0, 0)
	if errno != 0 {
		return -int32(errno)
	}
	return int32(sent)
}

// ftraceWritable reports whether a write of ftracePiece bytes to fd would not wait for a reader
// now, or within ms milliseconds, less than 1000. For a regular file this is certain. For a pipe it
// is, unless others write to it in the meantime. A terminal or a socket takes something.
//
//go:nosplit
func ftraceWritable(fd int32, ms int64) bool {
	const out = 4
	poll := struct {
		fd              int32
		events, revents int16
	}{fd: fd, events: out}
	timeout := timespec{tv_nsec: ms * 1e6}
	ready, _, errno := syscall.Syscall6(ftraceSysPpoll, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	return errno == 0 && ready == 1
}

// ftraceSleepOn waits, in a system call, while the word at p is v. It may return earlier.
//
//go:nosplit
func ftraceSleepOn(p *uint32, v uint32) { futexsleep(p, v, -1) }

// ftraceWakeOne wakes one thread that waits for the word at p. It may be called on any stack.
//
//go:nosplit
func ftraceWakeOne(p *uint32) { futex(unsafe.Pointer(p), _FUTEX_WAKE_PRIVATE, 1, nil, nil, 0) }

// ftracePause waits a little, on any stack.
//
//go:nosplit
func ftracePause() { usleep(100) }

// ftraceStreamsKnown says that package syscall reports when a descriptor becomes another file.
const ftraceStreamsKnown = true

// ftraceLeadsToOpen reports whether a directory is one of /proc.
func ftraceLeadsToOpen(fd int32) bool {
	var stat [32]uint64 // struct statfs has 120 bytes
	_, _, errno := syscall.Syscall6(ftraceSysFstatfs, uintptr(fd), uintptr(unsafe.Pointer(&stat)), 0, 0, 0, 0)
	return errno == 0 && stat[0] == 0x9fa0
}

// ftraceStreamSocket reports whether a socket is a stream, of bytes and not of messages.
func ftraceStreamSocket(fd int32) bool {
	const solSocket, soType, sockStream = 1, 3, 1
	typ, size := int32(0), uint32(unsafe.Sizeof(int32(0)))
	_, _, errno := syscall.Syscall6(ftraceSysGetsockopt, uintptr(fd), solSocket, soType, uintptr(unsafe.Pointer(&typ)), uintptr(unsafe.Pointer(&size)), 0)
	return errno == 0 && typ == sockStream
}

// ftraceOpenAgain opens fd's terminal once more, for writing without waiting. It returns a high
// descriptor, or 0.
func ftraceOpenAgain(fd int32) int32 {
	const flags = 0x80000 | 0x1 | 0x100 | 0x800 // closed on exec; for writing, not to become the controlling terminal, not waiting
	var digits [20]byte
	return ftraceHigh(ftraceOpenAt(ftraceWorkingDir, "/proc/self/fd/"+string(ftraceItoa(digits[:], uint64(fd))), flags))
}

func ftraceTid() uint64 {
	tid, _, _ := syscall.Syscall6(ftraceSysGettid, 0, 0, 0, 0, 0, 0)
	return uint64(tid)
}

// ftraceTerminal reports whether fd is a terminal.
func ftraceTerminal(fd int32) bool {
	const tcgets = 0x5401
	var termios [64]byte
	_, _, errno := syscall.Syscall6(ftraceSysIoctl, uintptr(fd), tcgets, uintptr(unsafe.Pointer(&termios)), 0, 0, 0)
	return errno == 0
}

// ftraceProbed are pages that could be read when the system was asked, each at a place of its own
// among them, or 0.
var ftraceProbed [256]uintptr

// ftraceProbe reports whether n bytes at p, which is not Go's memory, can be read. The system is
// asked about each page once: it also knows those of devices, which must not be read. From then on
// it is tried, since the page may be gone. Where the system does not answer, as in some containers
// and emulators, it is always tried.
func ftraceProbe(p uintptr, n uintptr) bool {
	const size = 4096 // of a page, at least
	gp := getg()
	tries := gp == gp.m.curg // a fault on another stack may come while signals are blocked
	for at := p; at < p+n; at = at&^(size-1) + size {
		page := at &^ (size - 1)
		place := &ftraceProbed[page/size%uintptr(len(ftraceProbed))]
		if tries && atomic.Loaduintptr(place) == page && ftraceTouch(at) {
			continue
		}
		readable, known := ftraceAskReadable(at)
		if !known {
			readable = tries && ftraceTouch(at)
		}
		if !readable {
			return false
		}
		atomic.Storeuintptr(place, page)
	}
	return true
}

// ftraceTouchFaulted is called when a signal comes. If it is the fault of ftraceTouch, which is its
// first instruction, ftraceTouch returns false.
//
//go:nosplit
func ftraceTouchFaulted(sig uint32, c *sigctxt) bool {
	if sig != _SIGSEGV && sig != _SIGBUS || c.sigpc() != abi.FuncPCABIInternal(ftraceTouch) || c.sigFromUser() {
		return false
	}
	c.setsigpc(uint64(abi.FuncPCABIInternal(ftraceUntouched)))
	return true
}

// ftraceSignalled is called when a signal comes to a thread that runs gp.
//
//go:nowritebarrierrec
func ftraceSignalled(sig uint32, gp *g, c *sigctxt) {
	if sig == sigPreempt {
		ftraceNoteCalls(gp, c.sigpc(), c.sigsp(), c.siglr())
	}
}

// ftraceAskReadable asks the system whether the byte at p can be read. known is false if it does
// not say.
func ftraceAskReadable(p uintptr) (readable, known bool) {
	const eperm, enosys = 1, 38
	type iovec struct {
		base uintptr
		size uintptr
	}
	var b byte
	local, remote := iovec{uintptr(unsafe.Pointer(&b)), 1}, iovec{p, 1}
	self := uintptr(getg().m.procid) // any thread of the process stands for it
	read, _, errno := syscall.Syscall6(ftraceSysProcessVMReadv, self, uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	return errno == 0 && read == 1, errno != eperm && errno != enosys
}

// ftraceExecutable returns the path of the program.
func ftraceExecutable() string {
	const atFDCWD = -100
	dir := atFDCWD
	name := "/proc/self/exe\x00"
	buf := make([]byte, 4096)
	n, _, errno := syscall.Syscall6(ftraceSysReadlinkat, uintptr(dir), uintptr(unsafe.Pointer(unsafe.StringData(name))), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	KeepAlive(buf)
	if errno != 0 {
		return ftraceArg0()
	}
	return string(buf[:n])
}

// ftraceMayBePrivileged reports whether the program may have privileges that its caller lacks. The
// C library tells by AT_SECURE. From such a program it takes TMPDIR and the like out of the
// environment, and then package runtime does not find what it tells after that. Nor can it read
// /proc/self/auxv, as an ordinary program can.
func ftraceMayBePrivileged() bool { return isSecureMode() || len(auxv) == 0 }
