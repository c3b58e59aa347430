package diff

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A call is a call with all that it made, as far as it is the same in another run. Calls that are
// the same are kept once, in all recordings: two calls differ if and only if their hashes do.
type call struct {
	hash     uint64
	function uint32 // index in forest.names
	ends     ending
	events   int      // of it and the calls that it made
	entry    []uint64 // hashes of the parameters
	exit     []uint64 // hashes of the results, or of the panic's value
	calls    []*call
	rest     uint64 // hash of calls that it made after those in calls
}

// An ending is how a call ended.
type ending uint8

const (
	unended  ending = iota // it was under way when the recording ended, or its exit was not seen
	returned               // also by Goexit
	panicked
)

// A forest has the calls of several recordings.
type forest struct {
	shards [64]struct {
		sync.Mutex
		calls map[uint64]*call
	}
	mu        sync.Mutex
	without   map[string]bool // functions whose calls are not compared
	names     []string        // of functions
	indexed   map[uint32]bool // functions whose last two parameters may be indexes, as those of a Less
	numbers   map[string]uint32
	unordered map[uint64]uint64 // hashes of values with lists in them, see sameElements
}

func newForest() *forest {
	f := &forest{names: []string{""}, indexed: map[uint32]bool{}, numbers: map[string]uint32{}, unordered: map[uint64]uint64{}} // 0: of no function
	for i := range f.shards {
		f.shards[i].calls = map[uint64]*call{}
	}
	return f
}

// number returns the index of a name in names.
func (f *forest) number(name string) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.numbers[name]
	if !ok {
		n = uint32(len(f.names))
		f.names = append(f.names, name)
		f.numbers[name] = n
	}
	return n
}

// index notes that the last two parameters of a function may be indexes.
func (f *forest) index(function uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.indexed[function] = true
}

// same returns the call that is the same as c.
func (f *forest) same(c call) *call {
	h := hashPair(uint64(c.function), uint64(c.ends))
	for _, list := range [][]uint64{c.entry, c.exit} {
		h = hashPair(h, uint64(len(list)))
		for _, v := range list {
			h = hashPair(h, v)
		}
	}
	for _, inner := range c.calls {
		h = hashPair(h, inner.hash)
	}
	c.hash = hashPair(h, c.rest)
	shard := &f.shards[c.hash%uint64(len(f.shards))]
	shard.Lock()
	defer shard.Unlock()
	known := shard.calls[c.hash]
	if known == nil {
		known = &c
		shard.calls[c.hash] = known
	}
	return known
}

var hashSeed = maphash.MakeSeed()

func hashText(text []byte) uint64 { return maphash.Bytes(hashSeed, text) }

// hashPair returns the hash of two numbers in this order.
func hashPair(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD1B54A32D192ED03|1)
	return bits.RotateLeft64(hi^lo, 23)*0x94D049BB133111EB + a + 31*b
}

// A side is one of the recordings that are compared.
type side struct {
	from       walk.Source
	r          *recording.Recording
	forest     *forest
	masker     *masker
	goroutines map[uint64]*goroutine
	order      []*goroutine
	calls      map[string]*tally
	without    map[uint32]bool // functions by key: forest.without, as far as they were met
	kept       int             // calls in lists
	passed     bool            // the program's last line says so
}

// keptMax is how many calls are kept of a recording, in lists of the calls that made them. Of those
// after them only hashes are kept.
const keptMax = 32 << 20

// A goroutine is the outermost calls of one.
type goroutine struct {
	id      uint64
	parent  uint64
	creator string // function that started it, "" if that is not known
	call    uint64 // which call of that
	late    bool   // that call had ended before it ran, so no one waited for it
	ended   bool
	root    *call // a call that made them: made up
	open    []openCall
}

// An openCall is a call under way, the nth of its function, whose key is here that of the
// recording.
type openCall struct {
	*call
	key uint32
	n   uint64
}

// tally is what is counted of a function.
type tally struct{ calls, errors, panics uint64 }

func newSide(from walk.Source, f *forest) *side {
	return &side{from: from, r: from.Recording, forest: f, masker: newMasker(from.Recording, f), goroutines: map[uint64]*goroutine{}, calls: map[string]*tally{}, without: map[uint32]bool{}}
}

// skips reports whether calls of a function are not compared.
func (s *side) skips(key uint32) bool {
	if len(s.forest.without) == 0 {
		return false
	}
	skips, ok := s.without[key]
	if !ok {
		skips = s.forest.without[s.r.Function(key).FullName()]
		s.without[key] = skips
	}
	return skips
}

