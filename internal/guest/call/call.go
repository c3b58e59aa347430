//go:build ftrace_core

// The files ftrace*.go are added to package runtime by ftrace-wrap. They are the core of the
// tracer. Instrumented packages call ftrace_register once. At the entry and the exits of each armed
// function a helper of the package calls ftrace_he and ftrace_hx, or ftrace_henter and ftrace_exit
// if the function has deferred calls. Hooks without a helper call ftrace_e0 to ftrace_en and
// ftrace_x0 to ftrace_xn, or ftrace_enter and ftrace_exit, themselves.
//
// They live in package runtime because everything they need is here: the goroutine (getg, no
// parsing of goroutine ids), the types of all values (internal/abi) and the panics under way. And
// because this package is initialised before any other, package-level initialisers are traced too.
//
// The rules of this package hold: no implicit heap allocation, no locks but the runtime's. The
// tracer's own memory is off the heap (state/goroutine.go, os/buffer.go), so tracing does not show
// in the program's allocation counts. Nothing here may be called on a system stack or with runtime
// locks held. ftraceMayTrace checks this; calls made there are not seen.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftrace_enter is called at the entry of an armed function, with its hook and its parameters. It
// returns the token for ftrace_exit: 0 if the exit is of no interest, a negative number if the
// function is not to run.
//
//go:linkname ftrace_enter
func ftrace_enter(hook any, args ...any) int {
	return ftraceEnter(hook, getg().stack.hi-sys.GetCallerSP(), args)
}

// ftraceEnter is ftrace_enter for a function whose stack frame is at offset. If its hook shows only
// failures there are no parameters.
func ftraceEnter(hook any, offset uintptr, args []any) int {
	if typ := unsafe.Pointer(efaceOf(&hook)._type); typ != nil && typ == ftraceBudget.onlyFails {
		return ftraceHooked(&hook).leftOutToken(true)
	}
	token := ftraceEntryFast(ftraceHooked(&hook), offset, unsafe.SliceData(args), len(args), nil)
	if token > 0 && int32(token) != 0 && token&ftraceEndLeftOut == 0 {
		getg().ftrace.frame(int32(token) - 1).Flags &^= ftrace_format_FrameAtReturns
	}
	return token
}

// ftraceEntrySlow is ftraceEntryFast for calls of all kinds. It returns a token for ftrace_exit. If
// the call is noted, that is the number of its frame, from 1 on; if not, 0. It is negative if a
// replacement was called, or is to be called because the function has deferred calls.
func ftraceEntrySlow(f *ftraceFunc, offset uintptr, first *any, n int, result *any) (token int) {
	params := unsafe.Slice(first, n)
	if result == nil {
		if f.replaced() {
			return ftraceEnterReplace(f, offset, params)
		}
		return ftraceBeginCall(f, offset, params, 0)
	}
	if f.loadLaid() != nil {
		token = ftraceBeginCall(f, offset, params, ftrace_format_FrameAtReturns)
	} else if mocks := (*ftraceMocks)(atomic.Loadp(unsafe.Pointer(&f.mocks))); mocks != nil && mocks.fast.call(params, *result) {
		return -1
	}
	if f.replaced() && ftraceReplaceCall(f, offset, params, *result) {
		return -1
	}
	return token
}

