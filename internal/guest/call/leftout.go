//go:build ftrace_core

// Calls that the budget left out, and that are slow or fail: these are noted nevertheless, when
// they end. A call that is only counted has a frame, which keeps when it began. It has no number as
// an event, so whoever looks for noted calls passes over it. If the call was slow or failed, its
// entry is noted just before its exit, without parameters, and says when it began. Calls within it
// were noted as within the nearest call around it that was noted itself.
//
// A call has no frame if there is no memory for one, or if its beginning was not seen. Then its
// entry is untimed.
//
// A function whose calls are too many to be counted may have a hook by which only failures are
// seen. The helpers then call the core for these alone, at their end. A noted call of the function
// that is under way then ends as one whose hook is turned off.
//
// A function that always fails, or is always slow, must not break the budget. So of each function's
// calls no more are noted at their end than ftraceMostAtEnd says, at most half of them because they
// were slow, and none once the budget is far in debt. Failures may make twice the debts that calls
// may which are noted at their beginning. A few failures of each function are noted whatever the
// debts are. The others are counted. A function that makes use of that half has to be twice as slow
// from the next turn on.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	// ftraceEndLeftOut is the bit of a token that stands for a call without a frame: the lower half
	// is the function's key.
	ftraceEndLeftOut = 1 << 33

	ftraceSlow = 10e3 // ns that a call takes at least that is slow

	// ftraceAtEndCalls is for how many calls one counts that is noted at its end, by what it costs.
	ftraceAtEndCalls = 2

	ftraceFewFails   = 16  // of a function's calls that fail so many may be noted in a turn, whatever the debts are
	ftraceLeastAtEnd = 512 // of a function's calls so many may be noted at their end in a turn, at least

	ftracePassedMax   = 64  // goroutines that have recovered a panic, and have not gone on yet
	ftracePassedCalls = 16  // calls that were left out and that one panic ends
	ftracePassedStack = 100 // frames of a stack that are looked at for them
	ftracePanicsMax   = 16  // recovered panics in a turn for which stacks are looked at
)

// ftracePassed lists calls that were left out and then ended by a panic, innermost first.
// They are noted at the goroutine's next event. So are other calls that a panic has ended.
type ftracePassed struct {
	_     sys.NotInHeap
	taken uint32 // atomic
	n     int
	next  int // the first that is not noted yet
	calls [ftracePassedCalls]struct {
		fn    ftraceFuncPtr
		sp    uintptr
		depth int32 // frames around it
	}
}

// fails reports whether the last of the n results of f, which may fail, is an error that is not
// nil. how and first are as in ftraceExitFast.
func (f *ftraceFunc) fails(how uint32, first *any, n int) bool {
	if n == 0 {
		return false
	}
	last := (*eface)(add(unsafe.Pointer(first), uintptr(n-1)*unsafe.Sizeof(*first)))
	return how != 0 && last._type != nil || how == 0 && *(*unsafe.Pointer)(last.data) != nil
}

// beginLeftOut gives a call of f that is left out a frame, the place for which is known to be free,
// and returns its token. The goroutine is as usual.
//
//go:nosplit
func (t *ftraceG) beginLeftOut(f *ftraceFunc, offset uintptr) (token int) {
	frame := t.top
	frame.begin()
	frame.leaveOut(t, f, offset)
	*(*uint64)(unsafe.Pointer(&frame.Key)) = f.keyAndFlags() | ftrace_format_FrameAtEnd<<32
	t.top = frame.above()
	t.depth++
	return int(t.depth)
}

// pushLeftOut is beginLeftOut for calls of all kinds. It returns 0 if the call gets no frame.
func (t *ftraceG) pushLeftOut(f *ftraceFunc, offset uintptr, flags uint32) (token int) {
	frame := t.push()
	if frame == nil {
		return 0
	}
	frame.leaveOut(t, f, offset)
	frame.Key, frame.Flags, frame.Mask = f.key, flags|f.flags&ftrace_format_FrameNotTimed|ftrace_format_FrameAtEnd, t.mask
	return int(t.depth)
}

