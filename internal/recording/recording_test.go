package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// copyOf returns a copy of a recording of testdata, whose files may be changed.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../testdata/recordings", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readAll returns the events of a recording.
func readAll(t *testing.T, r *Recording, w Window) []Event {
	t.Helper()
	s := r.Events(w)
	defer s.Close()
	var list []Event
	var e Event
	for s.Next(&e) {
		e.Data = append([]byte(nil), e.Data...)
		list = append(list, e)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return list
}

func open(t *testing.T, dir string) *Recording {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// change changes a file of a recording.
func change(t *testing.T, dir, name string, f func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, f(data))
}

func TestWhole(t *testing.T) {
	for _, name := range []string{"parser", "workers"} {
		r := open(t, filepath.Join("../../testdata/recordings", name))
		events := readAll(t, r, Window{})
		if d := r.Damage(); len(d) != 0 {
			t.Errorf("%s: damage %v", name, d)
		}
		entries, exits := 0, 0
		for i, e := range events {
			if i > 0 && e.Ticks < events[i-1].Ticks {
				t.Errorf("%s: event %d goes back in time", name, i)
			}
			if e.Enters() {
				entries++
			}
			if e.Exits() {
				exits++
			}
		}
		if entries < 10 || exits < entries-3 || exits > entries {
			t.Errorf("%s: %d entries, %d exits", name, entries, exits)
		}
		c := r.Converter()
		lasted := c.Since(events[len(events)-1].Ticks)
		first, last := r.Clocks()
		if lasted <= 0 || lasted > time.Duration(last.Monotonic-first.Monotonic) {
			t.Errorf("%s: the last event is %v after the start of a recording of %v", name, lasted, time.Duration(last.Monotonic-first.Monotonic))
		}
		if w := c.Wall(events[0].Ticks); w.Sub(r.Process.Start) > time.Second || w.Before(r.Process.Start) {
			t.Errorf("%s: the first event is at %v, the process started at %v", name, w, r.Process.Start)
		}
	}
}

// TestWindow looks at each event alone, and at those from it on.
func TestWindow(t *testing.T) {
	r := open(t, "../../testdata/recordings/workers")
	all := readAll(t, r, Window{})
	for i, e := range all {
		if i > 0 && all[i-1].Ticks == e.Ticks {
			continue
		}
		if got := readAll(t, r, Window{From: e.Ticks}); len(got) != len(all)-i || got[0].Ticks != e.Ticks {
			t.Fatalf("from event %d: %d events of %d", i, len(got), len(all))
		}
		if got := readAll(t, r, Window{To: e.Ticks}); got[len(got)-1].Ticks != e.Ticks || len(got) <= i {
			t.Fatalf("to event %d: %d events of %d", i, len(got), len(all))
		}
	}
}

// TestCut cuts a file off at each byte: what is whole before is read, and the rest is said to be
// damaged.
func TestCut(t *testing.T) {
	cut(t, copyOf(t, "parser"))
	cut(t, narrowed(t, "../../testdata/recordings/parser"))
}

func cut(t *testing.T, dir string) {
	t.Helper()
	whole, err := os.ReadFile(filepath.Join(dir, "calls_0"))
	if err != nil {
		t.Fatal(err)
	}
	all := readAll(t, open(t, dir), Window{})
	last := 0
	for n := range whole {
		write(t, dir, "calls_0", whole[:n])
		r := open(t, dir)
		got := readAll(t, r, Window{})
		if len(got) < last || len(got) > len(all) {
			t.Fatalf("%d events of %d bytes, %d of one byte less", len(got), n, last)
		}
		last = len(got)
		for i := range got {
			if got[i].Ticks != all[i].Ticks || got[i].Kind != all[i].Kind {
				t.Fatalf("event %d of %d bytes is another", i, n)
			}
		}
		d := r.Damage()
		if n == 0 && len(d) != 0 || n > 0 && (len(d) != 1 || d[0].File != "calls_0" || d[0].Offset > int64(n)) {
			t.Fatalf("damage of %d bytes: %v", n, d)
		}
	}
	if last < len(all)-1 {
		t.Errorf("%d events of all bytes but one, %d of all", last, len(all))
	}
}

// TestCutTables does so with the tables: the calls are read all the same.
func TestCutTables(t *testing.T) {
	dir := copyOf(t, "parser")
	all := readAll(t, open(t, dir), Window{})
	whole, _ := os.ReadFile(filepath.Join(dir, "tables"))
	for n := 0; n < len(whole); n += 13 {
		write(t, dir, "tables", whole[:n])
		r := open(t, dir)
		for i, e := range readAll(t, r, Window{}) {
			if e.Ticks != all[i].Ticks {
				t.Fatalf("event %d is another", i)
			}
			printAll(t, r, &e)
		}
	}
}

// TestDamagedPacket has a packet in the middle that is none, one of another recording, and one with
// a record that is none.
func TestDamagedPacket(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func([]byte)
		what   string
		lost   bool
	}{
		{"magic", func(b []byte) { b[0] ^= 1 }, "no packet begins here", true},
		{"uuid", func(b []byte) { b[8] ^= 1 }, "a packet of another recording", true},
		{"content", func(b []byte) { binary.LittleEndian.PutUint64(b[32:], 1<<40) }, "of content", true},
		{"size", func(b []byte) { binary.LittleEndian.PutUint64(b[40:], 8) }, "a packet of 1 bytes", true},
		{"record", func(b []byte) { b[packetHead+9] = 0 }, "a record that cannot be", true},
		{"narrow record", func(b []byte) { b[packetHead+narrowWordsAt] = 0 }, "a record that cannot be", true},
		{"narrow nothing", func(b []byte) {}, "", false},
		{"nothing", func(b []byte) {}, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := copyOf(t, "parser")
			if strings.HasPrefix(test.name, "narrow") {
				dir = narrowed(t, dir)
			}
			n := len(readAll(t, open(t, dir), Window{}))
			change(t, dir, "calls_0", func(b []byte) []byte {
				packet := make([]byte, packetUsual)
				copy(packet, b)
				middle := append([]byte(nil), packet...)
				test.damage(middle)
				return append(append(append([]byte(nil), packet...), middle...), packet...)
			})
			r := open(t, dir)
			want := 3 * n
			if test.lost {
				want = 2 * n
			}
			if got := len(readAll(t, r, Window{})); got != want {
				t.Errorf("%d events, want %d", got, want)
			}
			d := r.Damage()
			switch {
			case !test.lost && len(d) != 0:
				t.Errorf("damage %v", d)
			case test.lost && (len(d) != 1 || !strings.Contains(d[0].What, test.what) || d[0].Offset < packetUsual || d[0].Offset >= 2*packetUsual):
				t.Errorf("damage %v, want one: %s", d, test.what)
			}
		})
	}
}

