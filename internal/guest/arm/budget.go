//go:build ftrace_core

// The budget: what tracing may cost, as a share of the processor time that the program itself uses.
//
// The processor time that the program uses brings in means, in ns. Sysmon, which is awake anyway,
// adds them up in each window of 10 ms, and takes off what calls have cost: those that were noted,
// what a function's first call takes longer, new pages of files, and what it takes to tell
// goroutines of hooks that were turned off. All of that is measured. Half of the means is for
// calls that are noted, the other half for those that are only counted.
//
// A few functions have nearly all calls. So each function has a quota in a window, and gets the
// means for it in small parts, while there are enough left for others. A call that gets no part is
// left out, as are the next ones, until sysmon lets them be noted again 100 ms later. They are only
// counted, and noted nevertheless at their end if they were slow or failed, see call/leftout.go.
// Once the means for that are spent, the function's calls are no longer counted. If it may fail,
// its hook becomes one by which only failures are seen, which costs a tenth, as far as there are
// means. Otherwise the hook is turned off, and the rest of the calls costs nothing. So what is rare
// is noted, what is frequent is counted, and of what is very frequent there are some calls in each
// turn, and those that fail. Sysmon sets the quota by what the calls of a turn, of 100 ms, cost.
//
// Where there are no means, each function has a few calls in a window. If these make debts, nothing
// that was left out is noted again until they are paid.
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
	"unsafe"
)

const (
	ftraceWindow      = 10e6 // ns
	ftraceTurn        = 10   // windows
	ftraceMinQuota    = 16
	ftraceMaxQuota    = 1 << 30
	ftraceAnewQuota   = 64
	ftraceFewCalls    = 4 // of a function that may be noted in a window for which there is no means
	ftraceMostGranted = 1<<16 - 1
	ftraceGrants      = 32    // a function gets one part of so many of the means at once
	ftraceEachFirst   = 250   // ns that it takes to note a call, until it is known
	ftraceSaved       = 100e6 // ns of processor time for which the budget may be spent at once
	ftraceAtFirst     = 1e9   // the same, when the program begins: one that ends soon is noted whole
	ftraceDebt        = 30e6  // ns of processor time for which it may be spent before that is used
	ftraceMaxOff      = 4096  // at most calls of so many functions are left out at once

	ftraceCountedCalls = 8  // for each call noted so many are counted
	ftraceCountedCheck = 16 // whether these are enough is asked after so many

	ftraceFailsShortest = 1e5 // ns at least, and windows at most, in which calls were made that tell how many there will be
	ftraceFailsWindows  = 100

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
	means  int64                                 // ns that calls may take that are noted, below 0 if they took more; calls take from it too, atomic
	looks  int64                                 // ns that calls may take that are only counted; likewise
	fails  int64                                 // ns that calls may take of which only failures are seen; likewise
	each   int64                                 // ns that it takes to note a call; atomic
	count  int64                                 // ns that it takes to count ftraceCountedCheck calls; atomic
	watch  uintptr                               // calls of a function of which in a turn the ends are watched while they are left out; atomic
	slow   int64                                 // ticks that a call takes at least that is slow, see call/leftout.go; atomic
	ended  uint32                                // ftraceKeepingEnded once the program exits
	opened int64                                 // when the window began
	hook   unsafe.Pointer                        // the type of a hook that is on

	// onlyFails is the type of a hook by which only failures are seen, nil if there never was a
	// budget. Helpers know it, see rewrite/helper.go.
	onlyFails unsafe.Pointer

	// Since the turn began.
	begun    int64   // when that was
	used     float64 // ns of processor time used since then, without those for calls
	cost     float64 // ns that calls took that were noted
	counting float64 // ns that calls took that were only counted
	failing  float64 // ns that calls are to take of which only failures are seen

	// When the window began.
	cpu       int64       // processor time used until then, in ns
	until     ftraceSpent // what had been done until then
	meansLeft float64     // ns for calls that are noted
	looksLeft float64     // ns for calls that are only counted
	failsLeft int64       // ns for calls of which only failures are seen
	more      float64     // ns that a call takes beyond what is usual, for the first ones and for the file

	usual    uint64                        // ticks that the entry of a call takes; calls write it, atomic
	first    uint64                        // ticks that the entries of functions' first calls in a window took beyond that; likewise
	off      *[ftraceMaxOff]unsafe.Pointer // the functions of which calls are left out, *ftraceFunc; calls add to it, atomic
	doubting uint64                        // ticks that it took to tell goroutines that hooks were turned off; calls add to it, atomic
	switches uint32                        // how often hooks were turned on or off; atomic
	next     uint32                        // where the next one may go; atomic
	live     uint32                        // how many there are; atomic

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
			b.opened, b.begun, b.cpu = nanotime(), nanotime(), ftraceProcessTime()
			b.until, b.used, b.cost, b.counting, b.failing = ftraceSpentUntil(), 0, 0, 0, 0
		}
		atomic.Storeuintptr(&b.quota, quota)
		atomic.Storeuintptr(&b.watch, ftraceCountedCalls*uintptr(share)/10)
		b.meansLeft, b.looksLeft = float64(ftraceAtFirst/1e6/2)*float64(share), float64(ftraceSaved/1e6/2)*float64(share)
		atomic.Storeint64(&b.means, int64(b.meansLeft))
		atomic.Storeint64(&b.looks, int64(b.looksLeft))
		b.failsLeft = int64(b.looksLeft)
		atomic.Storeint64(&b.fails, b.failsLeft)
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
	hook = (func())(nil)
	b.onlyFails = unsafe.Pointer(efaceOf(&hook)._type)
	b.window, b.usual = 1, 100
	b.each, b.count = ftraceEachFirst, ftraceEachFirst*ftraceCountedCheck/8
	b.slow = ftraceSlowTicks(b.perTick())
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

