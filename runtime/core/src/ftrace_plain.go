//go:build ftrace_core

// The short way of a call that is recorded, or kept by the consumers, and of which nothing else is to be decided or shown: most are such while a program is recorded. What
// ftraceBegin and ftraceLeft do for it is here in one piece, since what a call costs there is mostly the handing on from one function to the next. Each step looks whether
// all is as it mostly is, and leaves the call to them, without a trace, if it is not. A call can begin on one way and end on the other.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// plain returns the clause by which all calls of f are noted, and shown to no one, if there is no other reason for its hook to be on, or nil.
func (c *ftraceConfig) plain(f *ftraceFunc) *ftrace_rule_Clause {
	clause := c.clauseOf(f)
	if clause == nil || ftraceOut.on || f.marks|f.triggers != 0 || f.mocks != nil || f.flags&(ftraceSwitchedOff|ftraceMaskedOff|ftraceIsProbe) != 0 {
		return nil
	}
	if clause != &c.all && c.in[f.clause-1]|c.after[f.clause-1] != 0 {
		return nil
	}
	if clause.Detail < ftrace_rule_Call || clause.Detail >= ftrace_rule_Deep || clause.Capture != "" || clause.First != 0 || clause.Depth != 0 || clause.Rate != 0 {
		return nil
	}
	return clause
}

// ftracePlainEntry notes that a call of f begins, as ftraceBegin does, or returns false. Its n parameters begin at first.
//
// Behind its first instructions nothing takes the goroutine off its processor, whose writer this and ftracePlainExit use: code of this package is not preempted but where it calls
// a function that is not nosplit. So all that they call are, even if it is always inlined, for with -gcflags=all=-l nothing is.
func ftracePlainEntry(f *ftraceFunc, offset uintptr, first *any, n int) bool {
	gp := getg()
	t := gp.ftrace
	if t == nil || !t.asUsual(gp) || t.labels != uintptr(gp.labels) || t.depth == t.size || t.shown >= ftraceDepthMost {
		return false
	}
	frame := t.top
	if t.depth > 0 && frame.below().sp > offset {
		return false
	}
	clause, w := f.plain, gp.m.p.ptr().ftrace
	if clause == nil || w == nil {
		return false
	}
	records := ftraceRecording.on
	if records {
		if !t.recorded || w.pos >= w.limit {
			return false
		}
	} else if ftraceConsumers() == 0 {
		return false
	}
	count := atomic.Xadduintptr(&f.count, 1)
	frame.begin()
	// One field after the other, for what is put together elsewhere and copied the processor waits for. What functions and clauses there are stays.
	*(*uintptr)(unsafe.Pointer(&frame.fn)) = uintptr(unsafe.Pointer(f))
	*(*uintptr)(unsafe.Pointer(&frame.clause)) = uintptr(unsafe.Pointer(clause))
	frame.key, frame.flags = f.key, ftraceAtReturns
	frame.sp, frame.count = offset, count
	frame.mask, frame.shown = 0, t.shown
	frame.within, frame.object = 0, 0
	t.events++
	frame.event = t.events
	t.top = frame.above()
	t.depth++
	t.shown++
	if f.flags&(ftraceUntimed|ftraceReceives) != 0 {
		frame.more(f, first, n)
	}
	size := uintptr(0)
	if records {
		if clause.Detail != ftrace_rule_Args {
			n = 0
		}
		size = w.note(frame, ftraceKindEntry, &f.entryLayouts, first, n)
	}
	frame.place.ticks = w.tick(t, frame.flags)
	frame.place.where = ftraceNowhere
	if records {
		frame.place.where = w.noted(frame.place.ticks, size)
	}
	return true
}

// more notes of a call what some functions want.
//
//go:nosplit
func (frame *ftraceFrame) more(f *ftraceFunc, first *any, n int) {
	if f.flags&ftraceUntimed != 0 {
		frame.flags |= ftraceNotTimed
	}
	if f.flags&ftraceReceives != 0 && n > 0 {
		frame.object = uint64(uintptr(efaceOf(first).data))
	}
}

