//go:build ftrace_core

// The budget: what tracing may cost, as a share of the processor time that the program itself uses.
//
// A few functions have nearly all calls. So each function has a quota: so many calls in a window of
// 10 ms. The call that finds it used up is left out, as are the next ones, until sysmon lets them
// be noted again 100 ms later. They are only counted, and noted nevertheless at their end if they
// were slow or failed, see call/leftout.go. That costs three quarters of what it costs to note one
// in a ring, and a sixth of what it costs in a file, whose pages are new. Once as many are counted
// as the budget has room for, the hook is turned off, and the rest of them costs nothing. From then
// on the function's calls are no longer counted. So what is rare is always noted, what is frequent
// is counted, and of what is very frequent there are some calls in each turn. Sysmon, which is
// awake anyway, adds up what the calls of a turn cost, and sets the quota by that.
//
// What is left out must be said, by a recording or by the summaries of functions. Each observer may
// ask for a budget: the program by FTRACE_BUDGET, a session by a request. What only the consumers
// see has one of its own, by default. The smallest holds. A call is left out only if all who see it
// have asked for one: who has not sees every call.
//
// A call looks only at the limit that stands beside its function's count. Calls of functions that
// need other decisions than to be noted (lines, marks, replacements) are never left out.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	ftraceWindow    = 10e6 // ns
	ftraceTurn      = 10   // windows
	ftraceMinQuota  = 16
	ftraceMaxQuota  = 1 << 30
	ftraceAnewQuota = 64
	ftraceMaxOff    = 4096 // at most calls of so many functions are left out at once

	ftraceEntries      = 64
	ftraceCountedCalls = 8  // for each call noted so many are counted
	ftraceCountedCheck = 64 // whether these are enough is asked after so many

	ftraceKeptUsual = 1e5 // of the processor time, in millionths, for calls that only the consumers see
)

// ftraceBudgetState is the state of the budget. Sysmon writes it, unless it says otherwise.
type ftraceBudgetState struct {
	asked  [1 + ftrace_format_SessionsMax]uint32 // by observer, what it asks for, as share; under the registry's lock; atomic
	start  uint32                                // what FTRACE_BUDGET asks for
	own    uint32                                // what the program asks for its recording; under the registry's lock; atomic
	share  uint32                                // of the processor time, in millionths: the smallest that anyone asks for; 0: there is no budget; likewise
	window uint32                                // number of the current window, from 1 on; calls of ftraceBudgetAnew begin others; atomic
	quota  uintptr                               // calls that a function may have in a window; atomic
	watch  uintptr                               // calls of a function of which in a turn the ends are watched while they are left out; atomic
	slow   int64                                 // ticks that a call takes at least that is slow, see call/leftout.go; atomic
	ended  uint32                                // ftraceKeepingEnded once the program exits
	opened int64                                 // when the window began
	hook   unsafe.Pointer                        // the type of a hook that is on

	// Since the turn began.
	begun int64  // when that was
	ticks uint64 // then
	cpu   int64  // processor time used until then, in ns
	noted uint64 // calls noted until then
	only  uint64 // calls that were only counted until then

	entry uint64                        // ticks that ftraceEntries entries of calls take; calls write it, atomic
	usual uint64                        // ticks that one takes that need not wait for memory; likewise
	off   *[ftraceMaxOff]unsafe.Pointer // the functions of which calls are left out, *ftraceFunc; calls add to it, atomic
	next  uint32                        // where the next one may go; atomic
	live  uint32                        // how many there are; atomic

	panics uint32                         // recovered ones since the turn began; recovery adds to it, atomic
	passed *[ftracePassedMax]ftracePassed // see call/leftout.go
}

var ftraceBudget ftraceBudgetState

// ftraceParseBudget reads FTRACE_BUDGET: off, or so many percent, such as 3%.
func ftraceParseBudget(s string) {
	h := ftraceMemory.head // or nil
	if h != nil && s != "off" {
		h.Kept = ftraceKeptUsual
	}
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
	if share == 0 {
		ftraceComplain("FTRACE_BUDGET: " + s + " is neither off nor a percentage from 1% to 999%")
		return
	}
	if failed := ftraceAskBudget(0, share*1e4); failed != "" {
		ftraceComplain("FTRACE_BUDGET: " + failed)
		return
	}
	ftraceBudget.start = share * 1e4
	if h != nil {
		h.Kept = uint64(share) * 1e4
	}
}

