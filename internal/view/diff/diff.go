// Package diff finds where a recording differs from recordings of good runs.
//
// It takes events from package walk, and makes trees of the calls of each (tree.go), without what
// differs from run to run (mask.go), puts the goroutines together that were started in the same
// way, and compares their calls (compare.go), in whatever order a map or a sort has them
// (order.go). What differs among the good runs is left out. Of each goroutine it keeps the first
// difference, reads the recordings once more around these (locate.go), and writes them, those first
// that are the most surprising and the earliest (write.go), as text or as an object of JSON.
// cmd/ftrace calls it, and ftrace-wrap's verb flake by that.
package diff

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are how recordings are compared.
type Options struct {
	Context int // lines before and after the divergence
	Rows    int // functions, and goroutines that differ; 0: all
	JSON    bool
}

// A Comparison is what came of recordings.
type Comparison struct {
	forest   *forest
	good     []*side
	a, b     *side        // the good one that b, the bad one, is most like
	found    []divergence // one of each goroutine, the first one first
	noise    int          // places at which the good ones differ
	expected int          // divergences of a good run from the other good ones, at most
	same     int          // goroutines of b that do the same
	differ   int
	only     [2]int // goroutines that have no other one
}

// A divergence is the first difference of a goroutine.
type divergence struct {
	difference
	usual bool // near it, good runs differ
	spots [2]spot
}

// Compare finds where the last of several recordings differs from all others, which are of good
// runs.
func Compare(sources []walk.Source, o Options) (*Comparison, error) {
	forest, sides, err := read(sources, nil)
	if err != nil {
		return nil, err
	}
	if without := leftOut(sides); len(without) > 0 {
		if forest, sides, err = read(sources, without); err != nil {
			return nil, err
		}
	}
	last := len(sides) - 1
	d := &Comparison{forest: forest, good: sides[:last], b: sides[last]}
	d.compare()
	return d, d.locate(o.Context)
}

// read reads recordings without the calls of some functions.
func read(sources []walk.Source, without map[string]bool) (*forest, []*side, error) {
	f := newForest()
	f.without = without
	var sides []*side
	for i, from := range sources {
		if i > 0 {
			from.Progress = nil // one is enough
		}
		sides = append(sides, newSide(from, f))
	}
	return f, sides, each(sides, (*side).read)
}

// leftOut returns the functions of which calls are not in the recordings that were read, to keep
// within a budget: which ones these are differs from run to run.
func leftOut(sides []*side) map[string]bool {
	names := map[string]bool{}
	for _, s := range sides {
		for _, l := range s.r.LeftOut(0) {
			names[s.r.Function(l.Function).FullName()] = true
		}
	}
	return names
}

// each calls f for each of a list, two at a time, and returns the first error.
func each[T any](list []T, f func(T) error) (err error) {
	var all sync.WaitGroup
	var mu sync.Mutex
	slots := make(chan bool, 2)
	for _, v := range list {
		slots <- true
		all.Go(func() {
			failed := f(v)
			mu.Lock()
			err = cmp.Or(err, failed)
			mu.Unlock()
			<-slots
		})
	}
	all.Wait()
	return err
}

// Same reports whether the last recording does not differ, or only near where the good ones differ
// among themselves, or only in what comes to nothing, or no more than by chance.
func (d *Comparison) Same() bool { return odd(d.found) <= chance*d.expected }

// chance is how many times as many goroutines of a run may differ as of the good run that differs
// most from the others. Which one differs most is chance: of six equal runs it is the bad one in
// one of six comparisons.
const chance = 2

// odd returns how many divergences may matter.
func odd(list []divergence) (n int) {
	for i := range list {
		if list[i].excuse() == "" {
			n++
		}
	}
	return n
}

// between has the differences of each two recordings, of which the first one is the earlier one.
type between map[[2]*side][]difference

// compareAll compares each two recordings.
func (d *Comparison) compareAll() between {
	all := append(slices.Clone(d.good), d.b)
	var pairs [][2]*side
	for j, b := range all {
		for _, a := range all[:j] {
			pairs = append(pairs, [2]*side{a, b})
		}
	}
	list := between{}
	var mu sync.Mutex
	each(pairs, func(p [2]*side) error {
		found := compare(p[0], p[1], d.b.passed)
		mu.Lock()
		defer mu.Unlock()
		list[p] = found
		return nil
	})
	return list
}

