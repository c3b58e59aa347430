//go:build ftrace_core

// What happens where a goroutine stops, is made runnable, and goes on.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceWaitG is what a goroutine notes of its wait. It is part of the goroutine, since one that
// has called no armed function has nothing else.
type ftraceWaitG struct {
	begin    uint64 // ticks when it stopped, 0: the wait is not observed
	ready    uint64 // ticks when it was made runnable
	object   uint64
	by       uint64 // the goroutine that made it runnable, 0: none did
	byCall   uint64 // in which call of which function
	byKey    uint32
	kind     uint8
	how      uint8
	whose    uint8   // ftraceOfProgram and so on
	hasFrame bool    // it has a frame while it lasts
	notes    bool    // the object is the descriptor that the code before gopark noted
	own      bool    // the tracer's own system call, which is no wait of the program
	prints   bool    // it may print, but gopark has not returned yet, so it must not be called
	stuck    bool    // nothing can wake it any more, see share/stuck.go
	at       uintptr // the semaphore, list of a sync.Cond or pollDesc that it waits at, or did last
	seen     int64   // by nanotime, when the collector first saw it wait, if waitsince of its g is not 0
	// Of an operation, see operation.go.
	operating bool   // it is under way
	operation uint64 // what is recorded of it, 0: the wait is none
	runnable  uint64 // ticks that it was runnable so far
}

// How a goroutine stopped.
const (
	ftraceParked = iota // or it yields, or is in a system call: it is where it has called that
	ftracePreempted
	ftraceCreated
)

// ftraceStops is called by gopark before the goroutine stops. The runtime holds locks there, such
// as that of a channel. So nothing here may allocate, take a lock or split the stack.
//
//go:nosplit
func ftraceStops(lock unsafe.Pointer, reason waitReason) {
	gp := getg()
	w, mp, t := &gp.ftraceWait, gp.m, gp.ftrace
	if w.operating {
		return
	}
	object, noted := w.object, w.notes
	w.object, w.notes = 0, false
	kind := ftraceWaits.kinds[reason]
	if kind >= ftraceWaitKinds {
		return
	}
	if kind == ftraceWaitSocketRead && noted {
		kind = w.kind
	}
	f := ftraceWaitKind(kind)
	// What the mutex is in is found out when the goroutine goes on.
	observed := f.hook._type != nil || kind == ftraceWaitMutex && (ftraceWaitKind(ftraceWaitWriteLock).hook._type != nil || ftraceWaitKind(ftraceWaitOnce).hook._type != nil)
	if !observed || mp.mallocing != 0 || mp.dying != 0 || gp.throwsplit || gp.ftraceMock.quiet {
		return
	}
	if t != nil && (t.busy != 0 || t.muted) {
		return
	}
	switch {
	case noted:
		w.object = object
	case kind <= ftraceWaitSemaphore:
		w.object = uint64(w.at - uintptr(ftraceWaits.within[reason]))
	case lock != nil && (kind == ftraceWaitReceive || kind == ftraceWaitSend):
		w.object = uint64(uintptr(lock) - unsafe.Offsetof(hchan{}.lock))
	}
	w.starts(kind, ftraceParked)
	own := f.wantedBy(-1) || kind == ftraceWaitMutex && (ftraceWaitKind(ftraceWaitWriteLock).wantedBy(-1) || ftraceWaitKind(ftraceWaitOnce).wantedBy(-1))
	if own && t != nil && t.depth < t.size {
		w.push(t, f, w.begin)
	}
}

// starts notes that a wait begins now.
//
//go:nosplit
func (w *ftraceWaitG) starts(kind, how uint8) {
	w.kind, w.how, w.ready, w.by, w.byCall, w.byKey, w.hasFrame, w.operation = kind, how, 0, 0, 0, 0, false, 0
	w.begin = max(ftraceTicks(), 1)
}

// ftracePolls is called before a goroutine stops until the file of pd is ready to be read, or if
// mode is 'w' to be written. It notes the descriptor, and of what kind the file is, which pd keeps.
func ftracePolls(pd *pollDesc, mode int32) {
	w := &getg().ftraceWait
	if w.operating {
		return
	}
	class := uint8(ftraceReads)
	if mode == 'w' {
		class = ftraceWrites
	}
	w.object, w.kind, w.notes = uint64(pd.fd), ftraceWaitAt(pd, class), true
}

// ftraceWaitAt returns the kind of the wait for a file to be ready for operations of a class.
func ftraceWaitAt(pd *pollDesc, class uint8) uint8 {
	if pd.ftraceKind == 0 {
		pd.ftraceKind = 1 + ftraceWhatIs(int32(pd.fd), ftraceSocket)
	}
	return ftraceWaitOf(pd.ftraceKind-1, class)
}

