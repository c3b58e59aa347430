package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// LiveOptions are what is recorded of a process that the page follows.
type LiveOptions struct {
	Rules   string // as for ftrace attach
	Budget  int    // percent of the process's own processor time; 0: any
	Keep    int64  // bytes of the recording: older parts are given back
	Control bool   // the page may change what is recorded
	Warn    io.Writer
}

// following is a process that the page follows.
type following struct {
	LiveOptions
	name    string // of the program, and its number
	session *live.Session
	leave   chan struct{} // closed when nothing more is to be recorded
	over    chan struct{} // closed when nothing more is recorded

	mu    sync.Mutex // guards armed
	armed *armed
	rules atomic.Pointer[string] // in force, as text
}

// unreadMax is how many bytes of what is recorded the index may be behind. So the page is at most
// about a second behind, also when the process records faster than they are read.
const unreadMax = 64 << 20

// Follow attaches to the process of that number or name, and returns a server, which listens, of
// what the process records from then on.
func Follow(name string, o Options, of LiveOptions) (*Server, error) {
	session, err := live.Begin(name, live.AttachOptions{Rules: of.Rules, Budget: of.Budget}, of.Warn)
	if err != nil {
		return nil, err
	}
	s, err := follow(session, o, of)
	if err != nil {
		session.Close()
		return nil, err
	}
	return s, nil
}

func follow(session *live.Session, o Options, of LiveOptions) (*Server, error) {
	r, err := newShown(session.Dir, o)
	if err != nil {
		return nil, err
	}
	r.live = &following{LiveOptions: of, session: session, leave: make(chan struct{}), over: make(chan struct{})}
	r.live.name = filepath.Base(r.first.Env.Executable) + " " + strconv.Itoa(session.Process.PID)
	r.all = []string{r.name()}
	if of.Control {
		r.live.armed = newArmed(session.Rules)
		if session.Rules == "" {
			r.live.armed.rules = ""
			if r.live.armed.program, err = enabled(session); err != nil {
				return nil, err
			}
		}
		text := r.live.armed.text()
		r.live.rules.Store(&text)
	}
	r.index.under = &walker{}
	s := newServer(o)
	s.shown = []*shown{r}
	return s, s.listen()
}

// following returns the process that the page follows, or nil.
func (s *Server) following() *following { return s.shown[0].live }

// record reads what the process records, until that ends: by the process, by leave, or because the
// page is not served any more.
func (f *following) record(ctx context.Context, x *index) {
	defer close(f.over)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-f.leave:
			stop()
		case <-ctx.Done():
		}
	}()
	err := f.session.Follow(ctx, &follower{x: x, why: f.why, processor: f.session.Process.ProcessorTime, spent: f.session.Process.Spent}, live.Room{Unread: unreadMax, Read: f.Keep}, io.Discard)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.finished { // it was never told of the end
		x.finished, x.ended = true, f.why()
	}
	if x.err == nil {
		x.err = err
	}
}

// until returns when nothing more is recorded, for which the first interrupt asks. It says so,
// unless the page is not served any more.
func (f *following) until(ctx context.Context, interrupts <-chan os.Signal, warn io.Writer) {
	select {
	case <-interrupts:
		close(f.leave)
		<-f.over
	case <-f.over:
	}
	if ctx.Err() != nil {
		return
	}
	fmt.Fprintf(warn, "ftrace: web: %s: the page shows what was recorded, until Ctrl-C\n", f.why())
}

// why says why nothing more is recorded.
func (f *following) why() string {
	if f.session.Process.Alive() {
		return fmt.Sprintf("process %d is not followed any more", f.session.Process.PID)
	}
	return fmt.Sprintf("process %d has ended", f.session.Process.PID)
}

// A liveStatus is what there is to say of a process that is followed. Times are in ns.
type liveStatus struct {
	PID    int    `json:"pid"`
	Ended  string `json:"ended,omitempty"` // why nothing more is recorded
	Keep   int64  `json:"keep"`            // bytes of the recording
	Gone   int64  `json:"gone"`            // how much of it is older than these
	Lost   uint64 `json:"lost"`            // records that are on no lane
	Budget int    `json:"budget"`          // percent; 0: none
	Left   string `json:"left,omitempty"`  // what was left out to keep within it
	Rates  *rates `json:"rates,omitempty"` // of the last seconds

	Control bool    `json:"control"`         // what is recorded can be changed
	Rules   *string `json:"rules,omitempty"` // which say what is recorded, where they can be changed
}

// status returns that. The index is locked.
func (f *following) status(x *index) *liveStatus {
	return &liveStatus{f.session.Process.PID, x.ended, f.Keep, x.from - x.first, x.lost, f.Budget, x.left, x.rates, f.Control && !x.finished, f.rules.Load()}
}

// A follower makes the index of what a process records, while it does.
type follower struct {
	x     *index
	why   func() string // why nothing more is recorded, at the end
	w     *walker
	h     hears
	began time.Time // the clock of the recording
	n     int       // events
	said  time.Time // when it was found out what was left out

	processor func() time.Duration // that the process has used
	spent     func() time.Duration // of that, what calls cost while there was a budget
	samples   []sample             // one a second, the last ones
}

