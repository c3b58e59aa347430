// Package viewtest has recordings for the tests of views.
package viewtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// MadeUp writes a recording of calls that were made up, with the functions and values of
// testdata/recordings/workers: goroutines that begin and end and move between processors,
// recursion, panics, notes, replacements, waits, calls whose beginning or end is missing.
func MadeUp(t testing.TB) *recording.Recording {
	t.Helper()
	r, err := recording.Open(testenv.Root(t) + "/testdata/recordings/workers")
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
		last  uint64 // ticks
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
		case n < 50:
			of := format.Wait{Number: uint64(n), Begin: g.last, Ready: max(g.last, ticks-100), Object: uint64(n % 3), Goroutine: running[0].id}
			e = recording.Event{Kind: recording.Wait, Depth: uint16(depth)}
			if e.Data, err = binary.Append(nil, binary.LittleEndian, of); err != nil {
				t.Fatal(err)
			}
			if others := n % 4; others > 0 { // channels of a select
				for i := range others + 1 {
					e.Data = binary.LittleEndian.AppendUint64(e.Data, uint64(others-i))
				}
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
		g.last = ticks
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

// Deep writes a recording of calls of one function, so deep, of which the outermost never end.
func Deep(t testing.TB, dir string, deep, endless int) *recording.Recording {
	t.Helper()
	r, err := recording.Open(testenv.Root(t) + "/testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Clocks()
	return Write(t, r, dir, func(yield func(*recording.Event)) {
		for i := range 2*deep - endless {
			depth, kind := i, recording.Entry
			if i >= deep {
				depth, kind = 2*deep-1-i, recording.Exit
			}
			yield(&recording.Event{Ticks: first.Ticks + 100*uint64(i+1), Goroutine: 1, Kind: kind, Depth: uint16(min(depth, 65535)), Function: 2, Call: uint64(i + 1)})
		}
	})
}

// Write writes a recording to a directory: the tables of r, and the events that events yields. It
// returns it, opened.
func Write(t testing.TB, r *recording.Recording, dir string, events func(yield func(*recording.Event))) *recording.Recording {
	t.Helper()
	w, err := r.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	events(func(e *recording.Event) {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err = recording.Open(dir); err != nil {
		t.Fatal(err)
	}
	return r
}

// AtOnce calls f with one processor, and with several, and returns what it returns.
func AtOnce[T any](t testing.TB, f func() T) (one, several T) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one = f()
	runtime.GOMAXPROCS(3)
	return one, f()
}

// BenchRecording opens the recording in $FTRACE_BENCH, and says how many events it has.
func BenchRecording(b *testing.B) (r *recording.Recording, events float64) {
	dir := os.Getenv("FTRACE_BENCH")
	if dir == "" {
		b.Skip("FTRACE_BENCH names no recording")
	}
	r, err := recording.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	for s.Next(&e) {
		events++
	}
	return r, events
}

// PerSecond reports how many events were read in a second.
func PerSecond(b *testing.B, events float64) {
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// Copy copies one of testdata/recordings to dir, which is made.
func Copy(t testing.TB, name, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(testenv.Root(t), "testdata", "recordings", name))); err != nil {
		t.Fatal(err)
	}
}

// Events returns what the recording in dir has, a line for each event. It must be whole.
func Events(t testing.TB, dir string) string {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	var b strings.Builder
	var e recording.Event
	for s.Next(&e) {
		fmt.Fprintln(&b, e.Ticks, e.Kind, e.Goroutine, e.Function, e.Depth, e.Call, e.Processor, e.Layout, e.Data)
	}
	if damage := r.Damage(); len(damage) > 0 || s.Err() != nil {
		t.Fatalf("%s: %v, %v", dir, damage, s.Err())
	}
	return b.String()
}

// Files returns what is in the files below dir, by name.
func Files(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		name, _ = filepath.Rel(dir, name)
		found[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Main is the TestMain of packages that run commands. A command is the test itself, in another
// process: as far as the tests can tell, one that was built with ftrace-wrap.
func Main(m *testing.M) {
	from := os.Getenv("TEST_RECORDING")
	if from == "" {
		os.Exit(m.Run())
	}
	if name := os.Getenv("TEST_RULES"); name != "" {
		os.WriteFile(name, []byte(os.Getenv("FTRACE")), 0o600)
	}
	if from != "none" { // as the core does, which knows %p and %%
		if err := os.CopyFS(strings.ReplaceAll(os.Getenv("FTRACE_RECORD"), "%%", "%"), os.DirFS(from)); err != nil {
			panic(err)
		}
	}
	if os.Getenv("TEST_END") == "kill" {
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		time.Sleep(time.Minute)
	}
	os.Exit(7)
}

// Command returns a command of a package with [Main]. It copies a recording to where it is to
// record, unless that is none, writes its rules to the file TEST_RULES, and ends with 7, or, with
// TEST_END=kill, by a signal.
func Command(recording string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "TEST_RECORDING="+recording), env...)
	return cmd
}
