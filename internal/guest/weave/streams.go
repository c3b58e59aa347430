//go:build ftrace_core

// Which files the descriptors are of that the program writes to. To ask the system takes a third of the time of a write, so the answer is kept until the
// program may have made the descriptor another file: on Linux all system calls of Go's but the runtime's own come by syscall.RawSyscall6, which tells of those that do that
// (std/syscall/streams_linux.go). C has its own ways: when it returns to Go, or calls it, nothing is known any more. On other systems it is asked each time.

package runtime

import (
	"internal/runtime/atomic"
	_ "unsafe" // for go:linkname
)

// ftraceStreams are the answers: those for the descriptors 1 and 2, whether it is of the trace's file, in front of them that for another one, whether it is a regular file, and behind them that for the trace's,
// whether copies on their way there may be held.
// The upper half is the descriptor, the lower an answer or, while it is being asked, a number that no one else has. It is 0 if nothing is known. Package syscall sets it to that,
// by a plain store, behind a system call.
//
//go:linkname ftraceStreams
var ftraceStreams [4]uint64

const (
	ftraceStreamNo = iota
	ftraceStreamYes
	ftraceStreamAsking // and above
)

// ftraceStreamsAsked numbers the times that it was asked.
var ftraceStreamsAsked uint32

// ftraceStreamIs returns the answer for fd in the i-th place, which it gets from ask if it is not known. ask reports whether it is certain.
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
	return fd == ftraceOut.fd || ftraceStreamIs(int(fd), fd, ftraceAskOwn)
}

// ftraceAskOwn asks whether fd is of the file that the trace goes to. The program may have made any descriptor another file, but for that of FTRACE_OUT=FILE, of which it does not know.
func ftraceAskOwn(fd int32) (own, certain bool) {
	id, ok := ftraceStat(fd)
	if !ok {
		return false, false
	}
	if ftraceOut.fd <= 2 {
		out, ok := ftraceStat(ftraceOut.fd)
		return ok && out == id, ok
	}
	return ftraceOut.id == id, true
}

// ftraceRegular reports whether fd, which is not 1 or 2, is of a regular file.
func ftraceRegular(fd int32) bool {
	return ftraceStreamIs(0, fd, func(fd int32) (regular, certain bool) {
		id, ok := ftraceStat(fd)
		return ok && id.kind == ftraceFileRegular, ok
	})
}

// ftraceCopiesMayWait reports whether copies may be held on their way to the trace's file. It is asked under both locks of ftraceLockOut.
func ftraceCopiesMayWait() bool {
	return ftraceStreamIs(3, ftraceOut.fd, func(fd int32) (hold, certain bool) {
		id, ok := ftraceStat(fd)
		return ok && ftraceHeld.aim(fd, id.kind), ok
	})
}

// ftraceForgetStreams forgets all answers: as long as nothing is woven package syscall tells of nothing, and of what C did no one tells.
//
//go:nosplit
func ftraceForgetStreams() {
	for i := range ftraceStreams {
		atomic.Store64(&ftraceStreams[i], 0)
	}
}