// ftraceAskBudget has an observer ask for a budget, in millionths of the processor time, or for
// none, 0. It returns why there can be none.
func ftraceAskBudget(observer, share uint32) string {
	semacquire(&ftraceRegistry.lock)
	failed := ftraceBudget.ask(observer, share)
	semrelease(&ftraceRegistry.lock)
	return failed
}

// ftraceAskKept asks for a budget for calls that only the consumers see. It returns why there can
// be none.
func ftraceAskKept(h *ftraceHead, share uint32) string {
	semacquire(&ftraceRegistry.lock)
	failed := ftraceBudget.can(share)
	if failed == "" {
		h.Kept = uint64(share)
		ftraceBudgetAgain()
	}
	semrelease(&ftraceRegistry.lock)
	return failed
}

// can prepares for a budget. It returns why there can be none.
func (b *ftraceBudgetState) can(share uint32) string {
	switch {
	case share > 999e4:
		return "it is more than 999%"
	case share != 0 && ftraceProcessTime() == 0:
		return "there is none on this system"
	case share != 0 && b.window == 0 && !b.prepare():
		return "there is no memory for it"
	}
	return ""
}

// ask is ftraceAskBudget. The registry is locked.
func (b *ftraceBudgetState) ask(observer, share uint32) string {
	if failed := b.can(share); failed != "" {
		return failed
	}
	if observer == 0 {
		atomic.Store(&b.own, share)
	} else {
		atomic.Store(&b.asked[observer], share)
	}
	ftraceBudgetAgain()
	return ""
}

// ofProgram returns what the program asks for: for its recording, or else for what the consumers
// see, but what is counted for FTRACE_STATS is counted exactly. The registry is locked.
func (b *ftraceBudgetState) ofProgram() uint32 {
	h := ftraceMemory.head
	if ftraceRecording.on || ftraceOut.on || ftraceStats != 0 || h == nil || h.Kept == 0 || ftraceConsumers() == 0 {
		return b.own
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			f := p.fn(i)
			l := f.loadLaid()
			if f.flags&(ftraceIsProbe|ftraceIsWait|ftraceIsSpan) == 0 && l.wantsOwn(f) && l.flags&ftraceLookedAt == 0 && b.can(uint32(h.Kept)) == "" {
				return uint32(h.Kept)
			}
		}
	}
	return b.own
}

// settle finds out which budget holds. The registry is locked.
func (b *ftraceBudgetState) settle() {
	atomic.Store(&b.asked[0], b.ofProgram())
	share := uint32(0)
	for i := range b.asked {
		if asked := b.asked[i]; asked != 0 && (share == 0 || asked < share) {
			share = asked
		}
	}
	if was := b.share; share != 0 && was != share {
		quota := ftraceMinQuota + uintptr(share)/10
		if was != 0 {
			quota = min(quota, b.quota)
		} else {
			b.opened, b.begun, b.ticks, b.cpu = nanotime(), nanotime(), ftraceCycles(), ftraceProcessTime()
			b.noted, b.only = ftraceNotedCalls()
		}
		atomic.Storeuintptr(&b.quota, quota)
		atomic.Storeuintptr(&b.watch, ftraceCountedCalls*quota)
	}
	atomic.Store(&b.share, share)
}

// prepare makes what a budget needs, once.
func (b *ftraceBudgetState) prepare() bool {
	b.off = (*[ftraceMaxOff]unsafe.Pointer)(ftraceAlloc(unsafe.Sizeof(*b.off)))
	b.passed = (*[ftracePassedMax]ftracePassed)(ftraceAlloc(unsafe.Sizeof(*b.passed)))
	if b.off == nil || b.passed == nil {
		return false
	}
	var hook any = (*ftraceFunc)(nil)
	b.hook = unsafe.Pointer(efaceOf(&hook)._type)
	b.window, b.entry, b.usual = 1, 100*ftraceEntries, 100
	clock := ftraceReadClock()
	b.slow = ftraceSlowTicks(float64(clock.Monotonic-ticks.startTime) / float64(max(1, ftraceCycles()-uint64(ticks.startTicks))))
	return true
}

