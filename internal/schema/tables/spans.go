package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqltext"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Statements and stages, as the core sees them.

// spansOf returns the spans of a class, in the order in which they began.
func (v *View) spansOf(class string) []source.Span {
	return slices.DeleteFunc(slices.Clone(v.Spans), func(s source.Span) bool { return v.Function(s.Function).Class() != class })
}

// ofThreads returns those of the threads that there are: the process keeps the last spans of all
// goroutines, those that have ended included.
func (v *View) ofThreads(spans []source.Span) []source.Span {
	threads := map[uint64]bool{}
	for i := range v.Threads {
		threads[v.Threads[i].ID] = true
	}
	return slices.DeleteFunc(slices.Clone(spans), func(s source.Span) bool { return !threads[s.Thread] })
}

// currentSpans returns those that are under way, and the last one of each thread that has none.
func (v *View) currentSpans(spans []source.Span) []source.Span {
	spans = v.ofThreads(spans)
	busy, last := map[uint64]bool{}, map[uint64]int{}
	for i := range spans {
		last[spans[i].Thread] = i
		busy[spans[i].Thread] = busy[spans[i].Thread] || spans[i].Inside
	}
	var rows []source.Span
	for i := range spans {
		if t := spans[i].Thread; spans[i].Inside || !busy[t] && last[t] == i {
			rows = append(rows, spans[i])
		}
	}
	return rows
}

// historySpans returns the last of each thread that have ended, in the order of the threads.
func (v *View) historySpans(spans []source.Span) []source.Span {
	n := map[uint64]int{}
	var rows []source.Span
	for _, s := range slices.Backward(v.ofThreads(spans)) {
		if !s.Inside && n[s.Thread] < v.History {
			n[s.Thread]++
			rows = append(rows, s)
		}
	}
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b source.Span) int { return cmp.Compare(a.Thread, b.Thread) })
	return rows
}

// endedSpans returns those that have ended.
func endedSpans(spans []source.Span) []source.Span {
	return slices.DeleteFunc(slices.Clone(spans), func(s source.Span) bool { return s.Inside })
}

// statementsOf returns statements as rows of their tables.
func (v *View) statementsOf(spans []source.Span) []source.Statement {
	rows := make([]source.Statement, len(spans))
	for i := range spans {
		s := &spans[i]
		row := source.Statement{Event: s.Event, Name: v.Function(s.Function).Instrument(), Text: s.Text, Message: s.Message, Failed: s.Failed || s.Panicked}
		if s.Text != "" {
			row.Normal = sqltext.Normal(s.Text)
			row.Digest = sqltext.Digest(row.Normal)
		}
		if m := mysqlError().FindStringSubmatch(s.Message); m != nil {
			row.Code, _ = strconv.ParseInt(m[1], 10, 64)
		}
		rows[i] = row
	}
	return rows
}

// mysqlError matches the text of an error of MySQL's driver.
var mysqlError = words.Regexp(`^Error (\d+)\b`)

// ownStatements returns the tables of statements by what the core knows, if it knows any.
func (v *View) ownStatements() (s source.Statements, some bool) {
	spans := v.spansOf(source.StatementClass)
	sums := v.only(v.Global, source.StatementClass)
	if len(spans) == 0 && len(sums) == 0 {
		return s, false
	}
	s.Current, s.History, s.Long = v.statementsOf(v.currentSpans(spans)), v.statementsOf(v.historySpans(spans)), v.statementsOf(endedSpans(spans))
	digests := map[string]int{}
	for i := range s.Long {
		key := s.Long[i].Name + " " + s.Long[i].Digest
		at, known := digests[key]
		if !known {
			at = len(s.Digests)
			digests[key] = at
			s.Digests = append(s.Digests, source.StatementSummary{})
		}
		s.Digests[at].Add(&s.Long[i])
	}
	for i := range sums {
		t := source.StatementSummary{Summary: sums[i], Event: v.Function(sums[i].Function).Instrument()}
		t.Errors += t.Panics
		s.Events = append(s.Events, t)
	}
	slices.SortFunc(s.Events, func(a, b source.StatementSummary) int { return strings.Compare(a.Event, b.Event) })
	return s, true
}

