package schema

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
)

// eventTables have a row for each call.
var eventTables = []*table{
	withParts(newTable("events_calls_current", currentCalls, callColumns...)),
	withParts(newTable("events_calls_history", historyCalls, callColumns...), HistoryPart),
	withParts(reading(live.LongCalls, newTable("events_calls_history_long", func(v *view) []Call { return v.Long }, callColumns...)), HistoryLongPart),
}

func withParts(t *table, parts ...Part) *table {
	t.parts = parts
	return t
}

// currentCalls returns each thread's calls under way, or its last one if there are none.
func currentCalls(v *view) []Call {
	var calls []Call
	for i := range v.Threads {
		t := &v.Threads[i]
		calls = append(calls, t.Current...)
		if n := len(t.History); len(t.Current) == 0 && n > 0 {
			calls = append(calls, t.History[n-1])
		}
	}
	return calls
}

func historyCalls(v *view) []Call {
	var calls []Call
	for i := range v.Threads {
		calls = append(calls, v.Threads[i].History...)
	}
	return calls
}

var callColumns = slices.Concat(eventColumns(id("EVENT_ID", func(c *Call) uint64 { return c.ID }),
	known("SOURCE", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Source() })), []column[Call]{
	text("OBJECT_SCHEMA", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Package }),
	text("OBJECT_NAME", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Method() }),
	known("OBJECT_TYPE", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Type() }),
	unsigned("OBJECT_INSTANCE_BEGIN", func(c *Call) uint64 { return c.values().Object }),
}, nestingColumns[Call](), []column[Call]{
	optional("ARGS", textKind, func(_ *view, c *Call) (string, bool) { return c.values().Args.get() }),
	optional("RESULTS", textKind, func(_ *view, c *Call) (string, bool) { return c.values().Results.get() }),
	optional("ERROR", textKind, func(_ *view, c *Call) (string, bool) {
		text, ok := c.values().Error.get()
		if !ok && (c.Failed || c.Panicked) {
			return "?", true // its text was not recorded
		}
		return text, ok
	}),
	yesNo("PANICKED", func(c *Call) bool { return c.Panicked }),
})

// anEvent is a row with an Event.
type anEvent[T any] interface {
	*T
	event() *Event
	named(*view) string
}

func (e *Event) event() *Event { return e }

// named returns the EVENT_NAME.
func (e *Event) named(v *view) string { return v.Function(e.Function).Instrument() }

// eventColumns are what all tables of events begin with: number is EVENT_ID, and third is what
// comes after EVENT_NAME.
func eventColumns[T any, P anEvent[T]](number, third column[T]) []column[T] {
	of := func(r *T) *Event { return P(r).event() }
	return []column[T]{
		id("THREAD_ID", func(r *T) uint64 { return of(r).Thread }),
		number,
		unsigned("END_EVENT_ID", func(r *T) uint64 { return of(r).EndID }),
		text("EVENT_NAME", nameKind, func(v *view, r *T) string { return P(r).named(v) }),
		third,
		moment("TIMER_START", func(r *T) (int64, bool) { return of(r).Start, of(r).Timed }),
		moment("TIMER_END", func(r *T) (int64, bool) { return of(r).End, of(r).Timed && !of(r).Inside }),
		moment("TIMER_WAIT", func(r *T) (int64, bool) { return of(r).End - of(r).Start, of(r).Timed && !of(r).Inside }),
	}
}

// nestingColumns say what is around an event.
func nestingColumns[T any, P anEvent[T]]() []column[T] {
	of := func(r *T) *Event { return P(r).event() }
	return []column[T]{
		unsigned("NESTING_EVENT_ID", func(r *T) uint64 { return of(r).Nesting }),
		optional("NESTING_EVENT_TYPE", wordKind, func(v *view, r *T) (string, bool) {
			return v.nestingType(of(r).Thread, of(r).Nesting), of(r).Nesting != 0
		}),
		number("NESTING_LEVEL", func(r *T) int64 { return int64(of(r).Level) }),
	}
}

// moment is a column of times, which may be NULL.
func moment[T any](name string, f func(*T) (int64, bool)) column[T] {
	return column[T]{columnHead{name: name, kind: "bigint unsigned", null: true}, func(_ *view, r *T) value {
		if ps, ok := f(r); ok {
			return ps
		}
		return nil
	}}
}
