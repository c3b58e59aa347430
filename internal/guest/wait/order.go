//go:build ftrace_core

// In which order goroutines take locks, and what is wrong with how they hold them.
//
// Where a goroutine takes a lock while it holds others, each pair is noted once. If two goroutines
// take the same two locks in opposite orders they may wait for each other for ever, some day. That
// is found when the second order is seen, however long after the first.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

const (
	ftraceHeldLong    = 100e6   // ns for which a lock may be held, unless FTRACE_LOCKS says otherwise
	ftraceOrdersMax   = 1 << 12 // pairs of locks
	ftraceFindingsMax = 256
)

// ftraceOrder is a pair of locks, one of which was taken while the other was held.
type ftraceOrder struct {
	before, lock uint64 // as in ftraceHeldLock; 0: none
	other        uint64 // another goroutine that did the same, 0: none did
	// What else was held each time: a bit for each lock, by a hash. Two goroutines that hold a
	// third lock cannot be here at once.
	gates, writes uint64
	act           ftraceAct // of the first time
}

// ftraceAct is what a goroutine did.
type ftraceAct struct {
	goroutine, since, call uint64
	key                    uint32
	held, took             ftracePlace // where it took the lock that it held, and where the other
}

// ftraceFinding is something that is wrong, by the places in the source where it was done.
type ftraceFinding struct {
	kind     uint32 // ftrace_format_Finding...
	count    uint32 // how often it was seen
	reported bool
	places   uint64 // a hash
	locks    [2]uint64
	lasted   uint64 // ticks
	acts     [2]ftraceAct
}

// ftraceOrders are the pairs: a hash table, at most half full.
var ftraceOrders struct {
	lock     mutex
	n        uint32
	lost     uint64                            // pairs for which there was no place
	slots    *[2 * ftraceOrdersMax]ftraceOrder // off the heap; nil until locks are first observed
	findings *[ftraceFindingsMax]ftraceFinding
	found    uint32
}

// ftraceMakeOrders makes the tables.
func ftraceMakeOrders() {
	o := &ftraceOrders
	if o.slots == nil {
		o.findings = (*[ftraceFindingsMax]ftraceFinding)(ftraceAlloc(unsafe.Sizeof(*o.findings)))
		o.slots = (*[2 * ftraceOrdersMax]ftraceOrder)(ftraceAlloc(unsafe.Sizeof(*o.slots)))
	}
}

// ftraceOrderHome returns the slot from which on a pair is looked for.
//
//go:nosplit
func ftraceOrderHome(before, lock uint64) uint32 {
	return uint32((before*ftraceSpread^lock)*ftraceSpread>>32) % (2 * ftraceOrdersMax)
}

// ftraceOrderOf returns the slot of a pair, or the free one where it belongs. It may be looked at
// until the goroutine is preempted.
//
//go:nosplit
func ftraceOrderOf(before, lock uint64) *ftraceOrder {
	for i := ftraceOrderHome(before, lock); ; i++ {
		o := &ftraceOrders.slots[i%(2*ftraceOrdersMax)]
		if l := atomic.Load64(&o.lock); l == 0 || l == lock && o.before == before {
			return o
		}
	}
}

// order notes that the goroutine takes a lock after those that it holds. It reports whether there
// is nothing to note if the goroutine does the same again.
func (b *ftraceHeldLocks) order(gp *g, lock uint64, took ftracePlace) (known bool) {
	known = true
	for i := range b.n {
		before := b.held[i%ftraceLocksMax].lock
		switch {
		case before == 0:
		case before&^ftraceForReading == lock&^ftraceForReading:
			if before == lock && lock&ftraceForReading != 0 {
				known = false // it is counted
				act := b.act(gp, i, took)
				ftraceNote(ftrace_format_FindingRecursion, [2]uint64{lock, lock}, 0, &act, &act)
			}
		case !b.known(i, before, lock):
			known = false
			b.enter(gp, i, before, lock, took)
		}
	}
	return known
}

// known reports whether the pair is in the table, and there is nothing to be added to it.
//
//go:nosplit
func (b *ftraceHeldLocks) known(i, before, lock uint64) bool {
	o := ftraceOrderOf(before, lock)
	if o.lock == 0 || o.other == 0 && o.act.goroutine != b.goroutine {
		return false
	}
	if o.gates == 0 {
		return true
	}
	gates, writes := b.gates(i, lock)
	return o.gates&^gates == 0 && o.writes&^writes == 0
}

