//go:build ftrace_core

// What the tracer needs of Windows. A descriptor is a handle here, of which Windows uses 32 bits;
// but 1 and 2 are standard output and standard error, as for the runtime's own write. An errno is
// one of Windows' error codes.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

//go:cgo_import_dynamic runtime._ftraceCreateDirectory CreateDirectoryW%2 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceCreateFile CreateFileW%7 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceCreateFileMapping CreateFileMappingW%6 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetCommandLine GetCommandLineW%0 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetCurrentProcessId GetCurrentProcessId%0 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetEnvironmentVariable GetEnvironmentVariableW%3 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetFileInformation GetFileInformationByHandle%2 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetFileType GetFileType%1 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetModuleFileName GetModuleFileNameW%3 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceGetProcessTimes GetProcessTimes%5 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceMapViewOfFile MapViewOfFile%5 "kernel32.dll"
//go:cgo_import_dynamic runtime._ftraceUnmapViewOfFile UnmapViewOfFile%1 "kernel32.dll"

// The system's functions that package runtime does not have. The loader sets them.
var (
	_ftraceCreateDirectory,
	_ftraceCreateFile,
	_ftraceCreateFileMapping,
	_ftraceGetCommandLine,
	_ftraceGetCurrentProcessId,
	_ftraceGetEnvironmentVariable,
	_ftraceGetFileInformation,
	_ftraceGetFileType,
	_ftraceGetModuleFileName,
	_ftraceGetProcessTimes,
	_ftraceMapViewOfFile,
	_ftraceUnmapViewOfFile stdFunction
)

var ftraceErrors = [...]ftraceError{
	{2, "no such file or directory"}, {3, "no such file or directory"}, {4, "too many open files"},
	{5, "permission denied, or it is a directory"}, {6, "bad handle"}, {8, "not enough memory"}, {15, "no such drive"},
	{19, "the medium is write-protected"}, {21, "the drive is not ready"}, {29, "it can't be written to"},
	{32, "another process has it open, and shares it with none"}, {39, "no space left on device"}, {53, "no such network path"},
	{80, "it exists"}, {87, "it can't be used so"}, {109, "broken pipe"}, {112, "no space left on device"}, {123, "this can't be the name of a file"},
	{161, "this can't be the path of a file"}, {183, "it exists"}, {206, "file name too long"}, {223, "file too large"}, {232, "broken pipe"},
	{267, "not a directory"}, {1295, "disk quota exceeded"}, {1816, "disk quota exceeded"},
}

const (
	ftraceWriteFault   = 29  // ERROR_WRITE_FAULT
	ftraceNameTooLong  = 206 // ERROR_FILENAME_EXCED_RANGE
	ftraceNotDirectory = 267 // ERROR_DIRECTORY
	ftraceEEXIST       = 183 // ERROR_ALREADY_EXISTS
)

// ftraceNotInNames are the characters that the name of a file may not have.
const ftraceNotInNames = "/\\:*?\"<>|"

const ftraceNoHandle = ^uintptr(0) // INVALID_HANDLE_VALUE

// ftraceSystemCall calls one of the system's functions. errno is what it left as the thread's last
// error, which means something only if the function failed. It does not let other goroutines run.
// It does what the runtime's stdcall does, which has other parameters in each Go release, and none
// that returns the error.
//
// The stack may not move, for arguments may be addresses on it.
//
//go:nosplit
//go:uintptrkeepalive
func ftraceSystemCall(fn stdFunction, args ...uintptr) (result uintptr, errno int32) {
	call := struct{ fn, n, args, result, result2, errno uintptr }{fn: uintptr(unsafe.Pointer(fn)), n: uintptr(len(args))}
	if len(args) > 0 {
		call.args = uintptr(abi.NoEscape(unsafe.Pointer(&args[0])))
	}
	errno = asmcgocall(asmstdcallAddr, unsafe.Pointer(&call))
	return call.result, errno
}

