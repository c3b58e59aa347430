//go:build ftrace_core

// The budget: what tracing may cost, as a share of the processor time that the program itself uses.
//
// A few functions have nearly all calls. So each function has a quota: so many calls in a window of
// 10 ms. The call that finds it used up is left out, as are the next ones, until sysmon lets them
// be noted again 100 ms later. They are only counted, for an eighth of what it costs to note one.
// Once eight quotas are counted, the hook is turned off, and the rest of them costs nothing. From
// then on the function's calls are no longer counted. So what is rare is always noted, what is
// frequent is counted, and of what is very frequent there are some calls in each turn. Sysmon,
// which is awake anyway, adds up what the calls of a turn cost, and sets the quota by that.
//
// Only what a recording says can be left out, so there must be one.
//
// A call looks only at the limit that stands beside its function's count. Calls of functions that
// need other decisions than to be noted (lines, marks, replacements, several observers) are never
// left out.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceWindow    = 10e6 // ns
	ftraceTurn      = 10   // windows
	ftraceMinQuota  = 16
	ftraceMaxQuota  = 1 << 30
	ftraceAnewQuota = 64
	ftraceMaxOff    = 4096 // at most calls of so many functions are left out at once

	ftraceCountedCalls = 8       // so many calls are counted for what it costs to note one
	ftraceUncounted    = 1 << 31 // in ftraceFunc.counted and leftOut
)

// ftraceBudget is the state of the budget. Sysmon writes it, unless it says otherwise.
var ftraceBudget struct {
	share  uint32         // of the processor time, in millionths; 0: there is no budget
	window uint32         // number of the current window, from 1 on; calls of ftraceBudgetAnew begin others; atomic
	quota  uintptr        // calls that a function may have in a window; atomic
	opened int64          // when the window began
	hook   unsafe.Pointer // the type of a hook that is on

	// Since the turn began.
	begun int64  // when that was
	ticks uint64 // then
	cpu   int64  // processor time used until then, in ns
	noted uint64 // calls noted until then

	entry uint64                        // ticks that the entry of a call takes; calls write it, atomic
	off   *[ftraceMaxOff]unsafe.Pointer // the functions of which calls are left out, *ftraceFunc; calls add to it, atomic
	next  uint32                        // where the next one may go; atomic
}

// ftraceParseBudget reads FTRACE_BUDGET: off, or so many percent, such as 3%.
func ftraceParseBudget(s string) {
	if s == "" || s == "off" {
		return
	}
	share, digits := uint32(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9' && digits < 3:
			share, digits = share*10+uint32(c-'0'), digits+1
			continue
		case c == '%' && i == len(s)-1 && digits > 0:
			continue
		}
		share = 0
		break
	}
	b := &ftraceBudget
	switch {
	case share == 0:
		ftraceComplain("FTRACE_BUDGET: " + s + " is neither off nor a percentage from 1% to 999%")
		return
	case ftraceProcessTime() == 0:
		ftraceComplain("FTRACE_BUDGET: there is none on this system")
		return
	}
	if b.off = (*[ftraceMaxOff]unsafe.Pointer)(ftraceAlloc(unsafe.Sizeof(*b.off))); b.off == nil {
		return
	}
	var hook any = (*ftraceFunc)(nil)
	b.hook = unsafe.Pointer(efaceOf(&hook)._type)
	b.share, b.window, b.entry = share*1e4, 1, 100
	b.quota = ftraceMinQuota + uintptr(share)*1000
	b.opened, b.begun, b.ticks, b.cpu = nanotime(), nanotime(), ftraceCycles(), ftraceProcessTime()
}

// ftraceEntryAtLimit is ftraceEntryFast for a call of a function that has reached its limit.
func ftraceEntryAtLimit(f *ftraceFunc, w *ftraceWriter, offset uintptr, first *any, n int, result *any) (token int) {
	b := &ftraceBudget
	if atomic.Load(&f.back) != 0 {
		f.onlyCount(w)
		return 0
	}
	window := atomic.Load(&b.window)
	switch {
	case b.share == 0:
		atomic.Storeuintptr(&f.limit, ^uintptr(0))
		return ftraceEntryFast(f, offset, first, n, result)
	case ftraceRecording.on && atomic.Load(&f.window) == window && f.leaveOut(window):
		f.onlyCount(w)
		return 0
	}
	f.recordOn()
	atomic.Store(&f.window, window)
	atomic.Storeuintptr(&f.limit, atomic.Loaduintptr(&f.count)+atomic.Loaduintptr(&b.quota))
	from := ftraceCycles()
	token = ftraceEntryFast(f, offset, first, n, result)
	if took, usual := ftraceCycles()-from, atomic.Load64(&b.entry); took < 4*usual {
		atomic.Store64(&b.entry, usual-usual/16+took/16)
	}
	return token
}

