//go:build ftrace_core

// Goroutines that nothing can wake any more. Who waits for a lock or a channel is woken by someone
// who has a pointer to it. So one is stuck if no pointer leads there from the package variables, or
// from any goroutine that may still run. That is how the garbage collector of newer releases finds
// leaked goroutines (golang/go#74609). This walk does it in all releases, and changes nothing that
// the program can see.
//
// It is conservative: each word of an object that could be a pointer is taken for one. So it may
// overlook a goroutine that is stuck, but each that it finds is.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"unsafe"
)

// ftraceReach is the walk. Its memory is not the heap's.
type ftraceReach struct {
	marked   unsafe.Pointer // a bit for each word of the heap: an object that begins there was reached
	bits     uintptr        // bytes at marked
	from, to uintptr        // where the heap is
	found    unsafe.Pointer // the objects whose words are to be looked at
	room, n  uintptr        // how many there may be, and are
	deadline int64
	looked   uint64 // bytes
	late     bool   // the deadline has passed
	stack    ftraceReachedStack
}

// ftraceReachedStack has the variables on the stack that is being looked at whose addresses are
// taken, and pointers into the stack. Variables to which none leads are not in use: they may still
// have what was there before.
type ftraceReachedStack struct {
	of        stack
	variables [128]stack // from the first byte to that after the last
	pointers  [256]uintptr
	nv, np    int
	every     bool // there are too many pointers: all variables are in use
}

// ftraceFindStuck marks the goroutines that nothing can wake any more. Meanwhile the world is
// stopped, for at most the time of limit. It returns the nanoseconds that this took, the bytes that
// were looked at, whether the time was too short, and the number of goroutines.
func ftraceFindStuck(limit int64) *ftraceText {
	var r ftraceReach
	stw := stopTheWorld(stwUnknown)
	begun := nanotime()
	r.deadline = begun + limit
	stuck := uint64(0)
	objects := uintptr(0)
	for _, s := range mheap_.allspans {
		if s.state.get() == mSpanInUse {
			objects += uintptr(s.nelems)
		}
	}
	ok := r.begin(objects * goarch.PtrSize)
	if ok {
		stuck = r.findStuck()
	}
	took := nanotime() - begun
	startTheWorld(stw)
	r.end()
	b := ftraceNewText()
	b.word(uint64(took))
	b.word(r.looked)
	late := uint64(0)
	if r.late || !ok {
		late = 1
	}
	b.word(late)
	b.word(stuck)
	return b
}

// begin makes room for the walk, and for that many bytes at found.
func (r *ftraceReach) begin(room uintptr) bool {
	r.from = ^uintptr(0)
	for _, ai := range mheap_.heapArenas { // it only grows, and what it was is never freed
		base := arenaBase(ai)
		r.from, r.to = min(r.from, base), max(r.to, base+heapArenaBytes)
	}
	if r.to <= r.from || uint64(r.to-r.from)>>44 != 0 {
		return false
	}
	r.bits, r.room = (r.to-r.from)/goarch.PtrSize/8, room
	r.marked = sysAlloc(r.bits, &memstats.other_sys, "ftrace")
	r.found = sysAlloc(r.room, &memstats.other_sys, "ftrace")
	return r.marked != nil && r.found != nil
}

func (r *ftraceReach) end() {
	if r.marked != nil {
		sysFree(r.marked, r.bits, &memstats.other_sys)
	}
	if r.found != nil {
		sysFree(r.found, r.room, &memstats.other_sys)
	}
}

// object returns the object of the heap that p points into, nil: there is none.
func (r *ftraceReach) object(p uintptr) (base uintptr, s *mspan) {
	if p < r.from || p >= r.to {
		return 0, nil
	}
	if s = spanOf(p); s == nil || s.state.get() != mSpanInUse || p < s.base() || p >= s.limit {
		return 0, nil
	}
	return s.base() + s.objIndex(p)*s.elemsize, s
}

// bit returns where the bit of an object is.
func (r *ftraceReach) bit(base uintptr) (*uint8, uint8) {
	n := (base - r.from) / goarch.PtrSize
	return (*uint8)(add(r.marked, n/8)), 1 << (n % 8)
}

// reach notes that p leads to an object, if it does.
func (r *ftraceReach) reach(p uintptr) {
	base, s := r.object(p)
	if s == nil {
		r.stack.point(p)
		return
	}
	b, bit := r.bit(base)
	if *b&bit != 0 {
		return
	}
	*b |= bit
	if !s.spanclass.noscan() {
		*(*uintptr)(add(r.found, r.n*goarch.PtrSize)) = base
		r.n++
	}
}

