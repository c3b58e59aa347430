package recording

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
)

// large makes a recording of many packets, with the tables of testdata/workers: goroutines that
// move between processors, records that were lost, one that was lost at the end.
func large(t *testing.T) string {
	t.Helper()
	r := open(t, "../../testdata/recordings/workers")
	dir := filepath.Join(t.TempDir(), "large")
	w, err := r.NewWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Clocks()
	random := rand.New(rand.NewPCG(1, 2))
	ticks := first.Ticks
	var on [3]uint64 // by processor: the goroutine
	for range 200_000 {
		ticks += random.Uint64N(50)
		processor := random.IntN(3)
		if random.IntN(10) == 0 || on[processor] == 0 {
			on[processor] = 1 + random.Uint64N(9)
		}
		e := Event{Ticks: ticks, Kind: []Kind{Entry, Exit, Line, GoroutineStart}[random.IntN(4)], Goroutine: on[processor], Function: 1, Processor: int32(processor)}
		if random.IntN(10_000) == 0 {
			e = Event{Kind: Lost, Call: 1 + random.Uint64N(5), Processor: e.Processor}
		}
		if e.Kind == Line {
			e.Data = []byte("a line")
		}
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(&Event{Kind: Lost, Call: 7, Processor: 1})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sameTick puts events of the same tick, which are of different processors, in the order of these.
func sameTick(list []Event) []Event {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && list[j].Ticks == list[j-1].Ticks && list[j].Processor < list[j-1].Processor; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
	return list
}

// inParts returns the events of all parts, which are read at once, and how many there are.
func inParts(t *testing.T, r *Recording, w Window) ([]Event, int) {
	t.Helper()
	parts, err := r.Parts(w, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	var of []*[]Event
	var wg sync.WaitGroup
	for w, ok := parts.Next(); ok; w, ok = parts.Next() {
		list := new([]Event)
		of = append(of, list)
		wg.Go(func() { *list = readAll(t, r, w) })
	}
	wg.Wait()
	var all []Event
	for _, list := range of {
		all = append(all, *list...)
	}
	return all, len(of)
}

// TestParts: parts that are read at once have what is there if all is read one after the other,
// records that were lost and damage included.
func TestParts(t *testing.T) {
	whole := large(t)
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.CopyFS(damaged, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	change(t, damaged, "calls_0", func(b []byte) []byte {
		clear(b[5*packetUsual : 5*packetUsual+1000]) // no packet
		b[7*packetUsual+packetHead+9] = 0            // a record that cannot be
		clear(b[9*packetUsual+8 : 9*packetUsual+20]) // of another recording
		return b[:len(b)-packetUsual-packetUsual/2]  // cut off
	})
	mistimed := filepath.Join(t.TempDir(), "mistimed")
	if err := os.CopyFS(mistimed, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	change(t, mistimed, "calls_0", func(b []byte) []byte {
		for i, at := range []int{0, 500, -1} { // the first record of a packet, one within, the last
			packet := b[(3+2*i)*packetUsual:][:packetUsual]
			var records []int
			for pos := packetHead; pos < int(le64(packet[contentAt:])/8); pos += int(packet[pos+wordsAt]) * 8 {
				records = append(records, pos)
			}
			packet[records[(at+len(records))%len(records)]+7] = 0x40 // its time is in the far future
		}
		return b
	})
	all := readAll(t, open(t, whole), Window{})
	last := all[len(all)-1].Ticks
	for name, dir := range map[string]string{"whole": whole, "compact": compacted(t, whole), "damaged": damaged, "compact, damaged": compacted(t, damaged), "mistimed": mistimed, "compact, mistimed": compacted(t, mistimed)} {
		r := open(t, dir)
		want := readAll(t, r, Window{})
		if at := want[len(want)-1].Ticks; at > last {
			t.Errorf("%s: the last event is at %d, want %d", name, at, last)
		}
		damage := r.Damage()
		middle := want[len(want)/2].Ticks
		for _, w := range []Window{{}, {From: middle}, {To: middle}, {From: middle, To: want[len(want)*3/4].Ticks}} {
			r := open(t, dir)
			got, parts := inParts(t, r, w)
			want := readAll(t, open(t, dir), w)
			if !reflect.DeepEqual(sameTick(got), sameTick(want)) {
				t.Errorf("%s: %v: %d events in %d parts, want %d, or others", name, w, len(got), parts, len(want))
			}
			if parts < 2 || w == (Window{}) && parts < 3 {
				t.Errorf("%s: %v: %d parts", name, w, parts)
			}
			if w == (Window{}) && len(r.Damage()) != len(damage) {
				t.Errorf("%s: damage %v, want %v", name, r.Damage(), damage)
			}
		}
	}
}

// TestSeekLost: records that were lost within a window are said in it, others are not.
func TestSeekLost(t *testing.T) {
	dir := large(t)
	all := readAll(t, open(t, dir), Window{})
	for i := range all {
		if all[i].Kind != Lost {
			continue
		}
		lost := map[uint64]uint64{} // by ticks of the window's beginning
		for _, from := range []uint64{all[i].Ticks, all[i].Ticks + 1} {
			for _, e := range readAll(t, open(t, dir), Window{From: from, To: all[i].Ticks + 1}) {
				if e.Kind == Lost && e.Processor == all[i].Processor && e.Ticks == all[i].Ticks {
					lost[from] += e.Call
				}
			}
		}
		if i < len(all)-1 && lost[all[i].Ticks] != all[i].Call || lost[all[i].Ticks+1] != 0 {
			t.Errorf("%d records were lost at %d: %v", all[i].Call, all[i].Ticks, lost)
		}
	}
}
