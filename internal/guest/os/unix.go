//go:build ftrace_core

// What the tracer does in the same way on Linux and on macOS: with files, and as a process. What
// differs is in the files of each: the numbers of the system's calls, which are functions of
// libSystem on macOS, constants, and struct stat.

package runtime

import "unsafe"

var ftraceErrors = [...]ftraceError{
	{1, "operation not permitted"}, {ftraceENOENT, "no such file or directory"}, {5, "input/output error"},
	{6, "it is a FIFO or a device, and nothing reads from it"}, {9, "bad file descriptor"},
	{13, "permission denied"}, {20, "not a directory"}, {21, "is a directory"}, {23, "too many open files in system"},
	{24, "too many open files"}, {26, "text file busy"}, {27, "file too large"}, {28, "no space left on device"},
	{30, "read-only file system"}, {32, "broken pipe"}, {ftraceENAMETOOLONG, "file name too long"},
	{ftraceELOOP, "too many levels of symbolic links"}, {ftraceEDQUOT, "disk quota exceeded"},
}

const (
	ftraceENOENT = 2
	ftraceEINTR  = 4
	ftraceEEXIST = 17
)

// ftraceNotInNames are the characters that the name of a file may not have.
const ftraceNotInNames = "/"

// How a file is opened. All are closed on exec.
const (
	ftraceAppend    = ftraceOCloexec | ftraceOWronly | ftraceOAppend | ftraceONoctty | ftraceONonblock // not as the controlling terminal; without waiting
	ftraceAppendNew = ftraceOCloexec | ftraceOWronly | ftraceOAppend | ftraceOCreat | ftraceOExcl
	ftraceCreate    = ftraceOCloexec | ftraceORdwr | ftraceOCreat | ftraceOExcl
	ftraceDirectory = ftraceOCloexec | ftraceODirectory
	ftracePlain     = ftraceDirectory | ftraceOPath // only to look up names in it
	ftraceNoLink    = ftraceONofollow               // a symbolic link is an error

	ftraceOWronly = 0x1
	ftraceORdwr   = 0x2
)

// ftraceSystemCall makes one of the system's calls, ftraceSys... It does not let other goroutines
// run. errno is 0 if the call did not fail.
//
// The stack may not move, for arguments may be addresses on it.
//
//go:nosplit
//go:uintptrkeepalive
func ftraceSystemCall(call uintptr, args ...uintptr) (result uintptr, errno int32) {
	var all [6]uintptr
	copy(all[:], args)
	return ftraceSystemCall6(call, &all)
}

// ftraceOpenAt opens a file in a directory.
func ftraceOpenAt(dir int32, name string, flags uintptr) int32 {
	path := ftracePath(name)
	fd, errno := ftraceSystemCall(ftraceSysOpenat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), flags, 0o600)
	ftraceFreeText(path)
	if errno != 0 {
		return -errno
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

// ftraceCreateAt makes a file in a directory, for this user only. It returns the descriptor, by
// which it is read and written, or a negative errno.
func ftraceCreateAt(dir int32, name string) int32 { return ftraceOpenAt(dir, name, ftraceCreate) }

// ftraceMakeDir makes a directory for this user only. It returns an errno or 0.
func ftraceMakeDir(dir int32, name string) int32 {
	path := ftracePath(name)
	_, errno := ftraceSystemCall(ftraceSysMkdirat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), 0o700)
	ftraceFreeText(path)
	return errno
}

