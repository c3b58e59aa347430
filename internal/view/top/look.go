package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// looks are the functions that are counted because they are shown, where nothing is turned on. That
// ends with the source.
type looks struct {
	budget float64 // calls a second that it may cause to be counted
	on     bool    // it looks, since nothing was turned on when top began
	begun  bool
	at     map[uint32]bool // the functions that it looks at
	left   map[uint32]bool // those that it leaves alone
	hot    map[uint32]bool // those of them that are called too often

	counts  map[uint32]uint64 // at the last snapshot
	counted time.Time
}

// soon is when top looks again at how often functions are called after it began to look at some.
const soon = 100 * time.Millisecond

type lookedAt struct{ err error }

// leave has a function left alone from now on.
func (l *looks) leave(function uint32) {
	if l.on {
		l.left[function] = true
	}
}

// lookAt has the functions that are shown counted, but for those that are called most if together
// they are called more often than the budget allows. It returns nil if nothing changes.
func (m *model) lookAt(snap *schema.Snapshot, at time.Time) tea.Cmd {
	l := &m.look
	if !l.begun {
		l.begun = true
		l.on = l.budget > 0 && m.source.Alive() && !slices.ContainsFunc(snap.Functions, func(f schema.Function) bool { return f.Enabled })
		l.at, l.left, l.hot = map[uint32]bool{}, map[uint32]bool{}, map[uint32]bool{}
	}
	if !l.on {
		return nil
	}
	l.spare(snap, at)
	changes := map[uint32]bool{}
	for i := range snap.Functions {
		f := &snap.Functions[i]
		shown := m.callers != 0 || strings.Contains(strings.ToLower(f.Instrument()), strings.ToLower(m.filter))
		if want := shown && !l.left[f.Key]; want != l.at[f.Key] {
			changes[f.Key] = want
			if l.at[f.Key] = want; !want {
				delete(l.at, f.Key)
			}
		}
	}
	if len(changes) == 0 {
		return nil
	}
	m.wants |= schema.SummaryGlobal
	wants := m.wants
	return func() tea.Msg {
		err := m.source.Look(changes)
		if err == nil {
			err = m.source.Want(wants)
		}
		return lookedAt{err}
	}
}

// spare leaves alone, of the functions that it looks at, those that are called most, until the
// others are within the budget.
func (l *looks) spare(snap *schema.Snapshot, at time.Time) {
	counts, calls := map[uint32]uint64{}, map[uint32]uint64{}
	sum, allowed := 0.0, l.budget*at.Sub(l.counted).Seconds()
	for i := range snap.Global {
		s := &snap.Global[i]
		counts[s.Function] = s.Count
		if l.at[s.Function] && s.Count > l.counts[s.Function] {
			calls[s.Function] = s.Count - l.counts[s.Function]
			sum += float64(calls[s.Function])
		}
	}
	l.counts, l.counted = counts, at
	most := make([]uint32, 0, len(calls))
	for f := range calls {
		most = append(most, f)
	}
	slices.SortFunc(most, func(a, b uint32) int { return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a, b)) })
	for _, f := range most {
		if sum <= allowed {
			break
		}
		sum -= float64(calls[f])
		l.left[f], l.hot[f] = true, true
	}
}