// point notes a pointer, if it leads into the stack.
func (s *ftraceReachedStack) point(p uintptr) {
	if p < s.of.lo || p >= s.of.hi || s.every {
		return
	}
	if s.every = s.np == len(s.pointers); !s.every {
		s.pointers[s.np] = p
		s.np++
	}
}

// inUse looks at the variables that are in use.
func (r *ftraceReach) inUse() {
	s := &r.stack
	for again := true; again; {
		again = false
		for i := range s.nv {
			v := &s.variables[i]
			used := s.every
			for _, p := range s.pointers[:s.np] {
				used = used || v.lo <= p && p < v.hi
			}
			if used && v.lo < v.hi {
				from, to := v.lo, v.hi
				*v, again = stack{}, true
				r.scan(from, to)
			}
		}
	}
}

// skip has an object looked at by nobody, unless scan does.
func (r *ftraceReach) skip(p unsafe.Pointer) {
	if base, s := r.object(uintptr(p)); s != nil {
		b, bit := r.bit(base)
		*b |= bit
	}
}

// reached reports whether an object was reached. What is not in the heap always is.
func (r *ftraceReach) reached(p uintptr) bool {
	base, s := r.object(p)
	if s == nil {
		return true
	}
	b, bit := r.bit(base)
	return *b&bit != 0
}

// scan looks at memory.
func (r *ftraceReach) scan(from, to uintptr) {
	from = alignUp(from, goarch.PtrSize)
	r.looked += uint64(to - min(from, to))
	for ; from+goarch.PtrSize <= to; from += goarch.PtrSize {
		if p := *(*uintptr)(unsafe.Pointer(from)); p-r.from < r.to-r.from {
			r.reach(p) // stacks are there too
		}
	}
}

// drain looks at all objects that were reached.
func (r *ftraceReach) drain() {
	r.late = r.late || nanotime() > r.deadline
	for r.n > 0 && !r.late {
		r.n--
		base := *(*uintptr)(add(r.found, r.n*goarch.PtrSize))
		s := spanOf(base)
		for end := min(base+s.elemsize, s.limit); base < end; base += 1 << 20 {
			r.scan(base, min(base+1<<20, end))
		}
		r.late = nanotime() > r.deadline
	}
}

// masked looks at those words that the compiler says may be pointers.
func (r *ftraceReach) masked(from uintptr, words bitvector) {
	r.looked += uint64(words.n) * goarch.PtrSize
	for i := range uintptr(max(words.n, 0)) {
		if words.ptrbit(i) != 0 {
			r.reach(*(*uintptr)(unsafe.Pointer(from + i*goarch.PtrSize)))
		}
	}
}

// goroutine looks at what a goroutine has: its stack as the garbage collector does, so that what is
// no longer used does not count.
func (r *ftraceReach) goroutine(gp *g) {
	if gp == getg() { // it makes this walk, on behalf of nobody
		return
	}
	vars := &r.stack
	vars.of, vars.nv, vars.np, vars.every = gp.stack, 0, 0, false
	r.scan(uintptr(unsafe.Pointer(gp)), uintptr(unsafe.Pointer(gp))+unsafe.Sizeof(*gp))
	whole := false
	var u unwinder
	for u.init(gp, 0); u.valid(); u.next() {
		frame := &u.frame
		// It may have been stopped anywhere: then this has its registers, and its frame has no map.
		stopped := frame.fn.valid() && (frame.fn.funcID == abi.FuncID_asyncPreempt || frame.fn.funcID == abi.FuncID_debugCallV2)
		if whole || stopped {
			const link = 64 // room for the registers that a signal has pushed
			if frame.varp != 0 {
				r.scan(frame.sp, min(frame.varp+link, gp.stack.hi))
			}
			r.scan(frame.argp, frame.argp+frame.argBytes())
			whole = stopped
			continue
		}
		locals, args, objects := frame.getStackMap(false)
		r.masked(frame.varp-uintptr(max(locals.n, 0))*goarch.PtrSize, locals)
		r.masked(frame.argp, args)
		for i := range objects {
			at := frame.varp
			if objects[i].off >= 0 {
				at = frame.argp
			}
			at += uintptr(objects[i].off)
			end := at + uintptr(objects[i].size)
			switch {
			case frame.varp == 0 || at < frame.sp:
			case vars.nv == len(vars.variables):
				r.scan(at, end)
			default:
				vars.variables[vars.nv] = stack{at, end}
				vars.nv++
			}
		}
	}
	for d := gp._defer; d != nil; d = d.link {
		r.reach(uintptr(unsafe.Pointer(d)))
		r.reach(*(*uintptr)(unsafe.Pointer(&d.fn)))
	}
	r.inUse()
	vars.of = stack{}
}

