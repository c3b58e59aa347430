package schema

import (
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// hostile are beginnings, what is repeated, and ends of statements.
var hostile = [][3]string{
	{"SELECT ", "(", "1"}, {"SELECT ", "(", ")"}, {"SELECT ", ")", ""}, {"SELECT ", "()", ""}, {"SELECT ", "(1),", "1"}, {"", "(", "SELECT 1"}, {"", "(SELECT ", "1"},
	{"SELECT ", "(SELECT ", "1"}, {"SELECT * FROM ", "(SELECT * FROM ", "x"}, {"SELECT ", "CASE WHEN ", "1"}, {"SELECT ", "CASE 1 WHEN 2 THEN 3 END,", "1"}, {"SELECT ", "END ", ""}, {"SELECT ", "CASE ( ", "1"},
	{"SELECT ", "NOT ", "1"}, {"SELECT ", "! ", "1"}, {"SELECT ", "- ", "1"}, {"SELECT ", "+ ", "1"}, {"SELECT ", "~", "1"}, {"SELECT ", "BINARY ", "'a'"}, {"SELECT ", "!(", "1"}, {"SELECT ", "-(", "1"}, {"SELECT ", "NOT (", "1"},
	{"SELECT 1", " % 2", ""}, {"SELECT 1", " DIV 2", ""}, {"SELECT 1", " MOD 2", ""}, {"SELECT 1", " * 2", " % 3"}, {"SELECT 1", " XOR 2", ""}, {"SELECT 1", " + 2", ""}, {"SELECT 1", " AND 2", ""}, {"SELECT 1", " = 'a'", ""}, {"SELECT 1", " IN (2)", ""},
	{"SELECT 'a'", " COLLATE utf8mb4_bin", ""}, {"SELECT 'a'", " = 'a' COLLATE utf8mb4_bin", ""}, {"SELECT ", "'a' ", ""}, {"SELECT '", "\\'", "'"}, {"SELECT '", "''", "'"}, {"SELECT `", "``", "`"}, {"SELECT ", "/*! ", "1"}, {"SELECT ", "/* */", "1"},
	{"SELECT 1 ", "-- \n", ""}, {"SELECT 1 ", "#\n", ""}, {"SELECT ", "a.", "b"}, {"SELECT ", "IF(", "1"}, {"SELECT ", "TRIM(", "1"}, {"SELECT ", "TRIM(1 FROM ", "1"}, {"SELECT ", "CAST(", "1"}, {"SELECT ", "CONVERT(1, ", "1"},
	{"SELECT ", "GROUP_CONCAT(", "1"}, {"SELECT ", "GROUP_CONCAT(1 SEPARATOR ',') || ", "1"}, {"SELECT 1", " FROM x", ""}, {"SELECT (1", " FROM x", ")"}, {"SELECT SUBSTR(1", " FROM 1", ")"}, {"SELECT ", "x IN (", "1"}, {"SELECT * FROM x", ", f(", ""},
	{"WITH x AS (SELECT 1)", ", y (", ""}, {"SELECT NOW() ", "+ INTERVAL 1 DAY ", ""}, {"SELECT ", "INTERVAL ", "1 DAY"}, {"SELECT ", "DATE_ADD(", "1"}, {"SELECT 1", " UNION SELECT 1", ""}, {"SELECT * FROM (SELECT 1) v (a", ", a", ")"}, {"SELECT 1 FROM x", " GROUP BY 1 WITH ROLLUP", ""},
	{"SELECT 1 FROM x GROUP BY 1", ", a", " WITH ROLLUP"}, {"UPDATE x JOIN y SET a = 1", ", b = 2", ""}, {"SELECT 1 HAVING 1", " HAVING 1", ""}, {"SELECT ", "@a,", "1"}, {"SELECT ", "@@port,", "1"}, {"SELECT ", "@a := 1, ", "1"}, {"SET @a = 1", ", @a = 1", " 2"},
	{"SELECT ", "SLEEP(", "0"}, {"SELECT ", "EXTRACT(", "0"}, {"SELECT 1 ", "OVER (", ""}, {"SELECT ", "[", ""}, {"SELECT ", "1 BETWEEN ", "1"}, {"SELECT ", "_utf8'a'", ""}, {"SELECT ", "x'41'", ""}, {"SELECT ", "MOD(", "1"},
	{"SHOW TABLES ", "(", ""}, {"INSERT INTO test.x VALUES ", "(1),", "(1)"}, {"DELETE FROM test.x WHERE ", "(", "1"}, {"CREATE TABLE test.x ", "(", "1"}, {"DO ", "(", "1"}, {"SET STATEMENT a = ", "(", " FOR SELECT 1"},
}

// TestHostile: statements with much of one thing are answered, or refused, whatever it is.
// BenchmarkNesting shows that the time is in proportion to the length.
func TestHostile(t *testing.T) {
	s := open(t, newFake("app"))
	for _, h := range hostile {
		text := h[0] + strings.Repeat(h[1], 10000) + h[2]
		try(t, s, text)
		language.Split(text)
		s.Prepare(t.Context(), text)
	}
	if got := ask(t, s, "SELECT 1"); got != "1\n" {
		t.Errorf("after them: %q", got)
	}
}

// TestDeep: what is too deep for SQLite is an error, and what is not is none.
func TestDeep(t *testing.T) {
	s := open(t, newFake("app"))
	for _, c := range []struct {
		open, middle, close string
		want                string
	}{{"(", "1", ")", "1"}, {"NOT ", "1", "", "1"}, {"- ", "1", "", "1"}, {"!", "1", "", "1"}, {"CASE WHEN 1 THEN ", "1", " END", "1"}, {"IF(1, ", "1", ", 0)", "1"}, {"", "9", " % 10", "9"}, {"(SELECT ", "1", ")", "1"}, {"(SELECT * FROM ", "(SELECT 1)", " v (a))", "1"}} {
		for _, depth := range []int{10, 40, 5000, 100000} {
			query := "SELECT " + strings.Repeat(c.open, depth) + c.middle + strings.Repeat(c.close, depth)
			got, _, err := try(t, s, query)
			if depth < 1000 && (err != nil || got != c.want+"\n") || depth > 1000 && (err == nil || err.Number != mysqlerr.TooDeep) {
				t.Errorf("%d of %q: %q %v", depth, c.open+c.close, got, err)
			}
		}
	}
	if _, _, err := try(t, s, "SELECT "+strings.Repeat("1,", 1<<20)+"1"); err == nil || err.Number != mysqlerr.Memory {
		t.Error(err)
	}
	ask(t, s, "SET @a = REPEAT('a', 1000000)")
	if _, _, err := try(t, s, "SELECT @a"+strings.Repeat(", @a", 100)); err == nil || err.Number != mysqlerr.TooLong {
		t.Error(err)
	}
	if got := ask(t, s, "SELECT 'a' 'b' /* x */ 'c', 'd' 'e'"); got != "abc|de\n" {
		t.Errorf("strings: %q", got)
	}
}

// TestMillion: a million of what can stand within each other is refused before much is made of it.
func TestMillion(t *testing.T) {
	s := open(t, newFake("app"))
	const n = 1000000
	for _, c := range []struct{ open, middle, close string }{
		{"(", "1", ""}, {"(", "1", ")"}, {"", "1", ")"}, {"((", "1", "))"}, {"NOT ", "1", ""}, {"-", "1", ""}, {"(SELECT ", "1", ")"}, {"CASE WHEN ", "1", ""}, {"IF(", "1", ""},
	} {
		text := "SELECT " + strings.Repeat(c.open, n) + c.middle + strings.Repeat(c.close, n)
		var err *mysqlerr.Error
		grew := heap(func() { _, _, err = try(t, s, text) })
		if err == nil || err.Number != mysqlerr.TooDeep && err.Number != mysqlerr.Memory && err.Number != mysqlerr.Syntax {
			t.Errorf("%q: %v", c.open+c.close, err)
		}
		if grew > 512<<20 {
			t.Errorf("%q: took %d MB", c.open+c.close, grew>>20)
		}
	}
}
