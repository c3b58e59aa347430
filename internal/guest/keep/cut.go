//go:build ftrace_core

// How others see the program at one moment without holding anything up.
//
// All that is kept of calls that have ended, histories and sums, exists twice, in two halves. A
// call that ends goes into one of them. The lowest bit of the number of cuts made so far says
// which.
//
// A reader (package live) first reads the half that nobody writes to. Then it requests a cut, after
// which the halves have changed their roles, and reads the other half. The two together are all
// that had ended at the cut: the end of a call reads the number once, so either all tables know of
// the call or none does.
//
// Calls under way are not kept twice. Each has the number of cuts from when it began. One that ends
// under another number is put among the processor's crossings. So the calls that were under way at
// the cut are either on the stacks or among the crossings.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceCuts is the number of cuts made. Readers find it in the memory file; atomic.
var ftraceCuts uint32

// ftraceMakeCut makes a cut, and returns when nothing that belongs before it is still being
// written.
//
// A writer is not taken off its processor meanwhile (acquirem, or functions that are all nosplit),
// and so is not at a safe point. So it is enough to wait until each processor was at one. Nobody
// waits for this but the goroutine that makes the cut.
func ftraceMakeCut(h *ftraceHead) {
	semacquire(&worldsema)
	atomic.Store(&h.Cuts, atomic.Xadd(&ftraceCuts, 1))
	h.Now = ftraceReadClock()
	forEachP(waitReasonFlushProcCaches, func(*p) {})
	semrelease(&worldsema)
}

// begin stores the number of cuts at the beginning of the frame's call, before anything else in the
// frame changes. A reader of the frame of an earlier call sees by that number that it was
// overwritten. begin clears the mask.
//
//go:nosplit
func (frame *ftraceFrame) begin() {
	*(*uint64)(unsafe.Pointer(&frame.Cut)) = uint64(atomic.Load(&ftraceCuts)) // and mask
	if goarch.IsAmd64 == 0 {
		publicationBarrier()
	}
}

// cross returns the place among the crossings for a call that ends under that number of cuts. The
// caller fills it in and counts it.
func (w *ftraceWriter) cross(cut uint32) *ftraceCall {
	c := (*ftraceCall)(add(w.crossings, uintptr(w.crossed%ftrace_format_Crossings)*unsafe.Sizeof(ftraceCall{})))
	c.Cut = cut
	return c
}