// wide appends a string in UTF-16, and a zero. It reports whether that fits.
func (b *ftraceText) wide(s string) bool {
	for _, r := range s {
		if r >= 0x10000 {
			b.word16(0xd800 + (r-0x10000)>>10)
			r = 0xdc00 + (r-0x10000)&0x3ff
		}
		b.word16(r)
	}
	b.word16(0)
	return b.n < len(b.data)
}

func (b *ftraceText) word16(v rune) {
	b.byte(byte(v))
	b.byte(byte(v >> 8))
}

// narrow returns the first n words in the buffer as a string.
func (b *ftraceText) narrow(n uintptr) string {
	return ftraceNarrow(unsafe.Slice((*uint16)(unsafe.Pointer(&b.data)), n))
}

// ftraceNarrow returns what is in UTF-16 as a string.
func ftraceNarrow(words []uint16) string {
	n := len(words)
	out := make([]byte, 0, n+16)
	for i := 0; i < n; i++ {
		r := rune(words[i])
		if r>>10 == 0xd800>>10 && i+1 < n && words[i+1]>>10 == 0xdc00>>10 {
			i++
			r = 0x10000 + (r&0x3ff)<<10 + rune(words[i])&0x3ff
		}
		var char [4]byte
		out = append(out, char[:encoderune(char[:], r)]...)
	}
	return string(out)
}

// ftraceWords is the number of words that a buffer for text has room for.
const ftraceWords = ftraceTextSize / 2

// ftraceGetenv returns a variable of the environment, "" if it is not set. gogetenv would return a
// character outside of Unicode's first plane as two that are unknown.
func ftraceGetenv(name string) string {
	key, value := ftraceNewText(), ftraceNewText()
	key.wide(name)
	n, _ := ftraceSystemCall(_ftraceGetEnvironmentVariable, uintptr(unsafe.Pointer(&key.data)), uintptr(unsafe.Pointer(&value.data)), ftraceWords)
	text := ""
	if n < ftraceWords {
		text = value.narrow(n)
	} else {
		text = gogetenv(name)
	}
	ftraceFreeText(key)
	ftraceFreeText(value)
	return text
}

// ftraceExecutable returns the path of the program.
func ftraceExecutable() string {
	b := ftraceNewText()
	defer ftraceFreeText(b)
	n, _ := ftraceSystemCall(_ftraceGetModuleFileName, 0, uintptr(unsafe.Pointer(&b.data)), ftraceWords)
	return b.narrow(n)
}

// ftraceArguments returns the program's name as it was started and, if there are any, its arguments
// as one string: each program takes its command line apart by itself.
func ftraceArguments() []string {
	words, _ := ftraceSystemCall(_ftraceGetCommandLine)
	n := 0
	for *(*uint16)(unsafe.Pointer(words + 2*uintptr(n))) != 0 {
		n++
	}
	line := ftraceNarrow(unsafe.Slice((*uint16)(unsafe.Pointer(words)), n))
	end := byte(' ')
	if line != "" && line[0] == '"' {
		line, end = line[1:], '"'
	}
	i := 0
	for i < len(line) && line[i] != end && (end == '"' || line[i] != '\t') {
		i++
	}
	name, rest := line[:i], line[min(i+1, len(line)):]
	for rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		rest = rest[1:]
	}
	if rest == "" {
		return []string{name}
	}
	return []string{name, rest}
}

// ftracePrivate is a security descriptor, relative to itself, by which a file is its owner's, the
// administrators' and the system's, whatever may be inherited from its directory. In the language
// for these it is D:P(A;;FA;;;OW)(A;;FA;;;BA)(A;;FA;;;SY).
var ftracePrivate = [...]byte{
	1, 0, 0x04, 0x90, // revision; it has an access control list, which is protected
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, // the list follows this head; owner and group are the process's
	2, 0, 72, 0, 3, 0, 0, 0, // its revision, size and number of entries
	0, 0, 20, 0, 0xff, 0x01, 0x1f, 0, 1, 1, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, // all is allowed to S-1-3-4
	0, 0, 24, 0, 0xff, 0x01, 0x1f, 0, 1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0, // and to S-1-5-32-544
	0, 0, 20, 0, 0xff, 0x01, 0x1f, 0, 1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0, // and to S-1-5-18
}

