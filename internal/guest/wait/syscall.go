//go:build ftrace_core

// System calls, and calls of C: those that outlast ftraceLongSyscall are waits. How long one takes
// is known only once it has ended, so each is noted while they are observed.

package runtime

// ftraceEntersSyscall is called by reentersyscall and entersyscallblock, where a goroutine enters a
// system call. Its stack may neither be split nor move there: the system call may have an address
// in it. So all that this calls is nosplit.
//
//go:nosplit
func ftraceEntersSyscall() {
	gp := getg()
	w, t := &gp.ftraceWait, gp.ftrace
	if w.begin != 0 || w.own || gp.m.dying != 0 || gp.ftraceMock.quiet || t != nil && (t.busy != 0 || t.muted) {
		return
	}
	w.object = 0
	w.starts(ftraceWaitSyscall, ftraceParked)
	gp.ftraceInSyscall = true
	if f := ftraceWaitKind(ftraceWaitSyscall); t != nil && t.depth < t.size && f.wantedBy(-1) {
		w.push(t, f, w.begin)
	}
}

// ftraceLeavesSyscall is called at the end of exitsyscall if the system call was noted. The
// goroutine has a processor again.
//
//go:nosplit
//go:yeswritebarrierrec
func ftraceLeavesSyscall() {
	gp := getg()
	if gp.ftraceWait.long() {
		gp.ftraceInSyscall = false
		ftraceGoesOn()
	} else {
		ftraceForgetsSyscall(gp)
	}
}

// long reports whether a system call that still lasts is long enough for a wait.
//
//go:nosplit
func (w *ftraceWaitG) long() bool {
	now := ftraceTicks()
	return now-min(w.begin, now) >= ftraceWaits.long
}

// ftraceForgetsSyscall forgets the system call that gp is in, if it was noted. dropm calls it too:
// a thread of C then leaves the goroutine that stood for it.
//
//go:nosplit
func ftraceForgetsSyscall(gp *g) {
	if !gp.ftraceInSyscall {
		return
	}
	w := &gp.ftraceWait
	if w.hasFrame {
		w.pop(gp.ftrace)
		gp.ftrace.events--
	}
	gp.ftraceInSyscall, w.begin = false, 0
}
