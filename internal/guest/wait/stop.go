//go:build ftrace_core

// What happens where a goroutine stops, is made runnable, and goes on.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceWaitG is what a goroutine notes of its wait. It is part of the goroutine, since one that
// has called no armed function has nothing else.
type ftraceWaitG struct {
	begin    uint64 // ticks when it stopped, 0: the wait is not observed
	ready    uint64 // ticks when it was made runnable
	object   uintptr
	by       uint64 // the goroutine that made it runnable, 0: none did
	byCall   uint64 // in which call of which function
	byKey    uint32
	kind     uint8
	hasFrame bool // it has a frame while it lasts
	notes    bool // the object is what the code before gopark noted
	prints   bool // gopark has not returned yet, so the goroutine must not call it
}

// ftraceStops is called by gopark before the goroutine stops. The runtime holds locks there, such
// as that of a channel. So nothing here may allocate, take a lock or split the stack.
//
//go:nosplit
func ftraceStops(lock unsafe.Pointer, reason waitReason) {
	gp := getg()
	w, mp, t := &gp.ftraceWait, gp.m, gp.ftrace
	object, noted := w.object, w.notes
	w.object, w.notes = 0, false
	kind := ftraceWaits.kinds[reason]
	if kind >= ftraceWaitKinds {
		return
	}
	if kind == ftraceWaitSocket && noted {
		kind = w.kind
	}
	f := ftraceWaitKind(kind)
	// Whether it is sync.Once that locks a mutex is found out when the goroutine goes on.
	observed := f.hook._type != nil || kind == ftraceWaitMutex && ftraceWaitKind(ftraceWaitOnce).hook._type != nil
	if !observed || mp.mallocing != 0 || mp.dying != 0 || gp.throwsplit || gp.ftraceMock.quiet {
		return
	}
	if t != nil && (t.busy != 0 || t.muted) {
		return
	}
	switch {
	case noted:
		w.object = object - uintptr(ftraceWaits.within[reason])
	case lock == nil:
	case kind == ftraceWaitReceive || kind == ftraceWaitSend:
		w.object = uintptr(lock) - unsafe.Offsetof(hchan{}.lock)
	case kind == ftraceWaitCond:
		w.object = uintptr(lock) - unsafe.Offsetof(notifyList{}.lock) - uintptr(ftraceWaits.within[reason])
	}
	w.kind, w.ready, w.by, w.byCall, w.byKey, w.hasFrame = kind, 0, 0, 0, 0, false
	w.begin = max(ftraceOtherTicks(), 1)
	if t != nil && t.depth < t.size {
		w.push(t, f, w.begin)
	}
}

// ftracePolls is called before a goroutine stops until the file of pd is ready. It notes the
// descriptor, and of what kind the file is, which pd keeps.
func ftracePolls(pd *pollDesc) {
	if pd.ftraceKind == 0 {
		pd.ftraceKind = 1 + ftracePollKind(int32(pd.fd))
	}
	w := &getg().ftraceWait
	w.object, w.kind, w.notes = pd.fd, pd.ftraceKind-1, true
}

// ftracePollKind returns the kind of waits for a file.
func ftracePollKind(fd int32) uint8 {
	stat, ok := ftraceStatus(fd)
	switch {
	case ok && stat.Mode&0o170000 == 0o010000:
		return ftraceWaitPipe
	case ok && stat.Mode&0o170000 != 0o140000:
		return ftraceWaitFile
	}
	return ftraceWaitSocket
}

// ftraceAcquires is called before a goroutine stops until the semaphore at addr is released.
//
//go:nosplit
func ftraceAcquires(addr *uint32) {
	w := &getg().ftraceWait
	w.object, w.notes = uintptr(unsafe.Pointer(addr)), true
}

