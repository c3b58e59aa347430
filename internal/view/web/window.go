package web

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

const (
	foundMax = 200_000   // slices in an answer
	readMax  = 3_000_000 // events that are read for one
	drawMax  = 1_500_000 // the same, of what is to be drawn at once
)

// picture is what the timeline shows of a stretch of time.
type picture struct {
	list  []found
	span  int64 // merged slices are at most so long; 0: none are merged
	exact bool  // what is merged is smaller than a pixel
}

// sketch returns what goroutines did in a stretch of time as the index has it, and whether the
// recording itself has it finer.
func (x *index) sketch(goroutines []uint64, from, to, pixel int64) (p picture, finer bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	level, fine := x.level(pixel)
	list, taken := x.at(goroutines, from, to, level, foundMax)
	return picture{list, span(taken), fine && taken == level}, !fine && taken == level
}

// picture is like sketch, but only calls that are within a pixel are merged, unless more than so
// many events would have to be read, or nobody waits any more. Lanes are of goroutines, or of
// processors. Each of the readers, which others do not use meanwhile, reads a part.
func (x *index) picture(ctx context.Context, readers []*recording.Recording, most int64, lanes []uint64, from, to, pixel int64) (picture, error) {
	var runs *partRuns
	if slices.ContainsFunc(lanes, ofProcessor) {
		runs = x.partRuns(lanes)
		readers = readers[:1] // where a run ends is known by what follows
	}
	p, finer := x.sketch(lanes, from, to, pixel)
	if !finer {
		return p, nil
	}
	// What is longer than the level's span is not merged. What is shorter and in the window began
	// and ended less than a span from it.
	margin := p.span
	var long []found
	for _, f := range p.list {
		if f.end-f.begin > margin {
			long = append(long, f)
		}
	}
	if runs != nil {
		runs.add(lanes, long, margin)
	}
	parts := x.parts(readers, lanes, from, to, margin, pixel, runs)
	var reading sync.WaitGroup
	var left atomic.Int64
	left.Store(most)
	for i := range parts {
		reading.Go(func() { parts[i].read(ctx, x.clock, &left) })
	}
	reading.Wait()
	for _, of := range parts {
		if of.err != nil || left.Load() <= 0 {
			return p, of.err
		}
	}
	read := parts[0].pictured
	for _, later := range parts[1:] {
		read.append(later.pictured)
	}
	for _, f := range long {
		row := read.row(lanes[f.lane], f.row)
		row.list = append(row.list, f.slice)
	}
	read.sort()
	for read.n() > foundMax {
		read.coarsen()
	}
	return picture{read.found(lanes), read.span, read.span == pixel}, nil
}

// A part is what one reader reads of a picture: what is at most as long as the margin, began until
// one time, and ended between two others.
type part struct {
	*pictured
	r             *recording.Recording
	margin, began int64
	from, until   int64
	window        recording.Window
	runs          *partRuns // nil: lanes are of goroutines alone
	ends          int64     // of what is under way after it; 0: others know
	err           error
}

// parts divides a picture among readers.
func (x *index) parts(readers []*recording.Recording, lanes []uint64, from, to, margin, pixel int64, runs *partRuns) (parts []part) {
	end := to + margin
	if runs != nil {
		end += margin // the wait that follows may be as long
	}
	x.mu.Lock()
	ends, finished := int64(0), x.finished
	if (finished || x.under != nil) && end >= x.now { // nothing is later, or it is not all known
		end, ends, to = x.now, x.now, max(from, min(to, x.now))
	}
	x.mu.Unlock()
	n := int64(len(readers))
	for i, r := range readers {
		p := part{pictured: newPictured(lanes, pixel), r: r, margin: margin, began: to, runs: runs}
		p.from, p.until = from+(to-from)/n*int64(i), from+(to-from)/n*int64(i+1)-1
		last := p.until + 1
		if i == len(readers)-1 {
			p.until, last, p.ends = math.MaxInt64, end, ends
		}
		if p.ends == 0 || !finished {
			p.window.To = ticks(&x.clock, last) + 2
		}
		if p.from > margin {
			p.window.From = ticks(&x.clock, p.from-margin)
		}
		parts = append(parts, p)
	}
	return parts
}

