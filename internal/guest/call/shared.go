//go:build ftrace_core

// Calls that sessions want to see, besides what the program's own rules say of them: each session
// has rules and a recording of its own.

package runtime

import "unsafe"

// soleEntry notes that a call of f begins, of which one session wants all calls and nobody else
// any. It returns 0, or the number of its frame, from 1 on.
func (t *ftraceG) soleEntry(gp *g, f *ftraceFunc, o *ftraceOther, offset uintptr, args []any, count uintptr, flags uint32) (token int) {
	frame, clause := t.top, o.laid.clause
	if uintptr(unsafe.Pointer(frame)) >= uintptr(unsafe.Pointer(t.full)) || f.replaced() || f.flags&ftraceHasSecrets != 0 {
		return 0
	}
	mp := acquirem()
	if w := o.writer(mp, t); w != nil {
		frame.begin()
		frame.fn, frame.clause, frame.Key, frame.Flags = ftraceFuncPtr(unsafe.Pointer(f)), 0, f.key, flags|ftraceFrameSession<<o.session
		frame.sp, frame.Count, frame.shown = offset, uint64(count), t.shown
		frame.Place, frame.Event = ftrace_format_Place{}, 0
		t.top = frame.above()
		t.depth++
		r, number := w.next(), frame.Count
		if clause.Untimed {
			number |= ftrace_format_Untimed
		}
		size := r.number(number)
		kind := uint64(r.Kind)
		if len(args) > 0 && clause.Detail == ftrace_rule_Args {
			if l := f.entryLayouts.find(args, ftraceLayoutFlags(clause), nil, len(args)); l != nil {
				kind++ // to the kind with values
				size += l.captureSome(add(unsafe.Pointer(r), size), r, args)
			}
		}
		w.sole(t, r, clause, kind, t.seen[o.session], f.key, size)
		t.seen[o.session]++
		w.noted++
		token = int(t.depth)
	}
	releasem(mp)
	return token
}

// soleExit notes that such a call ends. It returns false if it is none, or if anything is unusual.
func (t *ftraceG) soleExit(gp *g, f *ftraceFunc, offset uintptr, how uint32, first *any, n int) (done bool) {
	l, frame := f.loadLaid(), t.top.below()
	if l == nil || l.sole == nil || f.flags&ftraceHasSecrets != 0 || !t.asUsual(gp) || frame.fn != ftraceFuncPtr(unsafe.Pointer(f)) || frame.sp != offset {
		return false
	}
	o, clause := l.sole, l.sole.laid.clause
	if frame.clause != 0 || frame.Flags&^ftrace_format_FrameAtReturns != ftraceFrameSession<<o.session {
		return false
	}
	mp := acquirem()
	if w := o.writer(mp, t); w != nil {
		r, kind := w.next(), uint64(ftrace_format_KindExit)
		r.Call = 0
		size := ftraceRecordSize
		if n > 0 && clause.Detail == ftrace_rule_Args {
			flags, values := ftraceLayoutFlags(clause), unsafe.Slice(first, n)
			if how == 0 {
				flags |= ftraceLayoutPointers
			}
			if l := f.exitLayouts.find(values, flags, nil, n); l != nil {
				kind = ftrace_format_KindExitResults
				size += l.captureSome(add(unsafe.Pointer(r), size), r, values)
			}
		}
		t.seen[o.session]--
		w.sole(t, r, clause, kind, t.seen[o.session], f.key, size)
		frame.Flags &^= ftraceFrameSessions
		t.top = frame
		t.depth--
		done = true
	}
	releasem(mp)
	return done
}

// writer returns the session's writer of the processor on which the goroutine is held, or nil if
// anything but its next record is to be done.
func (o *ftraceOther) writer(mp *m, t *ftraceG) *ftraceWriter {
	s, id := &ftraceSessions[o.session], mp.p.ptr().id
	if !s.on || id >= ftrace_format_ProcessorsMax || t.recordedIn>>o.session&1 == 0 || t.seen[o.session] >= ftrace_format_DepthMax {
		return nil
	}
	if w := s.writers[id]; w != nil && w.pos < w.limit {
		return w
	}
	return nil
}

// captureSome is capture for values, at least one, that are words mostly.
func (l *ftraceLayout) captureSome(p unsafe.Pointer, r *ftraceEvent, values []any) uintptr {
	if n := len(values); int(l.words) == n && l.writeMore(add(p, 8), &values[0], n) {
		return l.writeFirst(p, &values[0]) + 8*uintptr(n-1)
	}
	return l.capture(p, r, values)
}

// sole completes a record of a call.
func (w *ftraceWriter) sole(t *ftraceG, r *ftraceEvent, clause *ftrace_rule_Clause, kind uint64, depth int32, key uint32, size uintptr) {
	r.Function = key
	r.head(kind|uint64(depth)<<16, size)
	now := t.last + 1
	if !clause.Untimed {
		now = ftraceTicks()
	}
	w.complete(t, now, size)
}

