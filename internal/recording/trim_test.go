package recording

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// TestTrim: a stream that gives back what it has passed goes on as it would have, and who reads the
// recording anew finds all of what is left, from one moment on.
func TestTrim(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("parts of files are given back on Linux only")
	}
	const packets, limit = 40, 16 * packetUsual
	dir := repeated(t, packets)
	all := readAll(t, open(t, dir), Window{})
	r := open(t, dir)
	s := r.Events(Window{Follow: true})
	defer s.Close()
	s.Poll(false)
	s.Trim(limit)
	if r.Begins() != 0 {
		t.Errorf("it begins at %d before anything was read", r.Begins())
	}
	s.Poll(true)
	var e Event
	for n, want := range all {
		if !s.Next(&e) || e.Ticks != want.Ticks || e.Kind != want.Kind || e.Call != want.Call {
			t.Fatalf("event %d is %+v, not %+v", n, e, want)
		}
		if n%100 == 0 {
			s.Trim(limit)
		}
	}
	if s.Next(&e) || s.Err() != nil {
		t.Errorf("there is more: %v, %v", e, s.Err())
	}
	s.Trim(limit)
	begins := r.Begins()
	first := slices.IndexFunc(all, func(e Event) bool { return e.Ticks >= begins })
	if kept := len(all) - first; kept < len(all)*12/packets/2 || kept > len(all)*20/packets/2 {
		t.Errorf("%d events of %d are left, from %d on", kept, len(all), begins)
	}
	for _, w := range []Window{{}, {From: begins}, {From: begins - 1}, {From: all[len(all)-5].Ticks}} {
		r := open(t, dir)
		got := readAll(t, r, w)
		want := all[slices.IndexFunc(all, func(e Event) bool { return e.Ticks >= max(begins, w.From) }):]
		got = slices.DeleteFunc(got, func(e Event) bool { return e.Ticks < begins })
		if len(got) != len(want) || got[0].Ticks != want[0].Ticks {
			t.Errorf("from %d on there are %d events, not %d", w.From, len(got), len(want))
		}
		if d := r.Damage(); len(d) != 2 || d[0].Offset != 0 || d[0].What != "its beginning has been given back" {
			t.Errorf("what is not there is said so: %v", d)
		}
	}
}

// TestRunning: of a program that was killed, times are by what it said of the clocks while it ran.
func TestRunning(t *testing.T) {
	r := open(t, copyOf(t, "workers"))
	_, last := r.Clocks()
	whole := r.Converter()
	r.clocks = r.clocks[:1]
	if killed := r.Converter(); killed.Since(last.Ticks) == whole.Since(last.Ticks) {
		t.Error("the frequency in the metadata is right by chance")
	}
	var data []byte
	for _, v := range []uint64{last.Ticks, uint64(last.Monotonic), uint64(last.Wall)} {
		data = binary.NativeEndian.AppendUint64(data, v)
	}
	r.tableRecord(format.TableRunning, &decoder{data: data})
	if killed := r.Converter(); killed != whole {
		t.Errorf("the line is %v, not %v", killed, whole)
	}
	first, last := r.Clocks()
	if last != first {
		t.Error("the program seems to have ended")
	}
	early := last
	early.Ticks, early.Monotonic, early.Wall = early.Ticks+2000, early.Monotonic+1, early.Wall+1
	if r.addClock(early); r.Converter() != whole { // a recording for who was attached ended then
		t.Error("an early reading is used, not the last one")
	}
	r.tableRecord(format.TableTimer, &decoder{data: make([]byte, 8)})
	if r.running != (Clock{}) {
		t.Error("a clock of another timer is left")
	}
}

// TestHoldClock: times stay as they were shown, whatever the tables say later of the clocks.
func TestHoldClock(t *testing.T) {
	r := open(t, copyOf(t, "workers"))
	c := r.Converter()
	r.HoldClock(c)
	first, last := r.Clocks()
	last.Monotonic += int64(time.Hour)
	r.addClock(last)
	if again := r.Converter(); again.Since(last.Ticks) != c.Since(last.Ticks) {
		t.Errorf("%v is %v now", c.Since(last.Ticks), again.Since(last.Ticks))
	}
	if changed := open(t, r.Dir); changed.Converter() != c {
		t.Errorf("another reader has the clocks from %v", first)
	}
}
