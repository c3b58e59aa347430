package waits

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// open opens the recording of examples/convoy, or what keep leaves of it.
func open(t *testing.T, keep func(*recording.Event) bool) *recording.Recording {
	t.Helper()
	r, err := recording.Open("../../../testdata/recordings/convoy")
	if err != nil {
		t.Fatal(err)
	}
	if keep == nil {
		return r
	}
	return viewtest.Write(t, r, filepath.Join(t.TempDir(), "part"), func(yield func(*recording.Event)) {
		s := r.Events(recording.Window{})
		defer s.Close()
		var e recording.Event
		for s.Next(&e) {
			if keep(&e) {
				yield(&e)
			}
		}
	})
}

func find(t *testing.T, from walk.Source, o Options) (*Waits, string) {
	t.Helper()
	ws, err := Find(from, o)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := ws.Write(&out, o); err != nil {
		t.Fatal(err)
	}
	return ws, out.String()
}

// TestChain: the chain to the end of a call is without gaps, and as long as the call.
func TestChain(t *testing.T) {
	r := open(t, nil)
	first, last := r.Clocks()
	outermost := []string{"main", "settings"} // of calls that began after a fifth of the time
	for i, from := range []walk.Source{{Recording: r}, {Recording: r, Window: recording.Window{From: first.Ticks + (last.Ticks-first.Ticks)/5}}} {
		for _, name := range []string{"", "main.load", "main.(*cache).get", "main.(*cache).get#16", "main.settings#1"} {
			ws, out := find(t, from, Options{Call: name})
			if got := r.Function(ws.target.function).Name; name == "" && got != outermost[i] {
				t.Errorf("the longest outermost call is one of %s, want %s:\n%s", got, outermost[i], out)
			}
			chain := ws.chain()
			if len(chain) == 0 {
				t.Fatalf("%s: no chain:\n%s", name, out)
			}
			at := ws.target.begin
			for _, s := range chain {
				if s.begin != at || s.end < s.begin {
					t.Fatalf("%s: a stretch from %d to %d after %d:\n%s", name, s.begin, s.end, at, out)
				}
				at = s.end
			}
			if at != ws.target.end {
				t.Errorf("%s: the chain ends at %d, the call at %d:\n%s", name, at, ws.target.end, out)
			}
		}
	}
}

// TestTimes: what goroutines and functions ran, could have run and waited is all the time that they
// had, also of a part of the recording.
func TestTimes(t *testing.T) {
	r := open(t, nil)
	first, last := r.Clocks()
	middle := first.Ticks + (last.Ticks-first.Ticks)/2
	for _, window := range []recording.Window{{}, {From: middle}, {To: middle}} {
		ws, out := find(t, walk.Source{Recording: r, Window: window}, Options{})
		for _, times := range slices.Concat(ws.byGoroutine(), ws.byFunction()) {
			if sum := times.running() + times.runnable + times.waited(); sum != times.all {
				t.Errorf("%v: %s: %d of %d ticks:\n%s", window, times.name, sum, times.all, out)
			}
		}
	}
}

// TestKilled: of a program that was killed there are no waits under way. Then the calls in which
// goroutines are silent are there, and whom others woke from there.
func TestKilled(t *testing.T) {
	_, out := find(t, walk.Source{Recording: open(t, nil)}, Options{Rows: 10})
	if !strings.Contains(out, "\nWaiting at the end:\n") || !strings.Contains(out, ": wait/synch/chan/send(0x") || strings.Contains(out, "silent") {
		t.Errorf("it ended in order:\n%s", out)
	}
	_, out = find(t, walk.Source{Recording: open(t, func(e *recording.Event) bool { return e.Kind != recording.Wait || e.Call != 0 })}, Options{Rows: 10})
	for _, want := range []string{
		"\nNot ended, and silent until the end: ",
		" in main.work #",
		"before, it woke G1 in main.first #1 (has returned), which waited for wait/synch/chan/receive(0x",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Waiting at the end") {
		t.Errorf("it was killed:\n%s", out)
	}
}

// TestDamaged: whatever records say of times and of who ended a wait, there is an end.
func TestDamaged(t *testing.T) {
	for place := range 7 {
		for _, by := range []byte{0, 1, 0x80, 0xFF} {
			r := open(t, func(e *recording.Event) bool {
				if e.Kind == recording.Wait {
					data := slices.Clone(e.Data)
					for i := range 8 {
						data[8*place+i] ^= by >> (i % 3)
					}
					e.Data = data
				}
				return true
			})
			ws, out := find(t, walk.Source{Recording: r}, Options{})
			for _, times := range ws.byGoroutine() {
				if sum := times.running() + times.runnable + times.waited(); sum != times.all {
					t.Errorf("word %d: %s: %d of %d ticks:\n%s", place, times.name, sum, times.all, out)
				}
			}
		}
	}
}

