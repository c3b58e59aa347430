//go:build ftrace_core

// What the tracer needs of Linux.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	syscall "internal/runtime/syscall/linux"
	"unsafe"
)

type ftraceError struct {
	errno int32
	text  string
}

var ftraceErrors = [...]ftraceError{
	{1, "operation not permitted"}, {2, "no such file or directory"}, {5, "input/output error"},
	{6, "it is a FIFO or a device, and nothing reads from it"}, {9, "bad file descriptor"},
	{13, "permission denied"}, {20, "not a directory"}, {21, "is a directory"}, {23, "too many open files in system"},
	{24, "too many open files"}, {26, "text file busy"}, {27, "file too large"}, {28, "no space left on device"},
	{30, "read-only file system"}, {32, "broken pipe"}, {36, "file name too long"}, {40, "too many levels of symbolic links"},
	{122, "disk quota exceeded"},
}

// ftraceNotInNames are the characters that the name of a file may not have.
const ftraceNotInNames = "/"

const (
	ftraceWorkingDir = -100 // AT_FDCWD
	ftraceENOENT     = 2
	ftraceEEXIST     = 17
	ftraceELOOP      = 40
)

// How a file is opened.
const (
	ftraceAppend    = 0x80000 | 0x1 | 0x400 | 0x100 | 0x800 // closed on exec; for writing, at its end; not as the controlling terminal; without waiting
	ftraceAppendNew = 0x80000 | 0x1 | 0x400 | 0x40 | 0x80   // closed on exec; for writing, at its end; new
	ftraceCreate    = 0x80000 | 0x2 | 0x40 | 0x80           // for reading and writing, new
	ftraceDirectory = 0x80000 | ftraceODirectory
	ftracePlain     = ftraceDirectory | 0x200000 // only to look up names in it
	ftraceNoLink    = ftraceONofollow            // a symbolic link is an error
)

// ftraceOpenAt opens a file in a directory.
func ftraceOpenAt(dir int32, name string, flags uintptr) int32 {
	path := ftracePath(name)
	fd, _, errno := syscall.Syscall6(ftraceSysOpenat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), flags, 0o600, 0, 0)
	ftraceFreeText(path)
	if errno != 0 {
		return -int32(errno)
	}
	return int32(fd)
}

// ftracePath returns a name as the system wants it. It does not allocate on the heap, since it may
// be called anywhere.
func ftracePath(name string) *ftraceText {
	b := ftraceNewText()
	b.str(name)
	b.data[min(b.n, len(b.data)-1)] = 0
	return b
}

// ftraceMakeDir makes a directory for this user only. It returns an errno or 0.
func ftraceMakeDir(dir int32, name string) int32 {
	path := ftracePath(name)
	_, _, errno := syscall.Syscall6(ftraceSysMkdirat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), 0o700, 0, 0, 0)
	ftraceFreeText(path)
	return int32(errno)
}

// ftraceWriteAt writes at an offset, or at the file's own position if that is negative. It does not
// let other goroutines run, for the runtime's locks may be held. It returns an errno or 0.
func ftraceWriteAt(fd int32, data unsafe.Pointer, n int, offset int64) int32 {
	for n > 0 {
		var written int
		if offset < 0 {
			written = int(write1(uintptr(fd), data, int32(n)))
		} else {
			r, _, errno := syscall.Syscall6(ftraceSysPwrite, uintptr(fd), uintptr(data), uintptr(n), uintptr(offset), 0, 0)
			if written = int(r); errno != 0 {
				written = -int(errno)
			}
			offset += int64(max(written, 0))
		}
		if written < 0 && !ftraceTryAgain(int32(-written)) {
			return int32(-written)
		}
		data = add(data, uintptr(max(written, 0)))
		n -= max(written, 0)
	}
	return 0
}

