//go:build ftrace_core

// Which files the descriptors are of that the program writes to. A system call for that takes a
// third of the time of a write. So the answer is kept until the program may have made the
// descriptor another file.
//
// On Linux all of Go's system calls, except the runtime's own, go through syscall.RawSyscall6,
// which reports those that can do that (std/syscall/streams_linux.go). C has its own ways: when it
// returns to Go, or calls it, the answers are forgotten. On other systems they are not kept.

package runtime

import (
	"internal/runtime/atomic"
	_ "unsafe" // for go:linkname
)

// ftraceStreams are the answers. First whether a descriptor other than 1 and 2 is of a regular
// file. Then, for the descriptors 1 and 2, whether it is of the trace's file. Last, for the trace's
// own descriptor, whether copies on their way there may be held.
//
// The upper half is the descriptor. The lower is an answer or, while the system is being asked, a
// number that no other question has. It is 0 if nothing is known. Package syscall sets it to 0, by
// a plain store, after a system call.
//
//go:linkname ftraceStreams
var ftraceStreams [4]uint64

const (
	ftraceStreamNo = iota
	ftraceStreamYes
	ftraceStreamAsking // and above
)

// ftraceStreamsAsked numbers the questions.
var ftraceStreamsAsked uint32

// ftraceStreamIs returns the answer for fd in place i. If it is not known it gets it from ask,
// which also reports whether it is certain.
func ftraceStreamIs(i int, fd int32, ask func(fd int32) (answer, certain bool)) bool {
	at := &ftraceStreams[i]
	known := atomic.Load64(at)
	if low := uint32(known); known != 0 && int32(known>>32) == fd && low < ftraceStreamAsking {
		return low == ftraceStreamYes
	}
	asking := uint64(fd)<<32 | uint64(atomic.Xadd(&ftraceStreamsAsked, 1)<<2|ftraceStreamAsking)
	if ftraceStreamsKnown {
		atomic.Store64(at, asking)
	}
	answer, certain := ask(fd)
	if certain && ftraceStreamsKnown {
		low := uint64(ftraceStreamNo)
		if answer {
			low = ftraceStreamYes
		}
		atomic.Cas64(at, asking, uint64(fd)<<32|low)
	}
	return answer
}

// ftraceOwn reports whether fd, 1 or 2, is of the file that the trace goes to.
func ftraceOwn(fd int32) bool {
	return fd == ftraceOut.fd || ftraceStreamIs(int(fd), fd, func(fd int32) (own, certain bool) {
		return ftraceSameFile(fd, ftraceOut.fd)
	})
}

// ftraceRegular reports whether fd, which is not 1 or 2, is of a regular file.
func ftraceRegular(fd int32) bool {
	return ftraceStreamIs(0, fd, func(fd int32) (regular, certain bool) {
		kind, ok := ftraceFileKind(fd)
		return kind == ftraceFileRegular, ok
	})
}

// ftraceCopiesMayWait reports whether copies may be held on their way to the trace's file. Both
// locks of ftraceLockOut are held.
func ftraceCopiesMayWait() bool {
	return ftraceStreamIs(3, ftraceOut.fd, func(fd int32) (hold, certain bool) {
		kind, ok := ftraceFileKind(fd)
		return ok && ftraceHeld.aim(fd, kind), ok
	})
}

// ftraceForgetStreams forgets all answers. Package syscall reports nothing while nothing is woven,
// and nobody reports what C did.
//
//go:nosplit
func ftraceForgetStreams() {
	for i := range ftraceStreams {
		atomic.Store64(&ftraceStreams[i], 0)
	}
}
