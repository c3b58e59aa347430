package export

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A writtenLine is what the walker says of a line.
type writtenLine struct {
	ticks     uint64
	goroutine uint64
	around    []string // the calls around it, as callOf names them
}

// written returns the lines of a recording, in order.
func written(t *testing.T, r *recording.Recording) (list []writtenLine) {
	t.Helper()
	type stack = walk.Stack[[]string, struct{}]
	w := walk.New[[]string, struct{}](walk.Source{Recording: r})
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		st.Data.View = append(st.Data.View, callOf(st.Goroutine, c.Number, r.Function(c.Function).FullName()))
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c != nil {
			st.Data.View = st.Data.View[:len(st.Data.View)-1]
		}
	}
	w.More = func(st *stack, c *frame, e *recording.Event) {
		if e.Kind == recording.Line {
			list = append(list, writtenLine{e.Ticks, st.Goroutine, slices.Clone(st.Data.View)})
		}
	}
	w.Wait = func(*stack, *recording.Event) {}
	if err := w.Run(nil); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLogs compares the log records with the lines, one by one: each is there once, in order, and
// has the ids of the innermost call around it that is a span.
func TestLogs(t *testing.T) {
	for name, r := range testRecordings(t) {
		for _, least := range []time.Duration{0, 30 * time.Microsecond, time.Millisecond} {
			t.Run(fmt.Sprint(name, least), func(t *testing.T) {
				spans, _ := spansOf(t, r, least)
				byCall, byID := map[string]*tracepb.Span{}, map[string]*tracepb.Span{}
				for _, s := range spans {
					byID[string(s.SpanId)] = s
					byCall[callOf(uint64(attribute(s.Attributes, "thread.id").GetIntValue()), uint64(attribute(s.Attributes, "ftrace.call").GetIntValue()),
						attribute(s.Attributes, "code.function.name").GetStringValue())] = s
				}
				l, lines, clock, n, within, inherited := NewLogs(walk.Source{Recording: r}, least), written(t, r), r.Converter(), 0, 0, 0
				ids := map[string]bool{}
				l.Emit = func(ticks uint64, line *logspb.LogRecord) {
					if n >= len(lines) {
						t.Fatalf("there is one more: %v", line)
					}
					want := lines[n]
					n++
					if at := uint64(clock.Wall(want.ticks).UnixNano()); ticks != want.ticks || line.TimeUnixNano != at || attribute(line.Attributes, "thread.id").GetIntValue() != int64(want.goroutine) {
						t.Fatalf("line %d is %v at %d, want %+v at %d", n, line, ticks, want, at)
					}
					if id := attribute(line.Attributes, "log.record.uid").GetStringValue(); len(id) != 32 || ids[id] {
						t.Fatalf("line %d has the id %q, or another one has it, too", n, id)
					} else {
						ids[id] = true
					}
					var allowed []*tracepb.Span
					for _, call := range slices.Backward(want.around) {
						if s := byCall[call]; s != nil {
							allowed = append(allowed, s)
							if s.EndTimeUnixNano-s.StartTimeUnixNano >= uint64(least) {
								break
							}
							// It is a span for what a goroutine did that it started, maybe later.
						}
					}
					got := byID[string(line.SpanId)]
					long := len(allowed) > 0 && allowed[len(allowed)-1].EndTimeUnixNano-allowed[len(allowed)-1].StartTimeUnixNano >= uint64(least)
					switch {
					case line.SpanId != nil && (got == nil || string(got.TraceId) != string(line.TraceId) || line.Flags != 1):
						t.Errorf("line %d is in %x of %x, which is no span", n, line.SpanId, line.TraceId)
					case long && !slices.Contains(allowed, got):
						t.Errorf("line %d, in %v, is in %s, want one of %d", n, want.around, got.GetName(), len(allowed))
					case long:
						within++
					case got != nil && !slices.Contains(allowed, got): // of the goroutine that started this one
						inherited++
						if attribute(got.Attributes, "thread.id").GetIntValue() == int64(want.goroutine) {
							t.Errorf("line %d is in %s, which is not around it", n, got.Name)
						}
					}
				}
				s := r.Events(recording.Window{})
				defer s.Close()
				var e recording.Event
				for s.Next(&e) {
					l.Event(&e)
				}
				l.Close()
				if n != len(lines) || len(lines) > 100 && least == 0 && (within < 100 || inherited == 0) {
					t.Errorf("%d lines, want %d; %d are in spans, %d in those of other goroutines", n, len(lines), within, inherited)
				}
			})
		}
	}
}

// lineRecording writes a recording with lines of one goroutine, at such ticks since the first call
// began: of functions 2 and, within it, 3.
func lineRecording(t *testing.T, events func(at uint64) []recording.Event) *recording.Recording {
	t.Helper()
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Clocks()
	return viewtest.Write(t, r, filepath.Join(t.TempDir(), "lines"), func(yield func(*recording.Event)) {
		for _, e := range events(first.Ticks) {
			e.Goroutine = 1
			yield(&e)
		}
	})
}

