package schema

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqltext"
)

// Statements and stages, as the core sees them.

// spansOf returns the spans of a class, in the order in which they began.
func (v *view) spansOf(class string) []Span {
	return slices.DeleteFunc(slices.Clone(v.Spans), func(s Span) bool { return v.Function(s.Function).class() != class })
}

// ofThreads returns those of the threads that there are: the process keeps the last spans of all
// goroutines, those that have ended included.
func (v *view) ofThreads(spans []Span) []Span {
	threads := map[uint64]bool{}
	for i := range v.Threads {
		threads[v.Threads[i].ID] = true
	}
	return slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !threads[s.Thread] })
}

// currentSpans returns those that are under way, and the last one of each thread that has none.
func (v *view) currentSpans(spans []Span) []Span {
	spans = v.ofThreads(spans)
	busy, last := map[uint64]bool{}, map[uint64]int{}
	for i := range spans {
		last[spans[i].Thread] = i
		busy[spans[i].Thread] = busy[spans[i].Thread] || spans[i].Inside
	}
	var rows []Span
	for i := range spans {
		if t := spans[i].Thread; spans[i].Inside || !busy[t] && last[t] == i {
			rows = append(rows, spans[i])
		}
	}
	return rows
}

// historySpans returns the last of each thread that have ended, in the order of the threads.
func (v *view) historySpans(spans []Span) []Span {
	n := map[uint64]int{}
	var rows []Span
	for _, s := range slices.Backward(v.ofThreads(spans)) {
		if !s.Inside && n[s.Thread] < v.History {
			n[s.Thread]++
			rows = append(rows, s)
		}
	}
	slices.Reverse(rows)
	slices.SortStableFunc(rows, func(a, b Span) int { return cmp.Compare(a.Thread, b.Thread) })
	return rows
}

// endedSpans returns those that have ended.
func endedSpans(spans []Span) []Span {
	return slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Inside })
}

// statementsOf returns statements as rows of their tables.
func (v *view) statementsOf(spans []Span) []Statement {
	return rowsFrom(spans, func(s *Span) Statement {
		row := Statement{Event: s.Event, Name: v.Function(s.Function).Instrument(), Text: s.Text, Message: s.Message, Failed: s.Failed || s.Panicked}
		if s.Text != "" {
			row.Normal = sqltext.Normal(s.Text)
			row.Digest = sqltext.Digest(row.Normal)
		}
		if m := mysqlError.FindStringSubmatch(s.Message); m != nil {
			row.Code, _ = strconv.ParseInt(m[1], 10, 64)
		}
		return row
	})
}

// mysqlError matches the text of an error of MySQL's driver.
var mysqlError = regexp.MustCompile(`^Error (\d+)\b`)

// ownStatements returns the tables of statements by what the core knows, if it knows any.
func (v *view) ownStatements() (s Statements, some bool) {
	spans := v.spansOf(statementClass)
	sums := v.only(v.Global, statementClass)
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
			s.Digests = append(s.Digests, StatementSummary{})
		}
		s.Digests[at].add(&s.Long[i])
	}
	for i := range sums {
		t := StatementSummary{Summary: sums[i], Event: v.Function(sums[i].Function).Instrument()}
		t.Errors += t.Panics
		s.Events = append(s.Events, t)
	}
	slices.SortFunc(s.Events, func(a, b StatementSummary) int { return strings.Compare(a.Event, b.Event) })
	return s, true
}

// plainError returns the message in an error as recordings show it: *errors.errorString("text").
func plainError(printed string) string {
	if open := strings.Index(printed, `("`); open >= 0 && strings.HasSuffix(printed, ")") {
		return plainText(printed[open+1 : len(printed)-1])
	}
	return printed
}

// stageTables have a row for each HTTP request that the program served or made, and sums of them.
var stageTables = slices.Concat([]*table{
	newTable("events_stages_current", func(v *view) []Span { return v.currentSpans(v.spansOf(stageClass)) }, stageColumns...),
	withParts(newTable("events_stages_history", func(v *view) []Span { return v.historySpans(v.spansOf(stageClass)) }, stageColumns...), StagePart),
	withParts(newTable("events_stages_history_long", func(v *view) []Span { return endedSpans(v.spansOf(stageClass)) }, stageColumns...), StagePart),
	withParts(reading(live.SumsByFunction, newTable("events_stages_summary_global_by_event_name", func(v *view) []Summary { return every(v.only(v.Global, stageClass), v.kindsOf(stageClass)) }, summaryColumns()...)), StageGlobalPart),
}, summariesBy(stageClass, summaryColumns))

// probeTables have a row for each time that a static probe fired, and how often each did.
var probeTables = slices.Concat([]*table{
	newTable("events_probes_current", func(v *view) []Span { return v.currentSpans(v.Fired) }, probeColumns...),
	withParts(newTable("events_probes_history", func(v *view) []Span { return v.historySpans(v.Fired) }, probeColumns...), ProbePart),
	withParts(newTable("events_probes_history_long", func(v *view) []Span { return v.Fired }, probeColumns...), ProbePart),
	withParts(reading(live.SumsByFunction, newTable("events_probes_summary_global_by_event_name", func(v *view) []Summary { return every(v.only(v.Global, probeClass), v.Probes) }, firedColumns()...)), ProbeGlobalPart),
}, summariesBy(probeClass, firedColumns))

// firedColumns returns the columns of how often probes fired, beginning with what that is grouped
// by.
func firedColumns(by ...column[Summary]) []column[Summary] { return summaryColumns(by...)[:len(by)+2] }

var probeColumns = slices.Concat(spanColumns, nestingColumns[Span](), []column[Span]{
	optional("ARGS", textKind, func(_ *view, s *Span) (string, bool) { return s.Args().get() }),
})

// kindsOf returns the instruments of a class.
func (v *view) kindsOf(class string) []Function {
	return slices.DeleteFunc(slices.Clone(v.Kinds), func(f Function) bool { return f.class() != class })
}

var spanColumns = eventColumns(id("EVENT_ID", func(s *Span) uint64 { return s.ID }), null[Span]("SOURCE", nameKind))

var stageColumns = slices.Concat(spanColumns, []column[Span]{
	null[Span]("WORK_COMPLETED", "bigint unsigned"),
	null[Span]("WORK_ESTIMATED", "bigint unsigned"),
}, nestingColumns[Span](), []column[Span]{
	text("REQUEST", textKind, func(_ *view, s *Span) string { return s.Text }),
	unsigned("STATUS", func(s *Span) uint64 { return uint64(max(s.Status, 0)) }),
	known("MESSAGE_TEXT", textKind, func(_ *view, s *Span) string { return s.Message }),
	number("ERRORS", func(s *Span) int64 {
		if s.Failed || s.Panicked {
			return 1
		}
		return 0
	}),
	optional("TRACE_ID", wordKind, func(_ *view, s *Span) (string, bool) { id, _, ok := strings.Cut(s.Trace, "-"); return id, ok }),
	optional("SPAN_ID", wordKind, func(_ *view, s *Span) (string, bool) { _, id, ok := strings.Cut(s.Trace, "-"); return id, ok }),
	known("PARENT_SPAN_ID", wordKind, func(_ *view, s *Span) string { return s.Parent }),
})
