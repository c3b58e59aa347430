//go:build ftrace_core

// The fast path: for a call that is recorded, or kept by the consumers, and needs no other decision
// and no line. Most calls are such while a program is recorded. What ftraceBeginCall and
// ftraceExitSlow do for it is here in one piece, since most of the cost of a call there is handing
// values from one function to the next.
//
// Each step checks that all is as usual. If not, it leaves the call to the slow path before it has
// changed anything. A call can begin on one path and end on the other.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// fastClause returns the clause by which all calls of f are noted without being shown, if its hook
// is on for no other reason; otherwise nil.
func (l *ftraceLaid) fastClause(f *ftraceFunc) *ftrace_rule_Clause {
	if l == nil || l.clause == nil || ftraceOut.on || ftraceShaking != 0 || f.mocks != nil || f.flags&(ftraceIsProbe|ftraceIsSpan|ftraceHasSecrets) != 0 {
		return nil
	}
	if l.others != nil || l.marks|l.triggers|l.in|l.after|l.flags&(ftraceSwitchedOff|ftraceMaskedOff) != 0 {
		return nil
	}
	if !ftraceIsPlain(l.clause) {
		return nil
	}
	return l.clause
}

// ftraceEntryFast is called at the entry of an armed function, whose stack frame is at offset below
// the stack's top. Its n parameters begin at first. It notes that the call begins, or leaves that
// to ftraceEntrySlow, and returns what that returns. result is nil if the function has deferred
// calls.
//
// After its first instructions nothing takes the goroutine off its processor, whose writer this and
// ftraceExitFast use. Code of this package is preempted only where it calls a function that is not
// nosplit. So everything they call is nosplit, even what is always inlined, for with
// -gcflags=all=-l nothing is.
//
// The cost of a call is the number of instructions here. So each word is written on its own: the
// processor waits for what is put together elsewhere and then copied. And what is used after a call
// of a function, such as the one that reads the time, is loaded again there: what lives across the
// call would go to the stack even where the call is not made.
func ftraceEntryFast(f *ftraceFunc, offset uintptr, first *any, n int, result *any) (token int) {
	gp := getg()
	t, clause := gp.ftrace, (*ftrace_rule_Clause)(atomic.Loadp(unsafe.Pointer(&f.fast)))
	if clause == nil || t == nil || !t.asUsual(gp) || t.labels != uintptr(gp.labels) {
		return ftraceEntrySlow(f, offset, first, n, result)
	}
	frame := t.top
	// At or above full, a deeper call's number does not fit into a record; the slow path reports
	// that.
	if uintptr(unsafe.Pointer(frame)) >= uintptr(unsafe.Pointer(t.full)) || t.depth > 0 && frame.below().sp > offset {
		return ftraceEntrySlow(f, offset, first, n, result)
	}
	w := gp.m.p.ptr().ftrace
	if w == nil {
		return ftraceEntrySlow(f, offset, first, n, result)
	}
	records := ftraceRecording.on
	if records {
		if !t.recorded || w.pos >= w.limit {
			return ftraceEntrySlow(f, offset, first, n, result)
		}
	} else if ftraceConsumers() == 0 {
		return ftraceEntrySlow(f, offset, first, n, result)
	}
	if f.count >= atomic.Loaduintptr(&f.limit) {
		return ftraceEntryAtLimit(f, w, offset, first, n, result)
	}
	count := atomic.Xadduintptr(&f.count, 1)
	w.noted++
	frame.begin()
	frame.fn = ftraceFuncPtr(unsafe.Pointer(f))
	frame.clause = ftraceClausePtr(unsafe.Pointer(clause))
	known := f.keyAndFlags()
	*(*uint64)(unsafe.Pointer(&frame.Key)) = known
	frame.sp, frame.Count, frame.shown = offset, uint64(count), t.shown
	t.events++
	frame.Event = t.events
	t.top = frame.above()
	t.depth++
	t.shown++
	if known&(ftraceReceives<<32) != 0 && n > 0 {
		frame.Object = uint64(uintptr(efaceOf(first).data))
	}
	size := uintptr(0)
	if !records {
		frame.Place.Where = ftrace_format_Nowhere
	} else {
		r := w.next()
		frame.Place.Where = w.placed(0)
		head := ftrace_format_KindEntry | uint64(frame.shown)<<16
		size = ftraceRecordSize
		if number := uint64(count); known&(ftrace_format_FrameNotTimed<<32) == 0 && number>>32 == 0 {
			*(*uint64)(unsafe.Pointer(&r.Function)) = known&(1<<32-1) | number<<32
		} else {
			r.Function = frame.Key
			head, size = head+(ftrace_format_KindEntryLong-ftrace_format_KindEntry), r.long(number|known&(ftrace_format_FrameNotTimed<<32)*(ftrace_format_Untimed/(ftrace_format_FrameNotTimed<<32)))
		}
		values := add(unsafe.Pointer(r), size)
		if n == 0 || clause.Detail != ftrace_rule_Args {
			r.head(head, size)
		} else if l := f.entryLayouts.usual(); n == 1 && l.fits(first, 1) && atomic.Load(&l.implied) != ftraceImpliedUnknown {
			if l.isImplied() && size == ftraceRecordSize {
				*(*uintptr)(values) = l.first(first)
				size = r.words(head+(ftrace_format_KindEntryWords-ftrace_format_KindEntry), size, 1)
			} else {
				size = r.head(head+1, size+l.writeFirst(values, first))
			}
		} else {
			size = r.write(frame, head, values, &f.entryLayouts, 0, first, n)
			t, w = getg().ftrace, getg().m.p.ptr().ftrace
			frame = t.top.below()
		}
	}
	now := uint64(0)
	if known&(ftrace_format_FrameNotTimed<<32) != 0 {
		now = t.last + 1
	} else {
		if now = ftraceCycles(); ftraceTimer != ftrace_format_TimerCycle {
			now = ftraceReadTimer(ftraceTimer)
		}
		t, w = getg().ftrace, getg().m.p.ptr().ftrace
		frame = t.top.below()
	}
	frame.Place.Ticks = w.complete(t, now, size)
	return int(t.depth)
}

