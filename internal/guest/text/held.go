//go:build ftrace_core

// Held copies. What is woven from a line that the program has written elsewhere is a copy, and need
// not be a write of its own. Copies are held, in order, and written together with the next line of
// the trace, or else by sysmon.
//
// sysmon is the runtime's thread that looks after the processors every 20 µs to 10 ms while not all
// of them are idle. It writes when the first copy has been held for ftraceHeldFor, and before it
// goes to sleep because all processors are idle. So nobody pays for a timer.
//
// sysmon may go on sleeping while a goroutine runs: timers and system calls wake it, the network
// does not. While it sleeps nothing is held. It has no processor, so it can neither wait for a
// semaphore nor let its holder run. So what is held has a lock of its own besides ftraceOut's. Nor
// may sysmon wait for a reader of the trace, because goroutines would not be preempted meanwhile:
// see aim.
//
// Where the process ends, what is held is written first: in an orderly end (ftraceFinish), by a
// fatal error or a signal (ftraceDying), and by exec. Not by SIGKILL, nor if C ends the process.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceHeldFor = 2e6      // nanoseconds
	ftraceHeldMax = 16 << 10 // bytes; if there are more they are written
	ftracePiece   = 4096     // bytes in one write: a pipe takes them in one piece (PIPE_BUF)
)

// ftraceHeldCopies has the copies that are held. It is used under lock, except by ftraceDying.
type ftraceHeldCopies struct {
	lock    uint32   // 0 free, 1 taken, 2 taken and somebody waits; atomic
	holder  guintptr // the goroutine that has it
	text    *ftraceText
	from    int    // how much of text is already written
	whole   int    // how much of text is whole copies; all of it while the lock is free
	holding uint32 // something is held; atomic
	since   int64  // when that began; ftraceHeldStuck if sysmon can't write it
	off     int32  // number of reasons why nothing may be held; atomic
	to      int    // up to where the write under way writes
	writing uint32 // such a write is under way; atomic

	// How sysmon writes to the trace's file, see aim.
	fd       int32
	socket   bool
	terminal int32 // 0, or a descriptor of our own
}

const ftraceHeldStuck = 1<<63 - 1

var ftraceHeld = ftraceHeldCopies{off: 1}

