package web

import (
	"os"
	"path/filepath"
	"time"
)

// A sample is what a process had recorded at a moment, and what was left out.
type sample struct {
	at        time.Time
	calls     uint64 // that ended
	left      uint64 // calls that were left out to keep within the budget, as far as they were counted
	more      bool   // others were left out
	bytes     int64
	processor time.Duration // that the process has used
	spent     time.Duration // of that, what calls cost while there was a budget
}

// rates is what a process records, a second. Of some seconds.
type rates struct {
	Seconds   float64 `json:"seconds"` // so many
	Calls     float64 `json:"calls"`
	Left      float64 `json:"left"` // calls that were left out, and counted
	More      bool    `json:"more"` // others were left out
	Bytes     float64 `json:"bytes"`
	Processor float64 `json:"processor"` // processor time that the process uses, in seconds: how many processors
	Spent     float64 `json:"spent"`     // of that, what calls cost while there is a budget
}

// ratesOver is over how many samples rates are.
const ratesOver = 5

// since returns the rates from an earlier sample on, nil if that is no time.
func (s *sample) since(before *sample) *rates {
	seconds := s.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return nil
	}
	rate := func(n float64) float64 { return max(0, n) / seconds }
	return &rates{
		Seconds: seconds,
		Calls:   rate(float64(s.calls) - float64(before.calls)), Left: rate(float64(s.left) - float64(before.left)), More: s.more,
		Bytes: rate(float64(s.bytes - before.bytes)), Processor: rate((s.processor - before.processor).Seconds()), Spent: rate((s.spent - before.spent).Seconds()),
	}
}

// sample takes a sample, of which one a second is to be taken, and returns the rates since then.
func (f *follower) sample(now time.Time) *rates {
	x := f.x
	s := sample{at: now, calls: x.calls + x.lost/2, bytes: written(x.r.Dir), processor: f.processor(), spent: f.spent()} // most records are of a call's beginning or end
	for _, l := range x.r.LeftOut(0) {
		s.left += l.Calls
		s.more = s.more || l.More
	}
	f.samples = append(f.samples, s)
	if len(f.samples) > ratesOver+1 {
		f.samples = f.samples[1:]
	}
	return s.since(&f.samples[0])
}

// written returns how many bytes of records a process has written, those included that were given
// back.
func written(dir string) (sum int64) {
	names, _ := filepath.Glob(filepath.Join(dir, "calls_*"))
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
