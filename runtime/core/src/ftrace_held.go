//go:build ftrace_core

// Held copies. What is woven of a line that the program has written elsewhere is a copy, and need not be a write of its own: while many such lines come, the copies are
// held, in order, and written together with what is written to the trace next, at the latest some ftraceTick later. Where there are few each is written at once: to look after them would cost more than to write them.
//
// When nothing else is written it is the thread that waits for requests (ftrace_attach.go) which writes them: it is there in any program, and costs nothing while nothing is held. It has no
// processor, so it can't wait for a semaphore, nor let run who does. What is held has a lock of its own for that, beside ftraceOut's. sysmon would not do: it sleeps for up to a minute while nothing runs, and
// wakes by system calls, which a logger that writes nowhere makes none of.
//
// Where the process ends what is held is written first: in an orderly way (ftraceFinish), by a fatal error or a signal (ftraceDying), by exec. Not by SIGKILL, nor if C ends it.
//
// Copies are held only on their way to a regular file or a pipe. The thread does not wait for a pipe's reader: attach requests would wait as well. Terminals and sockets may let it wait.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceTick      = 10e6     // nanoseconds
	ftraceHeldOften = 32       // copies in a tick, from which on they are held, and with less than half of which they are no more
	ftraceHeldMost  = 16 << 10 // bytes; if there are more they are written
	ftracePiece     = 4096     // bytes that a pipe takes in one piece (PIPE_BUF)
)

// ftraceHeldCopies are the copies that are held. They are used under lock, but for ftraceDying.
type ftraceHeldCopies struct {
	lock    uint32 // 0 free, 1 taken, 2 taken and waited for; atomic
	text    *ftraceText
	from    int    // how much of text is written already
	whole   int    // how much of it is copies, each with its end; all of it while the lock is free
	copies  int    // in this tick
	since   int64  // when it began, while nothing is held
	off     int32  // reasons why nothing may be held; atomic
	ticking uint32 // the thread looks every tick; nothing is held anew while it does not; atomic
	writing uint32 // text is being written just now; atomic
}

var ftraceHeld = ftraceHeldCopies{off: 1}

// ftraceLockOut takes both locks, for a goroutine: ftraceOut's, for which others wait, and that of what is held, which threads without a processor and code on other stacks have for the time of a write. That is waited
// for in a system call: it needs no one to let the goroutine run, and the runtime sees no deadlock in it.
func ftraceLockOut() {
	semacquire(&ftraceOut.lock)
	if !ftraceHeld.try() {
		ftraceHeld.wait()
	}
}

func ftraceUnlockOut() {
	ftraceHeld.unlock()
	semrelease(&ftraceOut.lock)
}

// try takes the lock if it is free.
//
//go:nosplit
func (h *ftraceHeldCopies) try() bool { return atomic.Cas(&h.lock, 0, 1) }

//go:nosplit
func (h *ftraceHeldCopies) wait() {
	entersyscall()
	for atomic.Xchg(&h.lock, 2) != 0 {
		ftraceSleepOn(&h.lock, 2)
	}
	exitsyscall()
}

//go:nosplit
func (h *ftraceHeldCopies) unlock() {
	if atomic.Xchg(&h.lock, 0) == 2 {
		ftraceWakeOne(&h.lock)
	}
}

// ftraceHolds says whether the copy that is to be written now can be held. If there were many in this tick the thread is let look; that it will is certain if it was asleep, and not just about to be.
func ftraceHolds() bool {
	h := &ftraceHeld
	if atomic.Loadint32(&h.off) != 0 {
		return false
	}
	if h.ticking != 0 {
		return ftraceMayHold()
	}
	if now := nanotime(); now-h.since >= ftraceTick {
		h.since, h.copies = now, 0
	}
	if h.copies++; h.copies < ftraceHeldOften || h.whole > 0 || !ftraceMayHold() {
		return false
	}
	if h.text == nil {
		h.text = ftraceNewText()
	}
	atomic.Store(&h.ticking, 1)
	if ftraceWake(&ftraceMemory.head.request) == 0 {
		atomic.Store(&h.ticking, 0)
	}
	return h.ticking != 0
}

// ftraceHold notes that text has a copy more.
func ftraceHold() {
	ftraceHeld.whole = ftraceHeld.text.n
	ftraceHeld.copies++
	if ftraceHeld.whole >= ftraceHeldMost {
		ftraceWriteHeld()
	}
}

// ftraceWriteHeld writes what is held, and what ftraceWriteAll has put behind it. It returns an errno or 0; what could not be written is lost.
func ftraceWriteHeld() (errno int32) {
	h := &ftraceHeld
	if h.text == nil || h.text.n == 0 {
		return 0
	}
	for h.from < h.text.n && atomic.Load(&ftraceOut.dead) == 0 {
		if wrote := ftraceWriteHeldOnce(); wrote <= 0 && !ftraceTryAgain(-wrote) {
			errno = -wrote
			break
		}
	}
	for i := h.from; i < h.whole; i++ {
		if h.text.data[i] == '\n' {
			ftraceDead(errno)
		}
	}
	h.empty()
	return errno
}

