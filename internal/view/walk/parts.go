package walk

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A recording is walked by several goroutines, each of which takes the next part of it
// (recording.Parts). It does not know which calls were under way when the part began. What it can
// do without is done at once: of calls that begin in the part, all. The events that have to do with
// others are put off, with their place in the part, until all parts before have been walked, and
// are then given to the one walker that knows these calls. To that also go the calls that are under
// way at the part's end. So what comes out is what one walker would have made of all events.

// partWalk is what a walker of a part has.
type partWalk[G, C any] struct {
	putOff []putOff[G, C]
	writer PartWriter     // nil: nothing is written
	held   recording.Held // at the end of the part
	last   uint64         // ticks of its last event
}

// putOff is an event that has to do with calls that began before the part. Event 0 is the end of
// the part.
type putOff[G, C any] struct {
	event recording.Event
	at    int          // its place in what was written of the part
	inner uint64       // ticks in calls that the innermost of these calls made
	said  any          // by Aside
	calls *Stack[G, C] // at the end of a part: what is under way
}

// parted is the state of a goroutine in a part.
type parted struct {
	known   bool   // base is
	base    int    // calls that began before the part, or were put off, and are under way
	entered bool   // a call began in the part: that of the goroutine's first one says what started it
	inner   uint64 // ticks in calls that the innermost of those made that began before the part
}

// A PartWriter has what a view writes of a part, in memory.
type PartWriter interface {
	Len() int // of what was written
	// Pass passes on what was written, from one place to another. It returns false if no more is
	// wanted.
	Pass(from, to int) bool
	Reset() // for another part
}

// later reports whether an event is put off.
func (w *Walker[G, C]) later(st *Stack[G, C], e *recording.Event) bool {
	g := &st.Data.parted
	switch {
	case e.Kind == recording.GoroutineStart:
		g.entered = false
	case e.Kind == recording.GoroutineEnd && w.Ended != nil:
	case e.Enters(), e.Exits(), e.Kind == recording.Wait:
		unseen := st.Unseen(e)
		deeper := int(e.Depth) >= g.base
		if e.Depth == math.MaxUint16 { // all deeper calls have this depth, so base does not tell
			deeper = e.Enters()
		}
		if unseen < st.Len() || g.known && deeper && (g.entered || !e.Enters()) {
			return false
		}
		g.entered = g.entered || e.Enters()
		for ; unseen > 0; unseen-- {
			w.ended(st, &st.Calls[len(st.Calls)-1], nil)
		}
		g.known, g.base = true, int(e.Depth)
		if e.Enters() {
			g.base++
		}
	case e.Kind == recording.Note, e.Kind == recording.Mock, e.Kind == recording.Recovered, e.Kind == recording.After:
		if len(st.Calls) > 0 || g.known && int(e.Depth) >= g.base && e.Depth < math.MaxUint16 {
			return false
		}
		g.known, g.base = true, int(e.Depth)+1
	default:
		return false
	}
	st.Keep = true
	p := w.aside(st, false)
	p.event = *e
	p.event.Data = bytes.Clone(e.Data)
	return true
}

// aside puts an event off, which the caller fills in.
func (w *Walker[G, C]) aside(st *Stack[G, C], end bool) *putOff[G, C] {
	g := &st.Data.parted
	p := putOff[G, C]{inner: g.inner}
	g.inner = 0
	if w.part.writer != nil {
		p.at = w.part.writer.Len()
	}
	if w.Aside != nil {
		p.said = w.Aside(st, end)
	}
	w.part.putOff = append(w.part.putOff, p)
	return &w.part.putOff[len(w.part.putOff)-1]
}

// ends puts off what is known at the end of the part, and makes the walker ready for another.
func (w *Walker[G, C]) ends() {
	for _, st := range w.Stacks.Every() {
		p := w.aside(st, true)
		p.event.Goroutine, p.calls = st.Goroutine, st
	}
	w.Stacks = recording.Stacks[Goroutine[G], Call[C]]{}
}

// takeUp gives the walker, which knows all calls, what was put off.
func (w *Walker[G, C]) takeUp(p *putOff[G, C]) {
	st := w.Stacks.Of(&p.event)
	if n := len(st.Calls); n > 0 {
		st.Calls[n-1].Data.Inner += p.inner
	}
	if p.said != nil {
		w.Taken(st, p.said)
	}
	if p.event.Kind != 0 {
		w.Event(&p.event)
		return
	}
	st.Data.Seen = p.calls.Data.Seen
	for c := range p.calls.All() {
		st.Add(*c)
		w.around(st)
		if w.Resume != nil {
			w.Resume(st)
		}
	}
}