// TestLogsHeld: a line waits until it is known which of the calls around it are spans, and no
// longer; what is logged is without its level, which the record has itself.
func TestLogsHeld(t *testing.T) {
	r := lineRecording(t, func(at uint64) []recording.Event {
		line := func(ticks uint64, depth uint16, level int32, text string) recording.Event {
			return recording.Event{Kind: recording.Line, Ticks: at + ticks, Depth: depth, Level: level, Data: []byte(text)}
		}
		return []recording.Event{
			{Kind: recording.Entry, Ticks: at + 100, Function: 2, Call: 1},
			{Kind: recording.Entry, Ticks: at + 200, Function: 3, Call: 1, Depth: 1},
			line(300, 2, 2, "notice in a short call"),
			{Kind: recording.Exit, Ticks: at + 400, Function: 3, Depth: 1},
			line(500, 1, recording.UnknownLevel, "info is a word"),
			{Kind: recording.Entry, Ticks: at + 2000, Function: 3, Call: 2, Depth: 1},
			line(2100, 2, 12, "err in a long call"),
			line(5000, 2, -8, "trace once more"),
			{Kind: recording.Exit, Ticks: at + 9000, Function: 3, Depth: 1},
			{Kind: recording.Exit, Ticks: at + 9100, Function: 2},
			line(9200, 0, 0, "info in none"),
		}
	})
	first, _ := r.Clocks()
	outer, inner := "", ""
	spans := NewSpans(walk.Source{Recording: r}, 0)
	spans.SetMinTicks(1000)
	spans.Emit = func(s *tracepb.Span) {
		if s.ParentSpanId == nil {
			outer = string(s.SpanId)
		} else {
			inner = string(s.SpanId)
		}
	}
	if err := spans.Run(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	l := NewLogs(walk.Source{Recording: r}, 0)
	l.SetMinTicks(1000)
	now := uint64(0)
	var got []string
	l.Emit = func(ticks uint64, line *logspb.LogRecord) {
		where := map[string]string{outer: "outer", inner: "inner", "": "none"}[string(line.SpanId)]
		got = append(got, fmt.Sprint(ticks-first.Ticks, " at ", now, ": ", int(line.SeverityNumber), " ", line.SeverityText, " ", line.Body.GetStringValue(), " in ", where))
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	for s.Next(&e) {
		now = e.Ticks - first.Ticks
		l.Event(&e)
	}
	l.Close()
	want := []string{
		"300 at 2000: 11 INFO+2 in a short call in outer",
		"500 at 2000: 0  info is a word in outer",
		"2100 at 5000: 21 ERROR+4 in a long call in inner",
		"5000 at 5000: 1 DEBUG-4 once more in inner",
		"9200 at 9200: 9 INFO in none in none",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLogsIDs: a line has the same id whenever it is read, which no other has, also if the clock
// stands still.
func TestLogsIDs(t *testing.T) {
	r := lineRecording(t, func(at uint64) (list []recording.Event) {
		for _, ticks := range []uint64{100, 200, 200, 200, 300} {
			list = append(list, recording.Event{Kind: recording.Line, Ticks: at + ticks, Level: recording.UnknownLevel, Data: []byte("again")})
		}
		return list
	})
	read := func() (ids []string) {
		l := NewLogs(walk.Source{Recording: r}, 0)
		l.Emit = func(_ uint64, line *logspb.LogRecord) {
			ids = append(ids, attribute(line.Attributes, "log.record.uid").GetStringValue())
		}
		s := r.Events(recording.Window{})
		defer s.Close()
		var e recording.Event
		for s.Next(&e) {
			l.Event(&e)
		}
		l.Close()
		return ids
	}
	first, again := read(), read()
	if !slices.Equal(first, again) {
		t.Errorf("the ids are %q, then %q", first, again)
	}
	if slices.Sort(first); len(slices.Compact(first)) != 5 {
		t.Errorf("five lines have the ids %q", first)
	}
}

// TestLogsQuiet: also while nothing happens lines are given up.
func TestLogsQuiet(t *testing.T) {
	r := viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), 1, 1) // one call, which does not end
	first, _ := r.Clocks()
	l := NewLogs(walk.Source{Recording: r}, time.Millisecond)
	n := 0
	l.Emit = func(_ uint64, line *logspb.LogRecord) {
		if n++; line.SpanId == nil {
			t.Error("it is in no span")
		}
	}
	l.Event(&recording.Event{Kind: recording.Entry, Ticks: first.Ticks + 100, Goroutine: 1, Function: 2, Call: 1})
	l.Event(&recording.Event{Kind: recording.Line, Ticks: first.Ticks + 200, Goroutine: 1, Depth: 1, Level: recording.UnknownLevel, Data: []byte("a line")})
	l.Quiet(time.Millisecond / 2)
	if n != 0 {
		t.Error("it was given up while nobody could know")
	}
	l.Quiet(time.Millisecond)
	if n != 1 {
		t.Errorf("%d lines were given up", n)
	}
}
