//go:build ftrace_core

// The short way of a call that is recorded, or kept by the consumers, and of which nothing else is to be decided or shown: most are such while a program is recorded. What
// ftraceBegin and ftraceLeft do for it is here in one piece, since what a call costs there is mostly the handing on from one function to the next. Each step looks whether
// all is as it mostly is, and leaves the call to them, without a trace, if it is not. A call can begin on one way and end on the other.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// plain says whether all calls of f are noted, and for no other reason than its clause.
func (c *ftraceConfig) plain(f *ftraceFunc) bool {
	clause := c.clauseOf(f)
	if clause == nil || f.marks|f.triggers != 0 || f.mocks != nil || f.flags&(ftraceSwitchedOff|ftraceMaskedOff|ftraceIsProbe) != 0 {
		return false
	}
	if clause != &c.all && c.in[f.clause-1]|c.after[f.clause-1] != 0 {
		return false
	}
	return clause.Detail >= ftrace_rule_Call && clause.Detail < ftrace_rule_Deep && clause.Capture == "" && clause.First == 0 && clause.Depth == 0 && clause.Rate == 0
}

// ftracePlainEntry notes that a call of f begins, as ftraceBegin does, or returns false.
func ftracePlainEntry(f *ftraceFunc, offset uintptr, params []any) bool {
	gp := getg()
	t := gp.ftrace
	if !ftraceMayTrace(gp) || ftraceOut.on || t == nil || t.busy != 0 || t.muted || t.goroutine != gp.goid || t.labels != uintptr(gp.labels) || t.mask != 0 || t.depth == t.size ||
		t.depth > 0 && !t.settled(gp, offset) {
		return false
	}
	mp := acquirem()
	clause, w, records := ftraceLoadConfig().clauseOf(f), ftraceKnownWriter(mp), ftraceRecording.on
	if clause == nil || w == nil || records && (w.pos >= w.limit || !t.recorded) || !records && ftraceConsumers() == 0 {
		releasem(mp)
		return false
	}
	var layout *ftraceLayout
	if records && len(params) > 0 && clause.Detail == ftrace_rule_Args {
		if layout = f.entryLayouts.usual(params); layout == nil {
			releasem(mp)
			return false
		}
	}
	count := atomic.Xadduintptr(&f.count, 1)
	frame := t.frame(t.depth)
	frame.begin()
	// One field after the other, for what is put together elsewhere and copied the processor waits for.
	frame.fn, frame.clause = f, clause
	frame.key, frame.flags = f.key, ftraceAtReturns
	frame.sp, frame.count = offset, count
	frame.mask, frame.shown = 0, t.shown
	frame.below, frame.object, frame.start = 0, 0, 0
	frame.held, frame.heldAt, frame.note = 0, 0, 0
	t.events++
	frame.event = t.events
	t.depth++
	t.shown++
	if f.flags&(ftraceUntimed|ftraceReceives) != 0 {
		frame.more(f, params)
	}
	frame.place.ticks = w.now(t, frame)
	frame.place.where = ftraceNowhere
	if records {
		frame.place.where = w.place(mp).where
		r := w.plain(gp, frame, ftraceKindEntry)
		p := add(unsafe.Pointer(r), ftraceRecordSize)
		*(*uint64)(p) = uint64(frame.count) | uint64(frame.flags&ftraceNotTimed)*(ftraceCallUntimed/ftraceNotTimed)
		size := ftraceRecordSize + 8
		if layout != nil {
			r.kind = ftraceKindEntryArgs
			size += layout.words(add(p, 8), r, params)
		}
		w.end(r, size)
	}
	releasem(mp)
	return true
}

// more notes of a call what some functions want.
func (frame *ftraceFrame) more(f *ftraceFunc, params []any) {
	if f.flags&ftraceUntimed != 0 {
		frame.flags |= ftraceNotTimed
	}
	if f.flags&ftraceReceives != 0 && len(params) > 0 && params[0] != nil {
		frame.object = uint64(uintptr(efaceOf(&params[0]).data))
	}
}

