//go:build ftrace_core

// What the tracer asks of Linux.

package runtime

import (
	syscall "internal/runtime/syscall/linux"
	"unsafe"
)

type ftraceError struct {
	errno int32
	text  string
}

var ftraceErrors = [...]ftraceError{
	{1, "operation not permitted"}, {2, "no such file or directory"}, {5, "input/output error"}, {9, "bad file descriptor"},
	{13, "permission denied"}, {20, "not a directory"}, {21, "is a directory"}, {23, "too many open files in system"},
	{24, "too many open files"}, {26, "text file busy"}, {27, "file too large"}, {28, "no space left on device"},
	{30, "read-only file system"}, {32, "broken pipe"}, {36, "file name too long"}, {40, "too many levels of symbolic links"},
	{122, "disk quota exceeded"},
}

// ftraceOpenFile opens a file for appending, creating it for this user only. It returns the descriptor or a negative errno.
func ftraceOpenFile(name string) int32 {
	path := make([]byte, len(name)+1)
	copy(path, name)
	const atFDCWD = -100
	const writeOnly, create, appending, closeOnExec = 0x1, 0x40, 0x400, 0x80000
	dir := atFDCWD
	fd, _, errno := syscall.Syscall6(ftraceSysOpenat, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), writeOnly|create|appending|closeOnExec, 0o600, 0, 0)
	KeepAlive(path)
	if errno != 0 {
		return -int32(errno)
	}
	return int32(fd)
}

// ftraceWriteFD writes, as a system call that may block: the scheduler runs other goroutines meanwhile. It returns the number
// of bytes written or a negative errno. The stack must not grow between entersyscall and exitsyscall.
//
//go:nosplit
func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 {
	entersyscall()
	written := write1(uintptr(fd), data, n)
	exitsyscall()
	return written
}

// ftraceStat returns which file fd is.
func ftraceStat(fd int32) (id ftraceFileID, ok bool) {
	var stat [256]byte // struct stat has 144 bytes at most
	_, _, errno := syscall.Syscall6(ftraceSysFstat, uintptr(fd), uintptr(unsafe.Pointer(&stat)), 0, 0, 0, 0)
	if errno != 0 {
		return ftraceFileID{}, false
	}
	at := func(i uintptr) uint64 { return *(*uint64)(unsafe.Pointer(&stat[i])) }
	mode := *(*uint32)(unsafe.Pointer(&stat[ftraceStatMode]))
	return ftraceFileID{dev: at(0), ino: at(8), rdev: at(ftraceStatRdev), regular: mode&0o170000 == 0o100000}, true
}

// ftraceTryAgain says whether a failed write is worth repeating, after having waited a little.
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

// ftraceTerminal says whether fd is a terminal.
func ftraceTerminal(fd int32) bool {
	const tcgets = 0x5401
	var termios [64]byte
	_, _, errno := syscall.Syscall6(ftraceSysIoctl, uintptr(fd), tcgets, uintptr(unsafe.Pointer(&termios)), 0, 0, 0)
	return errno == 0
}

// ftraceProbe says whether n bytes at p, which is not memory of Go's, can be read.
func ftraceProbe(p uintptr, n uintptr) bool {
	var buf [256]byte
	type iovec struct {
		base uintptr
		size uintptr
	}
	pid := uintptr(ftracePid())
	for n > 0 {
		size := min(n, unsafe.Sizeof(buf))
		local := iovec{uintptr(unsafe.Pointer(&buf)), size}
		remote := iovec{p, size}
		read, _, errno := syscall.Syscall6(ftraceSysProcessVMReadv, pid, uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		if errno != 0 || read != size {
			return false
		}
		p += size
		n -= size
	}
	return true
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
