package live

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// TestWho: goroutines wait for those that hold locks, and cycles of them are found, each once.
func TestWho(t *testing.T) {
	lock := func(id, address uint64) live.State {
		return live.State{ID: id, Status: live.Waiting, Object: address, Objects: []uint64{address},
			Stack: &live.Stack{Reason: "sync.Mutex.Lock", Calls: []live.Position{{Line: int(id), Function: "main.f", File: "/m/main.go"}}}}
	}
	sends := live.State{ID: 7, Status: live.Waiting, Stack: &live.Stack{Reason: "chan send"}, Object: 100, Objects: []uint64{100}}
	states := []live.State{lock(1, 10), lock(2, 20), lock(3, 30), lock(4, 10), lock(5, 50), lock(6, 60), sends, lock(8, 70), {ID: 9, Status: live.Running, Stack: &live.Stack{}}, lock(10, 80), lock(11, 90)}
	l := locks{Locks: live.Locks{Changed: map[uint64]bool{90: true}}}
	for _, h := range [][2]uint64{{10, 2}, {20, 3}, {30, 1}, {50, 7}, {70, 9}, {80, 99}} {
		l.Holders = append(l.Holders, live.Holder{Lock: h[0], Goroutine: h[1], At: live.Position{Line: 5, Function: "main.g", File: "/m/main.go"}})
	}
	w := &waiters{states: states, objects: map[uint64]*live.Object{100: {Elem: "int", Cap: 4}}, locks: &l}
	if found, want := w.cycles(), [][]uint64{{1, 2, 3}}; !reflect.DeepEqual(found, want) {
		t.Errorf("cycles %v, want %v", found, want)
	}
	const at = " for 0ns, locked at main.g (main.go:5)"
	for id, want := range map[uint64][]string{
		5:  {"held by G7" + at + ", which waits for chan send, from which nobody receives, and whose buffer of 4 is full"},
		6:  {"held by an unknown goroutine"},
		7:  nil,
		8:  {"held by G9" + at + ", running"},
		9:  nil,
		10: {"held by G99" + at + ", which has ended"},
		11: {"held by one goroutine after the other, none for long"},
		2: {"held by G3" + at + ", which waits for sync.Mutex.Lock at main.f (main.go:3), held by G1" + at +
			", which waits for sync.Mutex.Lock at main.f (main.go:1), held by G2"},
	} {
		if got := w.heldBy(w.goroutine(id)); !slices.Equal(got, want) {
			t.Errorf("G%d: %q, want %q", id, got, want)
		}
	}
	if got, want := w.other(w.goroutine(7)), "from which nobody receives, and whose buffer of 4 is full"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSince: a goroutine may have stopped after the list of goroutines was begun, and then has
// waited for no time.
func TestSince(t *testing.T) {
	s := &live.Snapshot{Clock: new(recording.Recording).Converter()} // a tick is a nanosecond
	v := &stackView{s: s, who: &waiters{locks: &locks{}}, now: 5000}
	for since, want := range map[uint64]string{3000: "waiting: chan send for 2.000us", 5000: "waiting: chan send for 0ns", 9000: "waiting: chan send for 0ns"} {
		if got := v.does(&live.State{ID: 1, Status: live.Waiting, Stack: &live.Stack{Reason: "chan send"}, Since: since}); got != want {
			t.Errorf("since %d, at %d: %q, want %q", since, v.now, got, want)
		}
	}
}

// TestFold: many that each wait for something else become one row. Those that wait for locks, for
// the same thing, or elsewhere stay.
func TestFold(t *testing.T) {
	var groups []*waitGroup
	add := func(does string, line int, longest int64, held []string, goroutines ...uint64) {
		groups = append(groups, &waitGroup{Does: does, File: "a.go", Line: line, Longest: longest, HeldBy: held, Goroutines: goroutines})
	}
	add("waiting: wait/synch/chan/send(0x10 c)", 7, 0, nil, 11, 12)
	for i := range uint64(foldedFrom) {
		id := 20 - i
		add(fmt.Sprintf("waiting: wait/io/socket/read(fd %d)", id), 1, int64(id), nil, id)
		add(fmt.Sprintf("waiting: wait/synch/mutex(0x%d)", id), 2, 0, []string{"held by G1"}, 30+id)
		add("waiting: IO wait", 3, 0, nil, 50+id)
		if i > 0 {
			add(fmt.Sprintf("waiting: wait/synch/chan/receive(0x%d)", id), 4, 0, nil, 70+id)
		}
	}
	rows := map[string]int{}
	for _, g := range fold(groups) {
		does, _, _ := strings.Cut(g.Does, "(")
		rows[does]++
		if does == "waiting: wait/io/socket/read" && (g.Does != does+"(fd 20, and 3 more)" || g.Longest != 20 || !slices.Equal(g.Goroutines, []uint64{17, 18, 19, 20})) {
			t.Errorf("folded: %+v", g)
		}
	}
	want := map[string]int{"waiting: wait/synch/chan/send": 1, "waiting: wait/io/socket/read": 1, "waiting: wait/synch/mutex": foldedFrom, "waiting: IO wait": foldedFrom, "waiting: wait/synch/chan/receive": foldedFrom - 1}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if len(groups[1].Goroutines) != 1 {
		t.Error("the groups themselves have changed")
	}
}

// TestFoldUnknown: those of more channels than are looked at join the others.
func TestFoldUnknown(t *testing.T) {
	const nobody = "to which nobody sends"
	var groups []*waitGroup
	for i := range uint64(10) {
		groups = append(groups, &waitGroup{Does: fmt.Sprintf("waiting: wait/synch/chan/receive(0x%x c)", i), File: "a.go", Other: nobody, Goroutines: []uint64{i}})
	}
	known := fold(groups)
	if len(known) != 1 || known[0].Other != nobody {
		t.Errorf("of known ones: %+v", known)
	}
	for i := range uint64(10) {
		groups = append(groups, &waitGroup{Does: fmt.Sprintf("waiting: wait/synch/chan/receive(0x%x)", 10+i), File: "a.go", Goroutines: []uint64{10 + i}, unknown: true})
	}
	all := fold(groups)
	if len(all) != 1 || len(all[0].Goroutines) != 20 || all[0].Other != nobody+", as far as they were looked at" || !strings.HasSuffix(all[0].Does, "(0x0 c, and 19 more)") {
		t.Errorf("of all: %+v", all)
	}
	if alone := fold(groups[10:]); len(alone) != 1 || alone[0].Other != "" {
		t.Errorf("of those that are not known: %+v", alone)
	}
}
