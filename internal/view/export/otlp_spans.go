package export

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Spans makes spans of OpenTelemetry of a recording: of requests, of statements, of calls that
// rules choose, and of those that lasted long enough, each with those around it. A span is made
// when its call ends, so those within it are made before it.
type Spans struct {
	Emit      func(*tracepb.Span) // nil: nobody wants them
	Outside   uint64              // lines and probes that are in no span
	Beginless uint64              // calls of which there is only the end

	w        *walk.Walker[spanStack, hasSpan]
	clock    recording.Converter
	printer  *recording.Printer
	minTicks uint64
	now      int64            // ns since 1970, of the last event
	recent   [recentMax]*span // calls that ended last: a goroutine's first record may come when the call that started it has ended
	ended    int
	free     []*span
}

const (
	recentMax     = 4096
	spanDepth     = 1000 // shown calls around a call that is a span of its own: nothing could draw more
	spanEventsMax = 128  // of a span, as OpenTelemetry's own libraries have it
)

// A spanStack has the spans of a goroutine.
type spanStack struct {
	spans   []*span // of calls under way, the innermost last
	starter *span   // of the call that started it, or its goroutine; nil: it is not known
	asked   bool    // that was looked for
	taken   *span   // of the message that it took last, which has ended; nil: there is none
	takenIn int     // how many of spans are around what is done for that message
}

// hasSpan says of a call under way that it is among the goroutine's spans.
type hasSpan bool

type (
	spanCalls = walk.Stack[spanStack, hasSpan]
	spanFrame = walk.Frame[hasSpan]
)

// A span is a call that may become one. If it is kept, so are all around it.
type span struct {
	parent *span // the call around it, or the one that started the goroutine
	trace  traceID
	given  spanID // its id, if the program made it
	remote spanID // the id of what it belongs to elsewhere, if the program was told

	f                  *recording.Function
	goroutine, number  uint64
	begin, end         int64 // ns since 1970
	start              uint64
	entry, after, exit recorded
	note               string
	events             []*tracepb.Span_Event
	dropped            uint32 // events that were too many
	detailed           bool   // its values are shown
	chosen             bool   // it is kept, however short
	mock, untimed      bool
	late               bool // its beginning was not seen
	ended, unseen      bool // it has ended; that was not seen
	kept               bool
	shared             bool // a goroutine that it started may be within it, or a line that is held
}

// recorded has what was recorded of a call's values.
type recorded struct {
	kind   recording.Kind
	layout uint32
	data   []byte
}

func (v *recorded) set(e *recording.Event) {
	v.kind, v.layout, v.data = e.Kind, e.Layout, append(v.data[:0], e.Data...)
}

func (v *recorded) event() *recording.Event {
	return &recording.Event{Kind: v.kind, Layout: v.layout, Data: v.data}
}

// NewSpans returns what makes spans of a source: also of calls that lasted for least.
func NewSpans(from walk.Source, least time.Duration) *Spans {
	x := &Spans{w: walk.New[spanStack, hasSpan](from)}
	format := recording.DefaultFormat
	format.Line, format.String = 1<<16, 1<<16 // all that was recorded
	x.printer = x.w.Recording.Printer(format)
	x.Refresh()
	x.SetMinTicks(x.clock.Ticks(least) - x.clock.Ticks(0))
	x.w.Begin, x.w.After, x.w.End, x.w.More, x.w.Wait = x.begin, x.after, x.end, x.more, x.wait
	return x
}

// MinTicks returns how long calls must last, in ticks of the recording. That a call is a span must
// not depend on how well the clock is known.
func (x *Spans) MinTicks() uint64 { return x.minTicks }

// SetMinTicks sets that.
func (x *Spans) SetMinTicks(ticks uint64) { x.minTicks = ticks }

// Refresh takes in that the recording, which is being written, has other tables.
func (x *Spans) Refresh() {
	x.clock = x.w.Recording.Converter()
	x.w.Refresh()
}

// Quiet takes in that nothing has happened since the last event, for so long. No span waits for
// that.
func (x *Spans) Quiet(time.Duration) {}

// Event takes in an event.
func (x *Spans) Event(e *recording.Event) {
	x.w.Event(e)
	x.at(e.Ticks)
	x.w.Last = e.Ticks
	if e.Kind == recording.GoroutineEnd {
		x.w.Stacks.Forget(e.Goroutine)
	}
}

// Close ends the calls that are under way.
func (x *Spans) Close() { x.w.EndAll() }

// Run takes in all events, until more returns false.
func (x *Spans) Run(more func() bool) error {
	s := x.w.Events()
	defer s.Close()
	for e := s.Next(); e != nil && more(); e = s.Next() {
		x.Event(e)
	}
	x.Close()
	return s.Err()
}

// at returns the time of day of an event. It does not go back when the clock becomes known better,
// so what is nested stays nested.
func (x *Spans) at(ticks uint64) int64 {
	x.now = max(x.now, x.clock.Wall(ticks).UnixNano())
	return x.now
}