// stageTables have a row for each HTTP request that the program served or made, and sums of them.
var stageTables = slices.Concat([]*Table{
	New("events_stages_current", func(v *View) []source.Span { return v.currentSpans(v.spansOf(source.StageClass)) }, stageColumns...),
	withParts(New("events_stages_history", func(v *View) []source.Span { return v.historySpans(v.spansOf(source.StageClass)) }, stageColumns...), source.StagePart),
	withParts(New("events_stages_history_long", func(v *View) []source.Span { return endedSpans(v.spansOf(source.StageClass)) }, stageColumns...), source.StagePart),
	withParts(reading(live.SumsByFunction, New("events_stages_summary_global_by_event_name", func(v *View) []source.Summary {
		return every(v.only(v.Global, source.StageClass), v.kindsOf(source.StageClass))
	}, summaryColumns()...)), source.StageGlobalPart),
}, summariesBy(source.StageClass, summaryColumns))

// probeTables have a row for each time that a static probe fired, and how often each did.
var probeTables = slices.Concat([]*Table{
	New("events_probes_current", func(v *View) []source.Span { return v.currentSpans(v.Fired) }, probeColumns...),
	withParts(New("events_probes_history", func(v *View) []source.Span { return v.historySpans(v.Fired) }, probeColumns...), source.ProbePart),
	withParts(New("events_probes_history_long", func(v *View) []source.Span { return v.Fired }, probeColumns...), source.ProbePart),
	withParts(reading(live.SumsByFunction, New("events_probes_summary_global_by_event_name", func(v *View) []source.Summary { return every(v.only(v.Global, source.ProbeClass), v.Probes) }, firedColumns()...)), source.ProbeGlobalPart),
}, summariesBy(source.ProbeClass, firedColumns))

// firedColumns returns the columns of how often probes fired, beginning with what that is grouped
// by.
func firedColumns(by ...Column[source.Summary]) []Column[source.Summary] {
	return summaryColumns(by...)[:len(by)+2]
}

var probeColumns = slices.Concat(spanColumns, nestingColumns[source.Span](), []Column[source.Span]{
	Optional("ARGS", TextKind, func(_ *View, s *source.Span) (string, bool) { return s.Args().Get() }),
})

// kindsOf returns the instruments of a class.
func (v *View) kindsOf(class string) []source.Function {
	return slices.DeleteFunc(slices.Clone(v.Kinds), func(f source.Function) bool { return f.Class() != class })
}

var spanColumns = eventColumns(id("EVENT_ID", func(s *source.Span) uint64 { return s.ID }), Null[source.Span]("SOURCE", NameKind))

var stageColumns = slices.Concat(spanColumns, []Column[source.Span]{
	Null[source.Span]("WORK_COMPLETED", "bigint unsigned"),
	Null[source.Span]("WORK_ESTIMATED", "bigint unsigned"),
}, nestingColumns[source.Span](), []Column[source.Span]{
	Text("REQUEST", TextKind, func(_ *View, s *source.Span) string { return s.Text }),
	Unsigned("STATUS", func(s *source.Span) uint64 { return uint64(max(s.Status, 0)) }),
	Known("MESSAGE_TEXT", TextKind, func(_ *View, s *source.Span) string { return s.Message }),
	Number("ERRORS", func(s *source.Span) int64 {
		if s.Failed || s.Panicked {
			return 1
		}
		return 0
	}),
	Optional("TRACE_ID", WordKind, func(_ *View, s *source.Span) (string, bool) { id, _, ok := strings.Cut(s.Trace, "-"); return id, ok }),
	Optional("SPAN_ID", WordKind, func(_ *View, s *source.Span) (string, bool) { _, id, ok := strings.Cut(s.Trace, "-"); return id, ok }),
	Known("PARENT_SPAN_ID", WordKind, func(_ *View, s *source.Span) string { return s.Parent }),
})
