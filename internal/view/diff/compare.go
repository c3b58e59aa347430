package diff

import (
	"cmp"
	"slices"
)

// A difference is a place at which two recordings differ.
type difference struct {
	kind     kind
	function uint32 // whose values differ, or which was called or not
	value    int    // which of them
	site     uint64 // hash of the calls around it, the kind, the function and the value
	near     uint64 // the same without the calls around it
	slight   bool   // it comes to nothing, see slight.go
	at       [2]place
}

// A place is an event in a recording, or where one would be.
type place struct {
	g     *goroutine // nil: there is no such goroutine
	event int        // index among the goroutine's
	entry int        // that of the beginning of the call whose values differ; -1: none do
}

// A kind says what differs.
type kind uint8

const (
	parameter kind = iota
	result
	ends      // how a call ends, or whether
	onlyGood  // a call was not made
	onlyBad   // a call was made
	reordered // calls were made in another order
	onlyGoodG // a goroutine
	onlyBadG
	further // something differs in calls that were not kept
)

// A node is a call, and where it began.
type node struct {
	*call
	g  *goroutine
	at int
}

// begins returns the place of a call's beginning.
func (n node) begins() place { return place{n.g, n.at, n.at} }

// asked returns a hash of the function and the parameters.
func (n node) asked() uint64 {
	h := uint64(n.function)
	for _, v := range n.entry {
		h = hashPair(h, v)
	}
	return h
}

// answered returns a hash of the function and the parameters, how the call ended, and the results.
func (n node) answered() uint64 {
	h := hashPair(n.asked(), uint64(n.ends))
	for _, v := range n.exit {
		h = hashPair(h, v)
	}
	return h
}

// within returns the calls that a call made.
func (n node) within() []node {
	list := make([]node, len(n.calls))
	at := n.at
	if n.g.root != n.call {
		at++
	}
	for i, c := range n.calls {
		list[i] = node{c, n.g, at}
		at += c.events
	}
	return list
}

// A comparer finds the places at which two recordings differ.
type comparer struct {
	forest *forest
	passed bool // the tests of both passed: some differences are slight
	found  []difference
	tries  int // ways to put calls together that were tried after another one
}

// best compares in the way that finds the fewest differences: what is put together wrongly differs
// in more.
func (c *comparer) best(ways ...func()) {
	before := len(c.found)
	var least []difference
	for i, way := range ways {
		if i > 0 {
			if len(least) == 0 || c.tries >= triesMax {
				break
			}
			c.tries++
		}
		c.found = c.found[:before]
		way()
		found := c.found[before:]
		if i == 0 || cmp.Or(cmp.Compare(heavy(found), heavy(least)), cmp.Compare(len(found), len(least))) < 0 {
			least = slices.Clone(found)
		}
	}
	c.found = append(c.found[:before], least...)
}

// triesMax limits the time that is spent on calls within calls that can be put together in several
// ways.
const triesMax = 1 << 12

// foundMax is how many differences are of interest: after so many, no one looks at more.
const foundMax = 1 << 18

// add adds a difference. Of what is only in the bad recording, a is the place in that.
func (c *comparer) add(k kind, function uint32, value int, path uint64, a, b place) {
	if len(c.found) >= foundMax {
		return
	}
	what := k
	if k == onlyBad || k == onlyBadG { // what is only in some runs is one place
		what--
		a, b = b, a
	}
	near := hashPair(hashPair(uint64(what), uint64(function)), uint64(value))
	c.found = append(c.found, difference{k, function, value, hashPair(path, near), near, false, [2]place{a, b}})
}

// goroutines compares those that goroutines which correspond to each other started: by what started
// them and what they called first, in the order in which they were started.
func (c *comparer) goroutines(a, b map[*goroutine][]*goroutine, as, bs []*goroutine, path uint64) {
	type origin struct {
		creator string
		first   uint32
	}
	type group struct{ a, b []*goroutine }
	groups := map[origin]*group{}
	var order []origin
	collect := func(started map[*goroutine][]*goroutine, by []*goroutine, list func(*group) *[]*goroutine) {
		for _, p := range by {
			for _, g := range started[p] {
				k := origin{creator: g.creator}
				if len(g.root.calls) > 0 {
					k.first = g.root.calls[0].function + 1
				}
				if groups[k] == nil {
					groups[k] = &group{}
					order = append(order, k)
				}
				l := list(groups[k])
				*l = append(*l, g)
			}
		}
	}
	collect(a, as, func(g *group) *[]*goroutine { return &g.a })
	collect(b, bs, func(g *group) *[]*goroutine { return &g.b })
	for _, k := range order {
		g := groups[k]
		path := hashPair(hashPair(path, hashText([]byte(k.creator))), uint64(k.first))
		restA, restB := unequal(g.a, g.b)
		switch {
		case len(restA) == 1 && len(restB) == 1:
			c.calls(outermost(restA[0]), outermost(restB[0]), path)
		case len(restA) > 0 && len(restB) > 0:
			c.several(outermosts(restA), outermosts(restB), path)
		default:
			for i, rest := range [][]*goroutine{restA, restB} {
				for _, g := range rest {
					if len(g.root.calls) > 0 && !g.late { // the program may have ended before it would have run
						c.add(onlyGoodG+kind(i), g.root.calls[0].function, 0, path, place{g, 0, -1}, place{})
					}
				}
			}
		}
		c.goroutines(a, b, g.a, g.b, path)
	}
}