// Whose a goroutine is.
const (
	ftraceOfUnknown = iota
	ftraceOfProgram
	ftraceOfRuntime
)

// ofProgram reports whether gp is a goroutine of the program, and not of the runtime. To find out
// takes a while, so it is noted, but not of one that runs finalizers or cleanups now and then.
func (w *ftraceWaitG) ofProgram(gp *g) bool {
	if w.whose == ftraceOfUnknown {
		known := &ftraceWaits.starts[gp.startpc/16%uintptr(len(ftraceWaits.starts))]
		switch {
		case atomic.Loaduintptr(known) == gp.startpc:
			w.whose = ftraceOfProgram
		case !isSystemGoroutine(gp, false):
			w.whose = ftraceOfProgram
			if f := findfunc(gp.startpc); f.valid() && (f.funcID == abi.FuncIDNormal || f.funcID == abi.FuncIDWrapper) {
				atomic.Storeuintptr(known, gp.startpc)
			}
		case isSystemGoroutine(gp, true):
			w.whose = ftraceOfRuntime
		}
	}
	return w.whose == ftraceOfProgram
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
	frame.Event, frame.Count, frame.Object = t.events, w.operation, w.object
	frame.sp, frame.Mask, frame.shown = 0, t.mask, t.shown
	frame.Place = ftrace_format_Place{max(began, t.last), ftrace_format_Nowhere}
	t.top = frame.above()
	t.depth++
	w.hasFrame = true
}

// pop takes the wait's frame off.
//
//go:nosplit
func (w *ftraceWaitG) pop(t *ftraceG) {
	t.top = t.top.below()
	t.depth--
	t.top.Object = 0
}

// ftraceReadied is called when gp, whose wait is observed, is about to be made runnable.
//
//go:nosplit
func ftraceReadied(gp *g) {
	w := &gp.ftraceWait
	if w.ready != 0 {
		return // its wait is over, and it was preempted before that was recorded
	}
	w.ready = ftraceTicks()
	by := getg().m.curg // nil where the scheduler runs timers, or looks at the network
	if by == nil || by == gp || w.kind == ftraceWaitScan {
		return
	}
	w.by = by.goid
	if t := by.ftrace; t != nil {
		if top := t.innermost(); top != nil && top.fn.ptr().flags&ftraceIsWait == 0 {
			w.byKey, w.byCall = top.Key, top.Count
		}
	}
}

// ftraceGoesOn is called by gopark when a goroutine goes on whose wait is observed, and at the end
// of a system call. Until it is done the wait is under way: to be preempted here is part of it.
func ftraceGoesOn() {
	gp := getg()
	w, t := &gp.ftraceWait, gp.ftrace
	if w.operating {
		return // that is part of the operation
	}
	if w.hasFrame {
		w.pop(t) // whatever comes: the goroutine waits no longer
	}
	if ftraceMayTrace(gp) && (t == nil || t.busy == 0 && !t.muted) && w.ofProgram(gp) {
		if w.kind == ftraceWaitSelect && gp.param != nil {
			w.object = uint64(ftraceChanOf((*sudog)(gp.param)))
		}
		var site ftraceSite
		if kept := ftraceKeepsWaits(); kept || w.kind == ftraceWaitMutex {
			if site = ftraceSiteOf(gp, getfp(), kept); w.kind == ftraceWaitMutex {
				w.locks(site)
			}
		}
		if w.object != 0 && w.kind >= ftraceWaitReceive && w.kind <= ftraceWaitSelect && ftraceRecords() {
			ftraceDefineChannel(uintptr(w.object), ftraceKeepersOf(gp, uintptr(w.object)))
		}
		w.prints = true
		if w.kind == ftraceWaitSelect {
			w.selected(gp, site)
		} else {
			w.ended(gp, site, nil)
		}
		w.prints = false
	}
	w.begin = 0
}

// selected is ended of a select, whose channels gp still has.
func (w *ftraceWaitG) selected(gp *g, site ftraceSite) {
	var others ftrace_format_Others
	n, last := 0, uint64(0)
	for s := gp.waiting; s != nil && n < len(others); s = s.waitlink {
		// In the order of their addresses: what is there twice follows itself.
		if channel := uint64(ftraceChanOf(s)); channel != w.object && channel != last {
			others[n], last = channel, channel
			n++
		}
	}
	w.ended(gp, site, others[:n])
}

