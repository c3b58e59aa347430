package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/recording"
)

// diffCommand is "ftrace diff [FLAGS] A B". Its exit status is that of diff(1): 1 if they differ, 2 if they can't be compared.
func diffCommand(args []string) int {
	o := newOptions("diff")
	rows := o.flags.Int("n", 20, "")
	context := o.flags.Int("context", 5, "")
	args, err := o.parse(args)
	if err == nil && len(args) != 2 {
		err = usagef("two recordings are compared")
	}
	if err != nil {
		return fail("diff", err)
	}
	var sides [2]*side
	for i, dir := range args {
		if sides[i], err = o.newSide(dir); err != nil {
			fail("diff", err)
			return 2
		}
	}
	d := compare(sides[0], sides[1])
	if err := d.locate(*context); err != nil {
		fail("diff", err)
		return 2
	}
	out := o.output()
	defer out.close()
	b := bufio.NewWriter(out)
	d.write(b, *rows)
	b.Flush()
	if d.same() {
		return 0
	}
	return 1
}

// A side is one of two recordings that are compared: for each goroutine the hashes of its events.
type side struct {
	o          *options
	r          *recording.Recording
	goroutines map[uint64]*tracedGoroutine
	order      []uint64
	calls      map[string]*tally
}

// A tracedGoroutine is a goroutine's events, as far as they need be known to find where two differ.
type tracedGoroutine struct {
	id      uint64
	parent  uint64
	creator string // function that started it
	n       int    // events
	hash    uint64 // of all
	marks   []mark // one for every markEvery events
}

type mark struct{ hash, ticks uint64 }

const markEvery = 512

// tally is what is compared of a function.
type tally struct{ calls, errors, panics uint64 }

// newSide goes through a recording.
func (o *options) newSide(dir string) (*side, error) {
	r, err := o.open([]string{dir})
	if err != nil {
		return nil, err
	}
	s := &side{o: o, r: r, goroutines: map[uint64]*tracedGoroutine{}, calls: map[string]*tally{}}
	printer := r.Printer(recording.DefaultFormat)
	err = s.walk(func(st *stack, c *frame, e *recording.Event, line []byte) {
		g := s.goroutine(st.Goroutine)
		if g.n%markEvery == 0 {
			g.marks = append(g.marks, mark{g.hash, e.Ticks})
		}
		g.n++
		g.hash = hashLine(g.hash, line)
		t := s.calls[r.Function(e.Function).FullName()]
		if t == nil {
			t = &tally{}
			s.calls[r.Function(e.Function).FullName()] = t
		}
		switch {
		case e.Enters():
			t.calls++
		case e.Kind == recording.ExitPanic:
			t.panics++
		case e.Kind == recording.ExitResults && printer.Fails(e, r.Function(e.Function)):
			t.errors++
		}
	}, func(e *recording.Event) {
		g := s.goroutine(e.Goroutine)
		g.parent = e.Parent
		if e.Function != 0 {
			g.creator = r.Function(e.Function).FullName()
		}
	})
	complain(r, nil)
	return s, err
}

func (s *side) goroutine(id uint64) *tracedGoroutine {
	g := s.goroutines[id]
	if g == nil {
		g = &tracedGoroutine{id: id}
		s.goroutines[id] = g
		s.order = append(s.order, id)
	}
	return g
}

