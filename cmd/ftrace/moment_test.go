package main

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	for _, test := range []struct {
		text  string
		since time.Duration
		clock time.Time
		daily bool
	}{
		{text: "1.5s", since: 1500 * time.Millisecond},
		{text: "0"},
		{text: "2026-11-23T16:04:05.25Z", clock: time.Date(2026, 11, 23, 16, 4, 5, 250e6, time.UTC)},
		{text: "2026-11-23 16:04:05.000001+01:00", clock: time.Date(2026, 11, 23, 15, 4, 5, 1e3, time.UTC)},
		{text: "2026-11-23 16:04:05", clock: time.Date(2026, 11, 23, 16, 4, 5, 0, time.Local)},
		{text: "16:04:05.5", clock: time.Date(0, 1, 1, 16, 4, 5, 500e6, time.Local), daily: true},
		{text: "16:04", clock: time.Date(0, 1, 1, 16, 4, 0, 0, time.Local), daily: true},
	} {
		m, err := parseMoment(test.text)
		if err != nil || m.text != test.text || m.since != test.since || !m.clock.Equal(test.clock) || m.daily != test.daily {
			t.Errorf("%s is %+v, %v", test.text, m, err)
		}
	}
	for _, text := range []string{"", "-1s", "5", "16", "2026-11-23", "24:00", "soon"} {
		if m, err := parseMoment(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
}

func TestAfter(t *testing.T) {
	for _, test := range []struct {
		text  string
		began time.Time
		want  time.Duration
	}{
		{"20ms", time.Now(), 20 * time.Millisecond},
		{"2026-11-23T16:04:05Z", time.Date(2026, 11, 23, 17, 4, 0, 0, time.FixedZone("", 3600)), 5 * time.Second},
		{"2026-11-23T16:04:05Z", time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), 0},
		{"16:04:05", time.Date(2026, 11, 23, 16, 4, 0, 0, time.Local), 5 * time.Second},
		{"16:04", time.Date(2026, 11, 23, 16, 5, 0, 0, time.Local), 0},
		{"00:01", time.Date(2026, 11, 23, 23, 59, 0, 0, time.Local), 2 * time.Minute},
	} {
		m, err := parseMoment(test.text)
		if got := m.after(test.began); err != nil || got != test.want {
			t.Errorf("%s after %v is %v, not %v (%v)", test.text, test.began, got, test.want, err)
		}
	}
}
