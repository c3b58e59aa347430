package schema

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/go-sql-driver/mysql"
)

// A generator writes random queries of the tables that oracleTables makes.
type generator struct{ *rand.Rand }

var oracleTables = []string{
	"CREATE TABLE t (n VARCHAR(10), x INT, y INT)",
	"INSERT INTO t VALUES ('a', 1, 2), ('B', 2, NULL), ('b', 3, -4), (NULL, 4, 0), ('abc', -5, 10), ('', 0, 7), ('Ab', 1, 1)",
	"CREATE TABLE u (n VARCHAR(10), z INT)",
	"INSERT INTO u VALUES ('A', 1), ('b', 2), ('c', NULL), (NULL, 3)",
	"CREATE VIEW v1 AS SELECT x, n, y FROM t",
	"CREATE VIEW v2 AS SELECT x, n, y FROM t",
	"SET @a = 1, @b = 'b'",
	"CREATE TABLE times (k INT, a DATETIME, b DATE)",
	"INSERT INTO times VALUES (1, '2026-01-31 12:34:56', '2024-02-29'), (2, '1999-12-31 23:59:59', '2000-01-01'), (3, '2024-02-29 00:00:00', NULL), (0, NULL, '2026-12-27'), (-1, '1970-01-01 00:00:01', '2023-01-01')",
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// number writes an expression that is an integer, with so many others within each other.
func (g generator) number(depth int) string {
	if depth <= 0 {
		return g.pick("0", "1", "2", "3", "7", "10", "NULL", "x", "y", "x", "t.y")
	}
	n := func() string { return g.number(depth - 1 - g.IntN(2)) }
	s := func() string { return g.text(depth - 1) }
	d := func() string { return g.fraction(depth - 1) }
	switch g.IntN(18) {
	case 16:
		return g.pick("SIGN", "CEILING", "FLOOR", "ROUND", "ISNULL") + "(" + d() + ")"
	case 17:
		return d() + " DIV " + n()
	case 0, 1, 2:
		return n() + " " + g.pick("+", "-", "*") + " " + n()
	case 3:
		return n() + g.pick(" DIV ", " % ", " MOD ") + n()
	case 4:
		return "-" + n()
	case 5:
		return "(" + n() + ")"
	case 6:
		return g.pick("ABS", "SIGN", "ISNULL", "CEILING", "FLOOR") + "(" + n() + ")"
	case 7:
		return g.pick("IFNULL", "COALESCE", "NULLIF", "MOD") + "(" + n() + ", " + n() + ")"
	case 8:
		return g.pick("GREATEST", "LEAST") + "(" + n() + ", " + n() + ")"
	case 9:
		return "IF(" + g.truth(depth-1) + ", " + n() + ", " + n() + ")"
	case 10:
		return "CASE WHEN " + g.truth(depth-1) + " THEN " + n() + " ELSE " + n() + " END"
	case 11:
		return g.pick("LENGTH", "CHAR_LENGTH", "ASCII") + "(" + s() + ")"
	case 12:
		return g.pick("LOCATE", "INSTR", "STRCMP") + "(" + s() + ", " + s() + ")"
	case 13:
		return "FIELD(" + s() + ", " + s() + ", " + s() + ")"
	case 14:
		return "(SELECT " + g.pick("MAX", "MIN", "SUM", "COUNT") + "(z) FROM u WHERE u.z " + g.pick("=", "<", ">") + " " + g.pick("x", "y", "1") + ")"
	}
	return "(" + g.truth(depth-1) + ")"
}

// fraction writes an expression that is a decimal number, or an integer.
func (g generator) fraction(depth int) string {
	if depth <= 0 {
		return g.pick("0.5", "1.25", "-2.5", "0.1", "0.2", "10.0", "x", "y", "NULL", "3")
	}
	d := func() string { return g.fraction(depth - 1 - g.IntN(2)) }
	switch g.IntN(12) {
	case 0, 1, 2:
		return d() + " " + g.pick("+", "-", "*") + " " + d()
	case 3, 4:
		return d() + " / " + d()
	case 5:
		return "-" + d()
	case 6:
		return "(" + d() + ")"
	case 7:
		return g.pick("ROUND", "TRUNCATE") + "(" + d() + ", " + g.pick("0", "1", "2") + ")"
	case 8:
		return g.pick("IFNULL", "COALESCE", "GREATEST", "LEAST", "MOD") + "(" + d() + ", " + d() + ")"
	case 9:
		return "IF(" + g.truth(depth-1) + ", " + d() + ", " + d() + ")"
	case 10:
		return "CASE WHEN " + g.truth(depth-1) + " THEN " + d() + " ELSE " + d() + " END"
	}
	return "CAST(" + d() + " AS DECIMAL(10,2))"
}

func (g generator) text(depth int) string {
	if depth <= 0 {
		return g.pick("'a'", "'B'", "'ab'", "''", "NULL", "n", "n", "t.n", "'x y'")
	}
	n := func() string { return g.number(depth - 1) }
	s := func() string { return g.text(depth - 1 - g.IntN(2)) }
	switch g.IntN(11) {
	case 9:
		return g.pick("CONCAT", "LOWER", "TRIM") + "(" + g.any(depth-1) + ")"
	case 10:
		return g.pick("IFNULL", "COALESCE") + "(" + s() + ", " + g.pick(n(), g.fraction(depth-1)) + ")"
	case 0, 1:
		return g.pick("UPPER", "LOWER", "REVERSE", "TRIM", "LTRIM") + "(" + s() + ")"
	case 2:
		return "CONCAT(" + s() + ", " + s() + ")"
	case 3:
		return g.pick("LEFT", "RIGHT", "SUBSTRING") + "(" + s() + ", " + g.pick("0", "1", "2", "-1") + ")"
	case 4:
		return "REPLACE(" + s() + ", " + g.pick("'a'", "'B'", "'b'") + ", " + s() + ")"
	case 5:
		return g.pick("IFNULL", "COALESCE", "NULLIF") + "(" + s() + ", " + s() + ")"
	case 6:
		return "IF(" + g.truth(depth-1) + ", " + s() + ", " + s() + ")"
	case 7:
		return "CASE " + s() + " WHEN " + s() + " THEN " + s() + " ELSE " + s() + " END"
	}
	return "CONCAT_WS('-', " + s() + ", " + n() + ")"
}

func (g generator) truth(depth int) string {
	n := func() string { return g.number(depth - 1) }
	s := func() string { return g.text(depth - 1) }
	b := func() string { return g.truth(depth - 1) }
	compare := g.pick("=", "<=>", "<", ">", "<=", ">=", "<>", "!=")
	if depth <= 0 {
		return g.pick("x", "y", "n", "x") + g.pick(" IS NULL", " IS NOT NULL")
	}
	d := func() string { return g.fraction(depth - 1) }
	switch g.IntN(18) {
	case 14:
		return d() + " " + compare + " " + d()
	case 15:
		return g.pick(n(), d()) + " " + compare + " " + s()
	case 16:
		return s() + " " + compare + " " + g.pick(n(), d())
	case 17:
		return d() + g.pick(" ", " NOT ") + "BETWEEN " + d() + " AND " + d()
	case 0, 1:
		return n() + " " + compare + " " + n()
	case 2:
		return g.pick("0", "1", "10") + " " + compare + " " + g.pick("'1'", "'10'", "'a'", "CONCAT(1, 0)")
	case 3:
		return s() + " " + compare + " " + s()
	case 4, 5:
		return b() + g.pick(" AND ", " OR ", " XOR ", " && ", " || ") + b()
	case 6:
		return g.pick("NOT ", "! ") + "(" + b() + ")"
	case 7:
		return n() + g.pick(" ", " NOT ") + "BETWEEN " + n() + " AND " + n()
	case 8:
		return s() + g.pick(" ", " NOT ") + "IN (" + s() + ", " + s() + ")"
	case 9:
		return n() + g.pick(" ", " NOT ") + "IN (" + n() + ", " + n() + ")"
	case 10:
		return g.pick(s(), "'x_y'") + g.pick(" ", " NOT ") + "LIKE " + g.pick("'a%'", "'%B'", "'_b'", "'%'", `'x\_y'`)
	case 11:
		return "(" + n() + ") IS " + g.pick("", "NOT ") + g.pick("TRUE", "FALSE", "NULL", "UNKNOWN")
	case 12:
		return g.pick("", "NOT ") + "EXISTS (SELECT 1 FROM u WHERE u.n = t.n AND z > " + g.pick("x", "0", "1") + ")"
	}
	return s() + g.pick(" IN ", " NOT IN ", " = ANY ", " <> ALL ") + "(SELECT n FROM u" + g.pick("", " WHERE n IS NOT NULL") + ")"
}

func (g generator) any(depth int) string {
	switch g.IntN(4) {
	case 0:
		return g.number(depth)
	case 1:
		return g.text(depth)
	case 2:
		return g.fraction(depth)
	}
	return g.truth(depth)
}

// named are queries whose columns have names that no random query has.
var named = []string{
	"VALUES (1 + 1, 'a'), (2.5, 'b')", "VALUES (1), (2) ORDER BY 1 LIMIT 1", "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v",
	"WITH v AS (VALUES (1, 'a')) SELECT * FROM v", "SELECT 2 IN (VALUES (1), (2))", "SELECT n FROM u UNION VALUES ('e'), ('d')",
}

// rare are expressions with functions that random queries have seldom, or never.
var rare = []string{
	"ADDTIME('10:00:00', '01:30:00')", "ADDTIME('2020-01-01 10:00:00', '1 01:30:00.5')", "SUBTIME('2020-01-01 10:00:00', '01:30')", "SUBTIME('10:00:00', '-11:00:00')", "ADDTIME('x', '1:00:00')",
	"ATAN(1, 2)", "ATAN(1)", "COT(1)", "BIT_LENGTH('abc')", "CHAR(65 USING utf8mb4)", "CHARSET('a')", "CHARSET('a' COLLATE utf8mb4_bin)", "COLLATION('a')", "COLLATION(BINARY 'a')", "CHARSET(1)",
	"CONVERT_TZ('2001-01-01 01:00:00', '+00:00', '+02:00')", "CONVERT_TZ('2001-01-01 01:00:00', 'SYSTEM', '-05:30')", "CONVERT_TZ('2001-01-01 01:00:00', 'Mars/Olympus', '+02:00')", "CONVERT_TZ('1950-01-01 01:00:00', '+00:00', '+02:00')", "CONVERT_TZ('2001-01-01', '+00:00', '+02:00')", "CONVERT_TZ('x', '+00:00', '+02:00')", "CONVERT_TZ('2001-01-01 01:00:00', '+0:00', '+99:00')",
	"TO_BASE64('abc')", "TO_BASE64(REPEAT('a', 100))", "FROM_BASE64('YWJj')", "FROM_BASE64('*')", "INET_ATON('10.0.5.9')", "INET_ATON('10.0.5.256')", "INET_NTOA(167773449)", "INET_NTOA(-1)",
	"INSERT('Quadratic', 3, 4, 'What')", "INSERT('Quadratic', -1, 4, 'What')", "INSERT('Quadratic', 3, 100, 'What')", "INSERT('Quadratic', 3, 0, 'What')", "INSERT('abc', 4, 1, 'x')",
	"MAKEDATE(2020, 31)", "MAKEDATE(2020, 0)", "MAKEDATE(9999, 366)", "MAKEDATE(69, 366)", "MAKEDATE(70, 1)", "MAKETIME(1, 2, 3)", "MAKETIME(-100, 2, 3)", "MAKETIME(1, 60, 3)", "MAKETIME(900, 0, 0)",
	`QUOTE('it\'s')`, "QUOTE(NULL)", `QUOTE('a\\b')`, "QUOTE(1.50)", "SOUNDEX('Quadratically')", "SOUNDEX('Robert')", "SOUNDEX('Tymczak')", "SOUNDEX('')", "SOUNDEX('12')", "SOUNDEX('Ashcraft')", "SOUNDEX('aeiou')",
	"STR_TO_DATE('01,5,2013', '%d,%m,%Y')", "STR_TO_DATE('May 1, 2013', '%M %d,%Y')", "STR_TO_DATE('9:30:17', '%h:%i:%s')", "STR_TO_DATE('9:30:17 pm', '%h:%i:%s %p')", "STR_TO_DATE('13:30', '%h:%i')", "STR_TO_DATE('200442 Monday', '%X%V %W')", "STR_TO_DATE('201953 Sunday', '%x%v %W')", "STR_TO_DATE('2020-01-02 03:04:05.6', '%Y-%m-%d %H:%i:%s.%f')", "STR_TO_DATE('2013 100', '%Y %j')", "STR_TO_DATE('x2013', '%Y')", "STR_TO_DATE('3rd Feb 69', '%D %b %y')", "STR_TO_DATE('2020-01-02 10:11:12 and more', '%Y-%m-%d %T')",
	"TIME_FORMAT('100:02:03', '%H %k %h %I %l')", "TIME_FORMAT('10:02:03.5', '%i:%s.%f %p %r %T')", "TIME_FORMAT('-10:00:00', '%H:%i')", "TIME_FORMAT('x', '%H')", "TIMESTAMP('2020-01-01', '10:00:00')", "TIMESTAMP('2020-01-01 23:00:00', '10:00:00')", "TO_SECONDS('2020-01-01')", "TO_SECONDS('2020-01-01 10:00:00')",
	"CAST('10:00' AS TIME)", "CAST('10:11:12.789' AS TIME)", "CAST('10:11:12.789' AS TIME(2))", "CAST('2020-01-01 10:00:00.123456' AS DATETIME(6))", "CAST('2020-01-01 10:00:00.123456' AS DATETIME)", "CAST('2020-01-01 10:00:00' AS DATETIME(3))", "CAST('2020-01-01 10:00:00' AS TIME)", "CAST('a' AS BINARY)", "CAST('abc' AS BINARY(2))",
	"'main' LIKE BINARY '%MAIN%'", "'main' LIKE BINARY 'm_in'", "BINARY 'main' NOT LIKE '%MAIN%'", "'main' LIKE '%MAIN%' COLLATE utf8mb4_bin", "'main' COLLATE utf8mb4_bin LIKE 'MAIN'", "'main' LIKE '%MAIN%' COLLATE utf8mb4_general_ci", "CAST('main' AS BINARY) LIKE '%MAIN%'", "CONVERT('main' USING binary) LIKE '%MAIN%'", "'a_b' LIKE BINARY 'a\\_b'", "'a!b' LIKE BINARY 'a!!b' ESCAPE '!'", "CONCAT(BINARY 'a', 'b') LIKE 'AB'", "LENGTH(BINARY 'a') LIKE '1'", "NULL LIKE BINARY 'a'", "2.50 LIKE BINARY '2.50'", "2.50 REGEXP BINARY '2.50'", "_binary'a' = 'A'",
	"'main' REGEXP BINARY '^MAIN'", "'main' REGEXP '^MAIN'", "BINARY 'main' NOT REGEXP '^MAIN'", "'main' COLLATE utf8mb4_bin REGEXP '^MAIN'", "REGEXP_INSTR(BINARY 'abc', 'B')", "REGEXP_SUBSTR('aBc', BINARY '[b-z]+')", "REGEXP_REPLACE('aBc', BINARY 'b', 'x')",
	"LOCATE(BINARY 'A', 'a')", "LOCATE('A' COLLATE utf8mb4_bin, 'bA')", "INSTR('a', BINARY 'A')", "POSITION(BINARY 'A' IN 'aA')", "STRCMP(BINARY 'a', 'A')", "FIELD(BINARY 'a', 'A', 'a')", "FIND_IN_SET(BINARY 'a', 'A,a')", "NULLIF('a', BINARY 'A')", "CASE 'a' WHEN BINARY 'A' THEN 1 ELSE 2 END", "IF(BINARY 'a' = 'A', 'x', 'y') LIKE 'X'",
}

// query writes a query. Its rows come in any order.
func (g generator) query() string {
	depth := 1 + g.IntN(3)
	where := ""
	if g.IntN(2) == 0 {
		where = " WHERE " + g.truth(depth)
	}
	from := "FROM t" + g.pick("", "", "", " JOIN u USING (n)", " LEFT JOIN u ON x = z", ", u", " LEFT JOIN u JOIN u AS w ON u.z = w.z ON x = w.z", " JOIN u LEFT JOIN u AS w USING (z) ON x = u.z + 1")
	if strings.Contains(from, "u") {
		depth, where = 0, ""
	}
	switch g.IntN(7) {
	case 6:
		return "SELECT COUNT(*), SUM(x), MIN(x), COUNT(DISTINCT " + g.text(depth) + ") " + from + where + " GROUP BY " + g.text(depth)
	case 0:
		by := g.number(depth - 1)
		if _, err := strconv.Atoi(by); err == nil || by == "NULL" {
			by = "x"
		}
		having := g.pick("", " HAVING COUNT(*) > 1", " HAVING SUM(x) > 0")
		return "SELECT " + by + " AS k, COUNT(*), SUM(x), MIN(y), MAX(x + 1), COUNT(DISTINCT y), AVG(x) " + from + where + " GROUP BY k" + g.pick("", " WITH ROLLUP") + having
	case 1:
		if g.IntN(2) == 0 {
			return "SELECT " + g.pick("", "DISTINCT ") + "LOWER(" + g.text(depth) + "), 1 " + from + where + g.pick("", " UNION SELECT LOWER(n), 1 FROM u")
		}
		return "SELECT DISTINCT " + g.number(depth) + ", " + g.pick("x", "y", "1") + " " + from + where + " UNION " + g.pick("", "ALL ") + "SELECT z, 2 FROM u"
	case 2:
		return "WITH c AS (SELECT " + g.number(depth) + " AS x, " + g.number(depth) + " AS y, " + g.text(depth) + " AS n " + from + where + ") SELECT " + g.any(1) + ", x FROM c AS t"
	case 3:
		return "SELECT SUM(" + g.number(depth) + "), COUNT(" + g.any(depth) + "), MAX(" + g.number(depth) + "), AVG(" + g.fraction(depth) + "), MIN(" + g.fraction(depth) + ") " + from + where
	}
	return "SELECT " + g.any(depth) + ", " + g.any(depth) + " AS z, x " + from + where
}

// answer is what a server gives for a query: the names and types of the columns and the rows, or
// the number of an error.
type answer struct {
	columns []string
	types   []language.Type
	rows    [][]string
	failed  uint16
}

// typeOfMariaDB returns our type for one of the driver's names. What has only NULLs is text.
func typeOfMariaDB(name string) language.Type {
	switch name = strings.TrimPrefix(name, "UNSIGNED "); {
	case strings.HasSuffix(name, "INT"):
		return language.Integer
	case name == "DECIMAL":
		return language.Decimal
	case name == "DOUBLE" || name == "FLOAT":
		return language.Float
	case name == "DATE":
		return language.Date
	case name == "DATETIME" || name == "TIMESTAMP":
		return language.Datetime
	}
	return language.String
}

// oracleAsks returns what a MariaDB server answers, or an error if it has crashed.
func oracleAsks(ctx context.Context, db *sql.Conn, query string) (a answer, err error) {
	defer func() {
		if refused := (*mysql.MySQLError)(nil); errors.As(err, &refused) {
			a, err = answer{failed: refused.Number}, nil
		}
	}()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return a, err
	}
	for _, c := range types {
		a.columns, a.types = append(a.columns, c.Name()), append(a.types, typeOfMariaDB(c.DatabaseTypeName()))
	}
	for rows.Next() {
		cells, to := make([]sql.NullString, len(a.columns)), make([]any, len(a.columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return a, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			if row[i] = "NULL"; c.Valid {
				row[i] = c.String
			}
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

func oracleAsked(t *testing.T, s *Session, query string) (a answer) {
	r, err := s.Query(t.Context(), query, nil)
	if err != nil {
		return answer{failed: err.(*mysqlerr.Error).Number}
	}
	defer r.Close()
	for _, c := range r.Columns {
		a.columns, a.types = append(a.columns, c.Name), append(a.types, c.Type)
	}
	for {
		values, err := r.Next()
		if err != nil {
			return answer{failed: err.(*mysqlerr.Error).Number}
		}
		if values == nil {
			return a
		}
		row := make([]string, len(values))
		for i, v := range values {
			var ok bool
			if row[i], ok = r.Columns[i].Format(v); !ok {
				row[i] = "NULL"
			}
		}
		a.rows = append(a.rows, row)
	}
}

// difference says in what two answers differ; "": in nothing. Rows may come in any order. Of
// floating-point numbers 15 digits are compared.
func (a answer) difference(b answer) string {
	order := func(x, y []string) int {
		for i := range x {
			n, err1 := strconv.ParseFloat(x[i], 64)
			m, err2 := strconv.ParseFloat(y[i], 64)
			c := strings.Compare(x[i], y[i])
			if err1 == nil && err2 == nil {
				c = cmp.Or(cmp.Compare(n, m), c)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
	for _, x := range []answer{a, b} {
		for _, row := range x.rows {
			for i, cell := range row {
				if n, err := strconv.ParseFloat(cell, 64); err == nil && n == 0 && x.types[i] != language.String {
					row[i] = strings.TrimPrefix(cell, "-") // MariaDB has a decimal zero below zero
				}
			}
		}
		slices.SortFunc(x.rows, order)
	}
	switch {
	case a.failed != b.failed:
		return fmt.Sprintf("error %d, here %d", a.failed, b.failed)
	case !slices.Equal(a.columns, b.columns):
		return fmt.Sprintf("columns %q, here %q", a.columns, b.columns)
	case !a.sameTypes(b):
		return fmt.Sprintf("types %v, here %v", a.types, b.types)
	case len(a.rows) != len(b.rows):
		return fmt.Sprintf("%d rows, here %d", len(a.rows), len(b.rows))
	}
	for i := range a.rows {
		for j, x := range a.rows[i] {
			y := b.rows[i][j]
			if !sameNumber(a.types[j], x, y) {
				return fmt.Sprintf("%q, here %q", a.rows[i], b.rows[i])
			}
		}
	}
	return ""
}

// sameNumber reports whether two numbers of a column are the same, as far as they can be.
// Floating-point numbers, and decimal ones of more than 15 digits, have 15 of them here. MariaDB
// shows some floating-point numbers with so many places, and computes so many places of a quotient
// as its values have, which can make one of difference in the ninth.
func sameNumber(of language.Type, x, y string) bool {
	_, places, _ := strings.Cut(x, ".")
	n, err1 := strconv.ParseFloat(x, 64)
	m, err2 := strconv.ParseFloat(y, 64)
	switch {
	case x == y:
		return true
	case err1 != nil || err2 != nil || of == language.String:
		return false
	case equalNumbers(x, y):
		return of == language.Float || len(x) > 16
	case of == language.Float:
		return strconv.FormatFloat(m, 'f', len(places), 64) == x
	}
	return len(places) >= 9 && math.Abs(n-m) < 1.01e-9
}

// sameTypes reports whether columns have the same types. Some integers are decimal numbers without
// places to MariaDB, such as -FLOOR(x).
func (a answer) sameTypes(b answer) bool {
	for i, of := range a.types {
		if of != b.types[i] && !(of == language.Decimal && b.types[i] == language.Integer && !slices.ContainsFunc(a.rows, func(row []string) bool { return strings.Contains(row[i], ".") })) {
			return false
		}
	}
	return true
}

// warnedBy returns the different warnings of an answer to SHOW WARNINGS. MariaDB calls some numbers
// DECIMAL that MySQL calls DOUBLE.
func warnedBy(a answer) (list []string) {
	for _, row := range a.rows {
		if row[0] == "Warning" {
			list = append(list, row[1]+" "+strings.ReplaceAll(row[2], "DECIMAL", "DOUBLE"))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mistakes are queries that MariaDB answers wrongly, and how that is seen.
var mistakes = map[string]string{
	"WITH c AS (SELECT (t.y) AS x, (x IS NOT NULL) AS y, CONCAT_WS('-', 'B', 3) AS n FROM t) SELECT t.n NOT IN (n, n), x FROM c AS t": "t.n = n, and t.n IN (n, n) is 0",
}

// TestOracle asks a MariaDB server and a session the same random queries: 10,000, or 500 in a quick
// run, or as many as ORACLE_QUERIES says. ORACLE_SEED chooses others, and ORACLE_KIND those of one
// kind.
func TestOracle(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	g := generator{rand.New(rand.NewPCG(uint64(number("ORACLE_SEED", 1)), 2))}
	most := 10_000
	if testing.Short() || !testenv.All() {
		most = 500
	}
	kinds := slices.DeleteFunc(slices.Clone(oracleKinds), func(k oracleKind) bool { return !strings.Contains(k.name, os.Getenv("ORACLE_KIND")) })
	queries, differ, crashes := number("ORACLE_QUERIES", most), 0, 0
	db, s := oracles(t)
	list := slices.Clone(named)
	for _, call := range rare {
		list = append(list, "SELECT "+call)
	}
	for _, q := range list {
		if theirs, err := oracleAsks(t.Context(), db, q); err != nil {
			t.Fatal(err)
		} else if d := theirs.difference(oracleAsked(t, s, q)); d != "" {
			t.Errorf("%s: MariaDB gives %s", q, d)
		}
	}
	for range queries {
		kind := kinds[g.IntN(len(kinds))]
		q := kind.query(g)
		theirs, err := oracleAsks(t.Context(), db, q)
		if err != nil {
			t.Logf("%s: MariaDB crashes: %v", q, err)
			if crashes++; crashes > 20 {
				t.Fatal("MariaDB crashes too often")
			}
			db, s = oracles(t)
			continue
		}
		d := theirs.difference(oracleAsked(t, s, q))
		if d == "" && kind.warnings {
			theirs, err := oracleAsks(t.Context(), db, "SHOW WARNINGS")
			if err != nil {
				t.Fatal(err)
			}
			if theirs, ours := warnedBy(theirs), warnedBy(oracleAsked(t, s, "SHOW WARNINGS")); !slices.Equal(theirs, ours) {
				d = fmt.Sprintf("warnings %q, here %q", theirs, ours)
			}
		}
		if d != "" {
			if differ++; mistakes[q] != "" {
				t.Logf("%s: MariaDB gives %s, though %s", q, d, mistakes[q])
			} else if differ <= 40 {
				t.Errorf("%s: MariaDB gives %s", q, d)
			}
		}
	}
	t.Logf("%d of %d queries differ; %d ended MariaDB and were left out", differ, queries, crashes)
}

// oracles returns a MariaDB server and a session that have the same tables.
func oracles(t *testing.T) (*sql.Conn, *Session) {
	db, s := mariaDB(t, "charset=utf8mb4&collation=utf8mb4_general_ci&time_zone='%2B00:00'"), open(t, newFake("app"))
	ask(t, s, "USE test")
	for _, q := range append([]string{"CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE test"}, oracleTables...) {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(q, "CREATE DATABASE") {
			ask(t, s, q)
		}
	}
	return db, s
}
