// Package sqldouble replays what a database answered to package database/sql.
//
// "ftrace-wrap test -record-doubles DIR -border database/sql" writes a file that calls it. See
// docs/doubles.md.
package sqldouble

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

// A Statement is what was said to a database, and what that answered.
type Statement struct {
	Test  string // the test that it is for; "": all that have none of their own
	Op    Op     // what was done; "": the statement was sent
	Query string // the text; for an Op that has none, the statement before it in the transaction
	Args  []any  // mock.Any{} is not compared, and a sql.NamedArg has a name

	// Of a statement that returned rows:
	Columns []string     // not nil, then
	Types   []ColumnType // none if the program did not ask for them
	Rows    [][]any      // values as the driver gave them; an int is an int64
	More    bool         // there were more rows, which the program did not read
	RowsErr error        // comes after the rows
	Then    []Set        // further result sets

	// Of one that did not:
	LastInsertID int64
	RowsAffected int64
	NoInsertID   error // comes in place of LastInsertID
	NoAffected   error // comes in place of RowsAffected

	Err error // comes in place of rows or a result
}

// A Set is a result set after the first. Its fields are those of a [Statement].
type Set struct {
	Columns []string
	Types   []ColumnType
	Rows    [][]any
	More    bool
	RowsErr error
	Err     error // comes in place of the set
}

// A ColumnType is what a driver tells of a column's type. See [sql.ColumnType].
type ColumnType struct {
	Type                               string
	Scan                               reflect.Type // nil: any
	Length, Precision, Scale           int64
	Nullable                           bool
	HasLength, HasDecimal, HasNullable bool
}

// An Op is what can be done beside sending a statement. It succeeds unless a Statement with it says
// how it fails, for the test.
type Op string

const (
	Connect  Op = "connect"
	Ping     Op = "ping"
	Prepare  Op = "prepare"
	Begin    Op = "begin"
	Commit   Op = "commit"
	Rollback Op = "rollback"
)

// Replay answers what is said to databases by what was recorded, until the test ends. It replaces
// those methods of [sql.DB] that reach for a connection, so it concerns every database, wherever it
// was opened. A connection, a transaction or a prepared statement that a database gave before is
// not replaced.
//
// A statement is answered by the recorded one that has the same text and the same arguments; by the
// next of these each time, and by the last of them from then on. White space at the beginnings and
// ends of lines does not count. statements is called once.
//
// A statement that was not recorded is an error of the test, and fails. With the option
// [mock.Lenient] it is logged, and goes to the database. Both show the recorded statement that is
// nearest, and how it differs. Options are as for [mock.Replace].
//
// If package database/sql has no hooks, Replay fails the test at once. While doubles are being
// recorded it does nothing.
func Replay(t testing.TB, statements func() []Statement, opts ...mock.Option) {
	t.Helper()
	if mock.Recording() {
		return
	}
	r := &replay{t: t, statements: sync.OnceValue(statements), made: map[int]int{}, doubles: map[*sql.DB]*sql.DB{}}
	opts = slices.DeleteFunc(slices.Clone(opts), func(o mock.Option) bool {
		lenient := kept.Lenient(o)
		r.lenient = r.lenient || lenient
		return lenient
	})
	opts = append(opts, mock.Unrecorded())
	t.Cleanup(r.end)
	mock.Around(t, (*sql.DB).Close, func(original func(*sql.DB) error) func(*sql.DB) error {
		r.closes = original
		return func(db *sql.DB) error {
			if double := r.double(db); double != db {
				original(double)
			}
			return original(db)
		}
	}, opts...)
	mock.Around(t, (*sql.DB).Conn, func(original connFunc) connFunc {
		r.conn = original
		return func(db *sql.DB, ctx context.Context) (*sql.Conn, error) { return original(r.double(db), ctx) }
	}, opts...)
	mock.Around(t, (*sql.DB).PingContext, func(original pingFunc) pingFunc {
		return func(db *sql.DB, ctx context.Context) error { return original(r.double(db), ctx) }
	}, opts...)
	mock.Around(t, (*sql.DB).QueryContext, func(original queryFunc) queryFunc {
		return func(db *sql.DB, ctx context.Context, query string, args ...any) (*sql.Rows, error) {
			return original(r.double(db), ctx, query, args...)
		}
	}, opts...)
	mock.Around(t, (*sql.DB).ExecContext, func(original execFunc) execFunc {
		return func(db *sql.DB, ctx context.Context, query string, args ...any) (sql.Result, error) {
			return original(r.double(db), ctx, query, args...)
		}
	}, opts...)
	mock.Around(t, (*sql.DB).PrepareContext, func(original prepareFunc) prepareFunc {
		return func(db *sql.DB, ctx context.Context, query string) (*sql.Stmt, error) {
			return original(r.double(db), ctx, query)
		}
	}, opts...)
	mock.Around(t, (*sql.DB).BeginTx, func(original beginFunc) beginFunc {
		return func(db *sql.DB, ctx context.Context, with *sql.TxOptions) (*sql.Tx, error) {
			return original(r.double(db), ctx, with)
		}
	}, opts...)
	mock.Around(t, (*sql.Conn).Raw, func(original rawFunc) rawFunc {
		return func(c *sql.Conn, f func(any) error) error { return original(c, raw(f)) }
	}, opts...)
}

// The methods that are replaced.
type (
	connFunc    = func(*sql.DB, context.Context) (*sql.Conn, error)
	pingFunc    = func(*sql.DB, context.Context) error
	queryFunc   = func(*sql.DB, context.Context, string, ...any) (*sql.Rows, error)
	execFunc    = func(*sql.DB, context.Context, string, ...any) (sql.Result, error)
	prepareFunc = func(*sql.DB, context.Context, string) (*sql.Stmt, error)
	beginFunc   = func(*sql.DB, context.Context, *sql.TxOptions) (*sql.Tx, error)
	rawFunc     = func(*sql.Conn, func(any) error) error
)

// A replay answers what is said to databases.
type replay struct {
	t          testing.TB
	statements func() []Statement
	lenient    bool
	conn       connFunc            // the method itself
	closes     func(*sql.DB) error // the method itself

	mu      sync.Mutex
	made    map[int]int         // how often the recorded statement with that number, the first of the same, was sent
	doubles map[*sql.DB]*sql.DB // by the databases that they stand for
}

// made has all databases that are doubles: what is done with them is not replaced again.
var made sync.Map

// double returns the database that is used in place of db: its driver is the replay's.
func (r *replay) double(db *sql.DB) *sql.DB {
	if _, ok := made.Load(db); ok || db == nil {
		return db
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.doubles[db] == nil {
		r.doubles[db] = sql.OpenDB(connector{r, db})
		made.Store(r.doubles[db], true)
	}
	return r.doubles[db]
}

// end closes the doubles.
func (r *replay) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, double := range r.doubles {
		r.closes(double)
		made.Delete(double)
	}
}

// A connector is a driver.Connector that stands for a database.
type connector struct {
	r  *replay
	db *sql.DB
}

func (c connector) Driver() driver.Driver { return c.db.Driver() }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := c.r.step(Connect, ""); err != nil {
		return nil, err
	}
	return &conn{r: c.r, db: c.db}, ctx.Err()
}
