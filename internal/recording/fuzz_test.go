package recording

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// The seeds of these are the recordings in testdata, of examples/parser, workers and convoy.

// FuzzTables reads tables of any bytes, and prints values of any bytes with the types that they
// have.
func FuzzTables(f *testing.F) {
	for _, dir := range []string{"parser", "workers", "convoy"} {
		data, err := os.ReadFile(filepath.Join("../../testdata/recordings", dir, "tables"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte{1, 0, 0, 0, 0, 0, 0, 0}, uint32(1))
		f.Add(data[:len(data)/2], []byte("\x05\x00\x00\x00abcdefghijklmnopqrstuvwxyz"), uint32(3))
	}
	dir := f.TempDir()
	metadata, err := os.ReadFile("../../testdata/recordings/parser/metadata")
	if err != nil {
		f.Fatal(err)
	}
	write(f, dir, "metadata", metadata)
	f.Fuzz(func(t *testing.T, tables, values []byte, layout uint32) {
		write(t, dir, "tables", tables)
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(tables) > packetHead {
			r.parseTables(tables[packetHead:]) // as if the packet's head were right
		}
		r.checkTables()
		for _, f := range r.Functions() {
			if r.Function(f.Key) != f {
				t.Fatalf("function %d is another", f.Key)
			}
		}
		c := r.Converter()
		c.Wall(c.Ticks(c.Since(1 << 40)))
		printAll(t, r, &Event{Kind: EntryArgs, Layout: layout, Data: values})
	})
}

// FuzzPackets reads a file of packets of any bytes.
func FuzzPackets(f *testing.F) {
	for _, name := range []string{"parser/calls_0", "workers/calls_0", "workers/calls_1", "convoy/calls_0"} {
		data, err := os.ReadFile(filepath.Join("../../testdata/recordings", name))
		if err != nil {
			f.Fatal(err)
		}
		for _, data := range [][]byte{data, narrow(data)} {
			f.Add(data)
			f.Add(data[:len(data)/2])
			f.Add(append(append([]byte(nil), data...), data...))
		}
	}
	wide := "../../testdata/recordings/workers"
	var dirs []string
	for _, from := range []string{wide, narrowed(f, wide)} {
		dir := f.TempDir()
		for _, name := range []string{"metadata", "tables"} {
			data, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				f.Fatal(err)
			}
			write(f, dir, name, data)
		}
		dirs = append(dirs, dir)
	}
	f.Fuzz(func(t *testing.T, calls []byte) {
		for _, dir := range dirs {
			fuzzPackets(t, dir, calls)
		}
	})
}

func fuzzPackets(t *testing.T, dir string, calls []byte) {
	write(t, dir, "calls_0", calls)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var stacks Stacks[int, int]
	read := func(s *Stream, limit int) (events int) {
		defer s.Close()
		var e Event
		last := uint64(0)
		for s.Next(&e) {
			if events++; events > limit {
				t.Fatalf("%d events of %d bytes", events, len(calls))
			}
			if e.Ticks < last {
				t.Fatalf("event %d goes back in time", events)
			}
			last = e.Ticks
			printAll(t, r, &e)
			if e.Enters() || e.Exits() {
				st := stacks.Of(&e)
				for n := st.Unseen(&e); n > 0; n-- {
					st.Pop()
				}
				if e.Enters() {
					st.Push(&e)
				} else if st.Ends(&e) != nil {
					st.Pop()
				}
			}
		}
		return events
	}
	most := len(calls)/format.RecordNear + len(calls)/packetHead
	all := read(r.Events(Window{}), most)
	if n := read(r.Events(Window{From: 1 << 50}), most); n > all {
		t.Fatalf("%d events in a window, %d in all", n, all)
	}
	s := r.Events(Window{Follow: true})
	s.Poll(false)
	s.Poll(true)
	read(s, most)
}

// FuzzValues prints values of any bytes, with real types.
func FuzzValues(f *testing.F) {
	r, err := Open("../../testdata/recordings/workers")
	if err != nil {
		f.Fatal(err)
	}
	s := r.Events(Window{})
	var e Event
	for s.Next(&e) {
		if e.Layout != 0 {
			f.Add(e.Layout, append([]byte(nil), e.Data...), "a,b!,c:T;", 200, 8)
		}
	}
	s.Close()
	f.Fuzz(func(t *testing.T, layout uint32, data []byte, names string, line, n int) {
		params, _, _ := parseNames(names)
		e := Event{Kind: EntryArgs, Layout: layout, Data: data}
		format := ValueFormat{Line: line & 0xFFFF, String: n & 0xFF, Elements: n & 0xF, Nest: n & 3, Messages: n&1 != 0}
		out := r.Printer(format).Append(nil, 0, &e, params)
		if len(out) > format.Line+1<<16 {
			t.Fatalf("%d bytes in a line of %d", len(out), format.Line)
		}
		printAll(t, r, &e)
	})
}

// printAll prints the values of e in all ways.
func printAll(t *testing.T, r *Recording, e *Event) {
	p := r.Printer(DefaultFormat)
	f := r.Function(e.Function)
	for _, names := range [][]Param{f.Params, f.Results, {{Name: "x", Interface: true}, {Unless: "T"}}} {
		if out := p.Append(nil, 0, e, names); len(out) > 1<<16 {
			t.Fatalf("%d bytes of text", len(out))
		}
		list, structured := p.Values(e, names), p.Structured(e, names)
		for i := range max(len(list), len(structured)) {
			if i >= len(structured) || i >= len(list) || list[i].Text != structured[i].Text || list[i].Name != structured[i].Name {
				t.Fatalf("with parts %+v, without %+v", structured, list)
			}
		}
		if b, err := json.Marshal(structured); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	}
	p.AppendPanic(nil, 0, e)
	p.AppendPanicType(nil, e)
	p.Fails(e, &Function{Results: make([]Param, 3)})
	p.Fails(e, f)
	findAll(r, e)

	// What is taken apart ends where it does when it is printed in a line that has room for it.
	// What comes after the end of a line is not read.
	endless := DefaultFormat
	endless.Line = math.MaxInt
	p = r.Printer(endless)
	p.Append(nil, 0, e, f.Params)
	rest, cut := len(p.data), p.cut
	if l := r.layout(e.Layout); l == nil || len(l.Captured) > 0 {
		return
	}
	if p.Data(e); !cut && !p.cut && len(p.data) != rest {
		t.Fatalf("taken apart, values leave %d bytes of %d, printed %d", len(p.data), len(e.Data), rest)
	}
}

func write(t testing.TB, dir, name string, data []byte) {
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
