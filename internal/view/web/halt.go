package web

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A halt is a moment at which a recording had been read in part, and what was under way then. With
// the index of that part, reading goes on from there.
type halt struct {
	at       uint64 // ticks: earlier events have been read, and no later ones
	now      uint64 // ticks of the last of them
	calls    []haltCall
	spans    []haltSpan
	runs     [][]run // by processor
	switches []byte  // of functions, off and on
}

// A haltCall is a call under way, below those around it.
type haltCall struct {
	goroutine      uint64
	begin          uint64 // ticks
	function       uint32
	depth          uint16
	untimed, atEnd bool
}

// A haltSpan is a request, a stage or a statement under way.
type haltSpan struct {
	at          spanAt
	family, row int // -1: there is none for it
}

// halt returns the state before an event, whose ticks are later than those of the event before.
func (h *hears) halt(at uint64) *halt {
	s := &halt{at: at, now: h.w.Now, switches: h.x.r.AppendSwitches(nil)}
	for _, st := range h.w.Stacks.Every() {
		for c := range st.All() {
			s.calls = append(s.calls, haltCall{st.Goroutine, c.Start, c.Function, c.Depth, c.Untimed, c.AtEnd})
		}
	}
	for at, o := range h.spans.open {
		s.spans = append(s.spans, haltSpan{at, slices.Index(h.spans.families, o.of), o.row})
	}
	for _, p := range h.runs.on {
		var queue []run
		for _, r := range p.queue {
			queue = append(queue, run{goroutine: r.goroutine, begin: r.begin, end: r.end, settled: r.settled})
		}
		s.runs = append(s.runs, queue)
	}
	return s
}

// goOn takes up what was under way. The walker has heard of nothing yet.
func (h *hears) goOn(from *halt) {
	h.w.Window.From = from.at
	h.w.Begin = func(*stack, *frame, *recording.Event) {} // the index has heard of them
	h.w.End = h.w.Begin
	for _, c := range from.calls {
		h.w.Event(&recording.Event{Kind: recording.Entry, Goroutine: c.goroutine, Ticks: c.begin, Parent: c.begin, Function: c.function, Depth: c.depth, Untimed: c.untimed, AtEnd: c.atEnd})
	}
	h.w.Now, h.w.Last = from.now, from.now
	h.x.r.ReadSwitches(from.switches)
	for _, f := range h.spans.families {
		f.taken = make([]bool, len(f.rows))
	}
	for _, s := range from.spans {
		o := openSpan{row: s.row}
		if s.family >= 0 {
			o.of = h.spans.families[s.family]
		}
		if s.row >= 0 {
			o.of.taken[s.row] = true
		}
		h.spans.open[s.at] = o
	}
	for number, queue := range from.runs {
		p := &processor{number: int32(number)}
		h.runs.on = append(h.runs.on, p)
		for i := range queue {
			r := &queue[i]
			r.on = p
			if p.newest != nil {
				p.newest.next = r
			}
			p.newest = r
			p.queue = append(p.queue, r)
			if !r.settled {
				h.runs.last[r.goroutine] = r
			}
		}
		if p.newest != nil && !p.newest.settled {
			p.current = p.newest
		}
	}
}

func (w *indexWriter) halt(s *halt) {
	w.numbers(s.at, s.now, uint64(len(s.switches)))
	w.bytes(s.switches)
	w.numbers(uint64(len(s.calls)))
	for _, c := range s.calls {
		w.numbers(c.goroutine, c.begin, uint64(c.function)<<32|uint64(c.depth)<<2|bit(c.untimed)<<1|bit(c.atEnd))
	}
	w.numbers(uint64(len(s.spans)))
	for _, o := range s.spans {
		w.numbers(o.at.goroutine, uint64(o.at.depth), uint64(o.family+1), uint64(o.row+1))
	}
	w.numbers(uint64(len(s.runs)))
	for _, queue := range s.runs {
		w.numbers(uint64(len(queue)))
		for _, r := range queue {
			w.numbers(r.goroutine, r.begin, r.end, bit(r.settled))
		}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (r *indexReader) halt(families []*family) *halt {
	s := &halt{at: r.number(), now: r.number()}
	s.switches = slices.Clone(r.bytes(r.count(1, 1<<30)))
	for range r.count(3*8, 1<<32) {
		c := haltCall{goroutine: r.number(), begin: r.number()}
		n := r.number()
		c.function, c.depth, c.untimed, c.atEnd = uint32(n>>32), uint16(n>>2), n&2 != 0, n&1 != 0
		s.calls = append(s.calls, c)
	}
	for range r.count(4*8, 1<<32) {
		o := haltSpan{at: spanAt{r.number(), int(r.number())}, family: int(r.number()) - 1, row: int(r.number()) - 1}
		if o.family < -1 || o.family >= len(families) || o.row < -1 || o.row >= 0 && (o.family < 0 || o.row >= len(families[o.family].rows)) {
			r.fail()
			return s
		}
		s.spans = append(s.spans, o)
	}
	unsettled := map[uint64]bool{}
	for range r.count(8, processorsMax) {
		var queue []run
		for range r.count(4*8, runsMax) {
			one := run{goroutine: r.number(), begin: r.number(), end: r.number(), settled: r.number() != 0}
			if !one.settled && unsettled[one.goroutine] {
				r.fail()
			}
			unsettled[one.goroutine] = unsettled[one.goroutine] || !one.settled
			queue = append(queue, one)
		}
		s.runs = append(s.runs, queue)
	}
	return s
}
