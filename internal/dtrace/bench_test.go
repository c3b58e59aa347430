package dtrace

import (
	"io"
	"slices"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// BenchmarkEvent is what an event costs a program: a predicate on a parameter and one update of a
// map, and others for comparison. Half of the calls pass the predicate.
func BenchmarkEvent(b *testing.B) {
	for _, test := range []struct{ name, source string }{
		{"predicate", `call:main::entry /arg.n > 3/ { @ = count(); }`},
		{"predicate+map", `call:main::entry /arg.n > 3/ { @[probefunc] = count(); }`},
		{"two keys", `call:main::entry { @[probefunc, n] = count(); }`},
		{"string key", `call:main::entry { @[s] = sum(n); }`},
		{"quantize", `call:main::entry { @[goid] = quantize(n); }`},
		{"latency", `call:main::return { @[probefunc] = quantize(elapsed); }`},
		{"other function", `call:other::entry { @ = count(); }`},
	} {
		b.Run(test.name, func(b *testing.B) {
			p, err := Compile(test.source)
			if err != nil {
				b.Fatal(err)
			}
			m := newMade()
			for n := range 8 {
				m.f(1, n, "a string", 100, "")
			}
			machine := NewMachine(p, m.r, io.Discard, io.Discard)
			events := m.events
			if test.name != "latency" { // entries alone
				events = slices.DeleteFunc(events, func(e recording.Event) bool { return e.Kind != recording.EntryArgs })
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				machine.Event(&events[i&7])
			}
		})
	}
}

// TestNoAllocation: an event that a predicate and a map are asked about allocates nothing.
func TestNoAllocation(t *testing.T) {
	p, err := Compile(`call:main::entry /arg.n > 3 && s != "two"/ { @[probefunc, s, n] = count(); @x[goid] = quantize(n); self->t = timestamp; last[s] = n }`)
	if err != nil {
		t.Fatal(err)
	}
	m := newMade()
	m.f(1, 4, "four", 1, "")
	machine := NewMachine(p, m.r, io.Discard, io.Discard)
	for range 100 {
		machine.Event(&m.events[0])
	}
	if n := testing.AllocsPerRun(1000, func() { machine.Event(&m.events[0]) }); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}
