package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// TestFlame: each call is in the paths once, by what was around it, and the times are those of the
// table.
func TestFlame(t *testing.T) {
	for _, name := range []string{"parser", "workers", "convoy"} {
		s := serving(t, recorded(t, name))
		var f flame
		_, _, body := get(t, s.URL()+"flame", nil)
		if err := json.Unmarshal([]byte(body), &f); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		r, err := recording.Open(s.shown[0].dir)
		if err != nil {
			t.Fatal(err)
		}
		// Without what the flame graph does, from the stacks of all events.
		calls := map[string]uint64{}
		w := walk.New[struct{}, struct{}](walk.Source{Recording: r})
		w.Begin = func(st *stack, c *frame, e *recording.Event) {
			path := ""
			for _, c := range st.Calls {
				path += fmt.Sprint(" ", c.Function)
			}
			calls[path]++
		}
		w.End = func(*stack, *frame, *recording.Event) {}
		w.Wait = func(*stack, *recording.Event) {}
		w.More = func(*stack, *frame, *recording.Event) {}
		if err := w.Run(nil); err != nil {
			t.Fatal(err)
		}
		paths := make([]string, len(f.Keys))
		var running, runnable, waiting int64
		for n := range f.Keys {
			running, runnable, waiting = running+f.Running[n], runnable+f.Runnable[n], waiting+f.Waiting[n]
			if n == 0 {
				continue
			}
			paths[n] = paths[f.Parents[n]] + fmt.Sprint(" ", f.Keys[n])
			if r.Function(f.Keys[n]).Wait {
				continue
			}
			if calls[paths[n]] != f.Calls[n] {
				t.Errorf("%s: %d calls by %s, not %d", name, f.Calls[n], paths[n], calls[paths[n]])
			}
			delete(calls, paths[n])
		}
		if len(calls) > 0 || f.Merged > 0 {
			t.Errorf("%s: %d are merged, there are no %v", name, f.Merged, calls)
		}
		_, _, body = get(t, s.URL()+"table?by=function&sort=self&waits=1", nil)
		var inTable, inTableWaits, inTableRunnable float64
		for d := json.NewDecoder(strings.NewReader(body)); d.More(); {
			var row map[string]any
			if err := d.Decode(&row); err != nil {
				t.Fatal(err)
			}
			for column, v := range row {
				switch ns, _ := v.(float64); column {
				case "calls", "self", "unfinished", "function":
				case "running":
					inTable += ns
				case "runnable":
					inTableRunnable += ns
				default:
					inTableWaits += ns
				}
			}
		}
		for _, sum := range []struct {
			what        string
			have, table float64
		}{{"running", float64(running), inTable}, {"runnable", float64(runnable), inTableRunnable}, {"waiting", float64(waiting), inTableWaits}} {
			if d := sum.have - sum.table; d > 1000 || d < -1000 || running == 0 || name == "convoy" && sum.have == 0 {
				t.Errorf("%s: %v ns %s, in the table %v", name, sum.have, sum.what, sum.table)
			}
		}
	}
}

// TestFlameFull: calls of which there are too many paths, or which are too deep, are counted.
func TestFlameFull(t *testing.T) {
	f := &flame{index: map[flamePath]int32{}}
	f.add(flamePath{-1, 0}, 0)
	at := int32(0)
	for range 3 * flameDeep {
		at = f.child(at, 7)
	}
	if len(f.Keys) != flameDeep+1 || f.depth[at] != flameDeep {
		t.Fatalf("%d paths, %d deep", len(f.Keys), f.depth[at])
	}
	for key := range uint32(2 * flameMax) {
		f.child(0, 8+key)
	}
	if n := f.child(0, 3*flameMax); len(f.Keys) != flameMax || n != 0 || f.child(0, 7) != 1 {
		t.Fatalf("%d paths, %d", len(f.Keys), n)
	}
}