// Begin begins with the recording, of which others have shown times already.
func (f *follower) Begin(r *recording.Recording) {
	x := f.x
	x.mu.Lock()
	defer x.mu.Unlock()
	r.HoldClock(x.clock)
	x.r, x.print = r, r.Printer(recording.DefaultFormat)
	f.began = x.clock.Wall(x.clock.Ticks(0))
	f.w = &walker{Source: walk.Source{Recording: r}}
	f.h = hears{x: x, w: f.w, take: x.take, spans: x.spans}
	f.h.listen()
	begin := f.w.Begin
	f.w.Begin = func(st *stack, c *frame, e *recording.Event) {
		begin(st, c, e)
		if l := x.lane(st.Goroutine, f.h.ns(c.Start)); l != nil && c.Depth < rowsMax {
			x.deepen(l, int(c.Depth))
		}
	}
	f.h.follow(nil)
	x.under = f.w
}

// Refreshed locks the index, until it is Settled.
func (f *follower) Refreshed() { f.x.mu.Lock() }

// Event takes in an event.
func (f *follower) Event(e *recording.Event) bool {
	if f.n == 0 { // the clock may have begun with what others recorded
		f.x.from = max(0, f.h.ns(e.Ticks))
		f.x.first = f.x.from
	}
	if e.Kind == recording.Lost { // ends may be among them
		f.x.lost += e.Call
		f.w.EndAll()
	}
	f.w.Event(e)
	f.w.Last = e.Ticks
	f.h.ran(e)
	if f.n++; f.n%moreEvery == 0 {
		f.x.mu.Unlock() // who waits for it gets it
		f.x.mu.Lock()
	}
	return true
}

// Settled notes until when all is known, and forgets what has been given back.
func (f *follower) Settled(until time.Time) bool {
	x := f.x
	if !until.IsZero() {
		x.now = max(x.now, int64(until.Sub(f.began)))
	}
	if f.n == 0 {
		x.from, x.first = x.now, x.now
	}
	x.toTicks = ticks(&x.clock, x.now) + 2
	if begins := x.r.Begins(); begins > x.fromTicks {
		x.fromTicks, x.from = begins, f.h.ns(begins)
		x.forget(x.from)
		x.r.SumLeftOut(begins)
	}
	if now := time.Now(); now.Sub(f.said) > time.Second {
		f.said, x.left, x.rates = now, walk.LeftOut(x.r), f.sample(now)
	}
	x.mu.Unlock()
	return true
}

// Finish ends the index.
func (f *follower) Finish() error {
	x := f.x
	x.mu.Lock()
	defer x.mu.Unlock()
	f.w.EndAll()
	f.h.runs.finish(false)
	var said bytes.Buffer
	walk.Complain(&said, x.r)
	x.notes = said.String()
	x.finished, x.toTicks, x.left, x.rates, x.ended = true, 0, "", nil, f.why()
	return nil
}

// underWay appends the calls under way of a goroutine, which last until now. lane is its place
// among those that the page named.
func (x *index) underWay(list []found, goroutine uint64, lane int, from, to int64) []found {
	if !x.calling(goroutine) || x.now < from {
		return list
	}
	for _, c := range x.under.Stacks.Lookup(goroutine).Calls {
		if begin := int64(x.clock.Since(c.Start)); begin <= to && c.Depth < rowsMax {
			list = append(list, found{slice{begin: begin, end: max(begin, x.now), what: min(c.Function, keyMask) | unfinished, calls: 1}, lane, callsRow + rowKind(c.Depth)})
		}
	}
	return list
}

// calling reports whether a goroutine has calls under way, as far as that is known before the end.
func (x *index) calling(goroutine uint64) bool {
	if x.under == nil || x.finished {
		return false
	}
	st := x.under.Stacks.Lookup(goroutine)
	return st != nil && len(st.Calls) > 0
}

// forget forgets what ended before a time, and lanes on which there is nothing else.
func (x *index) forget(before int64) {
	for g, l := range x.lanes {
		for r := range l.all() {
			x.stored -= r.forget(before)
		}
		if l.end >= before || x.calling(g) {
			continue
		}
		for r := range l.all() {
			for _, list := range r.lists {
				x.stored -= len(list)
			}
		}
		x.rows -= len(l.rows)
		if delete(x.lanes, g); x.last == l {
			x.last = nil
		}
		if g&processorLane != 0 {
			x.runners--
		}
	}
}

// forget returns how many slices of the lists were forgotten. It waits until it is a quarter of a
// list, which is copied.
func (r *row) forget(before int64) (n int) {
	for k, list := range r.lists {
		if i := endsBy(list, before); i > len(list)/4 {
			r.lists[k] = append([]slice(nil), list[i:]...)
			n += i
		}
	}
	return n
}

// known limits a window to what there is of the recording, and is all known.
func (x *index) known(w recording.Window) recording.Window {
	x.mu.Lock()
	defer x.mu.Unlock()
	w.From = max(w.From, x.fromTicks)
	if x.toTicks != 0 && (w.To == 0 || w.To > x.toTicks) {
		w.To = x.toTicks
	}
	return w
}

// age tells answers of a recording that grows from earlier ones: they are as good for a second.
func (x *index) age() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.under == nil || x.finished {
		return ""
	}
	return fmt.Sprint(" until ", x.now/1e9)
}

// consoleOf returns a console of what there is of a recording that grows: another for each
// statement, until it is finished. done gives it up.
func (s *Server) consoleOf(f *following) (c *console, done func(), err error) {
	make := func() (*console, error) {
		kept := s.o.Kept
		kept.Window, kept.Keep = s.shown[0].window(0, 0), false
		return newConsole([]string{f.session.Dir}, kept, s.turns, s.delay)
	}
	select {
	case <-f.over:
		s.once.Do(func() { s.console, s.consoleErr = make() })
		return s.console, func() {}, s.consoleErr
	default:
	}
	if c, err = make(); err != nil {
		return nil, nil, err
	}
	return c, func() { c.catalog.Close() }, nil
}
