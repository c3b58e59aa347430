package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/recording"
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
}

// histogram counts lengths in buckets, 16 for each power of two: a bucket is some 6 % wide. While few are in use these are a list: there may be a stat for each of
// very many goroutines.
type histogram struct {
	few []bucketCount
	all *[64 * 16]uint32
}

type bucketCount struct{ bucket, n uint32 }

const fewMost = 16

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
	if len(h.few) < fewMost {
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
}

// summarize goes through a recording.
func summarize(w *walker, window recording.Window, by string) (*summary, error) {
	s := &summary{r: w.r, clock: w.r.Converter(), by: by, group: make([]int32, w.r.Keys()), byName: map[string]int32{}, byG: map[uint64]int32{},
		printer: w.r.Printer(recording.DefaultFormat)}
	w.begin, w.end, w.more = s.begin, s.end, func(*stack, *frame, *recording.Event) {}
	stream := w.r.Events(window)
	defer stream.Close()
	var e recording.Event
	for stream.Next(&e) {
		w.event(&e)
	}
	for _, st := range w.stacks.Every() {
		for i := len(st.Calls) - 1; i >= 0; i-- {
			c := &st.Calls[i]
			if c.Data.clause != nil && !st.Data.hidden {
				s.stats[s.of(st.Goroutine, c.Function)-1].open++
			}
		}
	}
	return s, stream.Err()
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
	i := s.byName[name]
	if i == 0 {
		s.stats = append(s.stats, &stat{name: name, f: f})
		i = int32(len(s.stats))
		s.byName[name] = i
	}
	if int(key) < len(s.group) {
		s.group[key] = i
	}
	return i
}

