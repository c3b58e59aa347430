//go:build linux

package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// kept is what a program has kept of calls that have ended: in one half, or in both together.
type kept struct {
	functions []Counts // by key
	tallies   [format.Tallies][]Tally
	long      [][]format.Call // of each half of each processor, in any order
	longWaits [][]format.Call
	histories map[uint64][][]format.Call // of each half, by goroutine
	waits     map[uint64][][]format.Call // likewise
	lost      uint64                     // records, so far
}

// half adds what is in a half that nobody writes to. Goroutines that end meanwhile may leave
// anything.
func (p *Process) half(k *kept, of Contents, half uint64, states []stateAt) error {
	h := p.seen.Load()
	if n := int(p.keys()); of&SumsByFunction != 0 && n > len(k.functions) {
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
		if of&SumsByFunction != 0 {
			err := written(p, at+h.SummariesAt, min(uint64(len(k.functions)), h.SummariesMax), func(key uint64, s *format.Summary) { k.functions[key].add(s) })
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
			if err := p.ring(&k.long, at+h.LongAt, w[0].Calls, h.LongMax); err != nil {
				return err
			}
		}
		if of&LongWaits != 0 {
			if err := p.ring(&k.longWaits, at+h.WaitsAt, w[0].Waits, h.LongMax); err != nil {
				return err
			}
		}
	}
	if k.histories == nil {
		k.histories, k.waits = map[uint64][][]format.Call{}, map[uint64][][]format.Call{}
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
func (p *Process) history(to map[uint64][][]format.Call, id, at, n, half uint64) error {
	if at == 0 {
		return nil
	}
	most, halves := p.seen.Load().HistoryMax, to[id]
	err := p.ring(&halves, at+half*most*callSize, n, most)
	to[id] = halves
	return err
}

// ring adds a ring with room for that many calls, into which n calls were put so far.
func (p *Process) ring(to *[][]format.Call, at, n, most uint64) error {
	calls, err := readAs[format.Call](p, at, min(n, most))
	*to = append(*to, calls)
	return err
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
	const seekData, atOnce = 3, 64 << 10
	var one T
	size := uint64(unsafe.Sizeof(one))
	buffer := make([]T, max(atOnce/size, 1))
	for i := uint64(0); i < n; {
		from, err := p.file.Seek(int64(at+i*size), seekData)
		if errors.Is(err, syscall.ENXIO) || err == nil && uint64(from) >= at+n*size {
			break
		}
		if err != nil {
			return fmt.Errorf("process %d: %v", p.PID, err)
		}
		i = max(i, (uint64(from)-at)/size)
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
	for i, n := range s.Log2 {
		c.Log2[i] += n
	}
}

// last returns the last calls of a history, in order, given the rings that it is in. order returns
// the two numbers by which they are ordered.
func last(rings [][]format.Call, most int, order func(c *format.Call) (by, then uint64)) []Call {
	type entry struct { // beside each other, unlike the calls
		by, then uint64
		call     *format.Call
	}
	n := 0
	for _, ring := range rings {
		n += len(ring)
	}
	sorted := make([]entry, 0, n)
	for _, ring := range rings {
		for i := range ring {
			if c := &ring[i]; c.Number != 0 {
				by, then := order(c)
				sorted = append(sorted, entry{by, then, c})
			}
		}
	}
	slices.SortFunc(sorted, func(a, b entry) int { return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.then, b.then)) })
	sorted = sorted[max(0, len(sorted)-most):]
	list := make([]Call, len(sorted))
	for i, e := range sorted {
		list[i] = callOf(e.call)
	}
	return list
}
