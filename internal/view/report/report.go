// Package report makes tables of the functions of a recording: calls, times, errors.
//
// It takes the calls that package walk puts together, of one recording or of several processes, and
// makes a [Summary], by function, package or goroutine, which it writes as a table or as lines of
// JSON, alone or compared with another one. cmd/ftrace calls it. It keeps sums and histograms, no
// calls: memory does not grow with the recording.
package report

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	walker = walk.Walker[totals, call]
	stack  = walk.Stack[totals, call]
	frame  = walk.Frame[call]
)

// call is what is noted of a call under way.
type call struct {
	stat   int32  // 1 + the index of that which it counts for
	around uint32 // bits of the stats of this call and those around it
	within bool   // it is within another one of the same stat
}

// A stat counts the calls of a function, of a package, or on a goroutine. Times are in
// ticks.
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
	atEnd   uint64 // calls of which it is not known how long they took: they were noted at their end
	leftOut uint64 // calls that were left out to keep within a budget, and counted
	failed  uint64 // of these, so many failed
	more    bool   // others were not counted
	lengths histogram
	place   int32 // in totals of a part
	waited  waited
}

// histogram counts lengths in buckets, 16 for each power of two: a bucket is some 6 % wide. While
// few are in use these are a list: there may be a stat for each of very many goroutines.
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

// A Summary is the stats of a recording.
type Summary struct {
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
	waits    bool // self times are divided
}

// newSummary lets a walker make the summary of what it goes through.
func newSummary(w *walker, by string) *Summary {
	r := w.Recording
	s := &Summary{r: r, clock: r.Converter(), by: by, group: make([]int32, r.Keys()), byName: map[string]int32{}, byG: map[uint64]int32{},
		printer: r.Printer(recording.DefaultFormat)}
	w.Divide = by == "function" // the sums by package and by goroutine are the same without that
	w.Begin, w.End, w.More = s.begin, s.end, func(*stack, *frame, *recording.Event) {}
	return s
}

// summarize goes through a recording.
func summarize(from walk.Source, o Options) (*Summary, error) {
	w := walk.New[totals, call](from)
	s := newSummary(w, o.By)
	if o.Waits {
		s.divide(w)
	}
	done, err := s.inParts(w)
	if !done {
		err = w.Walk(nil)
	}
	for _, st := range w.Stacks.Every() {
		for ; len(st.Calls) > 0; st.Pop() {
			if c := &st.Calls[len(st.Calls)-1]; c.Data.Clause.Shown && !st.Data.Hidden {
				s.stats[s.of(st.Goroutine, c.Function)-1].open++
				if s.waits {
					s.unfinished(st, c)
				}
			}
		}
	}
	s.noteLeftOut()
	return s, err
}

// noteLeftOut notes how many calls were left out to keep within a budget. On which goroutines is
// not known.
func (s *Summary) noteLeftOut() {
	if s.by == "goroutine" {
		return
	}
	byName := map[string]*stat{}
	for _, t := range s.stats {
		byName[t.name] = t
	}
	_, last := s.r.Clocks()
	for _, l := range s.r.LeftOut(last.Ticks) {
		if t := byName[s.nameOf(s.r.Function(l.Function))]; t != nil {
			t.leftOut += l.Calls
			t.failed += l.Failed
			t.more = t.more || l.More
		}
	}
}

// nameOf returns the name of the stat that the calls of f count for.
func (s *Summary) nameOf(f *recording.Function) string {
	if s.by == "package" {
		return f.Package
	}
	return f.FullName()
}

// inParts goes through a recording in parts. It returns false if it did nothing.
func (s *Summary) inParts(w *walker) (bool, error) {
	if s.by == "goroutine" || s.waits {
		return false, nil
	}
	w.Resume = s.mark
	w.Taken = func(st *stack, said any) {
		for _, t := range said.(totals) {
			if i := s.named(t.stat.name, t.stat.f); !s.around(st, st.Calls, i) {
				s.stats[i-1].total += t.ticks
			}
		}
	}
	var all []*Summary
	done, err := w.InParts(24, func(p *walker) walk.PartWriter {
		part := newSummary(p, s.by)
		part.part = true
		p.Aside = func(st *stack, _ bool) any {
			if len(st.Data.View) == 0 {
				return nil
			}
			t := st.Data.View
			st.Data.View = nil
			return t
		}
		all = append(all, part)
		return nil
	})
	for _, part := range all {
		s.add(part, "")
	}
	return done, err
}

