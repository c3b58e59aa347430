//go:build ftrace_core

// What locks and channels are, and what leads to them: from package variables, or else from the
// stack of a goroutine that waits for them. Whoever has the types of variables, from debugging
// information, finds names by that. The program runs meanwhile, so what is read may be changing: it
// is taken for what it seems to be, and those who read the answer check that by types.

package runtime

import (
	"internal/goarch"
	"unsafe"
)

const (
	ftraceStepsMax   = 1 << 17 // objects looked at from package variables
	ftraceStackSteps = 1 << 11 // from one stack
	ftraceDepthMax   = 4
	ftraceLargest    = 64 << 10 // bytes of an object that are looked at
	ftraceToldMax    = 256      // objects of one request
)

// ftraceStep is a word that leads to an object, and the step that leads to the word.
type ftraceStep struct {
	word, value uintptr // word 0: it is on a stack
	from, depth int32   // from -1: a package variable
}

// ftraceTold is an object that the request is about.
type ftraceTold struct {
	address, base uintptr
	goid          uint64
	gp            guintptr // of goid
	chanOf        bool
	local         bool  // only the goroutine's stack is to be searched
	step          int32 // 0: nothing leads there, or else one more than the step that does
}

// ftraceTelling is a search.
type ftraceTelling struct {
	ftraceReach
	told  [ftraceToldMax]ftraceTold
	count int
	left  int     // those to which nothing leads yet
	only  uint64  // address of the only one that is searched for; 0: all are
	past  uintptr // an object to which words on a stack do not count: what leads there has the name
	slots [2 * ftraceToldMax]uint16
}

// ftraceTellObjects answers the request: pairs of an address, and the id of a goroutine that waits
// for it, with bit 63 set if it is a channel, and bit 62 if package variables are not to be
// searched. docs/format.md has every byte of the reply.
func ftraceTellObjects(asked []uint64) *ftraceText {
	var t ftraceTelling // on the stack, since no garbage of this may lead anywhere
	b := ftraceNewText()
	ok := t.begin(ftraceStepsMax * unsafe.Sizeof(ftraceStep{}))
	for i := 0; ok && i+1 < len(asked) && t.count < len(t.told); i += 2 {
		o := &t.told[t.count]
		o.address, o.goid, o.chanOf = uintptr(asked[i]), asked[i+1]&^(3<<62), asked[i+1]>>63 != 0
		o.local = asked[i+1]>>62&1 != 0
		o.base, _ = t.object(o.address)
		t.count++
		if o.base != 0 {
			if !o.local {
				t.left++
			}
			slot := o.base / goarch.PtrSize % uintptr(len(t.slots))
			for t.slots[slot] != 0 {
				slot = (slot + 1) % uintptr(len(t.slots))
			}
			t.slots[slot] = uint16(t.count)
		}
	}
	if ok {
		t.fromVariables()
		for i := range t.told[:t.count] {
			if o := &t.told[i]; o.base == 0 || o.step != 0 {
				t.tell(b, o, i)
			}
		}
		t.findGoroutines()
		for i := range t.told[:t.count] {
			if o := &t.told[i]; o.base != 0 && o.step == 0 {
				t.fromStack(o)
				t.tell(b, o, i)
			}
		}
	}
	t.end()
	return b
}

func (t *ftraceTelling) step(i int32) *ftraceStep {
	return (*ftraceStep)(add(t.found, uintptr(i)*unsafe.Sizeof(ftraceStep{})))
}

// follow looks at words, which step from leads to, and notes those that lead to objects not seen
// yet.
func (t *ftraceTelling) follow(from, to uintptr, by, depth int32, most uintptr, stack bool) {
	for from = alignUp(from, goarch.PtrSize); from+goarch.PtrSize <= to && t.n < most && t.left > 0; from += goarch.PtrSize {
		p := *(*uintptr)(unsafe.Pointer(from))
		base, s := t.object(p)
		if s == nil || stack && base == t.past {
			continue
		}
		b, bit := t.bit(base)
		if *b&bit != 0 {
			continue
		}
		*b |= bit
		step := t.step(int32(t.n))
		t.n++
		*step = ftraceStep{from, p, by, depth}
		if stack {
			step.word = 0
		}
		slot := base / goarch.PtrSize % uintptr(len(t.slots))
		for ; t.slots[slot] != 0; slot = (slot + 1) % uintptr(len(t.slots)) {
			if o := &t.told[t.slots[slot]-1]; o.base == base && o.step == 0 && (t.only == 0 && !o.local || t.only == uint64(o.address)) {
				o.step = int32(t.n)
				t.left--
			}
		}
	}
}

// drain looks at the objects that steps have led to, from number i on.
func (t *ftraceTelling) drain(i int32, most uintptr) {
	for ; uintptr(i) < t.n && t.left > 0; i++ {
		step := *t.step(i)
		base, s := t.object(step.value)
		if s == nil || s.spanclass.noscan() || step.depth >= ftraceDepthMax {
			continue
		}
		t.follow(base, min(base+min(s.elemsize, ftraceLargest), s.limit), i, step.depth+1, most, false)
	}
}

