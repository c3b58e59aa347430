package main

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A stat is what is known of the calls of a function, of a package, or on a goroutine. Times are in ticks.
type stat struct {
	name    string
	f       *recording.Function // of functions
	calls   uint64              // that ended
	open    uint64              // that were under way at the end, or whose end was not seen
	total   uint64              // within calls; of calls within others of the same only the outer ones
	self    uint64              // the same without the calls that they made
	sum     uint64              // of all calls, for the average
	least   uint64
	most    uint64
	errors  uint64 // calls whose last result was an error that is not nil
	panics  uint64
	lengths histogram
	place   int32 // in totals of a part
}

// histogram counts lengths in buckets, 16 for each power of two: a bucket is some 6 % wide. While few are in use these are a list: there may be a stat for each of
// very many goroutines.
type histogram struct {
	few []bucketCount
	all *[64 * 16]uint32
}

type bucketCount struct{ bucket, n uint32 }

const fewMax = 16

func (h *histogram) add(length uint64) {
	b := bucket(length)
	if h.all != nil {
		h.all[b]++
		return
	}
	for i := range h.few {
		if h.few[i].bucket == uint32(b) {
			h.few[i].n++
			return
		}
	}
	if len(h.few) < fewMax {
		h.few = append(h.few, bucketCount{uint32(b), 1})
		return
	}
	h.all = h.counts()
	h.all[b]++
	h.few = nil
}

// counts returns how many lengths are in each bucket.
func (h *histogram) counts() *[64 * 16]uint32 {
	if h.all != nil {
		return h.all
	}
	all := new([64 * 16]uint32)
	for _, c := range h.few {
		all[c.bucket] = c.n
	}
	return all
}

func bucket(v uint64) int {
	if v < 16 {
		return int(v)
	}
	shift := bits.Len64(v) - 5
	return shift<<4 + int(v>>shift)
}

// bucketMiddle returns the middle of a bucket.
func bucketMiddle(i int) uint64 {
	if i < 32 {
		return uint64(i)
	}
	shift := i>>4 - 1
	low := uint64(i&15|16) << shift
	return low + 1<<shift/2
}

// percentile returns the length that a part of the calls does not exceed, within 3 %.
func (s *stat) percentile(part float64) uint64 {
	if s.calls == 0 {
		return 0
	}
	rank := uint64(part * float64(s.calls))
	seen := uint64(0)
	for i, n := range s.lengths.counts() {
		if seen += uint64(n); seen > rank {
			return min(max(bucketMiddle(i), s.least), s.most)
		}
	}
	return s.most
}

// A summary is the stats of a recording.
type summary struct {
	r        *recording.Recording
	clock    recording.Converter
	by       string
	stats    []*stat
	group    []int32 // of functions, by key: 1 + index of stats; 0: not known yet
	byName   map[string]int32
	byG      map[uint64]int32
	lastG    uint64
	lastStat int32
	printer  *recording.Printer
	part     bool // of what one goroutine found in its parts: total is known in the end
}

// summarize goes through a recording.
func summarize(w *walker, window recording.Window, by string) (*summary, error) {
	s := newSummary(w, by)
	done, err := s.inParts(w, window)
	if !done {
		stream := w.events(window)
		for e := stream.Next(); e != nil; e = stream.Next() {
			w.event(e)
		}
		stream.Close()
		err = stream.Err()
	}
	for _, st := range w.stacks.Every() {
		for ; len(st.Calls) > 0; st.Pop() {
			if c := &st.Calls[len(st.Calls)-1]; c.Data.clause.shown && !st.Data.hidden {
				s.stats[s.of(st.Goroutine, c.Function)-1].open++
			}
		}
	}
	return s, err
}

// newSummary returns the summary of what a walker will go through.
func newSummary(w *walker, by string) *summary {
	s := &summary{r: w.r, clock: w.r.Converter(), by: by, group: make([]int32, w.r.Keys()), byName: map[string]int32{}, byG: map[uint64]int32{},
		printer: w.r.Printer(recording.DefaultFormat)}
	w.begin, w.end, w.more = s.begin, s.end, func(*stack, *frame, *recording.Event) {}
	return s
}

// inParts goes through a recording in parts. It returns false if it did nothing.
func (s *summary) inParts(w *walker, window recording.Window) (bool, error) {
	if s.by == "goroutine" {
		return false, nil
	}
	w.resume = s.mark
	w.total = func(st *stack, t statTotal) {
		if i := s.named(t.stat.name, t.stat.f); !s.around(st, st.Calls, i) {
			s.stats[i-1].total += t.ticks
		}
	}
	var all []*summary
	done, err := w.inParts(window, 24, func() func(*recording.Stream) func() bool {
		p := &walker{r: w.r, only: w.only, part: &partWalk{at: func() int { return 0 }}}
		part := newSummary(p, s.by)
		part.part = true
		all = append(all, part)
		var e recording.Event
		return func(stream *recording.Stream) func() bool {
			p.part.putOff = p.part.putOff[:0]
			for stream.Next(&e) {
				p.event(&e)
			}
			p.ends()
			return func() bool {
				for i := range p.part.putOff {
					w.takeUp(&p.part.putOff[i])
				}
				return true
			}
		}
	})
	for _, part := range all {
		s.add(part)
	}
	return done, err
}