// ftraceBeginCall notes and shows that a call of f begins. The call's stack frame is at offset
// below the stack's top.
func ftraceBeginCall(f *ftraceFunc, offset uintptr, args []any, flags uint32) int {
	gp := getg()
	if !ftraceMayTrace(gp) {
		return 0
	}
	t := gp.ftrace
	if t == nil || t.labels != uintptr(gp.labels) {
		t = ftraceActorOf(gp)
	}
	if t != nil && (t.busy != 0 || t.muted) {
		return 0
	}
	if atomic.Loaduintptr(&f.count) >= atomic.Loaduintptr(&f.limit) {
		return f.beginAtLimit(offset, args, flags)
	}
	count := atomic.Xadduintptr(&f.count, 1)
	if ftraceShaking != 0 {
		ftraceShake(f.key, count)
	}
	laid := f.loadLaid()
	if laid == nil {
		return 0 // it is armed only to be replaced
	}
	if t != nil {
		t.clear(gp, f, offset)
	}
	if count > laid.until {
		return 0
	}
	if laid.sole != nil && t != nil && t.asUsual(gp) {
		if token := t.soleEntry(gp, f, laid.sole, offset, args, count, flags); token != 0 {
			return token
		}
	}
	if t == nil {
		if t = ftraceStateOf(gp); t == nil {
			return 0
		}
		t.labels = uintptr(gp.labels)
	}
	if t.config != laid.config.number {
		t.remark(laid.config)
	}
	f.recordOn()
	laid.trigger()
	mask := t.mask | laid.marks
	clause := laid.shows(f, mask, t.shown, count)
	if clause == nil && laid.marks == 0 && laid.others == nil {
		return 0 // no later call needs to know of this one
	}
	frame := t.push()
	if frame == nil {
		atomic.Xadd(&ftraceLost, 1)
		return 0
	}
	frame.fn, frame.Key, frame.Flags = ftraceFuncPtr(unsafe.Pointer(f)), f.key, flags
	frame.sp, frame.Count, frame.Mask, frame.shown = offset, uint64(count), mask, t.shown
	t.mask = mask
	if clause != nil {
		frame.clause = ftraceClausePtr(unsafe.Pointer(clause))
		t.shown++
		t.busy++
		if f.flags&ftraceHasSecrets != 0 {
			ftraceBeginHiding(gp, t, frame, args)
		} else {
			ftraceConsumeEntry(gp, t, frame, args)
			if ftraceOut.on {
				ftracePrintEntry(gp, t, frame, args)
			}
		}
		t.busy--
	}
	if laid.others != nil {
		t.shareEntry(gp, laid, frame, args)
		if clause == nil && laid.marks == 0 && frame.Flags&ftraceFrameSessions == 0 {
			t.pop(frame) // nobody wants to see this call
			return 0
		}
	}
	if len(args) > 0 && f.wantsChanges(frame, laid) {
		ftraceKeepParams(gp, t.depth, args)
	}
	return int(t.depth)
}

// wantsChanges reports whether anybody who sees the call of frame wants to know what it changes.
func (f *ftraceFunc) wantsChanges(frame *ftraceFrame, laid *ftraceLaid) bool {
	if frame.clause != 0 && frame.clause.ptr().Detail == ftrace_rule_Changes {
		return true
	}
	for o := laid.others; o != nil; o = o.next {
		if frame.saw(o.session) {
			if clause := f.clauseFor(o.session, frame.Mask); clause != nil && clause.Detail == ftrace_rule_Changes {
				return true
			}
		}
	}
	return false
}

// ftrace_exit is called when a function ends for which ftrace_enter returned token: it returns,
// panics or ends its goroutine. results are pointers to its results.
//
//go:linkname ftrace_exit
func ftrace_exit(token int, results ...any) {
	if token < 0 {
		ftraceExitReplace(results)
		token = -token - 1
	}
	if token&ftraceEndNoted != 0 {
		token &^= ftraceEndNoted
		ftraceEndDeferred(results)
	}
	if token == 0 {
		return
	}
	if token&ftraceEndLeftOut != 0 {
		if n := len(results); n > 0 && *(*unsafe.Pointer)(efaceOf(&results[n-1]).data) != nil {
			ftraceExitLeftOut(uint32(token), getg().stack.hi-sys.GetCallerSP(), results)
		}
		return
	}
	gp := getg()
	t := gp.ftrace
	if t == nil || token > int(t.depth) {
		return
	}
	if token == int(t.depth) {
		top := t.top.below()
		ftraceExitFast(top.fn.ptr(), top.sp, 0, unsafe.SliceData(results), len(results))
		return
	}
	t.endCalls(gp, int32(token), results)
}

// endCalls takes off the frame with that number, and those above it.
func (t *ftraceG) endCalls(gp *g, token int32, results []any) {
	if t.busy != 0 || !ftraceMayTrace(gp) {
		return
	}
	frame := t.frame(token - 1)
	p := ftracePanic(gp, frame.sp)
	for t.depth > token {
		t.endCall(gp, nil, p)
	}
	gp.ftraceKept.end(t.depth)
	if p == nil {
		t.returns(gp, 0, results)
	}
	t.endCall(gp, results, p)
}

// returns is called when the topmost call ends with these results. It notes the call if a budget
// left it out, and it was slow or failed. The parameter how is that of ftraceExitFast.
func (t *ftraceG) returns(gp *g, how uint32, results []any) {
	frame := t.frame(t.depth - 1)
	if frame.Flags&ftrace_format_FrameAtEnd == 0 {
		return
	}
	f := frame.fn.ptr()
	failed := f.flags&ftraceMayFail != 0 && f.fails(how, unsafe.SliceData(results), len(results))
	if failed || f.slow(frame) {
		t.noteLeftOut(gp, frame, failed)
	}
}

