// Package waits tells what the goroutines of a recording waited for, and who ended that.
//
// It takes calls and waits from package walk, once through, and makes [Waits] of them: what each
// goroutine did last, the locks, channels and files that were waited for most, the chain of
// wake-ups that led to the end of a call, and how the time of goroutines and functions divides into
// running, runnable and waiting. It writes that as text or as lines of JSON. cmd/ftrace calls it.
// It keeps 96 bytes of each wait, for the chain.
package waits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are what is told, and how it is written.
type Options struct {
	Call string // the chain leads to the end of this call: FUNC or FUNC#N; "": of the longest outermost one
	Rows int    // of each table; 0: all
	JSON bool
}

type (
	walker = walk.Walker[struct{}, recording.Pointers]
	stack  = walk.Stack[struct{}, recording.Pointers]
	frame  = walk.Frame[recording.Pointers]
)

// A call names a call; the zero call is none.
type call struct {
	function uint32
	number   uint64
}

// A wait is one that has ended, or, if it is open, was under way at the end. Times are in ticks.
type wait struct {
	goroutine         uint64
	begin, ready, end uint64
	object            uint64
	by                uint64 // the goroutine that ended it, 0: none did
	byCall, in        call
	kind, site        uint32
	open              bool
}

// waited returns how long it lasted until the goroutine could go on: 0 if it could all the time,
// had there been a processor.
func (w *wait) waited() uint64 { return w.ready - w.begin }

// A goroutine is what the recording has of one.
type goroutine struct {
	id          uint64
	parent      uint64 // which started it at first, in startedBy; 0: not known
	startedBy   call
	first, last uint64 // ticks of what was recorded of it
	started     bool   // nothing that it did was recorded so far
	ended       bool
	waits       []wait
	blocked     []blocked // who holds the lock that it waits for at the end
	others      []uint64  // the channels, but for the first, of the select in which it waits then
	under       []call    // calls under way at the end, from the outermost to the innermost
	times       times
}

// blocked is who holds a lock that a goroutine waits for, and when that was recorded.
type blocked struct {
	format.Blocked
	at uint64
}

// times are how the time of a goroutine or function divides. What is in none of the others it ran.
type times struct {
	name     string
	all      uint64
	runnable uint64
	waiting  map[uint32]uint64 // by kind
}

func (t *times) add(w *wait) {
	if t.waiting == nil {
		t.waiting = map[uint32]uint64{}
	}
	if w.waited() > 0 {
		t.waiting[w.kind] += w.waited()
	}
	t.runnable += w.end - w.ready
}

// waited returns the time of all kinds together.
func (t *times) waited() (sum uint64) {
	for _, ticks := range t.waiting {
		sum += ticks
	}
	return sum
}

// running returns what is left of all.
func (t *times) running() uint64 { return t.all - min(t.all, t.waited()+t.runnable) }

// target is the call to whose end the chain leads.
type target struct {
	call
	goroutine  uint64
	begin, end uint64
	open       bool // it was under way at the end
}

// Waits is what there is to tell of a recording.
type Waits struct {
	r           *recording.Recording
	clock       recording.Converter
	goroutines  map[uint64]*goroutine
	functions   map[uint32]*times
	lastIn      map[uint32]*wait          // the last wait in a call of a function
	lastBy      map[uint32]*wait          // the last one that a call of it ended
	lastFor     map[object]*wait          // the last one of a kind for an object
	sites       map[recording.Site]uint32 // one number for each: paths to the same place have others
	named       *recording.Objects        // locks that are fields
	variables   *symbols.Table            // what is a package variable
	first, last uint64                    // ticks of all events
	any         bool                      // there are waits
	target      target
	longest     uint64                         // how long it lasted
	returned    uint64                         // ticks of when main.main did, 0: not so far
	wanted      func(st *stack, c *frame) bool // it may be the target
}

