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
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// TestSpelling: what MySQL's users write, and what it gives.
func TestSpelling(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range map[string]string{
		"SELECT column_0, column_1 FROM (VALUES ROW(1, 'a'), ROW(2.5, 'b')) AS v":                           "1.0|a\n2.5|b\n",
		"SELECT b, v.a / 2 FROM (VALUES ROW(1, 'a'), ROW(3, 'b')) AS v (a, b) WHERE a > 1":                  "b|1.5000\n",
		"WITH v AS (SELECT 5 AS x) SELECT c, d FROM (SELECT x FROM v) v (c) JOIN ((SELECT 6)) AS w (d)":     "5|6\n",
		"SELECT x, (SELECT n FROM (SELECT n FROM (SELECT x + 1) q (n)) q (n)) FROM (SELECT 3) AS t (x)":     "3|4\n",
		"SELECT 7/2, 7 DIV 2, 7 MOD 2, 1/0, 2*3/4":                                                          "3.5000|3|1|NULL|1.5000\n",
		"SELECT 1 || 0, 1 && 0, NULL <=> NULL":                                                              "1|0|1\n",
		`SELECT "it's", 'it''s', "say ""hi""", 'a\'b\\c\n'`:                                                 "it's|it's|say \"hi\"|a'b\\c\n\n",
		"SELECT `NAME` FROM `performance_schema`.`setup_instruments` LIMIT 1, 2":                            "call/main/Pool.Get\ncall/net/http/Client.Do\n",
		"SELECT NAME FROM setup_instruments WHERE NAME LIKE '%Client\\_Do'":                                 "",
		"SELECT COUNT(*) FROM setup_instruments WHERE NAME RLIKE 'mutex/lock$'":                             "1\n",
		"SELECT COUNT(*) FROM setup_instruments WHERE NAME = 'CALL/MAIN/MAIN'":                              "1\n",
		"SELECT IF(1 > 2, 'a', 'b'), IFNULL(NULL, 3), CONCAT('a', 1), LEFT('abc', 2)":                       "b|3|a1|ab\n",
		"SELECT RIGHT('abc', 2), LPAD('a', 3, 'xy'), SUBSTRING_INDEX('a/b/c', '/', -2)":                     "bc|xya|b/c\n",
		"SELECT FORMAT_PICO_TIME(1234567), FORMAT_PICO_TIME(12), GREATEST(1, 3, 2)":                         "1.23 us|12 ps|3\n",
		"SELECT CAST('12' AS UNSIGNED) + 1, TRUNCATE(1.239, 2), UCASE('a'), ISNULL(NULL)":                   "13|1.23|A|1\n",
		"SELECT CONCAT('a', NULL), CONCAT(1, 2.5, 'x'), CONCAT_WS(',', 'a', NULL, 'b'), CONCAT_WS(NULL, 1)": "NULL|12.5x|a,b|NULL\n",
		"SELECT DATABASE(), SCHEMA(), USER(), CURRENT_USER, VERSION() LIKE '5.7%'":                          "performance_schema|performance_schema|ftrace@localhost|ftrace@localhost|1\n",
		"SELECT 1 FROM DUAL":                  "1\n",
		"EXPLAIN FORMAT=TRADITIONAL SELECT 1": "1|0|0|SCAN CONSTANT ROW\n",
		"EXPLAIN EXTENDED SELECT 1":           "1|0|0|SCAN CONSTANT ROW\n",
		"SELECT CONVERT_TZ('2026-07-01 12:00:00', 'UTC', 'Europe/Berlin'), CONVERT_TZ('2026-07-01 12:00:00', 'Nowhere', 'UTC')": "2026-07-01 14:00:00|NULL\n",
		"SELECT SQL_NO_CACHE 1 /* why */ -- so\n# and so":                                                                       "1\n",
		"/*!40101 SELECT */ 5": "5\n",
		"SELECT 1 /*!50744 + 1 */, 1 /*!50745 + /* nothing */ 1 */, 1 /*!080000 + 1 */, 1 /*!100100 + 1 */, 1 /*! + 1 */, 1 /*M!101100 + 1 */, 1 /*M!999999 + 1 */": "2|1|1|1|2|2|1\n",
		"/*!80000 SET x = 1 */":                                "",
		"SELECT @@autocommit, @@SESSION.sql_mode":              "1|STRICT_TRANS_TABLES\n",
		"WITH x AS (SELECT 1 a) SELECT a FROM x":               "1\n",
		"SELECT (SELECT COUNT(*) FROM setup_instruments), 'x'": "5|x\n",
		"SELECT GROUP_CONCAT(n ORDER BY LENGTH(n), n DESC SEPARATOR '|') FROM (SELECT 'b' AS n UNION SELECT 'aa' UNION SELECT 'c') y":                                                                              "c|b|aa\n",
		"SELECT n FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) y WHERE n = 1 OR n > 1 HAVING n < 3 ORDER BY n":                                                                                               "1\n2\n",
		"SELECT n + 1 AS m FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) y HAVING m > 3":                                                                                                                      "4\n",
		"SELECT COUNT(*) AS n FROM setup_timers HAVING n > 5":                                                                                                                                                      "",
		"SELECT n, (SELECT COUNT(*) FROM processes HAVING COUNT(*) > 0) AS c FROM (SELECT 1 AS n UNION SELECT 2) y HAVING n > 1":                                                                                   "2|1\n",
		"SELECT GROUP_CONCAT(NAME SEPARATOR ';') FROM (SELECT NAME FROM setup_consumers LIMIT 2) y":                                                                                                                "events_calls_current;events_calls_history\n",
		"SELECT GROUP_CONCAT(DISTINCT n SEPARATOR '; '), GROUP_CONCAT(DISTINCT n ORDER BY n DESC) FROM (SELECT 'b' AS n UNION ALL SELECT 'a' UNION ALL SELECT 'B' UNION ALL SELECT NULL) y":                        "b; a|b,a\n",
		"SELECT GROUP_CONCAT(n, ':', LEFT(n, 1) ORDER BY n DESC SEPARATOR ' it''s '), GROUP_CONCAT(n) FROM (SELECT 'b' AS n UNION ALL SELECT 1) y":                                                                 "b:b it's 1:1|b,1\n",
		"SELECT GROUP_CONCAT(n SEPARATOR ''), GROUP_CONCAT(NULL) FROM (SELECT 1 AS n UNION SELECT 2) y":                                                                                                            "12|NULL\n",
		"SELECT '2026-03-31 10:00:00' - INTERVAL 1 MINUTE, '2026-03-31' - INTERVAL 1 MONTH, '2024-02-29 01:02:03' + INTERVAL 1 YEAR":                                                                               "2026-03-31 09:59:00|2026-02-28|2025-02-28 01:02:03\n",
		"SELECT DATE_ADD('2026-01-01', INTERVAL 2 WEEK), DATE_SUB('2026-01-01', INTERVAL 1 + 1 HOUR), DATE_ADD('2026-01-01 00:00:00', INTERVAL 1.5 SECOND)":                                                        "2026-01-15|2025-12-31 22:00:00|2026-01-01 00:00:01.500000\n",
		"SELECT n - INTERVAL 1 DAY + INTERVAL '30' MINUTE, y.n - INTERVAL -1 QUARTER FROM (SELECT '2026-01-01' AS n) y WHERE (n) - INTERVAL 1 DAY < n":                                                             "2025-12-31 00:30:00|2026-04-01\n",
		"SELECT NOW() - INTERVAL 1 HOUR BETWEEN NOW() - INTERVAL 2 HOUR AND NOW(), 'no time' + INTERVAL 1 DAY, NULL + INTERVAL 1 DAY, NOW() + INTERVAL NULL DAY":                                                   "1|NULL|NULL|NULL\n",
		"SELECT '9999-12-31' + INTERVAL 1 DAY, '2026-01-01' - INTERVAL 1e30 YEAR, DATE_ADD(CONCAT('2026', '-01-01'), INTERVAL (SELECT 2) DAY)":                                                                     "NULL|NULL|2026-01-03\n",
		"SELECT TIMESTAMPDIFF(MINUTE, '2026-01-01', '2026-01-01 01:00:59'), TIMESTAMPDIFF(MONTH, '2026-03-31', '2026-01-31'), TIMESTAMPDIFF(YEAR, '2024-02-29', '2025-02-28'), TIMESTAMPADD(DAY, 1, '2026-01-01')": "60|-2|0|2026-01-02\n",
		"SELECT SUM(1.5), SUM(NULL), SUM(2) FROM processes":                                                                                                                                                        "1.5|NULL|2\n",
		"SELECT x'4d', X'C3BC', b'101', N'a', 0x4D, 0b11, NULLIF(x'4D', 'M')":                                                                                                                                      "M|ü|5|a|77|3|NULL\n",
		"SELECT LENGTH('a\\0b'), CONCAT('a\\0b', 'c'), REVERSE('a\\0b')":                                                                                                                                           "3|a\x00bc|b\x00a\n", // as MariaDB has them
		"SELECT 'a\\0b' 'c', 1--1, 1---1, 2- -1":                            "a\x00bc|2|0|3\n",
		"SELECT 2x, $y, `z``z` FROM (SELECT 1 AS 2x, 2 $y, 3 AS `z``z`) 4w": "1|2|3\n",
		"(SELECT 7/2, 'x' AS y LIMIT 1) UNION ALL (SELECT n, n + 1 FROM (SELECT 1 n UNION SELECT 2) z ORDER BY n DESC LIMIT 1) ORDER BY 1":                                   "2.0000|3\n3.5000|x\n",
		"((SELECT 1)) UNION DISTINCT ((SELECT NAME FROM setup_timers WHERE NAME = 'call') UNION SELECT 1)":                                                                   "1\ncall\n",
		"SELECT STDDEV(n), STD(n), VARIANCE(n), VAR_SAMP(n), STDDEV_SAMP(n), VAR_SAMP(1), VAR_POP(NULL) FROM (SELECT 1 n UNION SELECT 4 UNION SELECT NULL UNION SELECT 7) y": "2.449489742783178|2.449489742783178|6|9|3|0|NULL\n",
		"SELECT VAR_POP(n) OVER (ORDER BY n ROWS 1 PRECEDING), VAR_SAMP(n) OVER (ORDER BY n ROWS 0 PRECEDING) FROM (SELECT 1 n UNION SELECT 4 UNION SELECT 9) y":             "0|NULL\n2.25|NULL\n6.25|NULL\n",
		"SELECT COUNT(*) FROM processes HAVING STDDEV(1) = 0": "1\n",
		"((SELECT 1 AS x))":            "1\n",
		"SHOW TABLES LIKE 'setup%'":    "setup_actors\nsetup_budget\nsetup_consumers\nsetup_instruments\nsetup_objects\nsetup_timers\n",
		"SHOW DATABASES":               "information_schema\nperformance_schema\nsys\ntest\n",
		"DESC setup_timers TIMER_NAME": "TIMER_NAME|enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK')|NO||NULL|\n",
		"SHOW COLUMNS FROM setup_consumers IN performance_schema":                             "NAME|varchar(64)|NO|PRI|NULL|\nENABLED|enum('YES','NO')|NO||NULL|\n",
		"SHOW VARIABLES WHERE Variable_name = 'performance_schema'":                           "performance_schema|ON\n",
		"SELECT PRIVILEGES FROM information_schema.columns WHERE TABLE_NAME = 'setup_timers'": "select\nselect,update\n",
		"SHOW ENGINES":  "PERFORMANCE_SCHEMA|DEFAULT|Performance Schema|NO|NO|NO\n",
		"SHOW WARNINGS": "",
		"SELECT 1*`ENABLED` AS `ENABLED`, 1*`TIMED` FROM setup_instruments LIMIT 1":                         "2|2\n",
		"SELECT 1*`TIMER_NAME` FROM setup_timers WHERE NAME = 'call'":                                       "1\n",
		"SELECT NAME FROM setup_consumers WHERE NAME = 'GLOBAL_instrumentation' COLLATE utf8mb4_general_ci": "global_instrumentation\n",
		"SELECT NAME FROM setup_consumers WHERE NAME COLLATE utf8mb4_bin = 'GLOBAL_instrumentation'":        "",
		"SELECT CONVERT('x' USING utf8mb4), _utf8mb4'y', CHAR_LENGTH('ab'), BINARY 'z'":                     "x|y|2|z\n",
		"SHOW CREATE DATABASE performance_schema":                                                           "performance_schema|CREATE DATABASE `performance_schema` /*!40100 DEFAULT CHARACTER SET utf8mb4 */\n",
		"SHOW COUNT(*) WARNINGS":               "0\n",
		"SHOW PLUGINS":                         "PERFORMANCE_SCHEMA|ACTIVE|STORAGE ENGINE|NULL|MIT\n",
		"SHOW PROCEDURE STATUS WHERE Db = 'x'": "",
		"SELECT PRIVILEGES FROM information_schema.columns WHERE TABLE_NAME = 'setup_actors'": "select,insert\nselect,insert\nselect,insert,update\n",
	} {
		got, _, err := try(t, s, query)
		if err != nil || got != want {
			t.Errorf("%s: got %q %v, want %q", query, got, err, want)
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
		sources = append(sources, f)
	}
	s := open(t, sources...)
	for query, want := range map[string]string{
		"SELECT * FROM sys.top_functions":           "call/main/Pool.Get|4|12.00 us|12.00 us|3.00 us|4.00 us|2|0\ncall/main/main|2|10.00 us|10.00 us|5.00 us|5.00 us|0|0\n",
		"SELECT * FROM sys.functions_with_errors f": "call/main/Pool.Get|4|2|0|50\n",
		"SELECT t.calls, u.errors, f.calls FROM sys.top_functions t JOIN sys.functions_with_errors u USING (`function`), (SELECT calls FROM SYS.Top_Functions LIMIT 1) f": "4|2|4\n",
		"SELECT functions_with_errors.error_pct FROM sys.functions_with_errors":                                                                                           "50\n",
		"WITH top_functions AS (SELECT 1 AS n) SELECT n, calls FROM top_functions, sys.top_functions ORDER BY calls":                                                      "1|2\n1|4\n",
		"DESCRIBE sys.functions_with_errors":                         "function|varchar(512)|YES||NULL|\ncalls|bigint|YES||NULL|\nerrors|bigint|YES||NULL|\npanics|bigint|YES||NULL|\nerror_pct|double|YES||NULL|\n",
		"SHOW COLUMNS FROM sys.waits_global_by_latency LIKE 'total'": "total|bigint|YES||NULL|\n",
		"SELECT VIEW_DEFINITION LIKE 'SELECT EVENT_NAME AS `function`%DESC' FROM information_schema.views WHERE TABLE_NAME = 'top_functions'": "1\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	for name, view := range sysTables {
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
		"SHOW FULL TABLES FROM sys":                                                    "blocked|VIEW\nfunctions_with_errors|VIEW\nio_global_by_file_by_latency|VIEW\nlock_waits|VIEW\nstatement_analysis|VIEW\nstatements_with_errors|VIEW\ntop_functions|VIEW\nwait_chains|VIEW\nwaits_by_object|VIEW\nwaits_global_by_latency|VIEW\n",
		"SHOW FULL TABLES FROM sys WHERE Table_type <> 'VIEW'":                         "",
		"SHOW PRIVILEGES WHERE Context <> 'Tables' AND Privilege LIKE 'C%'":            "CREATE USER|Server Admin|To make and drop accounts\nCONNECTION_ADMIN|Server Admin|To end what other accounts do\n",
		"SELECT COUNT(*) FROM information_schema.partitions ORDER BY 1":                "0\n",
		"SHOW KEYS FROM threads":                                                       "threads|0|PRIMARY|1|THREAD_ID|A|NULL|NULL|NULL||HASH||\n",
		"SHOW INDEX FROM setup_actors":                                                 "",
		"SHOW CREATE TABLE setup_timers":                                               "setup_timers|CREATE TABLE `setup_timers` (\n  `NAME` varchar(64) NOT NULL,\n  `TIMER_NAME` enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK') NOT NULL,\n  PRIMARY KEY (`NAME`)\n) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4\n",
		"SELECT TABLE_NAME, CONSTRAINT_TYPE FROM information_schema.table_constraints": "setup_consumers|PRIMARY KEY\nsetup_instruments|PRIMARY KEY\nsetup_timers|PRIMARY KEY\nthreads|PRIMARY KEY\n",
		"SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION FROM information_schema.key_column_usage WHERE TABLE_NAME LIKE 'setup_i%'":                 "setup_instruments|NAME|1\n",
		"SHOW FULL TABLES FROM performance_schema LIKE 'setup_a%'":                                                                                   "setup_actors|BASE TABLE\n",
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

// TestMisspelling: what means something to SQLite, but nothing to MySQL.
func TestMisspelling(t *testing.T) {
	s := open(t, newFake("app"))
	for query, number := range map[string]uint16{
		"SELECT 1 [x, @a := 1]": mysqlerr.Syntax, "SELECT 1\x00, @a := 2": mysqlerr.Syntax, "SELECT 1//2, @a := 2 */ 3": mysqlerr.Syntax, "SELECT :a": mysqlerr.Syntax, "SELECT ?": mysqlerr.Syntax, "SELECT `a\x00b`": mysqlerr.Syntax, "SELECT x'4'": mysqlerr.Syntax, "SELECT b'2'": mysqlerr.Syntax,
		"EXPLAIN FORMAT=JSON SELECT 1": mysqlerr.Unsupported, "EXPLAIN ANALYZE SELECT 1": mysqlerr.Unsupported, "EXPLAIN FOR CONNECTION 3": mysqlerr.Unsupported, "EXPLAIN analyze": mysqlerr.NoSuchTable,
		"SELECT n'": mysqlerr.Syntax, "SELECT `nosuch`": mysqlerr.UnknownColumn, "SELECT $nosuch": mysqlerr.UnknownColumn, "SELECT 1 FROM setup_timers WHERE `nosuch` = 1": mysqlerr.UnknownColumn,
	} {
		if got, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%q: %q %v", query, got, err)
		}
	}
}

// logic, and the other tables of this form, have queries and what they give; TestMariaDB asks the
// server for that.
var logic = map[string]string{
	"SELECT !1, !0, !NULL, !'a', !'0.5', !1 + 1, !1 = 0, -!0, !-1, !!5, !2 IN (0), !0 IS NULL, !(1 = 2), ! 0 AND 0":                                                                                            "0|1|NULL|1|0|1|1|-1|0|1|1|0|1|0\n",
	"SELECT !n, !y.n IS NULL, !IF(n, 1, 0), !CASE n WHEN 1 THEN 0 ELSE 1 END, !EXISTS (SELECT 1) OR n, !LEFT(n, 1) + 3 FROM (SELECT 1 AS n) y WHERE !(n > 1) AND n":                                            "0|0|0|1|1|3\n",
	"SELECT !COUNT(*) OVER () + 1, !'a' COLLATE utf8mb4_bin":                                                                                                                                                   "1|1\n",
	"SELECT 1 XOR 1, 1 XOR 0, 0 XOR 0, NULL XOR 1, 0 XOR NULL, 'a' XOR 1, 0.5 XOR 1, 1 XOR 1 XOR 1":                                                                                                            "0|1|0|NULL|NULL|1|0|1\n",
	"SELECT 1 OR 1 XOR 1, 1 XOR 0 AND 0, NOT 1 XOR 1, 1 XOR 1 OR 1, 5 XOR !0, 1 = 1 XOR 2 > 3, 2 BETWEEN 1 AND 3 XOR 1":                                                                                        "1|1|1|1|0|1|0\n",
	"SELECT CASE 1 XOR 1 WHEN 0 THEN 'z' ELSE 1 XOR 0 END, CASE WHEN 1 XOR 0 THEN 1 XOR NULL ELSE 2 END, (1 XOR 1) + 1, IF(1 XOR 0, 'x', 'y') , CAST(1 XOR 0 AS CHAR), 1 XOR (0 XOR 1) XOR 1 && 1":             "z|NULL|1|x|1|1\n",
	"SELECT SUM(x XOR y), COUNT(*), GROUP_CONCAT(x XOR y, !x ORDER BY x XOR y DESC) c FROM (SELECT 1 x, 0 y UNION ALL SELECT 1, 1 UNION ALL SELECT NULL, 1) t WHERE x XOR y OR y XOR 0 HAVING 1 XOR 0 LIMIT 1": "1|3|10,00\n",
	"SELECT x XOR y a, x XOR y AS b, x XOR LEFT(y, 1) c FROM (SELECT 1 x, 0 y) t JOIN (SELECT 1 z) u ON x XOR y LEFT JOIN (SELECT 1 w) v ON z XOR w WHERE w IS NULL GROUP BY a XOR 1, 2 HAVING a XOR 0":        "1|1|1\n",
}

// TestLogic: ! and XOR, as MariaDB has them.
func TestLogic(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range logic {
		if got, _, err := try(t, s, query); err != nil || got != want {
			t.Errorf("%s: got %q %v, want %q", query, got, err, want)
		}
	}
	ask(t, s, "CREATE TABLE test.two (a INT, b INT)")
	ask(t, s, "INSERT INTO test.two VALUES (1 XOR 0, !?)", int64(5))
	ask(t, s, "UPDATE test.two SET a = a XOR b XOR ?, b = b XOR 1 WHERE a XOR b", int64(1))
	if got := ask(t, s, "SELECT a, b FROM test.two"); got != "0|1\n" {
		t.Errorf("changed: %q", got)
	}
	ask(t, s, "SET @a = 1 XOR 0, @b = !@a")
	if _, r, _ := try(t, s, "SELECT @a XOR @b, !@b"); r == nil || r.Columns[0].Name != "@a XOR @b" || r.Columns[1].Name != "!@b" {
		t.Errorf("columns: %+v", r)
	}
	for _, query := range []string{"SELECT !", "SELECT 1 XOR", "SELECT XOR 1", "SELECT !, 1", "SELECT (!)", "SELECT !(1", "SELECT 1 XOR, 2", "SELECT !a."} {
		if got, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Syntax {
			t.Errorf("%s: %q %v", query, got, err)
		}
	}
}

// expressions are what is behind SELECT.
var expressions = map[string]string{
	"FORMAT(1234567.891, 2)":           "1,234,567.89",
	"FORMAT(12345, 0)":                 "12,345",
	"FORMAT(-1234.5, 0)":               "-1,235",
	"FORMAT(0.5, 3)":                   "0.500",
	"ROUND(1.005, 2)":                  "1.01",
	"ROUND(1234, -2)":                  "1200",
	"ROUND(1250, -2)":                  "1300",
	"ROUND(-1.5)":                      "-2",
	"ROUND(2.675, 2)":                  "2.68",
	"TRUNCATE(1.15, 2)":                "1.15",
	"TRUNCATE(-1.999, 1)":              "-1.9",
	"TRUNCATE(1299, -2)":               "1200",
	"LOG(10)":                          "2.302585092994046",
	"LOG(2, 8)":                        "3",
	"LENGTH('ü')":                      "2",
	"CHAR_LENGTH('ü')":                 "1",
	"OCTET_LENGTH('ü')":                "2",
	"HEX(255)":                         "FF",
	"HEX('a')":                         "61",
	"UNHEX('41')":                      "A",
	"INSTR('ABC', 'c')":                "3",
	"LOCATE('C', 'abc')":               "3",
	"LOCATE('c','abcabc',4)":           "6",
	"STRCMP('a','b')":                  "-1",
	"STRCMP('a','A')":                  "0",
	"FIELD('b','a','b')":               "2",
	"FIND_IN_SET('b','a,b')":           "2",
	"MID('abcdef',2,3)":                "bcd",
	"SUBSTRING('abcdef',2,3)":          "bcd",
	"SUBSTR('abc',-2)":                 "bc",
	"SUBSTR('abc',0)":                  "",
	"REPEAT('ab',3)":                   "ababab",
	"REVERSE('abc')":                   "cba",
	"7.5 MOD 2":                        "1.5",
	"7.5 % 2":                          "1.5",
	"-7 % 3":                           "-1",
	"7.5 DIV 2":                        "3",
	"0.3 DIV 0.1":                      "3",
	"0.2 * 3 DIV 0.2":                  "3",
	"-7 DIV 2":                         "-3",
	"7 DIV 0":                          "NULL",
	"MOD(7.5, 2)":                      "1.5",
	"'abc' = 'ABC'":                    "1",
	"'abc' LIKE 'A%'":                  "1",
	"'a' < 'B'":                        "1",
	"NULL IS UNKNOWN":                  "1",
	"GREATEST('a', 'b')":               "b",
	"GREATEST(1, 2.5, 2)":              "2.5",
	"LEAST('b', 'a')":                  "a",
	"LEAST(1, NULL)":                   "NULL",
	"SEC_TO_TIME(3661)":                "01:01:01",
	"SEC_TO_TIME(-3661)":               "-01:01:01",
	"SEC_TO_TIME(100000)":              "27:46:40",
	"TIME_TO_SEC('01:01:01')":          "3661",
	"FROM_UNIXTIME(86400)":             "1970-01-02 00:00:00",
	"FROM_UNIXTIME(86400, '%Y-%m-%d')": "1970-01-02",
	"DATE_FORMAT('2026-01-02 03:04:05', '%Y/%m/%d %H:%i:%s')": "2026/01/02 03:04:05",
	"HOUR('2026-01-02 03:04:05')":                             "3",
	"MINUTE('2026-01-02 03:04:05')":                           "4",
	"SECOND('2026-01-02 03:04:05')":                           "5",
	"MICROSECOND('2026-01-02 03:04:05.5')":                    "500000",
	"DAY('2026-01-02')":                                       "2",
	"MONTH('2026-01-02')":                                     "1",
	"YEAR('2026-01-02')":                                      "2026",
	"QUARTER('2026-05-01')":                                   "2",
	"DATEDIFF('2026-01-10', '2026-01-02 23:00:00')":           "8",
	"TIMEDIFF('2026-01-02 03:00:00', '2026-01-02 01:30:00')":  "01:30:00",
	"EXTRACT(HOUR FROM '2026-01-02 03:04:05')":                "3",
	"EXTRACT(DAY_MICROSECOND FROM '2026-01-02 03:04:05.5')":   "2030405500000",
	"EXTRACT(WEEK FROM '2026-01-04')":                         "1",
	"CONCAT_WS(',', WEEK('2027-01-01'), WEEK('2027-01-01', 1), WEEK('2027-01-01', 2), WEEK('2027-01-01', 3), WEEK('2027-01-01', 4), WEEK('2027-01-01', 5), WEEK('2027-01-01', 6), WEEK('2027-01-01', 7))": "0,0,52,53,0,0,52,52",
	"YEARWEEK('2024-12-31', 1)":                           "202501",
	"DATE_FORMAT('2024-12-31', '%D %U %u %V %v %X %x')":   "31st 52 53 52 01 2024 2025",
	"DATE_FORMAT('2026-01-11', '%D')":                     "11th",
	"CAST('2026-01-02 03:04:05' AS DATETIME) + 1":         "20260102030406",
	"CAST('2026-01-02' AS DATETIME) = '2026-01-02'":       "1",
	"CAST('2026-01-02' AS DATE) >= '2026-01-02 00:00:01'": "0",
	"CAST('2026-01-02' AS DATE) IN (20260101, 20260102)":  "1",
	"TIME('2026-01-02 03:04:05.500000')":                  "03:04:05.500000",
	"FROM_DAYS(TO_DAYS('2026-01-02'))":                    "2026-01-02",
	"CAST('2026-01-02 03:04:05' AS DATE)":                 "2026-01-02",
	"CAST('12abc' AS SIGNED)":                             "12",
	"CAST('-1' AS SIGNED)":                                "-1",
	"CAST(1.7 AS SIGNED)":                                 "2",
	"CAST(1.234 AS DECIMAL(10,2))":                        "1.23",
	"CAST(5 AS CHAR)":                                     "5",
	"CAST('5' AS DOUBLE)":                                 "5",
	"CONVERT('12', SIGNED)":                               "12",
	"CONVERT('12', CHAR)":                                 "12",
	"'a' 'b'":                                             "ab",
	"SUBSTRING_INDEX('a.b.c', '.', 2)":                    "a.b",
	"LOWER('ÄB')":                                         "äb",
	"UPPER('äb')":                                         "ÄB",
	"ROUND(NULL)":                                         "NULL",
	"CURRENT_TIMESTAMP() IS NOT NULL":                     "1",
	"CURRENT_TIMESTAMP IS NOT NULL":                       "1",
	"CURTIME() IS NOT NULL":                               "1",
	"CURRENT_DATE() IS NOT NULL":                          "1",
	"LOCALTIME IS NOT NULL":                               "1",
	"UTC_DATE() IS NOT NULL":                              "1",
	"JSON_EXTRACT('{\"a\": 1}', '$.a')":                   "1",
	`JSON_OBJECT('a', x = 1, 'b', JSON_ARRAY('c,:"', 0.50, NULL)) FROM (SELECT 1 AS x) AS t`: `{"a": true, "b": ["c,:\"", 0.50, null]}`,
	`JSON_EXTRACT('{"a": "b"}', '$.a') = 'B'`:                                                "1",
	`JSON_UNQUOTE('"a\\tb"')`:                                                                "a\tb",
	`JSON_LENGTH('{"a": 1, "b": [1]}')`:                                                      "2",
	`JSON_TYPE('[1.5]')`:                                                                     "ARRAY",
	"ROUND(123.456, 1)":                                                                      "123.5",
	"7 % 4 % 2":                                                                              "1",
	"2 * 7 % 4 * 3":                                                                          "6",
	"7 DIV 2 DIV 2":                                                                          "1",
	"5 * -3 % 2":                                                                             "-1",
	"-7 MOD 3":                                                                               "-1",
	"1 + 7 % 4":                                                                              "4",
	"7 % 4 = 3":                                                                              "1",
	"7 % (2 + 1) + 1":                                                                        "2",
	"CASE WHEN 1 THEN 7 END DIV 2":                                                           "3",
	"!7 % 2":                                                                                 "0",
	"COUNT(*) OVER () % 2":                                                                   "1",
	"SUM(3) DIV 2":                                                                           "1",
	"10 / 4 DIV 2":                                                                           "1",
	"7.5 DIV 2.5":                                                                            "3",
	"9223372036854775807 % 10":                                                               "7",
	"1e3 DIV 7":                                                                              "142",
	"7 DIV 2 * 2":                                                                            "6",
	"8 - 7 DIV 2":                                                                            "5",
	"NULL DIV 2":                                                                             "NULL",
	"LEFT('Abc', 1) = 'a'":                                                                   "1",
	"LEFT('Abc', 1) <> 'a'":                                                                  "0",
	"LEFT(1234567.5, 3)":                                                                     "123",
	"CONVERT(1.5, SIGNED)":                                                                   "2",
	"CAST('abc' AS CHAR(2))":                                                                 "ab",
	"CAST(12.345 AS DECIMAL(10, 1))":                                                         "12.3",
	"CAST(12.345 AS DECIMAL)":                                                                "12",
	"CAST('2026-01-02' AS DATETIME)":                                                         "2026-01-02 00:00:00",
	"CAST('x' AS DATE)":                                                                      "NULL",
	"CAST(NULL AS SIGNED)":                                                                   "NULL",
	"CAST(1 + 1 AS UNSIGNED INTEGER)":                                                        "2",
	"CAST(COUNT(*) AS SIGNED)":                                                               "1",
	"EXTRACT(MINUTE FROM '2026-01-02 03:04:05') + 1": "5",
	"ROUND(12.345)":                    "12",
	"ROUND(-0.5)":                      "-1",
	"ROUND(150, -2)":                   "200",
	"FORMAT(NULL, 2)":                  "NULL",
	"FORMAT(999.995, 2)":               "1,000.00",
	"FORMAT(-1234567, 1)":              "-1,234,567.0",
	"TIMEDIFF('10:00:00', '09:00:00')": "01:00:00",
	"TIMEDIFF('2026-01-01 00:00:00', '2026-01-02 01:00:01')": "-25:00:01",
	"TIME_TO_SEC('-00:00:10')":                               "-10",
	"HOUR('25:00:00')":                                       "25",
	"MINUTE('10:20:30')":                                     "20",
	"FIELD('B', 'a', 'b')":                                   "2",
	"FIELD(2, 1, '2')":                                       "2",
	"FIELD(NULL, 1)":                                         "0",
	"SUBSTR('abc', 2)":                                       "bc",
	"SUBSTR('abc', -5)":                                      "",
	"SUBSTR('abc', 2, 100)":                                  "bc",
	"SUBSTR('abc', 2, -1)":                                   "",
	"INSTR('añb', 'B')":                                      "3",
	"LOCATE('', 'abc')":                                      "1",
	"LOCATE('c', 'abc', 0)":                                  "0",
	"HEX(-1)":                                                "FFFFFFFFFFFFFFFF",
	"HEX(1.6)":                                               "2",
	"LOG(0)":                                                 "NULL",
	"LOG(1, 5)":                                              "NULL",
	"LEAST('b', 'A', 'c')":                                   "A",
	"GREATEST(1, '3')":                                       "3",
	"REPEAT('a', -1)":                                        "",
	"1 IS NOT UNKNOWN":                                       "1",
	"DATE_FORMAT('2026-01-02 13:04:05', '%h:%i %p %W %T %f %% %k')": "01:04 PM Friday 13:04:05 000000 % 13",
	"FROM_UNIXTIME(-1)":           "NULL",
	"FROM_UNIXTIME(NULL)":         "NULL",
	"DATEDIFF('2026-01-02', 'x')": "NULL",
	"STRCMP('b', 'A')":            "1",
	"BINARY 'a' = 'A'":            "0",
	"'A' = BINARY 'a'":            "0",
	"FIND_IN_SET('', 'a,,b')":     "2",
	"9223372036854775807 DIV 10":  "922337203685477580",
	"ASCII('ü'), ASCII(''), ORD('€'), ORD('ab'), SPACE(2), SPACE(-1)":                                                                                              "195|0|14844588|97|  |",
	"ELT(1, 'a', 'b'), ELT(3, 'a', 'b'), ELT(0, 'a'), ELT(NULL, 'a'), ELT(2, 'a', NULL), ELT('1', 'x')":                                                            "a|NULL|NULL|NULL|NULL|x",
	"TRIM(LEADING 'x' FROM 'xxax'), TRIM(TRAILING 'x' FROM 'xxax'), TRIM(BOTH 'x' FROM 'xxax'), TRIM('ab' FROM 'ababcab'), TRIM(LEADING FROM '  a '), TRIM(' a ')": "ax|xxa|a|c|a |a",
	"TRIM(CONCAT('x', '') FROM TRIM(' xax ')), TRIM(NULL FROM 'a'), TRIM('' FROM 'a'), TRIM((SELECT 'x' FROM DUAL) FROM 'xbx')":                                    "a|NULL|a|b",
	"SUBSTRING('abcdef' FROM 2 FOR 3), SUBSTR('abcdef' FROM -2), SUBSTRING((SELECT 'abc' FROM DUAL) FROM 2), POSITION('B' IN 'abc'), 1 IN (1)":                     "bcd|ef|bc|2|1",
	"100 MOD 0.1, -5.5 % 2, 5 MOD (3), 1 + MOD(5, 3), CASE 1 WHEN 1 THEN 5 END MOD (3)":                                                                            "0.0|-1.5|2|3|2",
	`REGEXP_REPLACE('abcabc', 'B(.)', '[\\1]'), REGEXP_REPLACE('a.b', '\\.', '\\\\')`:                                                                              `a[c]a[c]|a\b`,
	"REGEXP_SUBSTR('call/main/f', '[^/]+$'), REGEXP_SUBSTR('abc', 'x'), REGEXP_INSTR('äbc', 'c'), REGEXP_INSTR('abc', 'x')":                                        "f||3|0",
	"RAND() < 1, LAST_INSERT_ID()": "1|0",
	"CONV('ff', 16, 10), CONV('-1', 10, 16), CONV('-1', 10, -16), CONV('12x', 10, 2), CONV('x', 10, 2), CONV('', 10, 2), CONV(1, 1, 2), CONV('99999999999999999999', 10, 16)":                               "255|FFFFFFFFFFFFFFFF|-1|1100|0|NULL|NULL|FFFFFFFFFFFFFFFF",
	"BIN(12), OCT(-1), BIT_COUNT(7), BIT_COUNT(-1), CRC32('a'), MD5('a'), SHA2('a', 1), LENGTH(SHA2('a', 0)), SHA('a') = SHA1('a')":                                                                         "1100|1777777777777777777777|3|64|3904355907|0cc175b9c0f1b6a831c399e269772661|NULL|64|1",
	"LAST_DAY('2024-02-03 01:02:03'), LAST_DAY('x'), DAYNAME('2026-11-22'), MONTHNAME('2026-11-22'), DAYOFYEAR('2026-11-22'), DAYOFWEEK('2026-11-22'), WEEKDAY('2026-11-22')":                               "2024-02-29|NULL|Sunday|November|326|1|6",
	"WEEKOFYEAR('2027-01-01'), TO_DAYS('2026-11-22 23:00:00'), DATE '2026-01-02' + INTERVAL 1 DAY, TIMESTAMP '2026-01-02 03:04:05', TIME '10:11:12', TIMESTAMP('2026-01-02'), 1 AS DATE":                    "53|740307|2026-01-03|2026-01-02 03:04:05|10:11:12|2026-01-02 00:00:00|1",
	"2 = ANY (SELECT 1 UNION SELECT 2), 2 <> ALL (SELECT 1), 'A' = SOME (SELECT 'a'), 2 != ALL (SELECT 2)":                                                                                                  "1|1|1|0",
	"UPPER('a') = LOWER('A'), UPPER('a') < 'B', BINARY 'a' = UPPER('a'), UPPER('a') = BINARY LOWER('A'), UPPER('a') COLLATE utf8mb4_bin = LOWER('A'), UPPER('a') NOT IN ('a'), 'b' NOT BETWEEN 'A' AND 'C'": "1|1|0|0|0|0|0",
	"5 ^ 3, -1 ^ 1 = ~0 - 1, 1 = '1', '1x' = 1, 2 < CONCAT('1', '0'), '10' < '9', COUNT(DISTINCT 1, 'a'), COUNT(DISTINCT 1, NULL)":                                                                          "6|1|1|1|1|1|1|0",
	"(1, 2) IN ((1, 2), (3, 4)), (1, 2) = (1, 2), CASE UPPER('x') WHEN 'x' THEN 1 END, CASE 'A' WHEN 'a' THEN 1 END, NULLIF(UPPER('A'), 'a'), NULLIF('A', 'a'), 'A' IN (SELECT 'a')":                        "1|1|1|1|NULL|NULL|1",
}

// expressionsOfMySQL are what MariaDB does not know, or has otherwise.
var expressionsOfMySQL = map[string]string{
	"JSON_ARRAYAGG(x) FROM (SELECT 1 x UNION SELECT 2) y": "[1, 2]",
	"JSON_QUOTE(1)": `"1"`,
	"FORMAT_BYTES(512), FORMAT_BYTES(1536), FORMAT_BYTES(-18446644073709551615)": "512 bytes|1.50 KiB|-16.00 EiB",
	"REGEXP_LIKE('a', 'A'), REGEXP_LIKE('a', 'A', 'c'), REGEXP_LIKE(NULL, 'a')":  "1|0|NULL",
	"REGEXP_REPLACE('abcabc', 'B(.)', '[$1$]')":                                  "a[c$]a[c$]",
	"1e999 % 2, 2 % 1e999":           "NULL|NULL",
	"ROUND(9223372036854775807, -1)": "9223372036854775808", // numbers have 15 digits
}

// TestExpressions: operators and functions, as MariaDB has them.
func TestExpressions(t *testing.T) {
	s := open(t, newFake("app"))
	for _, list := range []map[string]string{expressions, expressionsOfMySQL} {
		for of, want := range list {
			if got, _, err := try(t, s, "SELECT "+of); err != nil || got != want+"\n" {
				t.Errorf("%s: %q %v, want %q", of, got, err, want)
			}
		}
	}
	for of, number := range map[string]uint16{
		"'a' REGEXP '('": 1139, "ROUND()": 1582, "SUBSTR('a')": 1582, "EXTRACT(FORTNIGHT FROM NOW())": mysqlerr.Unsupported, "1 DIV": mysqlerr.Syntax, "CAST(1 AS SIGNED": mysqlerr.Syntax, "CONVERT(1, DECIMAL(": mysqlerr.Syntax,
	} {
		if got, _, err := try(t, s, "SELECT "+of); err == nil || err.Number != number {
			t.Errorf("%s: %q %v", of, got, err)
		}
	}
}

const (
	createSales = "CREATE TABLE sales (year INT, country VARCHAR(20), product VARCHAR(32), profit INT)"
	insertSales = `INSERT INTO sales VALUES (2000,'Finland','Computer',1500),(2000,'Finland','Phone',100),(2000,'India','Calculator',75),(2000,'India','Calculator',75),(2000,'India','Computer',1200),
		(2000,'USA','Calculator',75),(2000,'USA','Computer',1500),(2001,'Finland','Phone',10),(2001,'USA','Calculator',50),(2001,'USA','Computer',2700),(2001,'USA','TV',250),(NULL,'usa',NULL,1)`
)

const byYear = "NULL|1\n2000|4525\n2001|3010\nNULL|7536\n"

var rollups = map[string]string{
	"SELECT year, SUM(profit) AS profit FROM sales GROUP BY year WITH ROLLUP":                             byYear,
	"SELECT `year`, SUM(profit) FROM sales GROUP BY sales.year WITH ROLLUP":                               byYear,
	"SELECT sales.year, SUM(profit) FROM sales GROUP BY year WITH ROLLUP":                                 byYear,
	"SELECT year AS y, SUM(profit) FROM sales GROUP BY y WITH ROLLUP":                                     byYear,
	"SELECT year y, SUM(profit) FROM sales GROUP BY 1 WITH ROLLUP HAVING SUM(profit) <> ?":                byYear,
	"SELECT y, total FROM (SELECT year AS y, SUM(profit) AS total FROM sales GROUP BY y WITH ROLLUP) q":   byYear,
	"SELECT year, total FROM (SELECT s.year, SUM(profit) total FROM sales s GROUP BY year WITH ROLLUP) q": byYear,
	"SELECT year, country, product, SUM(profit) AS profit FROM sales WHERE year IS NOT NULL GROUP BY year, country, product WITH ROLLUP": `2000|Finland|Computer|1500
2000|Finland|Phone|100
2000|Finland|NULL|1600
2000|India|Calculator|150
2000|India|Computer|1200
2000|India|NULL|1350
2000|USA|Calculator|75
2000|USA|Computer|1500
2000|USA|NULL|1575
2000|NULL|NULL|4525
2001|Finland|Phone|10
2001|Finland|NULL|10
2001|USA|Calculator|50
2001|USA|Computer|2700
2001|USA|TV|250
2001|USA|NULL|3000
2001|NULL|NULL|3010
NULL|NULL|NULL|7535
`,
	"SELECT IFNULL(year, 'all') y, COUNT(DISTINCT country), MAX(year) FROM sales WHERE product <> 'TV' GROUP BY year WITH ROLLUP":               "2000|3|2000\n2001|2|2001\nall|3|2001\n",
	"SELECT year, GROUP_CONCAT(DISTINCT product ORDER BY product DESC) FROM sales GROUP BY year WITH ROLLUP":                                    "NULL|NULL\n2000|Phone,Computer,Calculator\n2001|TV,Phone,Computer,Calculator\nNULL|TV,Phone,Computer,Calculator\n",
	"SELECT s.year y, s.country, SUM(profit) FROM sales s GROUP BY y, s.country WITH ROLLUP LIMIT 3, 4":                                         "2000|India|1350\n2000|USA|1575\n2000|NULL|4525\n2001|Finland|10\n",
	"SELECT country, COUNT(*) FROM sales GROUP BY country WITH ROLLUP HAVING COUNT(*) > 3":                                                      "USA|6\nNULL|12\n",
	"SELECT country, COUNT(*) FROM sales GROUP BY country WITH ROLLUP HAVING country IS NULL":                                                   "NULL|12\n",
	"SELECT CASE WHEN profit > 1000 THEN 'much' ELSE 'less' END k, COUNT(*) FROM sales GROUP BY k WITH ROLLUP":                                  "less|8\nmuch|4\nNULL|12\n",
	"SELECT profit > 1000, year + 1, COUNT(*) FROM sales WHERE year = 2001 GROUP BY profit > 1000, year + 1 WITH ROLLUP":                        "0|2002|3\n0|NULL|3\n1|2002|1\n1|NULL|1\nNULL|NULL|4\n",
	"SELECT a.year, b.country, COUNT(*) FROM sales a JOIN sales b USING (product) WHERE a.year < b.year GROUP BY a.year, b.country WITH ROLLUP": "2000|Finland|1\n2000|USA|6\n2000|NULL|7\nNULL|NULL|7\n",
	"SELECT year, SUM(profit) FROM sales GROUP BY year WITH ROLLUP UNION ALL SELECT 1, 2 ORDER BY 2":                                            "NULL|1\n1|2\n2001|3010\n2000|4525\nNULL|7536\n",
	"SELECT year > 2000 XOR country = 'India', COUNT(*) FROM sales WHERE year > 0 GROUP BY year > 2000 XOR country = 'India' WITH ROLLUP":       "0|4\n1|7\nNULL|11\n",
	"SELECT MAX(total) FROM (SELECT SUM(profit) AS total FROM sales GROUP BY year WITH ROLLUP) q GROUP BY total > 4000 WITH ROLLUP":             "3010\n7536\n7536\n",
	"SELECT 1, COUNT(*) FROM sales GROUP BY 1 WITH ROLLUP":                                                                                      "1|12\nNULL|12\n",
}

// rollupsOfMySQL: MariaDB has no GROUPING and no ORDER BY there, and expressions of what is grouped
// by are not NULL.
var rollupsOfMySQL = map[string]string{
	"SELECT year, country, SUM(profit) AS profit, GROUPING(year), GROUPING(country), GROUPING(year, country) FROM sales GROUP BY year, country WITH ROLLUP ORDER BY year DESC, profit DESC LIMIT 4": "2001|NULL|3010|0|1|1\n2001|USA|3000|0|0|0\n2001|Finland|10|0|0|0\n2000|NULL|4525|0|1|1\n",
	"SELECT IF(GROUPING(year), 'All years', year) AS y, SUM(profit) FROM sales GROUP BY year WITH ROLLUP ORDER BY GROUPING(year) DESC, year":                                                        "All years|7536\nNULL|1\n2000|4525\n2001|3010\n",
	"SELECT year, country, SUM(profit) AS profit FROM sales GROUP BY year, country WITH ROLLUP HAVING GROUPING(year, country) <> 0":                                                                 "NULL|NULL|1\n2000|NULL|4525\n2001|NULL|3010\nNULL|NULL|7536\n",
	"SELECT LEFT(country, 1), CONCAT(LEFT(country, 1), '-'), SUM(SUM(profit)) OVER (PARTITION BY LEFT(country, 1)) FROM sales GROUP BY LEFT(country, 1) WITH ROLLUP ORDER BY 1 DESC":                "U|U-|4576\nI|I-|1350\nF|F-|1610\nNULL|NULL|7536\n",
}

// TestRollup: what MariaDB gives, and MySQL, which has GROUPING and ORDER BY too.
func TestRollup(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "USE test")
	ask(t, s, createSales)
	if got := ask(t, s, "SELECT year, COUNT(*) FROM sales GROUP BY year WITH ROLLUP"); got != "" {
		t.Errorf("of no rows: %q", got)
	}
	ask(t, s, insertSales)
	for _, list := range []map[string]string{rollups, rollupsOfMySQL} {
		for query, want := range list {
			var args []any
			if strings.Contains(query, "?") {
				args = append(args, int64(2))
			}
			if got, _, err := try(t, s, query, args...); err != nil || got != want {
				t.Errorf("%s: got %q %v, want %q", query, got, err, want)
			}
		}
	}
	_, r, err := try(t, s, "SELECT sales.year, IFNULL(country, 'all'), COUNT(*) n FROM sales GROUP BY year, country WITH ROLLUP")
	if err != nil || r.Columns[0].Name != "year" || r.Columns[1].Name != "IFNULL(country, 'all')" || r.Columns[2].Name != "n" {
		t.Errorf("columns: %+v %v", r, err)
	}
	for query, number := range map[string]uint16{
		"SELECT * FROM sales GROUP BY year WITH ROLLUP":                                                              mysqlerr.Unsupported,
		"SELECT COUNT(*) FROM sales GROUP BY year = ? WITH ROLLUP":                                                   mysqlerr.Unsupported,
		"SELECT year, (SELECT COUNT(*) FROM sales s WHERE s.year = sales.year) FROM sales GROUP BY year WITH ROLLUP": mysqlerr.Unsupported,
		"SELECT year FROM sales GROUP BY 2 WITH ROLLUP":                                                              mysqlerr.UnknownColumn,
		"SELECT years FROM sales GROUP BY years WITH ROLLUP":                                                         mysqlerr.UnknownColumn,
		"SELECT GROUPING(country) FROM sales GROUP BY year WITH ROLLUP":                                              mysqlerr.Group,
		"SELECT GROUPING(year) FROM sales GROUP BY year":                                                             mysqlerr.NoFunction,
		"SELECT year FROM sales GROUP BY WITH ROLLUP":                                                                mysqlerr.Syntax,
		"SELECT year FROM sales GROUP BY year, WITH ROLLUP":                                                          mysqlerr.Syntax,
		"SELECT year FROM sales WITH ROLLUP":                                                                         mysqlerr.Syntax,
		"SELECT 1 GROUP BY 1 WITH ROLLUP":                                                                            mysqlerr.Syntax,
		"SELECT year FROM sales GROUP BY (year WITH ROLLUP)":                                                         mysqlerr.Syntax,
	} {
		if got, _, err := try(t, s, query, int64(1)); err == nil || err.Number != number {
			t.Errorf("%s: %q %v", query, got, err)
		}
	}
}

// intervals are added to '2026-01-01'.
var intervals = map[string]string{
	"+ INTERVAL '1:30' MINUTE_SECOND": "2026-01-01 00:01:30", "- INTERVAL '1:30' MINUTE_SECOND": "2025-12-31 23:58:30", "+ INTERVAL '-1:30' MINUTE_SECOND": "2025-12-31 23:58:30",
	"- INTERVAL ' -1:30' MINUTE_SECOND": "2026-01-01 00:01:30", "+ INTERVAL '--1:30 ' MINUTE_SECOND": "2025-12-31 23:58:30", "+ INTERVAL '+1:30x' MINUTE_SECOND": "2026-01-01 00:01:30",
	"+ INTERVAL '1 2' DAY_HOUR": "2026-01-02 02:00:00", "+ INTERVAL '1 -2' DAY_HOUR": "2026-01-02 02:00:00", "+ INTERVAL '1 0' DAY_HOUR": "2026-01-02 00:00:00",
	"+ INTERVAL '1 2:3' DAY_MINUTE": "2026-01-02 02:03:00", "+ INTERVAL '1 2:3:4' DAY_SECOND": "2026-01-02 02:03:04", "+ INTERVAL '1:2' DAY_SECOND": "2026-01-01 00:01:02",
	"+ INTERVAL '1 2:3:4.5' DAY_MICROSECOND": "2026-01-02 02:03:04.500000", "- INTERVAL '1 1:1:1.000001' DAY_MICROSECOND": "2025-12-30 22:58:58.999999",
	"+ INTERVAL '1:2' HOUR_MINUTE": "2026-01-01 01:02:00", "+ INTERVAL '1:2:3' HOUR_SECOND": "2026-01-01 01:02:03", "+ INTERVAL '1:2:3.000004' HOUR_MICROSECOND": "2026-01-01 01:02:03.000004",
	"+ INTERVAL '1:2.25' MINUTE_MICROSECOND": "2026-01-01 00:01:02.250000", "+ INTERVAL '1:70' MINUTE_SECOND": "2026-01-01 00:02:10",
	"+ INTERVAL '1.1234567' SECOND_MICROSECOND": "2026-01-01 00:00:01.123456", "+ INTERVAL '500' SECOND_MICROSECOND": "2026-01-01 00:00:00.500000", "+ INTERVAL '1.' SECOND_MICROSECOND": "2026-01-01 00:00:00.100000",
	"+ INTERVAL '1-1' YEAR_MONTH": "2027-02-01", "- INTERVAL '0-1' YEAR_MONTH": "2025-12-01", "+ INTERVAL ' -1 - 2' YEAR_MONTH": "2024-11-01",
	"+ INTERVAL 1.30 MINUTE_SECOND": "2026-01-01 00:01:30", "+ INTERVAL -1.30 MINUTE_SECOND": "2025-12-31 23:58:30", "+ INTERVAL 130 MINUTE_SECOND": "2026-01-01 00:02:10",
	"+ INTERVAL 'x' MINUTE_SECOND": "2026-01-01 00:00:00", "+ INTERVAL '' MINUTE_SECOND": "2026-01-01 00:00:00",
	"+ INTERVAL '1:2:3' MINUTE_SECOND": "NULL", "+ INTERVAL NULL MINUTE_SECOND": "NULL", "+ INTERVAL '99999999999999999999999:1' MINUTE_SECOND": "NULL", "+ INTERVAL '9000-0' YEAR_MONTH": "NULL",
	"+ INTERVAL '1:30' MINUTE_SECOND + INTERVAL '1-1' YEAR_MONTH - INTERVAL '0.5' SECOND_MICROSECOND": "2027-02-01 00:01:29.500000",
	// One unit: text is cut off, numbers are rounded, of seconds there are parts.
	"+ INTERVAL '1.5' HOUR": "2026-01-01 01:00:00", "+ INTERVAL 1.5 HOUR": "2026-01-01 02:00:00", "+ INTERVAL 2.5 HOUR": "2026-01-01 03:00:00", "+ INTERVAL -1.5 HOUR": "2025-12-31 22:00:00",
	"+ INTERVAL '1:30' HOUR": "2026-01-01 01:00:00", "+ INTERVAL '1.5' SECOND": "2026-01-01 00:00:01.500000", "+ INTERVAL '2.7x' MINUTE": "2026-01-01 00:02:00", "+ INTERVAL 0.0000015 SECOND": "2026-01-01 00:00:00.000001",
}

var intervalQueries = map[string]string{
	"SELECT INTERVAL 1 DAY + '2026-01-01', INTERVAL '1:30' MINUTE_SECOND + '2026-01-01', INTERVAL -1 DAY + DATE('2026-01-01'), GREATEST(1, INTERVAL 1 DAY + NULL)":                   "2026-01-02|2026-01-01 00:01:30|2025-12-31|NULL\n",
	"SELECT INTERVAL 1 DAY + ('2026-01-01' + INTERVAL 1 HOUR), (INTERVAL 1 DAY + '2026-01-01') - INTERVAL 1 MONTH, '2026-01-02' = INTERVAL 1 DAY + '2026-01-01'":                     "2026-01-02 01:00:00|2025-12-02|1\n",
	"SELECT INTERVAL n DAY + y.d x FROM (SELECT '2026-01-01' AS d, 1 AS n) y WHERE '2026-01-03' > INTERVAL n DAY + d ORDER BY INTERVAL 1 DAY + d":                                    "2026-01-02\n",
	"SELECT DATE_ADD('2026-01-01', INTERVAL '1 1' DAY_HOUR), DATE_SUB('2026-01-01', INTERVAL '1:1' HOUR_MINUTE), SUBDATE('2026-01-01', 3), ADDDATE('2026-01-01 01:02:03', 3)":        "2026-01-02 01:00:00|2025-12-31 22:59:00|2025-12-29|2026-01-04 01:02:03\n",
	"SELECT DATE_ADD(INTERVAL 1 DAY + '2026-01-01', INTERVAL '1:0' HOUR_MINUTE) + INTERVAL 1 SECOND - INTERVAL '0.000001' SECOND_MICROSECOND, ADDDATE('2026-01-01', INTERVAL 1 DAY)": "2026-01-02 01:00:00.999999|2026-01-02\n",
	"SELECT GROUP_CONCAT('2026-01-01' + INTERVAL n DAY ORDER BY n) FROM (SELECT 1 AS n UNION SELECT 2) y":                                                                            "2026-01-02,2026-01-03\n",
}

// TestIntervals: what MariaDB gives with intervals of several units, and behind which a time
// stands.
func TestIntervals(t *testing.T) {
	s := open(t, newFake("app"))
	for of, want := range intervals {
		query := "SELECT '2026-01-01' " + of
		if got, _, err := try(t, s, query); err != nil || got != want+"\n" {
			t.Errorf("%s: %q %v, want %q", query, got, err, want)
		}
	}
	for query, want := range intervalQueries {
		if got, _, err := try(t, s, query); err != nil || got != want {
			t.Errorf("%s: got %q %v, want %q", query, got, err, want)
		}
	}
}

// TestIntervalErrors: what is not understood of intervals is refused, and not taken for something
// else.
func TestIntervalErrors(t *testing.T) {
	s := open(t, newFake("app"))
	for _, query := range []string{
		"SELECT INTERVAL 1 DAY - NOW()", "SELECT INTERVAL 1 DAY + NOW() > 1", "SELECT INTERVAL 1 DAY + NOW() + 1", "SELECT 2 * INTERVAL 1 DAY + NOW()", "SELECT INTERVAL 1 DAY + INTERVAL 1 DAY + NOW()", "SELECT INTERVAL 1 DAY +", "SELECT INTERVAL 1 DAY + NOW() IS NULL",
		"SELECT NOW() + INTERVAL 6/4 HOUR_MINUTE", "SELECT NOW() + INTERVAL '1' MONTH_DAY", "SELECT TIMESTAMPADD(MINUTE_SECOND, '1:30', NOW())", "SELECT INTERVAL(2, 1, 3)", "SELECT 2 * NOW() - INTERVAL 1 DAY", "SELECT 1 - NOW() - INTERVAL 1 DAY", "SELECT CONCAT('a', INTERVAL 1 DAY)",
		"SELECT NOW() - INTERVAL 1", "SELECT NOW() - INTERVAL", "INTERVAL 1 DAY", "SELECT DATE_ADD(NOW(), INTERVAL 1 DAY, 2)", "SELECT TIMESTAMPDIFF(FORTNIGHT, NOW(), NOW())",
	} {
		if got, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Unsupported && err.Number != mysqlerr.Syntax {
			t.Errorf("%s: %q %v", query, got, err)
		}
	}
}

// TestLimit: UPDATE and DELETE of some rows, as graphical clients change one.
func TestLimit(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	for query, want := range map[string]string{
		"UPDATE setup_instruments SET ENABLED = 1 ORDER BY NAME DESC LIMIT 2":                           "call/main/Pool.Get,call/net/http/Client.Do\n",
		"UPDATE setup_instruments x SET ENABLED = 'YES' WHERE x.NAME LIKE '%mutex%' LIMIT 1":            "call/example.com/mutex/Lock\n",
		"UPDATE setup_instruments SET ENABLED = 'YES' LIMIT 0":                                          "NULL\n",
		"UPDATE setup_instruments SET ENABLED = '1' WHERE NAME IN (SELECT 'call/main/main') LIMIT 1000": "call/main/main\n",
	} {
		ask(t, s, "UPDATE setup_instruments SET ENABLED = 'NO'")
		ask(t, s, query)
		if got := ask(t, s, "SELECT GROUP_CONCAT(NAME) FROM (SELECT NAME FROM setup_instruments WHERE ENABLED = 'YES' ORDER BY NAME DESC) x"); sorted(got) != sorted(want) {
			t.Errorf("%s: %s", query, got)
		}
	}
	ask(t, s, "INSERT INTO setup_actors VALUES ('a', '%', 'NO'), ('b', '%', 'NO')")
	ask(t, s, "DELETE FROM setup_actors WHERE ENABLED = 'NO' LIMIT 1")
	if len(f.actors) != 2 || f.actors[1].Pattern[0] != "b" {
		t.Errorf("actors: %+v", f.actors)
	}
}

// TestUpdateJoined: UPDATE of a table by what others have.
func TestUpdateJoined(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "CREATE TABLE test.saved AS SELECT NAME, 'YES' AS ENABLED, 'NO' AS TIMED FROM setup_instruments WHERE NAME LIKE 'call/main/%'")
	ask(t, s, "INSERT INTO test.saved SELECT * FROM test.saved") // a row that is matched twice is changed once
	all, some := "call/main/Pool.Get,call/main/main\n", "call/main/main\n"
	for _, c := range []struct {
		query, want string
		args        []any
	}{
		{"UPDATE setup_instruments i JOIN test.saved s ON i.NAME = s.NAME SET i.ENABLED = s.ENABLED, i.TIMED = s.TIMED", all, nil},
		{"UPDATE setup_instruments INNER JOIN test.saved AS s USING (NAME) SET setup_instruments.ENABLED = IF(s.ENABLED = 'YES', 'YES', 'NO') WHERE NAME LIKE '%main'", some, nil},
		{"UPDATE test.saved s, performance_schema.setup_instruments AS `an i` SET `an i`.ENABLED = 'YES' WHERE s.NAME = `an i`.NAME", all, nil},
		{"UPDATE setup_instruments i LEFT JOIN test.saved s ON s.NAME = i.NAME SET i.ENABLED = 'YES' WHERE s.NAME IS NULL",
			"call/example.com/mutex/Lock,call/example.com/mutex/Lock.func1,call/net/http/Client.Do\n", nil},
		{"UPDATE setup_instruments i JOIN (SELECT DISTINCT NAME FROM test.saved) s ON s.NAME = i.NAME AND i.NAME LIKE ? SET ENABLED = ? WHERE ? = 1", some, []any{"%/main", "YES", int64(1)}},
	} {
		ask(t, s, "UPDATE setup_instruments SET ENABLED = 'NO'")
		ask(t, s, c.query, c.args...)
		if got := ask(t, s, "SELECT GROUP_CONCAT(NAME ORDER BY NAME COLLATE utf8mb4_bin) FROM setup_instruments WHERE ENABLED = 'YES'"); got != c.want {
			t.Errorf("%s: %q", c.query, got)
		}
	}
	if _, r, err := try(t, s, "UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'YES', i.TIMED = 'YES'"); err != nil || r.Info != "Rows matched: 2  Changed: 2  Warnings: 0" {
		t.Errorf("%+v %v", r, err)
	}
	ask(t, s, "UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x' WHERE i.NAME LIKE '%Get'")
	if got := ask(t, s, "SELECT NAME, COUNT(*) FROM test.saved WHERE ENABLED = 'x' GROUP BY NAME"); got != "call/main/Pool.Get|2\n" {
		t.Errorf("got %q", got)
	}
	for query, number := range map[string]uint16{
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.NAME = 'x'":                          mysqlerr.Usage,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.COLOUR = 'x'":                        mysqlerr.UnknownColumn,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET x.ENABLED = 'NO'":                      1109,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'NO' ORDER BY i.NAME":      1221,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'NO', WHERE 1":             mysqlerr.Syntax,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED":                             mysqlerr.Syntax,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'maybe'":                   mysqlerr.Truncated,
		"UPDATE setup_instruments i JOIN test.absent s USING (NAME) SET i.ENABLED = 'NO'":                     mysqlerr.NoSuchTable,
		"UPDATE performance_timers p, setup_instruments i SET p.TIMER_NAME = 'x' WHERE p.TIMER_NAME = i.NAME": mysqlerr.Denied,
	} {
		if got, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%s: %q %v", query, got, err)
		}
	}
}

