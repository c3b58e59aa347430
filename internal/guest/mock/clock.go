//go:build ftrace_core

// What the clock of a test wants to know: whether the test's goroutines wait, so that time may pass
// (mock/clock.go). Nobody is told when they begin to. The clock asks, again and again.

package runtime

import "unsafe"

// What goroutines are busy with, from the least to what keeps a clock from going on for good.
const (
	ftraceAllWait     = iota // for each other, or for time
	ftraceMayBeBusy          // one of the test's waits for input or output, or for a lock: others may hold that
	ftraceOthersBusy         // one runs that belongs to no test, such as a worker that was there before
	ftraceTestRunning        // one of the test's runs
)

// ftrace_mock_scope returns the goroutine's own scope for a clock, and makes it if there is none.
//
//go:linkname ftrace_mock_scope
func ftrace_mock_scope() unsafe.Pointer {
	s := getg().ftraceMock.own()
	s.clock = true
	return unsafe.Pointer(s)
}

// ftraceRaceStops is called in a program with the race detector when a goroutine stops or ends.
// What it has done happens before a clock finds that all wait.
//
//go:nosplit
func ftraceRaceStops() {
	for s := getg().ftraceMock.scope; s != nil; s = s.parent {
		if s.clock {
			racereleasemerge(unsafe.Pointer(s))
		}
	}
}

// ftrace_mock_bubbled reports whether the goroutine is in a bubble of package synctest.
//
//go:linkname ftrace_mock_bubbled
func ftrace_mock_bubbled() bool { return getg().bubble != nil }

// ftrace_mock_ticks sets whether the goroutine is at work for a clock. Such a one is never busy.
//
//go:linkname ftrace_mock_ticks
func ftrace_mock_ticks(on bool) (before bool) {
	state := &getg().ftraceMock
	before = state.ticks
	state.ticks = on
	return before
}

// ftrace_mock_busy returns what the goroutines are busy with that are in the scope, or in one
// around it. All are looked at while the world is stopped: one that wakes another up may itself
// wait by the time that it is looked at.
//
//go:linkname ftrace_mock_busy
func ftrace_mock_busy(scope unsafe.Pointer) int {
	s := (*ftraceScope)(scope)
	if most := s.busy(); most == ftraceTestRunning {
		return most // most often it is so, and the world need not be stopped
	}
	w := stopTheWorld(stwGoroutineProfile)
	most := s.busy()
	if most == ftraceMayBeBusy {
		startTheWorld(w) // which makes those runnable whose input or output is ready
		w = stopTheWorld(stwGoroutineProfile)
		most = s.busy()
	}
	startTheWorld(w)
	if raceenabled {
		raceacquire(scope)
	}
	return most
}

func (s *ftraceScope) busy() (most int) {
	forEachGRace(func(gp *g) { most = max(most, s.busyOf(gp)) })
	return most
}

// busyOf returns what one goroutine is busy with.
func (s *ftraceScope) busyOf(gp *g) int {
	state := &gp.ftraceMock
	status := readgstatus(gp) &^ _Gscan
	running := ftraceOthersBusy
	switch of := state.scope; {
	case status == _Gidle || status == _Gdead || state.ticks:
		return ftraceAllWait
	case of != nil && s.contains(of):
		running = ftraceTestRunning
	case of != nil && !of.contains(s):
		return ftraceAllWait // it is another test's
	}
	switch status {
	case _Grunnable, _Grunning, _Gcopystack, _Gpreempted, _Gsyscall:
		if isSystemGoroutine(gp, false) || status == _Gsyscall && funcname(findfunc(gp.startpc)) == "os/signal.loop" {
			return ftraceAllWait
		}
		return running
	case _Gwaiting:
		if isSystemGoroutine(gp, false) {
			return ftraceAllWait
		}
		reason := gp.waitreason
		kind := ftraceWaits.kinds[reason]
		switch kind {
		case ftraceWaitCond, ftraceWaitGroup, ftraceWaitReceive, ftraceWaitSend, ftraceWaitSelect, ftraceWaitSleep:
			return ftraceAllWait
		case ftraceWaitAssist, ftraceWaitCollector:
			return running
		}
		if running == ftraceOthersBusy {
			if kind == ftraceWaitSemaphore {
				return running // it may be the lock of a trace's text
			}
			return ftraceAllWait
		}
		if kind == ftraceNoWait {
			if reason != waitReasonCoroutine && reason != waitReasonSynctestRun && reason != waitReasonSynctestWait {
				return running // it is in the collector's hands
			}
			return ftraceAllWait
		}
		return ftraceMayBeBusy
	}
	return ftraceAllWait // it is none any more, as what _Gdeadextra and _Gleaked mark
}
