//go:build ftrace_core

// Where goroutines begin and end.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceGoroutineStart is called by newproc1, on the system stack, for each new goroutine. It notes
// which armed function starts it. And it passes on the marks, so that "everything it calls"
// includes the goroutines that it starts, and the trace of the request that they are for.
func ftraceGoroutineStart(newg, callergp *g) {
	ftraceScopeStart(newg, callergp)
	if callergp.ftraceTrace != nil {
		newg.ftraceTrace = callergp.ftraceTrace
	}
	t := callergp.ftrace
	if t == nil || t.depth == 0 || isSystemGoroutine(newg, false) {
		return
	}
	frame := t.innermost()
	if frame == nil {
		return
	}
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
	if gp.ftraceTrace != nil {
		gp.ftraceTrace = nil
	}
	gp.ftraceWait.whose = 0 // another goroutine may get this g
	if t := gp.ftrace; t != nil {
		if t.recorded || t.recordedIn != 0 {
			ftraceRecordEnd(gp, t)
		}
		gp.ftrace = nil
		gp.ftraceRecovered, gp.ftraceKept = nil, nil
		t.free()
	}
}

// free gives the state back, empty. It keeps the histories, and the frames if they are few, for the
// next goroutine that gets it: many goroutines live for a moment only.
func (t *ftraceG) free() {
	held, notes := t.held, t.notes
	t.leavePassed()
	if t.group != nil {
		t.group.orphan()
	}
	if t.depth != 0 || t.size != ftraceSmallest {
		ftraceFreeFrames(t.frame(0), t.size)
		t.top, t.depth, t.size, t.full, t.framesAt = nil, 0, 0, nil, 0
	}
	ftraceEmptyHistory(t.history, t.calls)
	ftraceEmptyHistory(t.waits, t.waited)
	*t = ftraceG{
		top: t.top, full: t.full, size: t.size, framesAt: t.framesAt,
		history: t.history, historyAt: t.historyAt, waits: t.waits, waitsAt: t.waitsAt,
	}
	ftraceFreeText(held)
	ftraceFreeText(notes)
	lock(&ftraceFreeLists.lock)
	*(**ftraceG)(unsafe.Pointer(t)) = ftraceFreeLists.gs
	ftraceFreeLists.gs = t
	unlock(&ftraceFreeLists.lock)
}

// ftraceEmptyHistory clears a history, or nil, into which n calls were put.
func ftraceEmptyHistory(history unsafe.Pointer, n uint64) {
	if history == nil {
		return
	}
	most := uint64(ftraceMemory.head.HistoryMax)
	used := uintptr(min(n, most)) * unsafe.Sizeof(ftraceCall{})
	memclrNoHeapPointers(history, used)
	memclrNoHeapPointers(add(history, uintptr(most)*unsafe.Sizeof(ftraceCall{})), used)
}