// ftraceLockOut takes both locks, for a goroutine: ftraceOut's, for which others wait, and that of
// what is held. The second is taken for the time of a write by threads without a processor and by
// code on other stacks. The wait for it is a system call: nobody has to let the goroutine run, and
// the runtime sees no deadlock in it. A goroutine that is about to go on after a wait, see
// wait/stop.go, has what it waited for in its g, so it can't wait for the first as others do.
func ftraceLockOut() {
	if getg().ftraceWait.prints {
		for n := 0; !cansemacquire(&ftraceOut.lock); n++ {
			if Gosched(); n > 20 {
				ftracePause()
			}
		}
	} else {
		semacquire(&ftraceOut.lock)
	}
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
func (h *ftraceHeldCopies) try() bool {
	if !atomic.Cas(&h.lock, 0, 1) {
		return false
	}
	h.holder = guintptr(unsafe.Pointer(getg()))
	return true
}

//go:nosplit
func (h *ftraceHeldCopies) wait() {
	getg().ftraceWait.own = true
	entersyscall()
	for atomic.Xchg(&h.lock, 2) != 0 {
		ftraceSleepOn(&h.lock, 2)
	}
	exitsyscall()
	getg().ftraceWait.own = false
	h.holder = guintptr(unsafe.Pointer(getg()))
}

//go:nosplit
func (h *ftraceHeldCopies) unlock() {
	h.holder = 0
	if atomic.Xchg(&h.lock, 0) == 2 {
		ftraceWakeOne(&h.lock)
	}
}

// ftraceCopyCanWait reports whether the copy that is to be written now can be held.
func ftraceCopyCanWait() bool {
	h := &ftraceHeld
	if atomic.Loadint32(&h.off) != 0 || !ftraceCopiesMayWait() {
		return false
	}
	if h.text == nil {
		h.text = ftraceNewText()
	}
	return true
}

// ftraceCopyHeld notes that text has one more copy. sysmon first says that it sleeps, and then
// checks whether something is held; here the order is the reverse.
func ftraceCopyHeld() {
	h := &ftraceHeld
	h.whole = h.text.n
	first := h.holding == 0
	if first {
		h.since = nanotime()
		atomic.Store(&h.holding, 1)
	}
	if h.whole >= ftraceHeldMax || first && sched.sysmonwait.Load() {
		ftraceWriteHeld()
	}
}

// ftraceWriteHeld writes what is held, and what ftraceWriteAll has put after it. It returns an
// errno or 0. What could not be written is lost.
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

// empty forgets what is held. In this order it never looks as if it were still to be written.
//
//go:nosplit
func (h *ftraceHeldCopies) empty() {
	h.whole = 0
	h.text.n = 0
	h.from = 0
	atomic.Store(&h.holding, 0)
}

// ftraceWriteHeldOnce is ftraceWriteFD for what is held.
//
//go:nosplit
func ftraceWriteHeldOnce() int32 {
	getg().ftraceWait.own = true
	entersyscall()
	wrote := ftraceHeld.write(ftraceHeld.text.n, true)
	exitsyscall()
	getg().ftraceWait.own = false
	return wrote
}

// write writes, on any stack, a piece of what is held up to the given place. The piece is whole
// lines, unless they are long, so that in a pipe it does not mix with what others write. It returns
// the number of bytes written or a negative errno. Code that interrupts it can tell how far it is.
// If it may not wait for a reader, it first has to check whether a pipe is writable.
//
//go:nosplit
func (h *ftraceHeldCopies) write(to int, wait bool) (wrote int32) {
	if to > h.from+ftracePiece {
		to = h.from + ftracePiece
		for i := to; i > h.from; i-- {
			if h.text.data[i-1] == '\n' {
				to = i
				break
			}
		}
	}
	data, n := add(unsafe.Pointer(&h.text.data), uintptr(h.from)), int32(to-h.from)
	h.to = to
	atomic.Store(&h.writing, 1)
	switch {
	case wait:
		wrote = ftraceWriteNow(ftraceOut.fd, data, n)
	case h.socket:
		wrote = ftraceSendNow(h.fd, data, n)
	default:
		wrote = ftraceWriteNow(h.fd, data, n)
	}
	if wrote > 0 {
		h.from += int(wrote)
	}
	atomic.Store(&h.writing, 0)
	return wrote
}

// aim finds out how sysmon can write to the trace's file, fd, without waiting for a reader, and
// reports whether it can. A pipe can be asked whether it takes a piece. A terminal is opened once
// more, so that the program's own descriptor goes on waiting. A write to other devices, or to
// sockets that are not streams, may be a message.
func (h *ftraceHeldCopies) aim(fd int32, kind uint8) bool {
	if h.terminal != 0 {
		ftraceClose(h.terminal)
	}
	h.fd, h.socket, h.terminal = fd, kind == ftraceFileSocket, 0
	switch {
	case kind == ftraceFileRegular || kind == ftraceFilePipe:
		return true
	case kind == ftraceFileSocket:
		return ftraceStreamSocket(fd)
	case ftraceTerminal(fd):
		h.terminal = ftraceOpenAgain(fd)
		h.fd = h.terminal
		return h.terminal != 0
	}
	return false
}

// ftraceSysmonTick is called by sysmon each time it looks after the processors.
//
//go:nowritebarrierrec
func ftraceSysmonTick(now int64) {
	if h := &ftraceHeld; atomic.Load(&h.holding) != 0 && now-h.since >= ftraceHeldFor {
		h.writeUnasked()
	}
}

// ftraceSysmonIdle is called by sysmon after it has said that it sleeps for ns nanoseconds because
// all processors are idle. It returns for how long sysmon may sleep.
//
//go:nowritebarrierrec
func ftraceSysmonIdle(ns int64) int64 {
	h := &ftraceHeld
	if atomic.Load(&h.holding) == 0 {
		return ns
	}
	h.writeUnasked()
	if atomic.Load(&h.holding) == 0 || h.since == ftraceHeldStuck {
		return ns
	}
	return min(ns, ftraceHeldFor)
}

// writeUnasked writes what is held without waiting for anyone. Whoever has the lock writes, or is
// about to hold more. What can't be written is left to the next writer, which may complain; then
// nothing more is held.
//
//go:nowritebarrierrec
func (h *ftraceHeldCopies) writeUnasked() {
	if !h.try() {
		return
	}
	failed := atomic.Load(&ftraceOut.dead) != 0
	for h.text != nil && h.from < h.text.n && !failed && ftraceWritable(h.fd, 0) {
		const eintr, eagain = 4, 11
		wrote := h.write(h.text.n, false)
		if wrote == -eagain {
			break
		}
		failed = wrote <= 0 && wrote != -eintr
	}
	switch {
	case failed:
		h.since = ftraceHeldStuck
		atomic.Xaddint32(&h.off, 1)
	case h.text != nil && h.from == h.text.n:
		h.empty()
	}
	h.unlock()
}

// ftraceWriteCopies writes what is held, before something happens that has to appear after it.
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

// ftraceWriteHeldFirst writes what is held if the trace goes to descriptor 1 or 2 and the caller is
// about to write to one of them, fd, or to close it.
//
// It may be called on any stack, whatever locks are held, and in the child of a fork, which owns
// nothing of it. It waits for a reader only where the caller's own write would. What can't be
// written is left to the next writer.
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
	for h.from < h.text.n && atomic.Load(&ftraceOut.dead) == 0 && (fd == ftraceOut.fd || ftraceWritable(ftraceOut.fd, 0)) && h.write(h.text.n, true) > 0 {
	}
	if h.from == h.text.n {
		h.empty()
	}
	h.unlock()
}

