//go:build ftrace_core

// Calls of whose end package mock wants to hear. Its interceptors see a call when it begins, as a
// replacement would, and then let the function run. The call is noted until one of the function's
// hooks sees its end. Hooks at returns see no panic: that such a call has ended is found out when
// another is noted or ends whose frame is nearer to the stack's top.

package runtime

import "unsafe"

// ftraceNoted is a call under way.
type ftraceNoted struct {
	below    *ftraceNoted
	fn       *ftraceFunc
	offset   uintptr // of its frame, below the stack's top
	deferred bool    // it has a deferred hook, which sees every end
	call     any     // belongs to package mock
}

// ftraceContinues is the number of results with which package mock lets the function run, and wants
// to hear of its end.
const ftraceContinues = -3

// ftraceToldEnd belongs to package mock, which hears that a call has ended: with results, or by a
// panic or Goexit.
var ftraceToldEnd func(call any, results []any, panicked bool)

// ftraceEndNoted is the bit of a token with which ftrace_exit calls ftraceEndDeferred.
const ftraceEndNoted = 1 << 32

// note notes a call.
func (state *ftraceMockG) note(f *ftraceFunc, offset uintptr, deferred bool, call any) {
	n := new(ftraceNoted)
	n.below, n.fn, n.offset, n.deferred, n.call = state.noted, f, offset, deferred, call
	state.noted = n
}

// sweepNoted ends the calls that have panicked, now that a call of f has begun whose frame is at
// offset: those whose frames are below that, and earlier ones of f in its place.
func (state *ftraceMockG) sweepNoted(f *ftraceFunc, offset uintptr) {
	for state.noted != nil && (state.noted.offset > offset || state.isNoted(f, offset)) {
		state.end(nil, true)
	}
}

// isNoted reports whether the call noted last is of f, with its stack frame at offset.
func (state *ftraceMockG) isNoted(f *ftraceFunc, offset uintptr) bool {
	return state.noted != nil && state.noted.fn == f && state.noted.offset == offset
}

// ftraceEndReturn is called when f, whose frame is at offset, is about to return values.
func ftraceEndReturn(f *ftraceFunc, offset uintptr, values []any) {
	gp := getg()
	state := &gp.ftraceMock
	if !ftraceMayTrace(gp) {
		return
	}
	found := false
	for n := state.noted; n != nil && n.offset >= offset && !n.deferred && !found; n = n.below {
		found = n.fn == f && n.offset == offset
	}
	if found {
		for !state.isNoted(f, offset) {
			state.end(nil, true)
		}
		for state.isNoted(f, offset) {
			state.end(values, false)
		}
	}
}

// ftraceEndDeferred is called when a call with a deferred hook ends: the innermost noted call that
// has one. Its results are where results point.
func ftraceEndDeferred(results []any) {
	gp := getg()
	state := &gp.ftraceMock
	for state.noted != nil && !state.noted.deferred {
		state.end(nil, true)
	}
	if state.noted == nil {
		return
	}
	f, offset := state.noted.fn, state.noted.offset
	if ftracePanic(gp, offset) != nil {
		for state.isNoted(f, offset) {
			state.end(nil, true)
		}
		return
	}
	var room [ftraceValuesMax]any // on the stack, like what they point to
	values := (*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room)))[:min(len(results), len(room))]
	for i := range values {
		typ, at := ftracePointed(&results[i])
		values[i] = ftraceResultValue(typ, at)
	}
	for state.isNoted(f, offset) {
		state.end(values, false)
	}
}

// end tells package mock that the call noted last has ended, and forgets it. What values point to
// on the stack is copied.
func (state *ftraceMockG) end(values []any, panicked bool) {
	call := state.noted.call
	state.noted = state.noted.below
	var l ftraceLift
	l.take(values)
	state.quiet = true
	ftraceToldEnd(call, l.values, panicked) // resets quiet
}
