package source

import (
	"maps"
	"slices"
)

// tally is a Summary in ticks.
type tally struct {
	count, sum, least, most, self, errors, panics, bytes uint64
}

// counted is what a tally has of a call or wait.
type counted struct {
	lasted, self  uint64
	fails, panics bool
	bytes         uint64
}

func (t *tally) add(c *counted) {
	if t.count == 0 || c.lasted < t.least {
		t.least = c.lasted
	}
	t.count++
	t.sum += c.lasted
	t.self += c.self
	t.most = max(t.most, c.lasted)
	if c.bytes != 0 {
		t.bytes += c.bytes
	}
	if c.fails {
		t.errors++
	}
	if c.panics {
		t.panics++
	}
}

// merge adds what o has.
func (t *tally) merge(o *tally) {
	if t.count == 0 || o.least < t.least {
		t.least = o.least
	}
	t.count += o.count
	t.sum += o.sum
	t.self += o.self
	t.most = max(t.most, o.most)
	t.bytes += o.bytes
	t.errors += o.errors
	t.panics += o.panics
}

// sums are tallies by key, in the order in which the keys came.
type sums[K comparable] struct {
	place   map[K]int
	keys    []K
	tallies []*tally
}

// of returns the tally of a key, or nil if there is none, and as many as there may be.
func (s *sums[K]) of(key K, most int) *tally {
	if i, ok := s.place[key]; ok {
		return s.tallies[i]
	}
	if len(s.keys) >= most {
		return nil
	}
	if s.place == nil {
		s.place = map[K]int{}
	}
	t := new(tally)
	s.place[key] = len(s.keys)
	s.keys, s.tallies = append(s.keys, key), append(s.tallies, t)
	return t
}

// has reports whether there is a tally of a key.
func (s *sums[K]) has(key K) bool {
	_, ok := s.place[key]
	return ok
}

// sorted returns the places of the keys in their order.
func (s *sums[K]) sorted(compare func(a, b K) int) []int {
	places := slices.Collect(maps.Values(s.place))
	slices.SortFunc(places, func(a, b int) int { return compare(s.keys[a], s.keys[b]) })
	return places
}

// merge adds the tallies of a part, which are tallies of other keys here. It returns how many calls
// and waits there was no room for.
func merge[K, L comparable](to *sums[L], part *sums[K], most int, key func(K) L) (lost int64) {
	for i, k := range part.keys {
		if t := to.of(key(k), most); t != nil {
			t.merge(part.tallies[i])
		} else {
			lost += int64(part.tallies[i].count)
		}
	}
	return lost
}