// gates returns the bits of all locks that are held but the ith, and of those that are not held for
// reading only.
//
//go:nosplit
func (b *ftraceHeldLocks) gates(i, lock uint64) (gates, writes uint64) {
	for j := range b.n {
		held := b.held[j%ftraceLocksMax].lock
		if j == i || held == 0 || held&^ftraceForReading == lock&^ftraceForReading {
			continue
		}
		bit := uint64(1) << ((held &^ ftraceForReading) * ftraceSpread >> 58)
		gates |= bit
		if held&ftraceForReading == 0 {
			writes |= bit
		}
	}
	return
}

// act returns what the goroutine does now with the ith lock that it holds.
func (b *ftraceHeldLocks) act(gp *g, i uint64, took ftracePlace) ftraceAct {
	a := ftraceAct{goroutine: gp.goid, since: ftraceCoarseTicks(), held: b.held[i%ftraceLocksMax].pcs, took: took}
	if t := gp.ftrace; t != nil {
		if top := t.innermost(); top != nil {
			a.call, a.key = top.Count, top.Key
		}
	}
	return a
}

// enter puts the pair into the table, or adds to it, and compares it with the opposite one.
func (b *ftraceHeldLocks) enter(gp *g, i, before, taken uint64, took ftracePlace) {
	act := b.act(gp, i, took)
	var wrong [4]ftraceOrder
	found := 0
	lock(&ftraceOrders.lock)
	o := ftraceOrderOf(before, taken)
	gates, writes := b.gates(i, taken)
	switch {
	case o.lock != 0:
		if o.act.goroutine != gp.goid {
			o.other = gp.goid
		}
		o.gates &= gates
		o.writes &= writes
	case ftraceOrders.n == ftraceOrdersMax:
		ftraceOrders.lost++
		unlock(&ftraceOrders.lock)
		return
	default:
		ftraceOrders.n++
		o.before, o.act, o.other, o.gates, o.writes = before, act, 0, gates, writes
		atomic.Store64(&o.lock, taken)
	}
	// The other goroutine may take either for reading or not.
	for mode := range uint64(4) {
		first, second := taken&^ftraceForReading|mode&1, before&^ftraceForReading|mode>>1
		if mode&1&taken != 0 || mode>>1&before != 0 {
			continue // both may have it at once
		}
		if other := ftraceOrderOf(first, second); other.lock != 0 && o.conflicts(other) {
			wrong[found] = *other
			found++
		}
	}
	unlock(&ftraceOrders.lock)
	for j := range found {
		if other := &wrong[j]; other.act.goroutine == gp.goid {
			other.act.goroutine, other.act.key = other.other, 0
		}
		if act.ofTesting() && wrong[j].act.ofTesting() {
			continue
		}
		ftraceNote(ftrace_format_FindingOrder, [2]uint64{before, taken}, 0, &wrong[j].act, &act)
	}
}

// ofTesting reports whether package testing took both locks. It takes those of a test and of its
// parent in the one order until the test is done, and in the other after that.
func (a *ftraceAct) ofTesting() bool {
	return a.held.ofTesting() && a.took.ofTesting()
}

func (p ftracePlace) ofTesting() bool {
	return stringslite.HasPrefix(p.position().function, "testing.")
}

// conflicts reports whether two goroutines may be at the opposite orders o and p at once.
func (o *ftraceOrder) conflicts(p *ftraceOrder) bool {
	return (o.other != 0 || p.other != 0 || o.act.goroutine != p.act.goroutine) && o.gates&p.writes == 0 && o.writes&p.gates == 0
}

// ftraceNoteLong notes that a goroutine has held a lock for so many ticks.
func ftraceNoteLong(h *ftraceHeldLock, goroutine, lasted uint64, freed ftracePlace) {
	act := ftraceAct{goroutine, h.since, h.call, h.key, h.pcs, freed}
	ftraceNote(ftrace_format_FindingLong, [2]uint64{h.lock, h.lock}, lasted, &act, &act)
}

