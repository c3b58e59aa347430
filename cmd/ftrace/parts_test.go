package main

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// madeUp writes a recording of calls that were made up, with the functions and values of testdata/recordings/workers: goroutines that begin and end and move between processors, recursion, panics, notes,
// replacements, calls whose beginning or end is missing.
func madeUp(t *testing.T) *recording.Recording {
	t.Helper()
	r, err := recording.Open("../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	entries, exits := map[uint32]recording.Event{}, map[uint32]recording.Event{}
	var functions []uint32
	var ticks uint64
	s := r.Events(recording.Window{})
	var e recording.Event
	for s.Next(&e) {
		known := entries
		if !e.Enters() {
			known = exits
		}
		if _, ok := known[e.Function]; !ok && (e.Enters() || e.Exits()) {
			e.Data = bytes.Clone(e.Data)
			known[e.Function] = e
			if e.Enters() {
				functions = append(functions, e.Function)
			}
		}
		ticks = e.Ticks
	}
	s.Close()
	dir := filepath.Join(t.TempDir(), "made-up")
	w, err := r.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	type calls struct {
		id    uint64
		stack []uint32
	}
	var running []*calls
	var exiting *calls
	last, numbers := uint64(100), map[uint32]uint64{}
	for range 200_000 {
		ticks += 1 + random.Uint64N(300)
		if len(running) < 3 || random.IntN(2000) == 0 {
			last++
			g := &calls{id: last, stack: make([]uint32, random.IntN(3))} // of some calls the beginning is not there
			running = append(running, g)
			start := recording.Event{Kind: recording.GoroutineStart, Ticks: ticks, Goroutine: g.id}
			if by := running[random.IntN(len(running))]; len(by.stack) > 0 {
				start.Parent, start.Function = by.id, by.stack[len(by.stack)-1]
				start.Call = numbers[start.Function]
			}
			if err := w.Write(&start); err != nil {
				t.Fatal(err)
			}
			continue
		}
		i := random.IntN(min(len(running), 4))
		g := running[i]
		if exiting != nil {
			g, i = exiting, len(running)-1
		}
		function := functions[random.IntN(len(functions))]
		depth := len(g.stack)
		var e recording.Event
		n := random.IntN(1000)
		if exiting != nil {
			n = 499
		}
		switch {
		case n < 2:
			g.stack = g.stack[:random.IntN(depth+1)] // the ends of some calls are not there
			continue
		case n < 6:
			e = recording.Event{Kind: recording.Line, Depth: uint16(depth), Data: []byte("a line")}
		case n < 7:
			e = recording.Event{Kind: recording.Lost, Call: 5}
		case n < 20 && depth > 0:
			function = g.stack[depth-1]
			e = recording.Event{Kind: []recording.Kind{recording.Note, recording.Mock, recording.Recovered}[n%3], Depth: uint16(depth - 1)}
			switch e.Kind {
			case recording.Note:
				e.Data = []byte("a note")
			case recording.Recovered: // its exit follows
				exiting = g
			}
		case depth > 0 && (n < 500 || depth > 40):
			function = g.stack[depth-1]
			g.stack = g.stack[:depth-1]
			e = exits[function]
			if n%100 == 0 || e.Kind == 0 {
				e = recording.Event{Kind: recording.ExitPanic}
			}
			e.Depth = uint16(depth - 1)
			exiting = nil
		default:
			g.stack = append(g.stack, function)
			numbers[function]++
			e = entries[function]
			e.Depth, e.Call = uint16(depth), numbers[function]
		}
		e.Ticks, e.Goroutine, e.Function, e.Processor = ticks, g.id, function, int32(random.IntN(3))
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
		if random.IntN(4000) == 0 {
			running = append(running[:i], running[i+1:]...)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err = recording.Open(dir); err != nil {
		t.Fatal(err)
	}
	return r
}

// atOnce calls f with one processor, and with several, and returns what it returns.
func atOnce[T any](t *testing.T, f func() T) (one, several T) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one = f()
	runtime.GOMAXPROCS(3)
	return one, f()
}

// TestParts: what is made of a recording in parts is what is made of it one event behind the other.
func TestParts(t *testing.T) {
	r := madeUp(t)
	middle := r.Events(recording.Window{})
	var e recording.Event
	for range 75_000 {
		middle.Next(&e)
	}
	middle.Close()
	for _, only := range []map[uint64]bool{nil, {101: true, 103: true, 120: true}} {
		for _, window := range []recording.Window{{}, {From: e.Ticks}, {To: e.Ticks}} {
			for _, text := range []string{"", "duration,elapsed,pos", "color=always"} {
				f, err := parseFormat(text)
				if err != nil {
					t.Fatal(err)
				}
				want, got := atOnce(t, func() string {
					var out bytes.Buffer
					if err := replay(&walker{r: r, only: only}, window, f, false, false, &out); err != nil {
						t.Fatal(err)
					}
					return out.String()
				})
				if got != want {
					a, b := bytes.Split([]byte(want), []byte("\n")), bytes.Split([]byte(got), []byte("\n"))
					i := 0
					for i < min(len(a), len(b)) && bytes.Equal(a[i], b[i]) {
						i++
					}
					t.Fatalf("replay of %v, %q: line %d of %d is\n%s\nwant\n%s", window, text, i, len(a), b[min(i, len(b)-1)], a[min(i, len(a)-1)])
				}
				if len(want) < 1000 {
					t.Errorf("replay of %v has %d bytes", window, len(want))
				}
			}
			for _, by := range []string{"function", "package", "goroutine"} {
				want, got := atOnce(t, func() string {
					s, err := summarize(&walker{r: r, only: only}, window, by)
					if err != nil {
						t.Fatal(err)
					}
					s.sort("name")
					var out bytes.Buffer
					writeReport(&out, s, 0)
					return out.String()
				})
				if got != want {
					t.Fatalf("report of %v by %s is\n%s\nwant\n%s", window, by, got, want)
				}
			}
		}
	}
}