// locks makes a wait for a mutex one for what the mutex is in, which the site tells.
func (w *ftraceWaitG) locks(site ftraceSite) {
	if w.kind = site.lock; w.kind == ftraceWaitOnce {
		w.object -= uint64(unsafe.Sizeof(uint32(0))) // its mutex follows a word
	}
}

// ftraceKeepsWaits reports whether waits are recorded or kept one by one, with their sites.
func ftraceKeepsWaits() bool {
	return ftraceRecords() || ftraceWaitConsumers()&(ftrace_format_ConsumerHistory|ftrace_format_ConsumerHistoryLong) != 0
}

// ended decides by the rules what becomes of a wait of gp that is over. gp calls it, or else the
// scheduler does, on its own stack, before it lets gp run. A line is printed by gp only. others are
// the channels of a select that did not let gp go on.
func (w *ftraceWaitG) ended(gp *g, site ftraceSite, others []uint64) {
	t, f := gp.ftrace, ftraceWaitKind(w.kind)
	if f.hook._type == nil {
		return
	}
	count := atomic.Xadduintptr(&f.count, 1)
	if clause := (*ftrace_rule_Clause)(atomic.Loadp(unsafe.Pointer(&f.fast))); clause != nil && clause.Min == 0 && t != nil && t.labels == uintptr(gp.labels) {
		w.keep(gp, t, f, count, site, others)
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
		if t = ftraceStateOf(gp); t == nil {
			atomic.Xadd(&ftraceLost, 1)
			return
		}
		t.labels = uintptr(gp.labels)
	}
	if t.config != laid.config.number {
		t.remark(laid.config)
	}
	for o := laid.others; o != nil; o = o.next {
		if w.counts(o.laid.shows(f, t.mask, t.seen[o.session], count)) {
			mp := acquirem()
			if writer, depth := ftraceRecorderFor(gp, mp, t, o.session); writer != nil {
				w.record(gp, writer, f, w.recordKind(others), depth, uint64(count), site, others)
			}
			releasem(mp)
		}
	}
	if !w.counts(laid.shows(f, t.mask, t.shown, count)) {
		return
	}
	now := w.keep(gp, t, f, count, site, others)
	if ftraceOut.on && getg() == gp {
		t.busy++
		w.print(gp, t, f, w.begin, now, count, others)
		t.busy--
	}
}

// counts reports whether the wait, which is over, is long enough for a clause, or nil.
func (w *ftraceWaitG) counts(clause *ftrace_rule_Clause) bool {
	return clause != nil && (clause.Min <= 0 || int64(ftraceNanoseconds(ftraceTicks()-w.begin)) >= clause.Min)
}

// keep records the wait, and passes it to the consumers. It returns the ticks of its end.
func (w *ftraceWaitG) keep(gp *g, t *ftraceG, f *ftraceFunc, count uintptr, site ftraceSite, others []uint64) (now uint64) {
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
		w.push(t, f, w.begin)
	} else { // it is still as it was, above the top
		t.top = t.top.above()
		t.depth++
	}
	frame := t.top.below()
	frame.fn, frame.Key = ftraceFuncPtr(unsafe.Pointer(f)), f.key
	frame.Count, frame.Object = uint64(count), w.object
	now = writer.now(t, 0)
	if records && writer.room(mp) {
		writer.first(gp, t)
		now = writer.last // which is later if a chunk was begun
		t.last = now
		w.record(gp, writer, f, w.recordKind(others), t.shown, uint64(count), site, others)
	}
	if on != 0 {
		w.consume(gp, t, writer, frame, site.number, on, now, others)
	}
	t.top = frame
	t.depth--
	frame.Object = 0
	releasem(mp)
	return now
}

// recordKind returns the kind of a wait's record.
func (w *ftraceWaitG) recordKind(others []uint64) uint8 {
	if len(others) > 0 {
		return ftrace_format_KindSelect
	}
	return ftrace_format_KindWait
}

// record records the wait, with the other channels of a select. The writer has room.
func (w *ftraceWaitG) record(gp *g, writer *ftraceWriter, f *ftraceFunc, kind uint8, depth int32, count uint64, site ftraceSite, others []uint64) {
	r := writer.begin(gp, kind, f, depth)
	*(*ftrace_format_Wait)(add(unsafe.Pointer(r), ftraceRecordSize)) = ftrace_format_Wait{
		count, w.begin, min(w.ready, writer.last), w.object, w.by, w.byCall, w.byKey, site.number, w.operation,
	}
	size := ftraceRecordSize + unsafe.Sizeof(ftrace_format_Wait{})
	if kind != ftrace_format_KindWait {
		*(*uint64)(add(unsafe.Pointer(r), size)) = uint64(len(others))
		size += 8
		for _, channel := range others {
			*(*uint64)(add(unsafe.Pointer(r), size)) = channel
			size += 8
		}
	}
	writer.end(r, size)
}

