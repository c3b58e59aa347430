package waits

import (
	"slices"
	"sort"
)

// What a goroutine does in a stretch of the chain.
const (
	running  = "running"
	runnable = "runnable"
	waiting  = "waiting"
)

// A stretch is a part of the chain: what one goroutine did for a time, which the next stretch had
// to await.
type stretch struct {
	goroutine  uint64
	begin, end uint64
	does       string
	in         call   // in which it is, as far as that is known
	wait       *wait  // of waiting and runnable: for what
	wakes      uint64 // of running: the goroutine that it made runnable at its end, 0: none
	starts     bool   // it started that goroutine
}

// chain returns what the end of the target had to await, in the order of time. It goes back from
// there: the goroutine ran since its last wait; before that it waited for what another goroutine
// did, and so on. A wait that no goroutine ended, such as sleep, is a stretch itself.
func (ws *Waits) chain() []stretch {
	t := &ws.target
	g := ws.goroutines[t.goroutine]
	if g == nil || t.function == 0 {
		return nil
	}
	var list []stretch
	add := func(s stretch) {
		if s.begin = max(s.begin, t.begin); s.begin < s.end || s.wakes != 0 {
			list = append(list, s)
		}
	}
	left := map[*goroutine]int{} // how many waits of a goroutine may still be used: each one is once
	at, in, wakes, starts := t.end, t.call, uint64(0), false
	for at > t.begin {
		n, ok := left[g]
		if !ok {
			n = len(g.waits)
		}
		n = min(n, sort.Search(len(g.waits), func(i int) bool { return g.waits[i].end > at }))
		ran := stretch{goroutine: g.id, end: at, does: running, in: in, wakes: wakes, starts: starts}
		if n == 0 {
			parent := ws.goroutines[g.parent]
			ran.begin = min(g.first, at)
			add(ran)
			if parent == nil {
				break // what was before is not known
			}
			left[g] = -1 // its start is used once too
			at, in, wakes, starts = ran.begin, g.startedBy, g.id, true
			g = parent
			continue
		}
		if n < 0 {
			break
		}
		w := &g.waits[n-1]
		left[g] = n - 1
		ran.begin = w.end
		add(ran)
		add(stretch{goroutine: g.id, begin: w.ready, end: w.end, does: runnable, in: w.in, wait: w})
		by := ws.goroutines[w.by]
		if by == nil {
			add(stretch{goroutine: g.id, begin: w.begin, end: w.ready, does: waiting, in: w.in, wait: w})
			at, in, wakes, starts = w.begin, w.in, 0, false
			continue
		}
		at, in, wakes, starts = w.ready, w.byCall, g.id, false
		g = by
	}
	slices.Reverse(list)
	return list
}
