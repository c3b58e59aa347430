//go:build linux || windows || darwin

package live

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// kept is what a program has kept of calls that have ended: in one half, or in both together.
type kept struct {
	functions []Counts // by key
	tallies   [format.Tallies][]Tally
	long      map[uint64]*history // by processor
	longWaits map[uint64]*history
	histories map[uint64]*history // by goroutine
	waits     map[uint64]*history
	others    map[*format.Call][]uint64 // of waits among these
	lost      uint64                    // records, so far
}

// A history is a ring in which the last calls are kept. Call n, from 1 on, is at place (n-1)%most,
// in one of the halves.
type history struct {
	calls, most uint64 // how many were put into it so far, and how many it has room for
	halves      [2][]format.Call
	last        uint64 // the number of the last call that is there, see find
	rooms       []*[]format.Call
}

// find finds the last call. Calls after the cut, of which there may be any number, are in neither
// half.
func (h *history) find() {
	for _, half := range h.halves {
		for i := range half {
			if n := half[i].Number; n <= h.calls {
				h.last = max(h.last, n)
			}
		}
	}
}

// before returns the last call before call n, nil if there is none.
func (h *history) before(n uint64) *format.Call {
	most := 2 * uint64(max(len(h.halves[0]), len(h.halves[1])))
	for n--; n > 0 && h.last-n < most; n-- {
		place := (n - 1) % h.most
		for _, half := range h.halves {
			if place < uint64(len(half)) && half[place].Number == n {
				return &half[place]
			}
		}
	}
	return nil
}

