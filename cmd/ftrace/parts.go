package main

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A recording is walked by several goroutines, each of which takes the next part of it (recording.Parts). It does not know which calls were under way when the part began. What it can do without is
// done at once: of calls that begin in the part, all. The events that have to do with others are put off, with their place in the part, until all parts before have been walked, and are then given to
// the one walker that knows these calls. To that also go the calls that are under way at the part's end. So what comes out is what one walker would have made of all events.

// partWalk is what a walker of a part has.
type partWalk struct {
	putOff []putOff
	at     func() int // the place of an event that is put off, in what was written of the part
}

// putOff is an event that has to do with calls that began before the part. Event 0 is the end of the part.
type putOff struct {
	event recording.Event
	at    int
	below below
}

// below is what ended, of a goroutine, in the calls that began before the part and are under way.
type below struct {
	inner  uint64 // ticks in calls that the innermost of them made
	totals totals // for reports
	calls  *stack // at the end of a part: what is under way
	text   *goroutineText
}

// parted is what is known of a goroutine in a part.
type parted struct {
	known   bool // base is
	base    int  // calls that began before the part, or were put off, and are under way
	entered bool // a call began in the part: that of the goroutine's first one says what started it
	below   below
}

// later reports whether an event is put off.
func (w *walker) later(st *stack, e *recording.Event) bool {
	g := &st.Data.parted
	switch {
	case e.Kind == recording.GoroutineStart:
		g.entered = false
	case e.Enters(), e.Exits():
		unseen := st.Unseen(e)
		deeper := int(e.Depth) >= g.base || e.Enters() && e.Depth == math.MaxUint16 // which is that of all that are deeper
		if unseen < len(st.Calls) || g.known && deeper && (g.entered || e.Exits()) {
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
	case e.Kind == recording.Note, e.Kind == recording.Mock, e.Kind == recording.Recovered:
		if len(st.Calls) > 0 || g.known && int(e.Depth) >= g.base {
			return false
		}
		g.known, g.base = true, int(e.Depth)+1
	default:
		return false
	}
	st.Keep = true
	p := putOff{event: *e, at: w.part.at(), below: g.below}
	p.event.Data = bytes.Clone(e.Data)
	w.part.putOff = append(w.part.putOff, p)
	g.below = below{}
	return true
}

// ends puts off what is known at the end of the part, and makes the walker ready for another.
func (w *walker) ends() {
	for _, st := range w.stacks.Every() {
		p := putOff{at: w.part.at(), below: st.Data.parted.below}
		p.event.Goroutine = st.Goroutine
		p.below.calls, p.below.text = st, st.Data.text
		w.part.putOff = append(w.part.putOff, p)
	}
	w.stacks = recording.Stacks[goroutine, call]{}
}

// takeUp gives the walker, which knows all calls, what was put off.
func (w *walker) takeUp(p *putOff) {
	st := w.stacks.Of(&p.event)
	if n := len(st.Calls); n > 0 {
		st.Calls[n-1].Data.inner += p.below.inner
	}
	for _, t := range p.below.totals {
		w.total(st, t)
	}
	if p.event.Kind != 0 {
		w.event(&p.event)
		return
	}
	if p.below.calls == nil {
		return
	}
	for c := range p.below.calls.All() {
		st.Add(*c)
		if w.resume != nil {
			w.resume(st)
		}
	}
	if p.below.text != nil {
		st.Data.text = p.below.text
	}
}

// inParts walks a window in parts, if that is of use, each by what work returns, in goroutines of its own; what that returns is called when it has been called for all parts before, and reports whether
// to go on. A part has so many packets of each file. It returns false if there is one processor, or little to read, and nothing was done.
func (w *walker) inParts(window recording.Window, packets int, work func() func(*recording.Stream) (finish func() bool)) (bool, error) {
	processors := runtime.GOMAXPROCS(0)
	workers := min(2*processors, partWalkers) // one that waits for its turn leaves its processor to another
	if processors == 1 || w.rules != nil || w.r.Timer != 0 {
		return false, nil
	}
	parts, err := w.r.Parts(window, packets)
	if err != nil {
		return false, nil // the stream says it too
	}
	defer parts.Close()
	if parts.Size() < partsLeast {
		return false, nil
	}
	if w.verb != "" {
		defer newProgress("ftrace "+w.verb, parts.Size(), parts.Done).close()
	}
	var (
		taking  sync.Mutex // guards parts and turn
		turn    = make(chan bool)
		stopped atomic.Bool
		failed  error // set in turn
		all     sync.WaitGroup
	)
	close(turn)
	take := func() (window recording.Window, mine, next chan bool, ok bool) {
		taking.Lock()
		defer taking.Unlock()
		if window, ok = parts.Next(); ok {
			mine, next = turn, make(chan bool)
			turn = next
		}
		return window, mine, next, ok
	}
	for range workers {
		walk := work()
		all.Go(func() {
			for !stopped.Load() {
				window, mine, next, ok := take()
				if !ok {
					return
				}
				s := w.r.Events(window)
				finish := walk(s)
				s.Close()
				<-mine
				if failed == nil {
					failed = s.Err()
				}
				if failed != nil || !stopped.Load() && !finish() {
					stopped.Store(true)
				}
				close(next)
			}
		})
	}
	all.Wait()
	return true, failed
}

const (
	partWalkers = 8       // goroutines at most: each has what is written of a part in memory
	partsLeast  = 4 << 20 // bytes
)

// partLines has what is written of a part.
type partLines struct{ b []byte }

func (l *partLines) lines(_ uint64, b []byte) { l.b = append(l.b, b...) }

// replayParts writes the text of a recording, made in parts. It returns false if it did nothing: what is folded, grouped or numbered has to do with more than one call.
func replayParts(w *walker, window recording.Window, f format, out *lines) (bool, error) {
	if f.fold || f.seq || out.groups != nil {
		return false, nil
	}
	whole := newText(w, f, out)
	done, err := w.inParts(window, 4, func() func(*recording.Stream) func() bool {
		p := &walker{r: w.r, only: w.only, part: &partWalk{}}
		var written partLines
		newText(p, f, &written)
		p.part.at = func() int { return len(written.b) }
		var e recording.Event
		return func(s *recording.Stream) func() bool {
			written.b, p.part.putOff = written.b[:0], p.part.putOff[:0]
			for s.Next(&e) {
				p.event(&e)
			}
			p.ends()
			return func() bool {
				at := 0
				for i := range p.part.putOff {
					put := &p.part.putOff[i]
					out.many(written.b[at:put.at])
					at = put.at
					w.takeUp(put)
				}
				out.many(written.b[at:])
				return out.err == nil
			}
		}
	})
	if done {
		whole.finish()
	}
	return done, err
}

// totals are times by stat. There may be many of them, each of few stats, or few of many.
type totals []statTotal

type statTotal struct {
	stat  *stat
	ticks uint64
}

// add adds to the total of a stat, which is likely to be where it was in the totals that it was added to last.
func (t *totals) add(s *stat, ticks uint64) {
	list := *t
	if i := int(s.place); i < len(list) && list[i].stat == s {
		list[i].ticks += ticks
		return
	}
	for i := range list {
		if list[i].stat == s {
			s.place = int32(i)
			list[i].ticks += ticks
			return
		}
	}
	s.place = int32(len(list))
	*t = append(list, statTotal{s, ticks})
}
