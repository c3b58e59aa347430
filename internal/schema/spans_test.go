package schema

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// TestSpans: statements and stages are in tables of their own, and what is within them says so.
func TestSpans(t *testing.T) {
	f := newWaiting()
	for i, name := range []string{"sql/select", "sql/other", "http/server/GET /a"} {
		class := "statement"
		if i == 2 {
			class = "stage"
		}
		f.kinds = append(f.kinds, source.Function{Key: uint32(201 + i), Span: true, Package: class, Name: name})
	}
	f.spans = []source.Span{
		{Event: source.Event{Thread: 2, ID: 1, EndID: 3, Function: 203, Timed: true, Start: 1, End: 50}, Status: 500, Text: "GET /a"},
		{Event: source.Event{Thread: 2, ID: 2, EndID: 2, Nesting: 1, Level: 1, Function: 203}, Text: "GET /b", Trace: "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", Parent: "b7ad6b7169203331"},
		{Event: source.Event{Thread: 2, ID: 4, EndID: 4, Nesting: 1, Level: 1, Function: 201, Timed: true, Start: 60, End: 70}, Text: "SELECT 1 FROM t"},
		{Event: source.Event{Thread: 2, ID: 5, EndID: 5, Nesting: 1, Level: 1, Function: 201, Timed: true, Start: 71, End: 75}, Text: "SELECT 2 FROM t", Failed: true, Message: "Error 1146 (42S02): no t"},
		{Event: source.Event{Thread: 1, ID: 9, Nesting: 1, Level: 1, Function: 201, Timed: true, Inside: true, Start: 80}, Text: "SELECT 3"},
		{Event: source.Event{Thread: 77, ID: 1, EndID: 1, Function: 203, Timed: true, Start: 62, End: 63}, Text: "GET /ended"}, // of a goroutine that has ended
		{Event: source.Event{Thread: 77, ID: 2, EndID: 2, Function: 201, Timed: true, Start: 63, End: 64}, Text: "SELECT 4 FROM t"},
		{Event: source.Event{Thread: 1, ID: 8, Nesting: 1, Level: 1, Function: 201, Inside: false}, Panicked: true},
	}
	f.global[201] = &source.Summary{Function: 201, Count: 4, Timed: 3, Sum: 15, Min: 1, Max: 10, Errors: 1, Panics: 1}
	s := open(t, f)
	for query, want := range map[string]string{
		"SELECT THREAD_ID, EVENT_ID, END_EVENT_ID, EVENT_NAME, TIMER_WAIT, NESTING_EVENT_ID, NESTING_EVENT_TYPE, REQUEST, STATUS, ERRORS FROM events_stages_history_long WHERE EVENT_ID = 1 AND THREAD_ID = 2": "2|1|3|stage/http/server/GET /a|49|NULL|NULL|GET /a|500|0\n",
		"SELECT THREAD_ID, EVENT_ID, EVENT_NAME, TIMER_END, SQL_TEXT FROM events_statements_current":                                                                                                           "2|5|statement/sql/select|75|SELECT 2 FROM t\n1|9|statement/sql/select|NULL|SELECT 3\n",
		"SELECT THREAD_ID, EVENT_ID, MYSQL_ERRNO, MESSAGE_TEXT, ERRORS, NESTING_EVENT_TYPE, TIMER_START FROM events_statements_history":                                                                        "1|8|0|NULL|1|CALL|NULL\n2|4|0|NULL|0|STAGE|60\n2|5|1146|Error 1146 (42S02): no t|1|STAGE|71\n",
		"SELECT DIGEST_TEXT, COUNT_STAR, SUM_ERRORS, SUM_TIMER_WAIT FROM events_statements_summary_by_digest WHERE DIGEST_TEXT <> ''":                                                                          "SELECT ? FROM t|3|1|15\n",
		"SELECT EVENT_NAME, COUNT_STAR, SUM_ERRORS FROM events_statements_summary_global_by_event_name":                                                                                                        "statement/sql/select|4|2\n",
		"SELECT REQUEST FROM events_stages_current":                                                    "GET /b\n",
		"SELECT REQUEST FROM events_stages_history":                                                    "GET /a\nGET /b\n",
		"SELECT REQUEST FROM events_stages_history_long WHERE THREAD_ID = 77":                          "GET /ended\n",
		"SELECT TRACE_ID, SPAN_ID, PARENT_SPAN_ID FROM events_stages_history_long WHERE THREAD_ID < 3": "NULL|NULL|NULL\n4bf92f3577b34da6a3ce929d0e0e4736|00f067aa0ba902b7|b7ad6b7169203331\n",
		"SELECT EVENT_NAME, COUNT_STAR FROM events_stages_summary_global_by_event_name":                "stage/http/server/GET /a|0\n",
		"SELECT EVENT_ID, NESTING_EVENT_TYPE FROM events_waits_history WHERE THREAD_ID = 2":            "2|STAGE\n3|STAGE\n",
		"SELECT COUNT(*) FROM events_calls_summary_global_by_event_name WHERE EVENT_NAME LIKE 'st%'":   "0\n",
		"SELECT THREAD_ID, STATE, PROCESSLIST_INFO FROM threads WHERE THREAD_ID < 3":                   "1|WAITING|statement/sql/select\n2|OUTSIDE|NULL\n",
		"SELECT NAME FROM setup_instruments WHERE NAME LIKE 'st%'":                                     "statement/sql/select\nstatement/sql/other\nstage/http/server/GET /a\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s\ngot\n%swant\n%s", query, got, want)
		}
	}
	for _, query := range []string{"TRUNCATE events_statements_summary_by_digest", "UPDATE events_statements_history SET EVENT_ID=1", "DELETE FROM events_stages_current"} {
		if _, _, err := try(t, s, query); err == nil || err.Number != 1142 {
			t.Errorf("%s: %v", query, err)
		}
	}
}
