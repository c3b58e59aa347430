package schema

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// TestUserViews: views of tables of any schema, for all sessions.
func TestUserViews(t *testing.T) {
	c := &Catalog{Accounts: accounts.New("ftrace", "secret")}
	c.Accounts.AddReader("reader", "x")
	c.Add(newFake("p"))
	s, other, ann := openIn(t, c), openIn(t, c), openIn(t, c)
	other.Identify(2, "reader@localhost", nil)
	ann.Identify(3, "ann@localhost", nil)
	for _, step := range strings.Split(strings.TrimSpace(`
0 CREATE USER ann IDENTIFIED BY 'x'
0 GRANT SELECT ON test.* TO ann
0 CREATE TABLE test.own (a INT, NAME VARCHAR(100))
0 INSERT INTO test.own VALUES (7, 'call/main/main')
1146 DROP TABLE test.nosuch
0 CREATE VIEW test.functions AS SELECT NAME, ENABLED FROM setup_instruments WHERE NAME LIKE 'call/%'
1050 CREATE VIEW test.functions AS SELECT 1
0 CREATE VIEW IF NOT EXISTS test.functions AS SELECT 1
1050 CREATE VIEW test.own AS SELECT 1
1050 CREATE OR REPLACE VIEW test.own AS SELECT 1
1050 CREATE TABLE test.functions (a INT)
1142 CREATE VIEW v AS SELECT 1
1142 CREATE VIEW sys.v AS SELECT 1
1064 CREATE VIEW test.v
1064 CREATE VIEW test.v AS SELECT
1064 CREATE TEMPORARY VIEW test.v AS SELECT 1
1146 CREATE VIEW test.v AS SELECT * FROM nosuch
1054 CREATE VIEW test.v AS SELECT nosuch FROM threads
1351 CREATE VIEW test.v AS SELECT @a
1351 CREATE VIEW test.v AS SELECT * FROM threads WHERE THREAD_ID IN (SELECT @@max_allowed_packet)
1353 CREATE VIEW test.v (a, b) AS SELECT 1
1060 CREATE VIEW test.v AS SELECT 1 a, 2 A
1060 CREATE VIEW test.v (a, a) AS SELECT 1, 2
1235 CREATE VIEW test.v AS SELECT 1 WITH CHECK OPTION
1146 CREATE VIEW test.v AS SELECT * FROM test.v
1462 CREATE OR REPLACE VIEW test.functions AS SELECT * FROM test.functions
1146 ALTER VIEW test.v AS SELECT 1
0 CREATE VIEW test.joined (name, number) AS SELECT f.NAME, o.a FROM test.functions f JOIN test.own o USING (NAME)
0 CREATE OR REPLACE VIEW test.by_state AS SELECT ENABLED, COUNT(*) AS n FROM setup_instruments GROUP BY ENABLED WITH ROLLUP
0 ALTER VIEW test.functions AS SELECT NAME, TIMED FROM performance_schema.setup_instruments WHERE NAME LIKE 'call/main/%'
1462 ALTER VIEW test.functions AS SELECT * FROM test.joined
1288 UPDATE test.functions SET NAME = 'x'
1288 INSERT INTO test.functions VALUES (1, 2)
1288 DELETE FROM test.functions
1288 UPDATE test.functions f JOIN test.own o USING (NAME) SET f.NAME = 'x'
1288 TRUNCATE test.functions
1235 SELECT * FROM test.ftrace_views
1235 DROP TABLE test.ftrace_views
1347 DROP VIEW test.own
1051 DROP VIEW test.functions, test.nosuch
1235 RENAME VIEW test.functions TO test.g
`), "\n") {
		want, query, _ := strings.Cut(step, " ")
		_, _, err := try(t, s, query)
		if err == nil && want != "0" || err != nil && fmt.Sprint(err.Number) != want {
			t.Errorf("%s: %v, want error %s", query, err, want)
		}
	}
	for query, want := range map[string]string{
		"SELECT * FROM test.functions":                        "call/main/main|NO\ncall/main/Pool.Get|NO\n",
		"SELECT F.NAME FROM test.Functions F LIMIT 1":         "call/main/main\n",
		"SELECT * FROM test.joined":                           "call/main/main|7\n",
		"SELECT number + 1 FROM test.joined WHERE name <> ''": "8\n",
		"SELECT * FROM test.by_state":                         "NO|5\nNULL|5\n",
		"WITH setup_instruments AS (SELECT 1 AS NAME) SELECT COUNT(*) FROM test.functions, setup_instruments": "2\n",
		"SHOW TABLES FROM test":        "by_state\nfunctions\njoined\nown\n",
		"SHOW FULL TABLES FROM test":   "by_state|VIEW\nfunctions|VIEW\njoined|VIEW\nown|BASE TABLE\n",
		"DESCRIBE test.joined":         "name|varchar(512)|YES||NULL|\nnumber|int|YES||NULL|\n",
		"SHOW CREATE VIEW test.joined": "joined|CREATE VIEW `joined` (`name`,`number`) AS SELECT f.NAME, o.a FROM test.functions f JOIN test.own o USING (NAME)|utf8mb4|utf8mb4_general_ci\n",
		"SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.views WHERE TABLE_NAME = 'by_state'": "by_state|SELECT ENABLED, COUNT(*) AS n FROM setup_instruments GROUP BY ENABLED WITH ROLLUP\n",
		"SELECT COLUMN_NAME FROM information_schema.columns WHERE TABLE_NAME = 'by_state'":               "ENABLED\nn\n",
	} {
		ask(t, other, "USE test") // the views were made with another default schema
		if got := ask(t, other, query); got != want {
			t.Errorf("%s:\n%swant\n%s", query, got, want)
		}
	}
	if _, _, err := try(t, ann, "SELECT * FROM test.functions"); err == nil || err.Number != 1142 {
		t.Errorf("a view of a table that may not be read: %v", err)
	}
	if _, _, err := try(t, other, "DROP VIEW test.functions"); err == nil || err.Number != 1142 {
		t.Errorf("the reader drops a view: %v", err)
	}
	ask(t, s, "DROP VIEW test.functions, test.by_state")
	if _, _, err := try(t, s, "SELECT * FROM test.joined"); err == nil || err.Number != 1146 {
		t.Errorf("a view of a view that was dropped: %v", err)
	}
	ask(t, s, "DROP VIEW IF EXISTS test.joined, test.functions")
	if got := ask(t, s, "SHOW TABLES FROM test"); got != "own\n" {
		t.Errorf("there are %s", got)
	}
}