// Find goes through a recording.
func Find(from walk.Source, o Options) (*Waits, error) {
	ws := &Waits{r: from.Recording, clock: from.Recording.Converter(), goroutines: map[uint64]*goroutine{}, functions: map[uint32]*times{}, lastIn: map[uint32]*wait{}, lastBy: map[uint32]*wait{}, lastFor: map[object]*wait{}, sites: map[recording.Site]uint32{}, named: from.Recording.Objects(),
		variables: symbols.OfExecutable(from.Recording.Process.Executable, from.Recording.Process.Start)}
	if err := ws.want(o.Call); err != nil {
		return nil, err
	}
	w := walk.New[struct{}, recording.Pointers](from)
	w.Begin = func(_ *stack, c *frame, e *recording.Event) { c.Data.View = ws.named.Pointers(e) }
	w.End = ws.end
	w.More = func(*stack, *frame, *recording.Event) {}
	w.Wait = ws.wait
	s := w.Events()
	defer s.Close()
	for e := s.Next(); e != nil; e = s.Next() {
		if e.Kind != recording.Lost && (from.Only == nil || from.Only[e.Goroutine]) {
			ws.saw(e, from.Window.From)
		}
		w.Event(e)
	}
	ws.finish(w)
	if s.Err() == nil && o.Call != "" && ws.target.function == 0 {
		return nil, fmt.Errorf("%s names no call of the recording (ftrace report lists functions, and ftrace replay the numbers of calls)", o.Call)
	}
	return ws, s.Err()
}

// want notes which calls may be the target.
func (ws *Waits) want(name string) error {
	if name == "" {
		ws.wanted = func(st *stack, _ *frame) bool { return walk.ShownCaller(st) == nil }
		return nil
	}
	glob, number := name, uint64(0)
	if at := strings.LastIndexByte(name, '#'); at >= 0 {
		n, err := strconv.ParseUint(name[at+1:], 10, 64)
		if err != nil || n == 0 {
			return fmt.Errorf("%s: %q is no number of a call, such as main.handle#3", name, name[at+1:])
		}
		glob, number = name[:at], n
	}
	keys := map[uint32]bool{}
	for _, f := range ws.r.Functions() {
		if rule.MatchFunc(glob, &rule.Func{Probe: f.Probe, Wait: f.Wait, Span: f.Span, Package: f.Package, ImportPath: f.ImportPath, PackageName: f.Clause, Name: f.Name, File: f.File, Line: f.Line}) {
			keys[f.Key] = true
		}
	}
	ws.wanted = func(_ *stack, c *frame) bool { return keys[c.Function] && (number == 0 || c.Number == number) }
	return nil
}

// saw takes in that there is an event of a goroutine.
func (ws *Waits) saw(e *recording.Event, from uint64) {
	g := ws.goroutines[e.Goroutine]
	if g == nil {
		g = &goroutine{id: e.Goroutine, first: e.Ticks, started: true}
		ws.goroutines[e.Goroutine] = g
	}
	if g.started && e.Kind == recording.Wait {
		g.first = min(g.first, max(e.Wait().Begin, from)) // its start was recorded when the wait ended
	}
	g.started = g.started && (e.Kind == recording.GoroutineStart || e.Kind == recording.Blocked)
	if ws.last == 0 || g.first < ws.first {
		ws.first = g.first
	}
	g.last, ws.last = e.Ticks, e.Ticks
	switch e.Kind {
	case recording.GoroutineStart:
		g.parent, g.startedBy = e.Parent, call{e.Function, e.Call}
	case recording.GoroutineEnd:
		g.ended = true
	}
	switch {
	case e.Kind == recording.Blocked:
		if b := e.Blocked(); b.Goroutine != 0 {
			g.blocked = append(g.blocked, blocked{b, e.Ticks})
		}
	case e.Kind != recording.Wait || e.Call != 0:
		g.blocked = nil // it went on
	}
}

// wait takes in a wait.
func (ws *Waits) wait(st *stack, e *recording.Event) {
	g, of := ws.goroutines[st.Goroutine], e.Wait()
	w := wait{goroutine: g.id, end: e.Ticks, begin: max(of.Begin, g.first), object: of.Object, by: of.Goroutine, byCall: call{of.Function, of.Call}, kind: e.Function, site: ws.site(of.Site), open: e.Call == 0}
	if n := len(g.waits); n > 0 {
		w.begin = max(w.begin, g.waits[n-1].end)
	}
	w.begin = min(w.begin, w.end)
	if w.ready = min(max(of.Ready, w.begin), w.end); of.Ready == 0 {
		w.ready = w.end
	}
	ws.learn(st, &w, w.object)
	others := e.Others()
	for _, channel := range others {
		ws.learn(st, &w, channel)
		if !w.open {
			ws.lastFor[object{w.kind, channel}] = &w
		}
	}
	if w.open {
		g.others = others
	}
	if c := walk.Innermost(st); c != nil {
		w.in = call{c.Function, c.Number}
		ws.function(c.Function).add(&w)
	}
	if !w.open {
		ws.lastIn[w.in.function], ws.lastBy[w.byCall.function] = &w, &w
		ws.lastFor[object{w.kind, w.object}] = &w
	}
	ws.any = true
	g.times.add(&w)
	if last := len(g.waits) - 1; last >= 0 && g.waits[last].open && of.Begin < g.waits[last].end { // what was under way as the program ended went on meanwhile
		w.begin = g.waits[last].begin
		g.waits = g.waits[:last]
	}
	g.waits = append(g.waits, w)
}

