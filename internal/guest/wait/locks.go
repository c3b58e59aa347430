//go:build ftrace_core

// Who holds a lock. While consumer locks is off, package sync takes and frees locks as ever. While
// it is on, all of them take its slow paths, which call what is here.
//
// A goroutine notes the locks that it holds in a list of its own, so nothing is locked for it, nor
// shared. If another goroutine frees a lock, which is legal, it looks through all lists for it.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// What package sync reads: one of these in each of its fast paths. Each is where it costs nothing
// that can be measured: a branch more in Mutex.Lock takes 2 ns.
//
//go:linkname ftraceLocksOff
//go:linkname ftraceLocksNever
var (
	ftraceLocksOff = true
	// The state of a mutex that is free, and the least number of readers when there is no writer.
	// While locks are observed it is what no mutex has, and more than any number of readers.
	ftraceLocksNever int32
)

// ftraceLocks is the state of consumer locks.
var ftraceLocks struct {
	now     uint64 // ticks, to some 10 ms; if even, read the timer; atomic
	most    uint64 // ticks for which a lock may be held before that is noted
	long    uint64 // the same in ns
	reports bool   // what is wrong is written at the end
	lock    mutex
	all     *ftraceHeldLocks // the lists of all goroutines; atomic
	free    *ftraceHeldLocks
	lost    uint64 // locks that had no place in a list; atomic
}

// ftraceLocksMax is how many locks of a goroutine are known.
const ftraceLocksMax = 16

// ftraceHeldLocks are the locks that a goroutine holds, the latest last. Only the goroutine adds to
// them. Others may take one out, which leaves a hole.
//
// The nth chain is a hash of the first n locks, in this order. By it a goroutine that takes the
// same lock as the last time, while it holds the same locks, is known to do so.
type ftraceHeldLocks struct {
	_         sys.NotInHeap
	goroutine uint64
	n         uint64 // places in use; written by the goroutine, read by others
	lost      uint32 // locks that it holds that had no place
	ended     bool   // the goroutine has
	renewed   uint64 // how often chains were made anew
	chains    [ftraceLocksMax + 1]uint64
	held      [ftraceLocksMax]ftraceHeldLock
	next      *ftraceHeldLocks // in the list of all, which is never cut
	nextFree  *ftraceHeldLocks
}

// ftraceHeldLock is a lock that is held.
type ftraceHeldLock struct {
	lock  uint64 // address of the lock, and ftraceForReading; 0: none; atomic
	since uint64 // ticks
	pcs   ftracePlace
	call  uint64 // in which call of which function, 0: none that is armed
	key   uint32
	write bool   // of an RWMutex
	known uint64 // a chain with a lock here, all orders of which are noted; 0: none
}

// mode returns how the lock is held that h.lock is, or was.
func (h *ftraceHeldLock) mode(lock uint64) uint32 {
	switch {
	case lock&ftraceForReading != 0:
		return ftrace_format_HoldRead
	case h.write:
		return ftrace_format_HoldWrite
	}
	return ftrace_format_HoldMutex
}

// ftraceForReading is a bit of a lock's address.
const ftraceForReading = 1

// ftracePlace is two return addresses. That in the caller of package sync is among them.
type ftracePlace struct{ inner, outer uintptr }

// ftraceObserveLocks switches consumer locks.
func ftraceObserveLocks(on bool) {
	if on != ftraceLocksOff {
		return
	}
	if on {
		ftraceMakeOrders()
		if ftraceLocks.long == 0 {
			ftraceLocks.long = ftraceHeldLong
		}
		stw := stopTheWorld(stwUnknown)
		for b := ftraceLocks.all; b != nil; b = b.next {
			b.forget()
		}
		ftraceTimeLocks()
		ftraceLocksNever, ftraceLocksOff = 1<<31-1, false
		startTheWorld(stw)
		return
	}
	ftraceLocksNever, ftraceLocksOff = 0, true
}

// forget empties the list. The world is stopped, or its goroutine has ended.
func (b *ftraceHeldLocks) forget() {
	for i := range b.held {
		b.held[i].lock = 0
	}
	b.n, b.lost = 0, 0
}