// ftraceExitFast is called when a call of f ends whose stack frame is at offset. It notes that the
// call ends, or leaves that to ftraceExitSlow.
//
// With ftrace_format_FrameAtReturns in how, the function is about to return, and its n results
// begin at first. Otherwise it has deferred calls, how is 0, and first has pointers to the results.
func ftraceExitFast(f *ftraceFunc, offset uintptr, how uint32, first *any, n int) {
	gp := getg()
	t, clause := gp.ftrace, (*ftrace_rule_Clause)(atomic.Loadp(unsafe.Pointer(&f.fast)))
	if clause == nil || t == nil || !t.asUsual(gp) || t.depth == 0 {
		ftraceExitSlow(f, offset, how, first, n)
		return
	}
	frame := t.top.below()
	const noted = ^uint64(ftrace_format_FrameAtReturns << 32) // all but this flag is as ftraceEntryFast left it
	known := f.keyAndFlags()
	if (frame.keyAndFlags()^known)&noted != 0 || frame.sp != offset || frame.clause != ftraceClausePtr(unsafe.Pointer(clause)) || frame.Place.Ticks == 0 || frame.shown >= ftrace_format_DepthMax {
		ftraceExitSlow(f, offset, how, first, n)
		return
	}
	w := gp.m.p.ptr().ftrace
	if w == nil {
		ftraceExitSlow(f, offset, how, first, n)
		return
	}
	records := ftraceRecording.on
	if records {
		if w.pos >= w.limit {
			ftraceExitSlow(f, offset, how, first, n)
			return
		}
	} else if ftraceConsumers() == 0 {
		ftraceExitSlow(f, offset, how, first, n)
		return
	}
	outcome := uint32(0)
	if known&(ftraceMayFail<<32) != 0 && n > 0 {
		last := (*eface)(add(unsafe.Pointer(first), uintptr(n-1)*unsafe.Sizeof(*first)))
		if how != 0 && last._type != nil || how == 0 && *(*unsafe.Pointer)(last.data) != nil {
			outcome = ftrace_format_CallFailed
		}
	}
	size := uintptr(0)
	if records {
		r := w.next()
		head := uint64(ftrace_format_KindExitNear)
		size = ftrace_format_RecordNear
		// Places in one chunk differ by their offsets alone. One of an earlier recording may seem
		// to be in this chunk, too, but is older.
		if back := w.placed(0) - frame.Place.Where; back<<16 == 0 && frame.Place.Ticks >= w.chunk.Begin {
			head |= back >> ftrace_format_PlaceOffset << 16
		} else {
			head, size = ftrace_format_KindExit|uint64(frame.shown)<<16, ftraceRecordSize
			r.Function, r.Call = frame.Key, 0
		}
		values := add(unsafe.Pointer(r), size)
		if n == 0 || clause.Detail != ftrace_rule_Args {
			r.head(head, size)
		} else if l := f.exitLayouts.usual(); n == 1 && l.fits(first, 1) && atomic.Load(&l.implied) != ftraceImpliedUnknown {
			if l.isImplied() && size == ftrace_format_RecordNear {
				*(*uintptr)(values) = l.first(first)
				size = r.words(head+(ftrace_format_KindExitWords-ftrace_format_KindExitNear), size, 1)
			} else {
				size = r.head(head+1, size+l.writeFirst(values, first))
			}
		} else {
			flags := uint32(0)
			if how == 0 {
				flags = ftraceLayoutPointers
			}
			size = r.write(frame, head, values, &f.exitLayouts, flags, first, n)
			t, w = getg().ftrace, getg().m.p.ptr().ftrace
			frame = t.top.below()
		}
	}
	now := uint64(0)
	if known&(ftrace_format_FrameNotTimed<<32) != 0 {
		now = t.last + 1
	} else {
		if now = ftraceCycles(); ftraceTimer != ftrace_format_TimerCycle {
			now = ftraceReadTimer(ftraceTimer)
		}
		t, w = getg().ftrace, getg().m.p.ptr().ftrace
		frame = t.top.below()
	}
	now = w.complete(t, now, size)
	if on := ftraceConsumers(); on != 0 {
		where := uint64(ftrace_format_Nowhere)
		if size != 0 {
			where = w.placed(size)
		}
		ftraceConsume(getg(), t, w, frame, outcome, on, now, where)
		t = getg().ftrace
		frame = t.top.below()
	}
	if frame.Object|frame.Within != 0 {
		frame.Object, frame.Within = 0, 0 // as in frames that are not in use
	}
	t.top = frame
	t.depth--
	t.shown = frame.shown
}