// push gives the wait a frame, which shows to those who look at the goroutine meanwhile that it
// waits.
//
//go:nosplit
func (w *ftraceWaitG) push(t *ftraceG, f *ftraceFunc, began uint64) {
	frame := t.top
	frame.begin()
	t.events++
	frame.fn, frame.clause, frame.Key, frame.Flags = ftraceFuncPtr(unsafe.Pointer(f)), 0, f.key, f.flags&ftrace_format_FrameNotTimed
	frame.Event, frame.Count, frame.Object = t.events, 0, uint64(w.object)
	frame.sp, frame.Mask, frame.shown = 0, t.mask, t.shown
	frame.Place = ftrace_format_Place{max(began, t.last), ftrace_format_Nowhere}
	t.top = frame.above()
	t.depth++
	w.hasFrame = true
}

// ftraceReadied is called when gp, whose wait is observed, is about to be made runnable.
//
//go:nosplit
func ftraceReadied(gp *g) {
	w := &gp.ftraceWait
	w.ready = ftraceOtherTicks()
	by := getg().m.curg // nil where the scheduler runs timers, or looks at the network
	if by == nil || by == gp {
		return
	}
	w.by = by.goid
	if t := by.ftrace; t != nil && t.depth > 0 {
		if top := t.top.below(); top.fn.ptr().flags&ftraceIsWait == 0 {
			w.byKey, w.byCall = top.Key, top.Count
		}
	}
}

// ftraceGoesOn is called by gopark when a goroutine goes on whose wait is observed.
func ftraceGoesOn() {
	gp := getg()
	w, t := &gp.ftraceWait, gp.ftrace
	began := w.begin
	w.begin = 0
	if w.hasFrame {
		// Whatever comes: the goroutine waits no longer.
		t.top = t.top.below()
		t.depth--
		t.top.Object = 0
	}
	if !ftraceMayTrace(gp) || t != nil && (t.busy != 0 || t.muted) {
		return
	}
	if w.kind == ftraceWaitSelect && gp.param != nil {
		w.object = ftraceChanOf((*sudog)(gp.param))
	}
	var site ftraceSite
	kept := ftraceRecording.on || ftraceWaitConsumers()&(ftrace_format_ConsumerHistory|ftrace_format_ConsumerHistoryLong) != 0
	if kept || w.kind == ftraceWaitMutex {
		if site = ftraceSiteOf(gp, getfp(), kept); site.once && w.kind == ftraceWaitMutex {
			w.kind = ftraceWaitOnce
			w.object -= unsafe.Sizeof(uint32(0)) // its mutex follows a word
		}
	}
	f := ftraceWaitKind(w.kind)
	if f.hook._type == nil {
		return
	}
	count := atomic.Xadduintptr(&f.count, 1)
	if clause := (*ftrace_rule_Clause)(atomic.Loadp(unsafe.Pointer(&f.fast))); clause != nil && clause.Min == 0 && t != nil && t.labels == uintptr(gp.labels) {
		w.keep(gp, t, f, began, count, site)
		return
	}
	if t == nil || t.labels != uintptr(gp.labels) {
		if t = ftraceActorOf(gp); t != nil && t.muted {
			return
		}
	}
	laid := f.loadLaid()
	if laid == nil || count > laid.until {
		return
	}
	if t == nil {
		if t = ftraceNewG(); t == nil {
			atomic.Xadd(&ftraceLost, 1)
			return
		}
		t.goroutine, t.start, t.labels = gp.goid, uint64(gp.startpc), uintptr(gp.labels)
		gp.ftrace = t
	}
	if t.config != laid.config.number {
		t.remark(laid.config)
	}
	clause := laid.shows(f, t.mask, t.shown, count)
	if clause == nil || clause.Min > 0 && int64(ftraceNanoseconds(ftraceTicks()-began)) < clause.Min {
		return
	}
	now := w.keep(gp, t, f, began, count, site)
	if ftraceOut.on {
		t.busy++
		w.prints = true
		w.print(gp, t, f, began, now, count)
		w.prints = false
		t.busy--
	}
}

