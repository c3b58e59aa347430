//go:build ftrace_core

// The calls of goroutines that run. A signal has the thread note them: the one by which the runtime
// preempts goroutines, which a program has to expect at any time (os/linux.go). The goroutine goes
// on where it was.

package runtime

import "internal/runtime/atomic"

// ftracePatience is for how many ns a list of goroutines waits for those that run, all together. A
// thread that has no processor notes nothing.
const ftracePatience = int64(50e6)

// States of ftraceGlance.
const (
	ftraceGlanceNone  = iota // no thread is asked
	ftraceGlanceAsked        // the signal is on its way
	ftraceGlanceNotes        // the thread notes the calls
	ftraceGlanceDone         // it has noted them, or runs another goroutine
)

// ftraceGlance is the goroutine whose calls are wanted. Only the handler of requests asks.
var ftraceGlance struct {
	state uint32 // atomic
	on    muintptr
	of    guintptr
	goid  uint64 // as the thread found it; 0: it runs another one
	pcs   int
	pc    [ftraceListedFrames]uintptr
	fns   [ftraceListedFrames]funcInfo
}

// glance notes where a goroutine is that runs, and reports whether it still did. It waits for that,
// and takes the time from the patience.
func (s *ftraceListedG) glance(gp *g, patience *int64) bool {
	look := &ftraceGlance
	if GOOS != "linux" || *patience <= 0 {
		return false
	}
	mp := acquirem() // others spin until it is let go
	held := ftraceHold(gp, _Grunning)
	if held {
		s.of(gp)
		look.on.set(gp.m)
		look.of.set(gp)
		casfrom_Gscanstatus(gp, _Gscanrunning, _Grunning)
	}
	releasem(mp)
	if !held {
		return false
	}
	begin := nanotime()
	atomic.Store(&look.state, ftraceGlanceAsked)
	for atomic.Load(&look.state) != ftraceGlanceDone {
		preemptM(look.on.ptr()) // unless a signal is on its way, which may have come a moment too early
		if nanotime()-begin >= *patience && atomic.Cas(&look.state, ftraceGlanceAsked, ftraceGlanceNone) {
			break
		}
		usleep(10)
		goschedguarded()
	}
	*patience -= nanotime() - begin
	if atomic.Load(&look.state) == ftraceGlanceNone || look.goid != s.goid {
		return false
	}
	s.status, s.pcs = _Grunning, look.pcs
	copy(s.pc[:], look.pc[:look.pcs])
	copy(s.fns[:], look.fns[:look.pcs])
	return true
}

// ftraceNoteCalls is called by a thread that the signal has come to while it ran gp, which may be
// the one on whose stack the runtime works for another. If those calls are wanted it notes them.
// They begin with what the signal came between.
//
//go:nowritebarrierrec
func ftraceNoteCalls(gp *g, pc, sp, lr uintptr) {
	mp := getg().m
	if debug.asyncpreemptoff != 0 {
		mp.signalPending.Store(0) // the runtime does not look at the signal
	}
	look := &ftraceGlance
	if atomic.Load(&look.state) != ftraceGlanceAsked || mp != look.on.ptr() || !atomic.Cas(&look.state, ftraceGlanceAsked, ftraceGlanceNotes) {
		return
	}
	look.goid, look.pcs = 0, 0
	// With the race detector of C the signal may be an old one, and pc with it.
	if of := look.of.ptr(); mp.curg == of && *cgo_yield == nil {
		look.goid = of.goid
		var u unwinder
		if mp.vdsoSP != 0 {
			u.initAt(mp.vdsoPC, mp.vdsoSP, 0, gp, unwindSilentErrors|unwindJumpStack)
		} else {
			u.initAt(pc, sp, lr, gp, unwindSilentErrors|unwindTrap|unwindJumpStack)
		}
		for ; u.valid() && look.pcs < ftraceListedFrames; u.next() {
			look.fns[look.pcs], look.pc[look.pcs] = u.frame.fn, u.symPC()
			look.pcs++
		}
	}
	atomic.Store(&look.state, ftraceGlanceDone)
}