// onlyCount counts a call of f that is left out. After as many as the budget allows it turns the
// hook of f off. It also does where calls of f were left out before that were not counted: how many
// there are in all will not be known, so no more time is spent on it.
func (f *ftraceFunc) onlyCount(w *ftraceWriter) {
	w.counted++
	n := atomic.Xadd(&f.counted, 1)
	if n&ftraceUncounted == 0 && (atomic.Load(&f.leftOut)&ftraceUncounted != 0 || uintptr(n) >= ftraceCountedCalls*atomic.Loaduintptr(&ftraceBudget.quota)) {
		atomic.Or(&f.counted, ftraceUncounted)
		atomic.Or(&f.leftOut, ftraceUncounted)
		atomic.StorepNoWB(unsafe.Pointer(&f.hook._type), nil)
		if atomic.Load(&f.back) == 0 { // sysmon came first
			f.hookOn()
		}
		ftraceDoubt()
	}
}

// hookOn turns the hook of f on if it is off and to be on. It reports whether it did.
//
//go:nowritebarrierrec
func (f *ftraceFunc) hookOn() bool {
	if f.hook._type != nil || !f.loadLaid().arms(f) {
		return false
	}
	atomic.StorepNoWB(unsafe.Pointer(&f.hook._type), ftraceBudget.hook)
	return true
}

// recordOn records that calls of f are noted again, if this is the first and they are: the slow
// path also notes calls that are to be left out.
func (f *ftraceFunc) recordOn() {
	if atomic.Load(&f.back) == 0 {
		f.recordReturn()
	}
}

// recordReturn records that calls of f are no longer left out, if they were, and adds those to its
// calls that were counted meanwhile.
func (f *ftraceFunc) recordReturn() {
	since := atomic.Load64(&f.wasOff)
	if since == 0 || !atomic.Cas64(&f.wasOff, since, 0) {
		return
	}
	counted := atomic.Xchg(&f.counted, 0)
	calls := uint64(counted &^ ftraceUncounted)
	atomic.Xadduintptr(&f.count, uintptr(calls))
	if counted&ftraceUncounted != 0 {
		calls |= ftrace_format_Uncounted
	}
	ftraceRecordSwitch(f, ftrace_format_KindOn, since, calls)
}

// leaveOut leaves out the calls of f until ftraceTurn windows after window. It reports whether they
// are.
func (f *ftraceFunc) leaveOut(window uint32) bool {
	b := &ftraceBudget
	if !atomic.Cas(&f.back, 0, window+ftraceTurn) {
		return true // another call did
	}
	for range ftraceMaxOff {
		at := &b.off[atomic.Xadd(&b.next, 1)%ftraceMaxOff]
		if atomic.Loadp(unsafe.Pointer(at)) == nil && atomic.Casp1(at, nil, unsafe.Pointer(f)) {
			now := ftraceTicks()
			atomic.Store64(&f.wasOff, now)
			if atomic.Cas(&f.leftOut, 0, 1) && ftraceMemory.head != nil {
				atomic.Xadd64(&ftraceMemory.head.LeftOut, 1)
			}
			ftraceRecordSwitch(f, ftrace_format_KindOff, now, uint64(atomic.Loaduintptr(&f.count)))
			return true
		}
	}
	atomic.Store(&f.back, 0)
	return false
}

// ftraceFinishBudget records what was left out until the end of the program, as far as it was
// counted.
func ftraceFinishBudget() {
	if ftraceBudget.share == 0 {
		return
	}
	for i := range ftraceBudget.off {
		if f := (*ftraceFunc)(atomic.Loadp(unsafe.Pointer(&ftraceBudget.off[i]))); f != nil {
			f.recordReturn()
		}
	}
}

// ftraceBudgetTick is called by sysmon each time it looks after the processors.
//
//go:nowritebarrierrec
func ftraceBudgetTick(now int64) {
	b := &ftraceBudget
	if now-b.opened < ftraceWindow {
		return
	}
	b.opened = now
	window := atomic.Xadd(&b.window, 1)
	if now-b.begun >= ftraceTurn*ftraceWindow {
		ftraceBudgetTurn(now)
	}
	ftraceBudgetReturn(window)
}

