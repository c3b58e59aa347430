package schema

import "github.com/ftrace-wrap/ftrace-wrap/internal/live"

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

var callColumns = []column[Call]{
	id("THREAD_ID", func(c *Call) uint64 { return c.Thread }),
	id("EVENT_ID", func(c *Call) uint64 { return c.ID }),
	unsigned("END_EVENT_ID", func(c *Call) uint64 { return c.EndID }),
	text("EVENT_NAME", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Instrument() }),
	known("SOURCE", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Source() }),
	moment("TIMER_START", func(c *Call) (int64, bool) { return c.Start, c.Timed }),
	moment("TIMER_END", func(c *Call) (int64, bool) { return c.End, c.Timed && !c.Inside }),
	moment("TIMER_WAIT", func(c *Call) (int64, bool) { return c.End - c.Start, c.Timed && !c.Inside }),
	text("OBJECT_SCHEMA", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Package }),
	text("OBJECT_NAME", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Method() }),
	known("OBJECT_TYPE", nameKind, func(v *view, c *Call) string { return v.Function(c.Function).Type() }),
	unsigned("OBJECT_INSTANCE_BEGIN", func(c *Call) uint64 { return c.values().Object }),
	unsigned("NESTING_EVENT_ID", func(c *Call) uint64 { return c.Nesting }),
	optional("NESTING_EVENT_TYPE", wordKind, func(v *view, c *Call) (string, bool) { return v.nestingType(c.Thread, c.Nesting), c.Nesting != 0 }),
	number("NESTING_LEVEL", func(c *Call) int64 { return int64(c.Level) }),
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