// leaveOut sets what frame has of a call that is left out and begins now, but for its first words.
//
//go:nosplit
func (frame *ftraceFrame) leaveOut(t *ftraceG, f *ftraceFunc, offset uintptr) {
	frame.fn, frame.clause = ftraceFuncPtr(unsafe.Pointer(f)), 0
	frame.sp, frame.shown = offset, t.shown
	frame.Place, frame.Event = ftrace_format_Place{}, 0
	frame.start = int64(ftraceTicks())
}

// endLeftOut takes off the topmost frame, if it is that of a call of f at offset that was left out
// and stays so. The other parameters are as in ftraceExitFast. There is a frame.
func (t *ftraceG) endLeftOut(gp *g, f *ftraceFunc, offset uintptr, how uint32, first *any, n int) bool {
	frame := t.top.below()
	if frame.Flags&ftrace_format_FrameAtEnd == 0 || frame.fn != ftraceFuncPtr(unsafe.Pointer(f)) || frame.sp != offset || !t.asUsual(gp) {
		return false
	}
	if f.slow(frame) || f.flags&ftraceMayFail != 0 && f.fails(how, first, n) {
		return false
	}
	t.top = frame
	t.depth--
	return true
}

// slow reports whether the call of f that ends now, which was left out, is slow.
//
//go:nosplit
func (f *ftraceFunc) slow(frame *ftraceFrame) bool {
	if frame.Flags&ftrace_format_FrameNotTimed != 0 {
		return false
	}
	return int64(ftraceTicks())-frame.start >= atomic.Loadint64(&ftraceBudget.slow)<<(atomic.Load(&f.leftOut)/ftraceSlower%(ftraceSlowerMax+1))
}

// leftOutToken returns what ftraceEntryFast returns for a call of f that is left out and has no
// frame. A function with deferred calls tells its exit by that.
func (f *ftraceFunc) leftOutToken(deferred bool) int {
	if !deferred || f.flags&ftraceMayFail == 0 {
		return 0
	}
	return ftraceEndLeftOut | int(f.key)
}

// ftraceExitLeftOut is ftrace_exit for a call without a frame, whose last result is an error that
// is not nil. If a panic ends it, that was noted already. A call that the panic's deferred calls
// make can't be told from that one.
//
//go:noinline
func ftraceExitLeftOut(key uint32, offset uintptr, results []any) {
	gp := getg()
	if f := ftraceFuncOf(key); f != nil && gp._panic == nil {
		f.endUnseen(gp, offset, 0, results)
	}
}

// endUnseen notes a call of f that ends, and fails, if it was left out. It has no frame, nor
// perhaps its goroutine a state.
func (f *ftraceFunc) endUnseen(gp *g, offset uintptr, flags uint32, results []any) {
	if !ftraceMayTrace(gp) {
		return
	}
	t := gp.ftrace
	if t == nil || t.labels != uintptr(gp.labels) {
		t = ftraceActorOf(gp)
	}
	if t == nil {
		if t = ftraceStateOf(gp); t == nil {
			return
		}
		t.labels = uintptr(gp.labels)
	}
	t.noteAtEnd(gp, f, offset, flags, results)
}

// noteAtEnd notes a call of f that ends, and fails, if it was left out. It has no frame, so it was
// not counted; flags are those of one.
//
//go:noinline
func (t *ftraceG) noteAtEnd(gp *g, f *ftraceFunc, offset uintptr, flags uint32, results []any) {
	if atomic.Load(&f.leftOut) == 0 || t.busy != 0 || t.muted || !ftraceMayTrace(gp) || !f.governed() {
		return
	}
	if t.depth > 0 && flags&ftrace_format_FramePanicked == 0 && !t.settled(gp, offset) {
		t.sweep(gp, offset)
	}
	f.countUnseen()
	returns := flags&ftrace_format_FramePanicked == 0 // otherwise endCall notes it
	if returns && !f.keepsAtEnd(true) || t.pushLeftOut(f, offset, flags|ftrace_format_FrameNotTimed) == 0 {
		f.countFailed()
		return
	}
	if returns {
		t.recordLeftOut(gp, t.top.below())
	}
	t.endCall(gp, results, nil)
}

