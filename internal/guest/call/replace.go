//go:build ftrace_core

// Calls of functions that have replacements, see mock/mock.go.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceReplaceCall is the part of ftraceEntrySlow for a function that has replacements. The
// results go to where the function has room for them, on its stack, so that they stay right when
// that moves.
func ftraceReplaceCall(f *ftraceFunc, offset uintptr, params []any, result any) (replaced bool) {
	gp := getg()
	m := ftraceReplacement(gp, f)
	if m == nil {
		return false
	}
	if result == nil {
		result = (*struct{})(nil)
	}
	want, to := ftracePointed(&result)
	if instance := f.instance(params); m.plan != nil && ftraceLoadConfig() == nil && m.plan.is(instance) && m.plan.shape.returns(want) && m.plan.call(gp, params, to) {
		if mocks := (*ftraceMocks)(atomic.Loadp(unsafe.Pointer(&f.mocks))); mocks != nil && mocks.list[0] == m {
			mocks.fast.learn(efaceOf(&result)._type, instance)
		}
		return true
	}
	f.mark(gp, offset, true) // a panic or Goexit may end it
	results, n := ftraceReplace(gp, f, offset, m, params, want)
	frame := f.mark(gp, offset, n >= 0)
	if n < 0 {
		return false
	}
	var typ *_type
	var at unsafe.Pointer
	if fault, ok := results.(*ftraceFault); ok {
		typ, at, n = want, fault.results(want), fault.number(want)
	} else {
		typ, at = ftracePointed(&results)
	}
	if frame != nil {
		var values []any
		if frame.clause != 0 || frame.Flags&ftraceFrameSessions != 0 {
			values = ftraceUnpack(typ, at, n)
		}
		gp.ftrace.endCall(gp, values, nil)
	}
	lift := gp.ftraceMock.lift
	gp.ftraceMock.lift = nil
	systemstack(func() {
		if lift != nil {
			lift.lower(at, typ)
		}
		typedmemmove(want, to, at)
	})
	if gp.ftraceMock.isNoted(f, offset) {
		ftraceEndReplaced(f, offset, want, to, n)
	}
	return true
}

// ftraceEndReplaced is called when a call that is noted was replaced. Its n results, of type want,
// are at to.
func ftraceEndReplaced(f *ftraceFunc, offset uintptr, want *_type, to unsafe.Pointer, n int) {
	var room [ftraceValuesMax]any // on the stack, like what they point to
	values := (*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room)))[:min(n, len(room))]
	for i := range values {
		typ, at := ftraceResult(want, to, n, i)
		values[i] = ftraceResultValue(typ, at)
	}
	ftraceEndReturn(f, offset, values)
}

// mark marks the call of f under way, with its frame at offset, as a replacement's or not. It
// returns the call's frame, or nil if it has none.
func (f *ftraceFunc) mark(gp *g, offset uintptr, replaced bool) *ftraceFrame {
	t := gp.ftrace
	if t == nil || t.busy != 0 {
		return nil
	}
	frame := t.settle(gp, f, offset)
	if frame == nil {
		return nil
	}
	frame.Flags &^= ftrace_format_FrameReplaced
	if replaced {
		frame.Flags |= ftrace_format_FrameReplaced
	}
	return frame
}

// ftraceEnterReplace is the part of ftrace_enter for a function that has replacements.
func ftraceEnterReplace(f *ftraceFunc, offset uintptr, params []any) int {
	gp := getg()
	token := ftraceBeginCall(f, offset, params, ftrace_format_FrameAtReturns) // its deferred call is not there yet
	var results any
	n := -1
	if m := ftraceReplacement(gp, f); m != nil {
		f.mark(gp, offset, true) // a panic or Goexit may end it
		results, n = ftraceReplace(gp, f, offset, m, params, nil)
	}
	if token > 0 {
		token = 0
		if frame := f.mark(gp, offset, n != -1); frame != nil {
			frame.Flags &^= ftrace_format_FrameAtReturns
			token = int(gp.ftrace.depth)
		}
	}
	if gp.ftraceMock.isNoted(f, offset) {
		token |= ftraceEndNoted
	}
	if n == -1 {
		return token
	}
	gp.ftraceMock.results, gp.ftraceMock.n = results, n
	return -token - 1
}

// ftraceExitReplace stores what the replacement returned where results point.
func ftraceExitReplace(results []any) {
	state := &getg().ftraceMock
	from, n, lift := state.results, state.n, state.lift
	state.results, state.lift = nil, nil
	if n == ftraceAny {
		(*ftraceAnyResults)(efaceOf(&from).data).store(results, lift)
		return
	}
	if fault, ok := from.(*ftraceFault); ok {
		fault.store(results)
		return
	}
	if n != len(results) || n == 0 {
		return
	}
	all, at := ftracePointed(&from)
	for i := range results {
		typ, _ := ftraceResult(all, at, n, i)
		if to := (*ptrtype)(unsafe.Pointer(efaceOf(&results[i])._type)).Elem; typ != to {
			panic(plainError("mock: a replacement's result is " + toRType(typ).string() + ", the function's is " + toRType(to).string()))
		}
	}
	move := func() {
		for i := range results {
			typ, at := ftraceResult(all, at, n, i)
			typedmemmove(typ, efaceOf(&results[i]).data, at)
		}
	}
	if lift == nil {
		move()
		return
	}
	systemstack(func() {
		lift.lower(at, all)
		move()
	})
}
