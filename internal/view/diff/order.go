package diff

import (
	"maps"
	"slices"
	"strings"
)

// explained is in a list of matches at a call that has no match in the other recording, but says
// the same as others there.
const explained = -1

// sorts finds the functions whose calls compare the elements of a list that is sorted. What comes
// from a map is sorted from another order each time, and other elements are compared with each
// other. So what counts is the order that the comparisons establish.
func (c *comparer) sorts(as, bs []node, matchA, matchB []int, from int) (sorting map[uint32]bool) {
	sorting = map[uint32]bool{}
	tried := map[uint32]bool{}
	for _, n := range slices.Concat(as[from:len(matchA)], bs[from:len(matchB)]) {
		if tried[n.function] || !n.compares() {
			continue
		}
		tried[n.function] = true
		if !sameOrder(calls(as, n.function), calls(bs, n.function)) {
			continue
		}
		sorting[n.function] = true
		if of, ok := strings.CutSuffix(c.forest.names[n.function], ".Less"); ok { // sort.Interface
			if swap := slices.Index(c.forest.names, of+".Swap"); swap >= 0 {
				sorting[uint32(swap)] = true
			}
		}
	}
	explain := func(list []node, match []int) {
		for i := from; i < len(match); i++ {
			if match[i] == 0 && sorting[list[i].function] {
				match[i] = explained
			}
		}
	}
	if len(sorting) > 0 {
		explain(as, matchA)
		explain(bs, matchB)
	}
	return sorting
}

// compares reports whether a call has the result of a comparison.
func (n node) compares() bool {
	return len(n.exit) == 1 && slices.Contains([]uint64{isTrue, isFalse, isLess, isEqual, isMore}, n.exit[0])
}

// calls returns the calls of a function.
func calls(list []node, function uint32) (of []node) {
	for _, n := range list {
		if n.function == function {
			of = append(of, n)
		}
	}
	return of
}

// sameOrder reports whether two lists of calls compare the same elements and establish the same
// order of these, each by itself. No sort can leave out to compare two elements that are neighbours
// in the end.
func sameOrder(as, bs []node) bool {
	for _, elements := range []func(node) (x, y uint64, ok bool){parameters, halves} {
		both, a, b := newOrder(), newOrder(), newOrder()
		if !a.add(as, elements) || !b.add(bs, elements) {
			continue
		}
		both.add(as, elements)
		both.add(bs, elements)
		n := len(both.numbers)
		if len(a.numbers) != n || len(b.numbers) != n || !both.consistent() {
			continue
		}
		lists := both.lists()
		if a.lists() == lists && b.lists() == lists && a.complete() && b.complete() {
			return true
		}
	}
	return false
}

// parameters returns what a call compares: its last two parameters. If it makes calls, the half of
// them is of each.
func parameters(n node) (x, y uint64, ok bool) {
	l := len(n.entry) - 2
	if l < 0 {
		return 0, 0, false
	}
	if len(n.calls) > 0 {
		if x, y, ok = halves(n); !ok {
			return 0, 0, false
		}
	}
	around := uint64(0) // such as a receiver: elements are compared by the same one
	for _, v := range n.entry[:l] {
		around = hashPair(around, v)
	}
	return hashPair(hashPair(around, n.entry[l]), x), hashPair(hashPair(around, n.entry[l+1]), y), true
}

// halves returns what a call compares by indexes: what it asks each of two elements for.
func halves(n node) (x, y uint64, ok bool) {
	half := len(n.calls) / 2
	if half == 0 || len(n.calls)%2 != 0 || n.rest != 0 {
		return 0, 0, false
	}
	for i, p := range n.calls[:half] {
		q := n.calls[half+i]
		if p.function != q.function {
			return 0, 0, false
		}
		x, y = hashPair(x, p.hash), hashPair(y, q.hash)
	}
	return x, y, true
}

// An order is of elements that were compared.
type order struct {
	numbers map[uint64]int // of elements
	steps   [][]step       // from each element to those that do not come before it
	strict  bool           // some come after others for sure
	classes []int          // of each element: what is in one is equal, what comes first has the highest
}

// A step leads to an element that comes after, or that may be equal.
type step struct {
	to    int
	after bool
}

func newOrder() *order { return &order{numbers: map[uint64]int{}} }

func (o *order) number(element uint64) int {
	n, ok := o.numbers[element]
	if !ok {
		n = len(o.numbers)
		o.numbers[element] = n
		o.steps = append(o.steps, nil)
	}
	return n
}

// Results of functions that compare.
var (
	isTrue  = hashText([]byte("true"))
	isFalse = hashText([]byte("false"))
	isLess  = hashText([]byte("-1"))
	isEqual = hashText([]byte("0"))
	isMore  = hashText([]byte("1"))
)

// add adds what calls say, and reports whether they compare elements.
func (o *order) add(calls []node, elements func(node) (x, y uint64, ok bool)) bool {
	for _, n := range calls {
		xe, ye, ok := elements(n)
		if !ok || len(n.exit) != 1 || len(o.numbers) >= elementsMax {
			return false
		}
		x, y := o.number(xe), o.number(ye)
		step := func(from, to int, after bool) {
			o.steps[from] = append(o.steps[from], step{to, after})
			o.strict = o.strict || after
		}
		switch n.exit[0] {
		case isTrue, isLess:
			step(x, y, true)
		case isFalse:
			step(y, x, false)
		case isMore:
			step(y, x, true)
		case isEqual:
			step(x, y, false)
			step(y, x, false)
		default:
			return false
		}
	}
	o.classify()
	return true
}

