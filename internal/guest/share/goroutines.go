//go:build ftrace_core

// All goroutines of the program, for those who look at it from outside: where each is, whether
// anything is armed or not.

package runtime

import (
	"internal/goarch"
	"internal/runtime/sys"
	"unsafe"
)

const (
	ftraceListedFrames = 40       // how many calls of a goroutine are listed
	ftraceListedRoom   = 16 << 10 // bytes that one may take
	ftraceListedStacks = 1 << 10  // different stacks in one list, a power of two
)

// ftraceListed are the stacks in a list, so that each is in it once. A program with very many
// goroutines has few.
type ftraceListed struct {
	hashes [ftraceListedStacks]uint64 // 0: there is none
	number [ftraceListedStacks]uint32
	count  uint32
}

var ftraceListing ftraceListed

// ftraceListStates returns goroutines from number from on, in the order in which the runtime
// has them, as many as fit into a reply. docs/format.md has every byte.
func ftraceListStates(from uint64) *ftraceText {
	b := ftraceNewText()
	stacks := &ftraceListing // only the handler of requests lists
	*stacks = ftraceListed{}
	b.word(0) // where the next list begins, 0: there is none
	b.word(ftraceTicks())
	all, n := atomicAllG()
	i := uintptr(from)
	patience := ftracePatience
	for ; i < n && b.n < len(b.data)-ftraceListedRoom && stacks.count < ftraceListedStacks/2; i++ {
		ftraceFetchG(all, i, n)
		gp := atomicAllGIndex(all, i)
		if isSystemGoroutine(gp, false) {
			continue
		}
		var s ftraceListedG
		if s.see(gp, &patience) {
			b.goroutine(&s, stacks)
		}
	}
	if i < n {
		at := b.n
		b.n = 0
		b.word(uint64(i))
		b.n = at
	}
	return b
}

// ftraceCountGoroutines returns how many goroutines a list of all would have.
func ftraceCountGoroutines() (count uint64) {
	const ahead = 16 // as in ftraceFetchG
	all, n := atomicAllG()
	for i := range n {
		if i+ahead < n {
			gp := atomicAllGIndex(all, i+ahead)
			sys.Prefetch(uintptr(unsafe.Pointer(&gp.atomicstatus)))
			sys.Prefetch(uintptr(unsafe.Pointer(&gp.startpc)))
		}
		gp := atomicAllGIndex(all, i)
		if ftraceLives(gp) && !isSystemGoroutine(gp, false) {
			count++
		}
	}
	return count
}

// ftraceFetchG tells the processor to fetch what the list is about to need. Where very many
// goroutines wait, none of it is in a cache: neither what the runtime has of them nor their stacks.
func ftraceFetchG(all **g, i, n uintptr) {
	const (
		stacksAhead = 8
		ahead       = 2 * stacksAhead
		line        = 64
	)
	if i+ahead < n {
		gp := uintptr(unsafe.Pointer(atomicAllGIndex(all, i+ahead)))
		for at := uintptr(0); at < unsafe.Sizeof(g{}); at += line {
			sys.Prefetch(gp + at)
		}
	}
	if i+stacksAhead < n {
		sp := atomicAllGIndex(all, i+stacksAhead).sched.sp // it may be changing, and then is of no use
		for at := uintptr(0); at < 5*line; at += line {
			sys.Prefetch(sp + at)
		}
	}
}

// ftraceListedG is what the list has of a goroutine.
type ftraceListedG struct {
	goid, parent uint64
	begin        uint64
	least        int64 // for how many ns it has waited at least, if begin is 0
	status, key  uint32
	reason       waitReason
	kind         uint8 // if it waits: of which that is by its reason
	stuck        bool
	start, gopc  uintptr
	objects, pcs int
	object       [ftraceAwaitedMax]uint64
	pc           [ftraceListedFrames]uintptr
	fns          [ftraceListedFrames]funcInfo
}

func (s *ftraceListedG) of(gp *g) {
	s.goid, s.parent, s.start, s.gopc = gp.goid, gp.parentGoid, gp.startpc, gp.gopc
}

// see notes where a goroutine is, and reports whether there is one. Of one that runs it notes the
// calls as long as there is patience, in ns, which it takes from that.
func (s *ftraceListedG) see(gp *g, patience *int64) bool {
	for {
		status := readgstatus(gp) &^ _Gscan
		switch status {
		case _Grunning:
			if s.glance(gp, patience) {
				return true
			}
		case _Grunnable, _Gwaiting, _Gsyscall, ftraceLeaked:
			mp := acquirem() // others spin until it is let go
			held := ftraceHold(gp, status)
			if held {
				s.look(gp, status)
				casfrom_Gscanstatus(gp, status|_Gscan, status)
			}
			releasem(mp)
			if held {
				return true
			}
		case _Gcopystack, _Gpreempted:
		default: // it is none, or no longer
			return false
		}
		if *patience <= 0 {
			s.status, s.pcs = status, 0
			s.of(gp)
			return true
		}
		*patience -= 1000 // it is on its way from one status to another
		osyield()
	}
}

