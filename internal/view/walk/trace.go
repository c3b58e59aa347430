package walk

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Stretch is what a goroutine did for one trace: for a request of that trace, or since it was
// started for one.
type Stretch struct {
	From, To uint64 // ticks, both included
	depth    int32  // calls around the first of the stretch
	level    int32  // calls around it, in other goroutines and processes too
}

// stretchOf returns the stretch that has an event, or nil.
func stretchOf(list []Stretch, ticks uint64) *Stretch {
	for i := range list {
		if s := &list[i]; s.From <= ticks && ticks <= s.To {
			return s
		}
	}
	return nil
}

// Traces are the requests in some recordings that belong to traces, as FTRACE_PROPAGATE has them.
type Traces struct {
	recordings []*recording.Recording
	of         []requests // of each recording
}

// requests are those of one recording, in the order in which they began, and the goroutines that
// were started.
type requests struct {
	list   []request
	starts []goroutineStart
}

// A request was served, or made.
type request struct {
	goroutine         uint64
	from, to          uint64 // ticks; to is the largest number if its end was not recorded
	depth             int32
	trace, id, parent string
	opens             bool // a stream or a message: it ends before the other side has answered
}

type goroutineStart struct {
	goroutine, by uint64
	at            uint64 // ticks
	depth         int32  // calls under way of the one that started it
}

