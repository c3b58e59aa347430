package export

import (
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Logs makes log records of OpenTelemetry of a recording's lines, in their order. Each has the ids
// of the innermost call around it that is a span of [Spans]. Whether a call is one can be known
// only later, so lines are held until then: for as long as a call must last, but at most for
// holdMax.
type Logs struct {
	// Emit takes the record of a line, and its ticks.
	Emit func(ticks uint64, line *logspb.LogRecord)

	x    *Spans
	held []heldLine // the oldest first
	last uint64     // ticks of the last event
	at   uint64     // ticks of the last line
	same uint32     // how many lines there were before with these ticks
}

// A heldLine is a line of which it is not known yet to which span it belongs.
type heldLine struct {
	ticks  uint64
	record *logspb.LogRecord
	within *span // the innermost call around it, nil: there is none
}

// holdMax is how long a line is held.
const holdMax = time.Second

// NewLogs returns what makes log records of a source, whose spans are of calls that lasted for
// least.
func NewLogs(from walk.Source, least time.Duration) *Logs {
	l := &Logs{x: NewSpans(from, least)}
	l.x.w.More = func(st *spanCalls, c *spanFrame, e *recording.Event) {
		if e.Kind == recording.Line {
			l.line(st, e)
		} else {
			l.x.more(st, c, e)
		}
	}
	return l
}

// MinTicks returns how long calls must last that are spans, in ticks of the recording.
func (l *Logs) MinTicks() uint64 { return l.x.MinTicks() }

// SetMinTicks sets that.
func (l *Logs) SetMinTicks(ticks uint64) { l.x.SetMinTicks(ticks) }

// Refresh takes in that the recording, which is being written, has other tables.
func (l *Logs) Refresh() { l.x.Refresh() }

// Event takes in an event.
func (l *Logs) Event(e *recording.Event) {
	l.last = max(l.last, e.Ticks)
	l.release(l.last)
	l.x.Event(e)
	l.release(l.last)
}

// Quiet takes in that nothing has happened since the last event, for so long.
func (l *Logs) Quiet(since time.Duration) { l.release(l.last + l.ticks(since)) }

// Close ends the calls that are under way, and gives up all lines.
func (l *Logs) Close() {
	l.x.Close()
	for _, h := range l.held {
		l.emit(h, l.last)
	}
	l.held = nil
}

// Data returns records with what they are of.
func (l *Logs) Data(records []*logspb.LogRecord) *logspb.LogsData {
	return &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource: l.x.resource(), ScopeLogs: []*logspb.ScopeLogs{{Scope: scope(), LogRecords: records}},
	}}}
}

// ticks returns how many ticks a time has.
func (l *Logs) ticks(d time.Duration) uint64 { return l.x.clock.Ticks(d) - l.x.clock.Ticks(0) }

// line takes in a line.
func (l *Logs) line(st *spanCalls, e *recording.Event) {
	if l.same++; e.Ticks != l.at {
		l.at, l.same = e.Ticks, 0
	}
	id, _ := idsOf(l.x.w.Recording, st.Goroutine, l.same, e.Ticks)
	at := uint64(l.x.at(e.Ticks))
	r := &logspb.LogRecord{TimeUnixNano: at, ObservedTimeUnixNano: at, Attributes: []*commonpb.KeyValue{
		intAttr("thread.id", int64(st.Goroutine)), textAttr("log.record.uid", hex.EncodeToString(id[:]))}}
	text := string(e.Data)
	if e.Level != recording.UnknownLevel {
		r.SeverityText, text = slog.Level(e.Level).String(), withoutLevel(text)
		r.SeverityNumber = logspb.SeverityNumber(min(max(e.Level+9, 1), 24)) // as OpenTelemetry has slog's levels
	}
	r.Body = stringOf(text)
	within := st.Data.View.inner()
	for s := within; s != nil && s.goroutine == st.Goroutine; s = s.parent {
		if !s.f.Span {
			r.Attributes = append(r.Attributes, textAttr("code.function.name", s.f.FullName()))
			if s.f.File != "" {
				r.Attributes = append(r.Attributes, textAttr("code.file.path", s.f.File))
			}
			break
		}
	}
	if within == nil {
		within = l.x.starter(st)
	}
	within.share()
	l.held = append(l.held, heldLine{e.Ticks, r, within})
}

// levelWords are the names of levels with which the text of a logged line begins.
var levelWords = []string{"err", "warn", "notice", "info", "debug", "trace"}

// withoutLevel returns the text of a logged line without its level.
func withoutLevel(text string) string {
	word, rest, _ := strings.Cut(text, " ")
	if slices.Contains(levelWords, strings.TrimRight(word, "+-0123456789")) {
		return rest
	}
	return text
}

// release gives up the lines, in their order, of which enough is known.
func (l *Logs) release(now uint64) {
	n := 0
	hold := min(l.x.minTicks, l.ticks(holdMax))
	for ; n < len(l.held); n++ {
		if h := &l.held[n]; h.within != nil && !l.x.certain(h.within, now) && now-h.ticks < hold {
			break
		}
		l.emit(l.held[n], now)
	}
	if n > 0 {
		l.held = slices.Delete(l.held, 0, n)
	}
}

// certain reports whether a call is a span, or will be, whatever comes.
func (x *Spans) certain(s *span, now uint64) bool {
	return s.kept || !s.ended && (s.chosen || !s.untimed && !s.late && now-s.start >= x.minTicks)
}

// emit gives up a line, within the innermost call that is a span.
func (l *Logs) emit(h heldLine, now uint64) {
	s := h.within
	for s != nil && !l.x.certain(s, now) {
		s = s.parent
	}
	if s != nil {
		id := l.x.id(s)
		h.record.TraceId, h.record.SpanId, h.record.Flags = slices.Clone(s.trace[:]), id[:], 1 // sampled
	}
	l.Emit(h.ticks, h.record)
}
