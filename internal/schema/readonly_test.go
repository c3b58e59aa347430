package schema

import (
	"errors"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// TestReadOnly: a read-only catalog refuses what would change anything for others, and nothing that
// reads.
func TestReadOnly(t *testing.T) {
	c := &Catalog{ReadOnly: true}
	c.Add(newFake("app"))
	s := openIn(t, c)
	for _, query := range []string{
		"UPDATE setup_instruments SET ENABLED = 'YES'", "update setup_instruments set ENABLED = 'YES'",
		"DELETE FROM setup_actors", "INSERT INTO setup_actors VALUES ('%', '%', '%')", "REPLACE INTO test.t VALUES (1)",
		"TRUNCATE events_calls_history_long", "CREATE TABLE test.t (a INT)", "CREATE TABLE test.t AS SELECT 1", "CREATE TEMPORARY TABLE test.t (a INT)",
		"DROP TABLE test.t", "ALTER TABLE test.t ADD COLUMN b INT", "RENAME TABLE test.t TO test.u",
		"BEGIN", "COMMIT", "LOCK TABLES test.t WRITE", "FLUSH STATUS",
		"SET GLOBAL max_statement_time = 1", "SET @@GLOBAL.max_statement_time = 1", "SET @a = 1, GLOBAL wait_timeout = 1",
		"SET STATEMENT max_statement_time = 1 FOR UPDATE setup_instruments SET ENABLED = 'YES'",
		"SET STATEMENT max_statement_time = 1 FOR DROP TABLE test.t",
	} {
		var e *mysqlerr.Error
		if err := readAll(s, t.Context(), query); !errors.As(err, &e) || e.Number != mysqlerr.Prevented {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, query := range []string{
		"SELECT 1", "(SELECT 1)", "WITH a AS (SELECT 1) SELECT * FROM a", "VALUES ROW(1)", "SHOW TABLES", "DESCRIBE threads",
		"EXPLAIN SELECT * FROM threads", "EXPLAIN UPDATE setup_instruments SET ENABLED = 'YES'", "USE sys", "USE performance_schema",
		"SET @a = 1", "SET max_statement_time = 1", "DO 1", "SET STATEMENT max_statement_time = 1 FOR SELECT * FROM threads",
	} {
		if err := readAll(s, t.Context(), query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
}