// InParts goes through the events in parts, if that is of use, each by a walker of its own, in
// goroutines of their own. part makes a view of such a walker, and returns what it writes, or nil.
// A part has so many packets of each file. It returns false, and has done nothing, if there is one
// processor, or little to read, or if rules choose, which have to do with all calls before.
func (w *Walker[G, C]) InParts(packets int, part func(*Walker[G, C]) PartWriter) (bool, error) {
	processors := runtime.GOMAXPROCS(0)
	workers := min(2*processors, partWalkers) // one that waits for its turn leaves its processor to another
	if processors == 1 || w.rules != nil || w.Recording.Timer != 0 {
		return false, nil
	}
	parts, err := w.Recording.Parts(w.Window, packets)
	if err != nil {
		return false, nil // the stream says it too
	}
	defer parts.Close()
	if parts.Size() < partsLeast {
		return false, nil
	}
	if w.Progress != nil {
		defer w.Progress(parts.Size(), parts.Done)()
	}
	var (
		taking  sync.Mutex // guards parts and turn
		turn    = make(chan bool)
		stopped atomic.Bool
		failed  error // set in turn
		held    = recording.Held{}
		last    uint64 // ticks of the last event; both are changed in turn
		all     sync.WaitGroup
	)
	close(turn)
	take := func() (window recording.Window, left int64, mine, next chan bool, ok bool) {
		taking.Lock()
		defer taking.Unlock()
		if window, ok = parts.Next(); ok {
			mine, next = turn, make(chan bool)
			turn = next
		}
		return window, parts.Size() - parts.Done(), mine, next, ok
	}
	for range workers {
		p := &Walker[G, C]{Source: w.Source, part: &partWalk[G, C]{}}
		p.part.writer = part(p)
		all.Go(func() {
			for !stopped.Load() {
				window, left, mine, next, ok := take()
				if !ok {
					return
				}
				if p.Next != nil {
					p.Next(left)
				}
				takeUp := func() bool {
					<-mine
					if failed != nil || !stopped.Load() && !w.takeUpAll(p.part) {
						stopped.Store(true)
					}
					return !stopped.Load()
				}
				err := p.walkPart(window, takeUp)
				<-mine
				if failed == nil {
					failed = err
				}
				held.GoOn(p.part.held)
				last = max(last, p.part.last)
				takeUp()
				if p.Over != nil {
					p.Over()
				}
				close(next)
			}
		})
	}
	all.Wait()
	if w.Window.To == 0 && !stopped.Load() && failed == nil {
		for _, e := range held.AtEnd(last) {
			w.Event(&e)
		}
	}
	return true, failed
}

// walkPart goes through the events of a part. When much is put off or written, it waits for its
// turn and has that taken up: the exits of a very deep recursion are nothing else.
func (w *Walker[G, C]) walkPart(window recording.Window, takeUp func() bool) error {
	s := w.Recording.Events(window)
	defer s.Close()
	var e recording.Event
	for s.Next(&e) {
		w.Event(&e)
		if w.part.full() && !takeUp() {
			break
		}
	}
	w.part.held, w.part.last = s.Held()
	w.ends()
	return s.Err()
}

// full reports whether so much is put off or written that it is to be taken up.
func (p *partWalk[G, C]) full() bool {
	return len(p.putOff) >= putOffMax || p.writer != nil && p.writer.Len() >= writtenMax
}

// takeUpAll takes up what was put off of a part, and between that passes on what was written. It
// returns false if no more is wanted. Nothing of it is left then.
func (w *Walker[G, C]) takeUpAll(p *partWalk[G, C]) bool {
	defer func() {
		clear(p.putOff)
		p.putOff = p.putOff[:0]
		if p.writer != nil {
			p.writer.Reset()
		}
	}()
	at := 0
	pass := func(to int) bool {
		from := at
		at = to
		return p.writer.Pass(from, to)
	}
	for i := range p.putOff {
		if p.writer != nil {
			pass(p.putOff[i].at)
		}
		w.takeUp(&p.putOff[i])
	}
	return p.writer == nil || pass(p.writer.Len())
}

const (
	partWalkers = 8       // goroutines at most: each has what is written of a part in memory
	partsLeast  = 4 << 20 // bytes
	putOffMax   = 1 << 15 // events
	writtenMax  = 8 << 20 // bytes
)
