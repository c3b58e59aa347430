package tables

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// eventTables have a row for each call.
var eventTables = []*Table{
	New("events_calls_current", currentCalls, callColumns...),
	withParts(New("events_calls_history", historyCalls, callColumns...), source.HistoryPart),
	withParts(reading(live.LongCalls, New("events_calls_history_long", func(v *View) []source.Call { return v.Long }, callColumns...)), source.HistoryLongPart),
}

func withParts(t *Table, parts ...source.Part) *Table {
	t.Parts = parts
	return t
}

// currentCalls returns each thread's calls under way, or its last one if there are none.
func currentCalls(v *View) []source.Call {
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

func historyCalls(v *View) []source.Call {
	var calls []source.Call
	for i := range v.Threads {
		calls = append(calls, v.Threads[i].History...)
	}
	return calls
}

var callColumns = slices.Concat(eventColumns(id("EVENT_ID", func(c *source.Call) uint64 { return c.ID }),
	Known("SOURCE", NameKind, func(v *View, c *source.Call) string { return v.Function(c.Function).Source() })), []Column[source.Call]{
	Text("OBJECT_SCHEMA", NameKind, func(v *View, c *source.Call) string { return v.Function(c.Function).Package }),
	Text("OBJECT_NAME", NameKind, func(v *View, c *source.Call) string { return v.Function(c.Function).Method() }),
	Known("OBJECT_TYPE", NameKind, func(v *View, c *source.Call) string { return v.Function(c.Function).Type() }),
	Unsigned("OBJECT_INSTANCE_BEGIN", func(c *source.Call) uint64 { return c.Recorded().Object }),
}, nestingColumns[source.Call](), []Column[source.Call]{
	Optional("ARGS", TextKind, func(_ *View, c *source.Call) (string, bool) { return c.Recorded().Args.Get() }),
	Optional("RESULTS", TextKind, func(_ *View, c *source.Call) (string, bool) { return c.Recorded().Results.Get() }),
	Optional("ERROR", TextKind, func(_ *View, c *source.Call) (string, bool) {
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
func eventColumns[T any, P anEvent[T]](number, third Column[T]) []Column[T] {
	of := func(r *T) *source.Event { return P(r).Common() }
	return []Column[T]{
		id("THREAD_ID", func(r *T) uint64 { return of(r).Thread }),
		number,
		Unsigned("END_EVENT_ID", func(r *T) uint64 { return of(r).EndID }),
		Text("EVENT_NAME", NameKind, func(v *View, r *T) string { return P(r).Named(v.Snapshot) }),
		third,
		moment("TIMER_START", func(r *T) (int64, bool) { return of(r).Start, of(r).Timed }),
		moment("TIMER_END", func(r *T) (int64, bool) { return of(r).End, of(r).Timed && !of(r).Inside }),
		moment("TIMER_WAIT", func(r *T) (int64, bool) { return of(r).End - of(r).Start, of(r).Timed && !of(r).Inside }),
	}
}

// nestingColumns say what is around an event.
func nestingColumns[T any, P anEvent[T]]() []Column[T] {
	of := func(r *T) *source.Event { return P(r).Common() }
	return []Column[T]{
		Unsigned("NESTING_EVENT_ID", func(r *T) uint64 { return of(r).Nesting }),
		Optional("NESTING_EVENT_TYPE", WordKind, func(v *View, r *T) (string, bool) {
			return v.NestingType(of(r).Thread, of(r).Nesting), of(r).Nesting != 0
		}),
		Number("NESTING_LEVEL", func(r *T) int64 { return int64(of(r).Level) }),
	}
}

// moment is a column of times, which may be NULL.
func moment[T any](name string, f func(*T) (int64, bool)) Column[T] {
	return Column[T]{Head{Name: name, Kind: "bigint unsigned", Null: true}, func(_ *View, r *T) value {
		if ps, ok := f(r); ok {
			return ps
		}
		return nil
	}}
}