// half adds what is in a half that nobody writes to. Goroutines that end meanwhile may leave
// anything.
func (p *Process) half(k *kept, of Contents, half uint64, states []stateAt) error {
	h := p.seen.Load()
	first, end, err := p.summed(of)
	if err != nil {
		return err
	}
	if had, n := len(k.functions), int(end); n > had {
		k.functions = append(k.functions, make([]Counts, n-had)...)
		if of&Histograms != 0 {
			all := make([]uint64, (n-had)*Buckets)
			for i := range k.functions[had:] {
				k.functions[had+i].Log2 = all[i*Buckets:][:Buckets:Buckets]
			}
		}
	}
	if k.long == nil {
		k.long, k.longWaits, k.histories, k.waits = map[uint64]*history{}, map[uint64]*history{}, map[uint64]*history{}, map[uint64]*history{}
		k.others = map[*format.Call][]uint64{}
	}
	k.lost = 0
	for id := range p.processors() {
		at := h.Processors.At + id*h.Processors.Size
		w, err := readAs[format.Processor](p, at, 1)
		if err != nil {
			return err
		}
		k.lost += w[0].Lost
		at += half * h.HalfSize
		if first < end {
			err := written(p, at+h.SummariesAt+first*summarySize, end-first, func(i uint64, s *format.Summary) { k.functions[first+i].add(s) })
			if err != nil {
				return err
			}
		}
		for i := range k.tallies {
			if of&(SumsByGoroutine<<i) == 0 {
				continue
			}
			if err := p.rows(&k.tallies[i], at+h.TalliesAt[i]); err != nil {
				return err
			}
		}
		if of&LongCalls != 0 {
			if err := p.history(k.long, id, at+h.LongAt, w[0].Calls, h.LongMax, half); err != nil {
				return err
			}
		}
		if of&LongWaits != 0 {
			if err := p.history(k.longWaits, id, at+h.WaitsAt, w[0].Waits, h.LongMax, half); err != nil {
				return err
			}
			if err := p.others(k, k.longWaits[id].halves[half], at+h.OthersAt); err != nil {
				return err
			}
		}
	}
	for i := range states {
		g, own := &states[i], half*h.HistoryMax*callSize
		if g.HistoryAt != 0 {
			if err := p.history(k.histories, g.ID, g.HistoryAt+own, g.Calls, h.HistoryMax, half); err != nil {
				return err
			}
		}
		if g.WaitsAt != 0 {
			if err := p.history(k.waits, g.ID, g.WaitsAt+own, g.Waited, h.HistoryMax, half); err != nil {
				return err
			}
			list := k.waits[g.ID].halves[half]
			if !slices.ContainsFunc(list, isSelect) {
				continue
			}
			at, err := readAs[uint64](p, g.WaitsAt+2*h.HistoryMax*callSize, 1)
			if err == nil && at[0] != 0 {
				err = p.others(k, list, at[0]+half*h.HistoryMax*othersSize)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// summed returns the keys of which sums are requested, from the first one to the one before the
// end.
func (p *Process) summed(of Contents) (first, end uint64, err error) {
	most := min(p.keys(), p.seen.Load().SummariesMax)
	switch {
	case of&SumsByFunction != 0:
		return 0, most, nil
	case of&SumsOfWaits == 0:
		return 0, 0, nil
	}
	program, err := p.tables()
	if err != nil {
		return 0, 0, err
	}
	first = most
	for _, f := range program.Functions() {
		if key := uint64(f.Key); f.Wait && key < most {
			first, end = min(first, key), max(end, key+1)
		}
	}
	return first, end, nil
}

// history reads a half of one of the histories. It is at a place in the file, and n calls were put
// into both halves so far.
func (p *Process) history(of map[uint64]*history, id, at, n, most, half uint64) (err error) {
	h := of[id]
	if h == nil {
		h = &history{most: most}
		of[id] = h
	}
	h.calls = n
	room := &[]format.Call{}
	if most == p.seen.Load().LongMax { // megabytes for each snapshot
		room = rooms.Get().(*[]format.Call)
		h.rooms = append(h.rooms, room)
	}
	*room, err = readTo(p, *room, at, min(n, most))
	h.halves[half] = *room
	return err
}

// isSelect reports whether a call is a wait for several channels.
func isSelect(c format.Call) bool { return c.Flags&format.CallSelect != 0 }

// others reads the other channels of selects among the waits of a history. The list of these is at
// a place in the file.
func (p *Process) others(k *kept, waits []format.Call, at uint64) error {
	for i := range waits {
		if c := &waits[i]; isSelect(*c) {
			others, err := readAs[uint64](p, at+uint64(i)*othersSize, min(c.Entry.Ticks, format.OthersMax))
			if err != nil {
				return err
			}
			k.others[c] = others
		}
	}
	return nil
}

// rooms are where the long histories were read to before.
var rooms = sync.Pool{New: func() any { return &[]format.Call{} }}

// free gives the rooms back: nothing more is taken from the histories.
func (k *kept) free() {
	for _, of := range []map[uint64]*history{k.long, k.longWaits, k.histories, k.waits} {
		for _, h := range of {
			for _, room := range h.rooms {
				rooms.Put(room)
			}
		}
	}
}

// processors returns how many processors there were so far.
func (p *Process) processors() uint64 {
	h := p.seen.Load()
	return min(h.Processors.Used, h.Processors.Max)
}

// rows adds the rows of a table.
func (p *Process) rows(to *[]Tally, at uint64) error {
	return written(p, at, p.seen.Load().TalliesMax, func(_ uint64, r *format.Tally) {
		if r.Key != 0 && r.Count > 0 {
			*to = append(*to, Tally{Function: r.Key, By: r.By, Timed: r.Timed,
				Sums: Sums{Count: r.Count, Sum: r.Sum, Min: r.Min, Max: r.Max, Self: r.Self, Errors: r.Errors, Panics: r.Panics, Bytes: r.Bytes}})
		}
	})
}

// written calls f with the n values of type T at a place in the file, and their indexes. It leaves
// out most pages that were never written, and does not ask of each whether it was.
func written[T any](p *Process, at, n uint64, f func(i uint64, v *T)) error {
	const atOnce = 64 << 10
	var one T
	size := uint64(unsafe.Sizeof(one))
	buffer := make([]T, max(atOnce/size, 1))
	for i := uint64(0); i < n; {
		from, err := p.memory.written(at + i*size)
		if err != nil {
			return fmt.Errorf("process %d: %v", p.PID, err)
		}
		if from >= at+n*size {
			break
		}
		i = max(i, (from-at)/size)
		some := buffer[:min(uint64(len(buffer)), n-i)]
		if err := p.taking.Load().take(uint64(len(some)) * size); err != nil {
			return fmt.Errorf("process %d: %w", p.PID, err)
		}
		if err := fill(p, some, at+i*size); err != nil {
			return err
		}
		for j := range some {
			f(i+uint64(j), &some[j])
		}
		i += uint64(len(some))
	}
	return nil
}

func (c *Counts) add(s *format.Summary) {
	if s.Min != 0 && (c.Min == 0 || s.Min < c.Min) {
		c.Min = s.Min
	}
	c.Max = max(c.Max, s.Max)
	c.Count += s.Count
	c.Sum += s.Sum
	c.Self += s.Self
	c.Errors += s.Errors
	c.Panics += s.Panics
	c.Bytes += s.Bytes
	c.LeftOut += s.LeftOut
	c.More = c.More || s.Uncounted != 0
	timed := uint64(0)
	for _, n := range s.Log2 {
		timed += n
	}
	c.Timed += timed
	for i := range c.Log2 {
		c.Log2[i] += s.Log2[i]
	}
}

// last returns the last calls of several histories together, in the order in which they ended.
// Those of each history are in that order, or nearly.
func last(most int, histories ...*history) []*format.Call {
	newest := make([]*format.Call, len(histories)) // of each, beside those that were found
	room := 0
	for i, h := range histories {
		h.find()
		newest[i] = h.before(h.last + 1)
		room += len(h.halves[0]) + len(h.halves[1])
	}
	order := func(a, b *format.Call) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Event, b.Event)) }
	found := make([]*format.Call, 0, min(most, room))
	for len(found) < most {
		from := -1
		for i, c := range newest {
			if c != nil && (from < 0 || order(c, newest[from]) > 0) {
				from = i
			}
		}
		if from < 0 {
			break
		}
		found = append(found, newest[from])
		newest[from] = histories[from].before(newest[from].Number)
	}
	slices.Reverse(found)
	if len(histories) > 1 {
		slices.SortFunc(found, order)
	}
	return found
}

// callsOf returns calls as readers of this package have them.
func callsOf(found []*format.Call) []Call {
	list := make([]Call, len(found))
	for i, c := range found {
		list[i] = callOf(c)
	}
	return list
}

// waitsOf returns waits likewise.
func (k *kept) waitsOf(found []*format.Call) []Wait {
	list := make([]Wait, 0, len(found))
	for _, c := range found {
		if c.Flags&format.CallWait != 0 {
			list = append(list, waitOf(c, k.others[c]))
		}
	}
	return list
}