// updated are the tables that updates change, updatedA and updatedB ask what is in them then.
var updated = []string{
	"CREATE TABLE a (n VARCHAR(10), x INT)",
	"CREATE TABLE b (n VARCHAR(10), y INT)",
	"INSERT INTO a VALUES ('p', 1), ('q', 2), ('r', 3)",
	"INSERT INTO b VALUES ('p', 10), ('q', 20), ('q', 21), ('s', 40)",
}

const (
	updatedA = "SELECT GROUP_CONCAT(n, ' ', x ORDER BY n, x) FROM a"
	updatedB = "SELECT GROUP_CONCAT(n, ' ', y ORDER BY n, y) FROM b"
)

var updates = []struct {
	query   string
	changed int64
	a, b    string
	same    int64 // how many rows MariaDB does not count, since they stay as they are
}{
	{"UPDATE a JOIN b ON a.n = b.n SET a.x = 100, b.y = 5", 5, "p 100,q 100,r 3", "p 5,q 5,q 5,s 40", 0},
	{"UPDATE a JOIN b USING (n) SET a.x = b.y + 1, b.y = a.x + 1", 5, "p 11,q 21,r 3", "p 2,q 3,q 3,s 40", 0},
	{"UPDATE a LEFT JOIN b ON a.n = b.n SET a.x = 7, b.y = 8", 6, "p 7,q 7,r 7", "p 8,q 8,q 8,s 40", 0},
	{"UPDATE a JOIN a c ON a.n < c.n SET a.x = 1, c.x = 2", 4, "p 1,q 2,r 2", "p 10,q 20,q 21,s 40", 1},
	{"UPDATE a, b SET a.x = a.x + 1, b.y = b.y + a.x WHERE a.n = b.n AND b.y > 10", 3, "p 1,q 3,r 3", "p 10,q 22,q 23,s 40", 0},
	{"UPDATE b JOIN a ON a.n = b.n SET a.x = b.y", 2, "p 10,q 20,r 3", "p 10,q 20,q 21,s 40", 0},
	{"UPDATE a, b SET a.x = 0, b.y = 0 WHERE a.n = 'none'", 0, "p 1,q 2,r 3", "p 10,q 20,q 21,s 40", 0},
}

