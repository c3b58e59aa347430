//go:build ftrace_core

// Calls of functions some of whose names are secret, see value/redact.go.

package runtime

import "unsafe"

// ftraceBeginHiding notes and shows that the call of frame begins, without its secrets.
//
//go:noinline
func ftraceBeginHiding(gp *g, t *ftraceG, frame *ftraceFrame, args []any) {
	var room [ftraceValuesMax]any
	hidden := frame.fn.ptr().hide((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), args, frame.clause.ptr().Own, false, false)
	ftraceConsumeEntry(gp, t, frame, hidden)
	if frame.Object != 0 {
		frame.Object = uint64(uintptr(efaceOf(&args[0]).data)) // the place of a receiver is no secret
	}
	if ftraceOut.on {
		ftracePrintEntry(gp, t, frame, hidden)
	}
}

// endHiding notes and shows that the call of frame ended, without its secrets.
//
//go:noinline
func (t *ftraceG) endHiding(gp *g, frame *ftraceFrame, results []any, p *_panic) {
	var room [ftraceValuesMax]any
	hidden := frame.fn.ptr().hide((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), results, frame.clause.ptr().Own, true, frame.Flags&ftrace_format_FrameAtReturns == 0)
	ftraceConsumeExit(gp, t, frame, hidden, p)
	if ftraceOut.on {
		ftracePrintExit(gp, t, frame, hidden, p)
	}
}
