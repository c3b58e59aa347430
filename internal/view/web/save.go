package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/report"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// What a file has at most, besides the tables and the flame graph.
const (
	savedLanes  = 500
	savedLines  = 20_000
	savedCalls  = 20_000
	savedArrows = 20_000
	savedSpans  = 20_000
	savedBytes  = 8 << 20 // of the lines, and of the values
)

// saved has the answers to what the page asks, for a file.
type saved struct {
	Hash      string              `json:"hash"` // what is shown first, as in the page's URL
	Status    *status             `json:"status"`
	Functions []function          `json:"functions"`
	Lanes     []laneAnswer        `json:"lanes"`
	Slices    []byte              `json:"slices"` // of all lanes, as for the page
	Spans     []byte              `json:"spans"`  // likewise
	Arrows    []arrow             `json:"arrows"`
	Tables    map[string]string   `json:"tables"` // JSON lines, by what the page asks for
	Flame     *flame              `json:"flame"`
	Lines     []line              `json:"lines"`
	Calls     map[string]*details `json:"calls"` // by goroutine, depth and beginning
}

// Save writes a file of HTML that shows a recording, or a stretch of time of it, without a server.
// Times are in ns since the recording began. 0 is no limit.
func Save(w io.Writer, dir string, o Options, from, to int64) (*recording.Recording, error) {
	s, err := newShown(dir, o)
	if err != nil {
		return nil, err
	}
	s.index.build(o.Progress, func() bool { return true }, nil, nil)
	if s.index.err != nil {
		return nil, s.index.err
	}
	return s.index.r, s.save(w, s.first, from, to, "")
}

// save writes the file. The index is finished.
func (s *shown) save(w io.Writer, r *recording.Recording, from, to int64, hash string) error {
	a, err := s.saved(r, from, to)
	if err != nil {
		return err
	}
	a.Hash = hash
	return writeFile(w, s.name(), a)
}

// saved collects the answers for a stretch of time.
func (s *shown) saved(r *recording.Recording, from, to int64) (*saved, error) {
	a := &saved{Status: s.now(), Functions: s.functionList(), Tables: map[string]string{}}
	for i := range a.Functions {
		a.Functions[i].Source = false // the file has none
	}
	window := s.window(from, to)
	if to == 0 || to > a.Status.End {
		to = a.Status.End
	}
	if a.Status.End == 0 {
		return nil, errors.New("there is nothing in the recording")
	}
	if from >= to {
		return nil, fmt.Errorf("the recording has nothing from %s on", duration(from))
	}
	a.Status.All, a.Status.Live = []string{s.name()}, nil
	whole := from == 0 && to == a.Status.End
	a.Status.From, a.Status.End, a.Status.Now = from, to, to
	var left []string
	var more bool
	lanes, all := s.laneList(false, 0), 0
	if len(lanes) > savedLanes {
		left = append(left, "the "+words.Count(savedLanes, "goroutine")+" with the most calls")
		lanes = lanes[:savedLanes]
	}
	var goroutines []uint64
	for _, l := range lanes {
		goroutines = append(goroutines, l.G)
	}
	p, err := s.index.picture(context.Background(), []*recording.Recording{r}, readMax, goroutines, from, to, 1)
	if err != nil {
		return nil, err
	}
	a.Slices = p.encode()
	for pixel := int64(1); a.Spans == nil; pixel *= 4 {
		if list := s.index.spans.in(from, to, pixel); len(list) <= savedSpans {
			a.Spans = encodeSpans(list, pixel)
		}
	}
	a.Lanes, all = lanesOf(lanes, p, whole)
	if !whole {
		a.Status.Families, a.Status.BeyondSpans = familiesIn(a.Status.Families, s.index.spans.in(from, to, 0)), 0
		a.Status.Calls, a.Status.Lanes, a.Status.Deep, a.Status.Beyond = uint64(all), len(a.Lanes), 0, 0
	}
	if a.Arrows, more, err = arrowsOf(r, window, nil, savedArrows, math.MaxInt); err != nil {
		return nil, err
	}
	if more {
		left = append(left, "the first "+words.Count(len(a.Arrows), "arrow"))
	}
	for _, by := range tablesBy {
		for _, waits := range []bool{false, true} {
			o := report.Options{By: by, Sort: "total", Rows: tableRows, JSON: true, Waits: waits}
			name := by
			if waits {
				o.Sort, name = "self", by+" waits"
			}
			b, err := tableOf(r, window, o)
			if err != nil {
				return nil, err
			}
			a.Tables[name] = string(b)
		}
	}
	if a.Flame, err = newFlame(walk.Source{Recording: r, Window: window}); err != nil {
		return nil, err
	}
	if a.Lines, more, err = s.firstLines(r, from, to); err != nil {
		return nil, err
	}
	if more {
		left = append(left, "the first "+words.Count(len(a.Lines), "line")+" of the trace")
	}
	if a.Calls, more, err = callsOf(r, window); err != nil {
		return nil, err
	}
	if more {
		left = append(left, "the values of the first "+words.Count(len(a.Calls), "call"))
	}
	said := "This is a file: it has no sources of functions, no SQL and no D."
	if !whole {
		said += fmt.Sprintf(" It has the recording from %s to %s.", duration(from), duration(to))
	}
	if len(left) > 0 {
		said += " To keep it small it has only " + strings.Join(left, ", ") + "."
	}
	a.Status.Notes = strings.TrimSpace(said + "\n" + a.Status.Notes)
	return a, nil
}

