package web

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// spans has the requests, stages and statements of a recording, in families: HTTP requests served,
// SQL statements, and so on. They are calls of their goroutines too. Here those of all goroutines
// are together, each on the first row of its family that is free when it begins.
type spans struct {
	families []*family // in the order in which they were seen
	open     map[spanAt]openSpan
	n        int    // kept
	beyond   uint64 // that are not kept, or for which there was no row
}

const (
	spansMax    = 500_000
	spanRows    = 32
	familiesMax = 100
)

// A family has spans of a kind.
type family struct {
	name          string // such as stage/http/server
	calls, failed uint64
	rows          [][]spanSlice // of which none overlap, in the order of time
	taken         []bool        // rows that have a span under way
}

// A spanSlice is a request, a stage or a statement, or several that were merged.
type spanSlice struct {
	slice
	goroutine uint64
	depth     uint16 // in the goroutine's calls
}

type spanAt struct {
	goroutine uint64
	depth     int
}

// An openSpan is one under way.
type openSpan struct {
	of  *family
	row int // -1: there is none for it
}

func newSpans() *spans { return &spans{open: map[spanAt]openSpan{}} }

// familyOf returns the family of a kind: what precedes its own name.
func familyOf(f *recording.Function) string {
	parts := strings.SplitN(f.FullName(), "/", 4)
	most := 2 // statement/sql/select
	if parts[0] == "stage" {
		most = 3 // stage/http/server/GET /
	}
	return strings.Join(parts[:min(most, max(1, len(parts)-1))], "/")
}

// begin is told that a span begins.
func (s *spans) begin(f *recording.Function, at spanAt) {
	name := familyOf(f)
	i := slices.IndexFunc(s.families, func(f *family) bool { return f.name == name })
	if i < 0 {
		if len(s.families) == familiesMax {
			s.open[at] = openSpan{nil, -1}
			return
		}
		i = len(s.families)
		s.families = append(s.families, &family{name: name})
	}
	of := s.families[i]
	row := slices.Index(of.taken, false)
	if row < 0 && len(of.taken) < spanRows {
		row = len(of.taken)
		of.taken, of.rows = append(of.taken, false), append(of.rows, nil)
	}
	if row >= 0 {
		of.taken[row] = true
	}
	s.open[at] = openSpan{of, row}
}

// end is told that a call ends, of which c is what there is of it.
func (s *spans) end(at spanAt, c slice) {
	o, ok := s.open[at]
	if !ok {
		return
	}
	delete(s.open, at)
	if o.of != nil {
		o.of.calls++
		if c.what&failed != 0 {
			o.of.failed++
		}
	}
	if o.row < 0 || s.n == spansMax {
		s.beyond++
	} else {
		s.n++
		o.of.rows[o.row] = append(o.of.rows[o.row], spanSlice{c, at.goroutine, uint16(at.depth)})
	}
	if o.row >= 0 {
		o.of.taken[o.row] = false
	}
}

// A foundSpan is one on a row of a family.
type foundSpan struct {
	spanSlice
	family, row int
}

// in returns what is in a stretch of time. Neighbours within a pixel are merged.
func (s *spans) in(from, to, pixel int64) (list []foundSpan) {
	for i, f := range s.families {
		for row, of := range f.rows {
			first, _ := slices.BinarySearchFunc(of, from, func(s spanSlice, at int64) int { return cmp.Compare(s.end, at) })
			begin, longest := len(list), int64(0)
			for _, c := range of[first:] {
				if c.begin > to {
					break
				}
				lasted := c.end - c.begin
				if n := len(list); n > begin && c.end-list[n-1].begin <= pixel {
					last := &list[n-1]
					if lasted > longest {
						last.goroutine, last.depth = c.goroutine, c.depth
					}
					last.join(c.slice, lasted > longest)
					longest = max(longest, lasted)
					continue
				}
				list = append(list, foundSpan{c, i, row})
				longest = lasted
			}
		}
	}
	return list
}

// encodeSpans makes arrays for the page: those of slices, whose lanes are families, and then of
// goroutines, whose upper halves follow the lower ones, and of depths.
func encodeSpans(list []foundSpan, pixel int64) []byte {
	p := picture{span: pixel, exact: true}
	for _, s := range list {
		p.list = append(p.list, found{s.slice, s.family, rowKind(s.row)})
	}
	b := p.encode()
	for _, s := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.goroutine))
	}
	for _, s := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.goroutine>>32))
	}
	for _, s := range list {
		b = binary.LittleEndian.AppendUint16(b, s.depth)
	}
	return b
}

// A familyAnswer is what the page knows of a family of spans.
type familyAnswer struct {
	Name   string `json:"name"`
	Calls  uint64 `json:"calls"`
	Failed uint64 `json:"failed"`
	Rows   int    `json:"rows"`
}

// answer returns the families.
func (s *spans) answer() []familyAnswer {
	list := []familyAnswer{}
	for _, f := range s.families {
		list = append(list, familyAnswer{f.name, f.calls, f.failed, len(f.rows)})
	}
	return list
}

// familiesIn counts in families what was found of them.
func familiesIn(list []familyAnswer, found []foundSpan) []familyAnswer {
	for i := range list {
		list[i] = familyAnswer{Name: list[i].Name}
	}
	for _, s := range found {
		f := &list[s.family]
		f.Calls += uint64(s.calls)
		f.Rows = max(f.Rows, s.row+1)
		if s.what&failed != 0 {
			f.Failed++
		}
	}
	return list
}

// spans returns the requests, stages and statements of a stretch of time, as arrays.
func (s *shown) spans(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to, pixels := number(q, "from", &err), number(q, "to", &err), number(q, "pixels", &err)
	if err == nil && (to <= from || pixels < 1 || pixels > 20_000) {
		err = fmt.Errorf("from %d to %d in %d pixels is nothing to draw", from, to, pixels)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	pixel := max(1, (to-from)/pixels)
	x := s.index
	x.mu.Lock()
	list := x.spans.in(from, to, pixel)
	x.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(encodeSpans(list, pixel))
}
