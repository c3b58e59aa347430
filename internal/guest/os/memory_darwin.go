//go:build ftrace_core

// The memory that others may look into, on macOS: the file TMPDIR/ftrace-PID-memory, for its owner
// only. The program has a part of it locked as long as it runs, by which readers know a file that a
// killed program has left. A reader tells of a request by setting the mode that the file has
// already: a kqueue tells of that.

package runtime

import "unsafe"

const (
	ftraceProgramLock   = 1   // the byte that is locked
	ftraceSetLock       = 8   // F_SETLK
	ftraceWriteLock     = 3   // F_WRLCK
	ftraceEventVnode    = -4  // EVFILT_VNODE
	ftraceNoteAttrib    = 0x8 // NOTE_ATTRIB
	ftraceLimitFileSize = 1   // RLIMIT_FSIZE
	ftraceLimitNone     = 1<<63 - 1
)

// An ftraceFlockT is struct flock.
type ftraceFlockT struct {
	start, len int64
	pid        int32
	Type       int16 // so that it is no keyword
	whence     int16
}

// ftraceMemoryEvents is the kqueue that tells of requests.
var ftraceMemoryEvents int32

// ftraceMemoryTrail is the way to the memory file of the process pid. The caller closes t.dir, and
// frees name.
func ftraceMemoryTrail(pid uint64) (t ftraceTrail, name *ftraceText, ok bool) {
	dir := ftraceGetenv("TMPDIR")
	if dir == "" || dir[0] != '/' {
		dir = "/tmp"
	}
	b := ftraceNewText()
	b.str(dir)
	b.str("/ftrace-")
	b.uint(pid)
	b.str("-memory")
	t, errno := ftraceTrailOf(b.string())
	return t, b, errno == 0
}

// ftraceMemoryFile makes the file with size bytes. It returns its descriptor, a high one, or 0. It
// makes none where files can't have holes, nor where their size is limited, for going beyond that
// brings a signal.
func ftraceMemoryFile(size uint64) int32 {
	var limit [2]uint64
	if _, errno := ftraceSystemCall(ftraceSysGetrlimit, ftraceLimitFileSize, uintptr(unsafe.Pointer(&limit))); errno != 0 || limit[0] != ftraceLimitNone {
		return 0
	}
	t, name, ok := ftraceMemoryTrail(uint64(ftracePid()))
	defer ftraceFreeText(name)
	if !ok {
		return 0
	}
	defer ftraceClose(t.dir)
	fd := ftraceCreateAt(t.dir, t.name)
	if fd == -ftraceEEXIST { // a killed program had this number
		ftraceRemoveAt(t.dir, t.name)
		fd = ftraceCreateAt(t.dir, t.name)
	}
	if fd = ftraceHigh(fd); fd == 0 {
		return 0
	}
	if !ftraceHasHoles(fd) || ftraceResize(fd, size) != 0 || !ftraceLockMemory(fd) || !ftraceWatchMemory(fd) {
		ftraceRemoveAt(t.dir, t.name)
		ftraceClose(fd)
		return 0
	}
	return fd
}

// ftraceHasHoles reports whether a file has holes where nothing is written: on APFS.
func ftraceHasHoles(fd int32) bool {
	var stat ftraceStatfsT
	_, errno := ftraceSystemCall(ftraceSysFstatfs, uintptr(fd), uintptr(unsafe.Pointer(&stat)))
	return errno == 0 && stat.fstypename == [16]byte{'a', 'p', 'f', 's'}
}

// ftraceLockMemory locks the place in the file by which readers see that the program runs. The
// system unlocks it when the program ends or becomes another one.
func ftraceLockMemory(fd int32) bool {
	lock := ftraceFlockT{start: ftraceProgramLock, len: 1, Type: ftraceWriteLock}
	// fcntl takes any number of arguments: ftraceSystemCall6 has the third where amd64 wants it,
	// the fourth where arm64 does.
	_, errno := ftraceSystemCall(ftraceSysFcntl, uintptr(fd), ftraceSetLock, uintptr(unsafe.Pointer(&lock)), uintptr(unsafe.Pointer(&lock)))
	return errno == 0
}

// ftraceWatchMemory has a kqueue tell when the file's mode is set.
func ftraceWatchMemory(fd int32) bool {
	queue := ftraceHigh(kqueue())
	if queue == 0 {
		return false
	}
	event := keventt{ident: uint64(fd), filter: ftraceEventVnode, flags: _EV_ADD | _EV_CLEAR, fflags: ftraceNoteAttrib}
	if kevent(queue, &event, 1, nil, 0, nil) < 0 {
		ftraceClose(queue)
		return false
	}
	ftraceMemoryEvents = queue
	return true
}

// ftraceEndMemory removes the file's name.
func ftraceEndMemory() {
	h := ftraceMemory.head
	if ftraceMemory.fd == 0 || h == nil || h.PID != uint64(ftracePid()) {
		return
	}
	t, name, ok := ftraceMemoryTrail(h.PID)
	if ok {
		ftraceRemoveAt(t.dir, t.name)
		ftraceClose(t.dir)
	}
	ftraceFreeText(name)
}

func ftraceRemoveAt(dir int32, name string) {
	path := ftracePath(name)
	ftraceSystemCall(ftraceSysUnlinkat, uintptr(dir), uintptr(unsafe.Pointer(&path.data)), 0)
	ftraceFreeText(path)
}

// ftraceResize sets a file's size. It returns an errno or 0.
func ftraceResize(fd int32, size uint64) int32 {
	_, errno := ftraceSystemCall(ftraceSysFtruncate, uintptr(fd), uintptr(size))
	return errno
}

// ftraceWait waits until there may be a request, for at most ns nanoseconds, and reports whether
// these have passed.
func ftraceWait(_ *uint32, _ uint32, ns int64) bool {
	var event keventt
	timeout := timespec{tv_sec: ns / 1e9, tv_nsec: ns % 1e9}
	n := kevent(ftraceMemoryEvents, nil, 0, &event, 1, &timeout)
	if n < 0 {
		usleep(1000)
	}
	return n == 0
}

// ftraceWake does nothing: a reader that waits for an answer looks whether it is there.
func ftraceWake(*uint32) int { return 0 }