// firstLines returns lines of the trace in a stretch of time, and whether there are more.
func (s *shown) firstLines(r *recording.Recording, from, to int64) (list []line, more bool, err error) {
	list = []line{}
	begin, size := place{}, 0
	if from > 0 {
		begin.ticks = ticks(&s.index.clock, from)
	}
	err = lines(r, begin, nil, nil, func(float64) bool { return true }, func(l line) bool {
		if l.At > to {
			return false
		}
		if more = len(list) == savedLines || size > savedBytes; more {
			return false
		}
		size += len(l.Text)
		list = append(list, l)
		return true
	})
	return list, more, err
}

func duration(ns int64) string { return string(recording.AppendDuration(nil, ns)) }

// lanesOf returns lanes as a picture has them, and how many calls it has. If the picture is of all
// of the recording, the lanes are as they are.
func lanesOf(lanes []laneAnswer, p picture, whole bool) (list []laneAnswer, calls int) {
	counted := make([]laneAnswer, len(lanes))
	for i, l := range lanes {
		counted[i] = laneAnswer{G: l.G, Begin: math.MaxInt64}
	}
	for _, f := range p.list {
		l := &counted[f.lane]
		l.Begin, l.End = min(l.Begin, f.begin), max(l.End, f.end)
		if f.row < callsRow {
			continue
		}
		calls += int(f.calls)
		l.Calls += uint64(f.calls)
		l.Rows = max(l.Rows, int(f.row-callsRow)+1)
		if f.what&failed != 0 {
			l.Failed++
		}
	}
	if whole {
		return lanes, calls
	}
	return counted, calls
}

// callsOf returns what was recorded of the calls that began in a stretch of time, and whether there
// are more.
func callsOf(r *recording.Recording, window recording.Window) (calls map[string]*details, more bool, err error) {
	type at struct {
		goroutine uint64
		depth     uint16
	}
	clock, p := r.Converter(), r.Printer(recording.DefaultFormat)
	calls = map[string]*details{}
	open, size := map[at]*details{}, 0
	s := r.Events(window)
	defer s.Close()
	var e recording.Event
	for s.Next(&e) {
		place := at{e.Goroutine, e.Depth}
		switch {
		case e.Enters() && (len(calls) == savedCalls || size > savedBytes):
			more = true
			delete(open, place)
		case e.Enters():
			d := &details{}
			d.enter(r, p, &e)
			size += len(d.Params)
			open[place] = d
			calls[fmt.Sprintf("%d %d %d", e.Goroutine, e.Depth, int64(clock.Since(e.Ticks)))] = d
		case e.Exits():
			if d := open[place]; d != nil && d.key == e.Function {
				d.exit(r, p, &e)
				size += len(d.Results)
				delete(open, place)
			}
		}
	}
	return calls, more, s.Err()
}

// file answers with the page as a file.
func (s *shown) file(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to := number(q, "from", &err), number(q, "to", &err)
	if err == nil && !s.now().Finished {
		err = errors.New("the recording is still being read: try again when that is done")
	}
	s.reading(w, r, err, func(reader *recording.Recording) {
		var b bytes.Buffer
		if err := s.save(&b, reader, from, to, q.Get("hash")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": s.name() + ".html"}))
		w.Write(b.Bytes())
	})
}
