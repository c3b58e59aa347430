package schema

import "strings"

// An oracleKind writes queries of one subject.
type oracleKind struct {
	name     string
	query    func(generator) string
	warnings bool // they are compared too
}

var oracleKinds = []oracleKind{
	{"plain", generator.query, false},
	{"windows", generator.windows, false},
	{"times", generator.times, false},
	{"patterns", generator.patterns, false},
	{"json", generator.json, false},
	{"variables", generator.variables, false},
	{"views", generator.views, false},
	{"warnings", generator.warnings, true},
}

// windows writes a query with functions over windows. What depends on the order of rows has one
// that is complete.
func (g generator) windows() string {
	partition := g.pick("", "", "PARTITION BY "+g.pick("x > 0", "y", "n", g.number(1), g.text(1))+" ")
	whole := " ORDER BY " + g.pick("x, y", "x DESC, y DESC", "-x, y", "x + 1, y")
	some := g.pick("", " ORDER BY "+g.pick("x", "y", "n", "x DESC", "n DESC", g.number(1)+" + 0", g.text(1)))
	if some == "" {
		partition = strings.TrimSpace(partition)
	}
	frame := " ROWS " + g.pick("UNBOUNDED PRECEDING", "1 PRECEDING", "CURRENT ROW",
		"BETWEEN "+g.pick("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING")+" AND "+g.pick("1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING"),
		"BETWEEN "+g.pick("CURRENT ROW", "1 FOLLOWING")+" AND "+g.pick("1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING"))
	of := g.pick(g.number(1), g.fraction(1), "x", "y")
	for strings.Contains(of, "/") || strings.Contains(of, "DIV") { // MariaDB cuts each quotient here
		of = g.fraction(1)
	}
	sum := g.pick("SUM", "COUNT", "MIN", "MAX", "AVG") + "(" + of + ")"
	call := ""
	switch g.IntN(6) {
	case 0:
		call = g.pick("ROW_NUMBER()", "NTILE(2)", "NTILE(3)") + " OVER (" + partition + whole + ")"
	case 1:
		call = g.pick("RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()") + " OVER (" + partition + g.pick(" ORDER BY x", " ORDER BY y DESC", " ORDER BY n", whole) + ")"
	case 2:
		call = g.pick("LAG", "LEAD") + "(" + g.any(1) + g.pick("", ", 1", ", 2", ", 0") + ") OVER (" + partition + whole + ")"
	case 3:
		call = g.pick("FIRST_VALUE(", "LAST_VALUE(") + g.any(1) + ") OVER (" + partition + whole + g.pick("", frame) + ")"
	case 4:
		call = sum + " OVER (" + partition + whole + frame + ")"
	case 5:
		call = sum + " OVER (" + partition + some + ")"
	}
	switch g.IntN(4) {
	case 0:
		return "SELECT x, y, " + g.number(1) + " + " + call + " FROM t"
	case 1:
		return "SELECT x, SUM(" + g.number(1) + "), RANK() OVER (ORDER BY SUM(x)) AS r FROM t GROUP BY x"
	case 2:
		return "SELECT * FROM (SELECT x, y, " + call + " AS w FROM t WHERE " + g.truth(1) + ") AS d WHERE w " + g.pick("> 1", "= 1", "IS NOT NULL")
	}
	return "SELECT x, y, " + call + " AS w, NTH_VALUE(x, 2) OVER w AS v FROM t WINDOW w AS (ORDER BY x, y)"
}

// time writes an expression that is a time: a date, or one with a time of day.
func (g generator) time(depth int) string {
	if depth <= 0 {
		return g.pick("a", "a", "b", "NULL", "CAST('2026-01-31' AS DATE)", "'2024-02-29 23:59:59'", "'1999-12-31 00:00:01'", "'2026-05-06 07:08:09.500000'")
	}
	t := func() string { return g.time(depth - 1) }
	switch g.IntN(9) {
	case 0, 1:
		return g.pick("DATE_ADD", "DATE_SUB") + "(" + t() + ", " + g.interval() + ")"
	case 2:
		return t() + g.pick(" + ", " - ") + g.interval()
	case 3:
		return g.pick("DATE", "LAST_DAY", "TIMESTAMP") + "(" + t() + ")"
	case 4:
		return g.pick("ADDDATE", "SUBDATE") + "(" + t() + ", " + g.pick("k", "1", "40", "-366") + ")"
	case 5:
		return "FROM_UNIXTIME(" + g.pick("k", "0", "1000000000", "k * 86400 * 30", "NULL") + ")"
	case 6:
		return "TIMESTAMPADD(" + g.unit() + ", " + g.pick("k", "1", "-13") + ", " + t() + ")"
	case 7:
		return "CAST(" + t() + " AS " + g.pick("DATE", "DATETIME") + ")"
	}
	return g.pick("IFNULL", "COALESCE", "GREATEST", "LEAST") + "(" + g.pick("a, ", "b, ") + g.pick("a", "b") + ")"
}

