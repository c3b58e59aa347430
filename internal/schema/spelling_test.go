package schema

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
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

// TestMisspelling: what means something to SQLite, but nothing to MySQL.
func TestMisspelling(t *testing.T) {
	s := open(t, newFake("app"))
	for query, number := range map[string]uint16{
		"SELECT 1 [x, @a := 1]": mysqlerr.Syntax, "SELECT 1\x00, @a := 2": mysqlerr.Syntax, "SELECT 1//2, @a := 2 */ 3": mysqlerr.Syntax, "SELECT :a": mysqlerr.Syntax, "SELECT ?": mysqlerr.Syntax, "SELECT `a\x00b`": mysqlerr.Syntax, "SELECT x'4'": mysqlerr.Syntax, "SELECT b'2'": mysqlerr.Syntax,
		"EXPLAIN FORMAT=TREE SELECT 1": mysqlerr.Unsupported, "EXPLAIN ANALYZE SELECT 1": mysqlerr.Unsupported, "EXPLAIN FOR CONNECTION 3": mysqlerr.Unsupported, "EXPLAIN analyze": mysqlerr.NoSuchTable,
		"SELECT n'": mysqlerr.Syntax, "SELECT `nosuch`": mysqlerr.UnknownColumn, "SELECT $nosuch": mysqlerr.UnknownColumn, "SELECT 1 FROM setup_timers WHERE `nosuch` = 1": mysqlerr.UnknownColumn,
	} {
		if got, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%q: %q %v", query, got, err)
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
