package schema

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

const endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "

// endlessQueries run until they are interrupted.
var endlessQueries = []string{
	endless + "SELECT COUNT(*) FROM c",
	endless + "SELECT n FROM c WHERE n < 10", // nine rows come, the tenth never
	endless + "SELECT n FROM c",
	endless + "SELECT @a := n FROM c",
	endless + "SELECT COUNT(*) FROM c, setup_instruments",
	"SELECT COUNT(*) FROM setup_instruments a, setup_instruments b, setup_instruments c, setup_instruments d, setup_instruments e, setup_instruments f, setup_instruments g, setup_instruments h, setup_instruments i, setup_instruments j, setup_instruments k, setup_instruments l, setup_instruments m, setup_instruments n, setup_instruments o WHERE a.NAME <> b.NAME",
	"SELECT SLEEP(100000)",
	"SELECT NAME FROM setup_instruments WHERE SLEEP(100000)",
	"DO SLEEP(100000)",
	"SET @x = SLEEP(100000)",
	endless + "SELECT MAX(REGEXP_REPLACE(n, '1', '2')) FROM c",
	endless + "SELECT GROUP_CONCAT('') FROM c",
	"SELECT REGEXP_REPLACE(REPEAT('a', 10000000), 'a(.*b)?', 'c')", // each match looks at all that follows
	"SELECT REPEAT('a', 60000000) LIKE CONCAT('%', REPEAT('a', 4000), 'b')",
	"SELECT REPEAT('a', 60000000) LIKE CONCAT(REPEAT('%ab', 1000), 'c') OR REPEAT('a', 60000000) NOT LIKE CONCAT(REPEAT('_%', 2000), REPEAT('a', 1000), 'x')",
	endless + "SELECT SQL_CALC_FOUND_ROWS n FROM c LIMIT 1",
	"CREATE TABLE test.other AS " + endless + "SELECT n FROM c WHERE n < 5",
	"INSERT INTO test.filled " + endless + "SELECT n FROM c WHERE n < 5",
	"DELETE FROM test.filled WHERE (" + endless + "SELECT COUNT(*) FROM c)",
	"UPDATE setup_instruments SET ENABLED = (" + endless + "SELECT COUNT(*) FROM c)",
	"UPDATE setup_instruments a JOIN setup_instruments b SET a.ENABLED = (" + endless + "SELECT COUNT(*) FROM c)",
}

// read reads a result to its end.
func readAll(s *Session, ctx context.Context, query string) error {
	r, err := s.Query(ctx, query, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if row, err := r.Next(); row == nil || err != nil {
			return err
		}
	}
}

// TestInterrupt: what is cancelled ends, wherever it is, and the session goes on.
func TestInterrupt(t *testing.T) {
	for _, query := range endlessQueries {
		s := open(t, newFake("app"))
		ask(t, s, "SET cte_max_recursion_depth = 4294967295")
		ask(t, s, "CREATE TABLE test.filled (n INT)")
		ask(t, s, "INSERT INTO test.filled VALUES (1)")
		for _, after := range []time.Duration{0, 30 * time.Millisecond} {
			ctx, cancel := context.WithCancel(context.Background())
			timer := time.AfterFunc(after, cancel)
			var refused *mysqlerr.Error
			if err := readAll(s, ctx, query); !errorAs(err, &refused) || refused.Number != mysqlerr.Interrupted {
				t.Errorf("%s: %v", query, err)
			}
			timer.Stop()
			if got := ask(t, s, "SELECT COUNT(*) FROM test.filled"); got != "1\n" {
				t.Errorf("%s: after it, %q", query, got)
			}
		}
	}
}

func errorAs(err error, to **mysqlerr.Error) bool {
	e, ok := err.(*mysqlerr.Error)
	*to = e
	return ok
}

