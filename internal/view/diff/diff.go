// Package diff finds where two recordings differ first.
//
// It takes the lines that package text makes of the calls of both, by goroutine, keeps hashes of
// them and a mark for every some hundred, and reads both once more where these differ. It writes
// the first divergence and which functions were not called in the same way, as text or as an object
// of JSON. cmd/ftrace calls it. It keeps no lines but those around the divergence: memory does not
// grow with the recordings.
package diff

import (
	"bufio"
	"bytes"
	"errors"
	"hash/maphash"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are how two recordings are compared.
type Options struct {
	Context int // lines in front of and behind the divergence
	Rows    int // functions in the summary; 0: all
	JSON    bool
}

// Compare finds where two recordings differ first.
func Compare(a, b walk.Source, o Options) (*Comparison, error) {
	b.Progress = nil // one is enough
	sides := [2]*side{newSide(a), newSide(b)}
	if err := both(func(i int) error { return sides[i].read() }); err != nil {
		return nil, err
	}
	d := compare(sides[0], sides[1])
	return d, d.locate(o.Context)
}

// Write writes the first divergence and the summary.
func (d *Comparison) Write(out io.Writer, o Options) error {
	b := bufio.NewWriter(out)
	if o.JSON {
		d.writeJSON(b, o.Rows)
	} else {
		d.write(b, o.Rows)
	}
	return b.Flush()
}

// Same reports whether the recordings do not differ.
func (d *Comparison) Same() bool { return d.divergence == nil && len(d.onlyA)+len(d.onlyB) == 0 }

// both calls f for 0 and 1 at once.
func both(f func(i int) error) error {
	second := make(chan error)
	go func() { second <- f(1) }()
	return errors.Join(f(0), <-second)
}

// A side is one of two recordings that are compared: for each goroutine the hashes of its events.
type side struct {
	from       walk.Source
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

func newSide(from walk.Source) *side {
	return &side{from: from, r: from.Recording, goroutines: map[uint64]*tracedGoroutine{}, calls: map[string]*tally{}}
}

// read goes through the recording.
func (s *side) read() error {
	printer := s.r.Printer(recording.DefaultFormat)
	tallies := make([]*tally, s.r.Keys()) // by key
	return s.walk(func(st *text.Stack, e *recording.Event, line []byte) {
		g := s.goroutine(st.Goroutine)
		if g.n%markEvery == 0 {
			g.marks = append(g.marks, mark{g.hash, e.Ticks})
		}
		g.n++
		g.hash = hashLine(g.hash, line)
		var t *tally
		if int(e.Function) < len(tallies) {
			t = tallies[e.Function]
		}
		if t == nil {
			t = s.tally(e.Function)
			if int(e.Function) < len(tallies) {
				tallies[e.Function] = t
			}
		}
		switch {
		case e.Enters():
			t.calls++
		case e.Kind == recording.ExitPanic:
			t.panics++
		case e.Kind == recording.ExitResults && printer.Fails(e, s.r.Function(e.Function)):
			t.errors++
		}
	}, func(e *recording.Event) {
		g := s.goroutine(e.Goroutine)
		g.parent = e.Parent
		if e.Function != 0 {
			g.creator = s.r.Function(e.Function).FullName()
		}
	})
}

// tally returns that of a function.
func (s *side) tally(key uint32) *tally {
	name := s.r.Function(key).FullName()
	t := s.calls[name]
	if t == nil {
		t = &tally{}
		s.calls[name] = t
	}
	return t
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

// hashLine returns the hash of lines and another one, in this process.
func hashLine(h uint64, line []byte) uint64 {
	return (h^maphash.Bytes(hashSeed, line))*0x9E3779B97F4A7C15 + 1
}

var hashSeed = maphash.MakeSeed()

// walk calls event with the line of each entry and exit that is shown, and started with the first
// record of each goroutine. Lines are as a trace has them but for what differs from run to run:
// goroutines, numbers of calls, addresses, and waits, which depend on who came first.
func (s *side) walk(event func(*text.Stack, *recording.Event, []byte), started func(*recording.Event)) error {
	w := walk.New[*text.Goroutine, text.Call](s.from)
	text.Bare(w, func(st *text.Stack, e *recording.Event, line []byte) { event(st, e, withoutAddresses(line)) })
	stream := w.Events()
	defer stream.Close()
	for e := stream.Next(); e != nil; e = stream.Next() {
		if e.Kind == recording.GoroutineStart {
			started(e)
		}
		if e.Kind != recording.Line && e.Kind != recording.Probe && e.Kind != recording.Wait {
			w.Event(e)
		}
	}
	return stream.Err()
}

// withoutAddresses puts 0x... in place of long hexadecimal numbers.
func withoutAddresses(line []byte) []byte {
	to, from := 0, 0
	for {
		at := bytes.Index(line[from:], []byte("0x"))
		if at < 0 {
			break
		}
		at += from
		end := at + 2
		for end < len(line) && (line[end]-'0' < 10 || line[end]-'a' < 6) {
			end++
		}
		if to += copy(line[to:], line[from:at]); end-at >= 7 {
			to += copy(line[to:], "0x...")
			from = end
		} else {
			to += copy(line[to:], line[at:at+2])
			from = at + 2
		}
	}
	return line[:to+copy(line[to:], line[from:])]
}

// A Comparison is what came of two recordings.
type Comparison struct {
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

// compare finds out which goroutines are the same: those that no call started, in their order; and
// of those that were started by the same function on goroutines that are the same, first those that
// do the same.
func compare(a, b *side) *Comparison {
	d := &Comparison{a: a, b: b}
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
func (d *Comparison) match(a, b []*tracedGoroutine) {
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