// ftracePlainExit notes that the call of f returns, as ftraceLeft does, or returns false.
func ftracePlainExit(f *ftraceFunc, offset uintptr, first *any, n int) bool {
	gp := getg()
	t := gp.ftrace
	if t == nil || !t.asUsual(gp) || t.depth == 0 {
		return false
	}
	frame := t.top.below()
	if frame.fn != f || frame.sp != offset || frame.flags&^ftraceNotTimed != ftraceAtReturns || frame.place.ticks == 0 || frame.shown >= ftraceDepthMost {
		return false
	}
	w, records, on := gp.m.p.ptr().ftrace, ftraceRecording.on, ftraceConsumers()
	if w == nil {
		return false
	}
	if records {
		if w.pos >= w.limit || frame.clause.Detail > ftrace_rule_Args || frame.clause.Capture != "" {
			return false
		}
	} else if on == 0 {
		return false
	}
	outcome := uint32(0)
	if f.flags&ftraceMayFail != 0 && n > 0 && (*eface)(add(unsafe.Pointer(first), uintptr(n-1)*unsafe.Sizeof(*first)))._type != nil {
		outcome = ftraceCallFailed
	}
	size := uintptr(0)
	if records {
		if frame.clause.Detail != ftrace_rule_Args {
			n = 0
		}
		size = w.note(frame, ftraceKindExit, &f.exitLayouts, first, n)
	}
	now, where := w.tick(t, frame.flags), uint64(ftraceNowhere)
	if records {
		where = w.noted(now, size)
	}
	if on != 0 {
		ftraceConsume(gp, t, w, frame, outcome, on, now, where)
	}
	t.top = frame
	t.depth--
	t.shown = frame.shown
	return true
}

// tick is now for who must not leave the processor.
//
//go:nosplit
func (w *ftraceWriter) tick(t *ftraceG, flags uint32) uint64 {
	now := t.last + 1
	if flags&ftraceNotTimed == 0 {
		if ftraceTimer != ftraceTimerCycle {
			mp := acquirem()
			w.now(t, flags)
			releasem(mp)
			return w.last
		}
		now = ftraceCycles()
	}
	w.last = max(w.last, now)
	t.last = w.last
	return w.last
}

// note writes the record of the entry or the exit of the call of frame, with its n parameters or results, but for its time. It returns the record's size.
//
//go:nosplit
func (w *ftraceWriter) note(frame *ftraceFrame, kind uint64, known *ftraceKnownLayouts, first *any, n int) (size uintptr) {
	r := add(unsafe.Pointer(w.chunk), w.pos)
	sys.Prefetch(uintptr(r) + ftracePrefetch)
	*(*uint64)(add(r, 16)) = getg().goid
	size = ftraceRecordSize
	if kind == ftraceKindEntry {
		*(*uint64)(add(r, ftraceRecordSize)) = uint64(frame.count) | uint64(frame.flags&ftraceNotTimed)*(ftraceCallUntimed/ftraceNotTimed)
		size = ftraceRecordSize + 8
	}
	if n > 0 {
		kind++ // of an entry or exit with values
		p := add(r, size)
		l := (*ftraceLayout)(atomic.Loadp(unsafe.Pointer(&known.first)))
		if l == nil || int(l.words) != n {
			return w.noteAny(frame, kind, known, p, first, n)
		}
		*(*uint64)(p) = uint64(l.id) | uint64(n)<<35
		value, typ, word, boxed := unsafe.Pointer(first), unsafe.Pointer(l.typ(0)), add(p, 8), l.boxed
		for left := n; left > 0; left-- {
			e := (*eface)(value)
			if e._type != *(**_type)(typ) {
				return w.noteAny(frame, kind, known, p, first, n)
			}
			v := uintptr(e.data)
			if boxed&1 != 0 {
				v = *(*uintptr)(e.data)
			}
			*(*uintptr)(word) = v
			value, typ, word, boxed = add(value, unsafe.Sizeof(*e)), add(typ, goarch.PtrSize), add(word, 8), boxed>>1
		}
		size += 8 + uintptr(n)*8
	}
	*(*uint64)(add(r, 8)) = kind | uint64(size/8)<<8 | uint64(frame.shown)<<16 | uint64(frame.key)<<32
	return size
}

// noteAny completes note with values of any kind, which go to p.
//
//go:nosplit
func (w *ftraceWriter) noteAny(frame *ftraceFrame, kind uint64, known *ftraceKnownLayouts, p unsafe.Pointer, first *any, n int) uintptr {
	mp := acquirem()
	r, values := add(unsafe.Pointer(w.chunk), w.pos), unsafe.Slice(first, n)
	size := uintptr(p) - uintptr(r)
	if l := known.find(values, 0, nil, n); l != nil {
		size += l.capture(p, (*ftraceEvent)(r), values)
	} else {
		kind-- // there are too many layouts
	}
	*(*uint64)(add(r, 8)) = kind | uint64((size+7)/8)<<8 | uint64(frame.shown)<<16 | uint64(frame.key)<<32
	releasem(mp)
	return size
}

// noted completes the record with its time, and returns where it is.
//
//go:nosplit
func (w *ftraceWriter) noted(now uint64, size uintptr) (where uint64) {
	*(*uint64)(add(unsafe.Pointer(w.chunk), w.pos)) = now
	where = w.where | uint64(w.pos/8)<<48
	ftraceStore64(&w.chunk.content, uint64(w.pos+size)*8)
	w.pos += (size + 7) &^ 7
	return where
}