// ftraceSecurity is a SECURITY_ATTRIBUTES: programs that this one starts don't inherit the handle.
type ftraceSecurity struct {
	size       uint32
	descriptor uintptr
	inherits   uint32
}

func ftracePrivately() ftraceSecurity {
	return ftraceSecurity{size: uint32(unsafe.Sizeof(ftraceSecurity{})), descriptor: uintptr(unsafe.Pointer(&ftracePrivate))}
}

// What is wanted of a file, and how it is opened.
const (
	ftraceAppendData = 0x4 | 0x80 | 0x100000 // to append, each write at the end as it is then; to read attributes; to wait for it
	ftraceReadWrite  = 0xc0000000
	ftraceLookUp     = 0x20 | 0x80 // to go through a directory; to read attributes

	ftraceShareAll = 0x7 // others may read, write and delete it

	ftraceNew, ftraceExisting, ftraceNewOrExisting = 1, 3, 4

	ftraceOrdinary  = 0x80
	ftraceDirectory = 0x02000000 // FILE_FLAG_BACKUP_SEMANTICS: it may be one
)

// ftraceOpenAs opens a file by its path. It returns the descriptor or a negative errno.
func ftraceOpenAs(name string, access, disposition, flags uintptr) int32 {
	path, private := ftraceNewText(), ftracePrivately()
	defer ftraceFreeText(path)
	if !path.wide(name) {
		return -ftraceNameTooLong
	}
	handle, errno := ftraceSystemCall(_ftraceCreateFile, uintptr(unsafe.Pointer(&path.data)), access, ftraceShareAll, uintptr(unsafe.Pointer(&private)), disposition, flags, 0)
	if handle == ftraceNoHandle {
		return -errno
	}
	return int32(handle)
}

// ftraceOpenFile opens a file for appending, creating it for this user only. It returns the
// descriptor or a negative errno.
func ftraceOpenFile(name string) int32 {
	return ftraceOpenAs(name, ftraceAppendData, ftraceNewOrExisting, ftraceOrdinary)
}

// ftraceOpenOwnDir makes a directory for this user only, or opens the one that is there. It returns
// the descriptor or a negative errno.
func ftraceOpenOwnDir(name string) int32 {
	ftraceFindNative()
	path, private := ftraceNewText(), ftracePrivately()
	defer ftraceFreeText(path)
	if !path.wide(name) {
		return -ftraceNameTooLong
	}
	if made, errno := ftraceSystemCall(_ftraceCreateDirectory, uintptr(unsafe.Pointer(&path.data)), uintptr(unsafe.Pointer(&private))); made == 0 && errno != ftraceEEXIST {
		return -errno
	}
	dir := ftraceOpenAs(name, ftraceLookUp, ftraceExisting, ftraceDirectory)
	if dir < 0 {
		return dir
	}
	const isDirectory = 0x10
	if information, known := ftraceInformation(uintptr(dir)); !known || information.attributes&isDirectory == 0 {
		ftraceClose(dir)
		return -ftraceNotDirectory
	}
	return dir
}

// The functions of ntdll.dll by which a file is made in an open directory, and open files are
// compared. They are looked up: if they were imported, programs with C would link to the wrong
// printf (golang.org/issue/12030).
var _ftraceNtCompareObjects, _ftraceNtCreateFile, _ftraceNtQueryInformationFile, _ftraceRtlNtStatusToDosError stdFunction

