package export

import (
	"bytes"
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// message is a protobuf message that was read by what the encoding says alone: by field, numbers,
// or bytes of texts and messages.
type message map[protowire.Number][]any

func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		field, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatalf("no field: %x", b)
		}
		b = b[n:]
		var v any
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has type %d", field, typ)
		}
		if n < 0 {
			t.Fatalf("field %d: %x", field, b)
		}
		b = b[n:]
		m[field] = append(m[field], v)
	}
	return m
}

// number returns a number that is there once.
func (m message) number(t *testing.T, field protowire.Number) uint64 {
	t.Helper()
	if len(m[field]) != 1 {
		t.Fatalf("field %d is there %d times", field, len(m[field]))
	}
	return m[field][0].(uint64)
}

// TestPerfetto reads a trace as Perfetto's importer does: what is interned is known before it is
// used, slices nest on their tracks, which were described before, and each arrow ends at a slice.
func TestPerfetto(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	want, started := 0, map[uint64]bool{}
	s := r.Events(recording.Window{})
	var e recording.Event
	for s.Next(&e) {
		if e.Enters() {
			want++
		}
		if e.Kind == recording.GoroutineStart && e.Parent != 0 {
			started[e.Goroutine] = true
		}
	}
	s.Close()
	var out bytes.Buffer
	if err := Named("perfetto").Write(walk.Source{Recording: r}, &out, 0); err != nil {
		t.Fatal(err)
	}
	trace := decode(t, out.Bytes())
	tracks, open, flows := map[uint64]string{}, map[uint64]int{}, map[uint64]bool{}
	names := map[protowire.Number]map[uint64]string{1: {}, 2: {}, 3: {}, 4: {}}
	begun, arrows, lasttime := 0, 0, uint64(0)
	seen := map[string]int{}
	for i, p := range trace[1] {
		packet := decode(t, p.([]byte))
		flags := uint64(2)
		if i == 0 {
			flags = 1
		}
		if packet.number(t, 10) != 1 || packet.number(t, 13) != flags {
			t.Fatalf("packet %d: %v", i, packet)
		}
		if d := packet[60]; d != nil {
			track := decode(t, d[0].([]byte))
			if parent := track[5]; parent != nil && tracks[parent[0].(uint64)] != "process" {
				t.Fatalf("track %v is of no process", track)
			}
			name := "process"
			if n := track[2]; n != nil {
				name = string(n[0].([]byte))
			}
			tracks[track.number(t, 1)] = name
		}
		if d := packet[12]; d != nil {
			for kind, list := range decode(t, d[0].([]byte)) {
				for _, b := range list {
					entry := decode(t, b.([]byte))
					names[kind][entry.number(t, 1)] = string(entry[2][0].([]byte))
				}
			}
		}
		if packet[11] == nil {
			continue
		}
		if at := packet.number(t, 8); at < lasttime {
			t.Fatalf("packet %d goes back in time", i)
		} else {
			lasttime = at
		}
		event := decode(t, packet[11][0].([]byte))
		track := event.number(t, 11)
		if tracks[track] == "" {
			t.Fatalf("track %d was not described", track)
		}
		for _, a := range event[4] {
			if name := names[3][decode(t, a.([]byte)).number(t, 1)]; name == "" {
				t.Fatalf("an annotation has no name: %v", event)
			} else {
				seen[name]++
			}
		}
		switch event.number(t, 9) {
		case 1:
			begun++
			open[track]++
			if names[2][event.number(t, 10)] == "" || names[1][event.number(t, 3)] == "" || names[4][event.number(t, 34)] == "" {
				t.Fatalf("no name: %v", event)
			}
			seen[names[2][event.number(t, 10)]]++
		case 2:
			if open[track]--; open[track] < 0 {
				t.Fatalf("%v ends nothing", event)
			}
		}
		for _, f := range event[47] {
			flows[f.(uint64)] = true
		}
		for _, f := range event[48] {
			if !flows[f.(uint64)] || event.number(t, 9) != 1 || tracks[track] != fmt.Sprint("G", f.(uint64)-flowBase(r)) {
				t.Fatalf("an arrow ends at %v on %s", event, tracks[track])
			}
			arrows++
		}
	}
	if begun != want || arrows != len(started) || arrows == 0 {
		t.Errorf("%d slices, want %d; %d arrows, want %d", begun, want, arrows, len(started))
	}
	for _, name := range []string{"main.sum", "call", "ctx", "workers", "err"} {
		if seen[name] == 0 {
			t.Errorf("there is no %s: %v", name, seen)
		}
	}
}

// flowBase is what numbers of tracks and arrows have in common.
func flowBase(r *recording.Recording) (base uint64) {
	for i := 7; i >= 0; i-- {
		base = base<<8 | uint64(r.Env.UUID[i])
	}
	return base
}
