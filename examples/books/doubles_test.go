// Doubles that ftrace-wrap test -record-doubles made. Recording again replaces this file.

package main

import (
	"errors"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/mock"
	"github.com/ftrace-wrap/ftrace-wrap/mock/sqldouble"
)

// useDoubles replays calls across a border, until the test ends:
// database/sql.
// A call that was not recorded is an error of the test. With the option mock.Lenient() it is logged,
// and goes to the real function.
func useDoubles(t testing.TB, opts ...mock.Option) {
	t.Helper()
	sqldouble.Replay(t, sqlStatements, opts...)
}

// sqlStatements returns what was said to databases, in the order in which it was.
func sqlStatements() []sqldouble.Statement {
	return []sqldouble.Statement{
		{
			Query:   "SELECT title FROM books WHERE id = ?",
			Args:    []any{"7"},
			Columns: []string{"title"},
			Rows:    [][]any{{"Siddhartha"}},
		},
		{
			Query: "SELECT title FROM books WHERE id = ?",
			Args:  []any{"8"},
			Err:   errors.New("there is no such book"),
		},
	}
}
