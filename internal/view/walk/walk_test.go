package walk_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	stack = walk.Stack[struct{}, struct{}]
	frame = walk.Frame[struct{}]
)

// counted goes through a recording and returns how many calls began and ended, and how long that
// took.
func counted(t *testing.T, r *recording.Recording, rules string) (begun, ended int, lasted time.Duration) {
	t.Helper()
	from := walk.Source{Recording: r}
	if rules != "" {
		var err error
		if from.Rules, err = walk.NewRules(rules, r, "the recording"); err != nil {
			t.Fatal(err)
		}
	}
	w := walk.New[struct{}, struct{}](from)
	w.Begin = func(*stack, *frame, *recording.Event) { begun++ }
	w.End = func(*stack, *frame, *recording.Event) { ended++ }
	w.More = w.Begin
	start := time.Now()
	if err := w.Run(nil); err != nil {
		t.Fatal(err)
	}
	return begun, ended, time.Since(start)
}

// TestHidden: calls that rules hide take no longer the deeper they are. Times are compared within
// one run.
func TestHidden(t *testing.T) {
	const deep = 70_000
	r := viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), deep, 0)
	shown, hidden := time.Hour, time.Hour
	for range 3 {
		begun, ended, lasted := counted(t, r, "")
		if begun != deep || ended != deep {
			t.Fatalf("%d calls began and %d ended, of %d", begun, ended, deep)
		}
		shown = min(shown, lasted)
		if begun, _, lasted = counted(t, r, "*.none"); begun != 0 {
			t.Fatalf("%d calls are shown", begun)
		}
		hidden = min(hidden, lasted)
	}
	if hidden > 10*shown {
		t.Errorf("%v for hidden calls, %v for shown ones", hidden, shown)
	}
}

// TestCallers: the shown calls around a call are found, whatever hides those between.
func TestCallers(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	for _, rules := range []string{"", "main.*", "main.sum", "*=call,rate=2/s", "main.worker=tree", "main.main;main.sum"} {
		from := walk.Source{Recording: r}
		if rules != "" {
			if from.Rules, err = walk.NewRules(rules, r, "the recording"); err != nil {
				t.Fatal(err)
			}
		}
		w := walk.New[struct{}, struct{}](from)
		calls := 0
		w.Begin = func(st *stack, c *frame, _ *recording.Event) {
			calls++
			var want []uint64
			for i := len(st.Calls) - 2; i >= 0; i-- {
				if c := &st.Calls[i]; c.Data.Clause.Shown {
					want = append(want, c.Number)
				}
			}
			i := 0
			for c := range walk.Callers(st) {
				if i >= len(want) || c.Number != want[i] {
					t.Fatalf("%q: caller %d is %d, not of %d", rules, i, c.Number, want)
				}
				i++
			}
			if i != len(want) {
				t.Fatalf("%q: there are %d callers, not %d", rules, i, len(want))
			}
		}
		w.End = func(*stack, *frame, *recording.Event) {}
		w.More = w.End
		if err := w.Run(nil); err != nil {
			t.Fatal(err)
		}
		if calls == 0 {
			t.Errorf("%q shows no calls", rules)
		}
	}
}
