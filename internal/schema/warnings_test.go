package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// warned are statements and what SHOW WARNINGS has then, in schema test with oracleTables. MariaDB
// has the same, but calls some numbers DECIMAL that MySQL calls DOUBLE.
var warned = []struct{ query, warnings string }{
	{"SELECT '1x' = 1", "Warning|1292|Truncated incorrect DOUBLE value: '1x'\n"},
	{"SELECT 'abc' + 1", "Warning|1292|Truncated incorrect DOUBLE value: 'abc'\n"},
	{"SELECT '1x' * '2y'", "Warning|1292|Truncated incorrect DOUBLE value: '1x'\nWarning|1292|Truncated incorrect DOUBLE value: '2y'\n"},
	{"SELECT -'abc'", "Warning|1292|Truncated incorrect DOUBLE value: 'abc'\n"},
	{"SELECT 'abc' = 1.5", "Warning|1292|Truncated incorrect DOUBLE value: 'abc'\n"},
	{"SELECT '1x' IN (1, 2)", "Warning|1292|Truncated incorrect DOUBLE value: '1x'\n"},
	{"SELECT 'a' BETWEEN 1 AND 2", "Warning|1292|Truncated incorrect DOUBLE value: 'a'\n"},
	{"SELECT n + 1 FROM t WHERE x IN (1, 4)", "Warning|1292|Truncated incorrect DOUBLE value: 'a'\nWarning|1292|Truncated incorrect DOUBLE value: 'Ab'\n"},
	{"SELECT COUNT(*) FROM t WHERE x = 'abc'", "Warning|1292|Truncated incorrect DOUBLE value: 'abc'\n"},
	{"SELECT IF(x > 3, n, 'abc' + 1) FROM t WHERE x > 3", ""},
	{"SELECT CAST('12a' AS SIGNED)", "Warning|1292|Truncated incorrect INTEGER value: '12a'\n"},
	{"SELECT '1.5e3' = 1500, ' 5' = 5, '-.5' + 1, 'a' = 'b', n = 'a' FROM t", ""},
	{"DROP TABLE IF EXISTS nosuch", "Note|1051|Unknown table 'test.nosuch'\n"},
	{"CREATE TABLE IF NOT EXISTS t (a INT)", "Note|1050|Table 't' already exists\n"},
	{"SELECT * FROM nosuch", "Error|1146|Table 'test.nosuch' doesn't exist\n"},
	{"SELECT 1", "Error|1146|Table 'test.nosuch' doesn't exist\n"}, // it is of no table, and leaves them as they are
	{"SELECT COUNT(*) FROM t", ""},
}

func TestWarnings(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "USE test")
	for _, query := range oracleTables {
		ask(t, s, query)
	}
	for _, c := range warned {
		try(t, s, c.query)
		n := strings.Count(c.warnings, "\n")
		of := n
		if c.query == "SELECT 1" {
			of = 0 // it had none itself
		}
		if got := s.Warnings(); got != of {
			t.Errorf("%s: %d warnings, want %d", c.query, got, of)
		}
		for range 2 { // it leaves them as they are
			if got := ask(t, s, "SHOW WARNINGS"); got != c.warnings {
				t.Errorf("%s: %q, want %q", c.query, got, c.warnings)
			}
		}
		if got := ask(t, s, "SHOW COUNT(*) WARNINGS"); got != fmt.Sprintln(n) {
			t.Errorf("%s: SHOW COUNT(*) WARNINGS: %q", c.query, got)
		}
	}
	try(t, s, "SELECT nothing")
	for query, want := range map[string]string{
		"SELECT @@warning_count, @@error_count": "1|1\n",
		"SHOW ERRORS":                           "Error|1054|Unknown column 'nothing' in 'field list'\n",
		"SHOW WARNINGS LIMIT 1, 5":              "",
		"SHOW COUNT(*) ERRORS":                  "1\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	ask(t, s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT CONCAT(i, 'x') + 1 FROM n")
	all := s.Warnings()
	if kept := strings.Count(ask(t, s, "SHOW WARNINGS"), "\n"); all != 200 || kept != warningsMax {
		t.Errorf("%d warnings, of which %d are kept", all, kept)
	}
	s.Reset()
	if got := ask(t, s, "SHOW WARNINGS"); got != "" {
		t.Errorf("%q are left of the session before it was reset", got)
	}
	if _, _, err := try(t, s, "SHOW COUNT(*) TABLES"); err == nil || err.Number != mysqlerr.Syntax {
		t.Errorf("SHOW COUNT(*) TABLES: %v", err)
	}
}