// TestUpdateSeveral: UPDATE of several tables at once, as MariaDB does it: by what all had before.
func TestUpdateSeveral(t *testing.T) {
	s := open(t, newFake("app"))
	for _, c := range updates {
		ask(t, s, "USE test")
		for _, query := range updated {
			ask(t, s, query)
		}
		_, r, err := try(t, s, c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if r.Affected != c.changed {
			t.Errorf("%s: %d changed", c.query, r.Affected)
		}
		if a, b := ask(t, s, updatedA), ask(t, s, updatedB); a != c.a+"\n" || b != c.b+"\n" {
			t.Errorf("%s: %q %q", c.query, a, b)
		}
		ask(t, s, "DROP TABLE a")
		ask(t, s, "DROP TABLE b")
	}
	ask(t, s, "USE performance_schema")
	ask(t, s, "CREATE TABLE test.saved AS SELECT NAME, 'NO' AS ENABLED FROM setup_instruments")
	ask(t, s, "UPDATE setup_instruments SET ENABLED = 'NO', TIMED = 'NO'")
	state := func() string {
		return ask(t, s, "SELECT (SELECT GROUP_CONCAT(NAME) FROM setup_instruments WHERE ENABLED = 'YES' AND TIMED = 'YES'), (SELECT GROUP_CONCAT(NAME) FROM test.saved WHERE ENABLED = 'YES'), (SELECT ENABLED FROM setup_consumers WHERE NAME = 'events_calls_history')")
	}
	for _, c := range []struct{ query, info, want string }{
		{"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = ?, s.ENABLED = ?, i.TIMED = 'YES' WHERE NAME LIKE ?", "Rows matched: 2  Changed: 2  Warnings: 0", "call/main/main|call/main/main|YES\n"},
		{"UPDATE setup_instruments i JOIN setup_consumers c SET i.ENABLED = 'NO', c.ENABLED = 'NO' WHERE i.NAME = 'call/main/main' AND c.NAME LIKE '%calls_history'", "Rows matched: 2  Changed: 2  Warnings: 0", "NULL|call/main/main|NO\n"},
	} {
		var args []any
		if strings.Contains(c.query, "?") {
			args = []any{"YES", "YES", "%/main"}
		}
		if _, r, err := try(t, s, c.query, args...); err != nil || r.Info != c.info {
			t.Errorf("%s: %+v %v", c.query, r, err)
		}
		if got := state(); got != c.want {
			t.Errorf("%s: %q", c.query, got)
		}
	}
	// All or nothing, and then again.
	for query, number := range map[string]uint16{
		"UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x', i.ENABLED = 'maybe'": mysqlerr.Truncated,
		"UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x', i.NAME = 'x'":        mysqlerr.Usage,
		"UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x', s.COLOUR = 'x'":      mysqlerr.UnknownColumn,
		"UPDATE test.saved s JOIN performance_timers p SET s.ENABLED = 'x', p.TIMER_NAME = 'x'":              mysqlerr.Denied,
	} {
		for range 2 {
			if got, _, err := try(t, s, query); err == nil || err.Number != number {
				t.Errorf("%s: %q %v", query, got, err)
			}
		}
		if got := state(); got != "NULL|call/main/main|NO\n" {
			t.Errorf("behind %s: %q", query, got)
		}
	}
}

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

// TestColumnNames: columns are called as they were written, whatever SQLite gets.
func TestColumnNames(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range map[string]string{
		"SELECT COUNT(*)/2, NAME, `ENABLED`, 'abc', NOW() IS NULL, @@autocommit FROM setup_instruments": "COUNT(*)/2,NAME,ENABLED,abc,NOW() IS NULL,@@autocommit",
		"SELECT 1/2 AS half, 1/3 third, 1/4 'a quarter', SUM(1)/2":                                      "half,third,a quarter,SUM(1)/2",
		"SELECT DATABASE(), 7 DIV 2, CASE WHEN 1/2 THEN 1 END":                                          "DATABASE(),7 DIV 2,CASE WHEN 1/2 THEN 1 END",
		"SELECT SUM_TIMER_WAIT/COUNT_STAR FROM events_calls_summary_global_by_event_name":               "SUM_TIMER_WAIT/COUNT_STAR",
	} {
		_, r, err := try(t, s, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var names []string
		for _, c := range r.Columns {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ","); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
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

// TestAffected: a definition changes no rows, whatever the statement before did, and a client may
// want to know how many rows an UPDATE found.
func TestAffected(t *testing.T) {
	s := open(t, newFake("app"))
	for _, c := range []struct {
		found    bool
		query    string
		affected int64
	}{
		{false, "CREATE TABLE test.v AS SELECT NAME FROM setup_instruments", 5},
		{false, "CREATE TABLE test.w (x INT)", 0},
		{false, "INSERT INTO test.w VALUES (1), (2)", 2},
		{false, "ALTER TABLE test.w ADD y INT", 0},
		{false, "INSERT INTO test.w VALUES (3, 4)", 1},
		{false, "DROP TABLE test.w", 0},
		{false, "UPDATE setup_instruments SET ENABLED = ENABLED", 0},
		{true, "UPDATE setup_instruments SET ENABLED = ENABLED", 5},
		{true, "UPDATE setup_instruments SET ENABLED = ENABLED WHERE 0", 0},
	} {
		s.FoundRows = c.found
		if _, r, err := try(t, s, c.query); err != nil || r.Affected != c.affected {
			t.Errorf("%s: %+v %v, want %d rows", c.query, r, err, c.affected)
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

// TestLabels: a column is called as the statement calls it.
func TestLabels(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range map[string][]string{
		"SELECT name, Enabled, t.NAME, NAME AS n, 1 + 1 FROM setup_instruments t": {"name", "Enabled", "NAME", "n", "1 + 1"},
		"SELECT * FROM (SELECT name FROM setup_instruments) t":                    {"name"},
		"SELECT * FROM setup_timers":                                              {"NAME", "TIMER_NAME"},
		"SELECT name FROM setup_consumers UNION SELECT NAME FROM setup_timers":    {"name"},
	} {
		_, r, err := try(t, s, query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		var got []string
		for _, c := range r.Columns {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
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

// TestJoins: a join by a name does not look at all pairs.
func TestJoins(t *testing.T) {
	f := newFake("app")
	f.functions = nil
	for i := range 20000 {
		f.functions = append(f.functions, source.Function{Key: uint32(i + 1), Package: "p", Name: fmt.Sprintf("f%d", i)})
	}
	s := open(t, f)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := s.Query(ctx, "SELECT COUNT(*) FROM setup_instruments a JOIN events_calls_summary_global_by_event_name b ON b.EVENT_NAME = a.NAME", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if row, err := r.Next(); err != nil || row[0] != int64(20000) {
		t.Errorf("%v %v", row, err)
	}
	ask(t, s, "CREATE TABLE test.saved AS SELECT * FROM setup_instruments")
	if _, err := s.Query(ctx, "UPDATE setup_instruments x SET ENABLED = (SELECT 'YES' FROM test.saved y WHERE x.NAME = y.NAME)", nil); err != nil || !f.functions[19999].Enabled {
		t.Errorf("restored: %v", err)
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

// upserts change a table whose rows have keys; upserted has it then. MariaDB does the same.
var (
	upserts = []string{
		"CREATE TABLE hits (name VARCHAR(10) PRIMARY KEY, n INT, last VARCHAR(10))",
		"INSERT INTO hits VALUES ('a', 1, 'x'), ('b', 2, NULL)",
		"INSERT INTO hits (name, n) VALUES ('a', 10), ('c', 5) ON DUPLICATE KEY UPDATE n = n + VALUES(n), last = 'again'",
		"INSERT INTO hits (name, n) SELECT name, n * 100 FROM (SELECT name, n FROM hits WHERE name <> 'a') AS h ON DUPLICATE KEY UPDATE n = VALUES(n) + 1",
		"INSERT INTO hits SET name = 'A', n = 0 ON DUPLICATE KEY UPDATE last = CONCAT(last, '!')",
	}
	upserted = map[string]string{"SELECT * FROM hits ORDER BY name": "a|11|again!\nb|201|NULL\nc|501|NULL\n"}
)

func TestUpserts(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "USE test")
	for _, query := range upserts {
		ask(t, s, query)
	}
	for query, want := range upserted {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]uint16{
		"INSERT INTO performance_schema.setup_actors VALUES ('a') ON DUPLICATE KEY UPDATE ENABLED = 'NO'": 1142,
		"REPLACE INTO hits VALUES ('a', 1, 'x') ON DUPLICATE KEY UPDATE n = 1":                            1064,
		"INSERT INTO hits VALUES ('a', 1, 'x') ON DUPLICATE KEY UPDATE nothing = 1":                       1054,
	} {
		if _, _, err := try(t, s, query); err == nil || err.Number != want {
			t.Errorf("%s: %v, want error %d", query, err, want)
		}
	}
}