// read makes the trees of a recording's calls.
func (s *side) read() error {
	printer := s.r.Printer(valueFormat)
	type known struct {
		number uint32
		*tally
		*recording.Function
	}
	functions := map[uint32]known{}
	function := func(key uint32) known {
		k, ok := functions[key]
		if !ok {
			k.Function = s.r.Function(key)
			name := k.FullName()
			k.number = s.forest.number(name)
			if k.tally = s.calls[name]; k.tally == nil {
				k.tally = &tally{}
				s.calls[name] = k.tally
			}
			functions[key] = k
		}
		return k
	}
	indexes := 0 // of the values last read, how many at the end may be indexes
	values := func(of *walk.Frame[struct{}], e *recording.Event, names []recording.Param) (hashes []uint64) {
		indexes = 0
		if of.Data.Clause.Detail < rule.Args {
			return nil // the rules want calls alone
		}
		printer.Each(e, names, func(_, typ string, text []byte) {
			hashes = append(hashes, s.masker.hash(typ, text))
			if indexes++; typ != "int" {
				indexes = 0
			}
		})
		return hashes
	}
	w := walk.New[struct{}, struct{}](s.from)
	w.Begin = func(st *walk.Stack[struct{}, struct{}], of *walk.Frame[struct{}], e *recording.Event) {
		if s.skips(e.Function) {
			return
		}
		f := function(e.Function)
		f.calls++
		c := &call{function: f.number, events: 1}
		if e.Kind == recording.EntryArgs {
			c.entry = values(of, e, f.Params)
			if indexes >= 2 && f.calls == 1 {
				s.forest.index(f.number)
			}
		}
		g := s.goroutine(st.Goroutine)
		g.open = append(g.open, openCall{c, e.Function, e.Call})
	}
	w.End = func(st *walk.Stack[struct{}, struct{}], of *walk.Frame[struct{}], e *recording.Event) {
		g := s.goroutine(st.Goroutine)
		if of == nil || s.skips(of.Function) {
			return // its entry was not seen: it is no call to compare
		}
		c := g.open[len(g.open)-1].call
		g.open = g.open[:len(g.open)-1]
		if e != nil {
			f := function(e.Function)
			c.events++
			c.ends = returned
			switch e.Kind {
			case recording.ExitResults:
				c.exit = values(of, e, f.Results)
				if printer.Fails(e, f.Function) {
					f.errors++
				}
			case recording.ExitPanic:
				f.panics++
				c.ends = panicked
				c.exit = values(of, e, []recording.Param{{Interface: true}})
			}
		}
		around := g.root
		if n := len(g.open); n > 0 {
			around = g.open[n-1].call
		}
		s.add(around, s.forest.same(*c))
	}
	w.More = func(st *walk.Stack[struct{}, struct{}], _ *walk.Frame[struct{}], e *recording.Event) {
		if e.Kind == recording.GoroutineStart {
			g := s.goroutine(e.Goroutine)
			g.parent, g.call = e.Parent, e.Call
			if e.Function != 0 {
				g.creator = s.r.Function(e.Function).FullName()
				g.late = !s.skips(e.Function) && !slices.ContainsFunc(s.goroutine(e.Parent).open, func(c openCall) bool { return c.key == e.Function && c.n == e.Call })
			}
		}
	}
	ends := func(id uint64) { s.goroutine(id).ended = true }
	if err := run(w, ends, func(line *recording.Event) { s.passed = passed(line) }); err != nil {
		return err
	}
	for _, g := range s.order {
		if g.ended {
			g.root.ends = returned
		}
		g.root = s.forest.same(*g.root)
	}
	return nil
}

// run lets a walker see the recording's calls and goroutines. Waits are left out, which depend on
// who came first, and so are probes. The program's lines are for wrote alone.
func run[G, C any](w *walk.Walker[G, C], ended func(goroutine uint64), wrote func(line *recording.Event)) error {
	stream := w.Events()
	defer stream.Close()
	for e := stream.Next(); e != nil; e = stream.Next() {
		switch e.Kind {
		case recording.Line:
			wrote(e)
			continue
		case recording.Probe, recording.Wait:
			continue
		case recording.GoroutineEnd:
			ended(e.Goroutine)
		}
		w.Event(e)
	}
	w.EndAll()
	return stream.Err()
}

// valueFormat is how values are compared: all that was recorded of them.
var valueFormat = recording.ValueFormat{Line: 64 << 10, String: 16 << 10, Elements: 1 << 10, Nest: 16, Messages: true}

// add adds a call to those that another made.
func (s *side) add(to, made *call) {
	to.events += made.events
	if s.kept++; s.kept > keptMax {
		to.rest = hashPair(to.rest, made.hash)
		return
	}
	to.calls = append(to.calls, made)
}

func (s *side) goroutine(id uint64) *goroutine {
	g := s.goroutines[id]
	if g == nil {
		g = &goroutine{id: id, root: &call{}}
		s.goroutines[id] = g
		s.order = append(s.order, g)
	}
	return g
}
