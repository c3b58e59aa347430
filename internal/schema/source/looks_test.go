package source

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLooksSpare: functions that are called most are left alone until the others are within the
// budget.
func TestLooksSpare(t *testing.T) {
	l := Looks{Budget: 100}
	look := func(at time.Duration, counts ...uint64) {
		snap := &Snapshot{Now: Picoseconds(at)}
		for i, n := range counts {
			snap.Functions = append(snap.Functions, Function{Key: uint32(i + 1)})
			snap.Global = append(snap.Global, Summary{Function: uint32(i + 1), Count: n})
		}
		l.Choose(snap, func(f *Function) bool { return f.Key < 4 })
	}
	look(time.Hour, 1e9, 1e9, 1e9, 1e9) // what was counted before it looked
	if len(l.hot) != 0 {
		t.Errorf("%v are hot before anything is known", l.hot)
	}
	// Two readers may take snapshots at once, and the later be seen first.
	look(time.Hour+time.Millisecond, 1e9+50, 1e9, 1e9, 1e9)
	look(time.Hour-time.Millisecond, 1e9-50, 1e9, 1e9, 1e9)
	if len(l.hot) != 0 {
		t.Errorf("%v are hot, of which too little was seen", l.hot)
	}
	look(time.Hour+time.Second, 1e9+50, 1e9+40, 1e9+500, 2e9) // nobody looks at the last
	if len(l.hot) != 1 || !l.TooOften(3) || l.At(3) || !l.At(1) {
		t.Errorf("%v are hot, not 3", l.hot)
	}
}

// TestLooksChoose: what is wanted is looked at, and what is not any more is let go.
func TestLooksChoose(t *testing.T) {
	snap := &Snapshot{Functions: []Function{{Key: 1, Name: "a"}, {Key: 2, Name: "b"}}, Waits: []Function{{Key: 3, Wait: true, Name: "sleep"}}}
	l := Looks{Budget: 100}
	l.Leave(2)
	for _, c := range []struct {
		wanted string
		want   map[uint32]bool
	}{
		{"a b sleep", map[uint32]bool{1: true, 3: true}},
		{"a b sleep", map[uint32]bool{}},
		{"a", map[uint32]bool{3: false}},
		{"", map[uint32]bool{1: false}},
	} {
		changes := l.Choose(snap, func(f *Function) bool { return slices.Contains(strings.Fields(c.wanted), f.Name) })
		if !maps.Equal(changes, c.want) {
			t.Errorf("%q: %v, not %v", c.wanted, changes, c.want)
		}
	}
	if l.Any() || l.At(1) {
		t.Error("it looks at something still")
	}
}