// ftraceExitSlow is ftraceExitFast for calls of all kinds. A call has no frame if it is of no
// interest, or was not when it began.
func ftraceExitSlow(f *ftraceFunc, offset uintptr, how uint32, first *any, n int) {
	gp := getg()
	t := gp.ftrace
	if how == 0 {
		if t.depth > 0 && (t.endLeftOut(gp, f, offset, 0, first, n) || t.soleExit(gp, f, offset, 0, first, n)) {
			return
		}
		t.endCalls(gp, t.depth, unsafe.Slice(first, n)) // it is the topmost
		return
	}
	if gp.ftraceMock.noted != nil {
		ftraceEndReturn(f, offset, unsafe.Slice(first, n))
		t = gp.ftrace
	}
	if f.onlyFails() {
		if f.fails(how, first, n) {
			f.endUnseen(gp, offset, how, unsafe.Slice(first, n))
		}
		return
	}
	if t == nil {
		return
	}
	if t.depth == 0 || t.frame(t.depth-1).sp < offset {
		if f.flags&ftraceMayFail != 0 && f.fails(how, first, n) {
			t.noteAtEnd(gp, f, offset, how, unsafe.Slice(first, n))
		}
		return
	}
	if t.endLeftOut(gp, f, offset, how, first, n) {
		return
	}
	if t.busy != 0 || !ftraceMayTrace(gp) {
		return
	}
	if t.soleExit(gp, f, offset, how, first, n) {
		return
	}
	if top := t.frame(t.depth - 1); top.fn == ftraceFuncPtr(unsafe.Pointer(f)) && top.sp == offset && t.settled(gp, offset) || t.settle(gp, f, offset) != nil {
		gp.ftraceKept.end(t.depth)
		t.returns(gp, how, unsafe.Slice(first, n))
		t.endCall(gp, unsafe.Slice(first, n), nil)
	} else if f.flags&ftraceMayFail != 0 && f.fails(how, first, n) {
		t.noteAtEnd(gp, f, offset, how, unsafe.Slice(first, n))
	}
}

// settled reports whether the topmost frame is that of a call under way, which it nearly always is.
// The call at offset is certainly alive.
func (t *ftraceG) settled(gp *g, offset uintptr) bool {
	top := t.frame(t.depth - 1)
	return gp._panic == nil && top.sp <= offset && !t.unwound && atomic.Load8(&t.doubtful) == 0
}

// clear takes off the frames of calls that have ended unseen, before a call of f begins at offset.
func (t *ftraceG) clear(gp *g, f *ftraceFunc, offset uintptr) {
	if t.depth > 0 && !t.settled(gp, offset) || t.passed != 0 {
		t.verify(gp, f, offset)
		t.sweep(gp, offset)
	}
}

// settle takes off what is above the frame of the call of f at offset. It returns that frame, or
// nil if there is none.
func (t *ftraceG) settle(gp *g, f *ftraceFunc, offset uintptr) *ftraceFrame {
	t.sweep(gp, offset)
	for i := t.depth - 1; i >= 0; i-- {
		frame := t.frame(i)
		if frame.sp != offset {
			return nil
		}
		if frame.fn == ftraceFuncPtr(unsafe.Pointer(f)) {
			for t.depth > i+1 {
				t.endCall(gp, nil, nil)
			}
			return frame
		}
	}
	return nil
}

// endCall takes off the topmost frame, whose call has ended: by p, by the panic that was recovered
// (ftrace_format_FramePanicked), or with results.
func (t *ftraceG) endCall(gp *g, results []any, p *_panic) {
	if t.passed != 0 {
		t.endPassed(gp)
	}
	frame := t.frame(t.depth - 1)
	if frame.leftOut() && frame.Flags&ftrace_format_FramePanicked != 0 {
		t.noteLeftOut(gp, frame, true)
	}
	if frame.clause != 0 {
		t.busy++
		if len(results) > 0 && frame.fn.ptr().flags&ftraceHasSecrets != 0 {
			t.endHiding(gp, frame, results, p)
		} else {
			ftraceConsumeExit(gp, t, frame, results, p)
			if ftraceOut.on {
				ftracePrintExit(gp, t, frame, results, p)
			}
		}
		t.busy--
	}
	if frame.Flags&ftraceFrameSessions != 0 {
		t.shareExit(gp, frame, results, p)
	}
	if frame.Flags&ftrace_format_FrameRecovered != 0 {
		gp.ftraceRecovered = nil
	}
	if k := gp.ftraceKept; k != nil && k.depth == t.depth {
		gp.ftraceKept = k.next
	}
	t.pop(frame)
}

