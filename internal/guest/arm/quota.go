//go:build ftrace_core

// The calls of a function that has reached the limit that the budget sets, see budget.go. They are
// counted, or only their failures are seen, or the function's hook is turned off, and on again.
// Observers are told that calls are left out, and that they no longer are.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// governed reports whether calls of f may be left out: all who see them have asked for a budget,
// and want no more than that they are recorded, or summed up. A session that looks at functions
// sees to it itself that this does not cost much.
func (f *ftraceFunc) governed() bool {
	b, l := &ftraceBudget, f.loadLaid()
	if atomic.Load(&b.share) == 0 || l == nil || ftraceShaking != 0 || f.replaced() || f.flags&(ftraceIsProbe|ftraceIsSpan) != 0 || l.marks|l.triggers != 0 || l.flags&ftraceLookedAt != 0 {
		return false
	}
	own := l.wantsOwn(f)
	if own && (atomic.Load(&b.asked[0]) == 0 || ftraceOut.on || !ftraceRecording.on && ftraceConsumers()&ftrace_format_ConsumerSummary == 0 || l.in|l.after != 0 || !ftraceWantsAll(l.clause)) {
		return false
	}
	for o := l.others; o != nil; o = o.next {
		if atomic.Load(&b.asked[o.session+1]) == 0 || o.laid.in|o.laid.after != 0 || !ftraceWantsAll(o.laid.clause) {
			return false
		}
	}
	return own || l.others != nil
}

// ftraceEntryAtLimit is ftraceEntryFast for a call of a function that has reached its limit.
func ftraceEntryAtLimit(f *ftraceFunc, w *ftraceWriter, offset uintptr, first *any, n int, result *any) (token int) {
	if f.atLimit() {
		if f.onlyFails() {
			return f.leftOutToken(result == nil)
		}
		if f.onlyCount(w, result == nil); atomic.Load(&f.counted)&ftraceUncounted == 0 {
			return getg().ftrace.beginLeftOut(f, offset)
		}
		return f.leftOutToken(result == nil)
	}
	from := ftraceCycles()
	token = ftraceEntryFast(f, offset, first, n, result)
	ftraceBudget.measured(ftraceCycles() - from)
	return token
}

// beginAtLimit is ftraceBeginCall for a call of a function that has reached its limit.
//
//go:noinline
func (f *ftraceFunc) beginAtLimit(offset uintptr, args []any, flags uint32) (token int) {
	if f.atLimit() {
		if f.onlyFails() {
			return f.leftOutToken(flags&ftrace_format_FrameAtReturns == 0)
		}
		mp := acquirem()
		if w := ftraceWriterOf(mp); w != nil {
			f.onlyCount(w, flags&ftrace_format_FrameAtReturns == 0)
		}
		releasem(mp)
		if atomic.Load(&f.counted)&ftraceUncounted == 0 {
			gp := getg()
			if t := ftraceStateOf(gp); t != nil {
				t.labels = uintptr(gp.labels)
				t.clear(gp, f, offset)
				if token := t.pushLeftOut(f, offset, flags); token != 0 {
					return token
				}
			}
		}
		return f.leftOutToken(flags&ftrace_format_FrameAtReturns == 0)
	}
	from := ftraceCycles()
	token = ftraceBeginCall(f, offset, args, flags)
	ftraceBudget.measured(ftraceCycles() - from)
	return token
}

// atLimit reports whether a call of f, which has reached its limit, is left out. If not, f has
// another limit.
func (f *ftraceFunc) atLimit() bool {
	b := &ftraceBudget
	if atomic.Load(&f.back) != 0 && !f.replaced() {
		return true
	}
	if !f.governed() {
		f.recordOn()
		atomic.Storeuintptr(&f.limit, ^uintptr(0))
		if f.governed() { // since then
			atomic.Storeuintptr(&f.limit, 0)
		}
		return false
	}
	window := atomic.Load(&b.window)
	granted, quota := uint32(0), min(uint32(atomic.Loaduintptr(&b.quota)), ftraceMostGranted)
	if atomic.Load(&f.window) == window {
		granted = uint32(f.granted)
		if (granted >= quota || !b.plenty()) && f.leaveOut(window) {
			return true
		}
	}
	calls := b.grant(quota - min(quota, granted))
	f.recordOn()
	atomic.Store(&f.window, window)
	f.granted = uint16(min(granted+calls, ftraceMostGranted))
	atomic.Storeuintptr(&f.limit, atomic.Loaduintptr(&f.count)+uintptr(calls))
	return false
}