// read reads the part, until none of the events are left that may be read of all parts.
func (p *part) read(ctx context.Context, clock recording.Converter, left *atomic.Int64) {
	only := map[uint64]bool{}
	for lane := range p.rows {
		only[lane] = true
	}
	if p.runs != nil {
		only = nil // any goroutine may have run
	}
	w := &walker{Source: walk.Source{Recording: p.r, Window: p.window, Only: only}}
	h := hears{x: &index{clock: clock, print: p.r.Printer(recording.DefaultFormat)}, w: w, take: func(lane uint64, at rowKind, s slice) {
		if (s.end-s.begin <= p.margin || p.runs != nil) && s.begin <= p.began && s.end >= p.from && s.end <= p.until && at < callsRow+rowsMax {
			p.add(lane, at, s)
		}
	}}
	h.listen()
	if p.runs != nil {
		h.follow(p.runs.short)
		h.runs.partial = p.window.From > 0
	}
	n := 0
	p.err = h.walk(func(*recording.Event) bool { n++; return n%4096 != 0 || left.Add(-4096) > 0 && ctx.Err() == nil })
	if p.err == nil {
		p.err = ctx.Err()
	}
	if p.ends > 0 {
		w.Now = max(w.Now, ticksAt(&clock, p.ends))
		w.EndAll()
	}
	if p.runs != nil {
		p.runs.stop(h.runs)
		h.runs.finish(p.ends == 0)
	}
}

// ticks returns the ticks just before a time since the recording began.
func ticks(c *recording.Converter, ns int64) uint64 {
	t := c.Ticks(0)
	return max(c.Ticks(time.Duration(ns)), t+1) - 1
}

// ticksAt returns ticks at a time since the recording began.
func ticksAt(c *recording.Converter, ns int64) uint64 {
	t := ticks(c, ns) + 1
	if int64(c.Since(t)) < ns {
		t++
	}
	return t
}

// pictured has slices of the lanes that are wanted. Neighbours within a span are merged.
type pictured struct {
	span int64
	rows map[uint64][]pictureRow // by lane
}

type pictureRow struct {
	list    []slice
	longest int64 // of those that the last one was merged of
}

func newPictured(lanes []uint64, span int64) *pictured {
	p := &pictured{span, map[uint64][]pictureRow{}}
	for _, lane := range lanes {
		p.rows[lane] = nil
	}
	return p
}

// row returns a row of a lane that is wanted.
func (p *pictured) row(lane uint64, at rowKind) *pictureRow {
	rows := p.rows[lane]
	if more := int(at) + 1 - len(rows); more > 0 {
		rows = append(rows, make([]pictureRow, more)...)
		p.rows[lane] = rows
	}
	return &rows[at]
}

// add adds what has ended to a row, if its lane is wanted.
func (p *pictured) add(lane uint64, at rowKind, s slice) {
	if _, wanted := p.rows[lane]; wanted {
		p.row(lane, at).add(s, p.span)
	}
}

func (r *pictureRow) add(s slice, span int64) {
	lasted := s.end - s.begin
	if n := len(r.list); n > 0 && s.end-r.list[n-1].begin <= span {
		r.list[n-1].join(s, lasted > r.longest)
		r.longest = max(r.longest, lasted)
		return
	}
	s.what &= 1<<firstShift - 1
	r.list = append(r.list, s)
	r.longest = lasted
}

func (p *pictured) all() iter.Seq[*pictureRow] {
	return func(yield func(*pictureRow) bool) {
		for _, rows := range p.rows {
			for i := range rows {
				if !yield(&rows[i]) {
					return
				}
			}
		}
	}
}

// sort puts the slices of each row in the order in which they ended.
func (p *pictured) sort() {
	for r := range p.all() {
		slices.SortStableFunc(r.list, func(a, b slice) int { return cmp.Compare(a.end, b.end) })
	}
}

// n returns how many slices there are.
func (p *pictured) n() (n int) {
	for r := range p.all() {
		n += len(r.list)
	}
	return n
}

// append adds what ended later.
func (p *pictured) append(later *pictured) {
	for lane, rows := range later.rows {
		for at := range rows {
			to := p.row(lane, rowKind(at))
			to.list = append(to.list, rows[at].list...)
		}
	}
}