// TestManyViews: views of views do not make a statement grow without end.
func TestManyViews(t *testing.T) {
	s := open(t, newFake("p"))
	ask(t, s, "CREATE VIEW test.v0 AS SELECT 1 AS n")
	for i := range 40 {
		if _, _, err := try(t, s, fmt.Sprintf("CREATE VIEW test.v%d AS SELECT a.n FROM test.v%d a, test.v%[2]d b LIMIT 1", i+1, i)); err != nil {
			if err.Number != mysqlerr.TooDeep || i < 5 {
				t.Errorf("view %d: %v", i+1, err)
			}
			return
		}
	}
	t.Error("there is no limit")
}

// TestViewsInFile: views last as long as the file of schema test.
func TestViewsInFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.db")
	for i := range 2 {
		c := &Catalog{Test: file}
		c.Add(newFake("p"))
		s := openIn(t, c)
		if i == 0 {
			ask(t, s, "CREATE VIEW test.timers AS SELECT NAME FROM setup_timers")
		}
		if got := ask(t, s, "SELECT * FROM test.timers"); got != "call\nwait\n" {
			t.Errorf("run %d: %s", i, got)
		}
	}
}

// TestSysViews: the views of schema sys can be read by themselves, under another name, and beside
// other tables, also of several processes. They cannot be changed.
func TestSysViews(t *testing.T) {
	var sources []source.Source
	for _, name := range []string{"app", "other"} {
		f := newFake(name)
		for i := range f.functions {
			f.functions[i].Flags = source.Flags{Enabled: true, Timed: true}
		}
		f.call(1, 1, 5_000_000, "")
		f.call(1, 2, 2_000_000, "")
		f.call(1, 2, 4_000_000, "no")
		f.functions[1].Timed = false
		f.call(1, 2, 9_000_000, "") // it counts, and has no time
		sources = append(sources, f)
	}
	s := open(t, sources...)
	for query, want := range map[string]string{
		"SELECT * FROM sys.top_functions":           "call/main/Pool.Get|6|12.00 us|12.00 us|3.00 us|4.00 us|2|0\ncall/main/main|2|10.00 us|10.00 us|5.00 us|5.00 us|0|0\n",
		"SELECT * FROM sys.functions_with_errors f": "call/main/Pool.Get|6|2|0|33.3333\n",
		"SELECT t.calls, u.errors, f.calls FROM sys.top_functions t JOIN sys.functions_with_errors u USING (`function`), (SELECT calls FROM SYS.Top_Functions LIMIT 1) f": "6|2|6\n",
		"SELECT functions_with_errors.error_pct FROM sys.functions_with_errors":                                                                                           "33.3333\n",
		"WITH top_functions AS (SELECT 1 AS n) SELECT n, calls FROM top_functions, sys.top_functions ORDER BY calls":                                                      "1|2\n1|6\n",
		"DESCRIBE sys.functions_with_errors":                         "function|varchar(512)|YES||NULL|\ncalls|bigint|YES||NULL|\nerrors|bigint|YES||NULL|\npanics|bigint|YES||NULL|\nerror_pct|double|YES||NULL|\n",
		"SHOW COLUMNS FROM sys.waits_global_by_latency LIKE 'total'": "total|bigint|YES||NULL|\n",
		"SELECT VIEW_DEFINITION LIKE 'SELECT EVENT_NAME AS `function`%DESC' FROM information_schema.views WHERE TABLE_NAME = 'top_functions'": "1\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for name, view := range sysTables() {
		if view.Rows != nil {
			continue
		}
		_, r, err := try(t, s, "SELECT * FROM sys."+name)
		if err != nil || !slices.EqualFunc(r.Columns, view.Columns, func(c Column, head tables.Head) bool { return c.Name == head.Name }) {
			t.Errorf("sys.%s: %v", name, err)
		}
	}
	for _, query := range []string{"UPDATE sys.top_functions SET calls = 1", "DELETE FROM sys.top_functions", "INSERT INTO sys.top_functions (calls) VALUES (1)", "TRUNCATE sys.top_functions"} {
		if _, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Denied {
			t.Errorf("%s: %v", query, err)
		}
	}
	ask(t, s, "USE sys")
	if got := ask(t, s, "SELECT COUNT(*) FROM top_functions"); got != "2\n" {
		t.Errorf("by its name alone: %q", got)
	}
}