// ftraceReadLink returns where a symbolic link in a directory leads to, "" if it is none.
func ftraceReadLink(dir int32, name string) string {
	path := ftracePath(name)
	buf := make([]byte, 4096)
	n, errno := ftraceSystemCall(ftraceSysReadlinkat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	KeepAlive(buf)
	ftraceFreeText(path)
	if errno != 0 {
		return ""
	}
	return string(buf[:n])
}

func ftraceClose(fd int32) { closefd(fd) }

// ftraceHigh returns a high descriptor for what fd is of, or 0. It closes fd. So the program's own
// descriptors are what they would be without it.
func ftraceHigh(fd int32) int32 {
	if fd < 0 {
		return 0
	}
	for _, least := range [...]int32{1000, 200, 100} {
		if high, _ := fcntl(fd, ftraceDupCloexec, least); high >= 0 {
			ftraceClose(fd)
			return high
		}
	}
	ftraceClose(fd)
	return 0
}

// ftraceLetWait lets writes to a file wait that was opened without waiting.
func ftraceLetWait(fd int32) {
	const getFlags, setFlags = 3, 4
	if flags, errno := fcntl(fd, getFlags, 0); errno == 0 {
		fcntl(fd, setFlags, flags&^ftraceONonblock)
	}
}

// ftraceWriteAt writes at an offset, or at the file's own position if that is negative. It does not
// let other goroutines run, for the runtime's locks may be held. It returns an errno or 0.
func ftraceWriteAt(fd int32, data unsafe.Pointer, n int, offset int64) int32 {
	for n > 0 {
		var written int
		if offset < 0 {
			written = int(write1(uintptr(fd), data, int32(n)))
		} else {
			r, errno := ftraceSystemCall(ftraceSysPwrite, uintptr(fd), uintptr(data), uintptr(n), uintptr(offset))
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

// ftraceWriteFD writes, as a system call that may block: the scheduler runs other goroutines
// meanwhile. It returns the number of bytes written or a negative errno. The stack must not grow
// between entersyscall and exitsyscall.
//
//go:nosplit
func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 {
	getg().ftraceWait.own = true
	entersyscall()
	written := write1(uintptr(fd), data, n)
	exitsyscall()
	getg().ftraceWait.own = false
	return written
}

// ftraceTryAgain reports whether a failed write is worth repeating. If so it has waited a little.
func ftraceTryAgain(errno int32) bool {
	switch errno {
	case ftraceEINTR:
		return true
	case ftraceEAGAIN: // stderr may be a pipe or a terminal that another process made non-blocking
		usleep(100)
		return true
	}
	return false
}

// ftraceMapFile makes a file longer by size bytes from offset on, and maps them. The space is
// reserved first, because on a full disk a write to a mapped hole ends the program. It returns nil
// and an errno if that fails.
func ftraceMapFile(fd int32, offset int64, size uintptr) (unsafe.Pointer, int32) {
	if errno := ftraceReserve(fd, offset, size); errno != 0 {
		return nil, errno
	}
	const readWrite, shared = 0x3, 0x1
	p, errno := ftraceSystemCall(ftraceSysMmap, 0, size, readWrite, shared, uintptr(fd), uintptr(offset))
	if errno != 0 {
		return nil, errno
	}
	return unsafe.Pointer(p), 0
}

// ftraceMapMemory maps a part of the memory file, or, if there is none, as much memory of our own.
// It returns nil if that fails.
func ftraceMapMemory(at, size uint64) unsafe.Pointer {
	const readWrite, shared, private = 0x3, 0x1, 0x2
	flags, fd := uintptr(private|ftraceMapAnonymous|ftraceMapNoReserve), ^uintptr(0)
	if ftraceMemory.fd != 0 {
		flags, fd = shared|ftraceMapNoReserve, uintptr(ftraceMemory.fd)
	} else {
		at = 0
	}
	p, errno := ftraceSystemCall(ftraceSysMmap, 0, uintptr(size), readWrite, flags, fd, uintptr(at))
	if errno != 0 {
		return nil
	}
	return unsafe.Pointer(p)
}

func ftraceUnmap(p unsafe.Pointer, size uintptr) {
	ftraceSystemCall(ftraceSysMunmap, uintptr(p), size)
}

// ftraceSameFile reports whether two descriptors are of the same file, if that is known.
func ftraceSameFile(a, b int32) (same, known bool) {
	one, ok := ftraceReadStat(a)
	if !ok {
		return false, false
	}
	other, ok := ftraceReadStat(b)
	return ok && one.dev == other.dev && one.ino == other.ino && one.rdev == other.rdev && (one.mode^other.mode)&0o170000 == 0, ok
}

// ftraceFileKind returns what the file fd is, if that is known.
func ftraceFileKind(fd int32) (kind uint8, known bool) {
	stat, known := ftraceReadStat(fd)
	switch stat.mode & 0o170000 {
	case 0o100000:
		return ftraceFileRegular, known
	case 0o010000:
		return ftraceFilePipe, known
	case 0o140000:
		return ftraceFileSocket, known
	}
	return ftraceFileOther, known
}

// ftraceStatus returns who may do what with the file fd.
func ftraceStatus(fd int32) (ftrace_ownfile_Stat, bool) {
	stat, ok := ftraceReadStat(fd)
	return ftrace_ownfile_Stat{Mode: uint32(stat.mode), Owner: stat.uid, Links: uint64(stat.nlink)}, ok
}

func ftraceReadStat(fd int32) (stat ftraceStatT, ok bool) {
	_, errno := ftraceSystemCall(ftraceSysFstat, uintptr(fd), uintptr(unsafe.Pointer(&stat)))
	return stat, errno == 0
}

// ftraceUser returns the user that owns the files that are made.
func ftraceUser() uint32 {
	user, _ := ftraceSystemCall(ftraceSysGeteuid)
	return uint32(user)
}

func ftracePid() int32 {
	pid, _ := ftraceSystemCall(ftraceSysGetpid)
	return int32(pid)
}

// ftraceArguments returns the program's name as it was started, and its arguments.
func ftraceArguments() []string { return argslice }

// ftraceGetenv returns a variable of the environment, "" if it is not set.
func ftraceGetenv(name string) string { return gogetenv(name) }

// ftraceProcessTime returns the processor time that the process has used, in ns.
//
//go:nosplit
func ftraceProcessTime() int64 { return ftraceClockTime(ftraceClockProcess) }

// ftraceThreadTime returns the processor time that the thread has used, in ns.
//
//go:nosplit
func ftraceThreadTime() int64 { return ftraceClockTime(ftraceClockThread) }

// ftraceClockTime returns a clock's time in ns.
//
//go:nosplit
func ftraceClockTime(clock uintptr) int64 {
	var t [2]int64 // struct timespec
	ftraceSystemCall(ftraceSysClockGettime, clock, uintptr(noescape(unsafe.Pointer(&t))))
	return t[0]*1e9 + t[1]
}