func ftraceFindNative() {
	if atomic.Loadp(unsafe.Pointer(&_ftraceNtCreateFile)) == nil {
		ntdll := windowsLoadSystemLib(ntdlldll[:])
		_ftraceNtCompareObjects = windowsFindfunc(ntdll, []byte("NtCompareObjects\x00"))
		_ftraceNtQueryInformationFile = windowsFindfunc(ntdll, []byte("NtQueryInformationFile\x00"))
		_ftraceRtlNtStatusToDosError = windowsFindfunc(ntdll, []byte("RtlNtStatusToDosError\x00"))
		atomic.StorepNoWB(unsafe.Pointer(&_ftraceNtCreateFile), unsafe.Pointer(windowsFindfunc(ntdll, []byte("NtCreateFile\x00"))))
	}
}

// ftraceCreateAt makes a file in a directory, for this user only. It returns the descriptor, by
// which it is read and written, or a negative errno.
func ftraceCreateAt(dir int32, name string) int32 {
	path := ftraceNewText()
	defer ftraceFreeText(path)
	if !path.wide(name) {
		return -ftraceNameTooLong
	}
	text := struct { // UNICODE_STRING
		size, room uint16
		data       uintptr
	}{uint16(path.n - 2), uint16(path.n), uintptr(unsafe.Pointer(&path.data))}
	const anyCase = 0x40
	object := struct { // OBJECT_ATTRIBUTES
		size       uint32
		dir        uintptr
		name       uintptr
		attributes uint32
		descriptor uintptr
		quality    uintptr
	}{dir: uintptr(dir), name: uintptr(unsafe.Pointer(&text)), attributes: anyCase, descriptor: uintptr(unsafe.Pointer(&ftracePrivate))}
	object.size = uint32(unsafe.Sizeof(object))
	const (
		waitable        = 0x100000
		create          = 2
		synchronousFile = 0x20 | 0x40 // writes have ended when they return; it is no directory
	)
	var handle uintptr
	var status [2]uintptr
	failed, _ := ftraceSystemCall(_ftraceNtCreateFile, uintptr(unsafe.Pointer(&handle)), ftraceReadWrite|waitable, uintptr(unsafe.Pointer(&object)), uintptr(unsafe.Pointer(&status)), 0, ftraceOrdinary, ftraceShareAll, create, synchronousFile, 0, 0)
	if int32(failed) < 0 {
		errno, _ := ftraceSystemCall(_ftraceRtlNtStatusToDosError, failed)
		return -int32(errno)
	}
	return int32(handle)
}

func ftraceClose(fd int32) { ftraceSystemCall(_CloseHandle, uintptr(fd)) }

// ftraceWriteAt writes at an offset, or at the file's own position if that is negative. It does not
// let other goroutines run, for the runtime's locks may be held. It returns an errno or 0.
func ftraceWriteAt(fd int32, data unsafe.Pointer, n int, offset int64) int32 {
	for n > 0 {
		var written uint32
		at := struct { // OVERLAPPED
			internal [2]uintptr
			offset   int64
			event    uintptr
		}{offset: offset}
		overlapped := uintptr(0)
		if offset >= 0 {
			overlapped = uintptr(unsafe.Pointer(&at))
		}
		if ok, errno := ftraceSystemCall(_WriteFile, uintptr(fd), uintptr(data), uintptr(n), uintptr(unsafe.Pointer(&written)), overlapped); ok == 0 {
			return max(errno, 1)
		}
		data = add(data, uintptr(written))
		n -= int(written)
		if offset >= 0 {
			offset += int64(written)
		}
	}
	return 0
}