// sweep takes off the frames of calls that ended without their hook's knowledge: hooks at returns
// see no panic. The call at offset is certainly alive.
func (t *ftraceG) sweep(gp *g, offset uintptr) {
	t.verify(gp, nil, offset)
	for t.depth > 0 {
		frame := t.frame(t.depth - 1)
		p := ftracePassingPanic(gp, frame)
		if p == nil && frame.sp <= offset && frame.Flags&ftrace_format_FramePanicked == 0 {
			break
		}
		t.endCall(gp, nil, p)
	}
	if t.passed != 0 {
		t.endPassed(gp)
	}
	t.unwound = false
}

// ftracePassingPanic returns the panic that has already passed the frame. The frame lies between
// the call that panicked and the one whose deferred calls are running.
func ftracePassingPanic(gp *g, frame *ftraceFrame) *_panic {
	for p := gp._panic; p != nil; p = p.link {
		at, start := gp.stack.hi-uintptr(p.sp), gp.stack.hi-uintptr(p.startSP)
		if !p.deferreturn && p.sp != nil && frame.sp < start && (frame.sp > at || frame.sp == at && frame.Flags&ftrace_format_FrameAtReturns != 0) {
			return p
		}
	}
	return nil
}

// Why the frames of a goroutine may be wrong.
const (
	ftraceHooksChanged = 1 << iota // some may be of calls that ended while the function's hook was off; other goroutines set it
	ftraceHookOff                  // the hook of a call under way is off, so that its end will not be seen
	ftraceHookSwitched             // as ftraceHooksChanged, if one of these hooks was turned on or off by the budget
)

// verify takes off the frames of calls whose end was not seen, or will not be, because their
// functions' hooks were turned off; and the frames above them. A call that is not the topmost keeps
// its frame until it is.
//
// entering is nil, or the function whose call is just beginning in the stack frame at offset and
// has no frame yet.
func (t *ftraceG) verify(gp *g, entering *ftraceFunc, offset uintptr) {
	doubt := atomic.Load8(&t.doubtful)
	if doubt == 0 {
		return
	}
	depth, changed := t.depth, doubt&(ftraceHooksChanged|ftraceHookSwitched) != 0
	if changed {
		atomic.Store8(&t.doubtful, ftraceHookOff)
		changed = t.switched() || doubt&ftraceHooksChanged != 0
	}
	if changed {
		for alive := t.alive(gp, entering, offset); t.depth > alive; {
			t.endCall(gp, nil, ftracePassingPanic(gp, t.frame(t.depth-1)))
		}
	}
	for t.depth > 0 && t.frame(t.depth-1).off() {
		t.endCall(gp, nil, ftracePassingPanic(gp, t.frame(t.depth-1)))
	}
	if doubt&^ftraceHookOff == 0 && t.depth == depth {
		return
	}
	for i := range t.depth {
		if t.frame(i).off() {
			return
		}
	}
	atomic.And8(&t.doubtful, ^uint8(ftraceHookOff))
}

// switched reports whether the budget turned the hook of a call under way on or off since this was
// asked last.
func (t *ftraceG) switched() bool {
	last := t.switches
	t.switches = atomic.Load(&ftraceBudget.switches)
	for i := range t.depth {
		if frame := t.frame(i); frame.Flags&ftrace_format_FrameAtReturns != 0 && int32(atomic.Load(&frame.fn.ptr().switched)-last) > 0 {
			return true
		}
	}
	return false
}

// leftOut reports whether the call was left out, as far as is known while it is under way.
func (frame *ftraceFrame) leftOut() bool {
	return frame.Flags&ftrace_format_FrameAtEnd != 0 && frame.clause == 0 && frame.Flags&ftraceFrameSessions == 0
}

// off reports whether the hook is off that would see the call's end.
func (frame *ftraceFrame) off() bool {
	return frame.Flags&ftrace_format_FrameAtReturns != 0 && !frame.fn.ptr().seesReturns()
}