// inner returns the innermost span under way, or nil.
func (g *spanStack) inner() *span {
	if n := len(g.spans); n > 0 {
		return g.spans[n-1]
	}
	return nil
}

// around returns the span within which the next call is: the innermost under way, or that of a
// message that was taken within that one. nil: there is none.
func (g *spanStack) around() *span {
	if g.taken != nil && len(g.spans) == g.takenIn {
		return g.taken
	}
	return g.inner()
}

func (x *Spans) begin(st *spanCalls, c *spanFrame, e *recording.Event) {
	g, f := &st.Data.View, x.w.Recording.Function(c.Function)
	if len(g.spans) >= spanDepth && !f.Span {
		return
	}
	c.Data.View = true
	s := x.take()
	s.f, s.goroutine, s.number, s.start = f, st.Goroutine, c.Number, c.Start
	s.begin, s.detailed, s.chosen = x.at(e.Ticks), c.Data.Clause.Detail >= rule.Args, f.Span || c.Data.Clause.Span
	if c.Late() {
		s.begin = x.clock.Wall(c.Start).UnixNano()
	}
	s.untimed, s.late = c.Untimed, !c.BeginKnown()
	s.entry.set(e)
	if takes(f) {
		g.taken = nil
	}
	s.parent = g.around()
	if s.parent == nil && !served(f) { // a request is not part of what began to listen
		s.parent = x.starter(st)
	}
	var values []recording.Value
	if f.Span {
		values = x.structured(&s.entry, f.Params)
	}
	x.identify(s, values)
	g.spans = append(g.spans, s)
}

// served reports whether calls of f are requests that the program serves, or messages that it
// handles.
func served(f *recording.Function) bool {
	return f.Span && slices.ContainsFunc([]string{"http/server/", "grpc/server/", "nats/process/", "nats/receive/", "kafka/receive/"}, func(family string) bool {
		return strings.HasPrefix(f.FullName(), "stage/"+family)
	})
}

// takes reports whether calls of f take a message: what their goroutine does then is done for it.
func takes(f *recording.Function) bool {
	return f.Span && (strings.HasPrefix(f.FullName(), "stage/kafka/receive/") || strings.HasPrefix(f.FullName(), "stage/nats/receive/"))
}

// identify finds out to which trace a span belongs, given the values of a request.
func (x *Spans) identify(s *span, values []recording.Value) {
	if s.parent != nil {
		s.trace = s.parent.trace
	}
	for _, v := range values {
		switch trace, id, ok := parseSpan(plain(v)); {
		case v.Name == "span" && ok:
			s.trace, s.given = trace, id
		case v.Name == "parent" && !parseID(s.remote[:], plain(v)):
			s.remote = spanID{}
		}
	}
	if s.trace == (traceID{}) {
		s.trace, _ = idsOf(x.w.Recording, s.goroutine, s.f.Key, s.number)
	}
}

// id returns the id of a span.
func (x *Spans) id(s *span) spanID {
	if s.given != (spanID{}) {
		return s.given
	}
	_, id := idsOf(x.w.Recording, s.goroutine, s.f.Key, s.number)
	return id
}

// starter returns the span of the call that started a goroutine, or nil.
func (x *Spans) starter(st *spanCalls) *span {
	g := &st.Data.View
	if g.starter == nil && !g.asked { // rules may say another call
		g.asked = true
		g.starter = x.started(st.Data.Parent, st.Data.Inherited.Function, st.Data.Inherited.Number)
	}
	return g.starter
}

// started returns the span of a call by which a goroutine started another, or of the one that
// started that goroutine itself, or nil.
func (x *Spans) started(goroutine uint64, function uint32, number uint64) (by *span) {
	is := func(s *span) bool { return s.goroutine == goroutine && s.f.Key == function && s.number == number }
	parent := x.w.Stacks.Lookup(goroutine)
	if parent != nil {
		for _, s := range slices.Backward(parent.Data.View.spans) {
			if by == nil && is(s) {
				by = s
			}
		}
	}
	for n := x.ended - 1; function != 0 && n >= max(0, x.ended-recentMax) && by == nil; n-- {
		if s := x.recent[n%recentMax]; is(s) {
			by = s
		}
	}
	if by == nil && parent != nil {
		by = parent.Data.View.starter
	}
	by.share()
	return by
}

// share keeps the memory of a span, and of those around it, from being used again.
func (s *span) share() {
	for ; s != nil && !s.shared; s = s.parent {
		s.shared = true
	}
}

// take returns memory for a span.
func (x *Spans) take() *span {
	n := len(x.free)
	if n == 0 {
		return &span{}
	}
	s := x.free[n-1]
	x.free = x.free[:n-1]
	*s = span{entry: recorded{data: s.entry.data}, after: recorded{data: s.after.data}, exit: recorded{data: s.exit.data}}
	return s
}