// ftraceBudgetReturn lets the calls of functions be noted again that are to be left out until a
// window.
//
//go:nowritebarrierrec
func ftraceBudgetReturn(window uint32) {
	switched := false
	for i := range ftraceBudget.off {
		at := &ftraceBudget.off[i]
		f := (*ftraceFunc)(atomic.Loadp(unsafe.Pointer(at)))
		if f == nil || int32(window-atomic.Load(&f.back)) < 0 || !atomic.Casp1(at, unsafe.Pointer(f), nil) {
			continue
		}
		atomic.Storeuintptr(&f.limit, 0) // its next call gives it another
		atomic.Store(&f.window, 0)
		atomic.Store(&f.back, 0)
		switched = f.hookOn() || switched
	}
	if switched {
		ftraceDoubt()
	}
}

// ftraceBudgetAnew gives each function a new quota: a test begins, and the first calls in it are
// wanted. Where the quota is small there are many tests, each of which takes no time, and nothing
// changes.
func ftraceBudgetAnew() {
	b := &ftraceBudget
	if b.share != 0 && atomic.Loaduintptr(&b.quota) >= ftraceAnewQuota {
		ftraceBudgetReturn(atomic.Xadd(&b.window, 1) + ftraceTurn)
	}
}

// ftraceBudgetTurn sets the quota by what the last turn cost.
//
//go:nowritebarrierrec
func ftraceBudgetTurn(now int64) {
	b := &ftraceBudget
	noted, cpu, ticks := ftraceNotedCalls(), ftraceProcessTime(), ftraceCycles()
	tick := float64(now-b.begun) / float64(max(1, ticks-b.ticks))                                // ns
	cost := float64(noted-b.noted) * float64(atomic.Load64(&b.entry)) * ftraceCallEntries * tick // ns
	allowed := max(0, float64(cpu-b.cpu)-cost) * float64(b.share) / 1e6
	quota := float64(b.quota)
	switch {
	case cost > allowed:
		quota *= max(0.1, 0.9*allowed/cost)
	case cost < 0.8*allowed:
		quota = quota*1.25 + 1
	}
	atomic.Storeuintptr(&b.quota, uintptr(min(max(quota, ftraceMinQuota), ftraceMaxQuota)))
	b.begun, b.ticks, b.cpu, b.noted = now, ticks, cpu, noted
}

// ftraceCallEntries is how much more a call costs than what is measured of its entry: its exit, and
// what the function does to call the core.
const ftraceCallEntries = 2.5

// ftraceNotedCalls returns how many calls the fast path has noted, and adds those that were only
// counted, by what they cost.
//
//go:nowritebarrierrec
func ftraceNotedCalls() (calls uint64) {
	for i := range ftraceRecording.writers {
		if w := (*ftraceWriter)(atomic.Loadp(unsafe.Pointer(&ftraceRecording.writers[i]))); w != nil {
			calls += w.noted + w.counted/ftraceCountedCalls
		}
	}
	return calls
}

// ftraceRecordSwitch records that calls of f are no longer noted since then, after so many, or that
// they are noted again, which so many were not since then.
func ftraceRecordSwitch(f *ftraceFunc, kind uint8, since, calls uint64) {
	gp := getg()
	t := gp.ftrace
	if !ftraceRecording.on || t == nil {
		return
	}
	mp := acquirem()
	if w := ftraceRecorder(mp); w != nil {
		t.last = w.last
		w.first(gp, t)
		if w.room(mp) {
			r := w.begin(gp, kind, f, t.shown)
			*(*[2]uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = [2]uint64{since, calls}
			w.end(r, ftraceRecordSize+16)
		}
	}
	releasem(mp)
}

// ftrace_api_left_out returns the names of the functions of which calls were left out to keep
// within the budget: of the first few, and how many there are.
//
//go:linkname ftrace_api_left_out
func ftrace_api_left_out(names []string) (n int) {
	if ftraceBudget.share == 0 {
		return 0
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			f := p.fn(i)
			if atomic.Load(&f.leftOut) == 0 {
				continue
			}
			if n < len(names) {
				names[n] = p.label() + "." + f.name
			}
			n++
		}
	}
	return n
}
