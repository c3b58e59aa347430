package schema

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// TestProcesslist: each session sees what all do.
func TestProcesslist(t *testing.T) {
	c := &Catalog{}
	c.Add(newFake("app"))
	s, other := openIn(t, c), openIn(t, c)
	s.Identify(7, "one@there", nil)
	other.Identify(8, "two@here", nil)
	ask(t, other, "USE test")
	long := "SELECT '" + strings.Repeat("x", 120) + "' FROM information_schema.processlist WHERE ID = 7"
	want := "7|one|there|performance_schema|Query|0|executing|%s\n8|two|here|test|Sleep|0||NULL\n"
	for _, query := range []string{"SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.processlist /* " + long + " */"} {
		if got := ask(t, s, query); got != fmt.Sprintf(want, query) {
			t.Errorf("%s: %s", query, got)
		}
	}
	short := "SHOW PROCESSLIST /* " + long + " */"
	if got := ask(t, s, short); got != fmt.Sprintf(want, short[:100]) {
		t.Errorf("got %s", got)
	}
	// A statement goes on until all of its result was read, or it was closed.
	doing := func() string { return ask(t, s, "SELECT COMMAND FROM information_schema.processlist WHERE ID = 8") }
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT i FROM n"
	for _, end := range []func(r *Result){(*Result).Close, func(r *Result) {
		for row, _ := r.Next(); row != nil; row, _ = r.Next() {
		}
	}} {
		r, err := other.Query(context.Background(), many, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := doing(); got != "Query\n" {
			t.Errorf("under way: %s", got)
		}
		if end(r); doing() != "Sleep\n" {
			t.Errorf("ended: %s", doing())
		}
	}
	if _, _, err := try(t, other, "SELECT nonsense"); err == nil || doing() != "Sleep\n" {
		t.Errorf("failed: %v %s", err, doing())
	}
}

func sorted(list string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(strings.TrimSpace(list), ",")), ",")
}

// TestSettings: SET, USE, @variables, and that they are a session's own.
func TestSettings(t *testing.T) {
	c := &Catalog{}
	c.Add(newFake("app"))
	s, other := openIn(t, c), openIn(t, c)
	ask(t, s, "SET NAMES utf8mb4")
	ask(t, s, "SET @a = (SELECT COUNT(*) FROM setup_instruments), @b = 'x', SESSION sql_mode = '', autocommit = 0")
	if got := ask(t, s, "SELECT @a + 1, @b, @@sql_mode, @@autocommit"); got != "6|x||0\n" {
		t.Errorf("got %q", got)
	}
	if got := ask(t, other, "SELECT @a, @@autocommit"); got != "NULL|1\n" {
		t.Errorf("another session: %q", got)
	}
	ask(t, s, "USE test")
	ask(t, s, "CREATE TABLE mine (a INT, b VARCHAR(10))")
	ask(t, s, "INSERT INTO mine VALUES (?, ?), (2, 'b')", int64(1), "a")
	if got := ask(t, other, "SELECT SUM(a), MAX(b) FROM test.mine"); got != "3|b\n" {
		t.Errorf("the table of another session: %q", got)
	}
	// A table of the same name in another schema is another table.
	ask(t, s, "CREATE TABLE setup_instruments AS SELECT 'mine' AS NAME")
	if got := ask(t, s, "SELECT NAME FROM setup_instruments"); got != "mine\n" {
		t.Errorf("in test: %q", got)
	}
	if got := ask(t, s, "SELECT COUNT(*) FROM performance_schema.setup_instruments"); got != "5\n" {
		t.Errorf("in performance_schema: %q", got)
	}
	if got := ask(t, s, "SHOW TABLES"); got != "mine\nsetup_instruments\n" {
		t.Errorf("tables: %q", got)
	}
	ask(t, s, "TRUNCATE mine")
	ask(t, s, "BEGIN")
	ask(t, s, "INSERT INTO mine VALUES (9, 'z')")
	ask(t, s, "ROLLBACK")
	ask(t, s, "COMMIT")
	if got := ask(t, s, "SELECT COUNT(*) FROM mine"); got != "0\n" {
		t.Errorf("behind TRUNCATE and ROLLBACK: %q", got)
	}
	ask(t, s, "BEGIN")
	ask(t, s, "INSERT INTO mine VALUES (9, 'z')")
	before := s.InTransaction()
	ask(t, s, "CREATE TABLE large (a BIGINT UNSIGNED)") // which ends the transaction
	if !before || s.InTransaction() {
		t.Errorf("in a transaction: %v after BEGIN, %v after CREATE", before, s.InTransaction())
	}
	ask(t, other, "INSERT INTO test.large VALUES (18446744073709551615)")
	if got := ask(t, other, "SELECT a.a, b.a FROM test.mine AS a, test.large AS b"); got != "9|18446744073709551616\n" {
		t.Errorf("after the transaction: %q", got)
	}
	ask(t, s, "DROP TABLE mine")
}

