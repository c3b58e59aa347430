package source

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Looks are functions and kinds of events that are counted because someone looks at them, where
// nothing turned them on. That ends with the source. The zero value looks at nothing.
type Looks struct {
	Budget float64 // calls a second that it may cause to be counted

	at   map[uint32]bool // what it looks at
	left map[uint32]bool // what it leaves alone
	hot  map[uint32]bool // what of that is called too often

	counts  map[uint32]uint64 // in the last snapshot by which calls were counted
	counted int64             // when that was taken
}

// Soon is when to look again at how often functions are called after a change of what is looked at.
const Soon = 100 * time.Millisecond

// At reports whether it looks at a function.
func (l *Looks) At(function uint32) bool { return l.at[function] }

// Any reports whether it looks at anything.
func (l *Looks) Any() bool { return len(l.at) > 0 }

// TooOften reports whether a function was left alone because it is called too often.
func (l *Looks) TooOften(function uint32) bool { return l.hot[function] }

// AllTooOften returns the functions that were left alone because they are called too often.
func (l *Looks) AllTooOften() []uint32 { return slices.Sorted(maps.Keys(l.hot)) }

// Leave has a function left alone from now on.
func (l *Looks) Leave(function uint32) {
	if l.left == nil {
		l.left = map[uint32]bool{}
	}
	l.left[function] = true
}

// Choose returns how what is looked at changes, for [Source.Look], so that it is what is wanted,
// but for what is called most, if all together is called more often than the budget allows. That is
// counted between snapshots that are at least [Soon] apart.
func (l *Looks) Choose(snap *Snapshot, wanted func(*Function) bool) (changes map[uint32]bool) {
	if lasted := snap.Now - l.counted; l.counts == nil || lasted >= Picoseconds(Soon) {
		l.spare(snap, float64(lasted)/1e12)
	}
	changes = map[uint32]bool{}
	for _, list := range [][]Function{snap.Functions, snap.Waits, snap.Kinds} {
		for i := range list {
			f := &list[i]
			if want := wanted(f) && !l.left[f.Key]; want != l.at[f.Key] {
				changes[f.Key] = want
			}
		}
	}
	if l.at == nil {
		l.at = map[uint32]bool{}
	}
	for key, want := range changes {
		if l.at[key] = want; !want {
			delete(l.at, key)
		}
	}
	return changes
}

// spare leaves alone, of the functions that it looks at, those that were called most in the seconds
// before a snapshot, until the others are within the budget.
func (l *Looks) spare(snap *Snapshot, seconds float64) {
	counts, calls := map[uint32]uint64{}, map[uint32]uint64{}
	sum, allowed := 0.0, l.Budget*seconds
	for i := range snap.Global {
		s := &snap.Global[i]
		counts[s.Function] = s.Count
		if l.at[s.Function] && s.Count > l.counts[s.Function] {
			calls[s.Function] = s.Count - l.counts[s.Function]
			sum += float64(calls[s.Function])
		}
	}
	l.counts, l.counted = counts, snap.Now
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
		l.Leave(f)
		if l.hot == nil {
			l.hot = map[uint32]bool{}
		}
		l.hot[f] = true
	}
}