func outermost(g *goroutine) node { return node{g.root, g, 0} }

func outermosts(list []*goroutine) (nodes []node) {
	for _, g := range list {
		nodes = append(nodes, outermost(g))
	}
	return nodes
}

// unequal returns the goroutines that have no equal one in the other list.
func unequal(a, b []*goroutine) (restA, restB []*goroutine) {
	equal := map[uint64]int{}
	for _, g := range b {
		equal[g.root.hash]++
	}
	for _, g := range a {
		if equal[g.root.hash] > 0 {
			equal[g.root.hash]--
		} else {
			restA = append(restA, g)
		}
	}
	for _, g := range slices.Backward(b) {
		if equal[g.root.hash] > 0 {
			equal[g.root.hash]--
			restB = append(restB, g)
		}
	}
	slices.Reverse(restB)
	return restA, restB
}

// calls compares two calls of a function, or the outermost calls of two goroutines.
func (c *comparer) calls(a, b node, path uint64) {
	if a.hash == b.hash {
		return
	}
	before := len(c.found)
	path = hashPair(path, uint64(a.function))
	c.values(parameter, a.entry, b.entry, a.function, path, a.begins(), b.begins())
	within := [2][]node{a.within(), b.within()}
	if a.ends == unended || b.ends == unended {
		within[0], within[1] = asFar(a, b, within[0], within[1])
	}
	c.lists(within[0], within[1], path, a, b, false)
	c.endings(a, b, path)
	if a.rest != b.rest && len(c.found) == before {
		c.add(further, a.function, 0, path, after(a), after(b))
	}
	c.asking(before, a, b)
}

// asFar leaves out what a call made after another one was interrupted by the recording's end: that
// it goes no further says nothing.
func asFar(a, b node, as, bs []node) (_, _ []node) {
	if a.ends == unended && !a.g.main() {
		bs = bs[:min(len(bs), len(as))]
	}
	if b.ends == unended && a.g.interrupted() {
		as = as[:min(len(bs), len(as))]
	}
	return as, bs
}

// main reports whether the goroutine is one that no one started: it ends the program, which does
// not interrupt it.
func (g *goroutine) main() bool { return g.parent == 0 }

// interrupted reports whether the recording ended while the goroutine had calls under way.
func (g *goroutine) interrupted() bool {
	n := len(g.root.calls)
	return n > 0 && g.root.calls[n-1].ends == unended && !g.main()
}

// after returns the place of a call's end.
func after(n node) place {
	at := n.at + n.events - 1
	if n.ends == unended || n.g.root == n.call {
		at++
	}
	return place{n.g, max(at, 0), n.at}
}

// endings compares how two calls ended. That a good one did not end says nothing, nor does it that
// one does not end on a goroutine that the end of the good run interrupted too.
func (c *comparer) endings(a, b node, path uint64) {
	if a.ends == unended || a.g.root == a.call || b.ends == unended && a.g.interrupted() {
		return
	}
	if a.ends != b.ends {
		c.add(ends, a.function, 0, path, after(a), after(b))
		return
	}
	c.values(result, a.exit, b.exit, a.function, path, after(a), after(b))
}

// values compares parameters or results.
func (c *comparer) values(k kind, a, b []uint64, function uint32, path uint64, at, bt place) {
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		before := len(c.found)
		c.add(k, function, i, path, at, bt)
		if i < len(a) && i < len(b) && c.forest.sameElements(a[i], b[i]) {
			c.slight(before)
		}
	}
}

