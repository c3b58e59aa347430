package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// waited is how much of the self time goroutines did not run, in ticks.
type waited struct {
	runnable uint64            // they could have run, for want of a processor they did not
	by       map[string]uint64 // they waited, by kind
	sum      uint64            // of all these
}

func (w *waited) add(kind string, waiting, runnable uint64) {
	if w.by == nil {
		w.by = map[string]uint64{}
	}
	if waiting > 0 {
		w.by[kind] += waiting
	}
	w.runnable += runnable
	w.sum += waiting + runnable
}

func (w *waited) addAll(o *waited) {
	for kind, ticks := range o.by {
		w.add(kind, ticks, 0)
	}
	w.runnable += o.runnable
	w.sum += o.runnable
}

// running returns how much of the self time goroutines ran.
func (t *stat) running() uint64 { return t.self - min(t.self, t.waited.sum) }

// divide lets the summary divide self times. Waits are not functions then, and of calls that are
// under way at the end the time until their goroutine's last event counts, in which they may wait.
func (s *Summary) divide(w *walker) {
	s.waits = true
	w.Wait = func(st *stack, e *recording.Event) {
		if len(st.Calls) == 0 {
			return
		}
		c := &st.Calls[len(st.Calls)-1]
		if !c.Data.Clause.Shown {
			if c = walk.ShownCaller(st); c == nil {
				return
			}
		}
		of := e.Wait()
		begun, ready := max(of.Begin, min(c.Start, e.Ticks)), of.Ready
		if ready == 0 {
			ready = e.Ticks
		}
		ready = max(ready, begun)
		s.stats[c.Data.View.stat-1].waited.add(s.r.Function(e.Function).FullName(), ready-begun, e.Ticks-ready)
	}
}

// unfinished adds the self time of a call that is under way at the end, the innermost of its
// goroutine.
func (s *Summary) unfinished(st *stack, c *frame) {
	lasted := st.Data.Seen - min(st.Data.Seen, c.Start)
	s.stats[c.Data.View.stat-1].self += lasted - min(lasted, c.Data.Inner)
	if caller := walk.ShownCaller(st); caller != nil {
		caller.Data.Inner += lasted
	}
}

// columns returns the columns of the report: with waits how the self time divides, with one for
// each kind of waits that there were, those with the most time first.
func (s *Summary) columns() []column {
	if !s.waits {
		if slices.ContainsFunc(s.stats, func(t *stat) bool { return t.leftOut > 0 || t.more }) {
			return slices.Insert(slices.Clone(columns), 1, leftOutColumn)
		}
		return columns
	}
	ticks := func(name, title string, of func(*stat) uint64) column {
		return column{name, title, func(s *Summary, t *stat) (string, float64) {
			d := int64(s.clock.Between(0, of(t)))
			if d == 0 {
				return "-", 0
			}
			return string(recording.AppendDuration(nil, d)), float64(d)
		}}
	}
	list := []column{columns[0], ticks("self", "self", func(t *stat) uint64 { return t.self }), ticks("running", "running", (*stat).running),
		ticks("runnable", "runnable", func(t *stat) uint64 { return t.waited.runnable })}
	sums := map[string]uint64{}
	for _, t := range s.stats {
		for kind, ticks := range t.waited.by {
			sums[kind] += ticks
		}
	}
	for _, kind := range slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) }) {
		list = append(list, ticks(kind, strings.TrimPrefix(strings.TrimPrefix(kind, "wait/"), "synch/"), func(t *stat) uint64 { return t.waited.by[kind] }))
	}
	return list
}
