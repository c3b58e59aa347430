package web

import (
	"net/http"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// An arrow is from a goroutine to one that it started, or let go on.
type arrow struct {
	Starts bool   `json:"starts,omitempty"`
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
	At     int64  `json:"at"`  // when From did so, in ns since the recording began
	End    int64  `json:"end"` // when To ran
}

const (
	arrowsMax  = 1000      // in an answer
	arrowsRead = 1_000_000 // events that are read for one
)

// arrowsOf returns the arrows to or from some goroutines, of all if there are none, that end in a
// stretch of time. There are more if most are not all, or too much would have to be read.
func arrowsOf(r *recording.Recording, window recording.Window, wanted map[uint64]bool, most, events int) (list []arrow, more bool, err error) {
	list = []arrow{}
	clock := r.Converter()
	s := r.Events(window)
	defer s.Close()
	var e recording.Event
	for n := 0; s.Next(&e); n++ {
		if n == events {
			return list, true, nil
		}
		a := arrow{To: e.Goroutine, End: int64(clock.Since(e.Ticks))}
		switch e.Kind {
		case recording.GoroutineStart:
			a.Starts, a.From, a.At = true, e.Parent, a.End
		case recording.Wait:
			w := e.Wait()
			if w.Ready == 0 || w.Number == 0 { // nobody is known to have ended it, or nobody has
				continue
			}
			a.From, a.At = w.Goroutine, int64(clock.Since(w.Ready))
		}
		if a.From == 0 || a.From == a.To || wanted != nil && !wanted[a.From] && !wanted[a.To] {
			continue
		}
		if len(list) == most {
			return list, true, nil
		}
		list = append(list, a)
	}
	return list, false, s.Err()
}

// arrows returns who started and who woke whom in a stretch of time.
func (s *shown) arrows(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to := number(q, "from", &err), number(q, "to", &err)
	goroutines := goroutinesOf(q, &err)
	wanted := map[uint64]bool{}
	for _, g := range goroutines {
		wanted[g] = true
	}
	s.reading(w, r, err, func(reader *recording.Recording) {
		list, more, err := arrowsOf(reader, s.window(from, to), wanted, arrowsMax, arrowsRead)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		reply(w, map[string]any{"arrows": list, "more": more})
	})
}