// TestViews: clients list views apart from tables, and show how they are made.
func TestViews(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "CREATE VIEW test.v AS SELECT 1 AS n")
	for query, want := range map[string]string{
		"SHOW FULL TABLES FROM sys":                                "blocked|VIEW\nfunctions_with_errors|VIEW\nio_global_by_file_by_latency|VIEW\nlock_waits|VIEW\nstatement_analysis|VIEW\nstatements_with_errors|VIEW\ntop_functions|VIEW\nwait_chains|VIEW\nwaits_by_object|VIEW\nwaits_global_by_latency|VIEW\n",
		"SHOW FULL TABLES FROM sys WHERE Table_type <> 'VIEW'":     "",
		"SHOW FULL TABLES FROM performance_schema LIKE 'setup_a%'": "setup_actors|BASE TABLE\n",
		"SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION, IS_UPDATABLE, DEFINER FROM information_schema.views WHERE TABLE_NAME IN ('v', 'blocked')": "sys|blocked|/* computed from performance_schema */|NO|ftrace@localhost\ntest|v|SELECT 1 AS n|NO|ftrace@localhost\n",
		"SELECT TABLE_NAME, ENGINE, TABLE_COMMENT FROM information_schema.tables WHERE TABLE_TYPE = 'VIEW' AND TABLE_SCHEMA = 'sys' LIMIT 1":         "blocked|NULL|VIEW\n",
		"SHOW CREATE VIEW test.v":  "v|CREATE VIEW `v` (`n`) AS SELECT 1 AS n|utf8mb4|utf8mb4_general_ci\n",
		"SHOW CREATE TABLE test.v": "v|CREATE VIEW `v` (`n`) AS SELECT 1 AS n|utf8mb4|utf8mb4_general_ci\n",
	} {
		got, _, err := try(t, s, query)
		if err != nil || got != want {
			t.Errorf("%s: got %q %v, want %q", query, got, err, want)
		}
	}
	if _, _, err := try(t, s, "SHOW CREATE VIEW setup_timers"); err == nil || err.Error() != "ERROR 1347 (HY000): 'performance_schema.setup_timers' is not VIEW" {
		t.Error(err)
	}
}