// alive returns how many of the frames, from the first on, belong to calls that are on the stack.
func (t *ftraceG) alive(gp *g, entering *ftraceFunc, offset uintptr) (alive int32) {
	pc, sp := sys.GetCallerPC(), sys.GetCallerSP()
	systemstack(func() {
		next := t.depth - 1 // all above were looked for
		alive = t.depth
		var u unwinder
		for u.initAt(pc, sp, 0, gp, unwindSilentErrors); u.valid() && next >= 0; u.next() {
			at := gp.stack.hi - u.frame.sp
			for next >= 0 && t.frame(next).sp > at {
				alive = next
				next--
			}
			calls, call := newInlineUnwinder(u.frame.fn, u.symPC())
			for ; call.valid() && next >= 0 && t.frame(next).sp == at; call = calls.next(call) {
				fn := calls.srcFunc(call)
				next = t.belowSpans(next, at)
				if entering != nil && at == offset && entering.is(fn) {
					entering = nil
					continue
				}
				for i := next; i >= 0 && t.frame(i).sp == at; i-- {
					if t.frame(i).fn.ptr().is(fn) {
						if i < next {
							alive = i + 1
						}
						next = i - 1
						break
					}
				}
			}
			for next = t.belowSpans(next, at); next >= 0 && t.frame(next).sp == at; next = t.belowSpans(next-1, at) {
				alive = next
			}
		}
	})
	return alive
}

// belowSpans returns the number of the first frame, from number i down, that is not of a span in
// the stack frame at offset: such a span ends with the function that is there.
func (t *ftraceG) belowSpans(i int32, offset uintptr) int32 {
	for i >= 0 && t.frame(i).sp == offset && t.frame(i).fn.ptr().flags&ftraceIsSpan != 0 {
		i--
	}
	return i
}

// is reports whether fn is the function f. A literal can have another name where the function
// around it was inlined.
func (f *ftraceFunc) is(fn srcFunc) bool {
	return fn.startLine == int32(f.line) || f.named(fn)
}

// named reports whether fn has the name of f.
func (f *ftraceFunc) named(fn srcFunc) bool {
	name, n := fn.name(), len(f.pkg.Symbol)
	return len(name) == n+1+len(f.name) && name[:n] == f.pkg.Symbol && name[n] == '.' && name[n+1:] == f.name
}

// ftraceDoubt has each goroutine check, before its next traced call, which of its calls will be
// seen to end: hooks were turned on or off. why is one of the bits of doubtful.
func ftraceDoubt(why uint8) {
	forEachGRace(func(gp *g) {
		if t := gp.ftrace; t != nil {
			atomic.Or8(&t.doubtful, why)
		}
	})
}

// ftracePanic returns the panic (or Goexit) that is running the deferred calls of the function
// whose frame is at offset, or nil if the function returns.
func ftracePanic(gp *g, offset uintptr) *_panic {
	p := gp._panic
	if p != nil && !p.deferreturn && gp.stack.hi-uintptr(p.sp) == offset {
		return p
	}
	return nil
}

// ftraceRecovery is called by recovery, on the system stack, when a deferred call of the function
// at the panic's frame has recovered. The panic will be gone at the next event, so its effect is
// noted in the frames now.
func ftraceRecovery(gp *g) {
	t := gp.ftrace
	p := gp._panic
	if t == nil || p == nil || p.goexit {
		return
	}
	at := gp.stack.hi - uintptr(p.sp)
	t.pass(gp, p, at)
	for i := t.depth - 1; i >= 0; i-- {
		frame := t.frame(i)
		switch {
		case frame.sp > at || frame.sp == at && frame.Flags&ftrace_format_FrameAtReturns != 0:
			frame.Flags |= ftrace_format_FramePanicked
			t.unwound = true
		case frame.sp == at:
			frame.Flags |= ftrace_format_FrameRecovered
		default:
			return
		}
		gp.ftraceRecovered = p.arg
	}
}

// ftraceDropFrames is called when a goroutine ends: by Goexit after all deferred calls, and by
// fatalpanic. What is left of its calls has ended.
func ftraceDropFrames() {
	gp := getg()
	t := gp.ftrace
	if t == nil || t.busy != 0 || !ftraceMayTrace(gp) {
		return
	}
	if p := gp._panic; p != nil && !p.goexit {
		t.passAll(gp, p)
		for i := range t.depth {
			if frame := t.frame(i); frame.leftOut() {
				frame.Flags |= ftrace_format_FramePanicked
			}
		}
	}
	for t.depth > 0 {
		t.endCall(gp, nil, gp._panic)
	}
	if t.passed != 0 {
		t.endPassed(gp)
	}
}
