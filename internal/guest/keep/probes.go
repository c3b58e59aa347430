//go:build ftrace_core

// What is kept of static probes: the last that fired, each with its arguments, and how often each
// did. It is kept while the consumers of calls are on. A probe is a moment, so it has no length.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceKeepProbe passes it to the consumers that are on that f fires, for the count-th time.
func ftraceKeepProbe(gp *g, t *ftraceG, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any) {
	on := ftraceConsumers()
	if on == 0 {
		return
	}
	var layout *ftraceLayout
	if len(args) > 0 && atomic.Load(&ftraceTables.begun) != 0 { // else nobody has looked or recorded so far
		layout = f.entryLayouts.find(args, ftraceLayoutFlags(clause), nil, len(args))
	}
	t.events++
	around := t.notedFrom(t.depth - 1)
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		now := w.now(t, f.flags)
		w.countProbe(t, f, around, on)
		if on&(ftrace_format_ConsumerCurrent|ftrace_format_ConsumerHistory|ftrace_format_ConsumerHistoryLong) != 0 {
			t.keepFired(gp, f, around, now, count, layout, args)
		}
	}
	releasem(mp)
}

// countProbe adds one to the sums of f that are on.
func (w *ftraceWriter) countProbe(t *ftraceG, f *ftraceFunc, around *ftraceFrame, on uint32) {
	half := uintptr(atomic.Load(&ftraceCuts)&1) * w.halfSize
	if on&ftrace_format_ConsumerSummary != 0 && w.summaries != nil && f.key < w.summariesMax {
		(*ftraceSummary)(add(w.summaries, half+uintptr(f.key)*unsafe.Sizeof(ftraceSummary{}))).Count++
	}
	w.half = half
	if on&ftrace_format_ConsumerGoroutines != 0 {
		w.count(ftrace_format_ByGoroutine, t.goroutine, t, f.key)
	}
	if on&ftrace_format_ConsumerCallers != 0 {
		caller := uint64(0)
		if around != nil {
			caller = uint64(around.Key)
		}
		w.count(ftrace_format_ByCaller, caller, t, f.key)
	}
}

// keepFired keeps among the last probes that f fired.
func (t *ftraceG) keepFired(gp *g, f *ftraceFunc, around *ftraceFrame, now uint64, count uintptr, layout *ftraceLayout, args []any) {
	h := ftraceArmed()
	if h == nil || ftraceMemory.probes == nil {
		return
	}
	number := uint64(atomic.Xadd64(&h.Probes.Used, 1))
	p := (*ftrace_format_Probe)(add(ftraceMemory.probes, uintptr((number-1)%ftrace_format_ProbesMax)*unsafe.Sizeof(ftrace_format_Probe{})))
	atomic.Store64(&p.Number, 0)
	p.Key, p.Depth, p.Goroutine, p.Ticks, p.Event, p.Nesting, p.Count = f.key, uint32(t.shown), gp.goid, now, t.events, 0, uint64(count)
	if f.flags&ftrace_format_FrameNotTimed != 0 {
		p.Ticks = 0
	}
	if around != nil {
		p.Nesting = around.Event
	}
	p.Values = [2]uint32{}
	if layout != nil {
		layout.captureTo(unsafe.Pointer(&p.Values), uintptr(unsafe.Pointer(p))+unsafe.Sizeof(*p), args)
	}
	atomic.Store64(&p.Number, number)
}

// ftraceForgetProbes forgets what Clear... says: the last probes that fired, and how often each
// did. The world is stopped.
func ftraceForgetProbes(h *ftraceHead, which uint32) {
	if which&ftrace_format_ClearProbes != 0 && ftraceMemory.probes != nil {
		ftraceForget(ftraceMemory.probes, h.Probes.At, min(h.Probes.Used, h.Probes.Max)*h.Probes.Size)
	}
	for p := ftraceRegistry.first; p != nil && which&ftrace_format_ClearProbeSums != 0; p = p.next() {
		for i := range p.Nfuncs {
			if p.probes() {
				p.fn(i).forgetSums()
			}
		}
	}
}