// keep records the wait, and passes it to the consumers. It returns the ticks of its end.
func (w *ftraceWaitG) keep(gp *g, t *ftraceG, f *ftraceFunc, began uint64, count uintptr, site ftraceSite) (now uint64) {
	records, on := ftraceRecording.on, ftraceWaitConsumers()
	if !records && on == 0 {
		return ftraceTicks()
	}
	if t.depth == t.size && !t.grow() {
		atomic.Xadd(&ftraceLost, 1)
		return ftraceTicks()
	}
	mp := acquirem()
	writer := ftraceWriterOf(mp)
	if writer == nil {
		releasem(mp)
		return ftraceTicks()
	}
	if !w.hasFrame {
		w.push(t, f, began)
	} else { // it is still as it was, above the top
		t.top = t.top.above()
		t.depth++
	}
	frame := t.top.below()
	frame.fn, frame.Key = ftraceFuncPtr(unsafe.Pointer(f)), f.key
	frame.Count, frame.Object = uint64(count), uint64(w.object)
	now = writer.now(t, 0)
	if records && writer.room(mp) {
		if !t.recorded {
			writer.goroutine(gp, t)
		}
		now = writer.last // which is later if a chunk was begun
		t.last = now
		w.record(gp, writer, f, began, t.shown, uint64(count), site)
	}
	if on != 0 {
		w.consume(gp, t, writer, frame, site.number, on, now)
	}
	t.top = frame
	t.depth--
	frame.Object = 0
	releasem(mp)
	return now
}

// record records the wait. The writer has room.
func (w *ftraceWaitG) record(gp *g, writer *ftraceWriter, f *ftraceFunc, began uint64, depth int32, count uint64, site ftraceSite) {
	r := writer.begin(gp, ftrace_format_KindWait, f, depth)
	*(*ftrace_format_Wait)(add(unsafe.Pointer(r), ftraceRecordSize)) = ftrace_format_Wait{
		count, began, min(w.ready, r.Ticks), uint64(w.object), w.by, w.byCall, w.byKey, site.number,
	}
	writer.end(r, ftraceRecordSize+unsafe.Sizeof(ftrace_format_Wait{}))
}

// ftraceRecordWaits records the waits under way, when the recording is about to end.
func ftraceRecordWaits() {
	if atomic.Load(&ftraceWaits.on) == 0 {
		return
	}
	forEachGRace(func(gp *g) {
		if readgstatus(gp) != _Gwaiting || gp.ftraceWait.begin == 0 {
			return
		}
		mp := acquirem() // others spin until it is let go
		if !castogscanstatus(gp, _Gwaiting, _Gscanwaiting) {
			releasem(mp)
			return
		}
		// It stays where it is meanwhile, and its stack does.
		w, depth := gp.ftraceWait, int32(0)
		if t := gp.ftrace; t != nil {
			depth = t.shown
		}
		var pcs ftracePCs
		pcs.read(gp, gp.sched.bp)
		casfrom_Gscanstatus(gp, _Gscanwaiting, _Gwaiting)
		releasem(mp)
		if w.begin == 0 {
			return
		}
		site := pcs.site(true)
		if site.once && w.kind == ftraceWaitMutex {
			w.kind = ftraceWaitOnce
		}
		mp = acquirem()
		if writer := ftraceRecorder(mp); writer != nil {
			w.record(gp, writer, ftraceWaitKind(w.kind), w.begin, depth, 0, site)
		}
		releasem(mp)
	})
}

// ftraceChanOf returns the address of the channel that a goroutine waited for.
func ftraceChanOf(s *sudog) uintptr {
	// Its last word is the address: since Go 1.26 there is another before it, for the collector.
	return *(*uintptr)(add(unsafe.Pointer(&s.c), unsafe.Sizeof(s.c)-unsafe.Sizeof(uintptr(0))))
}
