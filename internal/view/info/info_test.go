package info

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// TestWrite: what is counted is what the recording's events are.
func TestWrite(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	from := walk.Source{Recording: r}
	var out strings.Builder
	if err := Write([]walk.Source{from}, true, &out); err != nil {
		t.Fatal(err)
	}
	var got info
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Calls != 27 || got.Goroutines != 4 || got.Functions != 10 || got.Called != 10 || got.Lost != 0 || len(got.Damage) != 0 || !got.Ended {
		t.Errorf("%+v", got)
	}
	out.Reset()
	if err := Write([]walk.Source{from, from}, false, &out); err != nil || strings.Count(out.String(), "\ncalls       27\n") != 2 {
		t.Errorf("%v: %s", err, out.String())
	}
}
