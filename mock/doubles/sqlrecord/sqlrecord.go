// Package sqlrecord records what package database/sql says to drivers, for doubles. The program
// that "ftrace-wrap test -record-doubles" builds uses it; nobody else needs to. Package
// mock/sqldouble replays it.
//
// What sql.OpenDB gets is wrapped: each connection, transaction, prepared statement and result of
// the driver (driver.go), and their arguments (args.go). The driver behaves as before.
package sqlrecord

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqlsecret"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
	"github.com/ftrace-wrap/ftrace-wrap/mock/doubles"
	"github.com/ftrace-wrap/ftrace-wrap/mock/sqldouble"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// valuesMax is how many values of a statement's rows are recorded.
const valuesMax = 10_000

// Watch records what databases are told from now on, by connections that are not open yet.
func Watch(r *doubles.Recorder) {
	s := &recorder{Recorder: r, tests: map[uint64]string{}}
	around(sql.OpenDB, func(original func(driver.Connector) *sql.DB) func(driver.Connector) *sql.DB {
		return func(c driver.Connector) *sql.DB { return original(s.connector(c)) }
	})
	// Those that are open already.
	around((*sql.DB).PingContext, func(original pingFunc) pingFunc {
		return func(db *sql.DB, ctx context.Context) error { return original(s.adopt(db), ctx) }
	})
	around((*sql.DB).QueryContext, func(original queryFunc) queryFunc {
		return func(db *sql.DB, ctx context.Context, query string, args ...any) (*sql.Rows, error) {
			return original(s.adopt(db), ctx, query, args...)
		}
	})
	around((*sql.DB).ExecContext, func(original execFunc) execFunc {
		return func(db *sql.DB, ctx context.Context, query string, args ...any) (sql.Result, error) {
			return original(s.adopt(db), ctx, query, args...)
		}
	})
	around((*sql.DB).PrepareContext, func(original prepareFunc) prepareFunc {
		return func(db *sql.DB, ctx context.Context, query string) (*sql.Stmt, error) {
			return original(s.adopt(db), ctx, query)
		}
	})
	around((*sql.DB).BeginTx, func(original beginFunc) beginFunc {
		return func(db *sql.DB, ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
			return original(s.adopt(db), ctx, opts)
		}
	})
	around((*sql.DB).Conn, func(original connFunc) connFunc {
		return func(db *sql.DB, ctx context.Context) (*sql.Conn, error) { return original(s.adopt(db), ctx) }
	})
	around((*sql.Conn).Raw, func(original rawFunc) rawFunc {
		return func(c *sql.Conn, f func(any) error) error {
			return original(c, func(of any) error {
				if c, ok := of.(*conn); ok {
					of = c.real
				}
				return f(of)
			})
		}
	})
	around((*testing.T).Run, func(original runFunc) runFunc {
		return func(t *testing.T, name string, f func(*testing.T)) bool {
			return original(t, name, func(t *testing.T) {
				defer s.begins(t.Name())()
				f(t)
			})
		}
	})
}

// The functions that are replaced.
type (
	connFunc    = func(*sql.DB, context.Context) (*sql.Conn, error)
	pingFunc    = func(*sql.DB, context.Context) error
	queryFunc   = func(*sql.DB, context.Context, string, ...any) (*sql.Rows, error)
	execFunc    = func(*sql.DB, context.Context, string, ...any) (sql.Result, error)
	prepareFunc = func(*sql.DB, context.Context, string) (*sql.Stmt, error)
	beginFunc   = func(*sql.DB, context.Context, *sql.TxOptions) (*sql.Tx, error)
	rawFunc     = func(*sql.Conn, func(any) error) error
	runFunc     = func(*testing.T, string, func(*testing.T)) bool
)

func around[F any](target F, with func(original F) F) {
	defer doubles.Tolerate()
	mock.Around(doubles.Program(), target, with, mock.AllGoroutines(), mock.Unrecorded())
}

// adopt has the further connections of a database recorded, if it was opened before Watch was
// called, as one in a package variable.
func (r *recorder) adopt(db *sql.DB) *sql.DB {
	if db == nil {
		return db
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := reflect.ValueOf(db).Elem().FieldByName("connector")
	if !f.IsValid() || f.Type() != reflect.TypeFor[driver.Connector]() {
		return db
	}
	at := (*driver.Connector)(f.Addr().UnsafePointer())
	if _, ok := (*at).(interface{ recorded() }); !ok && *at != nil {
		*at = r.connector(*at)
	}
	return db
}

// A recorder records statements.
type recorder struct {
	*doubles.Recorder
	number atomic.Int64

	mu      sync.Mutex
	tests   map[uint64]string // that run, by their goroutines
	running []string
}

// begins notes a test, and returns what is called at its end.
func (r *recorder) begins(test string) (ends func()) {
	g := ftrace.Goroutine()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tests[g] = test
	r.running = append(r.running, test)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.tests, g)
		for i, name := range r.running {
			if name == test {
				r.running = append(r.running[:i:i], r.running[i+1:]...)
				break
			}
		}
	}
}

