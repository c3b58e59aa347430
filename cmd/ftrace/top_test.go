package main

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/schema"
)

// TestTopStays: the cursor stays on the function that was chosen when others come before it, so that e and t are for that one; until one is chosen it stays where it is.
func TestTopStays(t *testing.T) {
	snapshot := func(counts ...uint64) *schema.Snapshot {
		s := &schema.Snapshot{}
		for i, n := range counts {
			s.Functions = append(s.Functions, schema.Function{Key: uint32(i + 1), Package: "main", Name: string(rune('a' + i))})
			s.Global = append(s.Global, schema.Summary{Function: uint32(i + 1), Count: n})
		}
		return s
	}
	m := &topModel{height: 20, now: snapshot(30, 20, 10)}
	at := func(want string) {
		t.Helper()
		m.rebuild()
		if row := m.selected(); row == nil || row.name != "main/"+want {
			t.Errorf("the cursor is on %+v, not on %s", row, want)
		}
	}
	at("a")
	m.now = snapshot(30, 40, 10)
	at("b")
	m.choose(1)
	at("a")
	m.now = snapshot(30, 40, 50)
	at("a")
	m.choose(100)
	m.now = snapshot(60, 40, 50)
	at("a")
	m.filter = "c" // what was chosen is not shown
	at("c")
}