// ftraceTimeLocks sets times when locks are observed from now on, or the timer has changed. The
// world is stopped.
func ftraceTimeLocks() {
	const some = 1 << 30
	ftraceLocks.now = 0
	ftraceLocks.most = max(uint64(float64(ftraceLocks.long)*some/float64(max(ftraceNanoseconds(some), 1))), 1)
	for b := ftraceLocks.all; b != nil; b = b.next {
		for i := range b.held {
			b.held[i].since = ftraceTicks()
		}
	}
}

// ftraceParseLocks reads FTRACE_LOCKS: on, off, or for how long a lock may be held.
func ftraceParseLocks(s string) (on bool) {
	n, unit := s, uint64(0)
	for _, u := range [...]struct {
		name string
		ns   uint64
	}{{"ms", 1e6}, {"s", 1e9}} {
		if k := len(s) - len(u.name); unit == 0 && k > 0 && s[k:] == u.name {
			n, unit = s[:k], u.ns
		}
	}
	if v, ok := ftraceParseInt(n); ok && v > 0 && unit != 0 {
		ftraceLocks.long = uint64(v) * unit
		return true
	}
	switch s {
	case "", "0", "off", "false":
		return false
	case "1", "on", "true":
		return true
	}
	ftraceComplain("FTRACE_LOCKS: " + s + " is neither on, off nor a time such as 50ms or 2s")
	return false
}

// ftraceLocksTick is called by sysmon each time it looks after the processors, some 10 ms after the
// last time at most while any goroutine runs.
//
//go:nowritebarrierrec
func ftraceLocksTick() {
	was := atomic.Load64(&ftraceLocks.now)
	atomic.Cas64(&ftraceLocks.now, was, ftraceTicks()|1)
}

// ftraceLocksNow returns the ticks. A lock that is taken from now on is held since then or later:
// if sysmon has read the timer before, and is about to store that, it finds that now has changed.
func ftraceLocksNow() uint64 {
	for {
		was := atomic.Load64(&ftraceLocks.now)
		now := ftraceTicks()&^1 | was&1
		if atomic.Cas64(&ftraceLocks.now, was, now) {
			return now
		}
	}
}

// ftraceLocksIdle is called by sysmon before it sleeps for long.
//
//go:nowritebarrierrec
func ftraceLocksIdle() { atomic.Store64(&ftraceLocks.now, ftraceTicks()&^1) }

// ftraceCoarseTicks returns the ticks to some 10 ms. To read the timer takes longer than all the
// rest that is done for a lock.
//
//go:nosplit
func ftraceCoarseTicks() uint64 {
	if now := atomic.Load64(&ftraceLocks.now); now&1 != 0 {
		return now
	}
	return ftraceTicks()
}

// ftrace_locked is called by Mutex.Lock once the goroutine has the lock, and by RWMutex.RLock with
// ftraceForReading.
//
//go:linkname ftrace_locked
//go:nosplit
func ftrace_locked(m unsafe.Pointer) {
	gp, lock, at := getg(), uint64(uintptr(m)), ftracePlaceOf(sys.GetCallerSP())
	if b, now := gp.ftraceLocks, atomic.Load64(&ftraceLocks.now); b != nil && b.n < ftraceLocksMax && now&1 != 0 {
		n := b.n % ftraceLocksMax
		chain := ftraceChain(b.chains[n], lock)
		if h := &b.held[n]; n == 0 || h.known == chain {
			b.chains[n+1] = chain
			h.since, h.pcs, h.call, h.key, h.write = now, at, 0, 0, false
			if gp.ftrace != nil {
				h.callOf(gp.ftrace)
			}
			ftraceStore64(&h.lock, lock)
			ftraceStore64(&b.n, n+1)
			return
		}
	}
	ftraceHolds(lock, at, true)
}

// ftrace_tried is called by Mutex.TryLock, and by RWMutex.TryRLock with ftraceForReading.
//
//go:linkname ftrace_tried
func ftrace_tried(m unsafe.Pointer) {
	ftraceHolds(uint64(uintptr(m)), ftracePlaceOf(sys.GetCallerSP()), false)
}

