package flake

import (
	"strings"
	"testing"
	"time"
)

// TestAdvise checks that a short test that never failed is to be repeated in each run, unless it is
// already.
func TestAdvise(t *testing.T) {
	for _, test := range []struct {
		spent time.Duration
		args  []string
		want  string
	}{
		{30 * time.Millisecond, nil, "A run took 3ms. A test that is that short fails sooner if each run repeats it: -- -test.count=50\n"},
		{30 * time.Millisecond, []string{"-test.count=9"}, ""},
		{3 * time.Second, nil, ""},
	} {
		f := flaker{Options: Options{Args: test.args}, passed: 10, spent: test.spent}
		var b strings.Builder
		if f.advise(&b); b.String() != test.want {
			t.Errorf("of 10 runs in %v with %q: %q, want %q", test.spent, test.args, b.String(), test.want)
		}
	}
}
