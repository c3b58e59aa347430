//go:build ftrace_core

// Held copies. What is woven of a line that the program has written elsewhere is a copy, and need not be a write of its own: while many such lines come, the copies are
// held, in order, and written together with what is written to the trace next, at the latest some ftraceTick later. Where there are few each is written at once: to look after them would cost more than to write them.
//
// When nothing else is written it is the thread that waits for requests (ftrace_attach.go) which sees to it: it is there in any program, and costs nothing while nothing is held. It has no
// processor, and lets the goroutine write that answers requests, as sysmon lets it collect garbage. sysmon itself sleeps for up to a minute while nothing runs, and wakes by system calls, which
// a logger that writes nowhere makes none of.
//
// Where the process ends what is held is written first: in an orderly way (ftraceFinish), by a fatal error or a signal (ftraceDying), by exec. Not by SIGKILL, nor if C ends it.
//
// Copies are held only on their way to a file that FTRACE_OUT names and that is a regular one: others have it only by that name, and a write to it does not wait for a reader.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceTick      = 10e6     // nanoseconds
	ftraceHeldOften = 128      // copies in a tick, from which on they are held, and with less than half of which they are no more
	ftraceHeldMost  = 16 << 10 // bytes; if there are more they are written
)

// ftraceHeldCopies are the copies that are held. They are used under ftraceOut's lock, but for ftraceDying.
type ftraceHeldCopies struct {
	text    *ftraceText
	from    int    // how much of text is written already
	whole   int    // how much of it is copies, each with its end
	copies  int    // in this tick
	since   int64  // when it began, while nothing is held
	off     int32  // reasons why nothing may be held; atomic
	ticking uint32 // the thread looks every tick; nothing is held while it does not; atomic
	due     uint32 // the goroutine is to look; atomic
	writing uint32 // text is being written just now; atomic
}

var ftraceHeld = ftraceHeldCopies{off: 1}

// ftraceMayHold is called when it is known where the trace goes.
func ftraceMayHold() {
	ftraceHeld.off = 1
	if ftraceOut.fd > 2 && ftraceOut.id.regular && ftraceMemory.fd != 0 {
		ftraceHeld.off = 0
	}
}

// ftraceHolds says whether the copy that is to be written now can be held. If there were many in this tick the thread is let look; that it will is certain if it was asleep, and not just about to be.
func ftraceHolds() bool {
	h := &ftraceHeld
	if atomic.Loadint32(&h.off) != 0 {
		return false
	}
	if h.ticking != 0 {
		return true
	}
	if now := nanotime(); now-h.since >= ftraceTick {
		h.since, h.copies = now, 0
	}
	if h.copies++; h.copies < ftraceHeldOften {
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

// ftraceWriteHeldOnce is ftraceWriteFD for what is held. Who interrupts it can tell whether it was written.
//
//go:nosplit
func ftraceWriteHeldOnce() int32 {
	h := &ftraceHeld
	entersyscall()
	atomic.Store(&h.writing, 1)
	wrote := ftraceWriteNow(ftraceOut.fd, add(unsafe.Pointer(&h.text.data), uintptr(h.from)), int32(h.text.n-h.from))
	if wrote > 0 {
		h.from += int(wrote)
	}
	atomic.Store(&h.writing, 0)
	exitsyscall()
	return wrote
}

// ftraceWriteCopies writes what is held, before something happens that is to be seen behind it.
//
//go:linkname ftraceWriteCopies
func ftraceWriteCopies() {
	if ftraceHeld.text == nil {
		return
	}
	semacquire(&ftraceOut.lock)
	ftraceWriteHeld()
	semrelease(&ftraceOut.lock)
}

// ftraceHoldNoMore writes what is held. From then on nothing is, unless ftraceHoldAgain follows.
func ftraceHoldNoMore() {
	atomic.Xaddint32(&ftraceHeld.off, 1)
	ftraceWriteCopies()
}

func ftraceHoldAgain() { atomic.Xaddint32(&ftraceHeld.off, -1) }

// ftraceTicked is called by the goroutine that answers requests. It says whether it was let run for what is held, and writes that. If there was little the thread need not look any more.
func ftraceTicked() bool {
	if !atomic.Cas(&ftraceHeld.due, 1, 0) {
		return false
	}
	semacquire(&ftraceOut.lock)
	ftraceWriteHeld()
	if ftraceHeld.copies < ftraceHeldOften/2 {
		atomic.Store(&ftraceHeld.ticking, 0)
	}
	ftraceHeld.copies = 0
	semrelease(&ftraceOut.lock)
	return true
}

// ftraceDying writes what is held because the process ends now. It may be called on any stack, in a signal handler too, whatever locks are held; others run on meanwhile. If the lock does not become free, who
// has it can't go on: then what is held is written nevertheless, unless that is what it was about.
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
	for i := range 1000 {
		if locked = atomic.Cas(&ftraceOut.lock, 1, 0); locked || i >= 50 && atomic.Load(&h.writing) == 0 {
			break
		}
		ftracePause()
	}
	if atomic.Load(&h.writing) == 0 && atomic.Load(&ftraceOut.dead) == 0 {
		for h.from < h.whole {
			wrote := ftraceWriteNow(ftraceOut.fd, add(unsafe.Pointer(&h.text.data), uintptr(h.from)), int32(h.whole-h.from))
			if wrote <= 0 {
				break
			}
			h.from += int(wrote)
		}
		h.empty()
	}
	if locked {
		atomic.Xadd(&ftraceOut.lock, 1) // who waits for it goes on waiting
	}
}