// TestLost has a packet that knows of lost records.
func TestLost(t *testing.T) {
	dir := copyOf(t, "parser")
	change(t, dir, "calls_0", func(b []byte) []byte {
		packet := make([]byte, packetUsual)
		copy(packet, b)
		second := append([]byte(nil), packet...)
		binary.LittleEndian.PutUint64(second[48:], 7)
		return append(packet, second...)
	})
	r := open(t, dir)
	lost := uint64(0)
	for _, e := range readAll(t, r, Window{}) {
		if e.Kind == Lost {
			lost += e.Call
		}
	}
	if lost != 7 {
		t.Errorf("%d lost", lost)
	}
}

// TestReserved has a packet that was reserved, and not begun when the program was killed.
func TestReserved(t *testing.T) {
	dir := copyOf(t, "parser")
	n := len(readAll(t, open(t, dir), Window{}))
	change(t, dir, "calls_0", func(b []byte) []byte {
		return append(b, make([]byte, 2*packetUsual-len(b))...)
	})
	r := open(t, dir)
	if got := len(readAll(t, r, Window{})); got != n || len(r.Damage()) != 0 {
		t.Errorf("%d events of %d, damage %v", got, n, r.Damage())
	}
}

// TestFollow reads a recording while it is being written, a byte of the packet's content and then
// another file at a time.
func TestFollow(t *testing.T) {
	from := copyOf(t, "workers")
	want := readAll(t, open(t, from), Window{})
	dir := copyOf(t, "workers")
	files := map[string][]byte{}
	for _, name := range []string{"calls_0", "calls_1"} {
		files[name], _ = os.ReadFile(filepath.Join(from, name))
		os.Remove(filepath.Join(dir, name))
	}
	r := open(t, dir)
	s := r.Events(Window{Follow: true})
	defer s.Close()
	var got []Event
	next := func(ended bool) {
		s.Poll(ended)
		var e Event
		for s.Next(&e) {
			e.Data = append([]byte(nil), e.Data...)
			got = append(got, e)
		}
	}
	// The records of both files, in the order in which they were written.
	written := map[string]int{"calls_0": packetHead, "calls_1": packetHead}
	for {
		name, ticks := "", uint64(0)
		for n, b := range files {
			if at := written[n]; at+recordHead <= len(b) && (name == "" || le64(b[at:]) < ticks) {
				name, ticks = n, le64(b[at:])
			}
		}
		if name == "" {
			break
		}
		b := append([]byte(nil), files[name]...)
		written[name] += int(b[written[name]+9]) * 8
		binary.LittleEndian.PutUint64(b[32:], uint64(min(written[name], len(b)))*8)
		write(t, dir, name, b[:min(written[name], len(b))])
		next(false)
		if len(got) > 0 && got[len(got)-1].Ticks > ticks {
			t.Fatal("an event from the future")
		}
	}
	next(true)
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Ticks != want[i].Ticks || got[i].Kind != want[i].Kind || string(got[i].Data) != string(want[i].Data) {
			t.Fatalf("event %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if d := r.Damage(); len(d) != 0 {
		t.Errorf("damage %v", d)
	}
}

// TestOpenToFree: a file that becomes a symbolic link, which may be to another user's, is not
// opened to be emptied.
func TestOpenToFree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("parts of files are freed on Linux only")
	}
	dir := copyOf(t, "workers")
	link := filepath.Join(t.TempDir(), "calls_0")
	if err := os.Symlink(filepath.Join(dir, "calls_0"), link); err != nil {
		t.Fatal(err)
	}
	for name, opens := range map[string]bool{link: false, filepath.Join(dir, "calls_0"): true} {
		f, err := openToFree(name)
		f.Close()
		if (err == nil) != opens {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// repeated returns a recording with two files of so many packets, each of which is 1<<40 ticks
// after the one before.
func repeated(t *testing.T, packets int) (dir string) {
	t.Helper()
	const step = 1 << 40
	dir = copyOf(t, "workers")
	for _, name := range []string{"calls_0", "calls_1"} {
		change(t, dir, name, func(b []byte) (file []byte) {
			for i := range uint64(packets) {
				p := make([]byte, packetUsual)
				copy(p, b)
				add := func(at int) { binary.LittleEndian.PutUint64(p[at:], le64(p[at:])+i*step) }
				head, _ := parsePacket(p, format.CallsStream, open(t, dir).Env.UUID)
				for at := packetHead; at+recordHead <= int(head.content); at += int(p[at+wordsAt]) * 8 {
					add(at)
				}
				for at := 0; at < packetHead; at += 8 {
					if le64(p[at:]) == head.begin {
						add(at)
					}
				}
				file = append(file, p...)
			}
			return file
		})
	}
	return dir
}

// TestSkip gives up what is unread of two files, up to one moment. The space of what was read or
// given up is given back.
func TestSkip(t *testing.T) {
	const packets = 40
	dir := repeated(t, packets)
	all := readAll(t, open(t, dir), Window{})
	for _, limit := range []int64{200 * packetUsual, 20 * packetUsual, 2 * packetUsual} {
		t.Run(fmt.Sprint(limit/packetUsual), func(t *testing.T) {
			dir, from := t.TempDir(), dir
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			r := open(t, dir)
			s := r.Events(Window{Follow: true, Free: true})
			defer s.Close()
			s.Poll(false)
			s.Poll(false)
			var e Event
			if !s.Next(&e) {
				t.Fatal("no event")
			}
			first := e
			first.Data = bytes.Clone(e.Data)
			s.Skip(limit)
			if !reflect.DeepEqual(e, first) {
				t.Error("the event that was read has changed")
			}
			seen, lost, oldest := uint64(1), uint64(0), uint64(0)
			s.Poll(true)
			for s.Next(&e) {
				switch {
				case e.Kind == Lost:
					lost += e.Call
				case oldest == 0:
					oldest = e.Ticks
					fallthrough
				default:
					seen++
				}
			}
			if seen+lost != uint64(len(all)) {
				t.Errorf("%d events were seen and %d skipped, of %d", seen, lost, len(all))
			}
			after := 0 // events since the oldest that is left
			for _, e := range all {
				if e.Ticks >= oldest {
					after++
				}
			}
			least := 0
			if lost > 0 {
				least = int(limit/2/packetUsual-2) * len(all) / packets / 2
			}
			switch {
			case limit > 2*packets*packetUsual && lost > 0:
				t.Errorf("%d were skipped below the limit", lost)
			case limit <= 2*packets*packetUsual && (lost == 0 || after != int(seen)-1):
				t.Errorf("%d events since the oldest, of which %d are left", after, seen-1)
			case after < least:
				t.Errorf("%d events are left, not at least %d", after, least)
			}
			f, err := os.Open(filepath.Join(dir, "calls_0"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			b := make([]byte, (packets-1)*packetUsual)
			if n, err := f.ReadAt(b, 0); n != len(b) || !zero(b) {
				t.Errorf("the packets before the last take space: %v", err)
			}
		})
	}
}

// A program that only begins to record has made the file of the metadata, and not yet written it.
func TestBegun(t *testing.T) {
	dir := copyOf(t, "parser")
	child := filepath.Join(dir, "child")
	if err := os.Mkdir(child, 0o700); err != nil {
		t.Fatal(err)
	}
	if Is(child) || Begun(child) {
		t.Error("an empty directory is a recording")
	}
	if err := os.WriteFile(filepath.Join(child, "metadata"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	children, err := r.Children()
	if !Is(child) || Begun(child) || len(children) != 0 || err != nil {
		t.Errorf("with empty metadata: Is %v, Begun %v, children %v, %v", Is(child), Begun(child), children, err)
	}
	if !Begun(dir) {
		t.Error("a whole recording has not begun")
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"ftrace_format = 1", "ftrace_format = 5", "the recording has format 5, and this ftrace reads formats up to 4"},
		{"ftrace_format = 1", "", "env has no ftrace_format"},
		{"byte_order = le", "byte_order = be", `byte order "be"`},
		{"uuid = \"", "uuid = \"x", "uuid"},
	} {
		dir := copyOf(t, "parser")
		change(t, dir, "metadata", func(b []byte) []byte { return []byte(strings.Replace(string(b), test.old, test.new, 1)) })
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.new, err, test.want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a recording") {
		t.Error(err)
	}
	// A packet of the other byte order is damage.
	dir := copyOf(t, "parser")
	change(t, dir, "calls_0", func(b []byte) []byte {
		b[0], b[1], b[2], b[3] = b[3], b[2], b[1], b[0]
		return b
	})
	r := open(t, dir)
	if readAll(t, r, Window{}); len(r.Damage()) != 1 || !strings.Contains(r.Damage()[0].What, "other byte order") {
		t.Error(r.Damage())
	}
}

// TestMemory reads a recording of 40 packets in no more memory than a few take.
func TestMemory(t *testing.T) {
	dir := copyOf(t, "parser")
	change(t, dir, "calls_0", func(b []byte) []byte {
		packet := make([]byte, packetUsual)
		copy(packet, b)
		return []byte(strings.Repeat(string(packet), 40))
	})
	r := open(t, dir)
	n := testing.AllocsPerRun(1, func() {
		s := r.Events(Window{})
		defer s.Close()
		var e Event
		for s.Next(&e) {
		}
	})
	if n > 40*8 {
		t.Errorf("%v allocations", n)
	}
}

func TestParseNames(t *testing.T) {
	params, results, typ := parseNames("x,y!,z:Time;err!;++func(_,any,time.Time)(error)")
	if len(params) != 3 || !params[1].Interface || params[2].Unless != "Time" || len(results) != 1 || typ != "func(_,any,time.Time)(error)" {
		t.Error(params, results, typ)
	}
}
