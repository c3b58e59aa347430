package web

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// An index has the calls of a recording in levels of detail, so that any stretch of time can be
// drawn without reading it. On each row of a lane, short neighbours are merged: at level k into
// slices of at most span(k). What is longer stays a slice of its own. So at a level whose span is
// below a pixel a picture is as exact as one of all calls.
//
// A slice is kept once, however many levels have it. When there are too many, those of the finest
// level are given up, and what it had is read from the recording again.
type index struct {
	r     *recording.Recording
	clock recording.Converter
	print *recording.Printer

	keepEvery int // after how many events what has been read is kept

	mu       sync.Mutex       // guards what follows, while the index is made
	lanes    map[uint64]*lane // of goroutines, and of processors: processorLane and their numbers
	last     *lane
	spans    *spans
	finest   int   // the first level that is kept
	stored   int   // slices in the lists of rows
	rows     int   // of lanes
	runners  int   // lanes of processors
	now      int64 // how far it is, in ns since the recording began
	calls    uint64
	deep     uint64 // calls deeper than rowsMax, which are on no row
	beyond   uint64 // calls of goroutines beyond lanesMax, which have no lane
	finished bool
	notes    string // what is said of the recording, once it has been read
	err      error

	// Of a process that is followed: what is under way, what there is of the recording, and what
	// there is to say of it.
	under     *walker // nil: the index is made at once
	first     int64   // when it began, in ns of the recording's clock
	from      int64   // what was before has been given back
	fromTicks uint64  // that in ticks
	toTicks   uint64  // later events are not all known; 0: they are
	lost      uint64  // records that are on no lane
	left      string  // what was left out to keep within the budget
	rates     *rates
	ended     string // why nothing more is recorded
}

const (
	levels    = 18
	slicesMax = 2 << 20 // in lists: 24 bytes each
	rowCost   = 4       // slices that take as much memory as a row does besides its lists
	lanesMax  = 100_000
	rowsMax   = 64 // calls on a lane
)

// span returns how long merged slices of a level are at most, in ns.
func span(level int) int64 { return 256 << (2 * level) }

// processorLane tells the numbers of processors' lanes from those of goroutines. The one row of
// such a lane has slices whose keys are numbers of goroutines.
const processorLane = 1 << 63

// A lane is what a goroutine did, or which goroutines a processor ran.
type lane struct {
	goroutine     uint64
	calls, failed uint64
	begin, end    int64
	marks, waits  row
	rows          []row // of calls, by depth
}

// row has slices that do not overlap, in the order of time.
type row struct {
	pending []slice   // by level: the last one, with which the next may be merged
	lists   [][]slice // by the last level that has them as they are
}

// A slice is a call, a wait or a mark, or several that were merged.
type slice struct {
	begin, end int64  // ns since the recording began
	what       uint32 // the function's key, flags, and the first level that has it
	calls      uint32 // how many were merged
}

const (
	keyMask    = 1<<24 - 1
	failed     = 1 << 24 // a panic, an error or Goexit ended one of them
	unfinished = 1 << 25 // its end is not in the recording
	firstShift = 26
)

func (s *slice) first() int { return int(s.what >> firstShift) }

func (s *slice) key() uint32 { return s.what & keyMask }

// join takes in t, which follows s. Longer says that t is what is shown of both.
func (s *slice) join(t slice, longer bool) {
	what := s.what
	if longer {
		what = t.what
	}
	s.what = what&keyMask | (s.what|t.what)&(failed|unfinished)
	s.end = max(s.end, t.end)
	s.calls += t.calls
}

// add adds what has ended to a row.
func (x *index) add(r *row, s slice) {
	for k := range levels {
		if k == len(r.pending) {
			r.pending = append(r.pending, s)
			return
		}
		p := &r.pending[k]
		if s.end-p.begin <= span(k) {
			if k > 0 {
				if p.first() < k {
					x.store(r, k-1, *p)
				}
				x.store(r, k-1, s)
			}
			p.join(s, s.end-s.begin > p.end-p.begin)
			p.what |= uint32(k) << firstShift
			return
		}
		*p, s = s, *p
	}
	x.store(r, levels-1, s)
}

// store keeps a slice that levels up to k have.
func (x *index) store(r *row, k int, s slice) {
	if k < x.finest {
		return
	}
	for len(r.lists) <= k {
		r.lists = append(r.lists, nil)
	}
	r.lists[k] = append(r.lists[k], s)
	if x.stored++; x.stored > x.room() && x.finest < levels-1 {
		x.giveUp()
	}
}

// room returns how many slices there can be in lists. Rows take part of it, but not too much: what
// is not in the index is read again and again.
func (x *index) room() int { return slicesMax - min(x.rows*rowCost, slicesMax/2) }

// giveUp gives up the finest level.
func (x *index) giveUp() {
	for _, l := range x.lanes {
		for r := range l.all() {
			if x.finest < len(r.lists) {
				x.stored -= len(r.lists[x.finest])
				r.lists[x.finest] = nil
			}
		}
	}
	x.finest++
}