// test returns the name of the test that makes a call, or "" if it can't be told.
func (r *recorder) test() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name := r.tests[ftrace.Goroutine()]; name != "" {
		return name
	}
	innermost := ""
	for _, name := range r.running {
		switch {
		case innermost == "", strings.HasPrefix(name, innermost+"/"):
			innermost = name
		case !strings.HasPrefix(innermost, name+"/"): // it runs beside that one
			return ""
		}
	}
	return innermost
}

// A statement is one that is recorded.
type statement struct {
	r *recorder
	*kept.Statement[*kept.Value]
	secrets *sqlsecret.Statement
	hidden  []string // texts of arguments that are hidden, which an error may have
	left    int      // how many values more

	mu sync.Mutex
}

// begin returns a statement that begins.
func (r *recorder) begin(op, query string, args []driver.NamedValue) *statement {
	s := &statement{r: r, left: valuesMax, secrets: sqlsecret.Parse(r.Redact, query)}
	s.Statement = &kept.Statement[*kept.Value]{Number: int(r.number.Add(1)), Test: r.test(), Op: op, Query: s.secrets.Text}
	for i, nv := range args {
		said, ok := nv.Value.(argument)
		if !ok {
			said = argument{nv.Value, nv.Value}
		}
		secret := s.secrets.Arg(i+1, nv.Name) || r.Secret(said.raw)
		a := kept.Arg[*kept.Value]{Name: nv.Name, Secret: secret, Value: r.value(said.plain(), secret)}
		if secret {
			s.hideArg(said.plain())
		}
		switch said.raw.(type) {
		case sql.Out, *sql.Out:
			s.Lack = "it has an argument that it changes"
		}
		s.Args = append(s.Args, a)
	}
	return s
}

// value takes a value apart. A time in a zone of the system gets one with a literal.
func (r *recorder) value(v any, secret bool) *kept.Value {
	if t, ok := v.(time.Time); ok && t.Location() != time.Local {
		name, offset := t.Zone()
		if name != t.Location().String() {
			v = t.In(time.FixedZone(name, offset))
		}
	}
	return r.Value(v, secret)
}

// write writes the statement as far as it is known.
func (s *statement) write() { s.r.Statement(s.Statement) }

// end writes a statement that ends with err. What package database/sql makes another attempt after
// is not written.
func (s *statement) end(err error) {
	if err == driver.ErrSkip || errors.Is(err, driver.ErrBadConn) {
		return
	}
	s.Err = s.err(err)
	s.write()
}

// err takes an error apart.
func (s *statement) err(err error) *kept.Error[*kept.Value] {
	if err == nil {
		return nil
	}
	e := &kept.Error[*kept.Value]{Value: s.r.Value(err, false), Type: reflect.TypeOf(err).String(), Text: s.hide(err.Error())}
	s.hideIn(e.Value)
	return e
}

// hideArg has an argument not appear in errors, unless it is so short that it may be a part of
// anything.
func (s *statement) hideArg(v any) {
	text := fmt.Sprint(v)
	if b, ok := v.([]byte); ok {
		text = string(b)
	}
	if len(text) > 3 {
		s.hidden = append(s.hidden, text)
	}
}