// grant returns how many of so many calls of a function may be noted, or a few, and takes the means
// for them: a small part of what there are.
func (b *ftraceBudgetState) grant(most uint32) uint32 {
	each := max(1, atomic.Loadint64(&b.each))
	calls := max(ftraceFewCalls, min(int64(most), atomic.Loadint64(&b.means)/(ftraceGrants*each)))
	atomic.Xaddint64(&b.means, -calls*each)
	return uint32(calls)
}

// plenty reports whether more than half of the means that can be saved are there.
func (b *ftraceBudgetState) plenty() bool { return atomic.Loadint64(&b.means) > b.of(ftraceSaved)/4 }

// inDebt reports whether so much was spent beyond what there were means for that no calls are noted
// again that are left out.
//
//go:nowritebarrierrec
func (b *ftraceBudgetState) inDebt() bool { return atomic.Loadint64(&b.means) < -b.of(ftraceDebt) }

// of returns the share that the budget has of so many ns of processor time.
//
//go:nowritebarrierrec
func (b *ftraceBudgetState) of(ns int64) int64 { return ns / 1e6 * int64(atomic.Load(&b.share)) }

// measured takes in how long the entry of a call took, in ticks, which is a function's first one in
// a window. It often takes longer than the next ones: what it uses is not in the processor's cache,
// or has to be made first. If it took far longer the thread had lost its processor.
func (b *ftraceBudgetState) measured(took uint64) {
	usual := atomic.Load64(&b.usual)
	if took > 500*usual {
		return
	}
	if took <= usual {
		atomic.Store64(&b.usual, usual-(usual-took)/4)
		return
	}
	if took < 4*usual {
		atomic.Store64(&b.usual, usual+(took-usual)/32)
	}
	atomic.Xadd64(&b.first, int64(took-usual))
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
				if kept == 0 && atomic.Load(&f.counted) == 0 {
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
	b.account(now)
	b.opened = now
	window := atomic.Xadd(&b.window, 1)
	ftraceBudgetTurn(now)
	if b.inDebt() {
		return
	}
	ftraceBudgetReturn(window)
}

// account finds out what the window's calls took, and what means there are for those of the next
// one: as much of the processor time that the program itself has used as the budget is, or of a
// quarter of the time if it has used less. Half of that is for calls that are only counted, of
// which as much as three quarters goes to those of which only failures are seen. What one does not
// need the others get.
//
//go:nowritebarrierrec
func (b *ftraceBudgetState) account(now int64) {
	cpu, until := ftraceProcessTime(), ftraceSpentUntil()
	noted, only := until.noted-min(until.noted, b.until.noted), until.only-min(until.only, b.until.only) // less, if an observer has left
	usual := float64(atomic.Load64(&b.usual)) * b.perTick() * ftraceCallEntries
	more := float64(until.first-b.until.first)*b.perTick()*ftraceFirstEntries + float64(until.filed-min(until.filed, b.until.filed))
	if noted != 0 {
		b.more += (more/float64(noted) - b.more) * min(1, float64(noted)/ftraceMoreCalls)
	}
	each, check := usual+b.more, ftraceCountedCheck*ftraceCallCounted*usual
	cost, counting := float64(noted)*usual+more, float64(only)*ftraceCallCounted*usual+float64(until.doubting-b.until.doubting)*b.perTick()
	used := max(float64(cpu-b.cpu)-cost-counting, 0)
	failing := float64(b.failsLeft - atomic.Loadint64(&b.fails))
	b.used, b.cost, b.counting, b.failing = b.used+used, b.cost+cost, b.counting+counting, b.failing+failing
	b.cpu, b.until = cpu, until

	saved, debt := float64(b.of(ftraceSaved)/2), float64(b.of(ftraceDebt))
	most := max(saved, b.meansLeft-cost) // of the first means nothing is lost
	half := max(used, float64(now-b.opened)/4) * float64(b.share) / 2e6
	toFails := max(0, min(half*3/4, max(saved, ftraceTurn*half)-float64(b.failsLeft)+failing))
	b.failsLeft = atomic.Xaddint64(&b.fails, int64(toFails))
	b.meansLeft, b.looksLeft = b.meansLeft+half-cost, b.looksLeft+half-toFails-counting
	if more := b.looksLeft - saved; more > 0 {
		b.meansLeft, b.looksLeft = b.meansLeft+more, saved
	}
	if more := b.meansLeft - most; more > 0 {
		b.meansLeft, b.looksLeft = most, min(saved, b.looksLeft+more)
	}
	b.meansLeft, b.looksLeft = max(-2*debt, b.meansLeft), max(-2*debt, b.looksLeft)
	atomic.Storeint64(&b.each, int64(each))
	atomic.Storeint64(&b.count, int64(check))
	atomic.Storeint64(&b.means, int64(b.meansLeft))
	atomic.Storeint64(&b.looks, int64(b.looksLeft))
	if h := ftraceMemory.head; h != nil {
		atomic.Xadd64(&h.Spent, int64(cost+counting+failing))
	}
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
		atomic.Store(&f.since, atomic.Load(&b.window))
		atomic.Store(&f.back, 0)
		switched = f.hookOn() || switched
	}
	if switched {
		ftraceDoubt(ftraceHookSwitched)
	}
}

