package web

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type rowOf struct {
	lane uint64
	row  rowKind
}

// plain goes through a recording and returns all that the timeline has, by goroutine and row, and,
// if runs are wanted, by processor.
func plain(t *testing.T, r *recording.Recording, runs bool) map[rowOf][]slice {
	t.Helper()
	all := map[rowOf][]slice{}
	w := &walker{Source: walk.Source{Recording: r}}
	x := newIndex(r)
	h := hears{x: x, w: w, take: func(lane uint64, at rowKind, s slice) {
		all[rowOf{lane, at}] = append(all[rowOf{lane, at}], s)
	}}
	h.listen()
	if runs {
		h.follow(nil)
	}
	if err := h.walk(func(*recording.Event) bool { return true }); err != nil {
		t.Fatal(err)
	}
	w.EndAll()
	if runs {
		h.runs.finish(false)
	}
	return all
}

func built(r *recording.Recording) *index {
	x := newIndex(r)
	x.build(nil, func() bool { return true }, nil, nil)
	return x
}

// TestRows: the rows of many goroutines take part of the memory that slices can have.
func TestRows(t *testing.T) {
	x := newIndex(viewtest.MadeUp(t))
	const goroutines, depths, each = 60_000, 5, 6
	for g := range uint64(goroutines) {
		for i := range int64(each) {
			for depth := range rowKind(depths) {
				x.take(g, callsRow+depth, slice{begin: i * 1000, end: i*1000 + 5, calls: 1})
			}
		}
	}
	if x.rows != goroutines*depths || x.finest == 0 || x.stored > x.room() || x.room() != slicesMax/2 {
		t.Errorf("%d rows, %d slices from level %d on, with room for %d", x.rows, x.stored, x.finest, x.room())
	}
	x.rows = 10
	if x.room() != slicesMax-10*rowCost {
		t.Errorf("10 rows leave room for %d slices", x.room())
	}
}

// TestLevels: each level has each call once, also after finer ones were given up, its slices are
// where the calls are, and what is longer than its span is there as it is.
func TestLevels(t *testing.T) {
	r := viewtest.MadeUp(t)
	all := plain(t, r, true)
	for given := range 4 {
		x := built(r)
		for range given {
			x.giveUp()
		}
		if x.stored == 0 || x.deep > 0 || x.beyond > 0 || x.err != nil {
			t.Fatalf("stored %d, deep %d, beyond %d: %v", x.stored, x.deep, x.beyond, x.err)
		}
		for level := x.finest; level < levels; level++ {
			have := map[rowOf][]slice{}
			goroutines := []uint64{}
			for g := range x.lanes {
				goroutines = append(goroutines, g)
			}
			list, taken := x.at(goroutines, 0, 1<<60, level, 1<<30)
			if taken != level {
				t.Fatalf("level %d, not %d", taken, level)
			}
			for _, f := range list {
				of := rowOf{goroutines[f.lane], f.row}
				have[of] = append(have[of], f.slice)
			}
			long := 0
			for of, calls := range all {
				var n uint32
				within := func(c slice) bool {
					for _, s := range have[of] {
						if s.begin <= c.begin && c.end <= s.end && (c.end-c.begin <= span(level) || s.calls == 1 && s.key() == c.key()) {
							return true
						}
					}
					return false
				}
				for _, s := range have[of] {
					n += s.calls
					if s.calls > 1 && s.end-s.begin > span(level) {
						t.Fatalf("level %d merged %v", level, s)
					}
				}
				if int(n) != len(calls) {
					t.Fatalf("level %d of %v has %d calls, not %d", level, of, n, len(calls))
				}
				for i, c := range calls {
					if c.end-c.begin > span(level) {
						long++
					}
					if i%50 == 0 && !within(c) {
						t.Fatalf("level %d of %v does not have %v", level, of, c)
					}
				}
			}
			if level == 0 && long == 0 {
				t.Fatal("no call is longer than the first span")
			}
		}
	}
}

// TestPicture: what is read of a stretch of time is what all events have of it, call by call.
func TestPicture(t *testing.T) {
	r := viewtest.MadeUp(t)
	all := plain(t, r, true)
	x := built(r)
	for x.finest < 5 {
		x.giveUp()
	}
	var goroutines, processors []uint64
	for lane := range x.lanes {
		if lane&processorLane != 0 {
			processors = append(processors, lane)
		} else {
			goroutines = append(goroutines, lane)
		}
	}
	readers := []*recording.Recording{r}
	for range 2 {
		another, err := recording.Open(r.Dir)
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, another)
	}
	random := rand.New(rand.NewPCG(1, 2))
	compared := 0
	for i := range 120 {
		lanes := goroutines
		if i%4 == 3 {
			lanes = processors
		}
		from := random.Int64N(x.now)
		to := from + 1 + random.Int64N(x.now/100)
		compared += compare(t, x, readers[:1+i%3], all, lanes, from, to)
	}
	if compared < 1000 {
		t.Fatalf("only %d calls were compared", compared)
	}
}

// compare fails unless the picture of a stretch of time has just what all has of it. It returns how
// many slices that are.
func compare(t *testing.T, x *index, readers []*recording.Recording, all map[rowOf][]slice, lanes []uint64, from, to int64) (compared int) {
	t.Helper()
	p, err := x.picture(t.Context(), readers, drawMax, lanes, from, to, 0)
	if err != nil || !p.exact || p.span != 0 {
		t.Fatalf("exact %v, span %d: %v", p.exact, p.span, err)
	}
	have, want := map[string]int{}, map[string]int{}
	name := func(g uint64, at rowKind, s slice) string {
		if ofProcessor(g) && s.begin == s.end {
			s.what = 0 // goroutines that ran in the same ns are merged
		}
		return fmt.Sprint(g, at, s.begin, s.end, s.what&(1<<firstShift-1))
	}
	for _, f := range p.list {
		have[name(lanes[f.lane], f.row, f.slice)] += int(f.calls)
	}
	for of, list := range all {
		if !slices.Contains(lanes, of.lane) {
			continue
		}
		for _, s := range list {
			if s.end >= from && s.begin <= to {
				want[name(of.lane, of.row, s)]++
			}
		}
	}
	for s, n := range want {
		if have[s] != n {
			t.Fatalf("%s from %d to %d: %d of %s, not %d", x.r.Dir, from, to, have[s], s, n)
		}
		compared += n
	}
	for s, n := range have {
		if want[s] != n {
			t.Fatalf("%s from %d to %d: %d of %s, not %d", x.r.Dir, from, to, n, s, want[s])
		}
	}
	return compared
}