// of returns 1 + the index of the stat that a call counts for.
func (s *summary) of(goroutine uint64, key uint32) int32 {
	if s.by == "goroutine" {
		if s.lastStat != 0 && s.lastG == goroutine {
			return s.lastStat
		}
		i := s.byG[goroutine]
		if i == 0 {
			s.stats = append(s.stats, &stat{name: fmt.Sprintf("G%d", goroutine)})
			i = int32(len(s.stats))
			s.byG[goroutine] = i
		}
		s.lastG, s.lastStat = goroutine, i
		return i
	}
	if int(key) < len(s.group) && s.group[key] != 0 {
		return s.group[key]
	}
	f := s.r.Function(key)
	name := f.FullName()
	if s.by == "package" {
		name = f.Package
	}
	i := s.named(name, f)
	if int(key) < len(s.group) {
		s.group[key] = i
	}
	return i
}

// named returns 1 + the index of the stat of that name.
func (s *summary) named(name string, f *recording.Function) int32 {
	i := s.byName[name]
	if i == 0 {
		s.stats = append(s.stats, &stat{name: name, f: f})
		i = int32(len(s.stats))
		s.byName[name] = i
	}
	return i
}

func (s *summary) begin(st *stack, c *frame, e *recording.Event) { s.mark(st) }

// mark notes of the innermost call which stat it counts for, and whether it is within another one of the same.
func (s *summary) mark(st *stack) {
	n := len(st.Calls) - 1
	c := &st.Calls[n]
	d := &c.Data
	d.held = s.of(st.Goroutine, c.Function)
	d.around = uint32(1) << (uint32(d.held) & 31)
	d.flags &^= within
	if outer := shownCaller(st); outer != nil {
		d.around |= outer.Data.around
	}
	if s.around(st, st.Calls[:n], d.held) {
		d.flags |= within
	}
}

// around reports whether one of the calls of a goroutine counts for a stat: of these inner ones, or of those that are set aside.
func (s *summary) around(st *stack, calls []frame, stat int32) bool {
	for i := len(calls) - 1; i >= 0; i-- {
		switch d := &calls[i].Data; {
		case !d.clause.shown: // it is not shown
		case d.held == stat:
			return true
		case d.around&(1<<(uint32(stat)&31)) == 0:
			return false
		}
	}
	for function := range st.OuterFunctions() {
		if s.of(st.Goroutine, function) == stat {
			return true
		}
	}
	return false
}

// within is a flag of a call that is within another one of the same stat.
const within = 1

func (s *summary) end(st *stack, c *frame, e *recording.Event) {
	if c == nil {
		return
	}
	t := s.stats[c.Data.held-1]
	if e == nil {
		t.open++
		return
	}
	lasted := e.Ticks - c.Start
	if min := c.Data.clause.Min; min > 0 && int64(s.clock.Between(c.Start, e.Ticks)) < min {
		return
	}
	if t.calls == 0 || lasted < t.least {
		t.least = lasted
	}
	t.calls++
	t.sum += lasted
	t.self += lasted - min(lasted, c.Data.inner)
	t.most = max(t.most, lasted)
	t.lengths.add(lasted)
	switch {
	case c.Data.flags&within != 0:
	case s.part:
		st.Data.parted.below.totals.add(t, lasted)
	default:
		t.total += lasted
	}
	switch e.Kind {
	case recording.ExitPanic:
		t.panics++
	case recording.ExitResults:
		if s.fails(e) {
			t.errors++
		}
	}
}

// fails reports whether the last result is an error that is not nil.
func (s *summary) fails(e *recording.Event) bool {
	f := s.r.Function(e.Function)
	n := len(f.Results)
	return n > 0 && (f.Results[n-1].Interface || f.Results[n-1].Unless != "") && s.printer.Fails(e, f)
}

// A column is one of a report.
type column struct {
	name  string
	title string
	value func(*summary, *stat) (text string, v float64)
}

func timeColumn(name, title string, ticks func(*stat) uint64) column {
	return column{name, title, func(s *summary, t *stat) (string, float64) {
		d := int64(s.clock.Between(0, ticks(t)))
		if t.calls == 0 {
			return "-", 0
		}
		return string(recording.AppendDuration(nil, d)), float64(d)
	}}
}

func countColumn(name, title string, n func(*stat) uint64) column {
	return column{name, title, func(_ *summary, t *stat) (string, float64) { return fmt.Sprint(n(t)), float64(n(t)) }}
}

var columns = []column{
	countColumn("calls", "calls", func(t *stat) uint64 { return t.calls + t.open }),
	timeColumn("total", "total", func(t *stat) uint64 { return t.total }),
	timeColumn("self", "self", func(t *stat) uint64 { return t.self }),
	timeColumn("avg", "average", func(t *stat) uint64 { return t.sum / max(t.calls, 1) }),
	timeColumn("min", "min", func(t *stat) uint64 { return t.least }),
	timeColumn("max", "max", func(t *stat) uint64 { return t.most }),
	timeColumn("p50", "p50", func(t *stat) uint64 { return t.percentile(.50) }),
	timeColumn("p95", "p95", func(t *stat) uint64 { return t.percentile(.95) }),
	timeColumn("p99", "p99", func(t *stat) uint64 { return t.percentile(.99) }),
	countColumn("errors", "errors", func(t *stat) uint64 { return t.errors }),
	countColumn("panics", "panics", func(t *stat) uint64 { return t.panics }),
}

func columnNamed(name string) *column {
	for i := range columns {
		if columns[i].name == name {
			return &columns[i]
		}
	}
	return nil
}

// sort sorts the stats by a column, the largest first, or by name.
func (s *summary) sort(by string) {
	c := columnNamed(by)
	slices.SortStableFunc(s.stats, func(a, b *stat) int {
		if c != nil {
			_, x := c.value(s, a)
			_, y := c.value(s, b)
			if x != y {
				return cmp.Compare(y, x)
			}
		}
		return cmp.Compare(a.name, b.name)
	})
}