// TestTimeout: a statement ends when its time is over, whichever way it is limited.
func TestTimeout(t *testing.T) {
	query := endless + "SELECT n FROM c WHERE n < 10"
	for _, set := range []string{"SET max_execution_time = 20", "SET SESSION max_execution_time = 20", "SET @@max_execution_time = 20", "SET max_statement_time = 0.02", "SET max_statement_time = 0.02, max_execution_time = 100000"} {
		s := open(t, newFake("app"))
		ask(t, s, "SET cte_max_recursion_depth = 4294967295")
		ask(t, s, set)
		for range 3 {
			if _, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Timeout {
				t.Errorf("%s: %v", set, err)
			}
		}
		ask(t, s, "SET max_execution_time = DEFAULT, max_statement_time = DEFAULT")
		if got := ask(t, s, "SELECT @@max_execution_time, @@max_statement_time, SLEEP(0.05)"); got != "0|0|0\n" {
			t.Errorf("%s, DEFAULT: %q", set, got)
		}
	}
	s := open(t, newFake("app"))
	for _, query := range []string{"SELECT /*+ MAX_EXECUTION_TIME(20) */ SLEEP(100000)", "SELECT /*+ NO_ICP(t) MAX_EXECUTION_TIME( 20 ) */ SLEEP(100000)", "(SELECT /*+ max_execution_time(20) */ SLEEP(100000))",
		"SET STATEMENT max_statement_time = 0.02 FOR SELECT SLEEP(100000)", "SET STATEMENT max_statement_time = 0.02, max_execution_time = 0 FOR DO SLEEP(100000)"} {
		if _, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Timeout {
			t.Errorf("%s: %v", query, err)
		}
	}
	if got := ask(t, s, "SELECT @@max_statement_time, SLEEP(0.05)"); got != "0|0\n" {
		t.Errorf("after SET STATEMENT: %q", got)
	}
	// Only what reads has max_execution_time.
	ask(t, s, "SET max_execution_time = 1")
	ask(t, s, "DO SLEEP(0.05)")
	for query, number := range map[string]uint16{"SET max_execution_time = 'x'": mysqlerr.VariableType, "SET max_execution_time = 1.5": mysqlerr.VariableType, "SET STATEMENT max_statement_time = 1": mysqlerr.Syntax,
		"SET STATEMENT nosuch = 1 FOR SELECT 1": mysqlerr.UnknownVar, "SET STATEMENT max_statement_time = 1 FOR": mysqlerr.Syntax} {
		if _, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestGlobalTimeout: a catalog's sessions begin with its limit, or with what SET GLOBAL made of it.
func TestGlobalTimeout(t *testing.T) {
	c := &Catalog{Timeout: 20 * time.Millisecond}
	c.Add(newFake("app"))
	defer c.Close()
	first, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, _, err := try(t, first, "DO SLEEP(100000)"); err == nil || err.Number != mysqlerr.Timeout {
		t.Error(err)
	}
	ask(t, first, "SET max_statement_time = 0")
	ask(t, first, "SET GLOBAL max_execution_time = 30, GLOBAL max_statement_time = 0")
	if got := ask(t, first, "SELECT @@max_execution_time, @@GLOBAL.max_execution_time, SLEEP(0.05)"); got != "0|30|0\n" {
		t.Errorf("the session that set it: %q", got)
	}
	second, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, _, err := try(t, second, "SELECT SLEEP(100000)"); err == nil || err.Number != mysqlerr.Timeout {
		t.Error(err)
	}
}

// heap returns how much Go's heap grows at most while f runs. What SQLite has is bounded by itself.
func heap(f func()) uint64 {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&now)
	return now.TotalAlloc - before.TotalAlloc
}

// long writes texts that are long: of a statement that had them as literals half the time would be
// for reading it.
var long = strings.NewReplacer("@long", "REPEAT('a', 33000000)", "@m", "REPEAT('a', 1000000)")

// TestLongResults: no function makes more than max_allowed_packet allows, or much more on its way.
func TestLongResults(t *testing.T) {
	s := open(t, newFake("app"))
	for _, of := range []string{
		"REGEXP_REPLACE(@m, 'a', REPEAT('b', 10000))", "REGEXP_REPLACE(@m, '(a)', REPEAT('$1', 10000))", "REGEXP_REPLACE(@m, '(a*)', REPEAT('\\\\1', 10000))", "REGEXP_REPLACE(@m, '', REPEAT('b', 10000))",
		"REPEAT(@m, 10000)", "REPEAT('a', 1e300)", "REPEAT('ab', 9223372036854775807)", "SPACE(1e12)", "SPACE(67108865)", "LPAD('a', 1e12, 'b')", "RPAD('a', 67108864, 'bü')", "LPAD('', 67108865, @long)",
		"REPLACE(@m, 'a', REPEAT('b', 10000))", "REPLACE(@m, 'a', @long)", "CONCAT(@long, @long, @long)", "HEX(CONCAT(@long, 'xxxxxxxxxxxxx', @m))",
		"DATE_FORMAT('2026-01-01', REPEAT('%W', 9000000))", "ZEROBLOB(1e9)", "printf('%*s', 1000000000, 'x')",
		"(SELECT GROUP_CONCAT(@m SEPARATOR '') FROM setup_instruments a, setup_instruments b, setup_instruments c)",
		"QUOTE(REPEAT('''', 40000000))",
	} {
		query := long.Replace("SELECT LENGTH(" + of + ")")
		var err *mysqlerr.Error
		grew := heap(func() { _, _, err = try(t, s, query) })
		if err == nil || err.Number != mysqlerr.TooLong && err.Number != mysqlerr.Memory {
			t.Errorf("%s: %v", of, err)
		}
		if grew > 1<<30 {
			t.Errorf("%s: took %d MB", of, grew>>20)
		}
	}
	for of, want := range map[string]string{
		"LENGTH(REPEAT('ab', 33554432))": "67108864", "LENGTH(REGEXP_REPLACE(@m, 'a', REPEAT('b', 60)))": "60000000", "LENGTH(REPLACE(@m, 'a', 'bb'))": "2000000", "LENGTH(LPAD('a', 67108864, 'b'))": "67108864",
		"LPAD('ü', 4, 'äb')": "äbäü", "RPAD('ü', 3, 'äb')": "üäb", "LPAD('üöä', 2, 'x')": "üö", "LPAD('a', -1, 'x')": "NULL", "LPAD('a', 3, '')": "NULL", "LPAD('abc', 3, '')": "abc",
		"REPLACE('aXa', 'x', 'y')": "aXa", "REPLACE('aaa', 'a', 'bc')": "bcbcbc", "REPLACE('a', '', 'b')": "a", "REPLACE(NULL, 'a', 'b')": "NULL", "REPLACE('aa', 'aa', '')": "",
		"SUBSTRING_INDEX('a.b.c', '.', 2)": "a.b", "SUBSTRING_INDEX('a.b.c', '.', -2)": "b.c", "SUBSTRING_INDEX('a.b.c', '.', 3)": "a.b.c", "SUBSTRING_INDEX('a.b.c', '.', -3)": "a.b.c", "SUBSTRING_INDEX('a.b.c', '.', -9)": "a.b.c",
		"SUBSTRING_INDEX('a.b.c', '.', 9)": "a.b.c", "SUBSTRING_INDEX('aaa', 'aa', 1)": "", "SUBSTRING_INDEX('', '.', -1)": "", "FIND_IN_SET('', '')": "0", "FIND_IN_SET('', 'a,,b')": "2", "FIND_IN_SET('B', 'a,b')": "2",
		"FIND_IN_SET('b', 'a,b,')": "2", "FIND_IN_SET('', 'a,')": "2", "FIND_IN_SET('c', 'a,b')": "0", "REVERSE('aüb')": "büa", "LEFT('üöä', 2)": "üö", "RIGHT('üöä', 2)": "öä", "RIGHT('üöä', 9)": "üöä", "LEFT('üöä', -1)": "",
		"LEFT('abc', 1e30)": "abc", "SUBSTRING('üöä', 2)": "öä", "SUBSTRING('üöä', -2, 1)": "ö", "SUBSTRING('üöä', 1e30)": "", "SUBSTRING('abc', 2, 1e30)": "bc", "LOCATE('ä', 'üöä')": "3", "LOCATE('ö', 'üöö', 3)": "3", "LOCATE('x', 'üöä', 1e30)": "0",
		"LOCATE('', 'ab', 3)": "3", "REGEXP_REPLACE('abc', '(b)', '[$1]')": "a[b]c", "SLEEP(0)": "0", "TRIM('  a ')": "a",
	} {
		if got, _, err := try(t, s, long.Replace("SELECT "+of)); err != nil || got != want+"\n" {
			t.Errorf("%s: got %.100q %v, want %q", of, got, err, want)
		}
	}
}

// TestSlowFunctions: what can't be interrupted is refused if it would take long.
func TestSlowFunctions(t *testing.T) {
	s := open(t, newFake("app"))
	for of, number := range map[string]uint16{
		"REGEXP_LIKE(@long, '(a|b){1,500}c')": mysqlerr.RegexpTime, "@long REGEXP '(a|aa){1,500}c'": mysqlerr.RegexpTime, "REGEXP_SUBSTR(@long, 'a{1,900}b')": mysqlerr.RegexpTime, "REGEXP_INSTR(@long, 'a{1,900}b')": mysqlerr.RegexpTime,
		"REGEXP_REPLACE(@long, 'a{1,900}b', '')": mysqlerr.RegexpTime, "REGEXP_LIKE('a', @m)": mysqlerr.Regexp, "TRIM(@long, @long)": 1582, "LTRIM(@long, @long)": 1582, "'a' LIKE REPEAT('%a', 3000)": mysqlerr.Unsupported,
	} {
		if _, _, err := try(t, s, long.Replace("SELECT LENGTH("+of+")")); err == nil || err.Number != number {
			t.Errorf("%s: %v, want error %d", of, err, number)
		}
	}
	for _, of := range []string{"FIND_IN_SET('b', REPLACE(@long, 'a', ','))", "SUBSTRING_INDEX(@long, 'a', -2)", "CAST(@long AS SIGNED)", "1 + REPLACE(@long, 'a', '9')", "LOCATE('ab', @long)", "REPLACE(@long, REPEAT('a', 1000000), 'b')",
		"DATE_ADD('2026-01-01', INTERVAL REPLACE(@long, 'a', '1 ') DAY_SECOND)", "TRIM(BOTH 'a' FROM @long)"} {
		if grew := heap(func() { ask(t, s, strings.ReplaceAll("SELECT LENGTH("+of+")", "@long", "REPEAT('a', 4000000)")) }); grew > 1<<30 {
			t.Errorf("%s: took %d MB", of, grew>>20)
		}
	}
}

// TestMemory: what a session can keep has an end.
func TestMemory(t *testing.T) {
	s := open(t, newFake("app"))
	fill := func(number uint16, format string) {
		t.Helper()
		var refused *mysqlerr.Error
		for i := range 100 {
			if _, _, refused = try(t, s, strings.ReplaceAll(format, "$", fmt.Sprint(i))); refused != nil {
				break
			}
		}
		if refused == nil || refused.Number != number {
			t.Errorf("%s: %v", format, refused)
		}
	}
	fill(mysqlerr.Memory, "SET @v$ = REPEAT('a', 10000000)")
	fill(mysqlerr.Memory, "SELECT @w$ := REPEAT('a', 10000000)")
	ask(t, s, "SELECT @v1 := 'short', @v2 := 'short'")
	ask(t, s, "SET @v3 = REPEAT('a', 10000000)")
	s.Reset()
	ask(t, s, "SET @v3 = REPEAT('a', 10000000)")
	fill(mysqlerr.TableFull, "CREATE TABLE test.t$ AS SELECT REPEAT('a', 20000000) AS a")
	for i := range 100 {
		if _, _, err := try(t, s, fmt.Sprintf("DROP TABLE test.t%d", i)); err != nil {
			break
		}
	}
	ask(t, s, "CREATE TABLE test.after AS SELECT REPEAT('a', 20000000) AS a")
	// Values of one row, which SQLite has all at once.
	wide := "SELECT 1" + strings.Repeat(", REPEAT('a', 60000000)", 100)
	if _, _, err := try(t, s, wide); err == nil || err.Number != mysqlerr.Memory {
		t.Errorf("100 values: %v", err)
	}
	if _, _, err := try(t, s, "SELECT 1"+strings.Repeat(", REPEAT('a', 60000000)", 2)); err == nil || err.Number != mysqlerr.TooLong {
		t.Errorf("2 values: %v", err)
	}
	// Rows that are long are not read ahead.
	if grew := heap(func() {
		r, err := s.Query(t.Context(), endless+"SELECT REPEAT('a', 10000000) FROM c LIMIT 200", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	}); grew > 1<<28 {
		t.Errorf("reading ahead took %d MB", grew>>20)
	}
	if got := ask(t, s, "SELECT COUNT(*) FROM processes"); got != "1\n" {
		t.Errorf("after all: %q", got)
	}
	for _, query := range []string{"SELECT * FROM pragma_hard_heap_limit(1)", "SELECT * FROM `pragma_soft_heap_limit` WHERE arg = 1", "SELECT * FROM test.pragma_table_info('x')", "SELECT * FROM sqlite_dbpage", "DELETE FROM test.SQLITE_DBPAGE"} {
		if _, _, err := try(t, s, query); err == nil || err.Number != mysqlerr.Unsupported {
			t.Errorf("%s: %v", query, err)
		}
	}
}