// ftraceBudgetAnew gives each function a new quota: a test begins, and the first calls in it are
// wanted. Where the quota is small there are many tests, each of which takes no time, and nothing
// changes.
func ftraceBudgetAnew() {
	b := &ftraceBudget
	if b.share != 0 && atomic.Loaduintptr(&b.quota) >= ftraceAnewQuota && !b.inDebt() {
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
	allowed := b.used * float64(b.share) / 1e6 // ns
	if passed := float64(now-b.begun) / (ftraceTurn * ftraceWindow); passed < 1 {
		if allowed /= passed; b.cost+b.counting+b.failing <= allowed || b.meansLeft > 0 && b.looksLeft > 0 {
			return
		}
	}
	atomic.Storeuintptr(&b.quota, ftraceAdjust(atomic.Loaduintptr(&b.quota), b.cost, max(allowed-b.counting-b.failing, allowed/2)))
	atomic.Storeuintptr(&b.watch, max(ftraceAdjust(atomic.Loaduintptr(&b.watch), b.counting, allowed/2-min(b.failing, allowed*3/8)), ftraceCountedCalls*ftraceMinQuota))
	atomic.Storeint64(&b.slow, ftraceSlowTicks(b.perTick()))
	b.begun, b.used, b.cost, b.counting, b.failing = now, 0, 0, 0, 0
	atomic.Store(&b.panics, 0)
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
		quota = quota*min(4, max(1.25, allowed/2/max(1, cost))) + 1
	}
	return uintptr(min(max(quota, ftraceMinQuota), ftraceMaxQuota))
}

// ftraceCallEntries is how much more a call costs than what is measured of its entry: its exit, and
// what the function does to call the core.
const ftraceCallEntries = 3.5

// ftraceCallCounted is what a call costs that is only counted, of what it costs to note one in a
// ring and for the consumers.
const ftraceCallCounted = 0.4

// ftraceCallFails is what a call costs of which only a failure would be seen, as a part of what it
// costs to count one. In a function with a deferred hook it is ftraceCallDeferred times as much.
const (
	ftraceCallFails    = 0.1
	ftraceCallDeferred = 3
)

// ftraceFirstEntries is how much more a function's first call costs than what is measured of its
// entry: its exit.
const ftraceFirstEntries = 2

// ftraceMoreCalls is after how many calls it is known what they take beyond what is usual.
const ftraceMoreCalls = 1000

// ftraceSpent is what is done for those who have asked for a budget.
type ftraceSpent struct {
	noted           uint64 // calls noted
	only            uint64 // calls that were only counted, for whomever
	filed           uint64 // ns that it took to make files longer
	first, doubting uint64 // as in ftraceBudgetState
}

// ftraceSpentUntil returns what has been done until now.
//
//go:nowritebarrierrec
func ftraceSpentUntil() (spent ftraceSpent) {
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
					spent.noted += w.noted
					spent.filed += w.filed
				}
				spent.only += w.counted
			}
		}
	}
	spent.first, spent.doubting = atomic.Load64(&ftraceBudget.first), atomic.Load64(&ftraceBudget.doubting)
	return spent
}

// perTick returns how many ns a tick takes.
//
//go:nowritebarrierrec
func (b *ftraceBudgetState) perTick() float64 {
	return float64(nanotime()-ticks.startTime) / float64(max(1, int64(ftraceCycles())-ticks.startTicks))
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
