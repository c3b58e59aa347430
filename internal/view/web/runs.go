package web

// runs finds out which goroutine ran on which processor. A run lasts from the goroutine's first
// event there to its last one, or to where it stopped: the record of a wait says that when the wait
// has ended.
type runs struct {
	take    func(processor int32, r *run) // gets the runs of each processor in the order of time
	partial bool                          // the first run of a processor may have begun before
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
	partial    bool
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
	n := &run{goroutine: goroutine, begin: at, end: at, on: p, partial: r.partial && p.newest == nil}
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
		if !first.partial {
			r.take(p.number, first)
		}
	}
}

// finish gives what is left: all of it, or, if there are further events, what others have followed.
func (r *runs) finish(all bool) {
	for _, p := range r.on {
		most := 1
		if all || p.current == nil {
			most = 0
		}
		r.flush(p, most)
	}
}
