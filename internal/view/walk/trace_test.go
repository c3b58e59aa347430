package walk

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// hosts returns recordings of several machines, whose clocks are so much later than that of the
// first, with requests that are made up. at is when something happens by the first one's clock.
func hosts(t *testing.T, later ...time.Duration) (traces *Traces, at func(host int, after time.Duration) uint64) {
	t.Helper()
	traces = &Traces{of: make([]requests, 1+len(later))}
	var clocks []recording.Converter
	for i := range traces.of {
		r, err := recording.Open("../../../testdata/recordings/workers")
		if err != nil {
			t.Fatal(err)
		}
		r.Dir = fmt.Sprintf("host%d", i)
		clocks = append(clocks, r.Converter())
		if i > 0 {
			r.Shift(later[i-1])
		}
		traces.recordings = append(traces.recordings, r)
	}
	return traces, func(host int, after time.Duration) uint64 { return clocks[host].Ticks(after) }
}

// TestAlign: clocks that differ are made to fit, also by way of another recording, and those that
// fit are left alone.
func TestAlign(t *testing.T) {
	const ms = time.Millisecond
	for _, later := range [][]time.Duration{{0, 0, 0}, {3 * time.Second, -time.Hour, 0}, {-3 * ms, 2 * ms, 7 * time.Second}} {
		traces, at := hosts(t, later...)
		ask := func(from, to int, begun time.Duration) {
			id := fmt.Sprint(from, to, begun)
			traces.of[from].list = append(traces.of[from].list, request{from: at(from, begun), to: at(from, begun+10*ms), trace: "t", id: id})
			traces.of[to].list = append(traces.of[to].list, request{from: at(to, begun+4*ms), to: at(to, begun+20*ms), trace: "t", id: id + "served", parent: id})
		}
		ask(0, 1, 0)
		ask(0, 1, 50*ms)
		ask(2, 1, 70*ms) // the other way round
		// An answer that nobody saw, and another trace with the same number, say little.
		traces.of[0].list = append(traces.of[0].list, request{from: at(0, 0), to: math.MaxUint64, trace: "t", id: "open"}, request{from: at(0, 0), trace: "t", id: "same"})
		traces.of[1].list = append(traces.of[1].list, request{from: at(1, time.Minute), trace: "t", parent: "open"}, request{from: at(1, time.Hour), trace: "other", parent: "same"})
		// So does a message that is handled long after it was published.
		traces.of[0].list = append(traces.of[0].list, request{from: at(0, 0), to: at(0, ms), trace: "t", id: "message", opens: opens(&recording.Function{Package: "stage", Name: "nats/publish/orders"})})
		traces.of[1].list = append(traces.of[1].list, request{from: at(1, time.Hour), trace: "t", parent: "message"})
		for i := range time.Duration(2) { // the program says the same id of both
			traces.of[0].list = append(traces.of[0].list, request{from: at(0, i*time.Hour), to: at(0, i*time.Hour+ms), trace: "t", id: "own"})
			traces.of[1].list = append(traces.of[1].list, request{from: at(1, i*time.Hour), trace: "t", parent: "own"})
		}
		var said strings.Builder
		traces.Align(&said)
		first := traces.recordings[0].Converter()
		for i, by := range append([]time.Duration{0}, later...) {
			clock := traces.recordings[i].Converter()
			off := clock.Wall(at(i, 0)).Sub(first.Wall(at(0, 0)))
			moved := strings.Contains(said.String(), fmt.Sprintf("ftrace: host%d: its times are moved by ", i))
			switch {
			case i == 3: // it has no requests
				if off != by || moved {
					t.Errorf("%v: host 3 is off by %v:\n%s", later, off, &said)
				}
			case off < -6*ms || off > 6*ms:
				t.Errorf("%v: host %d is off by %v", later, i, off)
			case moved != (by < -6*ms || by > 6*ms) && by != -3*ms && by != 2*ms:
				t.Errorf("%v: host %d:\n%s", later, i, &said)
			}
			if by == 0 && (off != 0 || moved) {
				t.Errorf("%v: host %d, which fits, is moved by %v", later, i, off)
			}
		}
	}
}