// onlyCount counts a call of f that is left out. After as many as the budget allows it has only
// failures of f seen, or turns the hook of f off.
func (f *ftraceFunc) onlyCount(w *ftraceWriter, deferred bool) {
	w.counted++
	f.sumLeftOut(1)
	n := atomic.Xadd(&f.counted, 1)
	if n%ftraceCountedCheck == 0 && n&ftraceUncounted == 0 && !f.countsOn(uintptr(n)) {
		atomic.Or(&f.counted, ftraceUncounted)
		atomic.Or(&f.leftOut, ftraceUncounted)
		f.sumUncounted()
		hook := unsafe.Pointer(nil)
		if f.flags&ftraceMayFail != 0 && f.affordsFails(n, deferred) {
			hook = ftraceBudget.onlyFails
		}
		f.switchHook(hook)
	}
}

// switchHook turns the hook of f, whose calls are left out, off, or has it show only failures.
func (f *ftraceFunc) switchHook(hook unsafe.Pointer) {
	atomic.StorepNoWB(unsafe.Pointer(&f.hook._type), hook)
	f.switchedNow()
	if atomic.Load(&f.back) == 0 || f.replaced() { // sysmon came first, or a replacement
		f.hookOn()
	}
	from := ftraceCycles()
	ftraceDoubt(ftraceHookSwitched)
	atomic.Xadd64(&ftraceBudget.doubting, int64(ftraceCycles()-from))
}

// affordsFails reports whether there are means for the failures of f to be seen until its calls are
// noted again, and takes them. Nobody counts these calls. It assumes that they are as frequent as
// those since f was last noted again, of which the last n were counted.
func (f *ftraceFunc) affordsFails(n uint32, deferred bool) bool {
	b := &ftraceBudget
	calls := uint32(atomic.Loaduintptr(&f.count)) - atomic.Load(&f.sinceCount) + n
	windows := min(atomic.Load(&b.window)-atomic.Load(&f.since), ftraceFailsWindows)
	took := max(nanotime()-b.opened+int64(windows)*ftraceWindow, ftraceFailsShortest)
	each := ftraceCallFails / ftraceCountedCheck * float64(atomic.Loadint64(&b.count))
	if deferred {
		each *= ftraceCallDeferred
	}
	cost := int64(float64(calls) * each * ftraceTurn * ftraceWindow / float64(took))
	if atomic.Xaddint64(&b.fails, -cost) >= 0 {
		return true
	}
	atomic.Xaddint64(&b.fails, cost)
	return false
}

// countsOn reports whether more calls of f may be counted than so many in a turn. It takes the
// means for ftraceCountedCheck of them. Of functions that can't fail, and of which no call was
// slow, it leaves half of the means to others.
func (f *ftraceFunc) countsOn(n uintptr) bool {
	b := &ftraceBudget
	left := atomic.Xaddint64(&b.looks, -atomic.Loadint64(&b.count))
	if f.flags&ftraceMayFail == 0 && atomic.Load(&f.leftOut)&ftraceWasSlow == 0 {
		left -= b.of(ftraceSaved) / 4
	}
	return left > 0 && n < max(ftraceCountedCalls*atomic.Loaduintptr(&b.quota), atomic.Loaduintptr(&b.watch))
}

// seesReturns reports whether the hook of f is on, and not only for failures.
func (f *ftraceFunc) seesReturns() bool { return f.hook._type != nil && !f.onlyFails() }

// onlyFails reports whether the hook of f shows only failures, to keep within the budget.
func (f *ftraceFunc) onlyFails() bool {
	return f.hook._type != nil && unsafe.Pointer(f.hook._type) == ftraceBudget.onlyFails
}

// hookOn turns the hook of f on if it is off and to be on. It reports whether it did.
//
//go:nowritebarrierrec
func (f *ftraceFunc) hookOn() bool {
	if f.seesReturns() || !f.loadLaid().arms(f) {
		return false
	}
	atomic.StorepNoWB(unsafe.Pointer(&f.hook._type), ftraceBudget.hook)
	f.switchedNow()
	return true
}

// switchedNow notes that the hook of f has been turned on or off. Who reads the number of switches
// sees this one in f if it is among them.
//
//go:nowritebarrierrec
func (f *ftraceFunc) switchedNow() {
	for {
		n := atomic.Load(&ftraceBudget.switches)
		atomic.Store(&f.switched, n+1)
		if atomic.Cas(&ftraceBudget.switches, n, n+1) {
			return
		}
	}
}

// recordOn records that calls of f are noted again, if this is the first and they are: the slow
// path also notes calls that are to be left out.
func (f *ftraceFunc) recordOn() {
	if atomic.Load(&f.back) == 0 {
		f.recordReturn()
	}
}

// recordReturn records that calls of f are no longer left out, if they were, and adds those to its
// calls that were counted meanwhile. It says how many calls were noted at their end, of these or of
// those that were counted before.
func (f *ftraceFunc) recordReturn() {
	since := atomic.Load64(&f.wasOff)
	if since == 0 || !atomic.Cas64(&f.wasOff, since, 0) {
		return
	}
	f.returned(since, atomic.Xchg(&f.keeping, ftraceBudget.ended)&^ftraceKeepingEnded)
}