// TestCycle: goroutines that wait at the end for locks that the others hold are a cycle, if each
// has waited since before it was noted what it holds. If one has not, it may have let go of that.
func TestCycle(t *testing.T) {
	r := open(t, nil)
	mutex := kind(r, "synch/mutex")
	_, last := r.Clocks()
	end := last.Ticks
	for _, began := range []struct {
		at    uint64
		cycle bool
	}{{end - 50, true}, {end + 12, false}} {
		made := record(t, r,
			event(t, recording.Blocked, mutex, 101, end+10, format.Blocked{Object: 0x10, Goroutine: 102, Mode: format.HoldMutex, Since: end - 90}),
			event(t, recording.Blocked, mutex, 102, end+20, format.Blocked{Object: 0x20, Goroutine: 101, Mode: format.HoldMutex, Since: end - 90}),
			event(t, recording.Wait, mutex, 101, end+30, format.Wait{Begin: end - 60, Object: 0x10}),
			event(t, recording.Wait, mutex, 102, end+30, format.Wait{Begin: began.at, Object: 0x20}))
		_, out := find(t, walk.Source{Recording: made}, Options{})
		if got := strings.HasPrefix(out, "Each of these 2 goroutines waits for a lock that the next one holds"); got != began.cycle {
			t.Errorf("a cycle is %v, want %v:\n%s", got, began.cycle, out)
		}
		if !strings.Contains(out, "held by G102 for ") || !strings.Contains(out, "held by G101 for ") {
			t.Errorf("not all holders are there:\n%s", out)
		}
	}
}

// TestEndedAfterAll: a wait that was recorded as under way when the program ended, and that ended
// before the process did, is one.
func TestEndedAfterAll(t *testing.T) {
	r := open(t, nil)
	mutex := kind(r, "synch/mutex")
	_, last := r.Clocks()
	end := last.Ticks
	went := event(t, recording.Wait, mutex, 101, end+40, format.Wait{Begin: end - 60, Object: 0x10})
	went.Call = 1
	ws, out := find(t, walk.Source{Recording: record(t, r, event(t, recording.Wait, mutex, 101, end+30, format.Wait{Begin: end - 60, Object: 0x10}), went)}, Options{})
	waits := ws.goroutines[101].waits
	if len(waits) != 1 || waits[0].open || waits[0].begin != end-60 || waits[0].end != end+40 || ws.goroutines[101].times.waited() != 100 {
		t.Errorf("%+v are not one wait of 100 ticks:\n%s", waits, out)
	}
}

// TestOutlived: a call that is under way when the program ends is not taken for longer than
// main.main, in which it began, since the program takes time to end.
func TestOutlived(t *testing.T) {
	r := open(t, nil)
	whole, _ := find(t, walk.Source{Recording: r}, Options{})
	first, last := r.Clocks()
	longer := viewtest.Write(t, r, filepath.Join(t.TempDir(), "longer"), func(yield func(*recording.Event)) {
		s := r.Events(recording.Window{})
		defer s.Close()
		var e recording.Event
		for s.Next(&e) {
			yield(&e)
		}
		for id, g := range whole.goroutines {
			if len(g.under) > 0 {
				yield(event(t, recording.Wait, kind(r, "sleep"), id, 2*last.Ticks-first.Ticks, format.Wait{Begin: last.Ticks}))
			}
		}
	})
	ws, out := find(t, walk.Source{Recording: longer}, Options{})
	if got := r.Function(ws.target.function).Name; got != "main" {
		t.Errorf("the longest outermost call is of function %s, want main:\n%s", got, out)
	}
}

// kind returns the key of a kind of waits.
func kind(r *recording.Recording, name string) uint32 {
	functions := r.Functions()
	return functions[slices.IndexFunc(functions, func(f *recording.Function) bool { return f.Wait && f.Name == name })].Key
}

// event returns an event of a kind of waits.
func event(t *testing.T, kind recording.Kind, function uint32, goroutine, ticks uint64, data any) *recording.Event {
	t.Helper()
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, data); err != nil {
		t.Fatal(err)
	}
	return &recording.Event{Kind: kind, Function: function, Goroutine: goroutine, Ticks: ticks, Data: b.Bytes()}
}

// record returns a recording of these events, with the tables of r.
func record(t *testing.T, r *recording.Recording, events ...*recording.Event) *recording.Recording {
	t.Helper()
	return viewtest.Write(t, r, filepath.Join(t.TempDir(), "made"), func(yield func(*recording.Event)) {
		for _, e := range events {
			yield(e)
		}
	})
}