// of returns 1 + the index of the stat that a call counts for.
func (s *Summary) of(goroutine uint64, key uint32) int32 {
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
	i := s.named(s.nameOf(f), f)
	if int(key) < len(s.group) {
		s.group[key] = i
	}
	return i
}

// named returns 1 + the index of the stat of that name.
func (s *Summary) named(name string, f *recording.Function) int32 {
	i := s.byName[name]
	if i == 0 {
		s.stats = append(s.stats, &stat{name: name, f: f})
		i = int32(len(s.stats))
		s.byName[name] = i
	}
	return i
}

func (s *Summary) begin(st *stack, c *frame, e *recording.Event) { s.mark(st) }

// mark notes of the innermost call which stat it counts for, and whether it is within another one
// of the same.
func (s *Summary) mark(st *stack) {
	n := len(st.Calls) - 1
	c := &st.Calls[n]
	d := &c.Data
	d.View.stat = s.of(st.Goroutine, c.Function)
	d.View.around = uint32(1) << (uint32(d.View.stat) & 31)
	d.View.within = false
	if outer := walk.ShownCaller(st); outer != nil {
		d.View.around |= outer.Data.View.around
	}
	if s.around(st, st.Calls[:n], d.View.stat) {
		d.View.within = true
	}
}

// around reports whether one of the calls of a goroutine counts for a stat: of these inner ones, or
// of those that are set aside.
func (s *Summary) around(st *stack, calls []frame, stat int32) bool {
	for i := len(calls) - 1; i >= 0; {
		d := &calls[i].Data
		switch {
		case !d.Clause.Shown:
		case d.View.stat == stat:
			return true
		case d.View.around&(1<<(uint32(stat)&31)) == 0:
			return false
		}
		if d.Around == 0 {
			break
		}
		i -= int(d.Around)
	}
	for function := range st.OuterFunctions() {
		if s.of(st.Goroutine, function) == stat {
			return true
		}
	}
	return false
}

func (s *Summary) end(st *stack, c *frame, e *recording.Event) {
	if c == nil {
		return
	}
	t := s.stats[c.Data.View.stat-1]
	if e == nil {
		t.open++
		return
	}
	lasted := e.Ticks - c.Start
	if min := c.Data.Clause.Min; min > 0 && int64(s.clock.Between(c.Start, e.Ticks)) < min {
		return
	}
	t.calls++
	if !c.BeginKnown() {
		t.atEnd++
		s.outcome(t, e)
		return
	}
	if t.timed() == 1 || lasted < t.least {
		t.least = lasted
	}
	t.sum += lasted
	t.self += lasted - min(lasted, c.Data.Inner)
	t.most = max(t.most, lasted)
	t.lengths.add(lasted)
	switch {
	case c.Data.View.within:
	case s.part:
		st.Data.View.add(t, lasted)
	default:
		t.total += lasted
	}
	s.outcome(t, e)
}