// fromVariables searches from package variables. What the runtime has of goroutines, threads and
// processors leads to everything, and has no names.
func (t *ftraceTelling) fromVariables() {
	forEachGRace(func(gp *g) { t.skip(unsafe.Pointer(gp)) })
	for mp := allm; mp != nil; mp = mp.alllink {
		t.skip(unsafe.Pointer(mp))
	}
	for _, pp := range allp {
		t.skip(unsafe.Pointer(pp))
	}
	table := uintptr(unsafe.Pointer(&semtable))
	for _, m := range activeModules() {
		t.follow(m.data, m.edata, -1, 0, ftraceStepsMax, false)
		if m.bss <= table && table < m.ebss {
			t.follow(m.bss, table, -1, 0, ftraceStepsMax, false)
			t.follow(table+unsafe.Sizeof(semtable), m.ebss, -1, 0, ftraceStepsMax, false)
		} else {
			t.follow(m.bss, m.ebss, -1, 0, ftraceStepsMax, false)
		}
	}
	t.drain(0, ftraceStepsMax)
}

// findGoroutines finds the goroutines that wait for what no package variable leads to, in one pass:
// there may be very many.
func (t *ftraceTelling) findGoroutines() {
	var slots [2 * ftraceToldMax]uint16 // by the goroutine, as slots in t by the object
	for i := range t.told[:t.count] {
		o := &t.told[i]
		if o.base == 0 || o.step != 0 {
			continue
		}
		slot := o.goid % uint64(len(slots))
		for slots[slot] != 0 {
			slot = (slot + 1) % uint64(len(slots))
		}
		slots[slot] = uint16(i + 1)
	}
	forEachGRace(func(gp *g) {
		goid := gp.goid
		for slot := goid % uint64(len(slots)); slots[slot] != 0; slot = (slot + 1) % uint64(len(slots)) {
			if o := &t.told[slots[slot]-1]; o.goid == goid {
				o.gp.set(gp)
			}
		}
	})
}

// fromStack searches for one object from the stack of a goroutine. It forgets the steps to others.
// A channel itself is on the stack, since the goroutine waits for it: what else leads there counts,
// such as the receiver in whose field it is.
func (t *ftraceTelling) fromStack(o *ftraceTold) {
	for i := range int32(t.n) { // that it was seen before does not count
		if base, s := t.object(t.step(i).value); s != nil {
			b, bit := t.bit(base)
			*b &^= bit
		}
	}
	t.n, t.left, t.only, t.past = 0, 1, uint64(o.address), 0
	if o.chanOf {
		t.past = o.base
	}
	if gp := o.gp.ptr(); gp != nil {
		t.followStack(gp, o.goid)
	}
	t.drain(0, ftraceStackSteps)
}

// followStack looks at the last calls of a goroutine, if it waits.
func (t *ftraceTelling) followStack(gp *g, goid uint64) {
	status := readgstatus(gp) &^ _Gscan
	if status != _Gwaiting && status != ftraceLeaked {
		return
	}
	mp := acquirem() // others spin until it is let go
	if ftraceHold(gp, status) {
		for s := gp.waiting; s != nil; s = s.waitlink {
			t.skip(unsafe.Pointer(s)) // it leads to the channel, and has no name
		}
		if sp := gp.sched.sp; gp.goid == goid && gp.stack.lo < sp && sp < gp.stack.hi {
			t.follow(sp, min(gp.stack.hi, sp+4096), -1, 1, ftraceStackSteps, true)
		}
		casfrom_Gscanstatus(gp, status|_Gscan, status)
	}
	releasem(mp)
}

// tell appends what there is to tell about an object.
func (t *ftraceTelling) tell(b *ftraceText, o *ftraceTold, number int) {
	if len(b.data)-b.n < ftraceListedRoom {
		return
	}
	b.word(uint64(number))
	_, s := t.object(o.address)
	if o.chanOf && s != nil && o.base == o.address && s.elemsize >= unsafe.Sizeof(hchan{}) {
		c := (*hchan)(unsafe.Pointer(o.address))
		b.word(uint64(c.qcount))
		b.word(uint64(c.dataqsiz))
		state := uint64(c.closed)
		if c.timer != nil {
			state |= 2
		}
		b.word(state)
		name := ""
		for _, m := range activeModules() {
			if p := uintptr(unsafe.Pointer(c.elemtype)); m.types <= p && p < m.etypes {
				name = toRType(c.elemtype).string()
			}
		}
		b.cString(name)
	} else {
		b.word(0)
		b.word(0)
		b.word(0)
		b.cString("")
	}
	counted, n := b.n, uint64(0)
	b.word(0)
	for i := o.step - 1; i >= 0; i = t.step(i).from {
		step := t.step(i)
		base, size := uintptr(0), uintptr(0)
		if at, s := t.object(step.value); s != nil {
			base, size = at, s.elemsize
			if !s.spanclass.noscan() && s.spanclass.sizeclass() != 0 && !heapBitsInSpan(size) {
				base, size = base+mallocHeaderSize, size-mallocHeaderSize // the collector has a word there
			}
		}
		b.word(uint64(step.word))
		b.word(uint64(step.value))
		b.word(uint64(base))
		b.word(uint64(size))
		n++
	}
	at := b.n
	b.n = counted
	b.word(n)
	b.n = at
}
