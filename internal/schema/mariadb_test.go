package schema

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	_ "github.com/go-sql-driver/mysql"
)

// mariaDB returns a connection to a server of the test's own.
func mariaDB(t *testing.T, settings string) *sql.Conn { return mariaDBs(t, settings, 1)[0] }

// mariaDBs returns so many connections to a server of the test's own.
func mariaDBs(t *testing.T, settings string, n int) (list []*sql.Conn) {
	t.Helper()
	server, err := sql.Open("mysql", "root@tcp("+testenv.MariaDB(t)+")/?sql_mode=''&"+settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for range n {
		db, err := server.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		list = append(list, db)
	}
	return list
}

// TestMariaDB asks a MariaDB server what the other tests expect because MariaDB has it so.
func TestMariaDB(t *testing.T) {
	two := mariaDBs(t, "interpolateParams=true&charset=utf8mb4&time_zone='%2B00:00'", 2)
	db := two[0]
	change := func(query string) (changed int64) {
		t.Helper()
		r, err := db.ExecContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		changed, _ = r.RowsAffected()
		return changed
	}
	compare := func(query, want string, args ...any) {
		t.Helper()
		if got, same := askMariaDB(t.Context(), db, query, want, args...); !same {
			t.Errorf("%s: MariaDB gives %q, want %q", query, got, want)
		}
	}
	differ := func(query, want string) {
		t.Helper()
		if _, same := askMariaDB(t.Context(), db, query, want); same {
			t.Errorf("%s: MariaDB gives the same", query)
		}
	}
	change("CREATE DATABASE test CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	change("USE test")

	for _, list := range []map[string]string{logic, intervalQueries} {
		for query, want := range list {
			compare(query, want)
		}
	}
	for of, want := range expressions {
		compare("SELECT "+of, want+"\n")
	}
	for of, want := range expressionsOfMySQL {
		differ("SELECT "+of, want+"\n")
	}
	for of, want := range intervals {
		compare("SELECT '2026-01-01' "+of, want+"\n")
	}
	change(createSales)
	change(insertSales)
	for query, want := range rollups {
		var args []any
		if strings.Contains(query, "?") {
			args = append(args, 2)
		}
		compare(query, want, args...)
	}
	for query, want := range rollupsOfMySQL {
		differ(query, want)
	}
	for _, c := range updates {
		for _, query := range updated {
			change(query)
		}
		if changed := change(c.query); changed != c.changed-c.same {
			t.Errorf("%s: MariaDB changes %d rows, want %d", c.query, changed, c.changed-c.same)
		}
		compare(updatedA, c.a+"\n")
		compare(updatedB, c.b+"\n")
		change("DROP TABLE a, b")
	}
	for _, query := range upserts {
		change(query)
	}
	change(createTyped)
	compare(askTyped, typed)
	for _, c := range userLockQueries {
		got, same := askMariaDB(t.Context(), map[string]*sql.Conn{"a": two[0], "b": two[1]}[c.session], c.query, c.want+"\n")
		if failed := "error Error " + c.want + " "; !same && !strings.HasPrefix(got, failed) {
			t.Errorf("%s: MariaDB gives %q, want %q", c.query, got, c.want)
		}
	}
	for _, c := range userLockQueriesOfMySQL {
		if got, same := askMariaDB(t.Context(), db, c.query, c.want+"\n"); same || strings.HasPrefix(got, "error Error "+c.want) {
			t.Errorf("%s: MariaDB gives the same, %q", c.query, got)
		}
	}
	for query, want := range upserted {
		compare(query, want)
	}
	for _, query := range oracleTables {
		change(query)
	}
	for _, c := range warned {
		if _, err := oracleAsks(t.Context(), db, c.query); err != nil {
			t.Fatal(err)
		}
		got, _ := askMariaDB(t.Context(), db, "SHOW WARNINGS", c.warnings)
		if got = strings.ReplaceAll(got, "DECIMAL", "DOUBLE"); got != c.warnings {
			t.Errorf("%s: MariaDB warns of %q, want %q", c.query, got, c.warnings)
		}
	}
	change(createV)
	change(insertV)
	for _, c := range assignments {
		var args []any
		if strings.Contains(c.query, "?") {
			args = append(args, "!")
		}
		compare(c.query, c.rows, args...)
		if got, same := askMariaDB(t.Context(), db, "SELECT @a", c.a+"\n"); !same {
			t.Errorf("%s: MariaDB has @a %q then, want %q", c.query, got, c.a)
		}
	}
}

// askMariaDB returns what the server gives, as ask does, and reports whether that is the same as
// want. Of floating-point numbers 15 digits are compared.
func askMariaDB(ctx context.Context, db *sql.Conn, query, want string, args ...any) (got string, same bool) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		got = fmt.Sprintf("error %v", err)
		return got, got == want
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return err.Error(), false
	}
	rest := want
	same = true
	for rows.Next() {
		cells, to := make([]sql.NullString, len(types)), make([]any, len(types))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err.Error(), false
		}
		for i, cell := range cells {
			text, end := "NULL", "|"
			if cell.Valid {
				text = cell.String
			}
			if i == len(cells)-1 {
				end = "\n"
			}
			got += text + end
			var expected string
			expected, rest, _ = strings.Cut(rest, end)
			switch types[i].DatabaseTypeName() {
			case "DOUBLE":
				same = same && equalNumbers(text, expected)
			default:
				same = same && text == expected
			}
		}
	}
	if err := rows.Err(); err != nil {
		got += fmt.Sprintf("error %v", err)
		return got, got == want
	}
	return got, same && rest == ""
}

// equalNumbers reports whether two numbers are the same to 15 digits.
func equalNumbers(a, b string) bool {
	x, ok := new(big.Float).SetString(a)
	y, valid := new(big.Float).SetString(b)
	if !ok || !valid {
		return a == b
	}
	return x.Text('g', 15) == y.Text('g', 15)
}
