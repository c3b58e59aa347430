package text

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// repeats writes the tree of calls with what repeats itself folded: calls one after the other that
// call the same functions and end in the same way (results, an error, a panic), and recursion in
// which each call does the same as the one that it makes. The first is shown, with its values, and
// how many there are:
//
//	G1   + main.visit(n=1) {} = 1 x1000 // #1
//	G1   + main.fact(n=5) {} = 120 x5 deep // #1
//
// A goroutine's calls wait in memory until it is known what they are the same as, at most nodesMax
// of them.
type repeats struct {
	t *tree
}

// repeatsOf is the calls of a goroutine that are not printed yet.
type repeatsOf struct {
	open    []*node // under way, the innermost last; the first is none, and has the outermost as its children
	printed int     // calls under way between the first and the second of them whose beginnings were printed, and of which nothing else is known
	nodes   int
}

// A node is a call that ended, or is under way, or a line.
type node struct {
	function uint32
	entry    []byte // its line; nil if it was printed
	brace    int    // where the comment begins in entry
	ending   []byte // "} = 1"
	remarks  []byte
	exit     []byte // its line
	children []*node
	outcome  uint8  // how it ended
	size     int    // nodes in it
	hash     uint64 // of what it calls, and itself
	body     uint64 // of what it calls but itself
	count    int    // calls one after the other
	deep     int    // calls within each other
}

const nodesMax = 10000

var nodeSeed = maphash.MakeSeed()

func newRepeats(t *tree) *repeats {
	p := &repeats{t}
	t.w.Begin, t.w.End, t.w.Keep = p.begin, p.end, true
	t.w.Wait = func(st *Stack, e *recording.Event) {
		p.flushAll(st)
		t.wait(st, e)
	}
	more := t.more
	t.w.More = func(st *Stack, c *Frame, e *recording.Event) {
		switch e.Kind {
		case recording.GoroutineStart:
		case recording.Line, recording.Probe:
			p.flushAll(st)
			more(st, c, e)
		default:
			more(st, c, e)
		}
	}
	return p
}

func (p *repeats) of(st *Stack) *repeatsOf {
	if st.Data.View == nil {
		st.Data.View = &Goroutine{}
	}
	if st.Data.View.repeats == nil {
		st.Data.View.repeats = &repeatsOf{open: []*node{{}}}
	}
	return st.Data.View.repeats
}

func (p *repeats) begin(st *Stack, c *Frame, e *recording.Event) {
	g := p.of(st)
	line, brace := p.t.entry(st, c, e)
	g.open = append(g.open, &node{function: c.Function, entry: bytes.Clone(line), brace: brace, count: 1, deep: 1, size: 1})
	if g.nodes++; g.nodes > nodesMax {
		p.flush(st, g)
	}
}

func (p *repeats) end(st *Stack, c *Frame, e *recording.Event) {
	g, t := p.of(st), p.t
	if c == nil {
		p.flush(st, g)
		t.end(st, nil, e)
		return
	}
	if len(g.open) < 2 {
		return
	}
	n := g.open[len(g.open)-1]
	g.open = g.open[:len(g.open)-1]
	if len(g.open) == 1 && g.printed > 0 {
		g.printed--
		g.open = append(g.open, &node{count: 1, deep: 1, size: 1})
	}
	name := t.function(c.Function)
	if e != nil {
		t.now = e.Ticks
	}
	lasted := int64(t.clock.Between(c.Start, t.now))
	if c.Data.Clause.Min > lasted && n.entry != nil && len(n.children) == 0 {
		g.nodes -= n.size
		return
	}
	n.ending = t.ending(nil, st, c.Data.Clause.Detail, name.f, e)
	n.remarks = t.remarks(nil, c, lasted)
	n.exit = append(t.prefix(nil, st.Goroutine, c.Data.Shown+1), n.ending...)
	n.exit = append(append(t.comment(n.exit, name), n.remarks...), '\n')
	if n.entry == nil {
		// Its beginning was printed: what is left of it follows.
		p.printAll(st, n.children)
		t.out.Add(st.Goroutine, n.exit)
		g.nodes -= n.size
		return
	}
	g.nodes -= n.size
	n.outcome = outcome(t, e, n.ending)
	n.fold()
	parent := g.open[len(g.open)-1]
	if last := len(parent.children) - 1; last >= 0 && parent.children[last].hash == n.hash {
		parent.children[last].count++
		return
	}
	parent.children = append(parent.children, n)
	parent.size += n.size
	g.nodes += n.size
	if len(g.open) == 1 {
		// An outermost call has ended: those before are printed.
		keep := parent.children[len(parent.children)-1]
		p.printAll(st, parent.children[:len(parent.children)-1])
		g.nodes -= parent.size - keep.size
		parent.children, parent.size = append(parent.children[:0], keep), keep.size
	}
}