// next begins a record of this goroutine.
//
//go:nosplit
func (w *ftraceWriter) next() *ftraceEvent {
	if goroutine := getg().goid; w.turn.goroutine != goroutine {
		w.turnTo(goroutine, w.last)
	}
	r := (*ftraceEvent)(add(unsafe.Pointer(w.chunk), w.pos))
	sys.Prefetch(uintptr(unsafe.Pointer(r)) + ftracePrefetch)
	return r
}

// head sets the record's kind and depth, which are in head as in a record, and its size, which it
// returns.
//
//go:nosplit
func (r *ftraceEvent) head(head uint64, size uintptr) uintptr {
	*(*uint32)(unsafe.Pointer(&r.Kind)) = uint32(head) | uint32(size+7)/8<<8
	return size
}

// words is head for a record of n values that are words, and have no layout before them. size is
// that of the record without them.
//
//go:nosplit
func (r *ftraceEvent) words(head uint64, size uintptr, n int) uintptr {
	*(*uint32)(unsafe.Pointer(&r.Kind)) = uint32(head) | uint32(n)<<8
	return size + 8*uintptr(n)
}

// placed returns where the last record is, which has that size.
//
//go:nosplit
func (w *ftraceWriter) placed(size uintptr) (where uint64) {
	return w.where | uint64(w.pos-(size+7)&^7)<<(ftrace_format_PlaceOffset-3)
}

// complete sets the time of the record of that size, if there is one. It returns that time: now, or
// later if what was noted last is.
//
//go:nosplit
func (w *ftraceWriter) complete(t *ftraceG, now uint64, size uintptr) uint64 {
	now = t.after(max(now, w.last))
	t.last, w.last = now, now
	if size != 0 {
		if now-w.turn.ticks >= 1<<32 {
			w.late(now, size)
		}
		chunk, pos := w.chunk, w.pos
		*(*uint32)(add(unsafe.Pointer(chunk), pos)) = uint32(now)
		ftraceStore64(&chunk.Content, uint64(pos+size)*8)
		w.pos = pos + (size+7)&^7
	}
	return now
}

// late records a turn in front of the record of that size, which is about to be completed. The
// record moves, so an exit is farther from its entry, and the frame of a call that begins is told
// where its entry is.
//
//go:nosplit
//go:noinline
func (w *ftraceWriter) late(now uint64, size uintptr) {
	r := (*ftraceEvent)(add(unsafe.Pointer(w.chunk), w.pos))
	switch r.Kind {
	case ftrace_format_KindExitNear, ftrace_format_KindExitNearResults, ftrace_format_KindExitWords:
		r.Depth += ftrace_format_TurnSize / 8
	case ftrace_format_KindEntry, ftrace_format_KindEntryArgs, ftrace_format_KindEntryLong, ftrace_format_KindEntryLongArgs, ftrace_format_KindEntryWords:
		getg().ftrace.top.below().Place.Where += ftrace_format_TurnSize / 8 << ftrace_format_PlaceOffset
	}
	memmove(add(unsafe.Pointer(r), ftrace_format_TurnSize), unsafe.Pointer(r), size)
	w.turnTo(w.turn.goroutine, now)
}

