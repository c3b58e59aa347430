//go:build ftrace_core

// The memory that others may look into, on Windows. Each part that is mapped is a section of its
// own, backed by the system's page file: a section can't grow, and the system promises memory for
// all of one when it is made. Its name tells its place in what is one file on Linux,
// Local\ftrace-PID-PLACE, and 0 is the head. Beside them are two events, by which a request and its
// answer are told: Local\ftrace-PID-request and Local\ftrace-PID-reply. All are this user's, known
// in this session of the system, and go when the program ends.

package runtime

import "unsafe"

//go:cgo_import_dynamic runtime._ftraceCreateSection CreateFileMappingA%6 "kernel32.dll"

var _ftraceCreateSection stdFunction

// ftraceEvents are the handles of the two events.
var ftraceEvents struct{ request, reply uintptr }

// ftraceObjectName returns the name of what is made next, with a zero. It is to be freed.
func ftraceObjectName(what string, at uint64) *ftraceText {
	b := ftraceNewText()
	b.str(`Local\ftrace-`)
	b.uint(uint64(ftracePid()))
	b.byte('-')
	if what != "" {
		b.str(what)
	} else {
		b.uint(at)
	}
	b.byte(0)
	return b
}

// ftraceMadeNew returns the handle of what was made, or 0 if that failed or it was there: somebody
// else has made it then.
func ftraceMadeNew(handle uintptr, errno int32) uintptr {
	if handle != 0 && errno == ftraceEEXIST {
		ftraceSystemCall(_CloseHandle, handle)
		return 0
	}
	return handle
}

func ftraceMakeEvent(name string) uintptr {
	b, private := ftraceObjectName(name, 0), ftracePrivately()
	defer ftraceFreeText(b)
	return ftraceMadeNew(ftraceSystemCall(_CreateEventA, uintptr(unsafe.Pointer(&private)), 0, 0, uintptr(unsafe.Pointer(&b.data))))
}

// ftraceMakeSection makes the section of a place. Its handle stays open, for without one it has no
// name.
func ftraceMakeSection(at, size uint64) uintptr {
	const pageFile, readWrite = ^uintptr(0), 0x4
	b, private := ftraceObjectName("", at), ftracePrivately()
	defer ftraceFreeText(b)
	return ftraceMadeNew(ftraceSystemCall(_ftraceCreateSection, pageFile, uintptr(unsafe.Pointer(&private)), readWrite, uintptr(size>>32), uintptr(uint32(size)), uintptr(unsafe.Pointer(&b.data))))
}

// ftraceMemoryFile makes the events and the section of the head. It returns the handle of that, or
// 0.
func ftraceMemoryFile(size uint64) int32 {
	ftraceEvents.request, ftraceEvents.reply = ftraceMakeEvent("request"), ftraceMakeEvent("reply")
	if ftraceEvents.request == 0 || ftraceEvents.reply == 0 {
		return 0
	}
	return int32(ftraceMakeSection(0, size))
}

// ftraceResize does nothing: what follows the head is in other sections.
func ftraceResize(fd int32, size uint64) int32 { return 0 }

// ftraceMapMemory maps the part of the memory at a place, in a section that it makes unless it is
// the head's. It returns nil if that fails.
func ftraceMapMemory(at, size uint64) unsafe.Pointer {
	const readWrite = 0x2 | 0x4
	section := uintptr(ftraceMemory.fd)
	if section == 0 {
		return nil
	}
	if at != 0 {
		section = ftraceMakeSection(at, size)
	}
	if section == 0 {
		return nil
	}
	p, _ := ftraceSystemCall(_ftraceMapViewOfFile, section, readWrite, 0, 0, uintptr(size))
	return unsafe.Pointer(p)
}

// ftraceEndMemory does nothing: all goes with the program.
func ftraceEndMemory() {}

// ftraceWait waits until there may be a request, for at most ns nanoseconds, and reports whether
// these have passed.
func ftraceWait(_ *uint32, _ uint32, ns int64) bool {
	const timedOut = 258
	result, _ := ftraceSystemCall(_WaitForSingleObject, ftraceEvents.request, uintptr(ns/1e6))
	return result == timedOut
}

// ftraceWake tells the one who waits for an answer that it is there.
func ftraceWake(*uint32) int {
	ftraceSystemCall(_SetEvent, ftraceEvents.reply)
	return 0
}
