package schema

import (
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
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

// number writes an expression that is an integer, with so many others within each other.
func (g generator) number(depth int) string {
	if depth <= 0 {
		return g.pick("0", "1", "2", "3", "7", "10", "NULL", "x", "y", "x", "t.y")
	}
	n := func() string { return g.number(depth - 1 - g.IntN(2)) }
	s := func() string { return g.text(depth - 1) }
	switch g.IntN(16) {
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

func (g generator) text(depth int) string {
	if depth <= 0 {
		return g.pick("'a'", "'B'", "'ab'", "''", "NULL", "n", "n", "t.n", "'x y'")
	}
	n := func() string { return g.number(depth - 1) }
	s := func() string { return g.text(depth - 1 - g.IntN(2)) }
	switch g.IntN(9) {
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
	switch g.IntN(14) {
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
	switch g.IntN(3) {
	case 0:
		return g.number(depth)
	case 1:
		return g.text(depth)
	}
	return g.truth(depth)
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
		return "SELECT SUM(" + g.number(depth) + "), COUNT(" + g.any(depth) + "), MAX(" + g.number(depth) + ") " + from + where
	}
	return "SELECT " + g.any(depth) + ", " + g.any(depth) + " AS z, x " + from + where
}

// answer is what a server gives for a query: the names of the columns and the rows, or the number
// of an error.
type answer struct {
	columns []string
	rows    [][]string
	failed  uint16
}

func oracleAsks(t *testing.T, db *sql.Conn, query string) (a answer) {
	rows, err := db.QueryContext(t.Context(), query)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return answer{failed: refused.Number}
	} else if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	a.columns, _ = rows.Columns()
	for rows.Next() {
		cells, to := make([]sql.NullString, len(a.columns)), make([]any, len(a.columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			if row[i] = "NULL"; c.Valid {
				row[i] = c.String
			}
		}
		a.rows = append(a.rows, row)
	}
	if errors.As(rows.Err(), &refused) {
		return answer{failed: refused.Number}
	}
	return a
}

func oracleAsked(t *testing.T, s *Session, query string) (a answer) {
	r, err := s.Query(t.Context(), query, nil)
	if err != nil {
		return answer{failed: err.(*Error).Number}
	}
	defer r.Close()
	for _, c := range r.Columns {
		a.columns = append(a.columns, c.Name)
	}
	for {
		values, err := r.Next()
		if err != nil {
			return answer{failed: err.(*Error).Number}
		}
		if values == nil {
			return a
		}
		row := make([]string, len(values))
		for i, v := range values {
			var ok bool
			if row[i], ok = Format(v); !ok {
				row[i] = "NULL"
			}
		}
		a.rows = append(a.rows, row)
	}
}

// difference says in what two answers differ; "": in nothing. Rows may come in any order, and a
// decimal number has as many digits as MariaDB gives it.
func (a answer) difference(b answer) string {
	order := func(x, y []string) int {
		for i := range x {
			n, err1 := strconv.ParseFloat(x[i], 64)
			m, err2 := strconv.ParseFloat(y[i], 64)
			c := strings.Compare(x[i], y[i])
			if err1 == nil && err2 == nil {
				c = int(math.Copysign(1, n-m))
				if n == m {
					c = 0
				}
			}
			if c != 0 {
				return c
			}
		}
		return 0
	}
	slices.SortFunc(a.rows, order)
	slices.SortFunc(b.rows, order)
	switch {
	case a.failed != b.failed:
		return fmt.Sprintf("error %d, here %d", a.failed, b.failed)
	case !slices.Equal(a.columns, b.columns):
		return fmt.Sprintf("columns %q, here %q", a.columns, b.columns)
	case len(a.rows) != len(b.rows):
		return fmt.Sprintf("%d rows, here %d", len(a.rows), len(b.rows))
	}
	for i := range a.rows {
		for j, x := range a.rows[i] {
			y := b.rows[i][j]
			n, err1 := strconv.ParseFloat(x, 64)
			m, err2 := strconv.ParseFloat(y, 64)
			if x != y && (err1 != nil || err2 != nil || math.Abs(n-m) > 1e-4*max(1, math.Abs(n))) {
				return fmt.Sprintf("%q, here %q", a.rows[i], b.rows[i])
			}
		}
	}
	return ""
}

// TestOracle asks a MariaDB server and a session the same random queries: 1,000, or 100 in a quick
// run, or as many as ORACLE_QUERIES says. ORACLE_SEED chooses others.
func TestOracle(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	db := mariaDB(t, "charset=utf8mb4&collation=utf8mb4_general_ci")
	s := open(t, newFake("app"))
	ask(t, s, "USE test")
	for _, q := range append([]string{"CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE test"}, oracleTables...) {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(q, "CREATE DATABASE") {
			ask(t, s, q)
		}
	}
	g := generator{rand.New(rand.NewPCG(uint64(number("ORACLE_SEED", 1)), 2))}
	most := 1000
	if testing.Short() || !testenv.All() {
		most = 100
	}
	queries, differ := number("ORACLE_QUERIES", most), 0
	for range queries {
		q := g.query()
		if d := oracleAsks(t, db, q).difference(oracleAsked(t, s, q)); d != "" {
			if differ++; differ <= 40 {
				t.Errorf("%s: MariaDB gives %s", q, d)
			}
		}
	}
	t.Logf("%d of %d queries differ", differ, queries)
}
