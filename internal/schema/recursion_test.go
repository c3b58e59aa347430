package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// TestRecursion: a recursion ends after cte_max_recursion_depth rounds, as in MySQL, and one that
// ends by itself is what it was.
func TestRecursion(t *testing.T) {
	s := open(t, newFake("app"))
	to := func(n int) string {
		return fmt.Sprintf("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %d) SELECT COUNT(*) FROM c", n)
	}
	for query, want := range map[string]string{
		to(1000): "1000", to(1): "1",
		"SELECT COUNT(*) FROM (" + strings.Replace(to(1000), "COUNT(*)", "*", 1) + ") x": "1000",
		endless + "SELECT n FROM c LIMIT 2":                                              "1\n2",
		"WITH RECURSIVE c AS (SELECT 1 AS n UNION SELECT 2 UNION ALL SELECT n + 2 FROM c AS d WHERE n < 1999 OR n < 5) SELECT COUNT(*), MAX(n) FROM c":                            "2000|2000",
		"WITH RECURSIVE c AS (SELECT 1 AS n WHERE 1 = 1 OR 0 UNION SELECT n % 3 + 1 FROM c d) SELECT GROUP_CONCAT(n) FROM c":                                                      "1,2,3",
		"WITH a AS (SELECT 1 AS n), c AS (SELECT n FROM a UNION ALL SELECT n FROM a) SELECT COUNT(*) FROM c":                                                                      "2",
		"SELECT SUM((WITH RECURSIVE c(n) AS (SELECT x.n UNION ALL SELECT n + 1 FROM c WHERE n < 600) SELECT MAX(n) FROM c)) FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) x": "1800",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 600), d(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM d WHERE n < 600) SELECT COUNT(*) FROM c, d": "360000",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT (SELECT n + 1 WHERE n < 9) FROM c WHERE n IS NOT NULL) SELECT COUNT(*) FROM c":                                         "10",
	} {
		if got := ask(t, s, query); got != want+"\n" {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
	aborted := func(s *Session, query string, rounds int) {
		t.Helper()
		_, _, err := try(t, s, query)
		if err == nil || err.Number != 3636 || !strings.Contains(err.Message, fmt.Sprintf("aborted after %d iterations", rounds)) {
			t.Errorf("%s: %v, want error 3636 after %d iterations", query, err, rounds)
		}
	}
	aborted(s, to(1001), 1001)
	aborted(s, endless+"SELECT COUNT(*) FROM c", 1001)
	aborted(s, endless+"SELECT SQL_CALC_FOUND_ROWS n FROM c LIMIT 1", 1001)
	aborted(s, "SET @a = ("+endless+"SELECT COUNT(*) FROM c)", 1001)
	aborted(s, "CREATE TABLE test.r AS "+endless+"SELECT n FROM c", 1001)
	aborted(s, "WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION ALL SELECT n FROM c) SELECT COUNT(*) FROM c", 1001)
	ask(t, s, "SET cte_max_recursion_depth = 5")
	aborted(s, to(6), 6)
	ask(t, s, "SET SESSION cte_max_recursion_depth = 2000")
	ask(t, s, to(2000))
	aborted(s, "SET STATEMENT cte_max_recursion_depth = 0 FOR "+to(6), 1)
	ask(t, s, "SET GLOBAL cte_max_recursion_depth = 7")
	ask(t, s, to(2000))
	other, err := s.catalog.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	aborted(other, to(2000), 8)
	ask(t, other, "SET cte_max_recursion_depth = DEFAULT")
	aborted(other, to(8), 8)
	// A view counts for the session that looks at it.
	ask(t, s, "CREATE VIEW test.v AS "+endless+"SELECT n FROM c LIMIT 20")
	if got := ask(t, s, "SELECT COUNT(*) FROM test.v"); got != "20\n" {
		t.Errorf("the view: %q", got)
	}
	aborted(other, "SELECT COUNT(*) FROM test.v", 8)
	if _, _, err := try(t, s, "SET cte_max_recursion_depth = 'x'"); err == nil || err.Number != mysqlerr.VariableType {
		t.Error(err)
	}
}