// ftraceRecordWaits records the waits under way, when a recording is about to end.
func ftraceRecordWaits(s *ftraceStream) {
	if s.on {
		s.recordWaits(ftraceWaitsDue{})
	}
}

// ftraceTellWaits records in files which waits are under way that have lasted for a second, two,
// four and so on. If the program is killed, a reader has no more than that of them.
func ftraceTellWaits() {
	second := 1e9 * (1 << 30) / ftraceNanoseconds(1<<30)
	ftraceRecording.tellWaits(second)
	for i := range ftraceSessions {
		ftraceSessions[i].tellWaits(second)
	}
}

// tellWaits is ftraceTellWaits of one recording.
func (s *ftraceStream) tellWaits(second uint64) {
	if s.on && s.chunks == 0 {
		due := ftraceWaitsDue{ftraceTicks(), s.told, second}
		s.recordWaits(due)
		s.told = due.now
	}
}

// ftraceWaitsDue says which waits under way are to be recorded. The zero value wants all, since the
// recording ends.
type ftraceWaitsDue struct {
	now    uint64 // ticks
	before uint64 // ticks when that was last decided, 0: it never was
	second uint64 // how many ticks a second has
}

// ends reports whether the recording ends.
func (d ftraceWaitsDue) ends() bool { return d.now == 0 }

// wants reports whether a wait that began then is to be recorded.
func (d ftraceWaitsDue) wants(begin uint64) bool {
	if begin == 0 || d.ends() {
		return begin != 0
	}
	seconds := func(now uint64) uint64 { return (max(now, begin) - begin) / d.second }
	return sys.Len64(seconds(d.now)) != sys.Len64(seconds(d.before))
}

// recordWaits records waits under way. What is said of the holders of locks comes first, of all
// goroutines, and then the waits. So a goroutine that is said to hold a lock, and whose wait began
// before that, held it when the waits were recorded.
func (s *ftraceStream) recordWaits(due ftraceWaitsDue) {
	if atomic.Load(&ftraceWaits.on) == 0 {
		return
	}
	session := -1
	if s != &ftraceRecording.ftraceStream {
		session = s.session()
	}
	wanted := due.ends()
	forEachGRace(func(gp *g) { wanted = wanted || due.wants(gp.ftraceWait.begin) })
	if !wanted {
		return
	}
	if !ftraceLocksOff {
		forEachGRace(func(gp *g) { s.recordWaiting(gp, session, true, due) })
	}
	forEachGRace(func(gp *g) { s.recordWaiting(gp, session, false, due) })
	ftraceDefineVariables()
}

// recordWaiting records the wait in which a goroutine is, if it is in one, or who holds the lock
// that it waits for, if that is due.
func (s *ftraceStream) recordWaiting(gp *g, session int, holders bool, due ftraceWaitsDue) {
	status := readgstatus(gp) &^ _Gscan
	if status != _Gwaiting && status != _Gsyscall || !due.wants(gp.ftraceWait.begin) || isSystemGoroutine(gp, false) {
		return
	}
	mp := acquirem() // others spin until it is let go
	if !ftraceHold(gp, status) {
		releasem(mp)
		return
	}
	// It stays where it is meanwhile, and its stack does.
	w, depth := gp.ftraceWait, int32(0)
	var channels [ftraceAwaitedMax]uint64
	n := ftraceAwaitedBy(gp, &channels)
	var keepers [ftraceAwaitedMax]ftraceKeepers
	if !holders && w.kind >= ftraceWaitReceive && w.kind <= ftraceWaitSelect {
		for i, channel := range channels[:n] {
			keepers[i] = ftraceKeepersOf(gp, uintptr(channel))
		}
	}
	if t := gp.ftrace; t != nil {
		if depth = t.shown; session >= 0 {
			depth = t.seen[session]
		}
	}
	var pcs ftracePCs
	w.where(gp, &pcs)
	casfrom_Gscanstatus(gp, status|_Gscan, status)
	releasem(mp)
	if !due.wants(w.begin) || status == _Gsyscall && !w.long() || holders && w.kind > ftraceWaitWriteLock {
		return
	}
	site, mutex := pcs.site(true), w.object
	if w.kind == ftraceWaitMutex {
		w.locks(site)
	}
	f := ftraceWaitKind(w.kind)
	if !f.wantedBy(session) {
		return
	}
	for i, channel := range channels[:n] {
		ftraceDefineChannel(uintptr(channel), keepers[i])
	}
	mp = acquirem()
	writer := (*ftraceWriter)(nil)
	if session < 0 {
		writer = ftraceRecorder(mp)
	} else {
		writer = s.recorder(gp, mp, nil)
	}
	switch {
	case writer == nil:
	case holders:
		writer.holders(gp, f, depth, mutex, w.object)
	default:
		others := channels[:0]
		if w.kind == ftraceWaitSelect && n > 0 {
			w.object, others = channels[0], channels[1:n]
		}
		kind := uint8(ftrace_format_KindWaiting)
		if due.ends() {
			kind = w.recordKind(others)
		}
		w.record(gp, writer, f, kind, depth, 0, site, others)
	}
	releasem(mp)
}

