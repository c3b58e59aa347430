package tables

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// statements returns the program's statements. If that fails so does the SQL statement.
func (v *View) statements() source.Statements {
	if own, some := v.ownStatements(); some {
		return own
	}
	if v.Statements == nil {
		return source.Statements{}
	}
	s, err := v.Statements()
	if err != nil {
		v.Statement.Fail(err)
	}
	return s
}

// statementTables have a row for each statement that the program sent to a server, and sums of
// them.
var statementTables = slices.Concat([]*Table{
	reading(live.SumsByFunction, New("events_statements_current", func(v *View) []source.Statement { return v.statements().Current }, statementColumns...)),
	withParts(reading(live.SumsByFunction, New("events_statements_history", func(v *View) []source.Statement { return v.statements().History }, statementColumns...)), source.StatementPart),
	withParts(reading(live.SumsByFunction, New("events_statements_history_long", func(v *View) []source.Statement { return v.statements().Long }, statementColumns...)), source.StatementPart),
	reading(live.SumsByFunction, New("events_statements_summary_by_digest", func(v *View) []source.StatementSummary { return v.statements().Digests },
		append([]Column[source.StatementSummary]{
			Text("DIGEST", WordKind, func(_ *View, s *source.StatementSummary) string { return s.Digest }),
			Text("DIGEST_TEXT", TextKind, func(_ *View, s *source.StatementSummary) string { return s.Normal }),
		}, append(statementSums[:len(statementSums):len(statementSums)],
			Number("FIRST_SEEN", func(s *source.StatementSummary) int64 { return s.First }),
			Number("LAST_SEEN", func(s *source.StatementSummary) int64 { return s.Last }),
			Text("QUERY_SAMPLE_TEXT", TextKind, func(_ *View, s *source.StatementSummary) string { return s.Sample }),
		)...)...)),
	withParts(reading(live.SumsByFunction, New("events_statements_summary_global_by_event_name", func(v *View) []source.StatementSummary { return v.statements().Events },
		append([]Column[source.StatementSummary]{Text("EVENT_NAME", NameKind, func(_ *View, s *source.StatementSummary) string { return s.Event })}, statementSums...)...)), source.StatementGlobalPart),
}, summariesBy(source.StatementClass, summaryColumns))

var statementColumns = slices.Concat(eventColumns(id("EVENT_ID", func(s *source.Statement) uint64 { return s.ID }), Unsigned("CONNECTION_ID", func(s *source.Statement) uint64 { return s.Connection })), []Column[source.Statement]{
	Text("SQL_TEXT", TextKind, func(_ *View, s *source.Statement) string { return s.Text }),
	Known("DIGEST", WordKind, func(_ *View, s *source.Statement) string { return s.Digest }),
	Optional("DIGEST_TEXT", TextKind, func(_ *View, s *source.Statement) (string, bool) { return s.Normal, s.Digest != "" }),
	Number("MYSQL_ERRNO", func(s *source.Statement) int64 { return s.Code }),
	Known("MESSAGE_TEXT", TextKind, func(_ *View, s *source.Statement) string { return s.Message }),
	Number("ERRORS", func(s *source.Statement) int64 {
		if s.HasFailed() {
			return 1
		}
		return 0
	}),
	id("ROWS_AFFECTED", func(s *source.Statement) uint64 { return s.Affected }),
	id("ROWS_SENT", func(s *source.Statement) uint64 { return s.Rows }),
}, nestingColumns[source.Statement]())

var statementSums = append(sumColumns("STAR", "WAIT", func(s *source.StatementSummary) *source.Summary { return &s.Summary }),
	id("SUM_ERRORS", func(s *source.StatementSummary) uint64 { return s.Errors }),
	id("SUM_ROWS_AFFECTED", func(s *source.StatementSummary) uint64 { return s.Affected }),
	id("SUM_ROWS_SENT", func(s *source.StatementSummary) uint64 { return s.Rows }),
)