// learn takes in what a wait tells of the name of an object that it is for.
func (ws *Waits) learn(st *stack, w *wait, object uint64) {
	ws.named.Place(w.kind, object, w.site)
	for i := len(st.Calls) - 1; i >= 0 && object != 0; i-- {
		if ws.named.Learn(object, &st.Calls[i].Data.View) {
			break
		}
	}
}

// site returns the number by which a site is known here.
func (ws *Waits) site(number uint32) uint32 {
	site := ws.r.Site(number)
	if site == nil {
		return 0
	}
	if first, ok := ws.sites[*site]; ok {
		return first
	}
	ws.sites[*site] = number
	return number
}

func (ws *Waits) function(key uint32) *times {
	t := ws.functions[key]
	if t == nil {
		t = &times{name: ws.r.Function(key).FullName()}
		ws.functions[key] = t
	}
	return t
}

// end takes in that a call ends. If its exit was not seen it lasted until the goroutine's last
// event.
func (ws *Waits) end(st *stack, c *frame, e *recording.Event) {
	if c == nil {
		return
	}
	g := ws.goroutines[st.Goroutine]
	lasted := g.last - min(g.last, c.Start)
	ws.function(c.Function).all += lasted - min(lasted, c.Data.Inner)
	if caller := walk.ShownCaller(st); e == nil && caller != nil {
		caller.Data.Inner += lasted
	}
	switch {
	case e != nil && ws.function(c.Function).name == "main.main":
		ws.returned = e.Ticks
	case e == nil && ws.returned != 0: // what is under way then outlives main.main, as the program takes time to end
		lasted = min(lasted, ws.returned-min(ws.returned, c.Start))
	}
	if ws.wanted(st, c) && (ws.target.function == 0 || lasted > ws.longest) {
		ws.longest = lasted
		ws.target = target{call{c.Function, c.Number}, st.Goroutine, c.Start, g.last, e == nil}
	}
}

// finish ends what is under way.
func (ws *Waits) finish(w *walker) {
	for _, st := range w.Stacks.Every() {
		g := ws.goroutines[st.Goroutine]
		if g == nil {
			continue
		}
		for c := range st.All() {
			if c.Data.Clause.Shown {
				g.under = append(g.under, call{c.Function, c.Number})
			}
		}
		for ; len(st.Calls) > 0; st.Pop() {
			if c := &st.Calls[len(st.Calls)-1]; c.Data.Clause.Shown {
				ws.end(st, c, nil)
			}
		}
	}
	for _, g := range ws.goroutines {
		g.times.name, g.times.all = fmt.Sprintf("G%d", g.id), g.last-g.first
	}
}

// still returns the goroutines that had not ended at the end: those that waited then, which for the
// longest time first, and those in a call of which nothing was recorded in the last hundredth of
// the time.
func (ws *Waits) still() (waiting, silent []*goroutine) {
	for _, g := range ws.goroutines {
		switch {
		case g.open() != nil:
			waiting = append(waiting, g)
		case !g.ended && ws.last-g.last > (ws.last-ws.first)/100 && len(g.under) > 0:
			silent = append(silent, g)
		}
	}
	slices.SortFunc(waiting, func(a, b *goroutine) int {
		return cmp.Or(cmp.Compare(a.open().begin, b.open().begin), cmp.Compare(a.id, b.id))
	})
	slices.SortFunc(silent, func(a, b *goroutine) int { return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.id, b.id)) })
	return waiting, silent
}

// open returns the wait that was under way at the end, or nil.
func (g *goroutine) open() *wait {
	if n := len(g.waits); n > 0 && g.waits[n-1].open {
		return &g.waits[n-1]
	}
	return nil
}

// holders returns who holds the lock that a goroutine waits for at the end, the one that has held
// it longest first. There are none if that is not known.
func (g *goroutine) holders() (list []blocked) {
	list = slices.Clone(g.blocked)
	slices.SortStableFunc(list, func(a, b blocked) int { return cmp.Compare(a.Since, b.Since) })
	return list
}