// ftraceBudgetAgain has each function ask anew whether its calls may be left out, and ends that
// they are: who sees them has changed, or which budget they want. The registry is locked.
func ftraceBudgetAgain() {
	b := &ftraceBudget
	b.settle()
	if b.window == 0 {
		return // there never was a budget
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			atomic.Storeuintptr(&p.fn(i).limit, 0)
		}
	}
	ftraceBudgetReturn(atomic.Xadd(&b.window, 1) + ftraceTurn)
}

// ftraceBudgetAnother is ftraceBudgetAgain where the registry is not locked.
func ftraceBudgetAnother() {
	semacquire(&ftraceRegistry.lock)
	ftraceBudgetAgain()
	semrelease(&ftraceRegistry.lock)
}

// governed reports whether calls of f may be left out: all who see them have asked for a budget,
// and want no more than that they are recorded, or summed up. A session that looks at functions
// sees to it itself that this does not cost much.
func (f *ftraceFunc) governed() bool {
	b, l := &ftraceBudget, f.loadLaid()
	if atomic.Load(&b.share) == 0 || l == nil || ftraceShaking != 0 || f.replaced() || f.flags&(ftraceIsProbe|ftraceIsSpan) != 0 || l.marks|l.triggers != 0 || l.flags&ftraceLookedAt != 0 {
		return false
	}
	own := l.wantsOwn(f)
	if own && (atomic.Load(&b.asked[0]) == 0 || ftraceOut.on || !ftraceRecording.on && ftraceConsumers()&ftrace_format_ConsumerSummary == 0 || l.in|l.after != 0 || !ftraceWantsAll(l.clause)) {
		return false
	}
	for o := l.others; o != nil; o = o.next {
		if atomic.Load(&b.asked[o.session+1]) == 0 || o.laid.in|o.laid.after != 0 || !ftraceWantsAll(o.laid.clause) {
			return false
		}
	}
	return own || l.others != nil
}

// ftraceEntryAtLimit is ftraceEntryFast for a call of a function that has reached its limit.
func ftraceEntryAtLimit(f *ftraceFunc, w *ftraceWriter, offset uintptr, first *any, n int, result *any) (token int) {
	if f.atLimit() {
		if f.onlyCount(w); atomic.Load(&f.counted)&ftraceUncounted == 0 {
			return getg().ftrace.beginLeftOut(f, offset)
		}
		return f.leftOutToken(result == nil)
	}
	from := ftraceCycles()
	token = ftraceEntryFast(f, offset, first, n, result)
	ftraceBudget.measured(ftraceCycles() - from)
	return token
}

// beginAtLimit is ftraceBeginCall for a call of a function that has reached its limit.
//
//go:noinline
func (f *ftraceFunc) beginAtLimit(offset uintptr, args []any, flags uint32) (token int) {
	if f.atLimit() {
		mp := acquirem()
		if w := ftraceWriterOf(mp); w != nil {
			f.onlyCount(w)
		}
		releasem(mp)
		if atomic.Load(&f.counted)&ftraceUncounted == 0 {
			gp := getg()
			if t := ftraceStateOf(gp); t != nil {
				t.labels = uintptr(gp.labels)
				t.clear(gp, f, offset)
				if token := t.pushLeftOut(f, offset, flags); token != 0 {
					return token
				}
			}
		}
		return f.leftOutToken(flags&ftrace_format_FrameAtReturns == 0)
	}
	from := ftraceCycles()
	token = ftraceBeginCall(f, offset, args, flags)
	ftraceBudget.measured(ftraceCycles() - from)
	return token
}

// atLimit reports whether a call of f, which has reached its limit, is left out. If not, f has
// another limit.
func (f *ftraceFunc) atLimit() bool {
	b := &ftraceBudget
	if atomic.Load(&f.back) != 0 && !f.replaced() {
		return true
	}
	if !f.governed() {
		f.recordOn()
		atomic.Storeuintptr(&f.limit, ^uintptr(0))
		if f.governed() { // since then
			atomic.Storeuintptr(&f.limit, 0)
		}
		return false
	}
	window := atomic.Load(&b.window)
	if atomic.Load(&f.window) == window && f.leaveOut(window) {
		return true
	}
	f.recordOn()
	atomic.Store(&f.window, window)
	atomic.Storeuintptr(&f.limit, atomic.Loaduintptr(&f.count)+atomic.Loaduintptr(&b.quota))
	return false
}

