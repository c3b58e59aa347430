package web

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/waits"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// waiting returns who waits for whom: in a process that is followed now, else at the end of the
// recording.
func (s *shown) waiting(w http.ResponseWriter, r *http.Request) {
	if s.live != nil {
		graph, err := s.live.session.Waiting()
		if err == nil {
			reply(w, graph)
			return
		}
		if !errors.Is(err, live.ErrOver) && s.live.session.Process.Alive() {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	s.cached(w, r, "waiting", "application/json", func(reader *recording.Recording) ([]byte, error) {
		found, err := waits.Find(walk.Source{Recording: reader, Window: s.window(0, 0)}, waits.Options{})
		if err != nil {
			return nil, err
		}
		return json.Marshal(found.Graph())
	})
}
