package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A line is one of the trace, as ftrace replay writes it.
type line struct {
	At   int64  `json:"at"`   // ns since the recording began
	G    uint64 `json:"g"`    // goroutine; 0: none
	Text string `json:"text"` // without the goroutine in front
	Next string `json:"next"` // the place after it
}

// A place is one between lines: after so many of those at a moment.
type place struct {
	ticks uint64
	lines int
	until uint64 // ticks, where a question is about no later lines; 0: it is
}

func (p place) String() string { return fmt.Sprintf("%d.%d", p.ticks, p.lines) }

// parsePlace reads a place, or a time in ns since the recording began. Nothing is the beginning.
func parsePlace(s string, clock *recording.Converter) (place, error) {
	if s == "" {
		return place{}, nil
	}
	ticksText, lines, ok := strings.Cut(s, ".")
	n, err := strconv.ParseUint(ticksText, 10, 63)
	if err != nil {
		return place{}, fmt.Errorf("%q is no place in the trace", s)
	}
	if !ok {
		if n == 0 {
			return place{}, nil
		}
		return place{ticks: ticks(clock, int64(n))}, nil
	}
	skip, err := strconv.ParseUint(lines, 10, 31)
	if err != nil {
		return place{}, fmt.Errorf("%q is no place in the trace", s)
	}
	return place{ticks: n, lines: int(skip)}, nil
}

// lines gives the lines of the trace from a place on, all or those whose text matches, until yield
// or, every now and then, more returns false. more is told how far it is, from 0 to 1.
func lines(r *recording.Recording, from place, only map[uint64]bool, matches func([]byte) bool, more func(done float64) bool, yield func(line) bool) error {
	format, err := text.ParseFormat("duration")
	if err != nil {
		return err
	}
	source := walk.Source{Recording: r, Window: recording.Window{From: from.ticks, To: from.until}, Only: only}
	var b bytes.Buffer
	view := text.NewView(source, text.Options{Format: format}, &b)
	clock := r.Converter()
	at := place{ticks: from.ticks}
	give := func(e uint64) bool {
		if e != at.ticks {
			at = place{ticks: e}
		}
		for l := range bytes.Lines(b.Bytes()) {
			at.lines++
			if at.ticks == from.ticks && at.lines <= from.lines {
				continue
			}
			g, l := splitLine(bytes.TrimSuffix(l, []byte("\n")))
			if matches != nil && !matches(l) {
				continue
			}
			if !yield(line{max(0, int64(clock.Since(at.ticks))), g, string(l), at.String()}) {
				return false
			}
		}
		b.Reset()
		return true
	}
	s := source.Events()
	defer s.Close()
	n, began := 0, uint64(0)
	done := func(now uint64) float64 {
		if from.until != 0 { // files of a recording that grows have room for more
			return min(1, float64(now-began)/float64(max(1, from.until-began)))
		}
		return float64(s.Done()) / float64(max(1, s.Size()))
	}
	for e := s.Next(); e != nil; e = s.Next() {
		if n == 0 {
			began = e.Ticks
		}
		if n++; n%4096 == 0 && !more(done(e.Ticks)) {
			return nil
		}
		if err := view.Event(e); err != nil {
			return err
		}
		if err := view.Flush(); err != nil {
			return err
		}
		if !give(e.Ticks) {
			return nil
		}
	}
	if err := view.Close(); err != nil {
		return err
	}
	give(at.ticks)
	return s.Err()
}

// splitLine takes the goroutine off a line. 0: it has none.
func splitLine(l []byte) (goroutine uint64, text []byte) {
	name, rest, ok := bytes.Cut(l, []byte(" "))
	if !ok || len(name) == 0 || name[0] != 'G' {
		return 0, l
	}
	g, err := strconv.ParseUint(string(name[1:]), 10, 64)
	if err != nil {
		return 0, l
	}
	return g, rest[min(len(rest), max(0, 4-len(name))):]
}

// begins reads from where on lines are wanted, and of which goroutine alone, nil: of all.
func (s *shown) begins(q url.Values) (from place, only map[uint64]bool, err error) {
	if from, err = parsePlace(q.Get("from"), &s.index.clock); err != nil {
		return place{}, nil, err
	}
	if name := q.Get("g"); name != "" {
		g, err := strconv.ParseUint(strings.TrimPrefix(name, "G"), 10, 64)
		if err != nil {
			return place{}, nil, fmt.Errorf("%q is no goroutine (such as G7)", name)
		}
		only = map[uint64]bool{g: true}
	}
	if known := s.index.known(recording.Window{From: from.ticks}); known.From > from.ticks {
		from = place{ticks: known.From, until: known.To}
	} else {
		from.until = known.To
	}
	return from, only, nil
}

const pageLines = 500

// tree returns a page of the trace's text.
func (s *shown) tree(w http.ResponseWriter, r *http.Request) {
	from, only, err := s.begins(r.URL.Query())
	s.reading(w, r, err, func(reader *recording.Recording) {
		list := []line{}
		err := lines(reader, from, only, nil, func(float64) bool { return r.Context().Err() == nil }, func(l line) bool {
			list = append(list, l)
			return len(list) < pageLines
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		reply(w, map[string]any{"lines": list, "more": len(list) == pageLines})
	})
}

const matchesMax = 500

// search looks for lines from a place on. It writes them as it finds them, as JSON lines, and
// between them how far it is, from 0 to 1.
func (s *shown) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, only, err := s.begins(q)
	wanted := q.Get("q")
	matches := contains(wanted)
	if pattern, ok := strings.CutPrefix(wanted, "/"); ok {
		re, wrong := regexp.Compile(strings.TrimSuffix(pattern, "/"))
		if wrong != nil {
			err = wrong
		} else {
			matches = re.Match
		}
	}
	if err == nil && wanted == "" {
		err = fmt.Errorf("there is nothing to look for")
	}
	s.reading(w, r, err, func(reader *recording.Recording) { find(w, r, reader, from, only, matches) })
}

// contains returns a function that reports whether a line has a word, in upper or lower case.
func contains(word string) func(line []byte) bool {
	wanted := []byte(strings.ToLower(word))
	var lower [256]byte
	for i := range lower {
		lower[i] = byte(unicode.ToLower(rune(i)))
	}
	var folded []byte
	return func(line []byte) bool {
		folded = folded[:0]
		for _, b := range line {
			if b >= utf8.RuneSelf {
				return bytes.Contains(bytes.ToLower(line), wanted)
			}
			folded = append(folded, lower[b])
		}
		return bytes.Contains(folded, wanted)
	}
}

// find writes the lines that match.
func find(w http.ResponseWriter, r *http.Request, reader *recording.Recording, from place, only map[uint64]bool, matches func([]byte) bool) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	enc := json.NewEncoder(w)
	shown := time.Now()
	n, last := 0, line{}
	err := lines(reader, from, only, matches, func(done float64) bool {
		if time.Since(shown) > 100*time.Millisecond {
			shown = time.Now()
			enc.Encode(map[string]any{"done": done})
			http.NewResponseController(w).Flush()
		}
		return r.Context().Err() == nil
	}, func(l line) bool {
		enc.Encode(l)
		n++
		last = l
		return n < matchesMax
	})
	end := map[string]any{"end": true, "found": n}
	if err != nil {
		end["error"] = err.Error()
	}
	if n == matchesMax {
		end["more"] = last.Next
	}
	enc.Encode(end)
}
