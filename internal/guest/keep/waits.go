//go:build ftrace_core

// What is kept of waits: the same as of calls, by consumers of their own.

package runtime

import "internal/runtime/atomic"

// ftraceWaitConsumers returns the consumers of waits that are on.
func ftraceWaitConsumers() uint32 {
	if h := ftraceMemory.head; h != nil {
		return atomic.Load(&h.Waits)
	}
	return 0
}

// consume passes the wait of frame, which ended at now, to the consumers that are on. The goroutine
// does not leave its processor meanwhile.
func (w *ftraceWaitG) consume(gp *g, t *ftraceG, writer *ftraceWriter, frame *ftraceFrame, site uint32, on uint32, now uint64) {
	runnable := uint64(ftrace_format_WaitRunnable)
	if w.ready != 0 {
		runnable = min(runnable, now-min(w.ready, now))
	}
	if w.byKey < 1<<(64-ftrace_format_WaitFunction) {
		runnable |= uint64(w.byKey) << ftrace_format_WaitFunction
	}
	frame.Count, frame.Place.Where = w.byCall, w.by
	ftraceConsume(gp, t, writer, frame, ftrace_format_CallWait|site<<ftrace_format_CallSite, on, now, runnable)
}