// hide returns a text without the arguments that are hidden.
func (s *statement) hide(text string) string {
	for _, secret := range s.hidden {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

func (s *statement) hideIn(v *kept.Value) {
	if len(s.hidden) == 0 || v == nil {
		return
	}
	v.Text, v.Message = s.hide(v.Text), s.hide(v.Message)
	for _, part := range v.Parts {
		s.hideIn(part)
	}
}

// result writes what a statement resulted in, and wraps it.
func (s *statement) result(real driver.Result, err error) (driver.Result, error) {
	if err != nil || real == nil {
		s.end(err)
		return real, err
	}
	s.Exec = true
	r := &result{real: real, s: s}
	if id, err := real.LastInsertId(); err == nil {
		s.LastInsertID = id
	}
	if n, err := real.RowsAffected(); err == nil {
		s.RowsAffected = n
	}
	s.write()
	return r, nil
}

// A result is a driver.Result.
type result struct {
	real driver.Result
	s    *statement
}

func (r *result) LastInsertId() (int64, error) {
	id, err := r.real.LastInsertId()
	r.fails(&r.s.NoInsertID, err)
	return id, err
}

func (r *result) RowsAffected() (int64, error) {
	n, err := r.real.RowsAffected()
	r.fails(&r.s.NoAffected, err)
	return n, err
}

// fails writes that a method of a result fails, which most programs do not call.
func (r *result) fails(at **kept.Error[*kept.Value], err error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err != nil && *at == nil {
		*at = r.s.err(err)
		r.s.write()
	}
}

// rows wraps the rows of a statement.
func (s *statement) rows(ctx context.Context, real driver.Rows, err error) (driver.Rows, error) {
	if err != nil || real == nil {
		s.end(err)
		return real, err
	}
	r := &rows{real: real, s: s, ctx: ctx}
	r.nextSet()
	lack := s.Lack
	s.Lack = "its rows were not closed"
	s.write()
	s.Lack = lack
	return r, nil
}

// rows are driver.Rows.
type rows struct {
	real   driver.Rows
	s      *statement
	ctx    context.Context
	set    *kept.Set[*kept.Value] // the last one
	ended  bool                   // all its rows were read
	closed bool
}

// nextSet begins the next result set.
func (r *rows) nextSet() {
	r.s.Sets = append(r.s.Sets, kept.Set[*kept.Value]{Columns: append([]string{}, r.real.Columns()...)})
	r.set, r.ended = &r.s.Sets[len(r.s.Sets)-1], false
}

func (r *rows) Columns() []string { return r.real.Columns() }

func (r *rows) Next(dest []driver.Value) error {
	err := r.real.Next(dest)
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	switch {
	case err == io.EOF:
		r.ended = true
	case err != nil:
		r.ended = true
		r.set.Err = r.s.err(err)
		if errors.Is(err, driver.ErrBadConn) {
			r.s.Lack = "the connection broke"
		}
	case r.s.left < len(dest):
		r.s.Lack = fmt.Sprintf("its rows have more than %d values", valuesMax)
	default:
		r.s.left -= len(dest)
		var row []*kept.Value
		for i, v := range dest {
			if _, ok := v.(driver.Rows); ok {
				r.s.Lack = "its rows have rows in them"
			}
			secret := v != nil && i < len(r.set.Columns) && r.s.secrets.Column(r.set.Columns[i])
			r.set.Secret = r.set.Secret || secret
			row = append(row, r.s.r.value(v, secret))
		}
		r.set.Rows = append(r.set.Rows, row)
	}
	return err
}

// Close has the statement written. It looks whether there is one more row, which tells a program
// that reads more later that it was not recorded.
func (r *rows) Close() error {
	if r.closed {
		return r.real.Close()
	}
	r.closed = true
	if !r.ended && r.ctx.Err() == nil {
		r.set.More = r.real.Next(make([]driver.Value, len(r.set.Columns))) == nil
	}
	r.s.mu.Lock()
	r.s.write()
	r.s.mu.Unlock()
	return r.real.Close()
}

func (r *rows) HasNextResultSet() bool {
	next, ok := r.real.(driver.RowsNextResultSet)
	return ok && next.HasNextResultSet()
}

func (r *rows) NextResultSet() error {
	next, ok := r.real.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	if !r.ended {
		r.set.More = true // it may have
	}
	err := next.NextResultSet()
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	switch {
	case err == nil:
		r.nextSet()
	case err != io.EOF:
		r.s.Sets = append(r.s.Sets, kept.Set[*kept.Value]{Err: r.s.err(err)})
		r.set, r.ended = &r.s.Sets[len(r.s.Sets)-1], true
	}
	return err
}

// column returns what is recorded of a column's type. The program asked for it.
func (r *rows) column(i int) *kept.ColumnType {
	for len(r.set.Types) < len(r.set.Columns) {
		r.set.Types = append(r.set.Types, kept.ColumnType{})
	}
	if i >= len(r.set.Types) {
		return new(kept.ColumnType)
	}
	return &r.set.Types[i]
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	c := r.column(i)
	if of, ok := r.real.(driver.RowsColumnTypeDatabaseTypeName); ok {
		c.Type = of.ColumnTypeDatabaseTypeName(i)
	}
	return c.Type
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	c, t := r.column(i), reflect.TypeFor[any]()
	if of, ok := r.real.(driver.RowsColumnTypeScanType); ok {
		t = of.ColumnTypeScanType(i)
	}
	if t != nil {
		c.Scan = t.String()
	}
	return t
}

func (r *rows) ColumnTypeLength(i int) (int64, bool) {
	c := r.column(i)
	if of, ok := r.real.(driver.RowsColumnTypeLength); ok {
		c.Length, c.HasLength = of.ColumnTypeLength(i)
	}
	return c.Length, c.HasLength
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	c := r.column(i)
	if of, ok := r.real.(driver.RowsColumnTypeNullable); ok {
		c.Nullable, c.HasNullable = of.ColumnTypeNullable(i)
	}
	return c.Nullable, c.HasNullable
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	c := r.column(i)
	if of, ok := r.real.(driver.RowsColumnTypePrecisionScale); ok {
		c.Precision, c.Scale, c.HasDecimal = of.ColumnTypePrecisionScale(i)
	}
	return c.Precision, c.Scale, c.HasDecimal
}

// step writes that something other than a statement was done, of which only errors become doubles.
func (r *recorder) step(op, query string, err error) { r.begin(op, query, nil).end(err) }

// The names of what is done beside statements.
const (
	connects  = string(sqldouble.Connect)
	pings     = string(sqldouble.Ping)
	prepares  = string(sqldouble.Prepare)
	begins    = string(sqldouble.Begin)
	commits   = string(sqldouble.Commit)
	rollbacks = string(sqldouble.Rollback)
)