const (
	createV = "CREATE TABLE test.v (x INT, y INT)"
	insertV = "INSERT INTO test.v VALUES (3, 1), (1, 1), (2, 2), (NULL, 3)"
)

// assignments are queries that assign, their rows, and what @a is then.
var assignments = []struct{ query, rows, a string }{
	{"SELECT @a := x FROM test.v WHERE x IS NOT NULL", "3\n1\n2\n", "2"},
	{"SELECT @a := x FROM test.v ORDER BY x DESC LIMIT 2", "3\n2\n", "2"},
	{"SELECT @A := x + 1 AS z FROM test.v ORDER BY z DESC", "4\n3\n2\nNULL\n", "NULL"},
	{"SELECT @b := MAX(x) m, @a := COUNT(*) FROM test.v", "3|4\n", "4"},
	{"SELECT @a := 5 FROM test.v WHERE 0", "", "4"},
	{"SELECT @a := SUM(x) s, y FROM test.v GROUP BY y ORDER BY s DESC LIMIT 1", "4|1\n", "4"},
	{"SELECT DISTINCT @a := y FROM test.v ORDER BY y LIMIT 2", "1\n2\n", "2"},
	{"SELECT x, @a := y, v.* FROM test.v HAVING x > 2", "3|1|3|1\n", "1"},
	{"WITH w AS (SELECT 7 AS n) SELECT @a := CONCAT(n, ?) FROM w", "7!\n", "7!"},
	{"SELECT @b, @a := 1 XOR 1", "3|0\n", "0"},
	{"SELECT @a := x, @a + 1 AS y, @a FROM test.v WHERE x < 3 ORDER BY x", "1|2|1\n2|3|2\n", "2"},
	{"SELECT 1 + (@a := 1), @a := @a + 1, @a", "2|2|2\n", "2"},
	{"SELECT @a := @c := 4, @c + 1", "4|5\n", "4"},
	{"SELECT @c := 5, @a := @c := 6, @c", "5|6|6\n", "6"},
	{"SELECT CASE x WHEN 1 THEN @a := 10 WHEN 2 THEN @a := IF(y > 1, 20, 21) ELSE @a := 0 END z, CAST(CASE @a WHEN 0 THEN 1 ELSE @a + 1 END AS SIGNED) FROM test.v WHERE x < 3 ORDER BY x", "10|11\n20|21\n", "20"},
	{"SELECT IF(x > 1, @a := x, @a := -1) AS z, @a FROM test.v WHERE x < 3 ORDER BY x DESC", "2|2\n-1|-1\n", "-1"},
}

// TestAssigned: @variables that a query assigns, as MariaDB does it.
func TestAssigned(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, createV)
	ask(t, s, insertV)
	for _, c := range assignments {
		var args []any
		if strings.Contains(c.query, "?") {
			args = append(args, "!")
		}
		if got := ask(t, s, c.query, args...); got != c.rows {
			t.Errorf("%s: %q", c.query, got)
		}
		if got := ask(t, s, "SELECT @a"); got != c.a+"\n" {
			t.Errorf("%s: @a is %q", c.query, got)
		}
	}
	if _, r, err := try(t, s, "SELECT COUNT(*), @n := COUNT(*), @m:=max(x) AS m, @b := 2 'b' FROM test.v"); err != nil || fmt.Sprint(r.Columns) != "[{COUNT(*) 2 0} {@n := COUNT(*) 2 0} {m 2 0} {b 2 0}]" {
		t.Errorf("columns: %v %v", r.Columns, err)
	}
	// All rows count, though the result is closed before.
	r, err := s.Query(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT @a := i FROM n", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if got := ask(t, s, "SELECT @a"); got != "1000\n" {
		t.Errorf("@a is %q", got)
	}
	for _, query := range []string{"SELECT @a := @a + 1", "SELECT x FROM test.v WHERE @a := x", "SELECT @a, @a := 1", "SELECT @a := RAND(), @a", "SELECT IFNULL(x, @a := 1) FROM test.v", "SELECT CASE WHEN x THEN @a := 1 END FROM test.v", "SELECT DISTINCT 1 + (@a := 1)", "SELECT @a := 1, (SELECT @a)", "SELECT CASE WHEN x THEN 1 WHEN @a := 2 THEN 3 END FROM test.v", "SELECT @a := 1 UNION SELECT 2", "SELECT *, @a := 1 FROM test.v",
		"SELECT * FROM (SELECT @a := 1) y", "INSERT INTO test.v SELECT @a := 1, 2", "UPDATE test.v SET x = @a := 1"} {
		if got, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Unsupported {
			t.Errorf("%s: %q %v", query, got, err)
		}
	}
	if ask(t, s, "SET @a = @b := 7, @c = 1 + (@b := @a + 1)"); ask(t, s, "SELECT @a, @b, @c") != "7|8|9\n" {
		t.Error("SET assigns within a value")
	}
	if got, _, err := try(t, s, "SELECT @a :="); err == nil || err.Number != mysqlerr.Syntax {
		t.Errorf("without a value: %q %v", got, err)
	}
}