// begin notes whether the call is within another one of the same stat.
func (s *summary) begin(st *stack, c *frame, e *recording.Event) {
	d := &c.Data
	i := s.of(st.Goroutine, c.Function)
	d.held = i
	bit := uint32(1) << (uint32(i) & 31)
	d.around = bit
	j := len(st.Calls) - 2
	for j >= 0 && st.Calls[j].Data.clause == nil {
		j--
	}
	if j < 0 {
		return
	}
	around := st.Calls[j].Data.around
	d.around |= around
	if around&bit == 0 {
		return
	}
	for ; j >= 0; j-- {
		if st.Calls[j].Data.held == i {
			d.flags |= within
			return
		}
	}
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
	if c.Data.flags&within == 0 {
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

// fails says whether the last result is an error that is not nil.
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

// reportCommand is "ftrace report [FLAGS] [DIR]", or with -diff "ftrace report -diff A B".
func reportCommand(args []string) int {
	o := newOptions("report")
	by := o.flags.String("by", "function", "")
	sortBy := o.flags.String("sort", "total", "")
	rows := o.flags.Int("n", 0, "")
	diff := o.flags.Bool("diff", false, "")
	args, err := o.parse(args)
	switch {
	case err != nil:
		return fail("report", err)
	case *by != "function" && *by != "package" && *by != "goroutine":
		return fail("report", usagef("-by is function, package or goroutine, not %q", *by))
	case *sortBy != "name" && columnNamed(*sortBy) == nil:
		return fail("report", usagef("-sort is name, calls, total, self, avg, min, max, p50, p95, p99, errors or panics, not %q", *sortBy))
	case *diff && len(args) != 2:
		return fail("report", usagef("-diff compares two recordings"))
	case *diff && *by == "goroutine":
		return fail("report", usagef("-diff -by goroutine: goroutines of two runs have nothing to do with each other"))
	}
	var summaries []*summary
	for len(args) > 0 || len(summaries) == 0 {
		this := args[:min(1, len(args))]
		if !*diff {
			this = args
		}
		args = args[len(this):]
		s, err := o.summarize(this, *by)
		if err != nil {
			return fail("report", err)
		}
		s.sort(*sortBy)
		summaries = append(summaries, s)
	}
	out := o.output()
	defer out.close()
	b := bufio.NewWriter(out)
	switch {
	case *diff:
		writeReportDiff(b, summaries[0], summaries[1], *rows, *sortBy, o.json)
	case o.json:
		writeReportJSON(b, summaries[0], *rows)
	default:
		writeReport(b, summaries[0], *rows)
	}
	if err := b.Flush(); err != nil {
		return fail("report", err)
	}
	return 0
}

func (o *options) summarize(args []string, by string) (*summary, error) {
	r, err := o.open(args)
	if err != nil {
		return nil, err
	}
	w, err := o.walker(r)
	if err != nil {
		return nil, err
	}
	s, err := summarize(w, o.window(r), by)
	if err != nil {
		return nil, err
	}
	complain(r, nil)
	return s, nil
}

// rowsOf returns the first n of a list, all if n is 0.
func rowsOf[T any](list []T, n int) []T {
	if n > 0 && n < len(list) {
		return list[:n]
	}
	return list
}

// writeReport writes a table.
func writeReport(out io.Writer, s *summary, rows int) {
	var table [][]string
	head := []string{}
	for _, c := range columns {
		head = append(head, c.title)
	}
	table = append(table, append(head, s.by))
	for _, t := range rowsOf(s.stats, rows) {
		var row []string
		for _, c := range columns {
			text, _ := c.value(s, t)
			row = append(row, text)
		}
		table = append(table, append(row, t.name))
	}
	writeTable(out, table)
}

// writeTable writes rows with all columns but the last aligned at the right.
func writeTable(out io.Writer, table [][]string) {
	width := map[int]int{}
	for _, row := range table {
		for i, text := range row {
			width[i] = max(width[i], len(text))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for i, text := range row {
			if i < len(row)-1 {
				fmt.Fprintf(&line, "%*s  ", width[i], text)
			} else {
				line.WriteString(text)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// writeReportJSON writes an object for each row; times are in ns.
func writeReportJSON(out io.Writer, s *summary, rows int) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, t := range rowsOf(s.stats, rows) {
		row := map[string]any{s.by: t.name, "unfinished": t.open}
		for _, c := range columns {
			_, v := c.value(s, t)
			row[c.name] = int64(v)
		}
		enc.Encode(row)
	}
}

// writeReportDiff writes what changed from a to b, the largest change of the column first.
func writeReportDiff(out io.Writer, a, b *summary, rows int, by string, asJSON bool) {
	type pair struct {
		name string
		a, b *stat
	}
	var pairs []pair
	index := map[string]int{}
	for _, t := range a.stats {
		index[t.name] = len(pairs)
		pairs = append(pairs, pair{t.name, t, &stat{}})
	}
	for _, t := range b.stats {
		if i, ok := index[t.name]; ok {
			pairs[i].b = t
		} else {
			pairs = append(pairs, pair{t.name, &stat{}, t})
		}
	}
	c := columnNamed(by)
	if c == nil {
		c = columnNamed("total")
	}
	change := func(p pair) float64 {
		_, x := c.value(a, p.a)
		_, y := c.value(b, p.b)
		return y - x
	}
	slices.SortStableFunc(pairs, func(x, y pair) int {
		if by != "name" {
			p, q := change(x), change(y)
			if p, q := max(p, -p), max(q, -q); p != q {
				return cmp.Compare(q, p)
			}
		}
		return cmp.Compare(x.name, y.name)
	})
	shown := []*column{columnNamed("calls"), columnNamed("total"), columnNamed("self"), columnNamed("p50"), columnNamed("errors"), columnNamed("panics")}
	if !slices.ContainsFunc(shown, func(s *column) bool { return s.name == c.name }) {
		shown = append(shown, c)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var table [][]string
	head := []string{}
	for _, c := range shown {
		head = append(head, c.title, "change")
	}
	table = append(table, append(head, a.by))
	for _, p := range rowsOf(pairs, rows) {
		var row []string
		object := map[string]any{a.by: p.name}
		for _, c := range shown {
			_, x := c.value(a, p.a)
			text, y := c.value(b, p.b)
			row = append(row, text, changeText(c, x, y))
			object[c.name] = [2]int64{int64(x), int64(y)}
		}
		if asJSON {
			enc.Encode(object)
		}
		table = append(table, append(row, p.name))
	}
	if !asJSON {
		writeTable(out, table)
	}
}

// changeText returns how much more y is than x.
func changeText(c *column, x, y float64) string {
	d := y - x
	switch {
	case d == 0:
		return "="
	case strings.HasPrefix(c.name, "calls") || c.name == "errors" || c.name == "panics":
		return fmt.Sprintf("%+.0f", d)
	case x == 0:
		return "new"
	case y == 0:
		return "gone"
	}
	if d > 0 {
		return "+" + string(recording.AppendDuration(nil, int64(d)))
	}
	return string(recording.AppendDuration(nil, int64(d)))
}