// findStuck is ftraceFindStuck once there is room.
func (r *ftraceReach) findStuck() (stuck uint64) {
	// What the runtime keeps of a goroutine that waits leads to what it waits for, and must not be
	// looked at before it is known that the goroutine may run.
	forEachGRace(func(gp *g) {
		w := &gp.ftraceWait
		w.stuck = false
		status := readgstatus(gp) &^ _Gscan
		if status != _Gwaiting && status != ftraceLeaked {
			w.at = 0 // it was waiting there once
			if w.begin == 0 {
				w.object = 0
			}
			return
		}
		a := ftraceAwaited(gp)
		if isSystemGoroutine(gp, true) || a.object == 0 && !ftraceStopsForever(gp.waitreason) {
			return
		}
		for ; a.object != 0; a.next() {
			if _, s := r.object(a.object); s == nil {
				return
			}
		}
		w.stuck = true
		r.skip(unsafe.Pointer(gp))
		for s := ftraceAwaited(gp).s; s != nil; s = s.waitlink { // that of a semaphore leads to all who wait for it
			r.skip(unsafe.Pointer(s))
		}
	})
	for i := range semtable {
		r.skipWaiters(semtable[i].root.treap)
	}

	r.roots()
	r.drain()
	for again := true; again && !r.late; {
		again = false
		forEachGRace(func(gp *g) {
			if r.late || !gp.ftraceWait.stuck {
				return
			}
			for a := ftraceAwaited(gp); a.object != 0; a.next() {
				if r.reached(a.object) {
					gp.ftraceWait.stuck = false
					again = true
					r.goroutine(gp)
					r.drain()
					return
				}
			}
		})
	}
	forEachGRace(func(gp *g) {
		if r.late || gp.waitreason == waitReasonSelectNoCases { // which is on purpose
			gp.ftraceWait.stuck = false
		} else if gp.ftraceWait.stuck {
			stuck++
		}
	})
	return stuck
}

// ftraceStopsForever reports whether a goroutine that stops for such a reason never goes on: it
// waits for a nil channel, or in a select without cases.
func ftraceStopsForever(reason waitReason) bool {
	switch reason {
	case waitReasonChanReceiveNilChan, waitReasonChanSendNilChan, waitReasonSelectNoCases:
		return true
	}
	return false
}

// skipWaiters has the records of those looked at by nobody that wait for a semaphore.
func (r *ftraceReach) skipWaiters(s *sudog) {
	if s == nil {
		return
	}
	for w := s; w != nil; w = w.waitlink {
		r.skip(unsafe.Pointer(w))
	}
	r.skipWaiters(s.prev)
	r.skipWaiters(s.next)
}

// roots looks at all from where the program may reach something: package variables, goroutines that
// may run, and what runs when objects are no longer reachable. Such an object counts as reached.
func (r *ftraceReach) roots() {
	for _, m := range activeModules() {
		r.masked(m.data, m.gcdatamask)
		r.masked(m.bss, m.gcbssmask)
	}
	for b := allfin; b != nil; b = b.alllink {
		r.scan(uintptr(unsafe.Pointer(b)), uintptr(unsafe.Pointer(b))+unsafe.Sizeof(*b))
	}
	for b := (*cleanupBlock)(gcCleanups.all.Load()); b != nil; b = b.alllink {
		r.scan(uintptr(unsafe.Pointer(b)), uintptr(unsafe.Pointer(b))+unsafe.Sizeof(*b))
	}
	for _, s := range mheap_.allspans {
		if s.state.get() != mSpanInUse {
			continue
		}
		for special := s.specials; special != nil; special = special.next {
			size := uintptr(0)
			switch special.kind {
			case _KindSpecialFinalizer:
				size = unsafe.Sizeof(specialfinalizer{})
			case _KindSpecialCleanup:
				size = unsafe.Sizeof(specialCleanup{})
			case _KindSpecialWeakHandle: // it may be made a pointer again
				size = unsafe.Sizeof(specialWeakHandle{})
			case _KindSpecialPinCounter: // C may have it
			default:
				continue
			}
			r.reach(s.base() + uintptr(special.offset))
			r.scan(uintptr(unsafe.Pointer(special)), uintptr(unsafe.Pointer(special))+size)
		}
	}
	forEachGRace(func(gp *g) {
		if status := readgstatus(gp) &^ _Gscan; !r.late && status != _Gdead && status != _Gidle && !gp.ftraceWait.stuck {
			r.goroutine(gp)
			r.drain()
		}
	})
}