func (g generator) unit() string {
	return g.pick("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
}

func (g generator) interval() string {
	if g.IntN(3) == 0 {
		return "INTERVAL " + g.pick("'1:2' HOUR_MINUTE", "'3:10' MINUTE_SECOND", "'1 2' DAY_HOUR", "'1-2' YEAR_MONTH", "'-1:30' HOUR_MINUTE", "'1 1:1:1' DAY_SECOND", "'2' DAY", "'1x' HOUR")
	}
	return "INTERVAL " + g.pick("1", "k", "-1", "k * 5", "13", "NULL") + " " + g.unit()
}

// times writes a query of times.
func (g generator) times() string {
	depth := g.IntN(3)
	t := func() string { return g.time(depth) }
	part := func() string {
		switch g.IntN(9) {
		case 8:
			return g.pick("TIME_TO_SEC(a)", "UNIX_TIMESTAMP(a)", "UNIX_TIMESTAMP(b)", "TIME_TO_SEC(CAST("+t()+" AS DATETIME))", "a + 0", "b + k", "a * 2")
		case 0:
			return "DATE_FORMAT(" + t() + ", " + g.pick("'%Y-%m-%d'", "'%H:%i:%s'", "'%W %M %e'", "'%a %b %c %y'", "'%j %k %l %p'", "'%T|%r|%f'", "'%w %h %I %%'", "'%D %U %u %V %v %X %x'", "'%q'") + ")"
		case 1:
			return "TIMESTAMPDIFF(" + g.unit() + ", " + t() + ", " + t() + ")"
		case 2:
			return "DATEDIFF(" + t() + ", " + t() + ")"
		case 3:
			return g.pick("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "DAYOFYEAR", "DAYOFWEEK", "WEEKDAY", "WEEKOFYEAR", "TO_DAYS", "DAYNAME", "MONTHNAME", "MICROSECOND", "DAYOFMONTH", "WEEK", "YEARWEEK", "TIME") + "(" + t() + ")"
		case 4:
			return "EXTRACT(" + g.pick(g.unit(), "HOUR_MINUTE", "YEAR_MONTH") + " FROM " + t() + ")"
		case 5:
			return g.pick("SEC_TO_TIME", "FROM_DAYS", "FROM_UNIXTIME") + "(" + g.pick("k", "0", "3661", "k * 1000", "739000") + ")"
		case 6:
			return g.pick("a", "b", t()) + " " + g.pick("=", "<", ">=", "<>") + " " + g.pick("a", "b", t(), "'2026-01-31'")
		}
		return t()
	}
	if g.IntN(5) == 0 {
		return "SELECT " + g.pick("MIN", "MAX", "COUNT", "GROUP_CONCAT") + "(" + t() + ") AS m FROM times GROUP BY " + g.pick("DATE(a)", "YEAR(b)", "k > 1")
	}
	return "SELECT " + part() + ", " + part() + ", k FROM times" + g.pick("", " WHERE "+g.pick("a", "b")+g.pick(" > ", " = ", " <= ")+"'2024-02-29'", " WHERE "+part()+" IS NOT NULL")
}

// patterns writes a query with regular expressions.
func (g generator) patterns() string {
	pattern := func() string {
		return g.pick("'a'", "'^a'", "'b$'", "'^$'", "'[ab]+'", "'.'", "'^.{2}$'", "'(a)(b)'", "'a|B'", "'[^a]'", "'x?y'", `'\\w'`, `'\\s'`, "'[[:alpha:]]'", "NULL", "'(?i)A'", "'1'", "'^-?[0-9]+$'")
	}
	s := func() string {
		return g.pick(g.text(1), g.number(1), "n", "x", "'ab ab'", "BINARY n", "n COLLATE utf8mb4_bin")
	}
	if g.IntN(8) == 0 {
		return "SELECT " + g.pick("LOCATE", "INSTR", "STRCMP", "FIND_IN_SET") + "(" + s() + ", " + s() + ") AS f, FIELD(n, " + s() + ", " + s() + "), x FROM t"
	}
	if g.IntN(6) == 0 {
		return "SELECT " + g.pick(s(), "'a_b'", "'a%b'", `'a\\b'`) + " LIKE " + g.pick(s(), `CONCAT('a\_', 'b')`, "CONCAT(n, '%')", `REPLACE('a!%b', '!', '\\')`) + " AS l, x FROM t"
	}
	switch g.IntN(6) {
	case 0:
		return "SELECT REGEXP_SUBSTR(" + s() + ", " + pattern() + "), x FROM t"
	case 1:
		return "SELECT REGEXP_INSTR(" + s() + ", " + pattern() + "), x FROM t"
	case 2:
		return "SELECT REGEXP_REPLACE(" + s() + ", " + strings.Replace(pattern(), "'^$'", "'^.+$'", 1) + ", " + g.pick("''", "'z'", `'<\\1>'`, "n", "NULL") + "), x FROM t"
	case 3:
		return "SELECT n, x FROM t WHERE " + s() + g.pick("", " NOT") + g.pick(" REGEXP ", " RLIKE ") + pattern()
	}
	return "SELECT " + s() + g.pick("", " NOT") + g.pick(" REGEXP ", " RLIKE ") + pattern() + " AS r, x FROM t"
}

// json writes a query of JSON.
func (g generator) json() string {
	document, path := g.pick(`'{"a": 1, "b": [1, 2, {"c": "x"}], "d": null}'`, "'{}'", `'{"a": {"b": "A"}}'`, "JSON_OBJECT('a', x, 'c', n)"), g.pick("'$'", "'$.a'", "'$.b'", "'$.b[0]'", "'$.b[2].c'", "'$.nosuch'", "'$.a.b'", "'$.d'")
	if g.IntN(2) == 0 {
		document, path = g.pick(`'[1, "two", 3.5, true, false, null]'`, "'[]'", "JSON_ARRAY(x, n, y)", "NULL"), g.pick("'$'", "'$[1]'", "'$[0]'", "'$[2]'", "'$[7]'")
	}
	value := g.pick(g.number(1), g.text(1), g.fraction(1), "x = y", "n LIKE 'a'", "1", "'x'", "n", "x", "NULL", "1.5")
	call := ""
	switch g.IntN(9) {
	case 0:
		call = "JSON_EXTRACT(" + document + ", " + path + ")"
	case 1:
		call = "JSON_UNQUOTE(JSON_EXTRACT(" + document + ", " + path + "))"
	case 2:
		call = "JSON_VALID(" + g.pick(document, "n", "x", "'a'", "'{'", `'"a"'`) + ")"
	case 3:
		call = g.pick("JSON_LENGTH", "JSON_TYPE") + "(" + g.pick(document, "'1'", `'"a"'`, "'null'", "'true'", "'1.5'") + ")"
	case 4:
		call = "JSON_OBJECT('k', " + value + ", 'l', " + g.pick("x", "n", "y", document) + ")"
	case 5:
		call = "JSON_ARRAY(" + value + ", " + g.pick("x", "n", "NULL", "JSON_ARRAY(n, 1)") + ")"
	case 6:
		call = g.pick("JSON_SET", "JSON_INSERT", "JSON_REPLACE") + "(" + g.pick(`'{"a": 1, "b": [1, 2, {"c": "x"}], "d": null}'`, "JSON_OBJECT('a', x, 'b', JSON_ARRAY(n))") + ", " + g.pick("'$'", "'$.a'", "'$.nosuch'", "'$.b[0]'") + ", " + value + ")"
	case 7:
		call = g.pick("JSON_QUOTE(CONCAT("+g.text(1)+"))", "JSON_UNQUOTE("+g.pick(`'"a\\n"'`, "'a'", "n")+")", "CONCAT(JSON_ARRAY(n), 'x')")
	case 8:
		return "SELECT JSON_EXTRACT(" + document + ", " + path + ") = " + g.pick("1", "'x'", "x") + " AS j, x FROM t"
	}
	return "SELECT " + call + " AS j, x FROM t"
}

// variables writes a query that assigns a variable, or uses one that an earlier query assigned.
func (g generator) variables() string {
	v := "@" + g.pick("a", "b")
	switch g.IntN(5) {
	case 0:
		return "SELECT " + v + " := " + g.pick("x", "n", "x * 3", "UPPER(n)", "LENGTH(n)", "CONCAT(n, x)", "x > 1", "12.50") + ", x FROM t WHERE x = 2"
	case 1:
		return "SET " + v + " = " + g.pick("TRUE", "1", "'x'", "2.50", "-7", "(SELECT MAX(x) FROM t)", "CONCAT('a', 'b')")
	case 2:
		return "SELECT x, n FROM t WHERE " + g.pick("x", "n", "y + 1") + g.pick(" = ", " < ", " <> ", " <=> ") + v
	}
	return "SELECT " + g.pick(v, v+" + 1", "CONCAT("+v+", '!')", v+" IS NULL", "COALESCE("+v+", n)", "LENGTH("+v+")", v+" = 'X'", "-"+v) + " AS v, x FROM t"
}

// views writes a statement that makes a view, or a query of one that an earlier statement made, or
// one that recurs.
func (g generator) views() string {
	v := g.pick("v1", "v2")
	switch g.IntN(6) {
	case 0:
		return "CREATE OR REPLACE VIEW " + v + " AS SELECT " + g.number(1) + " AS x, " + g.text(1) + " AS n, " + g.fraction(1) + " AS y FROM t" + g.pick("", " WHERE "+g.truth(1))
	case 1:
		return "CREATE OR REPLACE VIEW " + v + " (x, n, y) AS SELECT x, MIN(n), " + g.pick("COUNT(*)", "SUM(y)", "AVG(y)") + " FROM t GROUP BY x"
	case 2:
		return "WITH RECURSIVE c (x, n, y) AS (SELECT 1, " + g.pick("1", "10") + ", 'a' UNION ALL SELECT x + 1, " + g.pick("n * 2", "n + x", "n") + ", y FROM c WHERE x < " + g.pick("5", "1", "20") + ") SELECT * FROM c"
	case 3:
		return "SELECT t.x, w.n, w.y FROM t JOIN " + v + " AS w ON t.x = w.x"
	}
	return "SELECT " + g.any(1) + " AS a, x, n, y FROM " + v + " AS t" + g.pick("", " WHERE "+g.truth(1))
}

// warnings writes a query that makes numbers of text. It has no AND and OR, of which SQLite looks
// at both operands.
func (g generator) warnings() string {
	s := func() string {
		return g.pick("'1x'", "'abc'", "' 5'", "'5 '", "''", "'1e3'", "'-.5'", "'+7'", "'0x10'", "n", "CONCAT(n, '1')", "CONCAT(x, n)", "CONCAT(x, '')", "'1.5.2'", "'--1'")
	}
	n := g.pick("1", "x", "0", "-3", "2.5", "1e1", "y")
	switch g.IntN(11) {
	case 9:
		n = "IF(" + s() + g.pick(" = ", " < ") + n + ", " + s() + " + 1, " + s() + " * 2)"
	case 10:
		return "SELECT x FROM t WHERE " + s() + g.pick(" = ", " < ", " + 0 > ") + n
	case 0, 1:
		n = s() + g.pick(" + ", " - ", " * ", " / ", " DIV ", " % ") + g.pick(n, s())
	case 2:
		n = g.pick("-", "+ 0 - ") + s()
	case 3, 4:
		n = s() + g.pick(" = ", " < ", " <> ", " >= ", " <=> ") + n
	case 5:
		n = "CAST(" + s() + " AS " + g.pick("SIGNED", "DECIMAL(10,2)", "DOUBLE") + ")"
	case 6:
		n = s() + g.pick(" IN (1, 2)", " NOT IN (x, 2.5)", " BETWEEN 0 AND 9", " BETWEEN x AND 5")
	case 7:
		n = g.pick("SUM", "AVG") + "(" + s() + ")"
	case 8:
		n = g.pick("ABS", "SIGN", "ROUND", "FLOOR", "CEILING", "SQRT", "TRUNCATE(2.5, 1) + ") + "(" + s() + ")"
	}
	return "SELECT " + n + " AS w FROM t" + g.pick("", " WHERE x = "+g.pick("2", "3", "-5"), " WHERE x > 1")
}