// outcome counts how a call ended.
func (s *Summary) outcome(t *stat, e *recording.Event) {
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
func (s *Summary) fails(e *recording.Event) bool { return s.printer.Fails(e, s.r.Function(e.Function)) }

// A column is one of a report.
type column struct {
	name  string
	title string
	value func(*Summary, *stat) (text string, v float64)
}

func timeColumn(name, title string, ticks func(*stat) uint64) column {
	return column{name, title, func(s *Summary, t *stat) (string, float64) {
		d := int64(s.clock.Between(0, ticks(t)))
		if t.timed() == 0 {
			return "-", 0
		}
		return string(recording.AppendDuration(nil, d)), float64(d)
	}}
}

func countColumn(name, title string, n func(*stat) uint64) column {
	return column{name, title, func(_ *Summary, t *stat) (string, float64) { return fmt.Sprint(n(t)), float64(n(t)) }}
}

var columns = []column{
	countColumn("calls", "calls", func(t *stat) uint64 { return t.calls + t.open }),
	timeColumn("total", "total", func(t *stat) uint64 { return t.total }),
	timeColumn("self", "self", func(t *stat) uint64 { return t.self }),
	timeColumn("avg", "average", func(t *stat) uint64 { return t.sum / max(t.timed(), 1) }),
	timeColumn("min", "min", func(t *stat) uint64 { return t.least }),
	timeColumn("max", "max", func(t *stat) uint64 { return t.most }),
	timeColumn("p50", "p50", func(t *stat) uint64 { return t.percentile(.50) }),
	timeColumn("p95", "p95", func(t *stat) uint64 { return t.percentile(.95) }),
	timeColumn("p99", "p99", func(t *stat) uint64 { return t.percentile(.99) }),
	countColumn("errors", "errors", func(t *stat) uint64 { return t.errors }),
	countColumn("panics", "panics", func(t *stat) uint64 { return t.panics }),
}

// leftOutColumn is shown if calls were left out.
var leftOutColumn = column{"left_out", "left out", func(_ *Summary, t *stat) (string, float64) {
	text := fmt.Sprint(t.leftOut)
	if t.more {
		text += "+"
	}
	if t.failed > 0 {
		text += fmt.Sprintf(" (%d failed)", t.failed)
	}
	return text, float64(t.leftOut)
}}

func columnNamed(name string) *column {
	for i := range columns {
		if columns[i].name == name {
			return &columns[i]
		}
	}
	return nil
}

// sort sorts the stats by a column, the largest first, or by name.
func (s *Summary) sort(by string) {
	c := columnNamed(by)
	if s.waits && by == "self" {
		c = &s.columns()[1] // also of calls under way
	}
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

// add takes the stats of another recording in, which -by goroutine tells apart by its label, or of
// a part of the same, without one.
func (s *Summary) add(other *Summary, label string) {
	byName := map[string]*stat{}
	for _, t := range s.stats {
		byName[t.name] = t
	}
	for _, t := range other.stats {
		if s.by == "goroutine" && label != "" {
			t.name = label + " " + t.name
		}
		if known := byName[t.name]; known != nil {
			known.add(t)
		} else {
			s.stats = append(s.stats, t)
		}
	}
}

// timed returns how many calls ended that were timed.
func (t *stat) timed() uint64 { return t.calls - t.atEnd }

// add takes other calls in. They are of the same machine, whose ticks are the same.
func (t *stat) add(o *stat) {
	switch {
	case o.timed() == 0:
	case t.timed() == 0:
		t.least, t.most = o.least, o.most
	default:
		t.least, t.most = min(t.least, o.least), max(t.most, o.most)
	}
	t.calls += o.calls
	t.atEnd += o.atEnd
	t.open += o.open
	t.total += o.total
	t.self += o.self
	t.sum += o.sum
	t.errors += o.errors
	t.panics += o.panics
	t.leftOut += o.leftOut
	t.failed += o.failed
	t.more = t.more || o.more
	t.waited.addAll(&o.waited)
	all := t.lengths.counts()
	for i, n := range o.lengths.counts() {
		all[i] += n
	}
	t.lengths = histogram{all: all}
}

// totals are times by stat. There may be many of them, each of few stats, or few of many.
type totals []statTotal

type statTotal struct {
	stat  *stat
	ticks uint64
}

// add adds to the total of a stat, which is likely to be where it was in the totals that it was
// added to last.
func (t *totals) add(s *stat, ticks uint64) {
	list := *t
	if i := int(s.place); i < len(list) && list[i].stat == s {
		list[i].ticks += ticks
		return
	}
	for i := range list {
		if list[i].stat == s {
			s.place = int32(i)
			list[i].ticks += ticks
			return
		}
	}
	s.place = int32(len(list))
	*t = append(list, statTotal{s, ticks})
}