// ftracePlainExit notes that the call of f returns, as ftraceLeft does, or returns false.
func ftracePlainExit(f *ftraceFunc, offset uintptr, results []any) bool {
	gp := getg()
	t := gp.ftrace
	if t == nil || t.depth == 0 || t.busy != 0 || !ftraceMayTrace(gp) || ftraceOut.on {
		return false
	}
	frame := t.frame(t.depth - 1)
	if frame.fn != f || frame.sp != offset || gp._panic != nil || frame.flags&^ftraceNotTimed != ftraceAtReturns || frame.clause == nil || frame.note != 0 || frame.place.ticks == 0 {
		return false
	}
	mp := acquirem()
	w, records, on := ftraceKnownWriter(mp), ftraceRecording.on, ftraceConsumers()
	if w == nil || records && w.pos >= w.limit || !records && on&^ftraceConsumerCurrent == 0 {
		releasem(mp)
		return false
	}
	var layout *ftraceLayout
	if records && len(results) > 0 && frame.clause.Detail >= ftrace_rule_Args {
		if frame.clause.Detail == ftrace_rule_Args && frame.clause.Capture == "" {
			layout = f.exitLayouts.usual(results)
		}
		if layout == nil {
			releasem(mp)
			return false
		}
	}
	now := w.now(t, frame)
	exit := ftracePlace{0, ftraceNowhere}
	if records {
		exit = w.place(mp)
		r := w.plain(gp, frame, ftraceKindExit)
		size := ftraceRecordSize
		if layout != nil {
			r.kind = ftraceKindExitArgs
			size += layout.words(add(unsafe.Pointer(r), size), r, results)
		}
		w.end(r, size)
	}
	if on != 0 {
		ftraceConsume(gp, t, w, frame, ftraceOutcome(f, frame, results, nil), on, now, exit)
	}
	t.depth--
	t.shown = frame.shown
	t.mask = t.inherited()
	releasem(mp)
	return true
}

// ftraceKnownWriter returns the writer of the processor on which this goroutine is held, or nil if there is none yet.
func ftraceKnownWriter(mp *m) *ftraceWriter {
	if id := uint32(mp.p.ptr().id); id < ftraceProcessorsMost {
		return ftraceRecording.writers[id]
	}
	return nil
}

// plain is begin with the record's second word in one piece.
func (w *ftraceWriter) plain(gp *g, frame *ftraceFrame, kind uint64) *ftraceEvent {
	r := (*ftraceEvent)(add(unsafe.Pointer(w.chunk), w.pos))
	sys.Prefetch(uintptr(unsafe.Pointer(r)) + ftracePrefetch)
	words := (*[3]uint64)(unsafe.Pointer(r))
	words[0] = w.last
	words[1] = kind | uint64(min(frame.shown, 65535))<<16 | uint64(frame.key)<<32
	words[2] = gp.goid
	return r
}

// usual returns the layout that values nearly always have, or nil.
func (known *ftraceKnownLayouts) usual(values []any) *ftraceLayout {
	l := (*ftraceLayout)(atomic.Loadp(unsafe.Pointer(&known.first)))
	if l == nil || l.flags != 0 || l.paths != 0 || !l.holds(values) {
		return nil
	}
	return l
}

// words is capture, for values most of which are words.
func (l *ftraceLayout) words(p unsafe.Pointer, r *ftraceEvent, values []any) uintptr {
	if !l.simple {
		return l.capture(p, r, values)
	}
	for i := range values {
		e := efaceOf(&values[i])
		word := uintptr(e.data)
		if l.boxed&(1<<i) != 0 {
			word = *(*uintptr)(e.data)
		}
		*(*uintptr)(add(p, 8+uintptr(i)*8)) = word
	}
	size := uintptr(len(values)) * 8
	*(*uint64)(p) = uint64(l.id) | uint64(size)<<32
	return size + 8
}
