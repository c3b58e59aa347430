//go:build ftrace_core

// How others see the program at one moment, though nothing is ever held up for them. All that is kept of calls that have ended, histories and sums, is there twice, in two halves. A call that ends is put into one
// half; which one it is the lowest bit of a number says, that of the cuts that were made so far. Who looks (package live) first reads the other half, to which no one writes; asks for a cut, from which on it is the
// other half that is written to; and then reads the one that was. Both together are all that had ended at the cut: a call's end reads the number once, so either all tables know of it or none.
//
// Calls under way are not there twice. Each has the number of cuts from when it began; one that ends after another number is put among the processor's crossings. So those that were under way at the cut
// are in the stacks, or among the crossings.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceCrossings is of how many calls that a cut was made in each processor knows. Who looks takes them out in time.
const ftraceCrossings = 4096

// ftraceCuts is how many cuts were made, which others find in the memory file; atomic.
var ftraceCuts uint32

// ftraceMakeCut makes a cut, and returns when nothing is written any more that belongs before it. Who writes is not taken off its processor meanwhile (acquirem, or functions that are all
// nosplit), and so is not at a safe point: that each processor was at one is all there is to wait for, and no one waits for this but who asked.
func ftraceMakeCut(h *ftraceHead) {
	semacquire(&worldsema)
	atomic.Store(&h.cuts, atomic.Xadd(&ftraceCuts, 1))
	h.now = ftraceReadClock()
	forEachP(waitReasonFlushProcCaches, func(*p) {})
	semrelease(&worldsema)
}

// begin says how many cuts there were when the frame's call began, before anything else is changed in it: who reads the frame of a call from before the last cut finds out by that if it was written over. It sets no mask.
//
//go:nosplit
func (frame *ftraceFrame) begin() {
	*(*uint64)(unsafe.Pointer(&frame.cut)) = uint64(atomic.Load(&ftraceCuts)) // and mask
	if goarch.IsAmd64 == 0 {
		publicationBarrier()
	}
}

// cross returns the place among the crossings for a call that ends after so many cuts, and is to be filled in and counted.
func (w *ftraceWriter) cross(cut uint32) *ftraceCall {
	c := (*ftraceCall)(add(w.crossings, uintptr(w.crossed%ftraceCrossings)*unsafe.Sizeof(ftraceCall{})))
	c.cut = cut
	return c
}
