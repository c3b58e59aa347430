//go:build linux

package live

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// kept is what a program has kept of calls that have ended: in one half, or in both together.
type kept struct {
	functions []Counts // by key
	tallies   [format.Tallies][]Tally
	long      []format.Call
	longWaits []format.Call
	histories map[uint64][]format.Call // by goroutine
	waits     map[uint64][]format.Call // likewise
	lost      uint64                   // records, so far
}

// half adds what is in a half that nobody writes to. Goroutines that end meanwhile may leave
// anything.
func (p *Process) half(k *kept, half uint64, states []stateAt) error {
	h := p.seen.Load()
	if n := int(p.keys()); n > len(k.functions) {
		k.functions = append(k.functions, make([]Counts, n-len(k.functions))...)
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
		sums, err := readAs[format.Summary](p, at+h.SummariesAt, min(uint64(len(k.functions)), h.SummariesMax))
		if err != nil {
			return err
		}
		for key := range sums {
			k.functions[key].add(&sums[key])
		}
		for i := range k.tallies {
			if err := p.rows(&k.tallies[i], at+h.TalliesAt[i], at+h.TalliesAt[i]+h.TalliesMax*tallySize); err != nil {
				return err
			}
		}
		calls, err := readAs[format.Call](p, at+h.LongAt, min(w[0].Calls, h.LongMax))
		if err != nil {
			return err
		}
		k.long = append(k.long, calls...)
		waits, err := readAs[format.Call](p, at+h.WaitsAt, min(w[0].Waits, h.LongMax))
		if err != nil {
			return err
		}
		k.longWaits = append(k.longWaits, waits...)
	}
	if k.histories == nil {
		k.histories, k.waits = map[uint64][]format.Call{}, map[uint64][]format.Call{}
	}
	for i := range states {
		g := &states[i]
		if err := p.history(k.histories, g.ID, g.HistoryAt, g.Calls, half); err != nil {
			return err
		}
		if err := p.history(k.waits, g.ID, g.WaitsAt, g.Waited, half); err != nil {
			return err
		}
	}
	return nil
}

// history adds a half of a goroutine's history, of which n entries were made so far.
func (p *Process) history(to map[uint64][]format.Call, id, at, n, half uint64) error {
	if at == 0 {
		return nil
	}
	most := p.seen.Load().HistoryMax
	calls, err := readAs[format.Call](p, at+half*most*callSize, min(n, most))
	to[id] = append(to[id], calls...)
	return err
}

// processors returns how many processors there were so far.
func (p *Process) processors() uint64 {
	h := p.seen.Load()
	return min(h.Processors.Used, h.Processors.Max)
}

// rows adds the rows in a part of the file. It leaves out pages that were never written: nearly
// all.
func (p *Process) rows(to *[]Tally, at, end uint64) error {
	const seekData, seekHole = 3, 4
	for at < end {
		from, err := p.file.Seek(int64(at), seekData)
		if errors.Is(err, syscall.ENXIO) || err == nil && uint64(from) >= end {
			break
		}
		if err != nil {
			return fmt.Errorf("process %d: %v", p.PID, err)
		}
		hole, err := p.file.Seek(from, seekHole)
		if err != nil {
			return fmt.Errorf("process %d: %v", p.PID, err)
		}
		list, err := readAs[format.Tally](p, uint64(from), (min(uint64(hole), end)-uint64(from))/tallySize)
		if err != nil {
			return err
		}
		for i := range list {
			if r := &list[i]; r.Key != 0 && r.Count > 0 {
				*to = append(*to, Tally{Function: r.Key, By: r.By, Timed: r.Timed,
					Sums: Sums{Count: r.Count, Sum: r.Sum, Min: r.Min, Max: r.Max, Self: r.Self, Errors: r.Errors, Panics: r.Panics, Bytes: r.Bytes}})
			}
		}
		at = uint64(hole)
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
	for i, n := range s.Log2 {
		c.Log2[i] += n
	}
}

// last returns the last calls of a history, in order.
func last(calls []format.Call, most int, order func(a, b *format.Call) int) []Call {
	sorted := make([]*format.Call, 0, len(calls))
	for i := range calls {
		if calls[i].Number != 0 {
			sorted = append(sorted, &calls[i])
		}
	}
	slices.SortFunc(sorted, order)
	sorted = sorted[max(0, len(sorted)-most):]
	list := make([]Call, len(sorted))
	for i, c := range sorted {
		list[i] = callOf(c)
	}
	return list
}
