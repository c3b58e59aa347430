//go:build ftrace_core && linux

// This file is added to package syscall on Linux. It tells package runtime about system calls that
// may make a descriptor another file. See text/streams.go there.

package syscall

import _ "unsafe" // for go:linkname

//go:linkname ftraceStreams runtime.ftraceStreams
var ftraceStreams [4]uint64

const (
	ftraceDup2       = 33 // amd64; on arm64 this is mknodat, whose second argument is not a descriptor but an address
	ftraceCloseRange = 436
)

// ftraceWriteCopies is called before a child is started: the child may write to the trace's file
// too. See text/held.go in package runtime.
//
//go:linkname ftraceWriteCopies runtime.ftraceWriteCopies
func ftraceWriteCopies()

// ftraceWriteHeldFirst writes what is held for the trace if that goes to descriptor 1 or 2.
//
//go:linkname ftraceWriteHeldFirst runtime.ftraceWriteHeldFirst
func ftraceWriteHeldFirst(fd int32)

// ftraceCalling is called before each system call while what is written is woven, where
// ftraceCalled is. What is held for the trace is written before others' bytes, and to the file that
// it was held for.
//
//go:nosplit
//go:norace
func ftraceCalling(trap, a1, a2, a3 uintptr) {
	fd := a1
	switch trap {
	case SYS_WRITE, SYS_WRITEV, SYS_SENDFILE, SYS_FSYNC, SYS_CLOSE, ftraceCloseRange:
	case ftraceDup2, SYS_DUP3:
		fd = a2
	case SYS_SPLICE, 285, 326: // these are copy_file_range on arm64 and amd64
		fd = a3
	default:
		return
	}
	if fd <= 2 {
		ftraceWriteHeldFirst(int32(fd))
	}
}

// ftraceCalled is called after each system call while what is written is woven. That is also so in
// the child of a fork, which has the parent's memory, and where the stack can't grow and the race
// detector must see nothing.
//
//go:nosplit
//go:norace
func ftraceCalled(trap, a1, a2 uintptr) {
	switch trap {
	case ftraceDup2, SYS_DUP3:
		ftraceForget(a2, a2)
	case SYS_CLOSE:
		ftraceForget(a1, a1)
	case ftraceCloseRange:
		ftraceForget(a1, a2)
	}
}

// ftraceForget forgets the answers about the descriptors from first to last. Answers about 1 and 2
// compare them with the trace's, so those are forgotten with any of them.
//
//go:nosplit
//go:norace
func ftraceForget(first, last uintptr) {
	for i := range ftraceStreams {
		if fd := uintptr(ftraceStreams[i] >> 32); fd >= first && fd <= last || first <= 2 {
			ftraceStreams[i] = 0
		}
	}
}