// TestFoundRows: FOUND_ROWS and ROW_COUNT are of the statement before.
func TestFoundRows(t *testing.T) {
	s := open(t, newFake("app"))
	for _, c := range []struct {
		query          string
		args           []any
		found, changed int
	}{
		{"SELECT NAME FROM setup_instruments", nil, 5, -1},
		{"SELECT NAME FROM setup_instruments WHERE 0", nil, 0, -1},
		{"SELECT SQL_CALC_FOUND_ROWS NAME FROM setup_instruments WHERE NAME > ? LIMIT ?", []any{"a", 2}, 5, -1},
		{"SELECT DISTINCT SQL_CALC_FOUND_ROWS NAME RLIKE 'lock$' FROM setup_instruments LIMIT 0, 1", nil, 2, -1},
		{"SHOW TABLES LIKE 'setup%'", nil, 6, -1},
		{"CREATE TABLE test.v (x INT)", nil, 0, 0},
		{"INSERT INTO test.v VALUES (1), (2), (3)", nil, 0, 3},
		{"UPDATE test.v SET x = 5 WHERE x > 1", nil, 0, 2},
		{"SELECT nosuch", nil, 0, -1},
		{"SELECT SQL_CALC_FOUND_ROWS nosuch LIMIT 1", nil, 0, -1},
	} {
		try(t, s, c.query, c.args...)
		if got := ask(t, s, "SELECT FOUND_ROWS(), ROW_COUNT()"); got != fmt.Sprintf("%d|%d\n", c.found, c.changed) {
			t.Errorf("%s: %q", c.query, got)
		}
	}
}

// TestTransactions: a session can be told to change nothing.
func TestTransactions(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "SET SESSION TRANSACTION READ ONLY, ISOLATION LEVEL READ COMMITTED")
	const variables = "SELECT @@transaction_read_only, @@tx_read_only, @@SESSION.transaction_isolation, @@tx_isolation"
	if got := ask(t, s, variables); got != "1|1|READ-COMMITTED|READ-COMMITTED\n" {
		t.Error(got)
	}
	for _, query := range []string{"UPDATE setup_instruments SET ENABLED = 'YES'", "CREATE TABLE test.t (x INT)", "TRUNCATE TABLE events_calls_history", "INSERT INTO setup_actors VALUES ('%', '%', 'NO')", "GRANT SELECT ON *.* TO ann"} {
		if _, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.ReadTransaction || err.State != "25006" {
			t.Errorf("%s: %v", query, err)
		}
	}
	ask(t, s, "START TRANSACTION")
	ask(t, s, "SELECT COUNT(*) FROM threads")
	ask(t, s, "COMMIT")
	ask(t, s, "SET @@tx_isolation = 'SERIALIZABLE'")
	ask(t, s, "SET LOCAL TRANSACTION READ WRITE")
	if got := ask(t, s, variables); got != "0|0|SERIALIZABLE|SERIALIZABLE\n" {
		t.Error(got)
	}
	ask(t, s, "CREATE TABLE test.t (x INT)")
	for _, query := range []string{"SET SESSION TRANSACTION", "SET SESSION TRANSACTION READ", "SET SESSION TRANSACTION READ ONLY,", "SET SESSION TRANSACTION READ ONLY READ WRITE", "SET SESSION TRANSACTION ISOLATION LEVEL NONE"} {
		if _, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Syntax {
			t.Errorf("%s: %v", query, err)
		}
	}
	if got := ask(t, s, variables); got != "0|0|SERIALIZABLE|SERIALIZABLE\n" {
		t.Errorf("after statements that are wrong: %s", got)
	}
}