// measured takes in how long the entry of a call took, in ticks. One in some hundred takes a
// hundred times as long as the others: it is the first to write to a page of a file. If it took
// longer still the thread had lost its processor.
func (b *ftraceBudgetState) measured(took uint64) {
	entry, usual := atomic.Load64(&b.entry), atomic.Load64(&b.usual)
	if took > 500*usual {
		return
	}
	if took < 4*usual {
		atomic.Store64(&b.usual, usual-usual/16+took/16)
	}
	atomic.Store64(&b.entry, entry-entry/ftraceEntries+took)
}

// onlyCount counts a call of f that is left out. After as many as the budget allows it turns the
// hook of f off.
func (f *ftraceFunc) onlyCount(w *ftraceWriter) {
	w.counted++
	f.sumLeftOut(1)
	n := atomic.Xadd(&f.counted, 1)
	if n%ftraceCountedCheck == 0 && n&ftraceUncounted == 0 && uintptr(n) >= f.mostCounted() {
		atomic.Or(&f.counted, ftraceUncounted)
		atomic.Or(&f.leftOut, ftraceUncounted)
		f.sumUncounted()
		atomic.StorepNoWB(unsafe.Pointer(&f.hook._type), nil)
		if atomic.Load(&f.back) == 0 { // sysmon came first
			f.hookOn()
		}
		ftraceDoubt()
	}
}

// mostCounted returns how many calls of f may be counted in a turn.
func (f *ftraceFunc) mostCounted() uintptr {
	return max(ftraceCountedCalls*atomic.Loaduintptr(&ftraceBudget.quota), atomic.Loaduintptr(&ftraceBudget.watch))
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
// calls that were counted meanwhile. It says how many calls were noted at their end, of these or of
// those that were counted before.
func (f *ftraceFunc) recordReturn() {
	since := atomic.Load64(&f.wasOff)
	if since == 0 || !atomic.Cas64(&f.wasOff, since, 0) {
		return
	}
	f.returned(since, atomic.Xchg(&f.keeping, ftraceBudget.ended)&^ftraceKeepingEnded)
}

// returned is recordReturn for calls that were left out since then, of which so many were noted at
// their end.
func (f *ftraceFunc) returned(since uint64, kept uint32) {
	counted := atomic.Xchg(&f.counted, 0)
	f.adjustSlow(uintptr(kept))
	left := uint64(counted &^ ftraceUncounted)
	atomic.Xadduintptr(&f.count, uintptr(left))
	if counted&ftraceUncounted != 0 {
		left |= ftrace_format_Uncounted
	}
	ftraceRecordSwitch(f, ftrace_format_KindOn, since, left, uint64(atomic.Xchg(&f.failed, 0)), uint64(kept))
}

// adjustSlow has calls of f count as slow by how many were kept in the last turn.
func (f *ftraceFunc) adjustSlow(kept uintptr) {
	quota, slower := atomic.Loaduintptr(&ftraceBudget.quota), atomic.Load(&f.leftOut)/ftraceSlower%(ftraceSlowerMax+1)
	switch {
	case kept >= quota/2 && slower < ftraceSlowerMax:
		atomic.Xadd(&f.leftOut, ftraceSlower)
	case kept < quota/8 && slower > 0:
		atomic.Xadd(&f.leftOut, -ftraceSlower)
	}
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
			atomic.Xadd(&b.live, 1)
			if !f.governed() && atomic.Casp1(at, unsafe.Pointer(f), nil) { // no longer
				atomic.Xadd(&b.live, -1)
				break
			}
			now := ftraceTicks()
			atomic.Store64(&f.wasOff, now)
			if atomic.Cas(&f.leftOut, 0, 1) && ftraceMemory.head != nil {
				atomic.Xadd64(&ftraceMemory.head.LeftOut, 1)
			}
			if atomic.And(&f.leftOut, ^uint32(ftraceSummed)); f.loadLaid().wantsOwn(f) {
				atomic.Or(&f.leftOut, ftraceSummed)
			}
			ftraceRecordSwitch(f, ftrace_format_KindOff, now, uint64(atomic.Loaduintptr(&f.count)), 0, 0)
			return true
		}
	}
	atomic.Store(&f.back, 0)
	return false
}

