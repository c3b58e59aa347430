package web

import (
	"math"
	"slices"
)

// runs finds out which goroutine ran on which processor. A run lasts from the goroutine's first
// event there to its last one, or to where it stopped: the record of a wait says that when the wait
// has ended.
type runs struct {
	take    func(processor int32, r *run) // gets the runs of each processor in the order of time
	partial bool                          // there are events before: the first run of a processor may have begun there
	on      []*processor
	last    map[uint64]*run // of a goroutine, while it is not known where that ended
}

// A run is of a goroutine on a processor. Times are ticks.
type run struct {
	goroutine  uint64
	begin, end uint64
	on         *processor
	next       *run // on the same processor
	settled    bool // its end is known
	doubt      bool // it may have begun before the first event, or go on after the last
}

type processor struct {
	number  int32
	current *run
	newest  *run
	queue   []*run // not taken yet
}

// runsMax is how many runs of a processor wait until it is known where they ended.
const runsMax = 1000

func newRuns(take func(processor int32, r *run)) *runs {
	return &runs{take: take, last: map[uint64]*run{}}
}

// processorsMax is how many processors have lanes.
const processorsMax = 4096

// event is told of an event of a goroutine that ran on a processor.
func (r *runs) event(goroutine uint64, number int32, at uint64) {
	if number < 0 || number >= processorsMax {
		return
	}
	for int(number) >= len(r.on) {
		r.on = append(r.on, &processor{number: int32(len(r.on))})
	}
	p := r.on[number]
	if p.current != nil && p.current.goroutine == goroutine {
		p.current.end = at
		return
	}
	r.stopped(goroutine, 0)
	n := &run{goroutine: goroutine, begin: at, end: at, on: p, doubt: r.partial && p.newest == nil}
	if p.newest != nil {
		p.newest.next = n
	}
	p.current, p.newest = n, n
	p.queue = append(p.queue, n)
	r.last[goroutine] = n
	r.flush(p, runsMax)
}

// stopped is told that a goroutine stopped at a time, 0 if that is not known.
func (r *runs) stopped(goroutine, at uint64) {
	l := r.last[goroutine]
	if l == nil {
		return
	}
	if l.next != nil {
		at = min(at, l.next.begin)
	}
	l.end = max(l.end, at)
	r.settle(l)
	r.flush(l.on, runsMax)
}

func (r *runs) settle(l *run) {
	l.settled = true
	delete(r.last, l.goroutine)
	if l.on.current == l {
		l.on.current = nil
	}
}

// flush gives the runs of a processor whose ends are known, and those that are more than most.
func (r *runs) flush(p *processor, most int) {
	for len(p.queue) > 0 && (p.queue[0].settled || len(p.queue) > most) {
		first := p.queue[0]
		p.queue = p.queue[1:]
		if !first.settled {
			r.settle(first)
		}
		r.take(p.number, first)
	}
}

// finish gives what is left. There may be more events.
func (r *runs) finish(more bool) {
	for _, p := range r.on {
		if p.current != nil {
			p.current.doubt = p.current.doubt || more
		}
		r.flush(p, 0)
	}
}

// partRuns is what the index says of runs that are read of a part of the recording: which are
// longer than a margin, and where others ended whose goroutines go on after the part.
type partRuns struct {
	x      *index
	known  map[uint64]int64 // until when the index has the runs of a lane
	long   map[uint64][]slice
	margin int64
}

func ofProcessor(lane uint64) bool { return lane&processorLane != 0 }

// partRuns returns what the index has of the runs of lanes so far. Add is to be told of long ones.
func (x *index) partRuns(lanes []uint64) *partRuns {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := &partRuns{x: x, known: map[uint64]int64{}, long: map[uint64][]slice{}}
	for _, lane := range lanes {
		if l := x.lanes[lane]; l != nil {
			p.known[lane] = l.end
		}
	}
	return p
}

// add adds what lanes have that is longer than the margin.
func (p *partRuns) add(lanes []uint64, long []found, margin int64) {
	p.margin = margin
	for _, f := range long {
		p.long[lanes[f.lane]] = append(p.long[lanes[f.lane]], f.slice)
	}
}

// short reports whether a run is none of the long ones. The index tells that of one in doubt if it
// has the runs until then.
func (p *partRuns) short(lane uint64, s slice, doubt bool) bool {
	if s.end > p.known[lane] {
		return !doubt && s.end-s.begin <= p.margin
	}
	return !slices.ContainsFunc(p.long[lane], func(l slice) bool {
		return l.key() == s.key() && l.begin <= s.begin && (s.begin < l.end || doubt && s.begin == l.end)
	})
}

// stop has runs end where their goroutines began to wait for longer than the margin. What was read
// does not have the ends of these waits.
func (p *partRuns) stop(r *runs) {
	p.x.mu.Lock()
	defer p.x.mu.Unlock()
	for goroutine, last := range r.last {
		l := p.x.lanes[goroutine]
		if l == nil {
			continue
		}
		end := int64(p.x.clock.Since(last.end))
		stopped := int64(math.MaxInt64)
		l.waits.each(p.x.finest, end, end+p.margin, func(s slice) {
			if s.begin >= end && s.end-s.begin > p.margin {
				stopped = min(stopped, s.begin)
			}
		})
		if stopped < math.MaxInt64 {
			r.stopped(goroutine, ticksAt(&p.x.clock, stopped))
		}
	}
}