// fold takes in the one call of itself that does the same, and computes the hashes.
func (n *node) fold() {
	own := -1
	for i, c := range n.children {
		if c.function == n.function {
			if own >= 0 || c.count > 1 {
				own = -2
				break
			}
			own = i
		}
	}
	if own >= 0 {
		c := n.children[own]
		rest := slices.Concat(n.children[:own], n.children[own+1:])
		if body := hashNodes(rest); body == c.body && n.outcome == c.outcome {
			n.deep, n.children = c.deep+1, rest
		}
	}
	n.size = 1
	for _, c := range n.children {
		n.size += c.size
	}
	n.body = hashNodes(n.children)
	n.hash = maphash.Comparable(nodeSeed, [3]uint64{uint64(n.function)<<8 | uint64(n.outcome), n.body, uint64(n.deep)})
}

// outcome tells calls apart that ended in different ways: a panic among a thousand results must not
// be folded with these, nor an error.
func outcome(t *tree, e *recording.Event, ending []byte) uint8 {
	switch {
	case e == nil:
		return 1
	case e.Kind != recording.Exit && e.Kind != recording.ExitResults:
		return uint8(e.Kind)
	case bytes.Contains(ending, []byte(" recovered")):
		return 2
	case e.Kind == recording.ExitResults && t.printer.Fails(e, t.r.Function(e.Function)):
		return 3
	}
	return 0
}

func hashNodes(list []*node) uint64 {
	h := uint64(len(list))
	for _, c := range list {
		h = maphash.Comparable(nodeSeed, [3]uint64{h, c.hash, uint64(c.count)})
	}
	return h
}

// flush prints what waits of a goroutine, but the last call that has ended, which may be repeated.
func (p *repeats) flush(st *Stack, g *repeatsOf) {
	for i, n := range g.open {
		if n.entry != nil && i > 0 {
			p.t.out.Add(st.Goroutine, n.entry)
			n.entry = nil
		}
		keep := n.children[:0:0]
		if last := len(n.children) - 1; i == len(g.open)-1 && last >= 0 && n.children[last].size < nodesMax/2 {
			keep = []*node{n.children[last]}
			n.children = n.children[:last]
		}
		p.printAll(st, n.children)
		n.children, n.size = keep, 1
		for _, c := range keep {
			n.size += c.size
		}
	}
	if n := len(g.open); n > 2 {
		g.printed += n - 2
		g.open = append(g.open[:1], g.open[n-1])
	}
	g.nodes = 0
	for _, n := range g.open {
		g.nodes += n.size
	}
}

// flushAll prints all that waits of a goroutine: what comes next is printed at once.
func (p *repeats) flushAll(st *Stack) {
	g := p.of(st)
	p.flush(st, g)
	for _, n := range g.open {
		p.printAll(st, n.children)
		n.children, n.size = nil, 1
	}
	g.nodes = len(g.open)
}

func (p *repeats) printAll(st *Stack, list []*node) {
	for _, n := range list {
		p.print(st, n)
	}
}

// print prints a call that has ended.
func (p *repeats) print(st *Stack, n *node) {
	times := ""
	if n.deep > 1 {
		times += " x" + strconv.Itoa(n.deep) + " deep"
	}
	if n.count > 1 {
		times += " x" + strconv.Itoa(n.count)
	}
	entry := n.entry[:len(n.entry)-1]
	if len(n.children) == 0 && (times != "" || p.t.format.Fold) {
		p.t.out.Add(st.Goroutine, slices.Concat(entry[:n.brace], n.ending, []byte(times), entry[n.brace:], n.remarks, []byte("\n")))
		return
	}
	p.t.out.Add(st.Goroutine, slices.Concat(entry, []byte(times+"\n")))
	p.printAll(st, n.children)
	p.t.out.Add(st.Goroutine, n.exit)
}

// finish prints what is left.
func (p *repeats) finish() {
	for _, st := range p.t.w.Stacks.Every() {
		if st.Data.View == nil || st.Data.View.repeats == nil {
			continue
		}
		p.flushAll(st)
	}
}
