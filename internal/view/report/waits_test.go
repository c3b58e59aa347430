package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// TestWaits: what is running, runnable and waiting is the self time, also of calls under way at the
// end, and each wait is in it once.
func TestWaits(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/convoy")
	if err != nil {
		t.Fatal(err)
	}
	clock, waited := r.Converter(), int64(0)
	s := r.Events(recording.Window{})
	defer s.Close()
	for e := (recording.Event{}); s.Next(&e); {
		if e.Kind == recording.Wait {
			waited += int64(clock.Between(e.Wait().Begin, e.Ticks))
		}
	}
	for _, by := range []string{"function", "package", "goroutine"} {
		o := Options{By: by, Sort: "total", JSON: true, Waits: true}
		s, err := Summarize([]walk.Source{{Recording: r}}, o)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := s.Write(&out, o); err != nil {
			t.Fatal(err)
		}
		all := int64(0)
		for d := json.NewDecoder(&out); d.More(); {
			var row map[string]any
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for name, v := range row {
				if name != "calls" && name != "self" && name != "unfinished" && name != by {
					sum += int64(v.(float64))
				}
			}
			if self := int64(row["self"].(float64)); sum-self > 20 || self-sum > 20 {
				t.Errorf("by %s: %d of %d ns: %v", by, sum, self, row)
			}
			all += sum - int64(row["running"].(float64))
		}
		if d := all - waited; waited == 0 || d > 1000 || d < -1000 {
			t.Errorf("by %s: %d ns of waits, want %d", by, all, waited)
		}
	}
}
