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
	forest *forest
	good   []*side
	a, b   *side        // the good one that b, the bad one, is most like
	found  []divergence // one of each goroutine, the first one first
	noise  int          // places at which the good ones differ
	same   int          // goroutines of b that do the same
	differ int
	only   [2]int // goroutines that have no other one
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
	differences := d.differences()
	d.count(differences)
	d.found = d.first(differences)
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
// among themselves, or only in what comes to nothing.
func (d *Comparison) Same() bool {
	return !slices.ContainsFunc(d.found, func(x divergence) bool { return x.excuse() == "" })
}

// A place at which recordings may differ is noise if good ones do there.
type noise struct{ sites, near map[uint64]bool }

// noise returns the places at which good runs differ.
func (d *Comparison) goodDifferences() noise {
	n := noise{map[uint64]bool{}, map[uint64]bool{}}
	for i := range d.good {
		next := (i + 1) % len(d.good)
		if i == next || i > next && len(d.good) == 2 {
			break
		}
		for _, x := range compare(d.good[i], d.good[next], false) {
			n.sites[x.site] = true
			n.near[x.near] = true
		}
	}
	return n
}

// differences returns those from the good recording that is most like the bad one, without those at
// places at which good runs differ, or at which the bad one is like another good one.
func (d *Comparison) differences() (least []divergence) {
	usual := d.goodDifferences()
	d.noise = len(usual.sites)
	var sites map[uint64]bool
	for _, good := range d.good {
		here := map[uint64]bool{}
		var list []divergence
		for _, x := range compare(good, d.b, d.b.passed) {
			if !usual.sites[x.site] {
				here[x.site] = true
				list = append(list, divergence{difference: x, usual: usual.near[x.near]})
			}
		}
		if sites == nil {
			sites = here
		} else {
			maps.DeleteFunc(sites, func(site uint64, _ bool) bool { return !here[site] })
		}
		if d.a == nil || len(list) < len(least) {
			d.a, least = good, list
		}
	}
	return slices.DeleteFunc(least, func(x divergence) bool { return !sites[x.site] })
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
func (d *Comparison) first(all []divergence) (list []divergence) {
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
