//go:build ftrace_core

// Held copies. What is woven of a line that the program has written elsewhere is a copy, and need not be a write of its own: copies are held, in order, and written together with what is written to the trace
// next, and else by sysmon, the runtime's thread that looks after the processors every 20 µs to 10 ms while not all of them are idle: when the first has been held for some ftraceHeldFor, and before it goes to
// sleep since they all are. So it costs nothing to look after them.
//
// sysmon may sleep on with a goroutine running: it is woken by timers and by system calls, not by the network. While it sleeps nothing is held. It has no processor, so it can't wait for a semaphore, nor let run who
// does: what is held has a lock of its own for that, beside ftraceOut's. Nor may it wait for who reads the trace, for goroutines would not be preempted meanwhile: see aim.
//
// Where the process ends what is held is written first: in an orderly way (ftraceFinish), by a fatal error or a signal (ftraceDying), by exec. Not by SIGKILL, nor if C ends it.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceHeldFor = 2e6      // nanoseconds
	ftraceHeldMax = 16 << 10 // bytes; if there are more they are written
	ftracePiece   = 4096     // bytes that are written at once: a pipe takes them in one piece (PIPE_BUF)
)

// ftraceHeldCopies are the copies that are held. They are used under lock, but for ftraceDying.
type ftraceHeldCopies struct {
	lock    uint32   // 0 free, 1 taken, 2 taken and waited for; atomic
	holder  guintptr // who has it
	text    *ftraceText
	from    int    // how much of text is written already
	whole   int    // how much of it is copies, each with its end; all of it while the lock is free
	holding uint32 // something is held; atomic
	since   int64  // when that began; ftraceHeldStuck if sysmon can't write it
	off     int32  // reasons why nothing may be held; atomic
	to      int    // up to where it is being written
	writing uint32 // that is so just now; atomic

	// How sysmon writes to the trace's file, see aim.
	fd       int32
	socket   bool
	terminal int32 // 0, or a descriptor of our own
}

const ftraceHeldStuck = 1<<63 - 1

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
func (h *ftraceHeldCopies) try() bool {
	if !atomic.Cas(&h.lock, 0, 1) {
		return false
	}
	h.holder = guintptr(unsafe.Pointer(getg()))
	return true
}

//go:nosplit
func (h *ftraceHeldCopies) wait() {
	entersyscall()
	for atomic.Xchg(&h.lock, 2) != 0 {
		ftraceSleepOn(&h.lock, 2)
	}
	exitsyscall()
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

// ftraceCopyHeld notes that text has a copy more. sysmon says first that it sleeps, and then looks whether something is held; here it is the other way round.
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
	atomic.Store(&h.holding, 0)
}

// ftraceWriteHeldOnce is ftraceWriteFD for what is held.
//
//go:nosplit
func ftraceWriteHeldOnce() int32 {
	entersyscall()
	wrote := ftraceHeld.write(ftraceHeld.text.n, true)
	exitsyscall()
	return wrote
}

// write writes, on any stack, a piece of what is held up to the given place: whole lines, if they are not long, which do not mix with what others write to a pipe then. It returns the number of bytes written or a negative errno.
// Who interrupts it can tell. If it may not wait for a reader it needs to be asked before whether a pipe is writable.
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

// aim finds out how sysmon can write to the trace's file, fd, without waiting for a reader, and reports whether it can. Of a pipe it can be told that it takes a piece. A terminal is opened once more, so that it is not
// the program's descriptor that does not wait. To other devices and to sockets but streams a write may be a message.
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

// ftraceSysmonTick is called by sysmon whenever it looks after the processors.
//
//go:nowritebarrierrec
func ftraceSysmonTick(now int64) {
	if h := &ftraceHeld; atomic.Load(&h.holding) != 0 && now-h.since >= ftraceHeldFor {
		h.writeUnasked()
	}
}

// ftraceSysmonIdle is called by sysmon when it has said that it sleeps for so many nanoseconds, since all processors are idle. It returns for how long it may.
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

// writeUnasked writes what is held without waiting for anyone. Who has the lock writes, or is about to hold more. What can't be written is left to the next who writes, who may complain; nothing more is held then.
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
	for h.from < h.text.n && atomic.Load(&ftraceOut.dead) == 0 && (fd == ftraceOut.fd || ftraceWritable(ftraceOut.fd, 0)) && h.write(h.text.n, true) > 0 {
	}
	if h.from == h.text.n {
		h.empty()
	}
	h.unlock()
}

// ftraceCopiesDisable writes what is held. From then on nothing is, unless ftraceCopiesEnable follows.
func ftraceCopiesDisable() {
	atomic.Xaddint32(&ftraceHeld.off, 1)
	ftraceWriteCopies()
}

func ftraceCopiesEnable() { atomic.Xaddint32(&ftraceHeld.off, -1) }

// ftraceDying writes what is held, in groups too, because the process ends now. It may be called on any stack, in a signal handler too, whatever locks are held; others run on meanwhile. If the lock does not become free, who
// has it can't go on: after 0.1 s, or at once if that is the code that a signal interrupted here. A write under way has 2 s, on a busy machine it may need them; a pipe's reader only 0.1 s. Then what is held is written
// nevertheless, but for the piece of such a write: an interrupted one was made as a rule, since signals come at the end of a system call.
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

// ftraceWriteDying writes to where the lines go, for ftraceDying. A pipe's reader has 0.1 s for each piece.
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

// interrupted reports whether the lock is had by the code that a signal interrupted whose handler calls it.
//
//go:nosplit
func (h *ftraceHeldCopies) interrupted() bool {
	gp := getg()
	return gp != nil && h.holder != 0 && gp == gp.m.gsignal && (h.holder.ptr() == gp.m.curg || h.holder.ptr() == gp.m.g0)
}