// all returns the rows of a lane: marks, waits, calls.
func (l *lane) all() func(func(*row) bool) {
	return func(yield func(*row) bool) {
		if !yield(&l.marks) || !yield(&l.waits) {
			return
		}
		for i := range l.rows {
			if !yield(&l.rows[i]) {
				return
			}
		}
	}
}

// each gives the slices of a level that are in a stretch of time.
func (r *row) each(level int, from, to int64, yield func(slice)) {
	for k := level; k < len(r.lists); k++ {
		list := r.lists[k]
		for i := endsBy(list, from); i < len(list) && list[i].begin <= to; i++ {
			if list[i].first() <= level {
				yield(list[i])
			}
		}
	}
	for k, s := range r.pending {
		if (k <= level || s.first() <= level) && s.end >= from && s.begin <= to {
			yield(s)
		}
	}
}

// endsBy returns how many slices end before a time.
func endsBy(list []slice, before int64) int {
	i, _ := slices.BinarySearchFunc(list, before, func(s slice, at int64) int { return cmp.Compare(s.end, at) })
	return i
}

type (
	walker = walk.Walker[struct{}, struct{}]
	stack  = walk.Stack[struct{}, struct{}]
	frame  = walk.Frame[struct{}]
)

// newIndex returns an index of nothing yet. The recording is its own.
func newIndex(r *recording.Recording) *index {
	return &index{r: r, clock: r.Converter(), print: r.Printer(recording.DefaultFormat), keepEvery: keepEvery, lanes: map[uint64]*lane{}, spans: newSpans()}
}

// moreEvery is after how many events it is asked whether to go on.
const moreEvery = 8192

// build goes through the recording until more returns false, from the beginning or, if from is not
// nil, from there. Others may ask meanwhile. Keep, if it is not nil, is called now and then, when
// more has returned false, and with nil at the end, unless anything of the recording is damaged.
func (x *index) build(progress func(size int64, done func() int64) (end func()), more func() bool, from *halt, keep func(*halt)) {
	n, due, stopped, halted := 0, x.keepEvery, false, false
	w := &walker{Source: walk.Source{Recording: x.r, Progress: progress}}
	h := hears{x: x, w: w, take: x.take, spans: x.spans}
	h.follow(nil)
	if from != nil {
		h.goOn(from)
	}
	h.listen()
	x.mu.Lock()
	err := h.walk(func(e *recording.Event) bool {
		if n++; n%moreEvery == 0 {
			x.mu.Unlock() // who waits for it gets it
			stopped = stopped || !more()
			x.mu.Lock()
		}
		if !stopped && n < due || e.Ticks <= w.Last {
			return true
		}
		if due = n + x.keepEvery; keep != nil && len(x.r.Damage()) == 0 { // of which goOn does not know
			s := h.halt(e.Ticks)
			x.mu.Unlock()
			keep(s)
			x.mu.Lock()
		}
		halted = stopped
		return !stopped
	})
	if halted {
		x.mu.Unlock()
		return
	}
	w.EndAll()
	h.runs.finish(false)
	var said bytes.Buffer
	walk.Complain(&said, x.r)
	x.err, x.notes, x.finished = err, said.String(), true
	x.mu.Unlock()
	if keep != nil && err == nil {
		keep(nil)
	}
}

// rowKind says on which row of a lane something is: of marks, of waits, or of calls of a depth.
type rowKind int

const (
	marksRow rowKind = iota
	waitsRow
	callsRow
)

// hears makes slices of what a walker tells.
type hears struct {
	x     *index
	w     *walker
	take  func(lane uint64, at rowKind, s slice)
	runs  *runs  // nil: those of processors are not wanted
	spans *spans // nil: requests and statements are not wanted by themselves
}

// follow makes slices of which goroutine ran on which processor too, of those that wanted, which
// may be nil, wants to have.
func (h *hears) follow(wanted func(lane uint64, s slice, doubt bool) bool) {
	h.runs = newRuns(func(processor int32, r *run) {
		lane := processorLane | uint64(processor)
		s := slice{begin: h.ns(r.begin), end: h.ns(r.end), what: uint32(min(r.goroutine, keyMask)), calls: 1}
		if wanted == nil || wanted(lane, s, r.doubt) {
			h.take(lane, callsRow, s)
		}
	})
}

// walk goes through the events until more returns false for the next one.
func (h *hears) walk(more func(e *recording.Event) bool) error {
	s := h.w.Events()
	defer s.Close()
	for e := s.Next(); e != nil && more(e); e = s.Next() {
		h.w.Event(e)
		h.w.Last = e.Ticks
		if h.runs != nil {
			h.ran(e)
		}
	}
	return s.Err()
}

// ran is told of all events.
func (h *hears) ran(e *recording.Event) {
	switch e.Kind {
	case recording.Lost:
		return
	case recording.Wait:
		w := e.Wait()
		h.runs.stopped(e.Goroutine, w.Begin)
		if w.Number == 0 { // it has not gone on
			return
		}
	}
	h.runs.event(e.Goroutine, e.Processor, e.Ticks)
	if e.Kind == recording.GoroutineEnd {
		h.runs.stopped(e.Goroutine, e.Ticks)
	}
}

