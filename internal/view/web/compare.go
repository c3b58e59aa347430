package web

import (
	"bytes"
	"errors"
	"net/http"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/diff"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/report"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// What a comparison has at most.
const (
	partingRows    = 200
	partingContext = 10
	bothRows       = 5000
)

// compare answers what make makes of two recordings, or has made of them.
func (s *Server) compare(w http.ResponseWriter, what, contentType string, make func(a, b walk.Source) ([]byte, error)) {
	if len(s.shown) != 2 {
		refuse(w, errors.New("two recordings are compared: ftrace web A B"))
		return
	}
	s.compared.answer(w, what, contentType, func() ([]byte, error) {
		var sources [2]walk.Source
		for i, shown := range s.shown {
			r, err := recording.Open(shown.dir)
			if err != nil {
				return nil, err
			}
			sources[i] = walk.Source{Recording: r}
		}
		return make(sources[0], sources[1])
	})
}

// parting returns where the recordings part, as ftrace diff says it in JSON.
func (s *Server) parting(w http.ResponseWriter, _ *http.Request) {
	s.compare(w, "parting", "application/json", func(a, b walk.Source) ([]byte, error) {
		o := diff.Options{JSON: true, Rows: partingRows, Context: partingContext}
		found, err := diff.Compare([]walk.Source{a, b}, o)
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = found.Write(&text, o)
		return text.Bytes(), err
	})
}

// both returns what the functions of both recordings took, as JSON lines, those first whose time
// changed most.
func (s *Server) both(w http.ResponseWriter, _ *http.Request) {
	s.compare(w, "both", "application/x-ndjson", func(a, b walk.Source) ([]byte, error) {
		o := report.Options{By: "function", Sort: "total", Rows: bothRows, JSON: true}
		var both [2]*report.Summary
		for i, from := range []walk.Source{a, b} {
			var err error
			if both[i], err = report.Summarize([]walk.Source{from}, o); err != nil {
				return nil, err
			}
		}
		var text bytes.Buffer
		err := report.WriteDiff(&text, both[0], both[1], o)
		return text.Bytes(), err
	})
}
