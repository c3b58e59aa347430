package recording

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// narrowed returns a copy of a recording with the records that programs write.
func narrowed(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "narrow")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(to, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch base := filepath.Base(name); {
		case base == "metadata":
			data = formatLine().ReplaceAll(data, fmt.Appendf(nil, "${1}%d", format.Version))
		case strings.HasPrefix(base, callFiles):
			data = narrow(data)
		}
		write(t, to, filepath.Base(name), data)
	}
	return to
}

// narrow makes the packets of a file narrow.
func narrow(file []byte) (out []byte) {
	order := binary.LittleEndian
	for len(file) > 0 {
		packet := file[:min(len(file), packetUsual)]
		file = file[len(packet):]
		content := min(len(packet), int(le64(packet[contentAt:])/8))
		b := slices.Clone(packet[:packetHead])
		var goroutine, turn uint64
		entries := map[string]int{} // where the last is with this goroutine, depth and function
		for pos := packetHead; pos+recordHead <= content; {
			size := int(packet[pos+wordsAt]) * 8
			r := packet[pos:min(pos+size, content)]
			pos += size
			for len(b)%8 != 0 {
				b = append(b, 0)
			}
			ticks, call := le64(r), string(r[depthAt:recordHead])
			if g := le64(r[goroutineAt:]); g != goroutine || ticks-turn >= 1<<32 {
				goroutine, turn = g, ticks
				b = append(order.AppendUint32(b, uint32(turn)), format.KindTurn, format.TurnSize/8, 0, 0)
				b = order.AppendUint64(order.AppendUint64(b, goroutine), turn)
			}
			at := len(b)
			b = append(order.AppendUint32(b, uint32(ticks)), r[kindAt:recordHead-8]...)
			rest := r[recordHead:]
			switch entry, near := entries[call]; r[kindAt] {
			case format.KindEntry, format.KindEntryArgs:
				entries[call] = at
				if number := le64(rest); number>>32 == 0 {
					b, rest = order.AppendUint32(b, uint32(number)), rest[8:]
				} else {
					b[at+narrowKindAt] += format.KindEntryLong - format.KindEntry
					b = append(b, 0, 0, 0, 0)
				}
			case format.KindExit, format.KindExitResults:
				if delete(entries, call); near {
					b = b[:at+format.RecordNear]
					b[at+narrowKindAt] += format.KindExitNear - format.KindExit
					order.PutUint16(b[at+narrowDepthAt:], uint16((at-entry)/8))
					break
				}
				fallthrough
			default:
				b = append(b, 0, 0, 0, 0)
			}
			b = append(b, rest...)
			b[at+narrowWordsAt] = byte((len(b) - at + 7) / 8)
		}
		order.PutUint64(b[contentAt:], uint64(len(b))*8)
		if len(packet) == packetUsual {
			b = append(b, make([]byte, packetUsual-len(b))...)
		}
		out = append(out, b...)
	}
	return out
}

// TestNarrow reads recordings whose records leave out what can be, and finds what those have that
// leave out nothing.
func TestNarrow(t *testing.T) {
	for _, dir := range []string{"../../testdata/recordings/parser", "../../testdata/recordings/workers", "../../testdata/recordings/convoy", "../../testdata/recordings/kinds", large(t), repeated(t, 3)} {
		want := readAll(t, open(t, dir), Window{})
		narrow := narrowed(t, dir)
		r := open(t, narrow)
		same := func(what string, got, want []Event) {
			t.Helper()
			got, want = sameTick(got), sameTick(want)
			if len(got) != len(want) {
				t.Fatalf("%s, %s: %d events, want %d", dir, what, len(got), len(want))
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("%s, %s: event %d is\n%+v, want\n%+v", dir, what, i, got[i], want[i])
				}
			}
		}
		same("all", readAll(t, r, Window{}), want)
		if d := r.Damage(); len(d) != 0 {
			t.Errorf("%s: damage %v", dir, d)
		}
		middle := Window{From: want[len(want)/3].Ticks, To: want[len(want)*2/3].Ticks}
		same("a window", readAll(t, r, middle), readAll(t, open(t, dir), middle))
		parts, _ := inParts(t, r, Window{})
		same("in parts", parts, want)
		same("compact", readAll(t, open(t, compacted(t, narrow)), Window{}), want)
		followed := r.Events(Window{Follow: true})
		var got []Event
		for range 2 {
			followed.Poll(true)
			for e := (Event{}); followed.Next(&e); {
				e.Data = append([]byte(nil), e.Data...)
				got = append(got, e)
			}
		}
		followed.Close()
		same("followed", got, want)
	}
}

