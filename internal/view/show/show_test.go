package show

import (
	"slices"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// TestCompare: what differs is named by the smallest part that does, once.
func TestCompare(t *testing.T) {
	value := func(name, text string, parts ...recording.Value) recording.Value {
		return recording.Value{Name: name, Text: text, Parts: parts}
	}
	before := []recording.Value{
		value("s", "&{n:1 log:[1] in:{x:1 y:2} p:nil}", value("n", "1"), value("log", "[1]", value("[0]", "1")),
			value("in", "{x:1 y:2}", value("x", "1"), value("y", "2")), value("p", "nil")),
		value("", "7"),
		value("m", "map[len=1]"),
		value("s.n", "1"),
	}
	after := []recording.Value{
		value("s", "&{n:2 log:[1 5] in:{x:1 y:3} p:&{}}", value("n", "2"), value("log", "[1 5]", value("[0]", "1"), value("[1]", "5")),
			value("in", "{x:1 y:3}", value("x", "1"), value("y", "3")), value("p", "0x1")),
		value("", "8"),
		value("m", "map[len=2]"),
		value("s.n", "2"),
	}
	want := []Change{{"s.n", "1", "2"}, {"s.log[1]", "", "5"}, {"s.in.y", "2", "3"}, {"s.p", "nil", "0x1"}, {"1", "7", "8"}, {"m", "map[len=1]", "map[len=2]"}}
	if got := Compare(before, after); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Compare(before, before); len(got) != 0 {
		t.Errorf("of the same: %q", got)
	}
	// A slice of which no element is there differs as a whole, and so does what became longer than
	// is recorded.
	if got := Compare([]recording.Value{value("a", "[... len=3]")}, []recording.Value{value("a", "[... len=4]")}); !slices.Equal(got, []Change{{"a", "[... len=3]", "[... len=4]"}}) {
		t.Errorf("of lengths: %q", got)
	}
}
