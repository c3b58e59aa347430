package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

const (
	foundMax = 200_000   // slices in an answer
	readMax  = 3_000_000 // events that are read for one
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

// picture is like sketch, but only calls that are within a pixel are merged, unless too much would
// have to be read, or nobody waits any more. r is not used by others meanwhile.
func (x *index) picture(ctx context.Context, r *recording.Recording, goroutines []uint64, from, to, pixel int64) (picture, error) {
	p, finer := x.sketch(goroutines, from, to, pixel)
	if !finer {
		return p, nil
	}
	// What is longer than the level's span is not merged. What is shorter and in the window began
	// and ended less than a span from it.
	margin := p.span
	read := newRows()
	more, err := x.read(ctx, r, goroutines, from, to, margin, read)
	if err != nil || !more {
		return p, err
	}
	for _, f := range p.list {
		if f.end-f.begin > margin {
			read.add(goroutines[f.lane], f.row, f.slice)
		}
	}
	for merge := pixel; ; merge *= 4 {
		if p.list = read.merged(goroutines, merge, p.list[:0]); len(p.list) <= foundMax {
			p.span, p.exact = merge, merge == pixel
			return p, nil
		}
	}
}

// read reads what is at most as long as the margin, and ended within a margin of the window. It
// returns false if that is too much.
func (x *index) read(ctx context.Context, r *recording.Recording, goroutines []uint64, from, to, margin int64, into *rows) (bool, error) {
	x.mu.Lock()
	until, following := to+margin, x.under != nil && !x.finished
	if following { // later events are not all known
		until = min(until, x.now)
	}
	end := (x.finished || following) && to+margin >= x.now
	x.mu.Unlock()
	wanted, runs := map[uint64]bool{}, false
	for _, g := range goroutines {
		wanted[g] = true
		runs = runs || g&processorLane != 0
	}
	only := wanted
	if runs {
		only = nil // any goroutine may have run
	}
	window := recording.Window{From: ticks(&x.clock, max(0, from-margin)), To: ticks(&x.clock, until) + 2}
	if from <= margin {
		window.From = 0
	}
	w := &walker{Source: walk.Source{Recording: r, Window: window, Only: only}}
	h := hears{x: &index{clock: x.clock, print: r.Printer(recording.DefaultFormat)}, w: w, take: func(g uint64, at rowKind, s slice) {
		if wanted[g] && s.end-s.begin <= margin && s.end >= from && s.begin <= to && at < callsRow+rowsMax {
			into.add(g, at, s)
		}
	}}
	h.listen()
	if runs {
		h.follow(window.From > 0)
	}
	n := 0
	err := h.walk(func() bool { n++; return n < readMax && (n%4096 != 0 || ctx.Err() == nil) })
	if err == nil {
		err = ctx.Err()
	}
	if end {
		w.Now = max(w.Now, window.To-1)
		w.EndAll()
	}
	if runs {
		h.runs.finish(end)
	}
	return n < readMax, err
}

// ticks returns the ticks just before a time since the recording began.
func ticks(c *recording.Converter, ns int64) uint64 {
	t := c.Ticks(0)
	return max(c.Ticks(time.Duration(ns)), t+1) - 1
}

// rows has slices by goroutine and row.
type rows struct{ by map[rowOf][]slice }

type rowOf struct {
	goroutine uint64
	row       rowKind
}

func newRows() *rows { return &rows{map[rowOf][]slice{}} }

func (r *rows) add(goroutine uint64, at rowKind, s slice) {
	r.by[rowOf{goroutine, at}] = append(r.by[rowOf{goroutine, at}], s)
}

// merged appends the slices, of which neighbours within a span are merged.
func (r *rows) merged(goroutines []uint64, span int64, to []found) []found {
	for i, g := range goroutines {
		for at := marksRow; at < callsRow+rowsMax; at++ {
			list := r.by[rowOf{g, at}]
			slices.SortStableFunc(list, func(a, b slice) int { return cmp.Compare(a.end, b.end) })
			from := len(to)
			var longest int64
			for _, s := range list {
				if n := len(to); n > from && s.end-to[n-1].begin <= span {
					to[n-1].join(s, s.end-s.begin > longest)
					longest = max(longest, s.end-s.begin)
					continue
				}
				s.what &= 1<<firstShift - 1
				to = append(to, found{s, i, at})
				longest = s.end - s.begin
			}
		}
	}
	return to
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