// coarsen merges more.
func (p *pictured) coarsen() {
	p.span *= 4
	for r := range p.all() {
		list := r.list
		*r = pictureRow{list: list[:0]}
		for _, s := range list {
			r.add(s, p.span)
		}
	}
}

// found returns the slices by lane and row.
func (p *pictured) found(lanes []uint64) (list []found) {
	list = make([]found, 0, p.n())
	for i, lane := range lanes {
		for at, r := range p.rows[lane] {
			for _, s := range r.list {
				list = append(list, found{s, i, rowKind(at)})
			}
		}
	}
	return list
}

// details are what the recording has of a call.
type details struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Params   string `json:"params"`
	Results  string `json:"results"`
	Number   uint64 `json:"number"`
	Began    bool   `json:"began"` // its beginning was found
	Ended    bool   `json:"ended"`
	Exit     string `json:"exit"` // panic or Goexit, if one of them ended it

	key    uint32
	params []recording.Value
}

// enter takes in the beginning of a call.
func (d *details) enter(r *recording.Recording, p *recording.Printer, e *recording.Event) {
	f := r.Function(e.Function)
	d.key, d.Began, d.Number = e.Function, true, e.Call
	d.Function, d.File, d.Line = f.FullName(), f.File, f.Line
	if e.Kind == recording.EntryArgs {
		d.Params = string(p.Append(nil, 0, e, f.Params))
		d.params = p.Values(e, f.Params)
	}
}

// exit takes in the end of a call.
func (d *details) exit(r *recording.Recording, p *recording.Printer, e *recording.Event) {
	d.Ended = true
	switch e.Kind {
	case recording.ExitResults:
		d.Results = string(p.Append(nil, 0, e, r.Function(d.key).Results))
	case recording.ExitPanic:
		d.Exit, d.Results = "panic", "panic"
		if e.Layout != 0 {
			d.Results = string(p.AppendPanic([]byte("panic "), 0, e))
		}
	case recording.ExitGoexit:
		d.Exit, d.Results = "Goexit", "Goexit"
	}
}

// callAt returns the call that a goroutine began at a time. Its end is there unless that is too far
// away.
func callAt(r *recording.Recording, goroutine, ticks uint64) (d details, err error) {
	p := r.Printer(recording.DefaultFormat)
	s := r.Events(recording.Window{From: ticks})
	defer s.Close()
	var depth uint16
	var e recording.Event
	for n := 0; n < readMax && s.Next(&e); n++ {
		if e.Goroutine != goroutine {
			continue
		}
		switch {
		case !d.Began && e.Ticks > ticks:
			return d, errNoCall
		case !d.Began && e.Ticks == ticks && e.Enters():
			depth = e.Depth
			d.enter(r, p, &e)
		case d.Began && e.Exits() && e.Depth == depth && e.Function == d.key:
			d.exit(r, p, &e)
			return d, nil
		}
	}
	if !d.Began && s.Err() == nil {
		return d, errNoCall
	}
	return d, s.Err()
}

var errNoCall = errors.New("there is no such call in the recording")

// call returns the call that a goroutine made at a depth, by when it began and ended.
func call(r *recording.Recording, goroutine uint64, depth int, begin, end int64) (d details, err error) {
	clock := r.Converter()
	p := r.Printer(recording.DefaultFormat)
	find := func(at int64, matches func(e *recording.Event) bool) error {
		s := r.Events(recording.Window{From: ticks(&clock, max(0, at-1)), To: ticks(&clock, at+1) + 2})
		defer s.Close()
		var e recording.Event
		for s.Next(&e) {
			if e.Goroutine == goroutine && int(e.Depth) == depth && int64(clock.Since(e.Ticks)) == at && matches(&e) {
				break
			}
		}
		return s.Err()
	}
	err = find(begin, func(e *recording.Event) bool {
		if !e.Enters() {
			return false
		}
		d.enter(r, p, e)
		return true
	})
	if err == nil && !d.Began {
		err = errNoCall
	}
	if err != nil {
		return d, err
	}
	err = find(end, func(e *recording.Event) bool {
		if !e.Exits() || e.Function != d.key {
			return false
		}
		d.exit(r, p, e)
		return true
	})
	return d, err
}