// countUnseen counts a call of f that was left out, and of which nothing was seen before its end.
func (f *ftraceFunc) countUnseen() {
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		w.counted++
	}
	f.sumLeftOut(1)
	atomic.Xadd(&f.counted, 1)
	releasem(mp)
}

// countFailed counts that a call of f, which was left out, failed. If the hook shows only failures,
// and these are too many, it turns the hook off.
func (f *ftraceFunc) countFailed() {
	f.sumFailed()
	n := atomic.Xadd(&f.failed, 1)
	if n%ftraceCountedCheck == 0 && f.onlyFails() && !f.countsOn(uintptr(n)) {
		f.switchHook(nil)
	}
}

// keepsAtEnd reports whether one more call of f may be noted at its end, which failed, or was slow.
func (f *ftraceFunc) keepsAtEnd(failed bool) bool {
	b := &ftraceBudget
	most, debt := ftraceMostAtEnd(), 2*b.of(ftraceDebt)
	if !failed {
		most, debt = most/2, debt/4
	}
	kept := uintptr(atomic.Load(&f.keeping))
	if kept >= most || atomic.Loadint64(&b.means) < -debt && !(failed && kept < ftraceFewFails) {
		return false
	}
	atomic.Xaddint64(&b.means, -ftraceAtEndCalls*atomic.Loadint64(&b.each))
	return true
}

// ftraceMostAtEnd returns how many calls of a function may be noted at their end in a turn.
func ftraceMostAtEnd() uintptr { return max(ftraceLeastAtEnd, atomic.Loaduintptr(&ftraceBudget.quota)) }

// noteLeftOut notes the entry of the topmost call, whose frame is frame, which was left out and
// ends now, unless too many calls of its function were. It failed, or was slow.
//
//go:noinline
func (t *ftraceG) noteLeftOut(gp *g, frame *ftraceFrame, failed bool) {
	f := frame.fn.ptr()
	if !f.governed() {
		return
	}
	if !failed && atomic.Load(&f.leftOut)&ftraceWasSlow == 0 {
		atomic.Or(&f.leftOut, ftraceWasSlow)
	}
	if !f.keepsAtEnd(failed) {
		if failed {
			f.countFailed()
		}
		return
	}
	t.recordLeftOut(gp, frame)
}

// recordLeftOut records the entry of a call that was left out, just before the call ends. The call
// is the goroutine's innermost, and frame is its frame.
//
//go:noinline
func (t *ftraceG) recordLeftOut(gp *g, frame *ftraceFrame) {
	f := frame.fn.ptr()
	if atomic.Xadd(&f.keeping, 1)&ftraceKeepingEnded != 0 {
		return // it was said that the call is left out
	}
	f.sumLeftOut(^uint64(0)) // it is summed up as others when it ends
	frame.Count = uint64(atomic.Loaduintptr(&f.count)) + uint64(atomic.Load(&f.counted)&^ftraceUncounted)
	laid := f.loadLaid()
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		w.noted += ftraceAtEndCalls
		t.last = max(t.last, ftraceTicks())
	}
	releasem(mp)
	frame.Cut = atomic.Load(&ftraceCuts) // it was not under way for anyone
	t.busy++
	if laid.wantsOwn(f) {
		frame.clause = ftraceClausePtr(unsafe.Pointer(laid.clause))
		t.shown++
		ftraceRecordEntry(gp, t, frame, nil, nil)
		if frame.Place.Ticks != 0 && frame.Flags&ftrace_format_FrameNotTimed == 0 {
			frame.Place = ftrace_format_Place{min(uint64(frame.start), frame.Place.Ticks), ftrace_format_Nowhere}
			frame.Within = ^uint64(0) // its own time counts as that of the call around it, as does that of others that were left out
		}
	}
	for o := laid.others; o != nil; o = o.next {
		t.shareRecord(gp, o.session, o.laid.clause, frame, nil, nil)
	}
	t.busy--
}

