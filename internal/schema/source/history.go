package source

import (
	"cmp"
	"slices"
)

// A history has the rows of a kind that ended last, such as calls, of all threads together and of
// each thread. A row is written once, after the one before it. The oldest are looked through before
// others are written over them: what its thread may still need is set aside then.
type history[T any] struct {
	n    int      // rows that there were
	most int      // rows of all threads
	each int      // rows of a thread
	rows []row[T] // in the order in which they ended, from next+free on, around the end
	next int      // where the next one goes when there are no more than there may be
	free int      // how many rows from there on are of no more use
	far  bool     // only those of each thread are wanted
	own  func(*T) // gives a row memory of its own, that of others is used again; nil: it has
	// joins means that it takes in those of parts. What else is added may have ended later than
	// what a part has that joins after it.
	joins bool
}

type row[T any] struct {
	by    *ofThread[T] // nil: there are no rows by thread
	nth   uint64       // it is the nth row of the thread; 0: that is not known
	end   uint64       // ticks
	block *block       // in which it ended
	of    T
}

// ofThread is what a thread has of a history.
type ofThread[T any] struct {
	n     uint64       // how many rows there were of which that is known
	aside []row[T]     // in the order in which they ended: of the last ones, those that were set aside
	next  int          // where the next one goes among these, if only those of each thread are wanted
	whole *ofThread[T] // of a part that joins the others: that of all parts
}

// size returns how many rows there are room for: some more than are wanted.
func (h *history[T]) size() int { return h.most + max(h.most/4, 16) }

// add adds a row, which the caller fills in.
func (h *history[T]) add(by *ofThread[T], b *block, end uint64) *T {
	h.n++
	var r *row[T]
	if h.far {
		r = by.room(h.each)
	} else {
		r = h.room()
	}
	r.by, r.end, r.block, r.nth = by, end, b, 0
	if by != nil && !h.joins {
		by.n++
		r.nth = by.n
	}
	return &r.of
}

// room returns where the next row goes if only those of each thread are wanted.
func (t *ofThread[T]) room(most int) *row[T] {
	if len(t.aside) < most {
		t.aside = append(t.aside, row[T]{})
		return &t.aside[len(t.aside)-1]
	}
	r := &t.aside[t.next]
	if t.next++; t.next == most {
		t.next = 0
	}
	return r
}

// room returns where the next row goes.
func (h *history[T]) room() *row[T] {
	if len(h.rows) < h.size() {
		if len(h.rows) < cap(h.rows) {
			h.rows = h.rows[:len(h.rows)+1]
		} else {
			h.rows = append(h.rows, row[T]{})
		}
		return &h.rows[len(h.rows)-1]
	}
	if h.free == 0 {
		h.setAside(len(h.rows) - h.most)
	}
	r := &h.rows[h.next]
	h.free--
	if h.next++; h.next == len(h.rows) {
		h.next = 0
	}
	return r
}

// setAside makes room where the oldest n rows are.
func (h *history[T]) setAside(n int) {
	for range n {
		if r := h.at(0); r.by != nil && (r.nth == 0 || r.by.n-r.nth < uint64(h.each)) {
			h.keep(*r)
		}
		h.free++
	}
}

// keep sets a row aside. Of each thread's there are as many as are wanted, or some more.
func (h *history[T]) keep(r row[T]) {
	if h.own != nil {
		h.own(&r.of)
	}
	list := r.by.aside
	i := len(list)
	for i > 0 && list[i-1].end > r.end {
		i--
	}
	list = slices.Insert(list, i, r)
	if len(list) >= 2*h.each {
		list = slices.Delete(list, 0, len(list)-h.each)
	}
	r.by.aside = list
}

// len returns how many rows there are, and at returns one of them; 0 is the oldest.
func (h *history[T]) len() int { return len(h.rows) - h.free }

func (h *history[T]) at(i int) *row[T] {
	if i += h.next + h.free; i >= len(h.rows) {
		i -= len(h.rows)
	}
	return &h.rows[i]
}

// last returns the rows that are wanted.
func (h *history[T]) last() (list []*row[T]) {
	for i := max(0, h.len()-h.most); i < h.len(); i++ {
		list = append(list, h.at(i))
	}
	return list
}

// byThread returns the last rows of each thread. of returns what a thread has.
func (h *history[T]) byThread(threads map[uint64]*passThread, of func(*passThread) *ofThread[T]) map[*passThread][]*row[T] {
	rows := map[*ofThread[T]][]*row[T]{}
	for i := range h.len() {
		r := h.at(i)
		rows[r.by] = append(rows[r.by], r)
	}
	lists := map[*passThread][]*row[T]{}
	for _, t := range threads {
		var list []*row[T]
		by := of(t)
		for i := range by.aside {
			list = append(list, &by.aside[i])
		}
		list = append(list, rows[by]...)
		slices.SortStableFunc(list, func(a, b *row[T]) int { return cmp.Compare(a.end, b.end) })
		lists[t] = list[max(0, len(list)-h.each):]
	}
	return lists
}

// join takes in the history of a part, in which these threads had rows. of returns what a thread
// has, nil: there are no rows by thread. number gives a row of a block its numbers. The part's
// history has no rows then.
func (h *history[T]) join(part *history[T], threads []*passThread, of func(*passThread) *ofThread[T], number func(*block, *T)) {
	if of != nil {
		for _, t := range threads {
			by := of(t)
			by.whole = of(t.whole)
			by.whole.n += by.n
			for _, r := range by.aside {
				number(r.block, &r.of)
				r.by = by.whole
				h.keep(r)
			}
		}
	}
	if part.len() == 0 {
		return
	}
	later := h.takeBack(part.at(0).end)
	for i := range part.len() {
		r := part.at(i)
		for len(later) > 0 && later[0].end < r.end {
			*h.room() = later[0]
			later = later[1:]
		}
		number(r.block, &r.of)
		if r.by != nil {
			r.nth += r.by.whole.n - r.by.n
			r.by = r.by.whole
		}
		to := h.room()
		*to, *r = *r, *to // which the part uses again
	}
	for _, r := range later {
		*h.room() = r
	}
	part.rows, part.next, part.free = part.rows[:0], 0, 0
}

// takeBack takes out the rows that ended later, and returns them.
func (h *history[T]) takeBack(end uint64) (later []row[T]) {
	n := h.len()
	for n > 0 && h.at(n-1).end > end {
		n--
	}
	for i := n; i < h.len(); i++ {
		later = append(later, *h.at(i))
		*h.at(i) = row[T]{}
	}
	if len(h.rows) < h.size() {
		h.rows = h.rows[:n]
		return later
	}
	h.free += len(later)
	if h.next -= len(later); h.next < 0 {
		h.next += len(h.rows)
	}
	return later
}