// ftraceFinishBudget records what was left out until now, as far as it was counted: a recording
// ends. Of calls that were left out before some may have been noted at their end since. If it ends
// because the program does, no more are.
func ftraceFinishBudget(exits bool) {
	b := &ftraceBudget
	if b.window == 0 {
		return
	}
	if exits {
		b.ended = ftraceKeepingEnded
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			f := p.fn(i)
			kept, since := atomic.Xchg(&f.keeping, b.ended)&^ftraceKeepingEnded, atomic.Xchg64(&f.wasOff, 0)
			if since == 0 {
				if kept == 0 {
					continue
				}
				since = ftraceTicks()
				ftraceRecordSwitch(f, ftrace_format_KindOff, since, uint64(atomic.Loaduintptr(&f.count)), 0, 0)
			}
			f.returned(since, kept)
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
	ftraceBudgetTurn(now)
	ftraceBudgetReturn(window)
}

// ftraceBudgetReturn lets the calls of functions be noted again that are to be left out until a
// window.
//
//go:nowritebarrierrec
func ftraceBudgetReturn(window uint32) {
	b, switched := &ftraceBudget, false
	at, live := atomic.Load(&b.next), atomic.Load(&b.live)
	for i := uint32(0); i < ftraceMaxOff && live > 0; i++ { // the last ones are near
		slot := &b.off[(at-i)%ftraceMaxOff]
		f := (*ftraceFunc)(atomic.Loadp(unsafe.Pointer(slot)))
		if f == nil {
			continue
		}
		live--
		if int32(window-atomic.Load(&f.back)) < 0 || !atomic.Casp1(slot, unsafe.Pointer(f), nil) {
			continue
		}
		atomic.Xadd(&b.live, -1)
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

// ftraceBudgetTurn sets the quotas by what the turn cost, once it is over. Of what is allowed at
// most a half goes into calls that are only counted, and the rest into those that are noted. A turn
// is over early if it has cost by then what all of it may: the program has come to do something
// else, or has just begun.
//
//go:nowritebarrierrec
func ftraceBudgetTurn(now int64) {
	b := &ftraceBudget
	noted, only := ftraceNotedCalls()
	if noted < b.noted { // the calls for an observer that has left are no longer among them
		b.noted = noted
	}
	cpu, ticks := ftraceProcessTime(), ftraceCycles()
	perTick := float64(now-b.begun) / float64(max(1, ticks-b.ticks)) * ftraceCallEntries // ns that a call costs for each of its entry's
	cost := float64(noted-b.noted) * float64(atomic.Load64(&b.entry)/ftraceEntries) * perTick
	counting := float64(only-b.only) * ftraceCallCounted * float64(atomic.Load64(&b.usual)) * perTick
	allowed := max(0, float64(cpu-b.cpu)-cost-counting) * float64(b.share) / 1e6 // ns
	if passed := float64(now-b.begun) / (ftraceTurn * ftraceWindow); passed < 1 {
		if allowed /= passed; cost+counting <= allowed {
			return
		}
	}
	quota := ftraceAdjust(atomic.Loaduintptr(&b.quota), cost, max(allowed-counting, allowed/2))
	atomic.Storeuintptr(&b.quota, quota)
	atomic.Storeuintptr(&b.watch, max(ftraceAdjust(atomic.Loaduintptr(&b.watch), counting, allowed/2), ftraceCountedCalls*ftraceMinQuota))
	atomic.Storeint64(&b.slow, ftraceSlowTicks(perTick/ftraceCallEntries))
	b.begun, b.ticks, b.cpu, b.noted, b.only = now, ticks, cpu, noted, only
	atomic.Store(&b.panics, 0)
	if h := ftraceMemory.head; h != nil {
		atomic.Xadd64(&h.Spent, int64(cost+counting))
	}
}

// ftraceSlowTicks returns after how many ticks a call is slow, where a cycle takes so many ns. Of a
// coarse timer one tick says nothing.
//
//go:nowritebarrierrec
func ftraceSlowTicks(perCycle float64) int64 {
	if frequency := ftraceFrequencies[ftraceTimer]; frequency != 0 {
		perCycle = 1e9 / float64(frequency)
	}
	return max(2, int64(ftraceSlow/perCycle))
}

// ftraceAdjust returns a quota that is to cost at most so much, given another and what that cost.
//
//go:nowritebarrierrec
func ftraceAdjust(was uintptr, cost, allowed float64) uintptr {
	quota := float64(was)
	switch {
	case cost > allowed:
		quota *= max(0.1, 0.9*allowed/cost)
	case cost < 0.8*allowed:
		quota = quota*1.25 + 1
	}
	return uintptr(min(max(quota, ftraceMinQuota), ftraceMaxQuota))
}

// ftraceCallEntries is how much more a call costs than what is measured of its entry: its exit, and
// what the function does to call the core.
const ftraceCallEntries = 2.5

// ftraceCallCounted is what a call costs that is only counted, of what it costs to note one in a
// ring: most of it is that the time is read at both ends.
const ftraceCallCounted = 0.75

// ftraceNotedCalls returns how many calls were noted for those who have asked for a budget, and how
// many were only counted.
//
//go:nowritebarrierrec
func ftraceNotedCalls() (calls, only uint64) {
	for i := range ftraceBudget.asked {
		s, asked := &ftraceRecording.ftraceStream, atomic.Load(&ftraceBudget.asked[i]) != 0
		if i > 0 {
			s = &ftraceSessions[i-1]
		}
		if i > 0 && !asked {
			continue
		}
		for id := range s.writers {
			if w := (*ftraceWriter)(atomic.Loadp(unsafe.Pointer(&s.writers[id]))); w != nil {
				if asked {
					calls += w.noted
				}
				only += w.counted
			}
		}
	}
	return calls, only
}

// ftraceRecordSwitch records that calls of f are no longer noted since then, after so many, or that
// they are noted again, which so many were not since then, of which so many failed, and so many
// were noted at their end.
func ftraceRecordSwitch(f *ftraceFunc, kind uint8, since, calls, failed, noted uint64) {
	gp, l := getg(), f.loadLaid()
	if l == nil {
		return
	}
	sees := uint32(0) // by observer
	if kind == ftrace_format_KindOn {
		sees = atomic.Load(&f.leftOut) / ftraceSaid & (1<<(1+ftrace_format_SessionsMax) - 1)
		atomic.And(&f.leftOut, ^(sees * ftraceSaid))
	} else {
		if ftraceRecording.on && l.wantsOwn(f) {
			sees = 1
		}
		for o := l.others; o != nil; o = o.next {
			sees |= 2 << o.session
		}
	}
	mp := acquirem()
	for ; sees != 0; sees &= sees - 1 {
		w, depth := ftraceSwitchRecorder(gp, mp, sys.TrailingZeros32(sees)-1)
		if w == nil {
			continue
		}
		r := w.begin(gp, kind, f, depth)
		size := ftraceRecordSize + 16
		*(*[2]uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = [2]uint64{since, calls}
		if kind == ftrace_format_KindOn {
			*(*[2]uint64)(add(unsafe.Pointer(r), size)) = [2]uint64{failed, noted}
			size += 16
		} else {
			atomic.Or(&f.leftOut, sees&-sees*ftraceSaid)
		}
		w.end(r, size)
	}
	releasem(mp)
}

// ftraceSwitchRecorder is ftraceRecorderFor, also for a goroutine that has called nothing.
func ftraceSwitchRecorder(gp *g, mp *m, session int) (w *ftraceWriter, depth int32) {
	switch t := gp.ftrace; {
	case session < 0 && !ftraceRecording.on:
		return nil, 0
	case t != nil:
		if w, depth = ftraceRecorderFor(gp, mp, t, session); w == nil || !w.room(mp) {
			return nil, 0
		}
		return w, depth
	case session < 0:
		return ftraceRecorder(mp), 0
	}
	return ftraceSessions[session].recorder(gp, mp, nil), 0
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