// empty forgets what is held. In this order no moment of it looks as if it were still to be written.
//
//go:nosplit
func (h *ftraceHeldCopies) empty() {
	h.whole = 0
	h.text.n = 0
	h.from = 0
}

// ftraceWriteHeldOnce is ftraceWriteFD for what is held.
//
//go:nosplit
func ftraceWriteHeldOnce() int32 {
	entersyscall()
	wrote := ftraceHeld.write(ftraceHeld.text.n)
	exitsyscall()
	return wrote
}

// write writes, on any stack, a piece of what is held up to the given place: whole lines, if they are not long, which do not mix with what others write to a pipe then. It returns the number of bytes written or a negative errno.
// Who interrupts it can tell whether it was written.
//
//go:nosplit
func (h *ftraceHeldCopies) write(to int) int32 {
	if to > h.from+ftracePiece {
		to = h.from + ftracePiece
		for i := to; i > h.from; i-- {
			if h.text.data[i-1] == '\n' {
				to = i
				break
			}
		}
	}
	atomic.Store(&h.writing, 1)
	wrote := ftraceWriteNow(ftraceOut.fd, add(unsafe.Pointer(&h.text.data), uintptr(h.from)), int32(to-h.from))
	if wrote > 0 {
		h.from += int(wrote)
	}
	atomic.Store(&h.writing, 0)
	return wrote
}

// ftraceTicked is called by the thread each tick. Who has the lock writes, or is about to hold more. If there was little the thread need not look any more; nor if it can't be written, which
// is left to the next who writes, who may complain.
func ftraceTicked() {
	h := &ftraceHeld
	if !h.try() {
		return
	}
	failed := atomic.Load(&ftraceOut.dead) != 0
	for h.from < h.text.n && !failed && ftraceWritable(ftraceOut.fd, 0) {
		const eintr, eagain = 4, 11
		wrote := h.write(h.text.n)
		if wrote == -eagain {
			break
		}
		failed = wrote <= 0 && wrote != -eintr
	}
	if h.from == h.text.n {
		h.empty()
	}
	if failed || h.whole == 0 && h.copies < ftraceHeldOften/2 {
		atomic.Store(&h.ticking, 0)
	}
	h.copies = 0
	h.unlock()
}

// ftraceWriteCopies writes what is held, before something happens that is to be seen behind it.
//
//go:linkname ftraceWriteCopies
func ftraceWriteCopies() {
	if ftraceHeld.text == nil {
		return
	}
	ftraceLockOut()
	ftraceWriteHeld()
	ftraceUnlockOut()
}

// ftraceWriteHeldFirst writes what is held where the trace goes to descriptor 1 or 2, if the caller is about to write to one of them, fd, as it is, or to close it. It may be called on any stack, whatever locks are held, and in the
// child of a fork, to which nothing of it belongs. A reader is only waited for where the caller's own write would wait for it. What can't be written is left to the next who writes.
//
//go:linkname ftraceWriteHeldFirst
//go:nosplit
//go:nowritebarrierrec
func ftraceWriteHeldFirst(fd int32) {
	h := &ftraceHeld
	if h.text == nil || h.text.n == 0 || ftraceOut.fd > 2 {
		return
	}
	if gp := getg(); gp != nil && gp.stackguard0 == stackFork || !h.try() {
		return
	}
	for h.from < h.text.n && atomic.Load(&ftraceOut.dead) == 0 && (fd == ftraceOut.fd || ftraceWritable(ftraceOut.fd, 0)) && h.write(h.text.n) > 0 {
	}
	if h.from == h.text.n {
		h.empty()
	}
	h.unlock()
}

// ftraceHoldNoMore writes what is held. From then on nothing is, unless ftraceHoldAgain follows.
func ftraceHoldNoMore() {
	atomic.Xaddint32(&ftraceHeld.off, 1)
	ftraceWriteCopies()
}

func ftraceHoldAgain() { atomic.Xaddint32(&ftraceHeld.off, -1) }

// ftraceDying writes what is held because the process ends now. It may be called on any stack, in a signal handler too, whatever locks are held; others run on meanwhile. If the lock does not become free, who
// has it can't go on: then, after 0.1 s, what is held is written nevertheless, unless that is what it was about. A write under way has 2 s, on a busy machine it may need them; a pipe's reader only 0.1 s.
//
//go:nosplit
//go:nowritebarrierrec
func ftraceDying() {
	h := &ftraceHeld
	if h.text == nil {
		return
	}
	atomic.Xaddint32(&h.off, 1)
	locked := false
	for i := range 20000 {
		if locked = h.try(); locked || i >= 1000 && (atomic.Load(&h.writing) == 0 || i == 1000 && !ftraceWritable(ftraceOut.fd, 0)) {
			break
		}
		ftracePause()
	}
	if atomic.Load(&h.writing) == 0 && atomic.Load(&ftraceOut.dead) == 0 {
		for h.from < h.whole && ftraceWritable(ftraceOut.fd, 100) && h.write(h.whole) > 0 {
		}
		h.empty()
	}
	if locked {
		h.unlock()
	}
}
