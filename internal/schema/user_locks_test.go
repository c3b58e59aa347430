package schema

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// userLockQueries are what two sessions, a and b, ask one after the other, with MariaDB's answers.
var userLockQueries = []struct{ session, query, want string }{
	{"a", "SELECT GET_LOCK('x', 0)", "1"},
	{"a", "SELECT GET_LOCK('x', 10)", "1"},
	{"a", "SELECT GET_LOCK('y', 0)", "1"},
	{"b", "SELECT GET_LOCK('x', 0)", "0"},
	{"b", "SELECT GET_LOCK('x', 0.1)", "0"},
	{"b", "SELECT GET_LOCK('z', 0)", "1"},
	{"b", "SELECT IS_FREE_LOCK('x')", "0"},
	{"b", "SELECT IS_FREE_LOCK('w')", "1"},
	{"b", "SELECT IS_USED_LOCK('x') IS NOT NULL", "1"},
	{"b", "SELECT IS_USED_LOCK('z') = CONNECTION_ID()", "1"},
	{"b", "SELECT IS_USED_LOCK('w')", "NULL"},
	{"b", "SELECT RELEASE_LOCK('x')", "0"},
	{"b", "SELECT RELEASE_LOCK('w')", "NULL"},
	{"a", "SELECT RELEASE_LOCK('x')", "1"},
	{"b", "SELECT GET_LOCK('x', 0)", "0"}, // it was taken twice
	{"a", "SELECT RELEASE_LOCK('x')", "1"},
	{"a", "SELECT RELEASE_LOCK('x')", "NULL"},
	{"b", "SELECT GET_LOCK('x', 0)", "1"},
	{"b", "SELECT GET_LOCK(NULL, 0)", "NULL"},
	{"b", "SELECT GET_LOCK('w', NULL)", "NULL"},
	{"b", "SELECT RELEASE_LOCK(NULL)", "NULL"},
	{"b", "SELECT GET_LOCK('x')", "1582"},
	{"b", "SELECT RELEASE_ALL_LOCKS(1)", "1582"},
	{"b", "SELECT GET_LOCK('x', 0)", "1"},
	{"b", "SELECT RELEASE_ALL_LOCKS()", "3"},
	{"b", "SELECT RELEASE_ALL_LOCKS()", "0"},
	{"a", "SELECT RELEASE_ALL_LOCKS()", "1"},
}

// userLockQueriesOfMySQL are answered as MySQL 8 does, and differently by MariaDB.
var userLockQueriesOfMySQL = []struct{ query, want string }{
	{"SELECT GET_LOCK('Name', 0), IS_FREE_LOCK('nAME')", "1|0"},
	{"SELECT GET_LOCK('free', -1)", "1"},
	{"SELECT GET_LOCK('', 0)", "3057"},
	{"SELECT IS_FREE_LOCK(REPEAT('ä', 65))", "3057"},
	{"SELECT RELEASE_ALL_LOCKS()", "2"},
}

// answered returns a statement's only row, or the number of its error.
func answered(ctx context.Context, s *Session, query string) string {
	r, err := s.Query(ctx, query, nil)
	var row []any
	if err == nil {
		row, err = r.Next()
	}
	if err != nil {
		return fmt.Sprint(err.(*mysqlerr.Error).Number)
	}
	defer r.Close()
	var texts []string
	for i, v := range row {
		text, ok := r.Columns[i].Format(v)
		if !ok {
			text = "NULL"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "|")
}

// twoSessions returns sessions of one catalog, which are connections 1 and 2.
func twoSessions(t *testing.T) (a, b *Session) {
	a = open(t, newFake("app"))
	b = openIn(t, a.catalog)
	a.Identify(1, "a@localhost", nil)
	b.Identify(2, "b@localhost", nil)
	return a, b
}

// TestUserLocks: sessions take locks by name, several times, and let them go.
func TestUserLocks(t *testing.T) {
	a, b := twoSessions(t)
	for _, c := range userLockQueries {
		if got := answered(t.Context(), map[string]*Session{"a": a, "b": b}[c.session], c.query); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.session, c.query, got, c.want)
		}
	}
	for _, c := range userLockQueriesOfMySQL {
		if got := answered(t.Context(), a, c.query); got != c.want {
			t.Errorf("%s is %s, want %s", c.query, got, c.want)
		}
	}
}

// TestUserLocksWait: who waits for a lock gets it when it is let go, by its session's end too, or
// ends with the statement's time. Who would wait for ever gets an error.
func TestUserLocksWait(t *testing.T) {
	a, b := twoSessions(t)
	ask := func(s *Session, query, want string) {
		t.Helper()
		if got := answered(t.Context(), s, query); got != want {
			t.Errorf("%s is %s, want %s", query, got, want)
		}
	}
	waits := func(s *Session, query string) <-chan string {
		got := make(chan string, 1)
		go func() { got <- answered(t.Context(), s, query) }()
		for {
			a.catalog.locks.mu.Lock()
			waiting := s.awaits != nil
			a.catalog.locks.mu.Unlock()
			if waiting {
				return got
			}
			time.Sleep(time.Millisecond)
		}
	}
	ask(a, "SELECT GET_LOCK('x', 0)", "1")
	ask(b, "SELECT GET_LOCK('y', 0)", "1")
	got := waits(b, "SELECT GET_LOCK('X', 100)")
	ask(a, "SELECT GET_LOCK('y', 100)", "3058")
	ask(a, "SELECT IS_USED_LOCK('y')", "2")
	ask(a, "DO RELEASE_LOCK('x')", "")
	if got := <-got; got != "1" {
		t.Errorf("let go: %s", got)
	}
	ask(a, "SET max_statement_time = 0.05", "")
	ask(a, "SELECT GET_LOCK('x', 100)", "3024")
	ask(a, "SET max_statement_time = 0", "")
	for _, end := range []func(){b.Reset, func() { b.Close() }} {
		got := waits(a, "SELECT GET_LOCK('x', -1)")
		end()
		if got := <-got; got != "1" {
			t.Errorf("its session ended: %s", got)
		}
		ask(a, "SELECT RELEASE_ALL_LOCKS()", "1")
		if len(a.catalog.locks.held) != 0 {
			t.Errorf("%d are held", len(a.catalog.locks.held))
		}
		if b.conn.PingContext(t.Context()) == nil {
			ask(b, "SELECT GET_LOCK('x', 0)", "1")
		}
	}
}
