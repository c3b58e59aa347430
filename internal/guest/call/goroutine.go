//go:build ftrace_core

// Where goroutines begin and end.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceGoroutineStart is called by newproc1, on the system stack, for each new goroutine. It notes
// which armed function starts it. And it passes on the marks, so that "everything it calls"
// includes the goroutines that it starts.
func ftraceGoroutineStart(newg, callergp *g) {
	ftraceScopeStart(newg, callergp)
	t := callergp.ftrace
	if t == nil || t.depth == 0 || isSystemGoroutine(newg, false) {
		return
	}
	frame := t.frame(t.depth - 1)
	child := ftraceNewG()
	if child == nil {
		atomic.Xadd(&ftraceLost, 1)
		return
	}
	child.parent = callergp.goid
	child.parentFn = frame.fn
	child.parentCount = uintptr(frame.Count)
	child.parentKey = frame.Key
	child.startMask, child.startConfig = frame.Mask, t.config
	child.mask, child.config = frame.Mask, t.config
	newg.ftrace = child
}

// ftraceGoroutineEnd is called by gdestroy, on the system stack.
func ftraceGoroutineEnd(gp *g) {
	gp.ftraceMock.clear()
	gp.ftraceWeave = ftraceWeaveG{}
	gp.ftraceProtocol = ftraceProtocolG{}
	if t := gp.ftrace; t != nil {
		if t.recorded {
			ftraceRecordEnd(gp)
		}
		gp.ftrace = nil
		gp.ftraceRecovered = nil
		t.free()
	}
}

// free gives the state back, empty, with all that it holds.
func (t *ftraceG) free() {
	held, notes, frames, size, histories := t.held, t.notes, t.frame(0), t.size, [...]unsafe.Pointer{t.history, t.waits}
	if t.group != nil {
		t.group.orphan()
	}
	*t = ftraceG{}
	ftraceFreeText(held)
	ftraceFreeText(notes)
	ftraceFreeFrames(frames, size)
	lock(&ftraceFreeLists.lock)
	for _, history := range histories {
		if history != nil {
			*(*unsafe.Pointer)(history) = ftraceFreeLists.history
			ftraceFreeLists.history = history
		}
	}
	*(**ftraceG)(unsafe.Pointer(t)) = ftraceFreeLists.gs
	ftraceFreeLists.gs = t
	unlock(&ftraceFreeLists.lock)
}
