package recording

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// compacted returns the compact form of a recording.
func compacted(t testing.TB, dir string) string {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "compact")
	if err := r.Compact(to, nil); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestCompact reads the same from a compact recording, also from a time on.
func TestCompact(t *testing.T) {
	for _, name := range []string{"parser", "workers", "convoy"} {
		dir := filepath.Join("../../testdata/recordings", name)
		from, to := open(t, dir), open(t, compacted(t, dir))
		want := readAll(t, from, Window{})
		if got := readAll(t, to, Window{}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d events, want %d, or others", name, len(got), len(want))
		}
		for i, e := range want {
			if i > 0 && want[i-1].Ticks == e.Ticks {
				continue
			}
			if got := readAll(t, to, Window{From: e.Ticks}); !reflect.DeepEqual(got, want[i:]) {
				t.Errorf("%s: from event %d on: %d events, want %d", name, i, len(got), len(want)-i)
			}
		}
		if d := to.Damage(); len(d) != 0 {
			t.Error(d)
		}
		if !to.IsCompact() || from.IsCompact() || !reflect.DeepEqual(from.Functions(), to.Functions()) {
			t.Errorf("%s: tables", name)
		}
		if err := to.Compact(t.TempDir()+"/again", nil); err == nil || !strings.Contains(err.Error(), "is compact already") {
			t.Error(err)
		}
	}
}

// bare returns a packet of calls without arguments, n pairs in all, nested up to a depth.
func bare(r *Recording, n, depth int) []byte {
	b := appendPacketHead(nil, 0, r.Env.UUID, packet{begin: 1 << 40}, 0)
	ticks, calls := uint64(1<<40), map[uint32]uint64{}
	for len(b) < packetUsual-depth*64 && n > 0 {
		for d := range depth {
			key := uint32(d*7%200 + 1)
			calls[key]++
			ticks += 150
			b = (&Event{Ticks: ticks, Kind: Entry, Goroutine: 1, Function: key, Depth: uint16(d), Call: calls[key]}).encode(b)
			n--
		}
		for d := depth - 1; d >= 0; d-- {
			ticks += 250
			b = (&Event{Ticks: ticks, Kind: Exit, Goroutine: 1, Function: uint32(d*7%200 + 1), Depth: uint16(d)}).encode(b)
		}
	}
	setPacketSize(b, len(b), packetUsual)
	return append(b, make([]byte, packetUsual-len(b))...)
}

// TestCompactSize holds what a call without arguments takes to the bound that docs/format.md
// states.
func TestCompactSize(t *testing.T) {
	dir := copyOf(t, "parser")
	r := open(t, dir)
	write(t, dir, "calls_0", bytes.Repeat(bare(r, 1<<20, 12), 3))
	calls := 0
	for _, e := range readAll(t, open(t, dir), Window{}) {
		if e.Kind == Entry {
			calls++
		}
	}
	to := compacted(t, dir)
	info, err := os.Stat(filepath.Join(to, "packed_0"))
	if err != nil {
		t.Fatal(err)
	}
	if size := float64(info.Size()) / float64(calls); calls < 10000 || size > 12 {
		t.Errorf("%.1f bytes for each of %d calls", size, calls)
	}
}

// TestCompactDamaged damages a packet in the middle of a compact recording: those before and behind
// are read, and where it is is said.
func TestCompactDamaged(t *testing.T) {
	dir := copyOf(t, "parser")
	n := len(readAll(t, open(t, dir), Window{}))
	change(t, dir, "calls_0", func(b []byte) []byte {
		packet := make([]byte, packetUsual)
		copy(packet, b)
		return bytes.Repeat(packet, 3)
	})
	whole := compacted(t, dir)
	data, err := os.ReadFile(filepath.Join(whole, "packed_0"))
	if err != nil {
		t.Fatal(err)
	}
	size := len(data) / 3
	for _, test := range []struct {
		name   string
		damage func([]byte)
		what   string
		part   bool // of the packet something is read
	}{
		{"magic", func(b []byte) { b[0] ^= 1 }, "no packet begins here", false},
		{"size", func(b []byte) { binary.LittleEndian.PutUint64(b[packetHead:], 1<<50) }, "unpacked", false},
		{"record", func(b []byte) { b[packedHead+len(b)/2] = 0; clear(b[packedHead+len(b)/2 : packedHead+len(b)/2+20]) }, "", true},
		{"nothing", func([]byte) {}, "-", false},
	} {
		b := bytes.Clone(data)
		test.damage(b[size : 2*size])
		write(t, whole, "packed_0", b)
		r := open(t, whole)
		got, d := len(readAll(t, r, Window{})), r.Damage()
		switch {
		case test.what == "-":
			if got != 3*n || len(d) != 0 {
				t.Errorf("%s: %d events, %v", test.name, got, d)
			}
		case test.part:
			if got < 2*n || got > 3*n || len(d) != 1 && got != 3*n {
				t.Errorf("%s: %d events of %d, %v", test.name, got, 3*n, d)
			}
		case got != 2*n || len(d) != 1 || d[0].Offset != int64(size) || !strings.Contains(d[0].What, test.what):
			t.Errorf("%s: %d events, want %d; %v", test.name, got, 2*n, d)
		}
	}
	// Cut off anywhere, what is whole is read.
	last := 0
	for n := 0; n < len(data); n += 7 {
		write(t, whole, "packed_0", data[:n])
		r := open(t, whole)
		got := len(readAll(t, r, Window{}))
		if got < last || n%size != 0 && len(r.Damage()) == 0 {
			t.Fatalf("%d events of %d bytes, %d of less; %v", got, n, last, r.Damage())
		}
		last = got
	}
}

