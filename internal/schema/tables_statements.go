package schema

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
)

// statements returns the program's statements. If that fails so does the SQL statement.
func (v *view) statements() Statements {
	if own, some := v.ownStatements(); some {
		return own
	}
	if v.Statements == nil {
		return Statements{}
	}
	s, err := v.Statements()
	if err != nil {
		v.session.fail(err)
	}
	return s
}

// statementTables have a row for each statement that the program sent to a server, and sums of
// them.
var statementTables = slices.Concat([]*table{
	reading(live.SumsByFunction, newTable("events_statements_current", func(v *view) []Statement { return v.statements().Current }, statementColumns...)),
	withParts(reading(live.SumsByFunction, newTable("events_statements_history", func(v *view) []Statement { return v.statements().History }, statementColumns...)), StatementPart),
	withParts(reading(live.SumsByFunction, newTable("events_statements_history_long", func(v *view) []Statement { return v.statements().Long }, statementColumns...)), StatementPart),
	reading(live.SumsByFunction, newTable("events_statements_summary_by_digest", func(v *view) []StatementSummary { return v.statements().Digests },
		append([]column[StatementSummary]{
			text("DIGEST", wordKind, func(_ *view, s *StatementSummary) string { return s.Digest }),
			text("DIGEST_TEXT", textKind, func(_ *view, s *StatementSummary) string { return s.Normal }),
		}, append(statementSums[:len(statementSums):len(statementSums)],
			number("FIRST_SEEN", func(s *StatementSummary) int64 { return s.First }),
			number("LAST_SEEN", func(s *StatementSummary) int64 { return s.Last }),
			text("QUERY_SAMPLE_TEXT", textKind, func(_ *view, s *StatementSummary) string { return s.Sample }),
		)...)...)),
	withParts(reading(live.SumsByFunction, newTable("events_statements_summary_global_by_event_name", func(v *view) []StatementSummary { return v.statements().Events },
		append([]column[StatementSummary]{text("EVENT_NAME", nameKind, func(_ *view, s *StatementSummary) string { return s.Event })}, statementSums...)...)), StatementGlobalPart),
}, summariesBy(statementClass, summaryColumns))

var statementColumns = slices.Concat(eventColumns(id("EVENT_ID", func(s *Statement) uint64 { return s.ID }), unsigned("CONNECTION_ID", func(s *Statement) uint64 { return s.Connection })), []column[Statement]{
	text("SQL_TEXT", textKind, func(_ *view, s *Statement) string { return s.Text }),
	known("DIGEST", wordKind, func(_ *view, s *Statement) string { return s.Digest }),
	optional("DIGEST_TEXT", textKind, func(_ *view, s *Statement) (string, bool) { return s.Normal, s.Digest != "" }),
	number("MYSQL_ERRNO", func(s *Statement) int64 { return s.Code }),
	known("MESSAGE_TEXT", textKind, func(_ *view, s *Statement) string { return s.Message }),
	number("ERRORS", func(s *Statement) int64 {
		if s.failed() {
			return 1
		}
		return 0
	}),
	id("ROWS_AFFECTED", func(s *Statement) uint64 { return s.Affected }),
	id("ROWS_SENT", func(s *Statement) uint64 { return s.Rows }),
}, nestingColumns[Statement]())

func (s *Statement) named(*view) string { return s.Instrument() }

var statementSums = append(sumColumns("STAR", "WAIT", func(s *StatementSummary) *Summary { return &s.Summary }),
	id("SUM_ERRORS", func(s *StatementSummary) uint64 { return s.Errors }),
	id("SUM_ROWS_AFFECTED", func(s *StatementSummary) uint64 { return s.Affected }),
	id("SUM_ROWS_SENT", func(s *StatementSummary) uint64 { return s.Rows }),
)
