package schema

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
	now := time.Now()
	l := Looks{Budget: 100, at: map[uint32]bool{1: true, 2: true, 3: true}}
	look := func(after time.Duration, counts ...uint64) {
		snap := &Snapshot{}
		for i, n := range counts {
			snap.Global = append(snap.Global, Summary{Function: uint32(i + 1), Count: n})
		}
		l.spare(snap, now.Add(after))
	}
	look(0, 1e9, 1e9, 1e9, 1e9) // what was counted before it looked
	if len(l.hot) != 0 {
		t.Errorf("%v are hot before anything is known", l.hot)
	}
	look(time.Second, 1e9+50, 1e9+40, 1e9+500, 2e9) // nobody looks at the last
	if len(l.hot) != 1 || !l.hot[3] || !l.left[3] {
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
		changes := l.Choose(snap, time.Now(), func(f *Function) bool { return slices.Contains(strings.Fields(c.wanted), f.Name) })
		if !maps.Equal(changes, c.want) {
			t.Errorf("%q: %v, not %v", c.wanted, changes, c.want)
		}
	}
	if l.Any() || l.At(1) {
		t.Error("it looks at something still")
	}
}
