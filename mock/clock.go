package mock

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// Clock gives the test a time of its own until it ends: package time's Now, Since, Until, Sleep,
// After, AfterFunc, Tick, NewTimer and NewTicker, and all that is made of them, such as the
// deadlines of contexts. It concerns the test's goroutine and those that it starts. It is midnight
// UTC, 1 January 2000, and stays so until [TestClock.Advance] moves it, or [TestClock.Run] lets it
// go.
//
//	c := mock.Clock(t)
//	go retry()
//	c.Advance(time.Minute)
//
// Deadlines of files and of network connections pass in real time, counted from when they are set.
// Times that were read from the real clock, with a monotonic part, are measured with that.
// Goroutines in a bubble of testing/synctest keep the bubble's time. A test in one can't have a
// Clock.
//
// What is left of a timer when the test ends passes in real time.
func Clock(t testing.TB) *TestClock {
	t.Helper()
	c, err := newClock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	defer coreQuiet(coreQuiet(true))
	for _, d := range c.doubles {
		d.add() // start would have Since and Until follow Now
	}
	return c
}

// A TestClock is the time of a test. Its methods may be called on any goroutine.
type TestClock struct {
	doubles []*double
	scope   unsafe.Pointer // belongs to the core

	turn    sync.Mutex // held by the one goroutine that lets time pass
	stopped chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex // taken by lock
	start  time.Time
	passed time.Duration // since start
	timers []*clockTimer // those that are set, by time
	ended  bool
}

// A clockTimer is a timer or a ticker, or a goroutine that sleeps.
type clockTimer struct {
	clock  *TestClock
	handle *time.Timer // what the program has; it is not set while the clock has not ended
	ticks  chan time.Time
	call   func() // for AfterFunc
	at     time.Duration
	period time.Duration // of a ticker, else 0
}

// clockTimers are the timers of all clocks that have not ended. mu is taken by lockTimers.
var clockTimers struct {
	mu  sync.Mutex
	all map[*time.Timer]*clockTimer
}

func newClock() (*TestClock, error) {
	if !Hooked() {
		return nil, errPlain
	}
	if coreBubbled() {
		return nil, errors.New("mock: Clock: this goroutine is in a bubble of testing/synctest, which has a clock of its own")
	}
	defer coreQuiet(coreQuiet(true))
	c := &TestClock{scope: coreScope(), stopped: make(chan struct{})}
	c.start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Local()
	for name, with := range map[string]any{
		"time.Now":       c.now,
		"time.Since":     func(t time.Time) time.Duration { return c.elapsed(t) },
		"time.Until":     func(t time.Time) time.Duration { return -c.elapsed(t) },
		"time.Sleep":     c.sleep,
		"time.NewTimer":  func(d time.Duration) *time.Timer { return c.newTimer(d, nil) },
		"time.AfterFunc": c.newTimer,
		"time.NewTicker": c.newTicker,
	} {
		d, err := substitute(name, with, false)
		if err != nil {
			return nil, err
		}
		c.doubles = append(c.doubles, d)
	}
	return c, replaceTimerMethods()
}

var timerMethods struct {
	mu   sync.Mutex
	done bool
}

// replaceTimerMethods replaces the methods of timers, once and for all: a goroutine outside the
// test may stop a timer of it, or one that is left when the test has ended.
func replaceTimerMethods() error {
	timerMethods.mu.Lock()
	defer timerMethods.mu.Unlock()
	if timerMethods.done {
		return nil
	}
	var doubles []*double
	for name, with := range map[string]any{
		"time.(*Timer).Stop": func(t *time.Timer) bool {
			defer coreQuiet(coreQuiet(true))
			if set, ok := reset(t, -1); ok {
				return set
			}
			return t.Stop()
		},
		"time.(*Timer).Reset": func(t *time.Timer, d time.Duration) bool {
			defer coreQuiet(coreQuiet(true))
			if set, ok := reset(t, max(d, 0)); ok {
				return set
			}
			return t.Reset(d)
		},
		"time.(*Ticker).Stop": func(t *time.Ticker) {
			defer coreQuiet(coreQuiet(true))
			if _, ok := reset((*time.Timer)(unsafe.Pointer(t)), -1); !ok {
				t.Stop()
			}
		},
		"time.(*Ticker).Reset": func(t *time.Ticker, d time.Duration) {
			defer coreQuiet(coreQuiet(true))
			if d <= 0 {
				t.Reset(d) // panics
			}
			if _, ok := reset((*time.Timer)(unsafe.Pointer(t)), d); !ok {
				t.Reset(d)
			}
		},
	} {
		d, err := substitute(name, with, true)
		if err != nil {
			return err
		}
		doubles = append(doubles, d)
	}
	for _, d := range doubles {
		d.add()
	}
	timerMethods.done = true
	return nil
}

