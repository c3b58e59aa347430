package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// open returns a connection with the functions of a caller, and its engine.
func open(t *testing.T, caller any, functions ...Function) (*sql.Conn, *Engine) {
	t.Helper()
	if err := Limit(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(conn, caller, functions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); conn.Close(); db.Close() })
	return conn, e
}

// TestFunctions: a function knows its caller, gets whole texts, and may return an error.
func TestFunctions(t *testing.T) {
	functions := []Function{
		{"caller", 0, func(caller any, _ []driver.Value) driver.Value { return caller.(string) }},
		{"twice", 1, func(_ any, a []driver.Value) driver.Value { return strings.Repeat(a[0].(string), 2) }},
		{"nulls", -1, func(_ any, a []driver.Value) driver.Value {
			n := int64(0)
			for _, v := range a {
				if v == nil {
					n++
				}
			}
			return n
		}},
		{"fails", 0, func(any, []driver.Value) driver.Value { return errors.New("it does") }},
	}
	a, _ := open(t, "a", functions...)
	b, _ := open(t, "b", functions...)
	for _, c := range []struct {
		conn        *sql.Conn
		query, want string
	}{
		{a, "SELECT caller()", "a"},
		{b, "SELECT caller()", "b"},
		{a, "SELECT twice('x' || char(0) || 'y')", "x\x00yx\x00y"},
		{a, "SELECT IFNULL(twice(NULL), 'none')", "none"},
		{a, "SELECT nulls(1, NULL, 2.5, NULL)", "2"},
		{a, "SELECT fails()", "error"},
		{a, "SELECT REPLACE(HEX(ZEROBLOB(40000000)), '0', '00')", "error"}, // larger than MaxText
	} {
		var got string
		if err := c.conn.QueryRowContext(t.Context(), c.query).Scan(&got); err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
}

// TestInterrupt: a statement ends though it has returned rows already.
func TestInterrupt(t *testing.T) {
	conn, e := open(t, nil)
	rows, err := conn.QueryContext(context.Background(), "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 3")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		if n++; n == 2 {
			timer := time.AfterFunc(10*time.Millisecond, e.Interrupt)
			defer timer.Stop()
		}
	}
	if err := rows.Err(); n != 2 || err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%d rows, %v", n, err)
	}
	if e.InTransaction() {
		t.Error("a transaction is open")
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN"); err != nil || !e.InTransaction() {
		t.Errorf("no transaction is open: %v", err)
	}
}
