//go:build ftrace_core

// What the tracer needs of macOS. Its programs don't make system calls, but call functions of
// libSystem, each of which the linker has an address of.

package runtime

import (
	"internal/stringslite"
	"unsafe"
)

//go:cgo_import_dynamic libc_getcwd getcwd "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_ftruncate ftruncate "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_geteuid geteuid "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_getrlimit getrlimit "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_mach_vm_read_overwrite mach_vm_read_overwrite "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_mkdirat mkdirat "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_openat openat "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_pwrite pwrite "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_readlinkat readlinkat "/usr/lib/libSystem.B.dylib"
//go:cgo_import_dynamic libc_unlinkat unlinkat "/usr/lib/libSystem.B.dylib"

// Where the functions are, see os/darwin.s. Package runtime itself imports those that are not above
// or in the files of the processors.
var (
	ftraceSysClockGettime,
	ftraceSysFcntl,
	ftraceSysFstat,
	ftraceSysFstatfs,
	ftraceSysFtruncate,
	ftraceSysGetcwd,
	ftraceSysGeteuid,
	ftraceSysGetpid,
	ftraceSysGetrlimit,
	ftraceSysMachVMRead,
	ftraceSysMkdirat,
	ftraceSysMmap,
	ftraceSysMunmap,
	ftraceSysOpenat,
	ftraceSysPwrite,
	ftraceSysReadlinkat,
	ftraceSysUnlinkat uintptr
)

const (
	ftraceEAGAIN       = 35
	ftraceELOOP        = 62
	ftraceENAMETOOLONG = 63
	ftraceEDQUOT       = 69

	ftraceWorkingDir = -2 // AT_FDCWD

	ftraceONonblock  = 0x4
	ftraceOAppend    = 0x8
	ftraceONofollow  = 0x100
	ftraceOCreat     = 0x200
	ftraceOExcl      = 0x800
	ftraceONoctty    = 0x20000
	ftraceODirectory = 0x100000
	ftraceOCloexec   = 0x1000000
	ftraceOPath      = 0 // there is none: a directory is opened to be read

	ftraceDupCloexec   = 67 // F_DUPFD_CLOEXEC
	ftraceMapAnonymous = 0x1000
	ftraceMapNoReserve = 0x40

	ftraceClockProcess = 12 // CLOCK_PROCESS_CPUTIME_ID
	ftraceClockThread  = 16 // CLOCK_THREAD_CPUTIME_ID
)

// ftraceStatT is struct stat.
type ftraceStatT struct {
	dev         int32
	mode, nlink uint16
	ino         uint64
	uid, _      uint32
	rdev, _     int32
	_           [14]uint64
}

// ftraceStatfsT is struct statfs.
type ftraceStatfsT struct {
	_          [9]uint64
	fstypename [16]byte
	_          [260]uint64
}

// ftraceSystemCall6 calls a function. errno is left from an earlier call if this one did not fail.
// All six arguments are passed: of openat the system wants the fourth where those are of which a
// function takes any number, and package runtime puts it there.
//
//go:nosplit
func ftraceSystemCall6(function uintptr, args *[6]uintptr) (result uintptr, errno int32) {
	result, _, left := syscall_rawsyscalln(function, args[0], args[1], args[2], args[3], args[4], args[5])
	if int32(result) == -1 { // functions that return 32 bits leave others as they are
		errno = int32(left)
	}
	return result, errno
}

// ftraceReserve makes a file longer by size bytes from offset on. It returns an errno or 0.
func ftraceReserve(fd int32, offset int64, size uintptr) int32 {
	return ftraceFill(fd, offset, size)
}

// ftraceLeadsToOpen reports whether a directory is /dev or one in it, such as /dev/fd.
func ftraceLeadsToOpen(fd int32) bool {
	var stat ftraceStatfsT
	_, errno := ftraceSystemCall(ftraceSysFstatfs, uintptr(fd), uintptr(unsafe.Pointer(&stat)))
	return errno == 0 && stat.fstypename == [16]byte{'d', 'e', 'v', 'f', 's'}
}

// ftraceExecutable returns the path of the program. The system has told it as the program was
// started, perhaps from the working directory on.
func ftraceExecutable() string {
	path := executablePath
	if path == "" {
		return ftraceArg0()
	}
	if path[0] == '/' {
		return path
	}
	buf := make([]byte, 1024) // PATH_MAX
	there, _ := ftraceSystemCall(ftraceSysGetcwd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	KeepAlive(buf)
	if there == 0 {
		return path
	}
	return gostringnocopy(&buf[0]) + "/" + stringslite.TrimPrefix(path, "./")
}

// ftraceProbe reports whether n bytes at p, which is not Go's memory, can be read. The system is to
// copy a byte of each page.
func ftraceProbe(p uintptr, n uintptr) bool {
	const size, task = 4096, 0 // of a page, at least; the function puts this one there
	for at := p; at < p+n; at = at&^(size-1) + size {
		var b byte
		var copied uint64
		failed, _ := ftraceSystemCall(ftraceSysMachVMRead, task, at, 1, uintptr(unsafe.Pointer(&b)), uintptr(unsafe.Pointer(&copied)))
		if int32(failed) != 0 {
			return false
		}
	}
	return true
}