// hashLine is FNV-1a.
func hashLine(h uint64, line []byte) uint64 {
	h ^= 14695981039346656037
	for _, c := range line {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// walk calls event with the line of each entry and exit that is shown, and started with the first record of each goroutine. Lines are as a trace has them but for
// what differs from run to run: goroutines, numbers of calls, addresses.
func (s *side) walk(event func(*stack, *frame, *recording.Event, []byte), started func(*recording.Event)) error {
	w, err := s.o.walker(s.r)
	if err != nil {
		return err
	}
	t := newText(w, format{values: recording.DefaultFormat}, nil)
	var line []byte
	w.begin = func(st *stack, c *frame, e *recording.Event) {
		name := t.function(c.Function)
		line = append(line[:0], strings.Repeat("  ", int(c.Data.shown))...)
		from := len(line)
		line = append(line, name.entry...)
		if e.Kind == recording.EntryArgs {
			line = t.printer.Append(line, from, e, name.f.Params)
		}
		line = append(line, ") {"...)
		event(st, c, e, withoutAddresses(line))
	}
	w.end = func(st *stack, c *frame, e *recording.Event) {
		if c == nil || e == nil {
			return
		}
		name := t.function(c.Function)
		line = append(line[:0], strings.Repeat("  ", int(c.Data.shown)+1)...)
		line = t.ending(line, st, c.Data.clause.Detail, name.f, e)
		line = append(line, name.exit...)
		event(st, c, e, withoutAddresses(line))
	}
	stream := s.r.Events(s.o.window(s.r))
	defer stream.Close()
	var e recording.Event
	for stream.Next(&e) {
		if e.Kind == recording.GoroutineStart {
			started(&e)
		}
		if e.Kind == recording.Recovered || e.Kind != recording.Line {
			w.event(&e)
		}
	}
	return stream.Err()
}

// withoutAddresses puts 0x... in place of long hexadecimal numbers.
func withoutAddresses(line []byte) []byte {
	to := 0
	for i := 0; i < len(line); {
		if line[i] == '0' && i+1 < len(line) && line[i+1] == 'x' {
			end := i + 2
			for end < len(line) && (line[end]-'0' < 10 || line[end]-'a' < 6) {
				end++
			}
			if end-i >= 7 {
				to += copy(line[to:], "0x...")
				i = end
				continue
			}
		}
		line[to] = line[i]
		to++
		i++
	}
	return line[:to]
}

// A comparison is what came of two recordings.
type comparison struct {
	a, b       *side
	pairs      []*pair
	onlyA      []*tracedGoroutine
	onlyB      []*tracedGoroutine
	divergence *pair // the earliest
}

// A pair is a goroutine of each that are taken to be the same.
type pair struct {
	a, b *tracedGoroutine
	at   int      // index of the first event that differs, -1: none
	tick uint64   // of a's
	path []string // calls around that event
	same []string // lines in front of it
	next [2][]string
}

// compare finds out which goroutines are the same: those that no call started, in their order; and of those that were started by the same
// function on goroutines that are the same, first those that do the same.
func compare(a, b *side) *comparison {
	d := &comparison{a: a, b: b}
	children := func(s *side) map[uint64][]*tracedGoroutine {
		m := map[uint64][]*tracedGoroutine{}
		for _, id := range s.order {
			g := s.goroutines[id]
			parent := g.parent
			if s.goroutines[parent] == nil {
				parent = 0
			}
			if g.n > 0 || parent != 0 {
				m[parent] = append(m[parent], g)
			}
		}
		return m
	}
	ofA, ofB := children(a), children(b)
	var match func(x, y uint64)
	match = func(x, y uint64) {
		from := len(d.pairs)
		d.match(ofA[x], ofB[y])
		for _, p := range d.pairs[from:len(d.pairs):len(d.pairs)] {
			match(p.a.id, p.b.id)
		}
	}
	match(0, 0)
	return d
}

// match pairs the goroutines of two lists.
func (d *comparison) match(a, b []*tracedGoroutine) {
	type deeds struct {
		creator string
		hash    uint64
		n       int
	}
	same := map[deeds][]*tracedGoroutine{}
	for _, g := range b {
		k := deeds{g.creator, g.hash, g.n}
		same[k] = append(same[k], g)
	}
	taken := map[*tracedGoroutine]bool{}
	pairWith := func(g, other *tracedGoroutine) {
		taken[other] = true
		d.pairs = append(d.pairs, &pair{a: g, b: other, at: -1})
	}
	var rest []*tracedGoroutine
	for _, g := range a {
		k := deeds{g.creator, g.hash, g.n}
		if list := same[k]; len(list) > 0 {
			pairWith(g, list[0])
			same[k] = list[1:]
		} else {
			rest = append(rest, g)
		}
	}
	left := map[string][]*tracedGoroutine{}
	for _, g := range b {
		if !taken[g] {
			left[g.creator] = append(left[g.creator], g)
		}
	}
	for _, g := range rest {
		if list := left[g.creator]; len(list) > 0 {
			pairWith(g, list[0])
			left[g.creator] = list[1:]
		} else {
			d.onlyA = append(d.onlyA, g)
		}
	}
	for _, g := range b {
		if !taken[g] {
			d.onlyB = append(d.onlyB, g)
		}
	}
}

func (d *comparison) same() bool { return d.divergence == nil && len(d.onlyA)+len(d.onlyB) == 0 }

// locate finds the event at which each pair differs first: it is in the block behind the last equal marks.
func (d *comparison) locate(context int) error {
	block := map[*pair]int{}
	var differing []*pair
	for _, p := range d.pairs {
		if p.a.hash == p.b.hash && p.a.n == p.b.n {
			continue
		}
		i := 0
		for i+1 < len(p.a.marks) && i+1 < len(p.b.marks) && p.a.marks[i+1].hash == p.b.marks[i+1].hash {
			i++
		}
		block[p] = i
		differing = append(differing, p)
	}
	// Only those that may be the earliest are looked at.
	start := func(p *pair) uint64 {
		if len(p.a.marks) == 0 {
			return 0
		}
		return p.a.marks[block[p]].ticks
	}
	slices.SortFunc(differing, func(x, y *pair) int { return cmp.Compare(start(x), start(y)) })
	differing = differing[:min(len(differing), 100)]
	a, err := d.a.lines(differing, block, func(p *pair) uint64 { return p.a.id }, context)
	if err != nil {
		return err
	}
	b, err := d.b.lines(differing, block, func(p *pair) uint64 { return p.b.id }, context)
	if err != nil {
		return err
	}
	for _, p := range differing {
		p.find(a[p], b[p], context)
		if p.at >= 0 && (d.divergence == nil || p.tick < d.divergence.tick) {
			d.divergence = p
		}
	}
	return nil
}

// blockLines is the lines of a goroutine's block of events.
type blockLines struct {
	path  [][]string // calls around, of each
	lines []string
	ticks []uint64
	first int // index in the goroutine of lines[0]
}

// lines returns the lines of a block of events, with some in front and behind, of these goroutines.
func (s *side) lines(pairs []*pair, block map[*pair]int, id func(*pair) uint64, context int) (map[*pair]*blockLines, error) {
	byID := map[uint64]*pair{}
	for _, p := range pairs {
		byID[id(p)] = p
	}
	found := map[*pair]*blockLines{}
	seen := map[uint64]int{}
	err := s.walk(func(st *stack, c *frame, e *recording.Event, line []byte) {
		p := byID[st.Goroutine]
		if p == nil {
			return
		}
		i := seen[st.Goroutine]
		seen[st.Goroutine]++
		from := max(0, block[p]*markEvery-context)
		if i < from || i > (block[p]+1)*markEvery+context {
			return
		}
		b := found[p]
		if b == nil {
			b = &blockLines{first: i}
			found[p] = b
		}
		var path []string
		for j := range st.Calls[:len(st.Calls)-1] {
			if c := &st.Calls[j]; c.Data.clause != nil {
				path = append(path, s.r.Function(c.Function).FullName())
			}
		}
		b.path = append(b.path, path)
		b.lines = append(b.lines, string(line))
		b.ticks = append(b.ticks, e.Ticks)
	}, func(*recording.Event) {})
	return found, err
}

// find finds the first line that differs.
func (p *pair) find(a, b *blockLines, context int) {
	if a == nil {
		a = &blockLines{}
	}
	if b == nil {
		b = &blockLines{}
	}
	i := 0
	for i < len(a.lines) && i < len(b.lines) && a.lines[i] == b.lines[i] {
		i++
	}
	if i == len(a.lines) && i == len(b.lines) {
		return
	}
	p.at = max(a.first, b.first) + i
	switch {
	case i < len(a.lines):
		p.tick, p.path = a.ticks[i], a.path[i]
	case i > 0:
		p.tick, p.path = a.ticks[i-1]+1, b.path[i]
	default:
		p.path = b.path[i]
	}
	p.same = a.lines[max(0, i-context):i]
	p.next[0] = a.lines[i:min(len(a.lines), i+context)]
	p.next[1] = b.lines[i:min(len(b.lines), i+context)]
}

// write writes the first divergence and the summary.
func (d *comparison) write(out io.Writer, rows int) {
	if p := d.divergence; p != nil {
		clock := d.a.r.Converter()
		fmt.Fprintf(out, "First divergence: event %d of G%d and of G%d, %s after the start of %s\n", p.at+1, p.a.id, p.b.id,
			recording.AppendDuration(nil, int64(clock.Since(p.tick))), d.a.r.Dir)
		for i, name := range p.path {
			fmt.Fprintf(out, "  %sin %s\n", strings.Repeat("  ", i), name)
		}
		if len(p.same) > 0 {
			fmt.Fprintln(out, "both:")
		}
		for _, line := range p.same {
			fmt.Fprintln(out, "  "+line)
		}
		for i, s := range []*side{d.a, d.b} {
			fmt.Fprintf(out, "%s:\n", s.r.Dir)
			for _, line := range p.next[i] {
				fmt.Fprintln(out, "-+"[i:i+1]+" "+line)
			}
			if len(p.next[i]) == 0 {
				fmt.Fprintln(out, "-+"[i:i+1]+" (no more calls)")
			}
		}
		fmt.Fprintln(out)
	}
	d.writeSummary(out, rows)
}

func (d *comparison) writeSummary(out io.Writer, rows int) {
	same := 0
	for _, p := range d.pairs {
		if p.a.hash == p.b.hash && p.a.n == p.b.n {
			same++
		}
	}
	fmt.Fprintf(out, "Goroutines: %d do the same, %d differ, %d only in %s, %d only in %s\n", same, len(d.pairs)-same,
		len(d.onlyA), d.a.r.Dir, len(d.onlyB), d.b.r.Dir)
	type change struct {
		name string
		a, b tally
	}
	var changes []change
	names := map[string]bool{}
	for _, s := range []*side{d.a, d.b} {
		for name := range s.calls {
			names[name] = true
		}
	}
	for name := range names {
		c := change{name: name}
		if t := d.a.calls[name]; t != nil {
			c.a = *t
		}
		if t := d.b.calls[name]; t != nil {
			c.b = *t
		}
		if c.a != c.b {
			changes = append(changes, c)
		}
	}
	fmt.Fprintf(out, "Functions: %d called, %d of them not in the same way\n", len(names), len(changes))
	if len(changes) == 0 {
		return
	}
	slices.SortFunc(changes, func(x, y change) int {
		return cmp.Or(-cmp.Compare(abs(x.b.panics, x.a.panics), abs(y.b.panics, y.a.panics)), -cmp.Compare(abs(x.b.errors, x.a.errors), abs(y.b.errors, y.a.errors)),
			-cmp.Compare(abs(x.b.calls, x.a.calls), abs(y.b.calls, y.a.calls)), cmp.Compare(x.name, y.name))
	})
	table := [][]string{{"calls", "", "errors", "", "panics", "", ""}}
	for _, c := range rowsOf(changes, rows) {
		row := []string{}
		for _, n := range [][2]uint64{{c.a.calls, c.b.calls}, {c.a.errors, c.b.errors}, {c.a.panics, c.b.panics}} {
			row = append(row, fmt.Sprint(n[0]), "-> "+fmt.Sprint(n[1]))
		}
		table = append(table, append(row, c.name))
	}
	writeTable(out, table)
	if left := len(changes) - len(table) + 1; left > 0 {
		fmt.Fprintf(out, "and %d more (-n 0 shows all)\n", left)
	}
}

func abs(a, b uint64) uint64 { return max(a, b) - min(a, b) }