// TestKept: the schema test may be in a file, so that settings outlive ftrace.
func TestKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "saved?#.db")
	for i := range 2 {
		c := &Catalog{Test: file}
		f := newFake("app")
		c.Add(f)
		s := openIn(t, c)
		if i == 0 {
			f.functions[2].Enabled = true
			ask(t, s, "CREATE TABLE test.saved AS SELECT * FROM setup_instruments")
			s.Close()
			continue
		}
		ask(t, s, "UPDATE setup_instruments s SET ENABLED = (SELECT ENABLED FROM test.saved x WHERE x.NAME = s.NAME)")
		for i, fn := range f.functions {
			if fn.Enabled != (i == 2) {
				t.Errorf("%s: %v", fn.Name, fn.Enabled)
			}
		}
	}
}

// TestSeveral: several processes at once, and one that ends.
func TestSeveral(t *testing.T) {
	a, b := newFake("10"), newFake("20")
	s := open(t, a, b)
	ask(t, s, "UPDATE setup_instruments SET ENABLED='YES', TIMED='YES' WHERE PROCESS = 20 AND NAME LIKE '%main%'")
	if a.functions[0].Enabled || !b.functions[0].Enabled {
		t.Error("the wrong process was changed")
	}
	b.call(1, 1, 50, "")
	if got := ask(t, s, "SELECT * FROM setup_instruments WHERE NAME = 'call/main/main'"); got != "10|call/main/main|NO|NO\n20|call/main/main|YES|YES\n" {
		t.Errorf("got\n%s", got)
	}
	want := "call/main/main|0|1\n"
	if got := ask(t, s, `SELECT a.EVENT_NAME, a.COUNT_STAR, b.COUNT_STAR FROM events_calls_summary_global_by_event_name a
		JOIN events_calls_summary_global_by_event_name b ON a.EVENT_NAME = b.EVENT_NAME AND a.PROCESS < b.PROCESS WHERE a.COUNT_STAR <> b.COUNT_STAR`); got != want {
		t.Errorf("joined: %s", got)
	}
	if got := ask(t, s, "SELECT COLUMN_NAME, SEQ_IN_INDEX FROM information_schema.statistics WHERE TABLE_NAME = 'threads'"); got != "PROCESS|1\nTHREAD_ID|2\n" {
		t.Errorf("key: %s", got)
	}
	if got := ask(t, s, "SELECT COUNT(*), COUNT(DISTINCT PROCESS) FROM performance_timers"); got != "10|2\n" {
		t.Errorf("timers: %s", got)
	}
	ask(t, s, "INSERT INTO setup_actors VALUES ('call/main/%', '%', 'NO')")
	if len(a.actors) != 2 || len(b.actors) != 2 || a.actors[1] != b.actors[1] {
		t.Errorf("actors: %+v %+v", a.actors, b.actors)
	}
	ask(t, s, "INSERT INTO setup_actors (HOST, USER, ENABLED) VALUES ('tenant=1', '%.serve', 'NO')") // by MySQL's names
	if got, want := a.actors[2], a.actors[1]; got.Pattern != [3]string{"%.serve", "tenant=1"} || got.Flags != want.Flags {
		t.Errorf("actors: %+v, want the flags of %+v", got, want)
	}
	if got := ask(t, s, "DELETE FROM setup_actors WHERE USER = '%.serve' AND HOST = 'tenant=1'"); len(a.actors) != 2 || len(b.actors) != 2 {
		t.Errorf("%s: actors: %+v %+v", got, a.actors, b.actors)
	}
	ask(t, s, "INSERT INTO setup_objects (PROCESS, OBJECT_SCHEMA, ENABLED) VALUES ('20', 'net/%', 'NO')")
	if len(a.objects) != 1 || len(b.objects) != 2 || b.objects[1] != (source.Rule{Pattern: [3]string{"net/%", "%", "%"}, Flags: source.Flags{Timed: true}}) {
		t.Errorf("objects: %+v %+v", a.objects, b.objects)
	}
	ask(t, s, "UPDATE setup_objects SET TIMED='NO' WHERE OBJECT_SCHEMA = 'net/%'")
	ask(t, s, "DELETE FROM setup_objects WHERE PROCESS = '20' AND OBJECT_SCHEMA = '%'")
	if len(b.objects) != 1 || b.objects[0].Flags != (source.Flags{}) {
		t.Errorf("objects: %+v", b.objects)
	}
	ask(t, s, "TRUNCATE setup_objects")
	if len(a.objects)+len(b.objects) != 0 {
		t.Errorf("objects: %+v %+v", a.objects, b.objects)
	}
	a.gone = true
	if got := ask(t, s, "SELECT DISTINCT PROCESS FROM setup_instruments"); got != "20\n" {
		t.Errorf("when one has ended: %s", got)
	}
}

