package source

import (
	"bytes"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

// eventsOf returns one of testdata's recordings, and its events.
func eventsOf(t *testing.T, name string) (r *recording.Recording, list []recording.Event) {
	r, err := recording.Open(filepath.Join(testenv.Root(t), "testdata", "recordings", name))
	if err != nil {
		t.Fatal(err)
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	for e := (recording.Event{}); s.Next(&e); {
		e.Data = bytes.Clone(e.Data)
		list = append(list, e)
	}
	return r, list
}

const large = 9 << 19 // bytes of events of recordings that are gone through in parts

// repeated writes a recording that has the events of one of testdata's again and again, on other
// goroutines each time. At the end a goroutine waits for a lock.
func repeated(t *testing.T, name string) *recording.Recording {
	r, list := eventsOf(t, name)
	size := 0
	for _, e := range list {
		size += 32 + len(e.Data)
	}
	lasted := list[len(list)-1].Ticks - list[0].Ticks + 1
	return viewtest.Write(t, r, filepath.Join(t.TempDir(), name), func(yield func(*recording.Event)) {
		var e recording.Event
		for i := range uint64(large / size) {
			for _, e = range list {
				e.Ticks += i * lasted
				e.Goroutine += i * 1000
				if e.Kind == recording.GoroutineStart && e.Parent != 0 {
					e.Parent += i * 1000
				}
				yield(&e)
			}
		}
		for _, f := range r.Functions() {
			if f.FullName() != "wait/synch/mutex" {
				continue
			}
			e.Ticks, e.Function, e.Call, e.Layout = e.Ticks+10, f.Key, 0, 0
			of := func(kind recording.Kind, data any) {
				var err error
				if e.Data, err = binary.Append(nil, binary.LittleEndian, data); err != nil {
					t.Fatal(err)
				}
				e.Kind = kind
				yield(&e)
			}
			of(recording.Blocked, format.Blocked{Object: 77, Goroutine: list[0].Goroutine, Mode: format.HoldMutex, Since: e.Ticks - 5})
			of(recording.Wait, format.Wait{Begin: e.Ticks - 3, Object: 77})
		}
	})
}

// late writes a recording in which a goroutine waits, after many calls, for a lock that a parameter
// of an early call leads to.
func late(t *testing.T) *recording.Recording {
	r, list := eventsOf(t, "convoy")
	at := slices.IndexFunc(list, func(e recording.Event) bool {
		return e.Kind == recording.Wait && e.Depth > 0 && r.Function(e.Function).FullName() == "wait/synch/mutex"
	})
	wait := list[at]
	return viewtest.Write(t, r, filepath.Join(t.TempDir(), "late"), func(yield func(*recording.Event)) {
		for _, e := range list[:at] {
			if e.Goroutine == wait.Goroutine {
				yield(&e)
			}
		}
		inner := recording.Event{Ticks: wait.Ticks, Goroutine: wait.Goroutine, Function: list[at-1].Function, Depth: wait.Depth}
		for range large / 64 {
			for _, inner.Kind = range []recording.Kind{recording.Entry, recording.Exit} {
				inner.Ticks += 1 << 14
				yield(&inner)
			}
		}
		wait.Ticks = inner.Ticks + 10
		yield(&wait)
	})
}

// waited writes a recording of what was made up, where waits end.
func waited(t *testing.T, r *recording.Recording) *recording.Recording {
	return viewtest.Write(t, r, filepath.Join(t.TempDir(), "waited"), func(yield func(*recording.Event)) {
		s := r.Events(recording.Window{})
		defer s.Close()
		for e := (recording.Event{}); s.Next(&e); {
			if e.Kind == recording.Wait {
				e.Call = e.Ticks % 5
			}
			yield(&e)
		}
	})
}

// TestParts: what is found in a recording in parts is what is found one event after the other.
func TestParts(t *testing.T) {
	defer func(bytes int64) { farFromEnd = bytes }(farFromEnd)
	madeUp := viewtest.MadeUp(t)
	recordings := map[string]*recording.Recording{"made up": madeUp, "waited": waited(t, madeUp), "deep": viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), 100_000, 1000), "late": late(t)}
	for _, name := range []string{"books", "convoy", "kinds"} {
		recordings[name] = repeated(t, name)
	}
	for name, r := range recordings {
		first, last := r.Clocks()
		middle := first.Ticks + (last.Ticks-first.Ticks)/2
		for what, with := range map[string]struct {
			options RecordingOptions
			far     int64
		}{
			"all":          {RecordingOptions{History: 10, HistoryLong: 1000, Threads: 10000}, 1 << 40},
			"far":          {RecordingOptions{History: 3, HistoryLong: 50, Threads: 20}, 64 << 10},
			"far and long": {RecordingOptions{History: 10, HistoryLong: 5000, Threads: 100}, 1},
			"window":       {RecordingOptions{History: 10, HistoryLong: 500, Threads: 10000, Window: recording.Window{From: middle}}, 256 << 10},
		} {
			if testing.Short() && what != "far" { // the race detector takes its time
				continue
			}
			with.options.Instances = 1 << 20
			farFromEnd = with.far
			one, several := viewtest.AtOnce(t, func() map[string]string {
				p, err := passThrough(r, with.options)
				if err != nil {
					t.Fatal(err)
				}
				return told(t, p.snapshot())
			})
			for _, table := range slices.Sorted(maps.Keys(one)) {
				if one[table] == several[table] {
					continue
				}
				a, b := strings.Split(one[table], "\n"), strings.Split(several[table], "\n")
				i := 0
				for i < min(len(a), len(b))-1 && a[i] == b[i] {
					i++
				}
				t.Errorf("%s, %s, %s: row %d of %d is\n%s\nin parts, of %d\n%s", name, what, table, i, len(a), a[i], len(b), b[i])
			}
			if len(one["Long"]) < 1000 {
				t.Errorf("%s, %s: the history has %d bytes", name, what, len(one["Long"]))
			}
		}
	}
}