// ftraceMapFile makes a file longer by size bytes from offset on, and maps them. The space is
// reserved first, because on a full disk a write to a mapped hole ends the program. It returns nil
// and an errno if that fails.
func ftraceMapFile(fd int32, offset int64, size uintptr) (unsafe.Pointer, int32) {
	const notPermitted, noSuchCall, notSupported = 1, 38, 95
	// A signal interrupts fallocate, and on tmpfs undoes what it did. While the world is being
	// stopped, signals come to preempt this goroutine, which keeps its processor: it could start
	// again for ever.
	var mask sigset
	sigprocmask(_SIG_SETMASK, &sigset_all, &mask)
	_, _, errno := syscall.Syscall6(ftraceSysFallocate, uintptr(fd), 0, uintptr(offset), size, 0, 0)
	sigprocmask(_SIG_SETMASK, &mask, nil)
	if errno == notSupported || errno == noSuchCall || errno == notPermitted { // a sandbox may forbid it
		if errno := ftraceFill(fd, offset, size); errno != 0 {
			return nil, errno
		}
	} else if errno != 0 {
		return nil, int32(errno)
	}
	const readWrite, shared = 0x3, 0x1
	p, _, errno := syscall.Syscall6(ftraceSysMmap, 0, size, readWrite, shared, uintptr(fd), uintptr(offset))
	if errno != 0 {
		return nil, int32(errno)
	}
	return unsafe.Pointer(p), 0
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

// ftraceHigh returns a high descriptor for the file that fd is of, or 0. It closes fd.
func ftraceHigh(fd int32) int32 {
	const dupCloexec = 1030
	if fd < 0 {
		return 0
	}
	high, errno := uintptr(0), uintptr(1)
	for _, least := range [...]uintptr{1000, 200, 100} {
		if errno != 0 {
			high, _, errno = syscall.Syscall6(ftraceSysFcntl, uintptr(fd), dupCloexec, least, 0, 0, 0)
		}
	}
	ftraceClose(fd)
	if errno != 0 {
		return 0
	}
	return int32(high)
}

// ftraceResize sets a file's size. It returns an errno or 0.
func ftraceResize(fd int32, size uint64) int32 {
	_, _, errno := syscall.Syscall6(ftraceSysFtruncate, uintptr(fd), uintptr(size), 0, 0, 0, 0)
	return int32(errno)
}

// ftraceMapMemory maps a part of the memory file, or, if there is none, as much memory of our own.
// It returns nil if that fails.
func ftraceMapMemory(at, size uint64) unsafe.Pointer {
	const readWrite, shared, private, anonymous, noReserve = 0x3, 0x1, 0x2, 0x20, 0x4000
	flags, fd := uintptr(private|anonymous|noReserve), ^uintptr(0)
	if ftraceMemory.fd != 0 {
		flags, fd = shared|noReserve, uintptr(ftraceMemory.fd)
	} else {
		at = 0
	}
	p, _, errno := syscall.Syscall6(ftraceSysMmap, 0, uintptr(size), readWrite, flags, fd, uintptr(at))
	if errno != 0 {
		return nil
	}
	return unsafe.Pointer(p)
}

// ftraceForget empties a part of the memory file, and gives its memory back.
func ftraceForget(at, size uint64) {
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

func ftraceUnmap(p unsafe.Pointer, size uintptr) {
	syscall.Syscall6(ftraceSysMunmap, uintptr(p), size, 0, 0, 0, 0)
}

// ftraceWriteFD writes, as a system call that may block: the scheduler runs other goroutines
// meanwhile. It returns the number of bytes written or a negative errno. The stack must not grow
// between entersyscall and exitsyscall.
//
//go:nosplit
func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 {
	getg().ftraceWait.own = true
	entersyscall()
	written := ftraceWriteNow(fd, data, n)
	exitsyscall()
	getg().ftraceWait.own = false
	return written
}

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

// ftraceStat returns which file fd is.
func ftraceStat(fd int32) (id ftraceFileID, ok bool) {
	stat, ok := ftraceReadStat(fd)
	id = ftraceFileID{dev: stat.at(0), ino: stat.at(8), rdev: stat.at(ftraceStatRdev)}
	switch uint32(stat.at(ftraceStatMode)) & 0o170000 {
	case 0o100000:
		id.kind = ftraceFileRegular
	case 0o010000:
		id.kind = ftraceFilePipe
	case 0o140000:
		id.kind = ftraceFileSocket
	}
	return id, ok
}

// ftraceStatus returns who may do what with the file fd.
func ftraceStatus(fd int32) (ftrace_ownfile_Stat, bool) {
	stat, ok := ftraceReadStat(fd)
	links := stat.at(ftraceStatLinks)
	if ftraceStatLinks > ftraceStatMode {
		links = uint64(uint32(links))
	}
	return ftrace_ownfile_Stat{Mode: uint32(stat.at(ftraceStatMode)), Owner: uint32(stat.at(ftraceStatOwner)), Links: links}, ok
}

// ftraceStatText is struct stat, which has 144 bytes at most.
type ftraceStatText [256]byte

func (s *ftraceStatText) at(i uintptr) uint64 { return *(*uint64)(unsafe.Pointer(&s[i])) }

func ftraceReadStat(fd int32) (stat ftraceStatText, ok bool) {
	_, _, errno := syscall.Syscall6(ftraceSysFstat, uintptr(fd), uintptr(unsafe.Pointer(&stat)), 0, 0, 0, 0)
	return stat, errno == 0
}

// ftraceIsProc reports whether a directory is one of /proc.
func ftraceIsProc(fd int32) bool {
	var stat [32]uint64 // struct statfs has 120 bytes
	_, _, errno := syscall.Syscall6(ftraceSysFstatfs, uintptr(fd), uintptr(unsafe.Pointer(&stat)), 0, 0, 0, 0)
	return errno == 0 && stat[0] == 0x9fa0
}

// ftraceReadLink returns where a symbolic link in a directory leads to, "" if it is none.
func ftraceReadLink(dir int32, name string) string {
	path := ftracePath(name)
	buf := make([]byte, 4096)
	n, _, errno := syscall.Syscall6(ftraceSysReadlinkat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	KeepAlive(buf)
	ftraceFreeText(path)
	if errno != 0 {
		return ""
	}
	return string(buf[:n])
}

// ftraceLetWait lets writes to a file wait that was opened without waiting.
func ftraceLetWait(fd int32) {
	const getFlags, setFlags, nonblock = 3, 4, 0x800
	flags, _, errno := syscall.Syscall6(ftraceSysFcntl, uintptr(fd), getFlags, 0, 0, 0, 0)
	if errno == 0 {
		syscall.Syscall6(ftraceSysFcntl, uintptr(fd), setFlags, flags&^nonblock, 0, 0, 0)
	}
}

// ftraceUser returns the user that owns the files that are made.
func ftraceUser() uint32 {
	user, _, _ := syscall.Syscall6(ftraceSysGeteuid, 0, 0, 0, 0, 0, 0)
	return uint32(user)
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

// ftraceTryAgain reports whether a failed write is worth repeating. If so it has waited a little.
func ftraceTryAgain(errno int32) bool {
	const eintr, eagain = 4, 11
	switch errno {
	case eintr:
		return true
	case eagain: // stderr may be a pipe or a terminal that another process made non-blocking
		usleep(100)
		return true
	}
	return false
}

func ftracePid() int32 {
	pid, _, _ := syscall.Syscall6(ftraceSysGetpid, 0, 0, 0, 0, 0, 0)
	return int32(pid)
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

// ftraceCreateAt makes a file in a directory, for this user only. It returns the descriptor, by
// which it is read and written, or a negative errno.
func ftraceCreateAt(dir int32, name string) int32 { return ftraceOpenAt(dir, name, ftraceCreate) }

func ftraceClose(fd int32) { closefd(fd) }

// ftraceArguments returns the program's name as it was started, and its arguments.
func ftraceArguments() []string { return argslice }

// ftraceGetenv returns a variable of the environment, "" if it is not set.
func ftraceGetenv(name string) string { return gogetenv(name) }

// ftraceMayBePrivileged reports whether the program may have privileges that its caller lacks. The
// C library tells by AT_SECURE. From such a program it takes TMPDIR and the like out of the
// environment, and then package runtime does not find what it tells after that. Nor can it read
// /proc/self/auxv, as an ordinary program can.
func ftraceMayBePrivileged() bool { return isSecureMode() || len(auxv) == 0 }

// ftraceProcessTime returns the processor time that the process has used, in ns.
//
//go:nosplit
func ftraceProcessTime() int64 {
	const clockProcess = 2
	var t [2]int64
	syscall.Syscall6(ftraceSysClockGettime, clockProcess, uintptr(noescape(unsafe.Pointer(&t))), 0, 0, 0, 0)
	return t[0]*1e9 + t[1]
}