// ftraceMapFile makes a file longer by size bytes from offset on, and maps them. It writes zeros,
// for the system promises neither them nor the space when it makes a file longer to map it, and on
// a full disk a write to what is mapped ends the program. It returns nil and an errno if it fails.
func ftraceMapFile(fd int32, offset int64, size uintptr) (unsafe.Pointer, int32) {
	if errno := ftraceFill(fd, offset, size); errno != 0 {
		return nil, errno
	}
	const readWrite, write = 0x4, 0x2
	mapping, errno := ftraceSystemCall(_ftraceCreateFileMapping, uintptr(fd), 0, readWrite, 0, 0, 0)
	if mapping == 0 {
		return nil, max(errno, 1)
	}
	p, errno := ftraceSystemCall(_ftraceMapViewOfFile, mapping, write, uintptr(offset>>32), uintptr(uint32(offset)), size)
	ftraceSystemCall(_CloseHandle, mapping) // what is mapped keeps it
	if p == 0 {
		return nil, max(errno, 1)
	}
	return unsafe.Pointer(p), 0
}

func ftraceUnmap(p unsafe.Pointer, size uintptr) {
	ftraceSystemCall(_ftraceUnmapViewOfFile, uintptr(p))
}

// ftraceWriteFD writes, as a system call that may block: the scheduler runs other goroutines
// meanwhile. It returns the number of bytes written or a negative errno. What goes to a console is
// written by the runtime, which has the console show UTF-8 as such; there other goroutines wait.
func ftraceWriteFD(fd int32, data unsafe.Pointer, n int32) int32 {
	handle := uintptr(fd)
	if fd <= 2 {
		handle = ftraceHandle(fd)
		if ftraceConsole(handle) {
			if written := write1(uintptr(fd), data, n); written > 0 {
				return written
			}
			return -ftraceWriteFault
		}
	}
	return ftraceWriteHandle(handle, data, n)
}

// ftraceWriteHandle writes as ftraceWriteFD does. The stack must not grow between entersyscall and
// exitsyscall.
//
//go:nosplit
func ftraceWriteHandle(handle uintptr, data unsafe.Pointer, n int32) int32 {
	var written uint32
	getg().ftraceWait.own = true
	entersyscall()
	ok, errno := ftraceSystemCall(_WriteFile, handle, uintptr(data), uintptr(n), uintptr(unsafe.Pointer(&written)), 0)
	exitsyscall()
	getg().ftraceWait.own = false
	if ok == 0 {
		return -max(errno, 1)
	}
	return int32(written)
}

// ftraceTryAgain reports whether a failed write is worth repeating. If so it has waited a little. A
// pipe that does not wait takes nothing while it is full, which is no error.
func ftraceTryAgain(errno int32) bool {
	if errno == 0 {
		usleep(100)
	}
	return errno == 0
}

func ftracePid() int32 {
	pid, _ := ftraceSystemCall(_ftraceGetCurrentProcessId)
	return int32(pid)
}

// ftraceProbe reports whether n bytes at p, which is not Go's memory, can be read.
func ftraceProbe(p uintptr, n uintptr) bool {
	const committed, noAccess, guard = 0x1000, 0x1, 0x100
	for at := p; at < p+n; {
		var region struct { // MEMORY_BASIC_INFORMATION
			base, allocation          uintptr
			allocationProtect, filler uint32
			size                      uintptr
			state, protect, kind      uint32
		}
		if known, _ := ftraceSystemCall(_VirtualQuery, at, uintptr(unsafe.Pointer(&region)), unsafe.Sizeof(region)); known == 0 || region.state != committed || region.protect&(noAccess|guard) != 0 {
			return false
		}
		at = region.base + region.size
	}
	return true
}

// ftraceProcessTime returns the processor time that the process has used, in ns: at least 1, though
// Windows counts in steps of some 16 ms.
func ftraceProcessTime() int64 {
	var created, exited, kernel, user int64 // the latter in units of 100 ns
	ftraceSystemCall(_ftraceGetProcessTimes, ^uintptr(0), uintptr(unsafe.Pointer(&created)), uintptr(unsafe.Pointer(&exited)), uintptr(unsafe.Pointer(&kernel)), uintptr(unsafe.Pointer(&user)))
	return max(1, (kernel+user)*100)
}