// several compares calls of a function whose order says nothing, such as those of the workers of a
// pool, or subtests in the order of a map. Either each does what one in the other recording does,
// or what one of them did may have been done by another one.
func (c *comparer) several(as, bs []node, path uint64) {
	if len(as) == 1 && len(bs) == 1 {
		c.calls(as[0], bs[0], path)
		return
	}
	if len(as) != len(bs) {
		c.together(as, bs, path)
		return
	}
	c.best(func() { c.together(as, bs, path) }, func() { c.alike(as, bs, path) })
}

// together compares all that several calls did.
func (c *comparer) together(as, bs []node, path uint64) {
	inner := hashPair(path, uint64(as[0].function))
	var within [2][]node
	for i, list := range [][]node{as, bs} {
		for _, n := range list {
			within[i] = append(within[i], n.within()...)
		}
	}
	pairs(as, bs, func(a, b node) {
		before := len(c.found)
		c.values(parameter, a.entry, b.entry, a.function, inner, a.begins(), b.begins())
		c.asking(before, a, b)
	}, node.asked)
	before := len(c.found)
	c.lists(within[0], within[1], inner, as[0], bs[0], true)
	if c.asks(as...) && c.asks(bs...) {
		c.slight(before)
	}
	pairs(as, bs, func(a, b node) {
		before := len(c.found)
		c.endings(a, b, inner)
		c.asking(before, a, b)
	}, node.answered, node.asked)
}

// pairs calls do for pairs of two lists: of those with the same first key, of the others with the
// same second one, and so on, and then of the others in order.
func pairs(as, bs []node, do func(a, b node), keys ...func(node) uint64) {
	for _, key := range append(keys, func(node) uint64 { return 0 }) {
		waiting := map[uint64][]int{}
		for j, b := range bs {
			k := key(b)
			waiting[k] = append(waiting[k], j)
		}
		matched := make([]bool, len(bs))
		var restA, restB []node
		for _, a := range as {
			k := key(a)
			if list := waiting[k]; len(list) > 0 {
				waiting[k], matched[list[0]] = list[1:], true
				do(a, bs[list[0]])
			} else {
				restA = append(restA, a)
			}
		}
		for j, b := range bs {
			if !matched[j] {
				restB = append(restB, b)
			}
		}
		as, bs = restA, restB
	}
}

// alike compares each of several calls with one that begins with the same calls, the longer the
// better.
func (c *comparer) alike(as, bs []node, path uint64) {
	begins := func(most int) func(node) uint64 {
		return func(n node) uint64 { return beginning(n.call, most) }
	}
	pairs(as, bs, func(a, b node) { c.calls(a, b, path) }, begins(256), begins(32), begins(8), node.asked)
}

// beginning returns the hash of a call, its parameters and those of the first calls within, at most
// so many.
func beginning(of *call, most int) uint64 {
	h := uint64(0)
	var visit func(*call)
	visit = func(of *call) {
		if most == 0 {
			return
		}
		most--
		h = hashPair(h, node{call: of}.asked())
		for _, inner := range of.calls {
			visit(inner)
		}
		h++
	}
	visit(of)
	return h
}

// lists compares the calls that two calls made. Those that are the same are put together first,
// whatever their order: it may be that of a map. Then those of the same function, first with the
// same parameters, in their order.
func (c *comparer) lists(as, bs []node, path uint64, a, b node, unordered bool) {
	from := 0
	for from < len(as) && from < len(bs) && as[from].hash == bs[from].hash {
		from++
	}
	toA, toB := len(as), len(bs)
	for toA > from && toB > from && as[toA-1].hash == bs[toB-1].hash {
		toA--
		toB--
	}
	if from == toA && from == toB {
		return
	}
	before := len(c.found)
	matchA, matchB := make([]int, toA), make([]int, toB) // 1 + index in the other list
	pair := func(key func(node) uint64, do func(a, b node)) {
		waiting := map[uint64][]int{}
		for i := from; i < toA; i++ {
			if matchA[i] == 0 {
				waiting[key(as[i])] = append(waiting[key(as[i])], i)
			}
		}
		for j := from; j < toB; j++ {
			if list := waiting[key(bs[j])]; matchB[j] == 0 && len(list) > 0 {
				waiting[key(bs[j])] = list[1:]
				matchB[j], matchA[list[0]] = list[0]+1, j+1
				do(as[list[0]], bs[j])
			}
		}
	}
	pair(func(n node) uint64 { return n.hash }, func(node, node) {})
	sorting := c.sorts(as, bs, matchA, matchB, from)
	if unordered {
		c.pool(as[from:toA], bs[from:toB], matchA[from:], matchB[from:], path)
		return
	}
	asked := map[uint32]*[2][]node{}
	var order []uint32
	pair(node.asked, func(a, b node) {
		p := asked[a.function]
		if p == nil {
			p = &[2][]node{}
			asked[a.function] = p
			order = append(order, a.function)
		}
		p[0], p[1] = append(p[0], a), append(p[1], b)
	})
	for _, f := range order {
		c.asked(asked[f][0], asked[f][1], path)
	}
	pair(func(n node) uint64 { return uint64(n.function) }, func(a, b node) { c.calls(a, b, path) })

	// What is left was made by one of them alone. Its place in the other is after the call before.
	c.alone(onlyGood, as[:toA], bs, from, matchA, b, path)
	c.alone(onlyBad, bs[:toB], as, from, matchB, a, path)
	if heavy(c.found[before:]) > 0 {
		return
	}
	turnsA, turnsB := turns(as, bs, matchA, matchB, from, sorting)
	turnsA, turnsB = c.withoutAsking(turnsA), c.withoutAsking(turnsB)
	for i := range min(len(turnsA), len(turnsB)) {
		a, b := turnsA[i], turnsB[i]
		if a.function != b.function {
			if !sameRounds(turnsA, turnsB, max(0, len(turnsA)-(len(as)-toA))) {
				c.add(reordered, b.function, 0, path, a.begins(), b.begins())
			}
			return
		}
	}
}

