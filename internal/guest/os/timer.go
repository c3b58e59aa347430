//go:build ftrace_core

// Timers, as in WL#2360: cycles, nanoseconds, microseconds, milliseconds and the system's ticks.
// The frequency, resolution and overhead of each are measured. One is in use (FTRACE_TIMER). All
// moments are in its units, which this package calls ticks whichever timer it is.

package runtime

var ftraceTimerNames = [ftrace_format_Timers]string{"cycle", "nanosecond", "microsecond", "millisecond", "tick"}

// ftraceTimer is the one in use. It changes only while the world is stopped.
var ftraceTimer int

// ftraceEpoch has each timer's value when the memory file's sections were made. Times are shown
// from that moment on, whichever timer measures them.
var ftraceEpoch [ftrace_format_Timers]uint64

// ftraceFrequencies are those of the timers, in units a second; 0: it depends on the machine.
var ftraceFrequencies = [ftrace_format_Timers]uint64{ftrace_format_TimerNanosecond: 1e9, ftrace_format_TimerMicrosecond: 1e6, ftrace_format_TimerMillisecond: 1e3, ftrace_format_TimerTick: ftraceSystemTicksPerSecond}

// ftraceParseTimer reads FTRACE_TIMER.
func ftraceParseTimer(s string) {
	if s == "" {
		return
	}
	known := ""
	for i, name := range ftraceTimerNames {
		if s == name {
			if i != ftrace_format_TimerTick || ftraceSystemTicks() != 0 {
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

// ftraceTicks reads the timer in use. It is called where goroutines may not be preempted, and where
// a system call begins: there a stack may not be split.
//
//go:nosplit
func ftraceTicks() uint64 {
	if ftraceTimer == ftrace_format_TimerCycle {
		return ftraceCycles()
	}
	return ftraceReadTimer(ftraceTimer)
}

// ftraceNanoseconds returns how long so many ticks are.
func ftraceNanoseconds(n uint64) uint64 {
	frequency := ftraceFrequencies[ftraceTimer]
	if frequency == 0 {
		now := ftraceReadClock()
		return uint64(float64(n) * float64(now.Monotonic-ticks.startTime) / float64(now.Ticks-uint64(ticks.startTicks)))
	}
	return uint64(float64(n) * 1e9 / float64(frequency))
}

//go:nosplit
func ftraceReadTimer(timer int) uint64 {
	switch timer {
	case ftrace_format_TimerCycle:
		return ftraceCycles()
	case ftrace_format_TimerNanosecond:
		return uint64(nanotime())
	case ftrace_format_TimerMicrosecond:
		return uint64(nanotime()) / 1e3
	case ftrace_format_TimerMillisecond:
		return uint64(nanotime()) / 1e6
	}
	return ftraceSystemTicks()
}

// ftraceMeasureTimers measures all timers. That takes some milliseconds and, for the resolution of
// the coarse ones, their next step.
func ftraceMeasureTimers(to *[ftrace_format_Timers]ftrace_format_Timer) {
	for i := range to {
		if ftraceReadTimer(i) == 0 {
			continue
		}
		f := &to[i]
		f.Overhead = ^uint64(0)
		for range 20 {
			from := ftraceCycles()
			for range 10 {
				ftraceReadTimer(i)
			}
			f.Overhead = min(f.Overhead, (ftraceCycles()-from)/10)
		}
		f.Resolution = ^uint64(0)
		deadline := nanotime() + 30e6
		last := ftraceReadTimer(i)
		for n := 0; n < 100 && nanotime() < deadline; {
			if now := ftraceReadTimer(i); now != last {
				f.Resolution = min(f.Resolution, now-last)
				last = now
				n++
			}
		}
	}
	for i := range ftraceFrequencies {
		to[i].Frequency = ftraceFrequencies[i]
	}
	from, start := ftraceCycles(), nanotime()
	for nanotime()-start < 2e6 {
	}
	to[ftrace_format_TimerCycle].Frequency = uint64(float64(ftraceCycles()-from) * 1e9 / float64(nanotime()-start))
	if since := nanotime() - ticks.startTime; since > 1e8 { // a long time is a better measure
		to[ftrace_format_TimerCycle].Frequency = uint64(float64(ftraceCycles()-uint64(ticks.startTicks)) * 1e9 / float64(since))
	}
}

// ftraceReadClock reads the clocks a few times. It returns the reading that took the shortest time.
func ftraceReadClock() (best ftrace_format_Clock) {
	least := ^uint64(0)
	for range 5 {
		before := ftraceTicks()
		sec, nsec, mono := time_now()
		after := ftraceTicks()
		if after-before < least {
			least = after - before
			best = ftrace_format_Clock{Ticks: before + least/2, Monotonic: mono, Wall: sec*1e9 + int64(nsec)}
		}
	}
	return best
}