// ftraceThreadTime returns the time in ns, since Windows counts a thread's processor time in steps
// of some 16 ms.
func ftraceThreadTime() int64 { return nanotime() }

// ftraceHandle returns the handle that a descriptor stands for.
func ftraceHandle(fd int32) uintptr {
	const output, errors = ^uintptr(10), ^uintptr(11)
	switch fd {
	case 1:
		handle, _ := ftraceSystemCall(_GetStdHandle, output)
		return handle
	case 2:
		handle, _ := ftraceSystemCall(_GetStdHandle, errors)
		return handle
	}
	return uintptr(fd)
}

// ftrace_descriptor is the reverse of ftraceHandle, for packages syscall and internal/poll. The
// program may make another handle that of standard output or standard error.
//
//go:linkname ftrace_descriptor
func ftrace_descriptor(handle uintptr) int32 {
	for fd := range int32(3) {
		if fd > 0 && handle == ftraceHandle(fd) {
			return fd
		}
	}
	return int32(handle)
}

func ftraceConsole(handle uintptr) bool {
	var mode uint32
	console, _ := ftraceSystemCall(_GetConsoleMode, handle, uintptr(unsafe.Pointer(&mode)))
	return console != 0
}

// ftraceFileInformation is BY_HANDLE_FILE_INFORMATION.
type ftraceFileInformation struct {
	attributes uint32
	_          [6]uint32
	volume     uint32
	_          [5]uint32
}

func ftraceInformation(handle uintptr) (information ftraceFileInformation, known bool) {
	ok, _ := ftraceSystemCall(_ftraceGetFileInformation, handle, uintptr(unsafe.Pointer(&information)))
	return information, ok != 0
}

// ftraceSameFile reports whether two descriptors are of the same file, if that is known. All that
// is a console counts as the one of the program. Both may be handles of the same object, as those
// of a pipe are. Or a file was opened twice. Then its number is the same, which it has on its
// volume.
func ftraceSameFile(a, b int32) (same, known bool) {
	one, other := ftraceHandle(a), ftraceHandle(b)
	if one == other {
		return true, true
	}
	if ftraceConsole(one) {
		return ftraceConsole(other), true
	}
	ftraceFindNative()
	if _ftraceNtCompareObjects != nil {
		if different, _ := ftraceSystemCall(_ftraceNtCompareObjects, one, other); different == 0 {
			return true, true
		}
	}
	number, another := ftraceFileNumber(one), ftraceFileNumber(other)
	if number == 0 || number != another {
		return false, true
	}
	file, ok := ftraceInformation(one)
	second, also := ftraceInformation(other)
	return !ok || !also || file.volume == second.volume, true
}

// ftraceFileNumber returns a file's number on its volume, 0 if it has none.
func ftraceFileNumber(handle uintptr) int64 {
	const fileInternalInformation = 6
	var status [2]uintptr
	var number int64
	failed, _ := ftraceSystemCall(_ftraceNtQueryInformationFile, handle, uintptr(unsafe.Pointer(&status)), uintptr(unsafe.Pointer(&number)), unsafe.Sizeof(number), fileInternalInformation)
	if failed != 0 {
		return 0
	}
	return number
}

// ftraceFileKind returns what the file fd is, if that is known.
func ftraceFileKind(fd int32) (kind uint8, known bool) {
	const unknown, disk, pipe = 0, 1, 3
	what, _ := ftraceSystemCall(_ftraceGetFileType, ftraceHandle(fd))
	switch what {
	case disk:
		return ftraceFileRegular, true
	case pipe:
		return ftraceFilePipe, true
	}
	return ftraceFileOther, what != unknown
}

// Who may do what with a file is not asked here.

func ftraceStatus(fd int32) (ftrace_ownfile_Stat, bool) { return ftrace_ownfile_Stat{}, false }