// look notes where a goroutine is. It is held: it neither runs nor ends meanwhile, so its calls can
// be looked at.
func (s *ftraceListedG) look(gp *g, status uint32) {
	s.of(gp)
	s.status = status
	switch w := &gp.ftraceWait; {
	case status == _Grunnable && w.begin != 0:
		s.begin = w.ready
	case status == _Gsyscall && w.begin != 0:
		s.key, s.begin = ftraceWaitKind(w.kind).key, w.begin
		if w.object != 0 {
			s.object[0], s.objects = w.object, 1
		}
	case status == _Gwaiting, status == ftraceLeaked:
		s.status = _Gwaiting
		s.reason, s.stuck = gp.waitreason, w.stuck || status == ftraceLeaked
		s.kind = ftraceWaits.kinds[s.reason]
		if s.kind < ftraceWaitKinds && s.kind != ftraceWaitSocketRead { // or what its file is
			s.key = ftraceWaitKind(s.kind).key
		}
		if w.begin != 0 {
			s.key, s.begin = ftraceWaitKind(w.kind).key, w.begin
		}
		s.objects = ftraceAwaitedBy(gp, &s.object)
		if s.objects == 0 && w.begin != 0 && w.object != 0 {
			s.object[0], s.objects = w.object, 1
		}
		if s.kind == ftraceWaitSocketRead && w.begin == 0 {
			s.polls(gp)
		}
	}
	if s.begin == 0 && status != _Grunnable && gp.waitsince != 0 {
		s.least = nanotime() - gp.ftraceWait.seen // the collector has seen it wait
	}
	systemstack(func() {
		var u unwinder
		for u.init(gp, unwindSilentErrors); u.valid() && s.pcs < ftraceListedFrames; u.next() {
			s.fns[s.pcs], s.pc[s.pcs] = u.frame.fn, u.symPC()
			s.pcs++
		}
	})
	if s.status == _Gwaiting && s.kind == ftraceWaitMutex {
		s.tell()
	}
}

// polls says of which file a goroutine waits that it is ready, and whether to be read or written.
func (s *ftraceListedG) polls(gp *g) {
	pd, class := (*pollDesc)(unsafe.Pointer(gp.ftraceWait.at)), uint8(ftraceReads) // it is never freed
	switch uintptr(unsafe.Pointer(gp)) {
	case pd.rg.Load():
	case pd.wg.Load():
		class = ftraceWrites
	default:
		return // it is about to go on
	}
	s.key = ftraceWaitKind(ftraceWaitAt(pd, class)).key
	s.object[0], s.objects = uint64(pd.fd), 1
}

// tell says for what a goroutine waits that waits for a mutex: for that, or what the mutex is in.
func (s *ftraceListedG) tell() {
	for i := range s.pcs - 1 {
		if funcname(s.fns[i]) != "internal/sync.(*Mutex).lockSlow" {
			continue
		}
		s.key = ftraceWaitKind(ftraceLockOf(funcname(s.fns[i+1]))).key // neither function that it tells is inlined
		return
	}
}

// hash returns what goroutines have in common that do the same at the same place.
func (s *ftraceListedG) hash() uint64 {
	h := uint64(s.reason) + 1
	mix := func(v uintptr) { h = (h ^ uint64(v)) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	mix(s.start)
	mix(s.gopc)
	for _, pc := range s.pc[:s.pcs] {
		mix(pc)
	}
	return max(h, 1)
}

// goroutine appends a goroutine.
func (b *ftraceText) goroutine(s *ftraceListedG, stacks *ftraceListed) {
	hash := s.hash()
	slot := hash % ftraceListedStacks
	for stacks.hashes[slot] != 0 && stacks.hashes[slot] != hash {
		slot = (slot + 1) % ftraceListedStacks
	}
	known := stacks.hashes[slot] != 0
	if !known {
		stacks.hashes[slot], stacks.number[slot] = hash, stacks.count
		stacks.count++
	}
	stuck := uint64(0)
	if s.stuck {
		stuck = 1
	}
	b.word(s.goid)
	b.word(s.parent)
	b.word(uint64(s.status) | stuck<<8 | uint64(s.objects)<<16 | uint64(stacks.number[slot])<<32)
	b.word(uint64(s.key))
	b.word(s.begin)
	b.word(uint64(max(s.least, 0)))
	for _, object := range s.object[:s.objects] {
		b.word(object)
	}
	if known {
		return
	}
	b.cString(s.reason.String())
	b.codeName(s.start + goarch.PCQuantum) // it is where a function begins, not where a call returns to
	b.codeName(s.gopc)
	counted, n := b.n, 0
	b.word(0)
	for i, pc := range s.pc[:s.pcs] {
		calls, call := newInlineUnwinder(s.fns[i], pc)
		for ; call.valid() && n < ftraceListedFrames; call = calls.next(call) {
			file, line := calls.fileLine(call)
			b.word(uint64(line))
			b.cString(calls.srcFunc(call).name())
			b.cString(file)
			n++
		}
	}
	at := b.n
	b.n = counted
	b.word(uint64(n))
	b.n = at
}

// codeName appends the name of the function that an instruction belongs to.
func (b *ftraceText) codeName(pc uintptr) {
	name := ""
	if f := findfunc(pc - min(pc, goarch.PCQuantum)); pc != 0 && f.valid() {
		name = funcname(f)
	}
	if f := findfunc(pc); name == "" && f.valid() {
		name = funcname(f)
	}
	b.cString(name)
}