// shareEntry records the call of the topmost frame for each session that wants it.
//
//go:noinline
func (t *ftraceG) shareEntry(gp *g, laid *ftraceLaid, frame *ftraceFrame, args []any) {
	t.busy++
	for o := laid.others; o != nil; o = o.next {
		f := frame.fn.ptr()
		clause := o.laid.shows(f, frame.Mask, t.seen[o.session], uintptr(frame.Count))
		if clause == nil {
			continue
		}
		if f.flags&ftraceHasSecrets != 0 {
			t.shareHiding(gp, o.session, clause, frame, args)
		} else {
			t.shareWith(gp, o.session, clause, frame, args)
		}
	}
	t.busy--
}

// shareHiding is shareWith without the secrets of the function.
//
//go:noinline
func (t *ftraceG) shareHiding(gp *g, session int, clause *ftrace_rule_Clause, frame *ftraceFrame, args []any) {
	var room [ftraceValuesMax]any
	t.shareWith(gp, session, clause, frame, frame.fn.ptr().hide((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), args, clause.Own, false, false))
}

// shareWith records the call of frame for a session.
func (t *ftraceG) shareWith(gp *g, session int, clause *ftrace_rule_Clause, frame *ftraceFrame, args []any) {
	var layout *ftraceLayout
	if len(args) > 0 && clause.Detail >= ftrace_rule_Args {
		if clause.Capture != "" {
			t.sharePaths(gp, session, clause, frame, args)
			return
		}
		layout = frame.fn.ptr().entryLayouts.find(args, ftraceLayoutFlags(clause), nil, len(args))
	}
	t.shareRecord(gp, session, clause, frame, layout, args)
}

// sharePaths is shareWith with what paths lead to after the parameters.
//
//go:noinline
func (t *ftraceG) sharePaths(gp *g, session int, clause *ftrace_rule_Clause, frame *ftraceFrame, args []any) {
	var room [ftraceValuesMax]any
	f := frame.fn.ptr()
	paths := ftracePaths{f: f, text: clause.Capture, redaction: clause.Own}
	values := paths.follow((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), args, false)
	t.shareRecord(gp, session, clause, frame, f.entryLayouts.find(values, ftraceLayoutFlags(clause), &paths, min(len(args), len(room))), values)
}

// shareRecord records the call of frame for a session, with values if there is a layout.
func (t *ftraceG) shareRecord(gp *g, session int, clause *ftrace_rule_Clause, frame *ftraceFrame, layout *ftraceLayout, values []any) {
	mp := acquirem()
	if w := ftraceSessions[session].recorder(gp, mp, t); w != nil {
		w.entry(gp, frame, t.seen[session], clause.Untimed || frame.Flags&ftrace_format_FrameAtEnd != 0 && frame.Flags&ftrace_format_FrameNotTimed != 0, layout, values)
		t.seen[session]++
		w.noted++
		frame.Flags |= ftraceFrameSession << session
	}
	releasem(mp)
}

// shareExit records that the call of the topmost frame ends, for each session that saw it begin:
// by p, by the panic that was recovered, or with results.
//
//go:noinline
func (t *ftraceG) shareExit(gp *g, frame *ftraceFrame, results []any, p *_panic) {
	f := frame.fn.ptr()
	t.busy++
	for seen := frame.Flags & ftraceFrameSessions; seen != 0; seen &= seen - 1 {
		session := ftraceSessionOf(seen)
		clause := f.clauseFor(session, frame.Mask)
		if clause != nil && len(results) > 0 && f.flags&ftraceHasSecrets != 0 {
			t.shareExitHiding(gp, session, clause, frame, results, p)
		} else {
			t.shareExitWith(gp, session, clause, frame, results, p)
		}
	}
	t.busy--
}

// shareExitHiding is shareExitWith without the secrets of the function.
//
//go:noinline
func (t *ftraceG) shareExitHiding(gp *g, session int, clause *ftrace_rule_Clause, frame *ftraceFrame, results []any, p *_panic) {
	var room [ftraceValuesMax]any
	t.shareExitWith(gp, session, clause, frame, frame.fn.ptr().hide((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), results, clause.Own, true, frame.Flags&ftrace_format_FrameAtReturns == 0), p)
}

// shareExitWith records for a session that the call of frame ends.
func (t *ftraceG) shareExitWith(gp *g, session int, clause *ftrace_rule_Clause, frame *ftraceFrame, results []any, p *_panic) {
	mp := acquirem()
	if w := ftraceSessions[session].recorder(gp, mp, t); w != nil {
		w.exit(gp, mp, frame, clause, t.seen[session]-1, results, p)
	}
	releasem(mp)
}

// clauseFor returns the clause by which a session sees a call of f with these marks, or nil if it
// has left, or has changed its rules.
func (f *ftraceFunc) clauseFor(session int, mask uint32) *ftrace_rule_Clause {
	l := f.loadLaid()
	if l == nil {
		return nil
	}
	for o := l.others; o != nil; o = o.next {
		switch {
		case o.session != session:
		case o.laid.clause != nil:
			return o.laid.clause
		default:
			return o.laid.treeAround(mask)
		}
	}
	return nil
}
