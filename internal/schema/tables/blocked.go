package tables

import (
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// Blocked are tables of schema sys. They say who waits for what, and for whom, which no query of
// the other tables can tell.
var Blocked = []*Table{
	New("blocked", blocked, slices.Concat(blockedColumns("THREAD_ID"), []Column[blockedRow]{
		yesNo("STUCK", func(r *blockedRow) bool { return r.state.Stuck }),
		Number("WAITING_THREADS", func(r *blockedRow) int64 { return int64(r.together) }),
	})...),
	New("lock_waits", func(v *View) []blockedRow {
		return slices.DeleteFunc(blocked(v), func(r blockedRow) bool { return lockOf(v, r.state) == 0 })
	}, slices.Concat(blockedColumns("WAITING_THREAD_ID"), []Column[blockedRow]{
		Unsigned("BLOCKING_THREAD_ID", func(r *blockedRow) uint64 { return r.by }),
		Number("WAITING_THREADS", func(r *blockedRow) int64 { return int64(r.together) }),
	})...),
	New("wait_chains", waitChains, slices.Concat([]Column[blockedRow]{
		id("FIRST_THREAD_ID", func(r *blockedRow) uint64 { return r.first }),
		Number("STEP", func(r *blockedRow) int64 { return int64(r.step) }),
	}, blockedColumns("THREAD_ID"), []Column[blockedRow]{
		Unsigned("BLOCKING_THREAD_ID", func(r *blockedRow) uint64 { return r.by }),
		yesNo("CYCLE", func(r *blockedRow) bool { return r.cycle }),
	})...),
}

// blockedRow is a goroutine that waits for an object. One in a select has a row for each channel.
type blockedRow struct {
	state    *source.State
	object   uint64
	together int    // goroutines that wait for the object
	by       uint64 // the thread that holds the lock, 0: it is none, or that is not known

	// Of wait_chains:
	first uint64 // the thread with which the chain begins
	step  int    // from 1 on
	cycle bool   // by is in the chain already
}

// blocked returns goroutines that wait for others, and for what.
func blocked(v *View) (rows []blockedRow) {
	states := processlist(v)
	waiting, holders := map[uint64]int{}, v.lockedBy()
	for i := range states {
		s := &states[i]
		if !strings.HasPrefix(v.Function(s.Wait).Name, "synch/") || s.Wait == 0 {
			continue
		}
		for _, object := range s.Awaits() {
			waiting[object]++
			rows = append(rows, blockedRow{state: s, object: object, together: 1, by: holders[object]})
		}
	}
	for i := range rows {
		if rows[i].object != 0 {
			rows[i].together = waiting[rows[i].object]
		}
	}
	return rows
}

// lockedBy returns by lock a thread that holds it, one that reads only if no other does.
func (v *View) lockedBy() map[uint64]uint64 {
	by := map[uint64]uint64{}
	if v.Held == nil {
		return by
	}
	held, err := v.Held()
	if err != nil {
		v.Statement.Fail(err)
	}
	for _, h := range held {
		if h.Mode != "READ" || by[h.Object] == 0 {
			by[h.Object] = h.Thread
		}
	}
	return by
}

// waitChains returns, for each goroutine that waits for a lock whose holder is known, that
// goroutine, the holder, the one that this waits for, and so on.
func waitChains(v *View) (rows []blockedRow) {
	states, holders := processlist(v), v.lockedBy()
	byThread := map[uint64]*source.State{}
	for i := range states {
		byThread[states[i].Thread] = &states[i]
	}
	for i := range states {
		first := &states[i]
		if holders[lockOf(v, first)] == 0 {
			continue
		}
		told := map[uint64]bool{}
		for s := first; s != nil; {
			r := blockedRow{state: s, first: first.Thread, step: len(told) + 1, object: s.Object}
			told[s.Thread] = true
			r.by = holders[lockOf(v, s)]
			r.cycle = told[r.by]
			rows = append(rows, r)
			if s = byThread[r.by]; r.cycle {
				break
			}
		}
	}
	return rows
}

// lockOf returns the lock that a goroutine waits for, or 0.
func lockOf(v *View, s *source.State) uint64 {
	if kind := v.Function(s.Wait).Name; s.Wait == 0 || kind != "synch/mutex" && !strings.HasPrefix(kind, "synch/rwlock/") {
		return 0
	}
	return s.Object
}

// blockedColumns are those that all tables about blocked goroutines have.
func blockedColumns(thread string) []Column[blockedRow] {
	return []Column[blockedRow]{
		id(thread, func(r *blockedRow) uint64 { return r.state.Thread }),
		Text("NAME", NameKind, func(_ *View, r *blockedRow) string {
			return "goroutine/" + strings.TrimPrefix(entryOf(r.state.Started), "call/")
		}),
		Known("EVENT_NAME", NameKind, func(v *View, r *blockedRow) string { return v.functionOr(r.state.Wait, "") }),
		Unsigned("OBJECT_INSTANCE_BEGIN", func(r *blockedRow) uint64 { return r.object }),
		Known("OBJECT_NAME", NameKind, func(v *View, r *blockedRow) string { return v.ObjectName(r.state.Wait, r.object, true) }),
		moment("TIMER_START", func(r *blockedRow) (int64, bool) { return r.state.Since, r.state.Since >= 0 }),
		Optional("FUNCTION", NameKind, func(_ *View, r *blockedRow) (string, bool) {
			return source.InstrumentOf(r.state.Within), r.state.Within != ""
		}),
		Known("SOURCE", NameKind, func(_ *View, r *blockedRow) string { return r.state.Source }),
	}
}