func (h *hears) ns(ticks uint64) int64 { return int64(h.x.clock.Since(ticks)) }

func (h *hears) listen() {
	h.w.Begin = func(st *stack, c *frame, _ *recording.Event) {
		if h.spans == nil {
			return
		}
		if f := h.w.Recording.Function(c.Function); f.Span {
			h.spans.begin(f, spanAt{st.Goroutine, int(c.Depth)})
		}
	}
	h.w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		s := slice{begin: h.ns(c.Start), end: h.ns(h.w.Now), what: min(c.Function, keyMask), calls: 1}
		switch {
		case e == nil:
			s.what |= unfinished
		case fails(e, h.w.Recording, h.x.print):
			s.what |= failed
		}
		h.take(st.Goroutine, callsRow+rowKind(c.Depth), s)
		if h.spans != nil && len(h.spans.open) > 0 {
			h.spans.end(spanAt{st.Goroutine, int(c.Depth)}, s)
		}
	}
	h.w.Wait = func(st *stack, e *recording.Event) {
		wait := e.Wait()
		s := slice{begin: h.ns(wait.Begin), end: h.ns(e.Ticks), what: min(e.Function, keyMask), calls: 1}
		if wait.Number == 0 {
			s.what |= unfinished
		}
		h.take(st.Goroutine, waitsRow, s)
	}
	h.w.More = func(st *stack, c *frame, e *recording.Event) {
		at := h.ns(e.Ticks)
		switch e.Kind {
		case recording.Line:
			h.take(st.Goroutine, marksRow, slice{begin: at, end: at, calls: 1})
		case recording.Probe:
			h.take(st.Goroutine, marksRow, slice{begin: at, end: at, what: min(e.Function, keyMask), calls: 1})
		}
	}
}

// fails reports whether a call ended by a panic, by Goexit, or with an error.
func fails(e *recording.Event, r *recording.Recording, p *recording.Printer) bool {
	switch e.Kind {
	case recording.ExitPanic, recording.ExitGoexit:
		return true
	case recording.ExitResults:
		return p.Fails(e, r.Function(e.Function))
	}
	return false
}

// take adds a slice to a lane.
func (x *index) take(goroutine uint64, at rowKind, s slice) {
	x.now = max(x.now, s.end)
	runs := goroutine&processorLane != 0
	if at >= callsRow && !runs {
		x.calls++
	}
	l := x.lane(goroutine, s.begin)
	if l == nil {
		if at >= callsRow {
			x.beyond++
		}
		return
	}
	l.begin, l.end = min(l.begin, s.begin), max(l.end, s.end)
	switch at {
	case marksRow:
		x.add(&l.marks, s)
		return
	case waitsRow:
		x.add(&l.waits, s)
		return
	}
	l.calls++
	if s.what&failed != 0 {
		l.failed++
	}
	depth := int(at - callsRow)
	if depth >= rowsMax {
		x.deep++
		return
	}
	x.deepen(l, depth)
	x.add(&l.rows[depth], s)
}

// lane returns a lane, which is made if there is none, or nil if there can be no more.
func (x *index) lane(goroutine uint64, begin int64) *lane {
	if l := x.last; l != nil && l.goroutine == goroutine {
		return l
	}
	l := x.lanes[goroutine]
	if l == nil {
		if goroutine&processorLane != 0 {
			x.runners++
		} else if len(x.lanes)-x.runners >= lanesMax {
			return nil
		}
		l = &lane{goroutine: goroutine, begin: begin}
		x.lanes[goroutine] = l
	}
	x.last = l
	return l
}

// deepen gives a lane a row for calls of a depth.
func (x *index) deepen(l *lane, depth int) {
	if more := depth + 1 - len(l.rows); more > 0 {
		l.rows = append(l.rows, make([]row, more)...)
		x.rows += more
	}
}

// A found slice is one on a row of a lane.
type found struct {
	slice
	lane int // in the list of those that the page named
	row  rowKind
}

// level returns the coarsest level whose slices are at most as long as a pixel, of those that are
// kept, and whether there is one.
func (x *index) level(pixel int64) (level int, fine bool) {
	for level = levels - 1; level > x.finest && span(level) > pixel; level-- {
	}
	return level, span(level) <= pixel
}

// at returns what some goroutines did in a stretch of time, as a level has it. If there is more
// than most, a coarser level is taken.
func (x *index) at(goroutines []uint64, from, to int64, level, most int) (list []found, taken int) {
	for ; ; level++ {
		list = list[:0]
		for i, g := range goroutines {
			l := x.lanes[g]
			if l == nil {
				continue
			}
			at := marksRow
			for r := range l.all() {
				r.each(level, from, to, func(s slice) { list = append(list, found{s, i, at}) })
				at++
			}
			list = x.underWay(list, g, i, from, to)
		}
		if len(list) <= most || level == levels-1 {
			return list, level
		}
	}
}