// ftraceHold has gp, which has that status, stay where it is until casfrom_Gscanstatus lets it go.
// It returns false if the status is another. It waits a while for the collector, which may be
// looking at the stack.
func ftraceHold(gp *g, status uint32) bool {
	for range 1000 {
		if castogscanstatus(gp, status, status|_Gscan) {
			return true
		}
		if readgstatus(gp) != status|_Gscan {
			return false
		}
		osyield()
	}
	return false
}

// holders records who holds the lock that gp waits for, which is object or a mutex in it. The
// writer has room.
func (w *ftraceWriter) holders(gp *g, f *ftraceFunc, depth int32, lock, object uint64) {
	n := 0
	for b := (*ftraceHeldLocks)(atomic.Loadp(unsafe.Pointer(&ftraceLocks.all))); b != nil; b = b.next {
		for i := range min(atomic.Load64(&b.n), ftraceLocksMax) {
			h := &b.held[i]
			which := atomic.Load64(&h.lock)
			was := *h
			if which&^ftraceForReading != lock || b.goroutine == gp.goid || atomic.Load64(&h.lock) != which || n == ftraceAwaitedMax {
				continue
			}
			r := w.begin(gp, ftrace_format_KindBlocked, f, depth)
			*(*ftrace_format_Blocked)(add(unsafe.Pointer(r), ftraceRecordSize)) = ftrace_format_Blocked{
				object, b.goroutine, was.call, was.key, was.mode(which), min(was.since, w.last),
			}
			w.end(r, ftraceRecordSize+unsafe.Sizeof(ftrace_format_Blocked{}))
			n++
		}
	}
}

// ftraceAwaits are the objects that a goroutine waits for, one after the other: several channels of
// a select, or one object of another kind.
type ftraceAwaits struct {
	object uintptr // 0: there are no more
	s      *sudog
}

// ftraceAwaitedMax is of how many channels of a select is told, and of how many holders of a lock.
const ftraceAwaitedMax = 1 + ftrace_format_OthersMax

// ftraceAwaitedBy stores the first objects of those that a goroutine waits for, and returns how
// many there are. The goroutine waits, and is held.
func ftraceAwaitedBy(gp *g, objects *[ftraceAwaitedMax]uint64) (n int) {
	for a := ftraceAwaited(gp); a.object != 0 && n < len(objects); a.next() {
		objects[n] = uint64(a.object)
		n++
	}
	return n
}

// ftraceAwaited returns the first object of those that a goroutine waits for: of locks, channels
// and the like. The goroutine waits, and is held.
func ftraceAwaited(gp *g) (a ftraceAwaits) {
	switch kind := ftraceWaits.kinds[gp.waitreason]; {
	case kind <= ftraceWaitSemaphore:
		a.object = gp.ftraceWait.at - min(gp.ftraceWait.at, uintptr(ftraceWaits.within[gp.waitreason]))
	case kind <= ftraceWaitSelect && gp.waiting != nil:
		a.s = gp.waiting
		a.object = ftraceChanOf(a.s)
	}
	return a
}

// next goes on from an object to the next one. A channel that is in a select twice is there once:
// the runtime has channels in the order of their addresses.
func (a *ftraceAwaits) next() {
	for last := a.object; a.object == last; {
		a.object = 0
		if a.s != nil {
			a.s = a.s.waitlink
		}
		if a.s != nil {
			a.object = ftraceChanOf(a.s)
		}
	}
}

// ftraceChanOf returns the address of the channel that a goroutine waited for.
func ftraceChanOf(s *sudog) uintptr {
	// Its last word is the address: since Go 1.26 there is another before it, for the collector.
	return *(*uintptr)(add(unsafe.Pointer(&s.c), unsafe.Sizeof(s.c)-unsafe.Sizeof(uintptr(0))))
}
