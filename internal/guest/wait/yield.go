//go:build ftrace_core

// Goroutines that stop though they could run: they are preempted or yield, the world is stopped,
// the collector scans their stack. New goroutines await a processor, too.
//
// A preempted goroutine goes on in the middle of anything. So it is the scheduler that makes these
// events, on its own stack, just before it lets the goroutine run. There it may take locks, and
// write to files, but not wait for the lock of the trace's file: no lines are printed.

package runtime

import (
	"internal/goarch"
	"unsafe"
)

// ftraceYields is called on the scheduler's stack when gp stops to run, before its status says so.
// kind is ftraceWaitScan if the collector stops it to scan its stack, and else ftraceWaitCPU.
func ftraceYields(gp *g, kind uint8, preempted bool) {
	how := uint8(ftraceParked)
	if preempted {
		how = ftracePreempted
		if kind == ftraceWaitCPU && sched.gcwaiting.Load() {
			kind = ftraceWaitStopped
		}
	}
	gp.ftraceWait.yields(gp, kind, how)
}

// ftraceCreates is called on the system stack when newg is about to be made runnable for the first
// time.
func ftraceCreates(newg *g) { newg.ftraceWait.yields(newg, ftraceWaitCPU, ftraceCreated) }

func (w *ftraceWaitG) yields(gp *g, kind, how uint8) {
	t := gp.ftrace
	if w.operating && w.ready == 0 && kind == ftraceWaitCPU {
		w.ready = ftraceTicks()
	}
	if w.begin != 0 || ftraceWaitKind(kind).hook._type == nil || gp.ftraceMock.quiet || t != nil && (t.busy != 0 || t.muted) {
		return
	}
	if !w.ofProgram(gp) {
		return
	}
	w.object = 0
	w.starts(kind, how)
	if kind == ftraceWaitCPU {
		w.ready = w.begin
	}
}

// ftraceWorldStarts is called when the world, which was stopped, is about to be started.
func ftraceWorldStarts() { ftraceWaits.began = ftraceTicks() }

// ftraceRuns is called by execute, on the scheduler's stack, when gp is about to run whose wait is
// one of these, or which is in an operation.
func ftraceRuns(gp *g) {
	w, t := &gp.ftraceWait, gp.ftrace
	if w.operating {
		if w.ready != 0 {
			w.runnable += ftraceTicks() - w.ready
			w.ready = 0
		}
		return
	}
	if t == nil || t.busy == 0 && !t.muted {
		if w.kind == ftraceWaitStopped {
			w.ready = max(w.begin, ftraceWaits.began)
		}
		var site ftraceSite
		if ftraceKeepsWaits() {
			site = w.siteOf(gp)
		}
		w.ended(gp, site, nil)
	}
	w.begin = 0
}

// siteOf returns the site of gp, which stays where it is meanwhile.
func (w *ftraceWaitG) siteOf(gp *g) ftraceSite {
	fp, pc := gp.sched.bp, gp.sched.pc
	if w.how == ftraceCreated {
		fp, pc = 0, gp.gopc
	}
	if w.how != ftracePreempted {
		if site, ok := ftraceKnownSite(gp, fp, pc, true); ok {
			return site
		}
	}
	return w.newSite(gp)
}

//go:noinline
func (w *ftraceWaitG) newSite(gp *g) ftraceSite {
	var pcs ftracePCs
	w.where(gp, &pcs)
	return pcs.site(true)
}

// where reads where gp is, which stays there meanwhile. A goroutine that was preempted may be
// anywhere, so its site is a line of the source, for which there are fewer than for addresses.
func (w *ftraceWaitG) where(gp *g, p *ftracePCs) {
	switch w.how {
	case ftraceCreated: // at the go statement
		p.n = 0
		p.add(gp.gopc)
		p.end()
	case ftraceParked:
		p.read(gp, gp.sched.bp, gp.sched.pc)
	default:
		pc := gp.sched.pc + 1 // it is no address that a call returns to
		if gp.asyncSafePoint {
			p.read(gp, gp.sched.bp, pc)
		} else {
			// It is at the beginning of a function, which has no frame yet.
			caller := gp.sched.lr
			if goarch.IsAmd64 != 0 {
				caller = *(*uintptr)(unsafe.Pointer(gp.sched.sp))
			}
			p.read(gp, gp.sched.bp, pc, caller)
		}
		var at ftracePosition
		at.find(p.pcs[:p.n])
		p.hash = (uint64(uintptr(unsafe.Pointer(unsafe.StringData(at.function))))^uint64(at.line)<<48)*ftraceSpread | 1
	}
}
