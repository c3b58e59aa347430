package walk

import (
	"path/filepath"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestShows: the calls of a function are shown if the clause that decides for it shows them.
func TestShows(t *testing.T) {
	r, err := recording.Open(filepath.Join(testenv.Root(t), "testdata", "recordings", "parser"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"*": true, "off": false, "main.evaluate": true, "main.evaluate=count": false, "*\nfunc:main.evaluate=off": false, "!main.evaluate": false, "*=off\nfunc:main.evaluate": true, "main.product": false} {
		rules, err := NewRules(text, r, "the recording")
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for _, f := range r.Functions() {
			if f.FullName() != "main.evaluate" {
				continue
			}
			if seen = true; rules.Shows(f.Key) != want {
				t.Errorf("%q shows main.evaluate: %v", text, !want)
			}
		}
		if !seen || rules.Shows(1<<30) {
			t.Errorf("%q: main.evaluate is there: %v", text, seen)
		}
	}
}
