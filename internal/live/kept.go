//go:build linux

package live

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// kept is what a program has kept of calls that have ended: in one half, or in both together.
type kept struct {
	functions []Counts // by key
	tallies   [tallyTables][]Tally
	long      []call
	histories map[uint64][]call // by goroutine
	lost      uint64            // records, so far
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
		at := h.processors.at + id*h.processors.size
		w, err := readAs[writer](p, at, 1)
		if err != nil {
			return err
		}
		k.lost += w[0].lost
		at += half * h.halfSize
		sums, err := readAs[summary](p, at+h.summariesAt, min(uint64(len(k.functions)), h.summariesMax))
		if err != nil {
			return err
		}
		for key := range sums {
			k.functions[key].add(&sums[key])
		}
		for i := range k.tallies {
			if err := p.rows(&k.tallies[i], at+h.talliesAt[i], at+h.talliesAt[i]+h.talliesMax*tallySize); err != nil {
				return err
			}
		}
		calls, err := readAs[call](p, at+h.longAt, min(w[0].calls, h.longMax))
		if err != nil {
			return err
		}
		k.long = append(k.long, calls...)
	}
	if k.histories == nil {
		k.histories = map[uint64][]call{}
	}
	for i := range states {
		g := &states[i]
		if g.historyAt == 0 {
			continue
		}
		calls, err := readAs[call](p, g.historyAt+half*h.historyMax*callSize, min(g.calls, h.historyMax))
		if err != nil {
			return err
		}
		k.histories[g.id] = append(k.histories[g.id], calls...)
	}
	return nil
}

// processors returns how many processors there were so far.
func (p *Process) processors() uint64 {
	h := p.seen.Load()
	return min(h.processors.used, h.processors.most)
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
		list, err := readAs[tally](p, uint64(from), (min(uint64(hole), end)-uint64(from))/tallySize)
		if err != nil {
			return err
		}
		for i := range list {
			if r := &list[i]; r.key != 0 && r.count > 0 {
				*to = append(*to, Tally{Function: r.key, By: r.by, Timed: r.timed,
					Sums: Sums{Count: r.count, Sum: r.sum, Min: r.min, Max: r.max, Self: r.self, Errors: r.errors, Panics: r.panics}})
			}
		}
		at = uint64(hole)
	}
	return nil
}

func (c *Counts) add(s *summary) {
	if s.min != 0 && (c.Min == 0 || s.min < c.Min) {
		c.Min = s.min
	}
	c.Max = max(c.Max, s.max)
	c.Count += s.count
	c.Sum += s.sum
	c.Self += s.self
	c.Errors += s.errors
	c.Panics += s.panics
	for i, n := range s.log2 {
		c.Log2[i] += n
	}
}

// last returns the last calls of a history, in order.
func last(calls []call, most int, order func(a, b *call) int) []Call {
	sorted := make([]*call, 0, len(calls))
	for i := range calls {
		if calls[i].number != 0 {
			sorted = append(sorted, &calls[i])
		}
	}
	slices.SortFunc(sorted, order)
	sorted = sorted[max(0, len(sorted)-most):]
	list := make([]Call, len(sorted))
	for i, c := range sorted {
		list[i] = c.call()
	}
	return list
}