// lock guards the clock. While it is held, what the package calls is not replaced.
func (c *TestClock) lock() (quiet bool) {
	quiet = coreQuiet(true)
	c.mu.Lock()
	return quiet
}

func (c *TestClock) unlock(quiet bool) {
	c.mu.Unlock()
	coreQuiet(quiet)
}

// own reports whether the goroutine has the clock's time: not in a bubble, nor after the end.
func (c *TestClock) own() bool { return !c.ended && !coreBubbled() }

func (c *TestClock) now() time.Time {
	defer c.unlock(c.lock())
	return c.time()
}

// time returns what the goroutine takes for the time. The clock is locked.
func (c *TestClock) time() time.Time {
	if !c.own() {
		return time.Now()
	}
	return c.start.Add(c.passed)
}

// elapsed returns how long ago t was.
func (c *TestClock) elapsed(t time.Time) time.Duration {
	defer c.unlock(c.lock())
	if t != t.Round(0) { // it is of the real clock
		return time.Since(t)
	}
	return c.time().Sub(t)
}

func (c *TestClock) sleep(d time.Duration) {
	quiet := c.lock()
	if !c.own() {
		c.mu.Unlock()
		time.Sleep(d)
		coreQuiet(quiet)
		return
	}
	if d <= 0 {
		c.unlock(quiet)
		return
	}
	t := c.newClockTimer(nil)
	t.set(d)
	c.unlock(quiet)
	<-t.ticks
}

func (c *TestClock) newTimer(d time.Duration, f func()) *time.Timer {
	defer c.unlock(c.lock())
	switch {
	case c.own():
		t := c.newClockTimer(f)
		t.set(d)
		return t.handle
	case f == nil:
		return time.NewTimer(d)
	}
	return time.AfterFunc(d, f)
}

func (c *TestClock) newTicker(d time.Duration) *time.Ticker {
	defer c.unlock(c.lock())
	if d <= 0 || !c.own() {
		return time.NewTicker(d) // or panics
	}
	t := c.newClockTimer(nil)
	t.period = d
	t.set(d)
	return (*time.Ticker)(unsafe.Pointer(t.handle)) // both begin with the channel, which is all but what package time has for itself
}

// newClockTimer makes a timer that is not set, to call f or, if f is nil, to send the time. The
// clock is locked.
func (c *TestClock) newClockTimer(f func()) *clockTimer {
	t := &clockTimer{clock: c, call: f}
	if f == nil {
		t.ticks = make(chan time.Time, 1)
		f = func() { t.tick(time.Now()) }
	}
	t.handle = time.AfterFunc(math.MaxInt64, f)
	t.handle.Stop()
	t.handle.C = t.ticks
	clockTimers.mu.Lock()
	defer clockTimers.mu.Unlock()
	if clockTimers.all == nil {
		clockTimers.all = map[*time.Timer]*clockTimer{}
	}
	clockTimers.all[t.handle] = t
	return t
}

// reset sets the timer of a clock to d from now, or stops it if d is negative. It returns whether
// it was set, or that no clock has the timer.
func reset(handle *time.Timer, d time.Duration) (set, ok bool) {
	clockTimers.mu.Lock()
	t := clockTimers.all[handle]
	clockTimers.mu.Unlock()
	if t == nil {
		return false, false
	}
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false, false
	}
	set = t.unset()
	if t.call == nil {
		select {
		case <-t.ticks: // nobody gets what was sent before
			set = set || t.period == 0
		default:
		}
	}
	if d >= 0 {
		if t.period > 0 {
			t.period = d
		}
		t.set(d)
	}
	return set, true
}

// set has the timer fire at d from now. The clock is locked.
func (t *clockTimer) set(d time.Duration) {
	c := t.clock
	if d <= 0 {
		t.fire()
		return
	}
	t.at = c.passed + d
	if t.at < 0 || t.at == math.MaxInt64 {
		return // it is set for never
	}
	i, _ := slices.BinarySearchFunc(c.timers, t.at, func(o *clockTimer, at time.Duration) int {
		if o.at <= at {
			return -1
		}
		return 1
	})
	c.timers = slices.Insert(c.timers, i, t)
}

// unset reports whether the timer was set, and stops it. The clock is locked.
func (t *clockTimer) unset() bool {
	i := slices.Index(t.clock.timers, t)
	if i >= 0 {
		t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
	}
	return i >= 0
}

// fire does what the timer is for. The clock is locked.
func (t *clockTimer) fire() {
	if t.call != nil {
		go t.call()
		return
	}
	t.tick(t.clock.start.Add(t.clock.passed))
}

// tick sends the time, unless the one sent before has not been received.
func (t *clockTimer) tick(now time.Time) {
	select {
	case t.ticks <- now:
	default:
	}
}

