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
type ftraceHeldLocks struct {
	_         sys.NotInHeap
	goroutine uint64
	n         uint64 // places in use; written by the goroutine, read by others
	lost      uint32 // locks that it holds that had no place
	ended     bool   // the goroutine has
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
	write bool // of an RWMutex
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

// ftrace_locked is called by Mutex.Lock once the goroutine has the lock.
//
//go:linkname ftrace_locked
func ftrace_locked(m unsafe.Pointer) { ftraceHolds(uint64(uintptr(m)), ftracePlaceOf(getfp()), true) }

// ftrace_tried is called by Mutex.TryLock.
//
//go:linkname ftrace_tried
func ftrace_tried(m unsafe.Pointer) { ftraceHolds(uint64(uintptr(m)), ftracePlaceOf(getfp()), false) }

// ftraceReadLocked is called at the end of RWMutex.RLock.
//
//go:noinline
func ftraceReadLocked(rw unsafe.Pointer) {
	ftraceHolds(uint64(uintptr(rw))|ftraceForReading, ftracePlaceOf(getfp()), true)
}

// ftrace_tried_read is called by RWMutex.TryRLock.
//
//go:linkname ftrace_tried_read
func ftrace_tried_read(rw unsafe.Pointer) {
	ftraceHolds(uint64(uintptr(rw))|ftraceForReading, ftracePlaceOf(getfp()), false)
}

// ftrace_writes is called by RWMutex.Lock and TryLock. They have locked the mutex with which an
// RWMutex begins, and now there are no readers any more.
//
//go:linkname ftrace_writes
func ftrace_writes(rw unsafe.Pointer) {
	if b := getg().ftraceLocks; b != nil {
		if h := b.find(uint64(uintptr(rw))); h != nil {
			h.pcs, h.write = ftracePlaceOf(getfp()), true
		}
	}
}

// ftrace_unlocks is called by Mutex.Unlock before it lets the lock go. So whoever is found to hold
// it is not the next.
//
//go:linkname ftrace_unlocks
func ftrace_unlocks(m unsafe.Pointer) {
	if lock := uint64(uintptr(m)); !getg().ftraceLocks.pop(lock) {
		ftraceLetsGo(lock, ftracePlaceOf(getfp()))
	}
}

// ftrace_read_unlocked is called by RWMutex.RUnlock.
//
//go:linkname ftrace_read_unlocked
func ftrace_read_unlocked(rw unsafe.Pointer) {
	if lock := uint64(uintptr(rw)) | ftraceForReading; !getg().ftraceLocks.pop(lock) {
		ftraceLetsGo(lock, ftracePlaceOf(getfp()))
	}
}

// ftracePlaceOf returns where the function was called from that called the one whose frame pointer
// is fp, and where that one was called from.
//
//go:nosplit
func ftracePlaceOf(fp uintptr) (p ftracePlace) {
	if goarch.IsAmd64|goarch.IsArm64 == 0 || fp == 0 {
		return
	}
	if fp = *(*uintptr)(unsafe.Pointer(fp)); fp == 0 {
		return
	}
	p.inner = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
	if fp = *(*uintptr)(unsafe.Pointer(fp)); fp != 0 {
		p.outer = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
	}
	return
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
	}
	if b.n != 0 && waits {
		b.order(gp, lock, at)
	}
	b.push(gp, lock, at)
}

// push adds a lock. The world is not stopped meanwhile, since the goroutine is not preempted.
//
//go:nosplit
func (b *ftraceHeldLocks) push(gp *g, lock uint64, at ftracePlace) {
	n := b.n
	if n == ftraceLocksMax {
		b.lost++
		atomic.Xadd64(&ftraceLocks.lost, 1)
		return
	}
	h := &b.held[n%ftraceLocksMax]
	h.since, h.pcs, h.call, h.key, h.write = ftraceCoarseTicks(), at, 0, 0, false
	if t := gp.ftrace; t != nil {
		if top := t.innermost(); top != nil {
			h.call, h.key = top.Count, top.Key
		}
	}
	ftraceStore64(&h.lock, lock)
	ftraceStore64(&b.n, n+1)
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

// pop takes a lock out. It does not if the lock has been held for long, or is not there, and then
// returns false.
//
//go:nosplit
func (b *ftraceHeldLocks) pop(lock uint64) bool {
	h := b.find(lock)
	if h == nil || int64(ftraceCoarseTicks()-h.since) >= int64(ftraceLocks.most) {
		return false
	}
	b.remove(h)
	return true
}

// remove takes h out.
//
//go:nosplit
func (b *ftraceHeldLocks) remove(h *ftraceHeldLock) {
	ftraceStore64(&h.lock, 0)
	n := b.n
	for n > 0 && b.held[(n-1)%ftraceLocksMax].lock == 0 {
		n--
	}
	ftraceStore64(&b.n, n)
}

// ftraceLetsGo notes that the goroutine frees a lock, at a place, if pop has not.
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