// pass notes which calls that were left out the panic p ends that is recovered by the
// function whose frame is at offset. It runs on the system stack.
func (t *ftraceG) pass(gp *g, p *_panic, offset uintptr) {
	b := &ftraceBudget
	if b.share == 0 || atomic.Load(&b.live) == 0 || t.passed != 0 || t.busy != 0 || t.muted || atomic.Load(&b.panics) >= ftracePanicsMax {
		return
	}
	atomic.Xadd(&b.panics, 1)
	var u unwinder
	u.init(gp, unwindSilentErrors)
	t.passOn(gp, &u, p, offset)
}

// passAll notes which calls that were left out a panic ends that nobody recovers.
func (t *ftraceG) passAll(gp *g, p *_panic) {
	b := &ftraceBudget
	if b.share == 0 || atomic.Load(&b.live) == 0 || t.passed != 0 || t.muted {
		return
	}
	pc, sp := sys.GetCallerPC(), sys.GetCallerSP()
	systemstack(func() {
		var u unwinder
		u.initAt(pc, sp, 0, gp, unwindSilentErrors)
		t.passOn(gp, &u, p, 0)
	})
}

// passOn notes the calls that were left out of the frames of the stack down to the one at offset.
func (t *ftraceG) passOn(gp *g, u *unwinder, p *_panic, offset uintptr) {
	calls := t.takePassed()
	if calls == nil {
		return
	}
	next := t.depth - 1 // all above were looked for
	for range ftracePassedStack {
		if !u.valid() {
			break
		}
		at := gp.stack.hi - u.frame.sp
		if at < offset {
			break
		}
		for next >= 0 && t.frame(next).sp > at {
			next--
		}
		inlined, call := newInlineUnwinder(u.frame.fn, u.symPC())
		for ; call.valid() && calls.n < ftracePassedCalls; call = inlined.next(call) {
			if at == offset && !inlined.isInlined(call) {
				break // it recovers
			}
			fn := inlined.srcFunc(call)
			if next >= 0 && t.frame(next).sp == at && t.frame(next).fn.ptr().is(fn) {
				next--
				continue
			}
			if f := ftraceLeftOutNamed(fn); f != nil {
				to := &calls.calls[calls.n]
				to.fn, to.sp, to.depth = ftraceFuncPtr(unsafe.Pointer(f)), at, next+1
				calls.n++
			}
		}
		u.next()
	}
	if calls.n == 0 {
		t.leavePassed()
		return
	}
	t.unwound = true
	gp.ftraceRecovered = p.arg
}

// takePassed gives the goroutine room for calls that a panic has ended, or returns nil.
func (t *ftraceG) takePassed() *ftracePassed {
	for i := range ftraceBudget.passed {
		if p := &ftraceBudget.passed[i]; atomic.Load(&p.taken) == 0 && atomic.Cas(&p.taken, 0, 1) {
			p.n, p.next = 0, 0
			t.passed = uint8(i) + 1
			return p
		}
	}
	return nil
}

// leavePassed gives it back.
func (t *ftraceG) leavePassed() {
	if t.passed != 0 {
		atomic.Store(&ftraceBudget.passed[t.passed-1].taken, 0)
		t.passed = 0
	}
}

// endPassed notes the calls that were left out, that a panic has ended, and that are within the
// topmost frame.
func (t *ftraceG) endPassed(gp *g) {
	p := &ftraceBudget.passed[t.passed-1]
	for p.next < p.n && p.calls[p.next].depth >= t.depth {
		c := &p.calls[p.next]
		p.next++
		t.noteAtEnd(gp, c.fn.ptr(), c.sp, ftrace_format_FrameAtReturns|ftrace_format_FramePanicked, nil)
	}
	if p.next == p.n {
		t.leavePassed()
	}
}

// ftraceLeftOutNamed returns the function fn if its calls are being left out, otherwise nil.
func ftraceLeftOutNamed(fn srcFunc) *ftraceFunc {
	b := &ftraceBudget
	at, live := atomic.Load(&b.next), atomic.Load(&b.live)
	for i := uint32(0); i < ftraceMaxOff && live > 0; i++ {
		f := (*ftraceFunc)(atomic.Loadp(unsafe.Pointer(&b.off[(at-i)%ftraceMaxOff])))
		if f == nil {
			continue
		}
		live--
		if fn.startLine == int32(f.line) && f.named(fn) {
			return f
		}
	}
	return nil
}
