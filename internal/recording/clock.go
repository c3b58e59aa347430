package recording

import (
	"math"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// A Clock is one moment by three clocks.
type Clock struct {
	Ticks     uint64
	Monotonic int64 // ns
	Wall      int64 // ns since 1970
}

// addClock keeps the first and the last moment.
func (r *Recording) addClock(c Clock) {
	if len(r.clocks) == 2 {
		r.clocks = r.clocks[:1]
	}
	r.clocks = append(r.clocks, c)
}

// Clocks returns the first moment at which the clocks were read, and the last.
func (r *Recording) Clocks() (first, last Clock) {
	if len(r.clocks) == 0 {
		return Clock{}, Clock{}
	}
	return r.clocks[0], r.clocks[len(r.clocks)-1]
}

// Shift moves all times of day by so much. It is to be called before any converter is made.
func (r *Recording) Shift(by time.Duration) {
	for i := range r.clocks {
		r.clocks[i].Wall += int64(by)
	}
}

// Lifetime returns when a recording began and ended, by the clock of its process. Of one that was
// killed only the beginning is known, and that is the end too.
func (r *Recording) Lifetime() (began, ended time.Time) {
	first, last := r.Clocks()
	c := r.Converter()
	return c.Wall(first.Ticks), c.Wall(last.Ticks)
}

// A Converter turns ticks into time: by a line through the first and the last moment at which the
// clocks were read. If there is only one, it uses the frequency that the metadata has, which was
// measured when the program began. Timers whose frequency is the same everywhere need neither. It
// may be used concurrently.
type Converter struct {
	ticks     uint64
	wall      int64
	nsPerTick float64
}

// HoldClock has Converter return c from now on, whatever the tables say later of the clocks: who
// has shown times of a recording that is being written goes on to show the same.
func (r *Recording) HoldClock(c Converter) { r.held = &c }

// Converter returns the converter for the recording's ticks.
func (r *Recording) Converter() Converter {
	if r.held != nil {
		return *r.held
	}
	first, last := r.Clocks()
	if r.running.Ticks > last.Ticks { // the program still runs, or was killed
		last = r.running
	}
	c := Converter{ticks: first.Ticks, wall: first.Wall, nsPerTick: 1}
	switch {
	case r.Timer > 0 && r.Timer < len(fixedTimers):
		c.nsPerTick = fixedTimers[r.Timer]
	case last.Ticks > first.Ticks && last.Monotonic > first.Monotonic:
		c.nsPerTick = float64(last.Monotonic-first.Monotonic) / float64(last.Ticks-first.Ticks)
	case r.Env.Frequency != 0:
		c.nsPerTick = 1e9 / float64(r.Env.Frequency)
	}
	return c
}

// fixedTimers are the nanoseconds in a tick of the timers other than the processor's cycles.
var fixedTimers = [format.Timers]float64{format.TimerNanosecond: 1, format.TimerMicrosecond: 1e3, format.TimerMillisecond: 1e6, format.TimerTick: 1e7}

// Frequency returns how many ticks a second has.
func (c *Converter) Frequency() int64 { return int64(math.Round(1e9 / c.nsPerTick)) }

// Since returns the time since the recording began.
func (c *Converter) Since(ticks uint64) time.Duration {
	return time.Duration(float64(int64(ticks-c.ticks)) * c.nsPerTick)
}

// Between returns the time between two moments.
func (c *Converter) Between(from, to uint64) time.Duration {
	return time.Duration(float64(int64(to-from)) * c.nsPerTick)
}

// Wall returns the time of day.
func (c *Converter) Wall(ticks uint64) time.Time {
	return time.Unix(0, c.wall+int64(c.Since(ticks))).UTC()
}

// Ticks returns the ticks at a time since the recording began.
func (c *Converter) Ticks(since time.Duration) uint64 {
	return c.ticks + uint64(int64(float64(since)/c.nsPerTick))
}