// asked compares calls of a function, each with the one that has the same parameters. If they come
// in another order, as rounds of a loop over a map do, what the first one found to do may have been
// done by another one.
func (c *comparer) asked(as, bs []node, path uint64) {
	each := func() {
		for i := range as {
			c.calls(as[i], bs[i], path)
		}
	}
	if slices.IsSortedFunc(as, func(x, y node) int { return cmp.Compare(x.at, y.at) }) {
		each()
		return
	}
	c.best(each, func() { c.together(as, bs, path) })
}

// alone adds the calls that have no match in the list of those that another call made.
func (c *comparer) alone(k kind, list, other []node, from int, match []int, by node, path uint64) {
	at := by.at
	if by.g.root != by.call {
		at++
	}
	if from > 0 {
		at = other[from-1].at + other[from-1].events
	}
	for i := from; i < len(list); i++ {
		m := match[i]
		if m == explained {
			continue
		}
		if m > 0 {
			at = other[m-1].at + other[m-1].events
			continue
		}
		c.onlyIn(k, list[i], path, place{by.g, at, -1})
	}
}

// pool compares the calls that were not put together yet, of several workers.
func (c *comparer) pool(as, bs []node, matchA, matchB []int, path uint64) {
	var rest [2][]node
	for i, n := range as {
		if matchA[i] == 0 {
			rest[0] = append(rest[0], n)
		}
	}
	for j, n := range bs {
		if matchB[j] == 0 {
			rest[1] = append(rest[1], n)
		}
	}
	groups := map[uint32]*[2][]node{}
	var order []uint32
	for i, list := range rest {
		for _, n := range list {
			if groups[n.function] == nil {
				groups[n.function] = &[2][]node{}
				order = append(order, n.function)
			}
			groups[n.function][i] = append(groups[n.function][i], n)
		}
	}
	for _, f := range order {
		p := groups[f]
		n := min(len(p[0]), len(p[1]))
		if n > 0 {
			c.several(p[0][:n:n], p[1][:n:n], path)
		}
		for i := range p {
			for _, n := range p[i][n:] {
				c.onlyIn(onlyGood+kind(i), n, path, place{})
			}
		}
	}
}

// started returns the goroutines that each of a recording started, in that order. Those of which
// that is not known, or whose starter is not in the recording, are in that of nil.
func (s *side) started() map[*goroutine][]*goroutine {
	m := map[*goroutine][]*goroutine{}
	for _, g := range s.order {
		parent := s.goroutines[g.parent]
		m[parent] = append(m[parent], g)
	}
	for _, list := range m {
		slices.SortFunc(list, func(x, y *goroutine) int {
			return cmp.Or(cmp.Compare(x.call, y.call), cmp.Compare(x.id, y.id))
		})
	}
	return m
}

// compare returns the differences of two recordings. passed is whether the tests of both passed.
func compare(a, b *side, passed bool) []difference {
	c := comparer{forest: a.forest, passed: passed}
	c.goroutines(a.started(), b.started(), []*goroutine{nil}, []*goroutine{nil}, 0)
	return c.found
}