// usual returns the layout that the values mostly have, or nil.
//
//go:nosplit
func (known *ftraceKnownLayouts) usual() *ftraceLayout {
	return (*ftraceLayout)(atomic.Loadp(unsafe.Pointer(&known.first)))
}

// fits reports whether l is not nil and the n values, at least one, are words, the first of them of
// its type in l.
//
//go:nosplit
func (l *ftraceLayout) fits(first *any, n int) bool {
	return l != nil && int(l.words) == n && efaceOf(first)._type == *l.typ(0)
}

// isImplied reports whether records leave out the layout, whose values are words.
//
//go:nosplit
func (l *ftraceLayout) isImplied() bool { return atomic.Load(&l.implied) == ftraceImpliedYes }

// first returns the first of the values, which are words.
//
//go:nosplit
func (l *ftraceLayout) first(first *any) uintptr {
	if l.boxed&1 != 0 {
		return *(*uintptr)(efaceOf(first).data)
	}
	return uintptr(efaceOf(first).data)
}

// writeFirst writes the values' layout, their size and the first one at p. It returns how many
// bytes that is.
//
//go:nosplit
func (l *ftraceLayout) writeFirst(p unsafe.Pointer, first *any) uintptr {
	*(*uint64)(p) = l.head
	*(*uintptr)(add(p, 8)) = l.first(first)
	return 8 + 8
}

// writeMore writes the other values after the first, which goes to p. It returns false if they are
// not of the layout's types.
//
//go:nosplit
func (l *ftraceLayout) writeMore(p unsafe.Pointer, first *any, n int) bool {
	typ, boxed := l.typ(0), l.boxed
	for range n - 1 {
		first, typ, boxed, p = (*any)(add(unsafe.Pointer(first), unsafe.Sizeof(*first))), (**_type)(add(unsafe.Pointer(typ), goarch.PtrSize)), boxed>>1, add(p, 8)
		e := efaceOf(first)
		if e._type != *typ {
			return false
		}
		v := uintptr(e.data)
		if boxed&1 != 0 {
			v = *(*uintptr)(e.data)
		}
		*(*uintptr)(p) = v
	}
	return true
}

// write writes n values, at least one, at p, and the record's head. The kind in head is that of a
// record without values; write turns it into the one with values, or with words. It returns the
// record's size. A layout of words is asked once whether records may leave it out.
//
//go:nosplit
func (r *ftraceEvent) write(frame *ftraceFrame, head uint64, p unsafe.Pointer, known *ftraceKnownLayouts, flags uint32, first *any, n int) (size uintptr) {
	size = uintptr(p) - uintptr(unsafe.Pointer(r))
	if l := known.usual(); l.fits(first, n) {
		words, to := uint64(0), add(p, 8) // what makes head's kind that of words
		if l.isImplied() {
			switch uint8(head) {
			case ftrace_format_KindEntry:
				words, to = ftrace_format_KindEntryWords-ftrace_format_KindEntry, p
			case ftrace_format_KindExitNear:
				words, to = ftrace_format_KindExitWords-ftrace_format_KindExitNear, p
			}
		}
		if l.writeMore(to, first, n) {
			if words != 0 {
				*(*uintptr)(p) = l.first(first)
				return r.words(head+words, size, n)
			}
			l.writeFirst(p, first)
			if atomic.Load(&l.implied) == ftraceImpliedUnknown {
				mp := acquirem()
				l.tryImplied(frame.fn.ptr(), known == &frame.fn.ptr().exitLayouts)
				releasem(mp)
			}
			return r.head(head+1, size+8+8*uintptr(n))
		}
	}
	mp := acquirem()
	values := unsafe.Slice(first, n)
	if l := known.find(values, flags|frame.clause.ptr().Own<<ftraceOfRedaction, nil, n); l != nil {
		head++
		size += l.capture(p, r, values)
	} // else there are too many layouts
	r.head(head, size)
	releasem(mp)
	return size
}