// elementsMax limits how deep classify goes.
const elementsMax = 1 << 16

// classify finds the elements that are equal: each does not come before the other ones. It is
// Tarjan's algorithm.
func (o *order) classify() {
	n := len(o.numbers)
	o.classes = make([]int, n)
	seen, low := make([]int, n), make([]int, n) // when an element was met, from 1; the first it leads to
	var path []int
	met, class := 0, 0
	var visit func(int)
	visit = func(x int) {
		met++
		seen[x], low[x] = met, met
		path = append(path, x)
		for _, s := range o.steps[x] {
			if seen[s.to] == 0 {
				visit(s.to)
				low[x] = min(low[x], low[s.to])
			} else if o.classes[s.to] == 0 {
				low[x] = min(low[x], seen[s.to])
			}
		}
		if low[x] != seen[x] {
			return
		}
		class++
		for {
			last := len(path) - 1
			y := path[last]
			path = path[:last]
			o.classes[y] = class
			if y == x {
				return
			}
		}
	}
	for x := range n {
		if seen[x] == 0 {
			visit(x)
		}
	}
}

// consistent reports whether nothing comes after itself. If nothing comes after something else
// either, the calls need not be those of a sort.
func (o *order) consistent() bool {
	for x, steps := range o.steps {
		for _, s := range steps {
			if s.after && o.classes[x] == o.classes[s.to] {
				return false
			}
		}
	}
	return o.strict
}

// list returns for each element a number of the list in which it was sorted.
func (o *order) list() []int {
	up := make([]int, len(o.steps))
	for x := range up {
		up[x] = x
	}
	top := func(x int) int {
		for up[x] != x {
			up[x] = up[up[x]]
			x = up[x]
		}
		return x
	}
	for x, steps := range o.steps {
		for _, s := range steps {
			up[top(s.to)] = top(x)
		}
	}
	for x := range up {
		up[x] = top(x)
	}
	return up
}

// lists returns how many lists were sorted.
func (o *order) lists() int {
	n := 0
	for x, top := range o.list() {
		if x == top {
			n++
		}
	}
	return n
}

// complete reports whether each list has one order alone: of two neighbours it is known which one
// comes first.
func (o *order) complete() bool {
	next := map[[2]int]bool{} // classes between which there is a step
	for x, steps := range o.steps {
		for _, s := range steps {
			next[[2]int{o.classes[x], o.classes[s.to]}] = true
		}
	}
	of := map[int]int{} // class to list
	for x, list := range o.list() {
		of[o.classes[x]] = list
	}
	before := map[int]int{} // list to class
	for class := range len(of) {
		class++
		list := of[class]
		if last := before[list]; last > 0 && !next[[2]int{class, last}] {
			return false
		}
		before[list] = class
	}
	return true
}

// A turn is a call in a list, as far as it has a match in the other list.
type turn struct {
	node
	id uint64 // the same as that of its match
}

// turns returns those of two lists of calls, which are the same before from and where the lists of
// matches end. What has no match is left out, and so is what sorts.
func turns(as, bs []node, matchA, matchB []int, from int, sorting map[uint32]bool) (a, b []turn) {
	of := func(list []node, match []int, id func(n node, match int) uint64) (turns []turn) {
		for i, n := range list {
			switch {
			case sorting[n.function]:
			case i < from || i >= len(match):
				turns = append(turns, turn{n, n.hash})
			case match[i] > 0:
				turns = append(turns, turn{n, id(n, match[i]-1)})
			}
		}
		return turns
	}
	id := func(a, b node) uint64 {
		if a.hash == b.hash {
			return a.hash
		}
		return hashPair(a.hash, b.hash)
	}
	return of(as, matchA, func(n node, match int) uint64 { return id(n, bs[match]) }),
		of(bs, matchB, func(n node, match int) uint64 { return id(as[match], n) })
}

// sameRounds reports whether calls are the rounds of a loop, in another order, up to one of those
// from the index to on: each begins with a call of the same function.
func sameRounds(as, bs []turn, to int) bool {
	if len(as) != len(bs) {
		return false
	}
	tried := map[uint32]bool{}
	for _, t := range as {
		if tried[t.function] {
			continue
		}
		if len(tried) == beginningsMax {
			break
		}
		tried[t.function] = true
		for end := max(to, 1); end <= min(len(as), to+beginningsMax); end++ {
			if maps.Equal(roundsOf(as[:end], t.function), roundsOf(bs[:end], t.function)) {
				return true
			}
		}
	}
	return false
}

// beginningsMax is how many functions are tried as those that begin the rounds, and how many calls
// as the first one after the loop.
const beginningsMax = 16

// roundsOf counts the rounds that begin with a function, and what is before the first one.
func roundsOf(turns []turn, function uint32) map[uint64]int {
	rounds := map[uint64]int{}
	h := uint64(0)
	for _, t := range turns {
		if t.function == function {
			rounds[h]++
			h = 1 // it is not what is before
		}
		h = hashPair(h, t.id)
	}
	rounds[h]++
	return rounds
}
