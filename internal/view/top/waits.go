package top

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A division is how the self time of a function divides, in picoseconds. The self times of calls
// under way are in it, and their waits.
type division struct {
	running, runnable int64
	waiting           map[uint32]int64 // by kind of waits
}

func (d *division) add(kind uint32, waiting, runnable int64) {
	if d.waiting == nil {
		d.waiting = map[uint32]int64{}
	}
	if waiting > 0 {
		d.waiting[kind] += waiting
	}
	d.runnable += runnable
}

func (d *division) self() int64 {
	sum := d.running + d.runnable
	for _, waiting := range d.waiting {
		sum += waiting
	}
	return sum
}

// divide returns how the self times of functions divide. That of 0 has the waits in no function
// that is seen.
func divide(snap *source.Snapshot) map[uint32]*division {
	all := map[uint32]*division{}
	of := func(function uint32) *division {
		d := all[function]
		if d == nil {
			d = new(division)
			all[function] = d
		}
		return d
	}
	kinds := map[uint32]bool{}
	for i := range snap.Waits {
		kinds[snap.Waits[i].Key] = true
	}
	for i := range snap.Global {
		if s := &snap.Global[i]; !kinds[s.Function] {
			of(s.Function).running += s.Self
		}
	}
	for _, s := range snap.ByCaller() {
		if kinds[s.Function] {
			of(s.Caller).add(s.Function, s.Self, s.Sum-s.Self)
		}
	}
	for i := range snap.Threads {
		t := &snap.Threads[i]
		for j := range t.Current {
			of(t.Current[j].Function).running += t.Current[j].Self
		}
		w, n := t.Waiting, len(t.Current)
		if w == nil || !w.Timed || w.Start > snap.Now {
			continue
		}
		caller := uint32(0)
		if n > 0 && t.Current[n-1].ID == w.Nesting {
			caller = t.Current[n-1].Function
		}
		of(caller).add(w.Function, snap.Now-w.Start, 0)
	}
	return all
}

// waitless is how many columns there are before there are waits.
const waitless = 5

// timesOf returns the columns of divisions: one for each kind of waits that there were, those with
// the most time first.
func timesOf(snap *source.Snapshot, divisions map[uint32]*division) []column {
	sums := map[uint32]int64{}
	for _, d := range divisions {
		for kind, waiting := range d.waiting {
			sums[kind] += waiting
		}
	}
	list := []column{allColumns[0],
		durationColumn("self", "SELF", (*division).self),
		durationColumn("running", "RUNNING", func(d *division) int64 { return d.running }),
		durationColumn("runnable", "RUNNABLE", func(d *division) int64 { return d.runnable })}
	for _, kind := range slices.SortedFunc(maps.Keys(sums), func(a, b uint32) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) }) {
		name := strings.TrimPrefix(snap.Function(kind).Name, "synch/")
		list = append(list, durationColumn(name, strings.ToUpper(name), func(d *division) int64 { return d.waiting[kind] }))
	}
	return append(list, allColumns[len(allColumns)-1])
}

// durationColumn is a column of a part of the self time.
func durationColumn(name, title string, of func(*division) int64) column {
	f := func(r *entry) int64 {
		if r.division == nil {
			return 0
		}
		return of(r.division)
	}
	return column{name, title, max(10, len(title)+2), func(r *entry) string {
		if f(r) == 0 {
			return "-"
		}
		return duration(f(r))
	}, func(a, b *entry) int { return cmp.Compare(f(b), f(a)) }}
}

// crowdsMax is how many crowds are shown.
const crowdsMax = 3

// crowds says what most goroutines of a running program wait for now, a line for each place where
// they do.
func crowds(snap *source.Snapshot) ([]string, error) {
	if snap.States == nil {
		return nil, nil
	}
	states, err := snap.States()
	if err != nil {
		return nil, err
	}
	type key struct {
		wait           uint32
		does           string
		within, source string
	}
	type crowd struct {
		key
		n      int
		object uint64 // that all of them wait for, 0: they wait for several
	}
	byKey := map[key]*crowd{}
	for i := range states {
		s := &states[i]
		if !s.Waits {
			continue
		}
		k := key{s.Wait, s.Does, s.Within, s.Source}
		c := byKey[k]
		if c == nil {
			c = &crowd{key: k, object: s.Object}
			byKey[k] = c
		}
		if c.n++; c.object != s.Object || len(s.Objects) > 1 {
			c.object = 0
		}
	}
	largest := slices.SortedFunc(maps.Values(byKey), func(a, b *crowd) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.within, b.within), cmp.Compare(a.source, b.source), cmp.Compare(a.wait, b.wait), cmp.Compare(a.does, b.does))
	})
	var lines []string
	for _, c := range largest[:min(len(largest), crowdsMax)] {
		what := c.does
		if c.wait != 0 {
			what = snap.Function(c.wait).Instrument()
			if c.object != 0 {
				what += "(" + objectName(snap, c.wait, c.object) + ")"
			}
		}
		if c.within != "" {
			what += fmt.Sprintf(" at %s (%s)", funcname.Short(c.within), path.Base(c.source))
		}
		verb := " wait: "
		if c.n == 1 {
			verb = " waits: "
		}
		lines = append(lines, "  "+words.Count(c.n, "goroutine")+verb+what)
	}
	return lines, nil
}

// objectName returns the name of what goroutines wait for, or else its address or descriptor.
func objectName(snap *source.Snapshot, kind uint32, object uint64) string {
	if name := snap.ObjectName(kind, object, true); name != "" {
		return name
	}
	return fmt.Sprintf("%#x", object)
}