// ftrace_writes is called by RWMutex.Lock and TryLock. They have locked the mutex with which an
// RWMutex begins, and now there are no readers any more.
//
//go:linkname ftrace_writes
func ftrace_writes(rw unsafe.Pointer) {
	if b := getg().ftraceLocks; b != nil {
		if h := b.find(uint64(uintptr(rw))); h != nil {
			h.pcs, h.write = ftracePlaceOf(sys.GetCallerSP()), true
		}
	}
}

// ftrace_unlocks is called by Mutex.Unlock before it lets the lock go. So whoever is found to hold
// it is not the next. RWMutex.RUnlock calls it with ftraceForReading.
//
//go:linkname ftrace_unlocks
//go:nosplit
func ftrace_unlocks(m unsafe.Pointer) {
	lock := uint64(uintptr(m))
	if b, now := getg().ftraceLocks, atomic.Load64(&ftraceLocks.now); b != nil && b.n != 0 && now&1 != 0 {
		n := b.n - 1
		h := &b.held[n%ftraceLocksMax]
		if h.lock == lock && now-h.since < ftraceLocks.most && (n == 0 || b.held[(n-1)%ftraceLocksMax].lock != 0) {
			ftraceStore64(&h.lock, 0)
			ftraceStore64(&b.n, n)
			return
		}
	}
	ftraceLetsGo(lock, ftracePlaceOf(sys.GetCallerSP()))
}

// ftracePlaceOf returns where the function was called from whose stack pointer is sp, see
// ftraceFramePointer, and where its caller was called from.
//
//go:nosplit
func ftracePlaceOf(sp uintptr) (p ftracePlace) {
	if goarch.IsAmd64|goarch.IsArm64 == 0 {
		return
	}
	fp := ftraceFramePointer(sp)
	if fp == 0 {
		return
	}
	p.inner = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
	if fp = *(*uintptr)(unsafe.Pointer(fp)); fp != 0 {
		p.outer = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
	}
	return
}

// ftraceChain returns the chain of the locks of another, and one more.
//
//go:nosplit
func ftraceChain(outer, lock uint64) uint64 { return (outer ^ lock) * ftraceSpread }

// renew has the orders of all locks that the goroutine takes from now on be looked up again.
func (b *ftraceHeldLocks) renew() {
	b.renewed++
	for i := range b.chains {
		b.chains[i] = ftraceChain(b.renewed, uint64(i))
	}
}

// ftraceHolds notes that the goroutine holds a lock, for which it would have waited.
func ftraceHolds(lock uint64, at ftracePlace, waits bool) {
	gp := getg()
	b := gp.ftraceLocks
	if b == nil {
		if b = ftraceNewHeldLocks(); b == nil {
			return
		}
		b.goroutine, gp.ftraceLocks = gp.goid, b
		b.renew()
	}
	known := uint64(0)
	if b.n != 0 && waits {
		chain := ftraceChain(b.chains[b.n], lock)
		if b.order(gp, lock, at) {
			known = chain
		}
	}
	b.push(gp, lock, at, known)
}

// push adds a lock. The world is not stopped meanwhile, since the goroutine is not preempted.
//
//go:nosplit
func (b *ftraceHeldLocks) push(gp *g, lock uint64, at ftracePlace, known uint64) {
	n := b.n
	if n == ftraceLocksMax {
		b.lost++
		atomic.Xadd64(&ftraceLocks.lost, 1)
		return
	}
	h := &b.held[n%ftraceLocksMax]
	b.chains[n+1] = ftraceChain(b.chains[n], lock)
	h.since, h.pcs, h.call, h.key, h.write, h.known = ftraceCoarseTicks(), at, 0, 0, false, known
	if gp.ftrace != nil {
		h.callOf(gp.ftrace)
	}
	ftraceStore64(&h.lock, lock)
	ftraceStore64(&b.n, n+1)
}

