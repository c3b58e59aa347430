package sqldouble

import (
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/sqlvalue"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func TestSameText(t *testing.T) {
	for _, test := range []struct {
		recorded, query string
		want            bool
	}{
		{"SELECT 1", "SELECT 1", true},
		{"SELECT 1", "SELECT  1", false},
		{"SELECT 1\n\t\tFROM t\n", "  SELECT 1  \nFROM t", true},
		{"SELECT 'a\n b'", "SELECT 'a\nb'", false},
		{"SELECT '***' FROM t", "SELECT 'it''s' FROM t", true},
		{"SELECT '***' FROM t", `SELECT "a\"b" FROM t`, true},
		{"SELECT '***' FROM t", "SELECT 12.5 FROM t", true},
		{"SELECT '***' FROM t", "SELECT 'a', 'b' FROM t", false},
		{"SELECT '***' FROM t", "SELECT id FROM t", false},
		{"SELECT '***' FROM t", "SELECT 'a' FROM u", false},
		{"SELECT (1) FROM t WHERE a = '***'", "SELECT (1) FROM t WHERE a = 'b'", true},
	} {
		if got := sameText(test.recorded, test.query); got != test.want {
			t.Errorf("%q, %q: %v", test.recorded, test.query, got)
		}
	}
}

// A named test has a name, and collects its errors.
type named struct {
	testing.TB
	name   string
	errors []string
}

func (n *named) Name() string      { return n.name }
func (n *named) Error(args ...any) { n.errors = append(n.errors, args[0].(string)) }

func TestAnswer(t *testing.T) {
	all := []Statement{
		{Test: "TestA/x", Query: "Q", Err: sql.ErrNoRows},
		{Test: "TestA/y", Query: "Q", Err: sql.ErrTxDone},
		{Test: "TestB", Query: "Q", Err: sql.ErrConnDone},
		{Query: "R", RowsAffected: 1},
		{Query: "R", RowsAffected: 2},
		{Query: "S", Args: []any{1, mock.Any{}, sql.Named("at", time.Unix(5, 0))}, Columns: []string{}},
		{Op: Commit, Test: "TestB", Query: "R", Err: sql.ErrTxDone},
	}
	for _, test := range []struct {
		name string
		want []error
	}{
		{"TestA", []error{sql.ErrNoRows, sql.ErrTxDone, sql.ErrTxDone}},
		{"TestA/x", []error{sql.ErrNoRows, sql.ErrNoRows}},
		{"TestA/y", []error{sql.ErrTxDone}},
		{"TestA/z", []error{sql.ErrNoRows, sql.ErrTxDone}},
		{"TestAnother", []error{sql.ErrNoRows, sql.ErrTxDone, sql.ErrConnDone, sql.ErrConnDone}},
		{"TestB", []error{sql.ErrConnDone}},
	} {
		r := &replay{t: &named{name: test.name}, statements: func() []Statement { return all }, made: map[int]int{}}
		var got []error
		for range test.want {
			_, err := r.answer(t.Context(), "Q", nil, true)
			got = append(got, err)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
		if err := r.step(Commit, "R"); (err != nil) != (test.name == "TestB") {
			t.Errorf("%s: commit: %v", test.name, err)
		}
		for _, n := range []int64{1, 2, 2} {
			if s, err := r.answer(t.Context(), "R", nil, true); err != nil || s.RowsAffected != n {
				t.Errorf("%s: %v %v, want %d", test.name, s, err, n)
			}
		}
	}
	failing := &named{name: "TestC"}
	r := &replay{t: failing, statements: func() []Statement { return all }, made: map[int]int{}}
	args := sqlvalue.Named([]driver.Value{int64(1), "any", time.Unix(5, 0).UTC()})
	args[2].Name = "at"
	if _, err := r.answer(t.Context(), "S", args, false); err != nil {
		t.Error(err)
	}
	args[2].Value, args[0].Value = time.Unix(6, 0).UTC(), int64(2)
	if _, err := r.answer(t.Context(), "S", args[:2], true); err == nil || len(failing.errors) != 1 || !strings.Contains(failing.errors[0], "of the 6 that were, the nearest differs in\n"+
		"\trecorded by Query, called by Exec\n\tArgs[0]: recorded 1, called with 2\n\tArgs[2]: recorded at=") {
		t.Error(err, failing.errors)
	}
}