func (x *Spans) after(st *spanCalls, c *spanFrame, e *recording.Event) {
	if c.Data.View {
		st.Data.View.inner().after.set(e)
	}
}

func (x *Spans) end(st *spanCalls, c *spanFrame, e *recording.Event) {
	if c == nil {
		x.Beginless++
		return
	}
	if !c.Data.View {
		return
	}
	g := &st.Data.View
	s := g.inner()
	g.spans = g.spans[:len(g.spans)-1]
	switch n := len(g.spans); {
	case takes(s.f):
		g.taken, g.takenIn = s, n
		s.share()
	case n < g.takenIn && served(s.f): // and the message within it
		g.taken = nil
	default:
		g.takenIn = min(g.takenIn, n)
	}
	last := max(x.w.Last, s.start)
	if e != nil {
		last = e.Ticks
		x.at(last)
		s.exit.set(e)
	}
	s.end, s.unseen, s.note, s.mock = x.now, e == nil, c.Note, c.Mock
	if s.chosen || !s.untimed && !s.late && last-s.start >= x.minTicks {
		x.keep(s)
	}
	s.ended = true
	if s.kept {
		x.emit(s)
	} else {
		if around := g.inner(); around != nil {
			around.add(s.events...)
			around.dropped += s.dropped
			s.events, s.dropped = nil, 0
		}
		x.Outside += s.lines()
	}
	slot := &x.recent[x.ended%recentMax]
	if old := *slot; old != nil && !old.shared {
		x.free = append(x.free, old)
	}
	*slot = s
	x.ended++
}

// keep has a span exported, and all around it.
func (x *Spans) keep(s *span) {
	for ; s != nil && !s.kept; s = s.parent {
		s.kept = true
		if s.ended { // before, and was of no interest until now
			x.Outside -= s.lines()
			x.emit(s)
		}
	}
}

// lines returns how many events a span has.
func (s *span) lines() uint64 { return uint64(len(s.events)) + uint64(s.dropped) }

// add adds events to a span, as far as there is room.
func (s *span) add(events ...*tracepb.Span_Event) {
	n := min(len(events), spanEventsMax-len(s.events))
	s.events = append(s.events, events[:n]...)
	s.dropped += uint32(len(events) - n)
}

// happened adds an event to the innermost span.
func (x *Spans) happened(st *spanCalls, name string, at int64, attributes ...*commonpb.KeyValue) {
	s := st.Data.View.inner()
	if s == nil {
		x.Outside++
		return
	}
	s.add(&tracepb.Span_Event{Name: valid(name), TimeUnixNano: uint64(max(at, s.begin)), Attributes: attributes})
}

func (x *Spans) more(st *spanCalls, c *spanFrame, e *recording.Event) {
	switch e.Kind {
	case recording.GoroutineStart:
		g := &st.Data.View
		g.starter = x.started(e.Parent, e.Function, e.Call)
		if by := x.w.Stacks.Lookup(e.Parent); by != nil && by.Data.View.taken != nil && by.Data.View.around() == by.Data.View.taken {
			g.starter = by.Data.View.taken
		}
	case recording.Recovered:
		if s := st.Data.View.inner(); c.Data.View {
			event := x.exception(s, e, x.at(e.Ticks))
			event.Attributes = append(event.Attributes, trueAttr("ftrace.recovered"))
			s.add(event)
		}
	case recording.Line:
		attributes := []*commonpb.KeyValue{textAttr("log.message", string(e.Data))}
		if e.Level != recording.UnknownLevel {
			attributes = append(attributes, textAttr("log.severity", slog.Level(e.Level).String()))
		}
		x.happened(st, "log", x.at(e.Ticks), attributes...)
	case recording.Probe:
		f := x.w.Recording.Function(e.Function)
		x.happened(st, f.FullName(), x.at(e.Ticks), attributes("ftrace.arg.", x.structured(&recorded{e.Kind, e.Layout, e.Data}, f.Params))...)
	}
}

func (x *Spans) wait(st *spanCalls, e *recording.Event) {
	begin := e.Wait().Begin
	if e.Ticks-begin < x.minTicks || st.Data.View.inner() == nil {
		return
	}
	x.at(e.Ticks)
	lasted := x.clock.Between(begin, e.Ticks)
	attributes := []*commonpb.KeyValue{{Key: "ftrace.wait.duration", Value: double(lasted.Seconds())}}
	for _, v := range waitValues(x.w.Recording, x.clock, e) {
		name := "number"
		if v.Name != "wait" {
			name = strings.ReplaceAll(v.Name, " ", "_")
		}
		attributes = append(attributes, textAttr("ftrace.wait."+name, v.Text))
	}
	x.happened(st, x.w.Recording.Function(e.Function).FullName(), x.now-int64(lasted), attributes...)
}
