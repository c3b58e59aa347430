//go:build ftrace_core

// Timers, as in WL#2360: cycles, nanoseconds, microseconds, milliseconds and the system's ticks.
// The frequency, resolution and overhead of each are measured. One is in use (FTRACE_TIMER). All
// moments are in its units, which this package calls ticks whichever timer it is.

package runtime

const (
	ftraceTimerCycle = iota
	ftraceTimerNanosecond
	ftraceTimerMicrosecond
	ftraceTimerMillisecond
	ftraceTimerTick
	ftraceTimers
)

var ftraceTimerNames = [ftraceTimers]string{"cycle", "nanosecond", "microsecond", "millisecond", "tick"}

// ftraceTimer is the one in use. It changes only while the world is stopped.
var ftraceTimer int

// ftraceEpoch has each timer's value when the memory file's sections were made. Times are shown
// from that moment on, whichever timer measures them.
var ftraceEpoch [ftraceTimers]uint64

// ftraceFrequencies are those of the timers, in units a second; 0: it depends on the machine.
var ftraceFrequencies = [ftraceTimers]uint64{ftraceTimerNanosecond: 1e9, ftraceTimerMicrosecond: 1e6, ftraceTimerMillisecond: 1e3, ftraceTimerTick: ftraceSystemTicksPerSecond}

// ftraceTimerFacts is what was measured of a timer.
type ftraceTimerFacts struct {
	frequency  uint64 // units a second; 0: there is no such timer here
	resolution uint64 // units by which it advances at least
	overhead   uint64 // cycles that a reading takes
}

// ftraceParseTimer reads FTRACE_TIMER.
func ftraceParseTimer(s string) {
	if s == "" {
		return
	}
	known := ""
	for i, name := range ftraceTimerNames {
		if s == name {
			if i != ftraceTimerTick || ftraceSystemTicks() != 0 {
				ftraceTimer = i
				return
			}
			ftraceComplain("FTRACE_TIMER: there is no timer tick on this system; the processor's cycles are used")
			return
		}
		known += " " + name
	}
	ftraceComplain("FTRACE_TIMER: " + s + " is none of" + known + "; the processor's cycles are used")
}

// ftraceTicks reads the timer in use.
func ftraceTicks() uint64 {
	if ftraceTimer == ftraceTimerCycle {
		return ftraceCycles()
	}
	return ftraceReadTimer(ftraceTimer)
}

func ftraceReadTimer(timer int) uint64 {
	switch timer {
	case ftraceTimerCycle:
		return ftraceCycles()
	case ftraceTimerNanosecond:
		return uint64(nanotime())
	case ftraceTimerMicrosecond:
		return uint64(nanotime()) / 1e3
	case ftraceTimerMillisecond:
		return uint64(nanotime()) / 1e6
	}
	return ftraceSystemTicks()
}

// ftraceMeasureTimers measures all timers. That takes some milliseconds and, for the resolution of
// the coarse ones, their next step.
func ftraceMeasureTimers(to *[ftraceTimers]ftraceTimerFacts) {
	for i := range to {
		if ftraceReadTimer(i) == 0 {
			continue
		}
		f := &to[i]
		f.overhead = ^uint64(0)
		for range 20 {
			from := ftraceCycles()
			for range 10 {
				ftraceReadTimer(i)
			}
			f.overhead = min(f.overhead, (ftraceCycles()-from)/10)
		}
		f.resolution = ^uint64(0)
		deadline := nanotime() + 30e6
		last := ftraceReadTimer(i)
		for n := 0; n < 100 && nanotime() < deadline; {
			if now := ftraceReadTimer(i); now != last {
				f.resolution = min(f.resolution, now-last)
				last = now
				n++
			}
		}
	}
	for i := range ftraceFrequencies {
		to[i].frequency = ftraceFrequencies[i]
	}
	from, start := ftraceCycles(), nanotime()
	for nanotime()-start < 2e6 {
	}
	to[ftraceTimerCycle].frequency = uint64(float64(ftraceCycles()-from) * 1e9 / float64(nanotime()-start))
	if since := nanotime() - ticks.startTime; since > 1e8 { // a long time is a better measure
		to[ftraceTimerCycle].frequency = uint64(float64(ftraceCycles()-uint64(ticks.startTicks)) * 1e9 / float64(since))
	}
}

// ftraceClock is one moment by three clocks.
type ftraceClock struct {
	ticks           uint64
	monotonic, wall int64 // ns
}

// ftraceReadClock reads the clocks a few times. It returns the reading that took the shortest time.
func ftraceReadClock() (best ftraceClock) {
	least := ^uint64(0)
	for range 5 {
		before := ftraceTicks()
		sec, nsec, mono := time_now()
		after := ftraceTicks()
		if after-before < least {
			least = after - before
			best = ftraceClock{ticks: before + least/2, monotonic: mono, wall: sec*1e9 + int64(nsec)}
		}
	}
	return best
}