// NewTraces reads the requests of recordings. It fails when the context ends.
func NewTraces(ctx context.Context, recordings []*recording.Recording) (*Traces, error) {
	t := &Traces{recordings, make([]requests, len(recordings))}
	for i, r := range recordings {
		if err := t.of[i].read(ctx, r); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// read reads those of a recording. One whose requests are in no trace is not read.
func (q *requests) read(ctx context.Context, r *recording.Recording) error {
	traced := func(f *recording.Function) bool {
		return f != nil && f.Span && slices.ContainsFunc(f.Params, func(p recording.Param) bool { return p.Name == "span" })
	}
	if !slices.ContainsFunc(r.Functions(), traced) {
		return nil
	}
	printer := r.Printer(recording.DefaultFormat)
	w := New[struct{}, int](Source{Recording: r}) // of a call: 1 + the place of its request
	w.Begin = func(st *Stack[struct{}, int], c *Frame[int], e *recording.Event) {
		f := r.Function(c.Function)
		if e.Kind != recording.EntryArgs || !traced(f) {
			return
		}
		next := request{goroutine: e.Goroutine, from: e.Ticks, to: math.MaxUint64, depth: int32(e.Depth), opens: opens(f)}
		for _, v := range printer.Values(e, f.Params) {
			switch text := strings.Trim(v.Text, `"`); v.Name {
			case "span":
				next.trace, next.id, _ = strings.Cut(text, "-")
			case "parent":
				next.parent = text
			}
		}
		if next.id != "" {
			q.list = append(q.list, next)
			c.Data.View = len(q.list)
		}
	}
	w.End = func(_ *Stack[struct{}, int], c *Frame[int], e *recording.Event) {
		if c != nil && c.Data.View > 0 && e != nil {
			q.list[c.Data.View-1].to = e.Ticks
		}
	}
	w.More = func(_ *Stack[struct{}, int], _ *Frame[int], e *recording.Event) {
		if e.Kind != recording.GoroutineStart {
			return
		}
		start := goroutineStart{goroutine: e.Goroutine, by: e.Parent, at: e.Ticks}
		if by := w.Stacks.Lookup(e.Parent); by != nil {
			start.depth = int32(len(by.Calls))
		}
		q.starts = append(q.starts, start)
	}
	w.Wait = func(*Stack[struct{}, int], *recording.Event) {}
	n := 0
	err := w.Run(func() bool { n++; return n%8192 != 0 || ctx.Err() == nil })
	return cmp.Or(err, ctx.Err())
}

// opens reports whether calls of f only begin what the other side does.
func opens(f *recording.Function) bool {
	return strings.HasPrefix(f.Name, "grpc/stream/") || strings.HasPrefix(f.Name, "nats/publish/") || strings.HasPrefix(f.Name, "kafka/publish/")
}

// A difference is by how much the clock of one recording can be before that of another, in ns: from
// least, or -unlimited, to most, or unlimited.
type difference struct{ least, most int64 }

const unlimited = math.MaxInt64

// between returns what requests that were made in recording a and served in recording b say of
// their clocks: nothing is served before it is made, nor is its answer there before it is served.
// ok reports whether there are any.
func (t *Traces) between(a, b int) (d difference, ok bool) {
	d = difference{-unlimited, unlimited}
	made := map[string]*request{}
	for i := range t.of[a].list {
		q := &t.of[a].list[i]
		if _, several := made[q.id]; several {
			q = nil // the program itself says so of several requests: which it is can't be told
		}
		made[t.of[a].list[i].id] = q
	}
	ours, theirs := t.recordings[a].Converter(), t.recordings[b].Converter()
	for i := range t.of[b].list {
		served := &t.of[b].list[i]
		by := made[served.parent]
		if by == nil || by.trace != served.trace {
			continue
		}
		ok = true
		begun := theirs.Wall(served.from)
		d.least = max(d.least, int64(ours.Wall(by.from).Sub(begun)))
		if by.to != math.MaxUint64 && !by.opens {
			d.most = min(d.most, int64(ours.Wall(by.to).Sub(begun)))
		}
	}
	return d, ok
}

// Align moves the times of recordings so that no request is served before it is made, nor after its
// answer has come. The first keeps its times. So does each whose times fit, or that has no requests
// in common with the others. It tells warn of those that it moves.
func (t *Traces) Align(warn io.Writer) {
	moved := map[int]int64{0: 0}
	for next := []int{0}; len(next) > 0; next = next[1:] {
		a := next[0]
		for b := range t.recordings {
			if _, done := moved[b]; done {
				continue
			}
			d, ok := t.between(a, b)
			back, also := t.between(b, a)
			if !ok && !also {
				continue
			}
			d.least, d.most = max(d.least, -back.most), min(d.most, -back.least)
			moved[b] = d.choose(0, moved[a])
			next = append(next, b)
			if by := time.Duration(moved[b]); by != 0 {
				t.recordings[b].Shift(by)
				fmt.Fprintf(warn, "ftrace: %s: its times are moved by %s, so that they fit those of %s\n", t.recordings[b].Dir, signed(by), filepath.Base(t.recordings[0].Dir))
			}
		}
	}
}

// Delays returns how long after the first of its run each recording began. Those are of one run
// that ran at the same time, or asked each other, and those that are of one with them. A recording
// that is compared with others is a run by itself.
func (t *Traces) Delays() []time.Duration {
	delays := make([]time.Duration, len(t.recordings))
	found := make([]bool, len(t.recordings))
	for i := range t.recordings {
		if found[i] {
			continue
		}
		found[i] = true
		run := []int{i}
		for at := 0; at < len(run); at++ {
			for b := range t.recordings {
				if !found[b] && t.together(run[at], b) {
					found[b] = true
					run = append(run, b)
				}
			}
		}
		began := func(i int) time.Time { at, _ := t.recordings[i].Lifetime(); return at }
		first := began(slices.MinFunc(run, func(a, b int) int { return began(a).Compare(began(b)) }))
		for _, i := range run {
			delays[i] = began(i).Sub(first)
		}
	}
	return delays
}

// together reports whether two recordings are of processes that ran at the same time, or asked each
// other. Of one that was killed the end is not known.
func (t *Traces) together(a, b int) bool {
	began, ended := t.recordings[a].Lifetime()
	otherBegan, otherEnded := t.recordings[b].Lifetime()
	if !began.After(otherEnded) && !otherBegan.After(ended) {
		return true
	}
	_, asked := t.between(a, b)
	_, served := t.between(b, a)
	return asked || served
}

// choose returns the first of some differences that can be, or else the middle of those that can.
func (d difference) choose(first ...int64) int64 {
	for _, by := range first {
		if d.least <= by && by <= d.most {
			return by
		}
	}
	switch {
	case d.most == unlimited:
		return d.least
	case d.least == -unlimited:
		return d.most
	}
	return d.least/2 + d.most/2
}

func signed(d time.Duration) string {
	sign := "+"
	if d < 0 {
		sign, d = "-", -d
	}
	return sign + string(recording.AppendDuration(nil, int64(d)))
}

// A Passing is a request that one recording's process made, and another's served.
type Passing struct{ Made, Served Passed }

// Passed is one side of it.
type Passed struct {
	Recording int // its place in the list
	Goroutine uint64
	Depth     int
	Ticks     uint64 // when that side of it began
}

// Passings returns the requests that went from one process to another.
func (t *Traces) Passings() []Passing {
	type key struct{ trace, id string }
	type maker struct {
		*request
		recording int
	}
	made := map[key]maker{}
	for i := range t.of {
		for j := range t.of[i].list {
			q := &t.of[i].list[j]
			at := key{q.trace, q.id}
			if _, several := made[at]; several {
				made[at] = maker{} // which it is can't be told
				continue
			}
			made[at] = maker{q, i}
		}
	}
	var list []Passing
	for i := range t.of {
		for j := range t.of[i].list {
			q := &t.of[i].list[j]
			by := made[key{q.trace, q.parent}]
			if by.request == nil || by.recording == i {
				continue
			}
			list = append(list, Passing{
				Passed{by.recording, by.goroutine, int(by.depth), by.from},
				Passed{i, q.goroutine, int(q.depth), q.from},
			})
		}
	}
	return list
}

// Find returns for each recording, by goroutine, what belongs to the trace whose id begins so.
func (t *Traces) Find(id string) ([]map[uint64][]Stretch, error) {
	id = strings.ToLower(id)
	type event struct {
		at        time.Time
		recording int
		request   *request        // nil: it is a start
		start     *goroutineStart // nil: it is a request
	}
	var events []event
	found := map[string]bool{}
	for i := range t.of {
		clock := t.recordings[i].Converter()
		for j := range t.of[i].list {
			if q := &t.of[i].list[j]; strings.HasPrefix(q.trace, id) {
				found[q.trace] = true
				events = append(events, event{clock.Wall(q.from), i, q, nil})
			}
		}
		for j := range t.of[i].starts {
			s := &t.of[i].starts[j]
			events = append(events, event{clock.Wall(s.at), i, nil, s})
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("no request belongs to trace %q: span= of a request, which ftrace replay -f 'stage/*' shows, begins with its trace, if it was recorded with FTRACE_PROPAGATE=on", id)
	case len(found) > 1:
		return nil, fmt.Errorf("requests of %d traces that begin with %q: give more of it", len(found), id)
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	stretches := make([]map[uint64][]Stretch, len(t.of))
	for i := range stretches {
		stretches[i] = map[uint64][]Stretch{}
	}
	levels := map[string]int32{} // of requests, by id
	for _, e := range events {
		of := stretches[e.recording]
		if s := e.start; s != nil {
			if by := stretchOf(of[s.by], s.at); by != nil {
				of[s.goroutine] = append(of[s.goroutine], Stretch{s.at, math.MaxUint64, 0, by.level + s.depth - by.depth})
			}
			continue
		}
		q := e.request
		if in := stretchOf(of[q.goroutine], q.from); in != nil {
			levels[q.id] = in.level + q.depth - in.depth
			continue
		}
		level := int32(0)
		if around, ok := levels[q.parent]; ok {
			level = around + 1
		}
		levels[q.id] = level
		of[q.goroutine] = append(of[q.goroutine], Stretch{q.from, q.to, q.depth, level})
	}
	return stretches, nil
}