// returned is recordReturn for calls that were left out since then, of which so many were noted at
// their end.
func (f *ftraceFunc) returned(since uint64, kept uint32) {
	counted := atomic.Xchg(&f.counted, 0)
	f.adjustSlow(uintptr(kept))
	left := uint64(counted &^ ftraceUncounted)
	atomic.Store(&f.sinceCount, uint32(atomic.Xadduintptr(&f.count, uintptr(left))))
	if counted&ftraceUncounted != 0 {
		left |= ftrace_format_Uncounted
	}
	ftraceRecordSwitch(f, ftrace_format_KindOn, since, left, uint64(atomic.Xchg(&f.failed, 0)), uint64(kept))
}

// adjustSlow has calls of f count as slow by how many were kept in the last turn.
func (f *ftraceFunc) adjustSlow(kept uintptr) {
	most, slower := ftraceMostAtEnd(), atomic.Load(&f.leftOut)/ftraceSlower%(ftraceSlowerMax+1)
	switch {
	case kept >= most/2 && slower < ftraceSlowerMax:
		atomic.Xadd(&f.leftOut, ftraceSlower)
	case kept < most/8 && slower > 0:
		atomic.Xadd(&f.leftOut, -ftraceSlower)
	}
}

// leaveOut leaves out the calls of f until ftraceTurn windows after window. It reports whether they
// are.
func (f *ftraceFunc) leaveOut(window uint32) bool {
	b := &ftraceBudget
	if !atomic.Cas(&f.back, 0, window+ftraceTurn) {
		return true // another call did
	}
	for range ftraceMaxOff {
		at := &b.off[atomic.Xadd(&b.next, 1)%ftraceMaxOff]
		if atomic.Loadp(unsafe.Pointer(at)) == nil && atomic.Casp1(at, nil, unsafe.Pointer(f)) {
			atomic.Xadd(&b.live, 1)
			if !f.governed() && atomic.Casp1(at, unsafe.Pointer(f), nil) { // no longer
				atomic.Xadd(&b.live, -1)
				break
			}
			now := ftraceTicks()
			atomic.Store64(&f.wasOff, now)
			if atomic.Cas(&f.leftOut, 0, 1) && ftraceMemory.head != nil {
				atomic.Xadd64(&ftraceMemory.head.LeftOut, 1)
			}
			if atomic.And(&f.leftOut, ^uint32(ftraceSummed)); f.loadLaid().wantsOwn(f) {
				atomic.Or(&f.leftOut, ftraceSummed)
			}
			ftraceRecordSwitch(f, ftrace_format_KindOff, now, uint64(atomic.Loaduintptr(&f.count)), 0, 0)
			return true
		}
	}
	atomic.Store(&f.back, 0)
	return false
}

// ftraceRecordSwitch records that calls of f are no longer noted since then, after so many, or that
// they are noted again, which so many were not since then, of which so many failed, and so many
// were noted at their end.
func ftraceRecordSwitch(f *ftraceFunc, kind uint8, since, calls, failed, noted uint64) {
	gp, l := getg(), f.loadLaid()
	if l == nil {
		return
	}
	sees := uint32(0) // by observer
	if kind == ftrace_format_KindOn {
		sees = atomic.Load(&f.leftOut) / ftraceSaid & (1<<(1+ftrace_format_SessionsMax) - 1)
		atomic.And(&f.leftOut, ^(sees * ftraceSaid))
	} else {
		if ftraceRecording.on && l.wantsOwn(f) {
			sees = 1
		}
		for o := l.others; o != nil; o = o.next {
			sees |= 2 << o.session
		}
	}
	mp := acquirem()
	for ; sees != 0; sees &= sees - 1 {
		w, depth := ftraceSwitchRecorder(gp, mp, sys.TrailingZeros32(sees)-1)
		if w == nil {
			continue
		}
		r := w.begin(gp, kind, f, depth)
		size := ftraceRecordSize + 16
		*(*[2]uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = [2]uint64{since, calls}
		if kind == ftrace_format_KindOn {
			*(*[2]uint64)(add(unsafe.Pointer(r), size)) = [2]uint64{failed, noted}
			size += 16
		} else {
			atomic.Or(&f.leftOut, sees&-sees*ftraceSaid)
		}
		w.end(r, size)
	}
	releasem(mp)
}

// ftraceSwitchRecorder is ftraceRecorderFor, also for a goroutine that has called nothing.
func ftraceSwitchRecorder(gp *g, mp *m, session int) (w *ftraceWriter, depth int32) {
	switch t := gp.ftrace; {
	case session < 0 && !ftraceRecording.on:
		return nil, 0
	case t != nil:
		if w, depth = ftraceRecorderFor(gp, mp, t, session); w == nil || !w.room(mp) {
			return nil, 0
		}
		return w, depth
	case session < 0:
		return ftraceRecorder(mp), 0
	}
	return ftraceSessions[session].recorder(gp, mp, nil), 0
}
