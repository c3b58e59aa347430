package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"
)

// A moment is the value of -from or -to: a time since the recording began, or of the clock. The
// zero value stands for no limit.
type moment struct {
	text  string
	since time.Duration
	clock time.Time
	daily bool // clock is a time of day
}

// layouts are the forms of times of the clock. Those without a zone are local time.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", time.DateTime, time.TimeOnly, "15:04"}

// timeOnly is the first of the layouts that lack a date.
const timeOnly = 4

func parseMoment(text string) (moment, error) {
	if since, err := time.ParseDuration(text); err == nil {
		if since < 0 {
			return moment{}, errors.New("a time since the recording began is not less than 0")
		}
		return moment{text: text, since: since}, nil
	}
	for i, layout := range layouts {
		if clock, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return moment{text: text, clock: clock, daily: i >= timeOnly}, nil
		}
	}
	return moment{}, errors.New("that is neither a time since the recording began, such as 1.5s, nor one of the clock, such as 16:04:05 or 2026-11-30T16:04:05Z")
}

// after returns the time since a recording began, not less than 0. A time of day is that of the day
// when the recording began, or of the next if it is over 12 hours before that.
func (m moment) after(began time.Time) time.Duration {
	if m.clock.IsZero() {
		return m.since
	}
	clock := m.clock
	if m.daily {
		year, month, day := began.Local().Date()
		hour, minute, second := clock.Clock()
		clock = time.Date(year, month, day, hour, minute, second, clock.Nanosecond(), time.Local)
		if began.Sub(clock) > 12*time.Hour {
			clock = clock.AddDate(0, 0, 1)
		}
	}
	return max(clock.Sub(began), 0)
}

// momentFlag is a flag whose value is a moment.
type momentFlag struct {
	cli.StringFlag
	to *moment
}

// Set sets the flag.
func (f *momentFlag) Set(name, value string) (err error) {
	if *f.to, err = parseMoment(value); err != nil {
		return fmt.Errorf("-%s %s: %w", f.Name, value, err)
	}
	return f.StringFlag.Set(name, value)
}
