package schema

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// eventTables have a row for each call.
var eventTables = []*table{
	withParts(newTable("events_calls_current", currentCalls, callColumns...)),
	withParts(newTable("events_calls_history", historyCalls, callColumns...), source.HistoryPart),
	withParts(reading(live.LongCalls, newTable("events_calls_history_long", func(v *view) []source.Call { return v.Long }, callColumns...)), source.HistoryLongPart),
}

func withParts(t *table, parts ...source.Part) *table {
	t.parts = parts
	return t
}

// currentCalls returns each thread's calls under way, or its last one if there are none.
func currentCalls(v *view) []source.Call {
	var calls []source.Call
	for i := range v.Threads {
		t := &v.Threads[i]
		calls = append(calls, t.Current...)
		if n := len(t.History); len(t.Current) == 0 && n > 0 {
			calls = append(calls, t.History[n-1])
		}
	}
	return calls
}

func historyCalls(v *view) []source.Call {
	var calls []source.Call
	for i := range v.Threads {
		calls = append(calls, v.Threads[i].History...)
	}
	return calls
}

var callColumns = slices.Concat(eventColumns(id("EVENT_ID", func(c *source.Call) uint64 { return c.ID }),
	known("SOURCE", nameKind, func(v *view, c *source.Call) string { return v.Function(c.Function).Source() })), []column[source.Call]{
	text("OBJECT_SCHEMA", nameKind, func(v *view, c *source.Call) string { return v.Function(c.Function).Package }),
	text("OBJECT_NAME", nameKind, func(v *view, c *source.Call) string { return v.Function(c.Function).Method() }),
	known("OBJECT_TYPE", nameKind, func(v *view, c *source.Call) string { return v.Function(c.Function).Type() }),
	unsigned("OBJECT_INSTANCE_BEGIN", func(c *source.Call) uint64 { return c.Recorded().Object }),
}, nestingColumns[source.Call](), []column[source.Call]{
	optional("ARGS", textKind, func(_ *view, c *source.Call) (string, bool) { return c.Recorded().Args.Get() }),
	optional("RESULTS", textKind, func(_ *view, c *source.Call) (string, bool) { return c.Recorded().Results.Get() }),
	optional("ERROR", textKind, func(_ *view, c *source.Call) (string, bool) {
		text, ok := c.Recorded().Error.Get()
		if !ok && (c.Failed || c.Panicked) {
			return "?", true // its text was not recorded
		}
		return text, ok
	}),
	yesNo("PANICKED", func(c *source.Call) bool { return c.Panicked }),
})

// anEvent is a row with an Event.
type anEvent[T any] interface {
	*T
	Common() *source.Event
	Named(*source.Snapshot) string
}

// eventColumns are what all tables of events begin with: number is EVENT_ID, and third is what
// comes after EVENT_NAME.
func eventColumns[T any, P anEvent[T]](number, third column[T]) []column[T] {
	of := func(r *T) *source.Event { return P(r).Common() }
	return []column[T]{
		id("THREAD_ID", func(r *T) uint64 { return of(r).Thread }),
		number,
		unsigned("END_EVENT_ID", func(r *T) uint64 { return of(r).EndID }),
		text("EVENT_NAME", nameKind, func(v *view, r *T) string { return P(r).Named(v.Snapshot) }),
		third,
		moment("TIMER_START", func(r *T) (int64, bool) { return of(r).Start, of(r).Timed }),
		moment("TIMER_END", func(r *T) (int64, bool) { return of(r).End, of(r).Timed && !of(r).Inside }),
		moment("TIMER_WAIT", func(r *T) (int64, bool) { return of(r).End - of(r).Start, of(r).Timed && !of(r).Inside }),
	}
}

// nestingColumns say what is around an event.
func nestingColumns[T any, P anEvent[T]]() []column[T] {
	of := func(r *T) *source.Event { return P(r).Common() }
	return []column[T]{
		unsigned("NESTING_EVENT_ID", func(r *T) uint64 { return of(r).Nesting }),
		optional("NESTING_EVENT_TYPE", wordKind, func(v *view, r *T) (string, bool) {
			return v.NestingType(of(r).Thread, of(r).Nesting), of(r).Nesting != 0
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