// FuzzQuery: no text makes a session fail in another way than by an error with a number, and none
// leads out of the schemas.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"SELECT * FROM setup_instruments WHERE NAME LIKE 'a\\_%'", "UPDATE setup_consumers SET ENABLED='no' WHERE NAME<>'x'", "SHOW FULL COLUMNS FROM `threads`",
		"SET @a = 1, autocommit=0", "CREATE TABLE test.a AS SELECT 1", "TRUNCATE TABLE events_calls_history", "select @@version, database() from dual", "/*!4 show */ tables", "DESC threads",
		"UPDATE setup_instruments i JOIN test.a AS s ON i.NAME = s.NAME, threads SET i.ENABLED = (s.b), i.TIMED = ? WHERE 1", "SELECT (NOW()) - INTERVAL 1 DAY + INTERVAL 2 HOUR, DATE_ADD(a.b, INTERVAL 1 YEAR)",
		"SELECT GROUP_CONCAT(DISTINCT a, (b) ORDER BY c SEPARATOR 'x')", "SELECT !a XOR !(b) XOR CASE a WHEN 1 THEN !b END c FROM x",
		"SELECT INTERVAL '1 2' DAY_HOUR + a - INTERVAL -1.5 MINUTE_SECOND, DATE_ADD('2026-01-01', INTERVAL '-1:2' HOUR_MINUTE)",
		"SELECT a, b.c x, SUM(a), GROUPING(a, b.c) FROM (SELECT 1 a) z GROUP BY a, x, LEFT(a, 1), 2 WITH ROLLUP HAVING a ORDER BY 1 LIMIT 1", "SELECT DISTINCT @a := (1), @b := 2 x, @c FROM a", "UPDATE test.a x, setup_consumers y SET x.b = 1, y.ENABLED = (x.c), z = ? ORDER",
		"((SELECT 1) UNION (SELECT a LIMIT 1) ORDER BY 1)", "SELECT TRIM(LEADING FROM a), SUBSTR(a FROM 1 FOR 2) IN (b), UPPER(a) = ANY (SELECT 1), NULLIF(CASE 'a' WHEN b THEN 1 END, c), DATE '2026-01-01', a MOD (b), MOD(a, 2)", "SELECT STDDEV(a), VAR_SAMP(b) OVER (ORDER BY c ROWS 1 PRECEDING)",
		"SELECT a DIV (b) % c MOD -d, CAST(a AS DECIMAL(1, 2)), CONVERT(b, CHAR(3)), EXTRACT(DAY FROM c), BINARY 'a' 'b' = 'c', FORMAT(1, 2), ROUND(1.5, 9), SUBSTR('a', 2, 3), SEC_TO_TIME(5)",
		"SELECT x'4d', b'1', N'a', 0b1, 1--1, 'a\\0b', 1 [x, @b:=1], 2x, $y",
		"CREATE USER IF NOT EXISTS a@localhost IDENTIFIED WITH mysql_native_password BY 'b', 'c'@'%' IDENTIFIED BY \"d\"", "ALTER USER USER() IDENTIFIED BY 'a'", "SHOW GRANTS FOR a",
		"GRANT SELECT, UPDATE (NAME, a), CREATE VIEW ON TABLE performance_schema.threads TO a, 'c'@'%' WITH GRANT OPTION", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM a", "REVOKE UPDATE (a), GRANT OPTION ON *.* FROM a",
		"CREATE OR REPLACE VIEW test.v (a, b) AS SELECT 1, NAME FROM threads x WITH", "DROP VIEW IF EXISTS test.v, test.w CASCADE", "SELECT * FROM test.v a JOIN test.v b"} {
		f.Add(q)
	}
	c := &Catalog{Accounts: accounts.New("ftrace", "")}
	c.Add(newFake("app"))
	s, err := c.Session(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		language.Split(query)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r, err := s.Query(ctx, query, nil)
		if err != nil {
			if e, ok := err.(*mysqlerr.Error); !ok || e.Number == 0 || len(e.State) != 5 {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		for range 100 {
			if row, err := r.Next(); row == nil || err != nil {
				break
			}
		}
		r.Close()
	})
}