// TestNarrowRecords has a record of each kind that only programs write.
func TestNarrowRecords(t *testing.T) {
	dir := copyOf(t, "parser")
	change(t, dir, "metadata", func(b []byte) []byte {
		return formatLine().ReplaceAll(b, fmt.Appendf(nil, "${1}%d", format.Version))
	})
	var begin uint64
	change(t, dir, "calls_0", func(b []byte) []byte {
		begin = le64(b[24:])
		b = b[:packetHead]
		record := func(fields ...any) {
			for _, f := range fields {
				b, _ = binary.Append(b, binary.LittleEndian, f)
			}
		}
		record(format.Turn{Low: uint32(begin + 1), Kind: format.KindTurn, Words: 3, Goroutine: 5, Ticks: begin + 1})
		record(format.Record{Ticks: uint32(begin + 2), Kind: format.KindEntry, Words: 2, Depth: 0, Function: 7, Call: 1<<32 - 1})
		record(format.Record{Ticks: uint32(begin + 3), Kind: format.KindEntryLong, Words: 3, Depth: 1, Function: 8}, uint64(1<<32|format.Untimed))
		record(format.Record{Ticks: uint32(begin + 4), Kind: format.KindEntryLongArgs, Words: 5, Depth: 2, Function: 9}, uint64(1<<40), uint32(1), uint32(8), uint64(1<<63))
		record(uint32(begin+5), []uint8{format.KindExitNearResults, 3}, uint16(5), uint32(1), uint32(8), uint64(4))
		record(uint32(begin+6), []uint8{format.KindExitNear, 1}, uint16(11))
		record(format.Record{Ticks: uint32(begin + 7), Kind: format.KindEntryWords, Words: 2, Depth: 1, Function: 8, Call: 3}, uint64(1), uint64(1<<63))
		record(uint32(begin+8), []uint8{format.KindExitWords, 1}, uint16(4), uint64(1<<62))
		record(format.Record{Ticks: uint32(begin + 9), Kind: format.KindEntryWords, Words: 0, Depth: 1, Function: 9, Call: 4})
		record(uint32(begin+10), []uint8{format.KindExitNear, 1}, uint16(2))
		record(format.Turn{Low: uint32(begin + 1<<40), Kind: format.KindTurn, Words: 3, Goroutine: 5, Ticks: begin + 1<<40})
		record(uint32(begin+1<<40+1<<32-1), []uint8{format.KindExitNear, 1}, uint16(17+4+2+2+1))
		setPacketSize(b, len(b), packetUsual)
		return b
	})
	r := open(t, dir)
	got := readAll(t, r, Window{})
	want := []Event{
		{Ticks: begin + 2, Goroutine: 5, Kind: Entry, Function: 7, Call: 1<<32 - 1},
		{Ticks: begin + 3, Goroutine: 5, Kind: Entry, Function: 8, Depth: 1, Call: 1 << 32, Untimed: true},
		{Ticks: begin + 4, Goroutine: 5, Kind: EntryArgs, Function: 9, Depth: 2, Call: 1 << 40, Layout: 1, Data: []byte{7: 0x80}},
		{Ticks: begin + 5, Goroutine: 5, Kind: ExitResults, Function: 9, Depth: 2, Layout: 1, Data: []byte{0: 4, 7: 0}},
		{Ticks: begin + 6, Goroutine: 5, Kind: Exit, Function: 8, Depth: 1},
		{Ticks: begin + 7, Goroutine: 5, Kind: EntryArgs, Function: 8, Depth: 1, Call: 3, Layout: format.LayoutImplied | 8<<1, Data: []byte{0: 1, 15: 0x80}},
		{Ticks: begin + 8, Goroutine: 5, Kind: ExitResults, Function: 8, Depth: 1, Layout: format.LayoutImplied | 8<<1 | 1, Data: []byte{7: 0x40}},
		{Ticks: begin + 9, Goroutine: 5, Kind: EntryArgs, Function: 9, Depth: 1, Call: 4, Layout: format.LayoutImplied | 9<<1},
		{Ticks: begin + 10, Goroutine: 5, Kind: Exit, Function: 9, Depth: 1},
		{Ticks: begin + 1<<40 + 1<<32 - 1, Goroutine: 5, Kind: Exit, Function: 7},
	}
	for i := range want {
		if i < len(got) && len(got[i].Data) == 0 {
			got[i].Data = nil
		}
		if i >= len(got) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("event %d of\n%+v, want\n%+v", i, got, want[i])
		}
	}
	if d := r.Damage(); len(got) != len(want) || len(d) != 0 {
		t.Errorf("%d events, want %d, damage %v", len(got), len(want), d)
	}
}