// TestDelays: recordings of one run count from its first, and other runs from their own.
func TestDelays(t *testing.T) {
	began := func(later ...time.Duration) *Traces {
		traces, _ := hosts(t, later...)
		return traces
	}
	lasts := func() time.Duration {
		at, ended := began().recordings[0].Lifetime()
		return ended.Sub(at)
	}()
	half := lasts / 2
	for _, test := range []struct{ later, want []time.Duration }{
		{[]time.Duration{half, -half}, []time.Duration{half, 2 * half, 0}}, // the last two are of one run with the first
		{[]time.Duration{time.Hour, time.Hour + half}, []time.Duration{0, 0, half}},
		{[]time.Duration{-time.Hour}, []time.Duration{0, 0}},
	} {
		if got := began(test.later...).Delays(); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.later, got, test.want)
		}
	}
	// Who was asked is of the same run, also if it was killed then, so that nobody knows its end.
	traces, at := hosts(t, time.Minute)
	traces.of[0].list = append(traces.of[0].list, request{from: at(0, 0), to: math.MaxUint64, trace: "t", id: "made"})
	traces.of[1].list = append(traces.of[1].list, request{from: at(1, 0), trace: "t", parent: "made"})
	if got := traces.Delays(); got[0] != 0 || got[1] != time.Minute {
		t.Errorf("who was asked: %v", got)
	}
}

// TestFind: what belongs to a trace is what is done for its requests, and by goroutines that are
// started then, each as deep as it is in the whole.
func TestFind(t *testing.T) {
	traces, at := hosts(t, 0)
	tick := func(host, n int) uint64 { return at(host, time.Duration(n)*time.Millisecond) }
	traces.of[0] = requests{
		list: []request{
			{goroutine: 1, from: tick(0, 10), to: tick(0, 90), depth: 2, trace: "abc1", id: "serves"},
			{goroutine: 1, from: tick(0, 20), to: tick(0, 30), depth: 5, trace: "abc1", id: "asks", parent: "serves"},
			{goroutine: 1, from: tick(0, 100), to: tick(0, 110), depth: 2, trace: "abd1", id: "another"},
			{goroutine: 7, from: tick(0, 50), to: tick(0, 60), depth: 1, trace: "abc1", id: "asks too", parent: "serves"},
			{goroutine: 1, from: tick(0, 120), to: math.MaxUint64, depth: 0, trace: "abc1", id: "last"},
		},
		starts: []goroutineStart{{goroutine: 7, by: 1, at: tick(0, 40), depth: 4}, {goroutine: 8, by: 1, at: tick(0, 95), depth: 1}},
	}
	traces.of[1] = requests{list: []request{
		{goroutine: 1, from: tick(1, 22), to: tick(1, 28), depth: 0, trace: "abc1", id: "served", parent: "asks"},
		{goroutine: 2, from: tick(1, 52), to: tick(1, 58), depth: 3, trace: "abc1", id: "served too", parent: "asks too"},
	}}
	found, err := traces.Find("ABC")
	if err != nil {
		t.Fatal(err)
	}
	want := []map[uint64][]Stretch{
		{
			1: {{tick(0, 10), tick(0, 90), 2, 0}, {tick(0, 120), math.MaxUint64, 0, 0}},
			7: {{tick(0, 40), math.MaxUint64, 0, 2}},
		},
		{1: {{tick(1, 22), tick(1, 28), 0, 4}}, 2: {{tick(1, 52), tick(1, 58), 3, 4}}},
	}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("found\n%v, want\n%v", found, want)
	}
	// Between processes only those pass whose makers can be told.
	traces.of[0].list = append(traces.of[0].list, request{trace: "abc1", id: "twice"}, request{trace: "abc1", id: "twice"})
	traces.of[1].list = append(traces.of[1].list, request{trace: "abc1", id: "a", parent: "twice"}, request{trace: "abd1", id: "b", parent: "asks"}, request{trace: "abc1", id: "c", parent: "served"})
	passings := []Passing{
		{Passed{0, 1, 5, tick(0, 20)}, Passed{1, 1, 0, tick(1, 22)}},
		{Passed{0, 7, 1, tick(0, 50)}, Passed{1, 2, 3, tick(1, 52)}},
	}
	if got := traces.Passings(); fmt.Sprint(got) != fmt.Sprint(passings) {
		t.Errorf("requests passed: %v, want %v", got, passings)
	}
	for id, said := range map[string]string{"ab": "requests of 2 traces", "x": "no request belongs to trace"} {
		if _, err := traces.Find(id); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("Find(%q): %v, want %q", id, err, said)
		}
	}
}
