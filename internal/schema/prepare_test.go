package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// TestPrepare compares columns that are known ahead with those that a query has with values.
func TestPrepare(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	ask(t, s, "USE test")
	for _, query := range oracleTables {
		ask(t, s, query)
	}
	for _, c := range []struct {
		query string
		args  []any
	}{
		{"SELECT * FROM performance_schema.setup_instruments WHERE NAME LIKE ? LIMIT ?, ?", []any{"call/%", 0, 2}},
		{"SELECT NAME, COUNT(*) AS n, AVG(TIMER_WAIT) FROM performance_schema.setup_instruments LEFT JOIN performance_schema.events_calls_history ON EVENT_NAME = NAME GROUP BY 1", nil},
		{"SELECT x / 2, x + 0.5, 7e0, n, x AS `a b`, COUNT(*) OVER () FROM t WHERE x > ?;", []any{1}},
		{"SELECT t.*, u.z FROM t JOIN u USING (n)", nil},
		{"SELECT * FROM t JOIN u USING (n)", nil},
		{"SELECT x, SUM(y) FROM t GROUP BY x WITH ROLLUP", nil},
		{"WITH c AS (SELECT x FROM t WHERE y = ?) SELECT x, x DIV 2 AS half FROM c UNION ALL SELECT 1, 2 LIMIT 3", []any{2}},
		{"(SELECT n FROM t LIMIT 1) LIMIT ?", []any{5}},
		{"VALUES ROW(1, 'a'), ROW(2, 'b')", nil},
		{"SELECT @a := x, n FROM t", nil},
		{"SELECT SLEEP(60) + 1 AS late", nil},
		{"SELECT COUNT(*) FROM information_schema.tables WHERE TABLE_SCHEMA = ?", []any{"test"}},
	} {
		before := f.snapshots
		params, ahead, err := s.Prepare(t.Context(), c.query)
		if err != nil || params != len(c.args) || f.snapshots != before {
			t.Errorf("%s: %d ?s, %d snapshots: %v", c.query, params, f.snapshots-before, err)
		}
		if c.query == "SELECT SLEEP(60) + 1 AS late" {
			if len(ahead) != 1 || ahead[0].Name != "late" {
				t.Errorf("%s: %v", c.query, ahead)
			}
			continue
		}
		r, err := s.Query(t.Context(), c.query, c.args)
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		r.Close()
		if !slices.Equal(ahead, r.Columns) {
			t.Errorf("%s: %v ahead, then %v", c.query, ahead, r.Columns)
		}
	}
	for query, want := range map[string]uint16{"SELECT * FROM nosuch": mysqlerr.NoSuchTable, "SELECT nothing FROM t WHERE x = ?": mysqlerr.UnknownColumn, "SELECT FROM": mysqlerr.Syntax, "SELECT 'open": mysqlerr.Syntax} {
		if _, _, err := s.Prepare(t.Context(), query); err == nil || err.(*mysqlerr.Error).Number != want {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, query := range []string{"UPDATE t SET x = ?", "SHOW TABLES LIKE ?", "DELETE FROM t WHERE x = ?"} {
		if params, ahead, err := s.Prepare(t.Context(), query); err != nil || params != 1 || ahead != nil {
			t.Errorf("%s: %d ?s, columns %v: %v", query, params, ahead, err)
		}
	}
	for _, c := range []struct{ query, value, want string }{
		{"SHOW TABLES LIKE ?", "T%", "t\ntimes\n"},
		{"SHOW TABLES LIKE ?", "x", ""},
		{"SELECT 'a_b' LIKE ?, 'axb' LIKE ?", `a\_b`, "1|0\n"},
		{"SELECT SUM(x) OVER (ORDER BY x ROWS ? PRECEDING) FROM (SELECT 1 x UNION SELECT 2 UNION SELECT 4) y", "1", "1\n3\n6\n"},
	} {
		if got := ask(t, s, c.query, slices.Repeat([]any{c.value}, strings.Count(c.query, "?"))...); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.query, c.value, got, c.want)
		}
	}
}