// waitsSince returns the wait in which a goroutine is at the end if it was in it then, or nil. A
// lock that it held then it holds at the end.
func (g *goroutine) waitsSince(then uint64) *wait {
	if w := g.open(); w != nil && w.begin <= then {
		return w
	}
	return nil
}

// cycles returns the goroutines each of which waits at the end for a lock that the next one holds,
// the last for one of the first.
func (ws *Waits) cycles() [][]uint64 {
	return text.Cycles(slices.Sorted(maps.Keys(ws.goroutines)), func(id uint64) (list []uint64) {
		if g := ws.goroutines[id]; g != nil && g.open() != nil {
			for _, h := range g.holders() {
				if by := ws.goroutines[h.Goroutine]; by != nil && by.waitsSince(h.at) != nil {
					list = append(list, h.Goroutine)
				}
			}
		}
		return list
	})
}

// before returns the last wait of each kind for the object that a goroutine waits for: who is, or
// was, on the other side of it.
func (ws *Waits) before(w *wait) (list []*wait) {
	if w.object == 0 {
		return nil
	}
	for of, last := range ws.lastFor {
		if of.id == w.object {
			list = append(list, last)
		}
	}
	slices.SortFunc(list, func(a, b *wait) int { return cmp.Compare(b.end, a.end) })
	return list
}

// A tally counts waits.
type tally struct {
	name    string
	n       uint64
	total   uint64
	longest uint64
}

// An object is what was waited for.
type object struct {
	kind uint32
	id   uint64
}

// objectWaits are the waits for an object, or for all objects of one name: where they were, and who
// ended them.
type objectWaits struct {
	object     // the least of several
	same   int // how many objects
	sites  map[uint32]*tally
	by     map[call]*tally // by function, or goroutines that were in no call: number is the goroutine then
	tally
}

// objects returns what was waited for, that with the longest waits in sum first. What has no
// address is told apart by site, and locks and channels of the same name are together unless apart
// is true.
func (ws *Waits) objects(apart bool) []*objectWaits {
	type name struct {
		object
		site   uint32 // if there is no address
		called string // of locks and channels that are not apart; then there is no address
	}
	names := map[object]string{}
	called := func(o object) string {
		name, known := names[o]
		if !known && !apart {
			name = ws.called(o.kind, o.id)
		}
		names[o] = name
		return name
	}
	found := map[name]*objectWaits{}
	for _, g := range ws.goroutines {
		for i := range g.waits {
			w := &g.waits[i]
			if w.waited() == 0 {
				continue
			}
			of := object{w.kind, w.object}
			_, seen := names[of]
			key := name{object: of, called: called(of)}
			if key.called != "" {
				key.id = 0
			} else if w.object == 0 {
				key.site = w.site
			}
			o := found[key]
			if o == nil {
				o = &objectWaits{object: of, sites: map[uint32]*tally{}, by: map[call]*tally{}}
				found[key] = o
			}
			if !seen {
				o.same, o.id = o.same+1, min(o.id, w.object)
			}
			o.count(w)
			counted(o.sites, w.site).count(w)
			switch {
			case w.byCall.function != 0:
				counted(o.by, call{function: w.byCall.function}).count(w)
			case w.by != 0:
				counted(o.by, call{number: w.by}).count(w)
			}
		}
	}
	for _, o := range found {
		for site, t := range o.sites {
			t.name = ws.siteName(site)
		}
		for by, t := range o.by {
			if t.name = ws.r.Function(by.function).FullName(); by.function == 0 {
				t.name = fmt.Sprintf("G%d", by.number)
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *objectWaits) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.n, a.n), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
	})
}

func counted[K comparable](m map[K]*tally, key K) *tally {
	t := m[key]
	if t == nil {
		t = &tally{}
		m[key] = t
	}
	return t
}

func (t *tally) count(w *wait) {
	t.n++
	t.total += w.waited()
	t.longest = max(t.longest, w.waited())
}

// most returns tallies, those with the most waits first.
func most[K comparable](m map[K]*tally) []*tally {
	return slices.SortedFunc(maps.Values(m), func(a, b *tally) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name))
	})
}

// divided returns the times of goroutines, or functions, that with the longest waits first.
func divided(all []*times) []*times {
	slices.SortFunc(all, func(a, b *times) int {
		return cmp.Or(cmp.Compare(b.waited(), a.waited()), cmp.Compare(b.all, a.all), cmp.Compare(a.name, b.name))
	})
	return all
}
