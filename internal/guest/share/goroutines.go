//go:build ftrace_core

// All goroutines of the program, for those who look at it from outside: where each is, whether
// anything is armed or not.

package runtime

import "internal/goarch"

const (
	ftraceListedFrames = 24      // calls listed of a goroutine, the innermost first
	ftraceListedRoom   = 8 << 10 // bytes that one may take
)

// ftraceListStates returns goroutines from number from on, in the order in which the runtime
// has them, as many as fit into a reply. docs/format.md has every byte.
func ftraceListStates(from uint64) string {
	b := ftraceNewText()
	b.word(0) // where the next list begins, 0: there is none
	b.word(ftraceTicks())
	all, n := atomicAllG()
	i := uintptr(from)
	for ; i < n && b.n < len(b.data)-ftraceListedRoom; i++ {
		gp := atomicAllGIndex(all, i)
		if isSystemGoroutine(gp, false) {
			continue
		}
		status := readgstatus(gp) &^ _Gscan
		switch status {
		case _Grunning, _Gcopystack, _Gpreempted:
		case _Grunnable, _Gwaiting, _Gsyscall:
			mp := acquirem() // others spin until it is let go
			held := castogscanstatus(gp, status, status|_Gscan)
			if held {
				b.goroutine(gp, status, true)
				casfrom_Gscanstatus(gp, status|_Gscan, status)
			}
			releasem(mp)
			if held {
				continue
			}
			status = readgstatus(gp) &^ _Gscan
		default: // it is none, or no longer
			continue
		}
		b.goroutine(gp, status, false)
	}
	if i < n {
		at := b.n
		b.n = 0
		b.word(uint64(i))
		b.n = at
	}
	list := string(b.data[:b.n])
	ftraceFreeText(b)
	return list
}

// goroutine appends a goroutine. If it is held it neither runs nor ends meanwhile, so its calls can
// be looked at.
func (b *ftraceText) goroutine(gp *g, status uint32, held bool) {
	b.word(gp.goid)
	b.word(gp.parentGoid)
	b.word(uint64(status))
	key, begin, object := uint32(0), uint64(0), uintptr(0)
	reason := waitReasonZero
	if held && status == _Gwaiting {
		reason = gp.waitreason
		if kind := ftraceWaits.kinds[reason]; kind < ftraceWaitKinds && kind != ftraceWaitSocket { // or what its file is
			key = ftraceWaitKind(kind).key
		}
		switch w := &gp.ftraceWait; {
		case w.begin != 0:
			key, begin, object = ftraceWaitKind(w.kind).key, w.begin, w.object
		case gp.waiting != nil && gp.waiting.waitlink == nil: // of a select there are several
			object = ftraceChanOf(gp.waiting)
		}
	}
	b.word(uint64(key))
	b.word(begin)
	b.word(uint64(object))
	b.cString(reason.String())
	b.codeName(gp.startpc + goarch.PCQuantum) // it is where a function begins, not where a call returns to
	b.codeName(gp.gopc)
	counted := b.n
	b.word(0)
	if !held {
		return
	}
	n := 0
	systemstack(func() {
		var u unwinder
		for u.init(gp, unwindSilentErrors); u.valid() && n < ftraceListedFrames; u.next() {
			calls, call := newInlineUnwinder(u.frame.fn, u.symPC())
			for ; call.valid() && n < ftraceListedFrames; call = calls.next(call) {
				file, line := calls.fileLine(call)
				b.word(uint64(line))
				b.cString(calls.srcFunc(call).name())
				b.cString(file)
				n++
			}
		}
	})
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