// of returns the differences of two recordings, whichever is the earlier one.
func (b between) of(x, y *side) []difference {
	return append(slices.Clip(b[[2]*side{x, y}]), b[[2]*side{y, x}]...)
}

// from returns the differences of a recording from the good one that is most like it, without those
// at places at which good ones differ, or at which it is like another good one. It returns that
// good one too, and at how many places good ones differ.
func (b between) from(good []*side, bad *side) (like *side, least []divergence, noise int) {
	sites, near := map[uint64]bool{}, map[uint64]bool{} // where good ones differ
	for j := range good {
		for i := range j {
			for _, x := range b.of(good[i], good[j]) {
				sites[x.site], near[x.near] = true, true
			}
		}
	}
	var always map[uint64]bool // where it differs from all of them
	for _, g := range good {
		here := map[uint64]bool{}
		var list []divergence
		for _, x := range b.of(g, bad) {
			if !sites[x.site] {
				here[x.site] = true
				list = append(list, divergence{difference: x, usual: near[x.near]})
			}
		}
		if always == nil {
			always = here
		} else {
			maps.DeleteFunc(always, func(site uint64, _ bool) bool { return !here[site] })
		}
		if like == nil || len(list) < len(least) {
			like, least = g, list
		}
	}
	return like, slices.DeleteFunc(least, func(x divergence) bool { return !always[x.site] }), len(sites)
}

// compare finds the divergences. If the tests of the last recording passed, it also counts how many
// there are of a good one from the other good ones, if those can tell what is usual.
func (d *Comparison) compare() {
	all := d.compareAll()
	var differences []divergence
	d.a, differences, d.noise = all.from(d.good, d.b)
	d.count(differences)
	d.found = first(differences)
	if !d.b.passed || len(d.good) < 3 || odd(d.found) == 0 {
		return
	}
	for i, g := range d.good {
		_, differences, _ := all.from(slices.Delete(slices.Clone(d.good), i, i+1), g)
		d.expected = max(d.expected, odd(first(differences)))
	}
}

// goroutine returns that of the bad recording, or, if there is none, that of the good one.
func (x *difference) goroutine() *goroutine {
	if g := x.at[1].g; g != nil {
		return g
	}
	return x.at[0].g
}

// event returns where the difference is among the events of its goroutine.
func (x *difference) event() int {
	if x.at[1].g != nil {
		return x.at[1].event
	}
	return x.at[0].event
}

// dull says which divergences come after others, those with more: only the order of calls differs;
// good runs differ near it, or it comes to nothing.
func (x *divergence) dull() int {
	switch {
	case x.usual || x.slight:
		return 2
	case x.kind == reordered:
		return 1
	}
	return 0
}

// first returns the first of each goroutine, with those that are dull after others.
func first(all []divergence) (list []divergence) {
	first := map[*goroutine]int{}
	for _, x := range all {
		g := x.goroutine()
		i, ok := first[g]
		if !ok {
			first[g] = len(list)
			list = append(list, x)
		} else if y := &list[i]; cmp.Or(cmp.Compare(x.dull(), y.dull()), cmp.Compare(x.event(), y.event())) < 0 {
			*y = x
		}
	}
	slices.SortStableFunc(list, func(x, y divergence) int {
		return cmp.Or(cmp.Compare(x.dull(), y.dull()), cmp.Compare(x.event(), y.event()))
	})
	return list[:min(len(list), locatedMax)]
}

// locatedMax is how many differences are looked at, of a goroutine each.
const locatedMax = 1000

// count counts the goroutines.
func (d *Comparison) count(differences []divergence) {
	differs := map[*goroutine]bool{}
	for _, x := range differences {
		switch x.kind {
		case onlyGoodG, onlyBadG:
			d.only[x.kind-onlyGoodG]++
			differs[x.goroutine()] = true
		default:
			if g := x.at[1].g; g != nil && !differs[g] {
				differs[g] = true
				d.differ++
			}
		}
	}
	for _, g := range d.b.order {
		if !differs[g] {
			d.same++
		}
	}
}