// ftraceCopiesDisable writes what is held. From then on nothing is held until ftraceCopiesEnable.
func ftraceCopiesDisable() {
	atomic.Xaddint32(&ftraceHeld.off, 1)
	ftraceWriteCopies()
}

func ftraceCopiesEnable() { atomic.Xaddint32(&ftraceHeld.off, -1) }

// ftraceDying writes what is held, in groups too, because the process ends now. It may be called on
// any stack, also in a signal handler, whatever locks are held; other threads go on running.
//
// If the lock does not become free, its holder can't go on: that is assumed after 0.1 s, or at once
// if the holder is the code that a signal interrupted here. A write under way gets 2 s, which it
// may need on a busy machine; a pipe's reader gets only 0.1 s. After that, what is held is written
// anyway, except for the piece of such a write: an interrupted write was usually made, since
// signals come at the end of a system call.
//
//go:nosplit
//go:nowritebarrierrec
func ftraceDying() {
	h := &ftraceHeld
	if h.text == nil && ftraceGroups.all == nil {
		return
	}
	atomic.Xaddint32(&h.off, 1)
	locked := false
	for i := range 20000 {
		if locked = h.try(); locked || h.interrupted() || i >= 1000 && (atomic.Load(&h.writing) == 0 || i == 1000 && !ftraceWritable(ftraceOut.fd, 0)) {
			break
		}
		ftracePause()
	}
	if atomic.Load(&h.writing) != 0 {
		h.from = h.to
	}
	if h.text != nil && atomic.Load(&ftraceOut.dead) == 0 {
		for h.from < h.whole && ftraceWritable(ftraceOut.fd, 100) && h.write(h.whole, true) > 0 {
		}
		h.empty()
	}
	if locked {
		ftraceGroupsDying()
		h.unlock()
	}
}

// ftraceWriteDying writes to where the lines go, for ftraceDying. A pipe's reader has 0.1 s for
// each piece.
//
//go:nosplit
func ftraceWriteDying(data unsafe.Pointer, n int) {
	for n > 0 && ftraceWritable(ftraceOut.fd, 100) {
		wrote := ftraceWriteNow(ftraceOut.fd, data, int32(min(n, ftracePiece)))
		if wrote <= 0 {
			break
		}
		data = add(data, uintptr(wrote))
		n -= int(wrote)
	}
}

// interrupted reports whether the code holds the lock that was interrupted by the signal whose
// handler calls this.
//
//go:nosplit
func (h *ftraceHeldCopies) interrupted() bool {
	gp := getg()
	return gp != nil && h.holder != 0 && gp == gp.m.gsignal && (h.holder.ptr() == gp.m.curg || h.holder.ptr() == gp.m.g0)
}
