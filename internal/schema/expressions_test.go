package schema

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

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

// TestColumnNames: columns are called as they were written, whatever SQLite gets.
func TestColumnNames(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range map[string]string{
		"SELECT COUNT(*)/2, NAME, `ENABLED`, 'abc', NOW() IS NULL, @@autocommit FROM setup_instruments": "COUNT(*)/2,NAME,ENABLED,abc,NOW() IS NULL,@@autocommit",
		"SELECT name, Enabled, t.NAME, NAME AS n FROM setup_instruments t":                              "name,Enabled,NAME,n",
		"SELECT * FROM (SELECT name FROM setup_instruments) t":                                          "name",
		"SELECT * FROM setup_timers":                                                                    "NAME,TIMER_NAME",
		"SELECT name FROM setup_consumers UNION SELECT NAME FROM setup_timers":                          "name",
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
