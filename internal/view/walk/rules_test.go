package walk

import (
	"reflect"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestRulesRefresh: rules that were laid on a recording which knew no functions say the same of
// those that it gets, and what they have seen of calls stays.
func TestRulesRefresh(t *testing.T) {
	r, err := recording.Open(testenv.Root(t) + "/testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	const text = "main.*=call,tree;!main.main;*=call,in=main.main,after=main.work*,rate=1/s"
	early, err := NewRules(text, &recording.Recording{}, "the recording")
	if err != nil {
		t.Fatal(err)
	}
	late, err := NewRules(text, r, "the recording")
	if err != nil {
		t.Fatal(err)
	}
	s, want := early.state(), late.state()
	s.triggered = 1
	s.refresh(r)
	if len(want.functions) == 0 || !reflect.DeepEqual(s.functions, want.functions) || s.triggered != 1 {
		t.Errorf("%v, want %v", s.functions, want.functions)
	}
	s.functions[1].inWindow = 7
	s.known = 0
	s.refresh(r)
	if s.functions[1].inWindow != 7 || s.known != want.known {
		t.Errorf("%+v of %d functions", s.functions[1], s.known)
	}
	if len(early.functions) != 0 {
		t.Error("the rules were changed, which others may have")
	}
}
