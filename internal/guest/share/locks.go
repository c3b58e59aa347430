//go:build ftrace_core

// Who holds which lock, and what is wrong with how locks are held, for those who look at the
// program from outside.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const ftraceLockRoom = 4 << 10 // bytes that an entry may take

// ftraceListLocks returns who holds locks, and findings, from entry number from on: first the lists
// of goroutines, then the findings. docs/format.md has every byte.
func ftraceListLocks(from uint64) *ftraceText {
	b := ftraceNewText()
	b.word(0) // where the next list begins, 0: there is none
	b.word(ftraceLocksNow())
	b.word(atomic.Load64(&ftraceLocks.lost) + ftraceOrders.lost)
	on := uint64(0)
	if !ftraceLocksOff {
		on = 1
	}
	b.word(on)
	i, room := uint64(0), true
	for l := (*ftraceHeldLocks)(atomic.Loadp(unsafe.Pointer(&ftraceLocks.all))); l != nil && room; l = l.next {
		if i++; i <= from || on == 0 {
			continue
		}
		if room = b.n < len(b.data)-ftraceLocksMax*ftraceLockRoom/8; room {
			b.heldLocks(l)
		} else {
			i--
		}
	}
	for n := uint32(0); n < ftraceOrders.found && room; n++ {
		if i++; i <= from {
			continue
		}
		if room = b.n < len(b.data)-ftraceLockRoom; room {
			b.finding(n)
		} else {
			i--
		}
	}
	if !room {
		at := b.n
		b.n = 0
		b.word(i)
		b.n = at
	}
	return b
}

// heldLocks appends the locks that a goroutine holds, which goes on meanwhile.
func (b *ftraceText) heldLocks(l *ftraceHeldLocks) {
	for i := range min(atomic.Load64(&l.n), ftraceLocksMax) {
		h := &l.held[i]
		lock := atomic.Load64(&h.lock)
		was := *h
		if lock == 0 || atomic.Load64(&h.lock) != lock {
			continue
		}
		b.word(ftrace_format_LockHeld)
		b.word(lock &^ ftraceForReading)
		b.word(l.goroutine)
		b.word(uint64(was.mode(lock)))
		b.word(was.since)
		b.word(uint64(was.key))
		b.word(was.call)
		b.place(was.pcs)
	}
}

// finding appends the nth.
func (b *ftraceText) finding(n uint32) {
	lock(&ftraceOrders.lock)
	f := ftraceOrders.findings[n]
	unlock(&ftraceOrders.lock)
	b.word(uint64(f.kind))
	b.word(uint64(f.count))
	b.word(f.lasted)
	for _, lock := range f.locks {
		b.word(lock)
	}
	for i := range f.acts {
		act := &f.acts[i]
		b.word(act.goroutine)
		b.word(act.since)
		b.word(uint64(act.key))
		b.word(act.call)
		b.place(act.held)
		b.place(act.took)
	}
}

// place appends where package sync was called from.
func (b *ftraceText) place(p ftracePlace) {
	at := p.position()
	b.word(uint64(at.line))
	b.cString(at.function)
	b.cString(at.file)
}