// Advance lets d pass. Timers fire in turn, each at its time. After that, and at the end, Advance
// lets the test's goroutines run until all of them wait.
func (c *TestClock) Advance(d time.Duration) {
	defer c.work()()
	until := c.passed + max(d, 0)
	if until < 0 {
		until = math.MaxInt64
	}
	for c.fireNext(until) {
		c.settle()
	}
}

// Wait lets the test's other goroutines run until all of them wait: for each other, for a time, or
// for what does not come.
//
// One that waits for a lock, or for input or output, counts as waiting if it still does after 10 ms
// of real time in which none of them ran. A goroutine that runs and that no test has started, such
// as a worker that was there before, holds Wait up for at most a second.
func (c *TestClock) Wait() { c.work()() }

// Set makes it now o'clock. Timers have the time left that they had.
func (c *TestClock) Set(now time.Time) {
	defer c.unlock(c.lock())
	c.start = now.Round(0).Add(-c.passed)
}

// Run has time pass by itself from now on: as soon as all of the test's goroutines wait, as for
// [TestClock.Wait], it is the time for which one of them waits. Time stands still while any of them
// runs. Run does not wait for this.
func (c *TestClock) Run() {
	defer c.unlock(c.lock())
	if c.ended {
		return
	}
	c.running.Add(1)
	go func() {
		defer c.running.Done()
		coreQuiet(true)
		coreTicks(true)
		for w := (watch{}); w.pause(c.stopped); {
			if c.waitedFor() && c.turn.TryLock() {
				if w.allWait(c.scope) {
					c.fireNext(-1)
					w = watch{}
				}
				c.turn.Unlock()
			}
		}
	}()
}

// waitedFor reports whether a timer is set.
func (c *TestClock) waitedFor() bool {
	defer c.unlock(c.lock())
	return len(c.timers) > 0
}

// work begins what only one goroutine does at a time, after the others have settled. The function
// that it returns ends it, after they have settled again.
func (c *TestClock) work() (done func()) {
	quiet, ticks := coreQuiet(true), coreTicks(true)
	c.turn.Lock()
	c.settle()
	return func() {
		c.turn.Unlock()
		coreTicks(ticks)
		coreQuiet(quiet)
	}
}

// fireNext goes on to the next time for which a timer is set, and fires all that are set for it. If
// there is none before until, and until is not negative, it goes on to that, and returns false.
func (c *TestClock) fireNext(until time.Duration) bool {
	defer c.unlock(c.lock())
	if len(c.timers) == 0 || until >= 0 && c.timers[0].at > until {
		c.passed = max(c.passed, until)
		return false
	}
	c.passed = c.timers[0].at
	for len(c.timers) > 0 && c.timers[0].at == c.passed {
		t := c.timers[0]
		t.unset()
		t.fire()
		if t.period > 0 {
			t.set(t.period)
		}
	}
	return true
}

// patience is for how long goroutines must be no more busy than a level of the core's (see
// ftrace_mock_busy) for all to be waiting.
var patience = [...]time.Duration{0, 10 * time.Millisecond, time.Second}

// A watch is kept for the moment at which all of a test's goroutines wait. It is used in quiet, and
// so in real time.
type watch struct {
	quiet  [len(patience)]time.Duration // for how long they have been no more busy
	paused time.Duration
}

// allWait reports whether they all wait. Only the pauses count, and not the time that passes: the
// whole machine may have stood still.
func (w *watch) allWait(scope unsafe.Pointer) bool {
	busy := coreBusy(scope)
	for level := range w.quiet {
		if level < busy {
			w.quiet[level] = 0
		} else if w.quiet[level] += w.paused; w.quiet[level] >= patience[level] {
			return true
		}
	}
	return false
}

// pause lets others run, for longer from time to time. It reports false if it is stopped.
func (w *watch) pause(stopped <-chan struct{}) bool {
	w.paused = min(w.paused*5/4+time.Microsecond, time.Millisecond)
	if w.paused < 5*time.Microsecond {
		runtime.Gosched()
	} else {
		time.Sleep(w.paused)
	}
	select {
	case <-stopped:
		return false
	default:
		return true
	}
}

// settle lets the others run until all of them wait, or the clock has ended.
func (c *TestClock) settle() {
	for w := (watch{}); w.pause(c.stopped) && !w.allWait(c.scope); {
	}
}

// end ends the clock. What is left of the timers passes in real time.
func (c *TestClock) end() {
	for _, d := range c.doubles {
		d.Restore()
	}
	defer coreQuiet(coreQuiet(true))
	close(c.stopped)
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, t := range c.timers {
		if t.period > 0 {
			(*time.Ticker)(unsafe.Pointer(t.handle)).Reset(t.period)
		} else {
			t.handle.Reset(t.at - c.passed)
		}
	}
	clockTimers.mu.Lock()
	defer clockTimers.mu.Unlock()
	for handle, t := range clockTimers.all {
		if t.clock == c {
			delete(clockTimers.all, handle)
		}
	}
}