// TestWriter copies recordings.
func TestWriter(t *testing.T) {
	for _, name := range []string{"parser", "workers", "convoy"} {
		r := open(t, filepath.Join("../../testdata/recordings", name))
		want := readAll(t, r, Window{})
		want = append(want, Event{Ticks: want[len(want)-1].Ticks, Kind: Lost, Call: 3}, Event{Kind: Entry, Function: 1, Goroutine: 1, Call: 5, Untimed: true})
		dir := filepath.Join(t.TempDir(), "copy")
		w, err := r.NewWriter(dir)
		if err != nil {
			t.Fatal(err)
		}
		// Enough for several packets.
		var all []Event
		for len(all) < 20000 {
			for _, e := range want {
				e.Ticks = want[0].Ticks + uint64(len(all))
				all = append(all, e)
				if err := w.Write(&e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got := readAll(t, open(t, dir), Window{})
		lost, n := uint64(0), 0
		for _, e := range got {
			if e.Kind == Lost {
				lost += e.Call
				continue
			}
			for all[n].Kind == Lost {
				n++
			}
			if !reflect.DeepEqual(e, all[n]) {
				t.Fatalf("event %d is %+v, want %+v", n, e, all[n])
			}
			n++
		}
		if want := uint64(len(all) / len(want) * 3); lost != want || n < len(all)-1 {
			t.Errorf("%d events of %d, %d lost, want %d", n, len(all), lost, want)
		}
	}
}

// FuzzPack packs any bytes, and unpacks any.
func FuzzPack(f *testing.F) {
	for _, name := range []string{"parser/calls_0", "workers/calls_0", "workers/calls_1", "convoy/calls_0"} {
		data, err := os.ReadFile(filepath.Join("../../testdata/recordings", name))
		if err != nil {
			f.Fatal(err)
		}
		raw := data[packetHead:min(uint64(len(data)), le64(data[32:])/8)]
		f.Add(raw, uint64(0))
		f.Add(raw[:len(raw)/2], uint64(1<<40))
		var p packing
		f.Add(p.pack(nil, raw, 7), uint64(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, begin uint64) {
		var p, q packing
		for range 2 { // the second time with what is left of the first
			packed := p.pack(nil, data, begin)
			raw := make([]byte, len(data))
			if n, wrong := q.unpack(raw, packed, begin); n != len(data) || wrong != "" || !bytes.Equal(raw, data) {
				t.Fatalf("%d bytes of %d, %s:\n%x\n%x", n, len(data), wrong, raw[:n], data)
			}
			if len(packed) > 2*len(data)+16 || len(data) > packedLargest*len(packed) {
				t.Fatalf("%d bytes for %d", len(packed), len(data))
			}
		}
		for _, size := range []int{0, 1, 24, 31, 4096} {
			raw := make([]byte, size)
			if n, wrong := q.unpack(raw, data, begin); n > size || (n < size) != (wrong != "") {
				t.Fatalf("%d bytes of %d, %q", n, size, wrong)
			}
		}
	})
}

// FuzzPackedFile reads a file of packed packets of any bytes.
func FuzzPackedFile(f *testing.F) {
	dir := compacted(f, "../../testdata/recordings/workers")
	for _, name := range []string{"packed_0", "packed_1"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
		f.Add(append(bytes.Clone(data), data...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		write(t, dir, "packed_0", data)
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []Window{{}, {From: 1 << 50}} {
			s := r.Events(w)
			var e Event
			last := uint64(0)
			for s.Next(&e) {
				if e.Ticks < last {
					t.Fatal("an event goes back in time")
				}
				last = e.Ticks
			}
			s.Close()
		}
	})
}