// callOf notes in which call the lock was taken.
//
//go:noinline
//go:nosplit
func (h *ftraceHeldLock) callOf(t *ftraceG) {
	if top := t.innermost(); top != nil {
		h.call, h.key = top.Count, top.Key
	}
}

// find returns the place of a lock, the latest if there are several, or nil. b may be nil.
//
//go:nosplit
func (b *ftraceHeldLocks) find(lock uint64) *ftraceHeldLock {
	if b == nil {
		return nil
	}
	for n := b.n; n > 0; n-- {
		if h := &b.held[(n-1)%ftraceLocksMax]; h.lock == lock {
			return h
		}
	}
	return nil
}

// remove takes h out.
func (b *ftraceHeldLocks) remove(h *ftraceHeldLock) {
	last := &b.held[(b.n-1)%ftraceLocksMax]
	ftraceStore64(&h.lock, 0)
	n := b.n
	for n > 0 && b.held[(n-1)%ftraceLocksMax].lock == 0 {
		n--
	}
	ftraceStore64(&b.n, n)
	if h != last {
		b.renew()
	}
}

// ftraceLetsGo notes that the goroutine frees a lock, at a place.
func ftraceLetsGo(lock uint64, at ftracePlace) {
	gp := getg()
	goid := gp.goid
	b := gp.ftraceLocks
	was, ok := ftraceHeldLock{}, false
	if h := b.find(lock); h != nil {
		was, ok = *h, true
		b.remove(h)
	} else if b != nil && b.lost > 0 {
		b.lost--
		return
	} else if was, goid, ok = ftraceTakeOut(lock); !ok {
		return // it was locked before locks were observed
	}
	if now := ftraceCoarseTicks(); int64(now-was.since) >= int64(ftraceLocks.most) {
		ftraceNoteLong(&was, goid, now-was.since, at)
	}
}

// ftraceTakeOut takes a lock out of the list of whoever holds it. If several hold it for reading,
// one of them is taken: nobody knows whose lock it is that is freed.
func ftraceTakeOut(lock uint64) (was ftraceHeldLock, goroutine uint64, ok bool) {
	for b := (*ftraceHeldLocks)(atomic.Loadp(unsafe.Pointer(&ftraceLocks.all))); b != nil; b = b.next {
		for i := range min(atomic.Load64(&b.n), ftraceLocksMax) {
			h := &b.held[i]
			if atomic.Load64(&h.lock) != lock {
				continue
			}
			was, goroutine = *h, b.goroutine
			if atomic.Cas64(&h.lock, lock, 0) {
				b.renew() // its goroutine may do so too, or take a lock: it makes no difference, or only in this moment
				if b.ended {
					b.reuse()
				}
				return was, goroutine, true
			}
		}
	}
	return
}

// ftraceNewHeldLocks returns an empty list, or nil if there is no memory.
func ftraceNewHeldLocks() *ftraceHeldLocks {
	l := &ftraceLocks
	lock(&l.lock)
	b := l.free
	if b != nil {
		l.free = b.nextFree
		b.nextFree = nil
	} else if b = (*ftraceHeldLocks)(ftraceAlloc(unsafe.Sizeof(ftraceHeldLocks{}))); b != nil {
		b.next = l.all
		atomic.StorepNoWB(unsafe.Pointer(&l.all), unsafe.Pointer(b))
	}
	unlock(&l.lock)
	return b
}

// ftraceLocksEnd is called when gp ends. Locks that it still holds may be freed by others.
func ftraceLocksEnd(gp *g) {
	if b := gp.ftraceLocks; b != nil {
		gp.ftraceLocks, b.ended = nil, true
		b.reuse()
	}
}

// reuse lets another goroutine have the list of one that has ended, if nothing is in it.
func (b *ftraceHeldLocks) reuse() {
	l := &ftraceLocks
	lock(&l.lock)
	empty := b.ended
	for i := range b.held {
		empty = empty && atomic.Load64(&b.held[i].lock) == 0
	}
	if empty {
		b.ended, b.n, b.lost = false, 0, 0
		b.nextFree, l.free = l.free, b
	}
	unlock(&l.lock)
}