// ftraceNote notes something that is wrong. What was done at the same places is one finding, of
// which the one that lasted longest is kept, or else the first.
func ftraceNote(kind uint32, locks [2]uint64, lasted uint64, first, second *ftraceAct) {
	places := uint64(kind)
	for _, act := range [...]*ftraceAct{first, second} {
		sum := uint64(0)
		for _, pc := range [...]uintptr{act.held.inner, act.held.outer, act.took.inner, act.took.outer} {
			sum = (sum ^ uint64(pc)) * ftraceSpread
		}
		places += sum // either may come first
	}
	f := &ftraceOrders
	lock(&f.lock)
	i := uint32(0)
	for i < f.found && f.findings[i].places != places {
		i++
	}
	if i < ftraceFindingsMax {
		was := &f.findings[i]
		was.count++
		if i == f.found || lasted > was.lasted {
			was.kind, was.places, was.locks, was.lasted, was.acts[0], was.acts[1] = kind, places, locks, lasted, *first, *second
			f.found = max(f.found, i+1)
		}
	} else {
		f.lost++
	}
	unlock(&f.lock)
}

// ftraceReportLocks is called before the program ends. It says what may deadlock if FTRACE_LOCKS
// observes locks. Who looks from outside asks for it.
func ftraceReportLocks() {
	f := &ftraceOrders
	if !ftraceLocks.reports || f.findings == nil {
		return
	}
	for i := range f.findings[:f.found] {
		was := &f.findings[i]
		first, second := &was.acts[0], &was.acts[1]
		if was.kind == ftrace_format_FindingLong || was.reported {
			continue
		}
		was.reported = true
		b := ftraceNewText()
		b.number("potential deadlock: G", second.goroutine)
		b.str(" locked ")
		b.hex(was.locks[0] &^ ftraceForReading)
		b.at(second.held)
		if was.kind == ftrace_format_FindingRecursion {
			b.str(" for reading, and again")
			b.at(second.took)
			b.str("; if another goroutine locks it for writing in between, both wait for ever")
		} else {
			b.str(", then ")
			b.hex(was.locks[1] &^ ftraceForReading)
			b.at(second.took)
			b.number("; G", first.goroutine)
			b.str(" locked them in the opposite order,")
			b.at(first.held)
			b.str(" and")
			b.at(first.took)
		}
		ftraceComplain(b.string())
		ftraceFreeText(b)
	}
}

// at appends a place.
func (b *ftraceText) at(p ftracePlace) {
	at := p.position()
	b.str(" at ")
	b.str(at.function)
	b.str(" (")
	b.str(at.file[bytealg.LastIndexByteString(at.file, '/')+1:])
	b.number(":", uint64(at.line))
	b.str(")")
}

// position returns where package sync was called from.
func (p *ftracePlace) position() (at ftracePosition) {
	for _, pc := range [...]uintptr{p.inner, p.outer} {
		f := findfunc(pc)
		if pc == 0 || !f.valid() || at.function != "" && !ftraceOfSync(at.function) {
			break
		}
		calls, call := newInlineUnwinder(f, pc-1)
		for ; call.valid() && (at.function == "" || ftraceOfSync(at.function)); call = calls.next(call) {
			file, line := calls.fileLine(call)
			at = ftracePosition{function: calls.srcFunc(call).name(), file: file, line: int32(line)}
		}
	}
	return at
}

// ftraceOfSync reports whether a function is one of package sync.
func ftraceOfSync(name string) bool {
	return stringslite.HasPrefix(name, "sync.") || stringslite.HasPrefix(name, "internal/sync.")
}

// ftraceForgetDead is called when the collector has marked what is alive, while the world is
// stopped. It forgets the orders of locks that are not: others may get their addresses.
func ftraceForgetDead() {
	const size = 2 * ftraceOrdersMax
	f := &ftraceOrders
	had := f.n
	for i := uint32(0); i < size; i++ {
		for o := &f.slots[i]; o.lock != 0 && !(ftraceAlive(o.lock) && ftraceAlive(o.before)); {
			f.n--
			// The next ones that would not be found any more move up.
			free := i
			for j := (i + 1) % size; f.slots[j].lock != 0; j = (j + 1) % size {
				home := ftraceOrderHome(f.slots[j].before, f.slots[j].lock)
				if (j-home)%size >= (j-free)%size {
					f.slots[free] = f.slots[j]
					free = j
				}
			}
			f.slots[free].lock = 0
		}
	}
	if f.n != had {
		for b := ftraceLocks.all; b != nil; b = b.next {
			b.renew()
		}
	}
}

// ftraceAlive reports whether the collector, which has just marked, keeps a lock's memory.
func ftraceAlive(lock uint64) bool {
	p := uintptr(lock)
	s := spanOfHeap(p)
	return s == nil || s.markBitsForIndex(s.objIndex(p)).isMarked()
}
