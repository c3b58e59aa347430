package diff

import (
	"cmp"
	"slices"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A spot is what a recording has at a place.
type spot struct {
	known  bool
	since  time.Duration // since the recording began
	path   []string      // calls around, the inner ones
	before []string      // lines
	next   []string
	values []recording.Value // of the call's beginning and end

	parameters int // how many of the values are
}

// locate reads the recordings once more, for what is around the divergences, and orders these by
// time.
func (d *Comparison) locate(context int) error {
	if len(d.found) == 0 {
		return nil
	}
	err := each([]int{0, 1}, func(i int) error {
		at := map[uint64][]*divergence{}
		for j := range d.found {
			if g := d.found[j].at[i].g; g != nil {
				at[g.id] = append(at[g.id], &d.found[j])
			}
		}
		return []*side{d.a, d.b}[i].locate(at, i, context)
	})
	slices.SortStableFunc(d.found, func(x, y divergence) int {
		return cmp.Or(cmp.Compare(x.dull(), y.dull()), cmp.Compare(x.spot().since, y.spot().since))
	})
	return err
}

// spot returns that of the bad recording, or, if there is none, that of the good one.
func (x *divergence) spot() *spot {
	if x.spots[1].known {
		return &x.spots[1]
	}
	return &x.spots[0]
}

// locate fills in the spots of divergences, by goroutine, of one of the recordings.
func (s *side) locate(at map[uint64][]*divergence, which, context int) error {
	from := s.from
	from.Progress = nil
	from.Only = map[uint64]bool{}
	for id := range at {
		from.Only[id] = true
	}
	clock := s.r.Converter()
	printer := s.r.Printer(recording.DefaultFormat)
	seen := map[uint64]int{}
	w := walk.New[*text.Goroutine, text.Call](from)
	text.Bare(w, func(st *text.Stack, e *recording.Event, line []byte) {
		list := at[st.Goroutine]
		if list == nil || s.skips(e.Function) {
			return
		}
		i := seen[st.Goroutine]
		seen[st.Goroutine]++
		for _, x := range list {
			p, spot := x.at[which], &x.spots[which]
			switch {
			case i < p.event-max(context, 1) && i != p.entry, i >= p.event+max(context, 1):
				continue
			case i >= p.event && len(spot.next) < context:
				spot.next = append(spot.next, string(line))
			case i < p.event && i >= p.event-context:
				spot.before = append(spot.before, string(line))
			}
			if i == p.entry || i == p.event && p.entry >= 0 {
				f := s.r.Function(e.Function)
				names := f.Results
				switch {
				case e.Enters():
					names = f.Params
				case e.Kind == recording.ExitPanic:
					names = []recording.Param{{Name: "panic", Interface: true}}
				}
				spot.values = append(spot.values, printer.Structured(e, names)...)
				if e.Enters() {
					spot.parameters = len(spot.values)
				}
			}
			if i == p.event-1 || i == p.event {
				spot.known, spot.since = true, clock.Since(e.Ticks)
				if i == p.event || spot.path == nil {
					spot.path = s.path(st)
				}
			}
		}
	})
	return run(w, func(uint64) {}, func(*recording.Event) {})
}

// pathShown is how many of the calls around an event are named, the inner ones.
const pathShown = 100

func (s *side) path(st *text.Stack) []string {
	path := []string{}
	for c := range walk.Callers(st) {
		if path = append(path, s.r.Function(c.Function).FullName()); len(path) == pathShown {
			break
		}
	}
	slices.Reverse(path)
	return path
}