// TestImplied has tables say what the layouts are that records leave out.
func TestImplied(t *testing.T) {
	r := open(t, "../../testdata/recordings/parser")
	define := func(number uint64, types ...uint64) bool {
		var b []byte
		for _, w := range append([]uint64{number, 0, uint64(len(types))}, types...) {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		d := decoder{data: b}
		r.tableRecord(format.TableLayout, &d)
		return !d.failed
	}
	const params, results = format.LayoutImplied | 5<<1, format.LayoutImplied | 5<<1 | 1
	if !define(params, 1, 2) || !define(results, 3) {
		t.Fatal("a layout was refused")
	}
	if l := r.layout(params); l == nil || !slices.Equal(l.Types, []uint32{1, 2}) {
		t.Errorf("parameters are of %v", l)
	}
	if l := r.layout(results); l == nil || !slices.Equal(l.Types, []uint32{3}) || l.index != r.layout(params).index+1 {
		t.Errorf("results are of %v", l)
	}
	for _, number := range []uint32{format.LayoutImplied | 6<<1, format.LayoutImplied | 4<<1, 1<<32 - 1} {
		if l := r.layout(number); l != nil {
			t.Errorf("layout %#x is %v", number, l)
		}
	}
	for _, number := range []uint64{0, format.LayoutImplied, format.LayoutImplied | 1, format.LayoutImplied | functionsMax<<1, 1<<40 | params} {
		if define(number, 1) {
			t.Errorf("layout %#x was taken", number)
		}
	}
}

// TestNarrowDamage has exits whose entries are nowhere: what follows is damaged, and where that
// begins in the file is said.
func TestNarrowDamage(t *testing.T) {
	whole := narrowed(t, "../../testdata/recordings/parser")
	data, err := os.ReadFile(filepath.Join(whole, "calls_0"))
	if err != nil {
		t.Fatal(err)
	}
	want := readAll(t, open(t, whole), Window{})
	events, damaged := 0, 0
	for at := packetHead; at < len(data); at += narrowSize(data[at:]) {
		switch data[at+narrowKindAt] {
		case format.KindExitNear, format.KindExitNearResults:
			for _, back := range []uint16{0, 1, uint16(at/8) + 1, 0xFFFF} {
				b := bytes.Clone(data)
				binary.LittleEndian.PutUint16(b[at+narrowDepthAt:], back)
				write(t, whole, "calls_0", b)
				r := open(t, whole)
				got := readAll(t, r, Window{})
				d := r.Damage()
				if len(got) != events || events > 0 && !reflect.DeepEqual(got[events-1], want[events-1]) {
					t.Fatalf("%d events before an exit of the entry %d words back, want %d", len(got), back, events)
				}
				if len(d) != 1 || d[0] != (Damage{"calls_0", int64(at), int64(len(data) - at), "a record that cannot be"}) {
					t.Fatalf("damage %v, want at %d of %d", d, at, len(data))
				}
				damaged++
			}
		case format.KindTurn:
			events--
		}
		events++
	}
	if damaged < 8 {
		t.Errorf("%d exits were damaged", damaged)
	}
}

// TestWideMetadata has a Writer declare what it writes: as programs once did.
func TestWideMetadata(t *testing.T) {
	wide := string(wideMetadata([]byte(format.MetadataTypes + format.MetadataStreams)))
	for _, declares := range []string{
		"event.header := struct { ticks_t timestamp; uint8_t id; } align(64);",
		"event.context := struct { uint8_t words; uint16_t depth; func_t func; uint64_t goroutine; };",
		`event { name = "entry_args"; id = 2; stream_id = 0; fields := struct { uint64_t call; struct values args; }; };`,
		`event { name = "exit"; id = 3; stream_id = 0; fields := struct { }; };`,
		`event { name = "note"; id = 11; stream_id = 0; fields := struct { uint32_t zero; uint32_t size; char_t text[size]; }; };`,
		"uint64_t n; uint64_t others[n]; }; };",
	} {
		if !strings.Contains(wide, declares) {
			t.Errorf("no %s", declares)
		}
	}
	for _, gone := range []string{"turn", "near", "long", "context := struct head"} {
		if strings.Contains(wide, gone) {
			t.Errorf("%s is in\n%s", gone, wide)
		}
	}
	if n := strings.Count(wide, "stream_id = 0;"); n != format.KindTurn-1 {
		t.Errorf("%d kinds of records", n)
	}
	if again := string(wideMetadata([]byte(wide))); again != wide {
		t.Errorf("once more, it is\n%s", again)
	}
}
