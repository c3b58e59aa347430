package sqldouble

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"

	"github.com/ftrace-wrap/ftrace-wrap/internal/sqlvalue"
)

// A conn is a driver.Conn. Like all such, it is used by one goroutine at a time.
type conn struct {
	r    *replay
	db   *sql.DB
	tx   *tx       // under way, or nil
	last string    // the statement that came last in it
	real *sql.Conn // to db, for what was not recorded; nil until it is needed
}

func (c *conn) Close() error {
	if c.real == nil {
		return nil
	}
	return c.real.Close()
}

func (c *conn) Ping(context.Context) error { return c.r.step(Ping, "") }

// CheckNamedValue converts an argument, whatever the driver.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	nv.Value = argument{nv.Value, sqlvalue.Plain(nv.Value)}
	return nil
}

// An argument is one of a statement: as the program gave it, and as it is compared.
type argument struct{ raw, plain any }

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	if err := c.r.step(Prepare, query); err != nil {
		return nil, err
	}
	return &stmt{c, query}, nil
}

func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.r.step(Begin, ""); err != nil {
		return nil, err
	}
	c.last = ""
	c.tx = &tx{c: c, opts: sql.TxOptions{Isolation: sql.IsolationLevel(opts.Isolation), ReadOnly: opts.ReadOnly}}
	return c.tx, nil
}

// A tx is a driver.Tx.
type tx struct {
	c    *conn
	opts sql.TxOptions
	real *sql.Tx // for what was not recorded, or nil
}

func (t *tx) Commit() error   { return t.end(Commit, (*sql.Tx).Commit) }
func (t *tx) Rollback() error { return t.end(Rollback, (*sql.Tx).Rollback) }

func (t *tx) end(op Op, real func(*sql.Tx) error) error {
	t.c.tx = nil
	err := t.c.r.step(op, t.c.last)
	if t.real == nil {
		return err
	}
	if err != nil {
		t.real.Rollback()
		return err
	}
	return real(t.real)
}

// A sender is what a statement goes to that was not recorded.
type sender interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// sender returns where a statement goes that was not recorded. The transaction of the database
// begins with the first such statement in it.
func (c *conn) sender(ctx context.Context) (_ sender, err error) {
	if c.real == nil {
		if c.real, err = c.r.conn(c.db, ctx); err != nil {
			return nil, err
		}
	}
	if c.tx == nil {
		return c.real, nil
	}
	if c.tx.real == nil {
		if c.tx.real, err = c.real.BeginTx(context.WithoutCancel(ctx), &c.tx.opts); err != nil {
			return nil, err
		}
	}
	return c.tx.real, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.r.answer(ctx, query, args, false)
	c.last = query
	switch {
	case err != nil:
		return nil, err
	case s != nil:
		return newRows(c.r, s), nil
	}
	to, err := c.sender(ctx)
	if err != nil {
		return nil, err
	}
	real, err := to.QueryContext(ctx, query, given(args)...)
	if err != nil {
		return nil, err
	}
	return &realRows{Rows: real}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.r.answer(ctx, query, args, true)
	c.last = query
	switch {
	case err != nil:
		return nil, err
	case s != nil:
		return result{s}, nil
	}
	to, err := c.sender(ctx)
	if err != nil {
		return nil, err
	}
	return to.ExecContext(ctx, query, given(args)...)
}

// given returns arguments as the program gave them.
func given(args []driver.NamedValue) (list []any) {
	for _, nv := range args {
		v := any(nv.Value)
		if a, ok := v.(argument); ok {
			v = a.raw
		}
		if nv.Name != "" {
			v = sql.Named(nv.Name, v)
		}
		list = append(list, v)
	}
	return list
}

// raw returns f for the driver's connection, which a connection of a replay lacks if it is not
// lenient.
func raw(f func(any) error) func(any) error {
	return func(of any) error {
		c, ok := of.(*conn)
		if !ok {
			return f(of)
		}
		const message = "mock: what Conn.Raw does was not recorded"
		if !c.r.lenient {
			c.r.t.Error(message)
			return errors.New(message)
		}
		c.r.t.Log(message)
		if _, err := c.sender(context.Background()); err != nil {
			return err
		}
		return c.real.Raw(f)
	}
}

// A stmt is a driver.Stmt.
type stmt struct {
	c     *conn
	query string
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), sqlvalue.Named(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), sqlvalue.Named(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.query, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.query, args)
}

// A result is a driver.Result.
type result struct{ s *Statement }

func (r result) LastInsertId() (int64, error) { return r.s.LastInsertID, r.s.NoInsertID }
func (r result) RowsAffected() (int64, error) { return r.s.RowsAffected, r.s.NoAffected }

// rows are driver.Rows.
type rows struct {
	r    *replay
	sets []Set // that are left, the one that is read first
	next int   // row of it
}

func newRows(r *replay, s *Statement) *rows {
	first := Set{Columns: s.Columns, Types: s.Types, Rows: s.Rows, More: s.More, RowsErr: s.RowsErr}
	return &rows{r: r, sets: append([]Set{first}, s.Then...)}
}

func (r *rows) Columns() []string { return r.sets[0].Columns }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	set := &r.sets[0]
	switch {
	case r.next < len(set.Rows):
		row := set.Rows[r.next]
		r.next++
		if len(row) != len(dest) {
			return r.r.fails("mock: the recorded row %v has %d values for %d columns", row, len(row), len(dest))
		}
		for i, v := range row {
			dest[i] = cell(v)
		}
		return nil
	case set.RowsErr != nil:
		return set.RowsErr
	case set.More:
		return r.r.fails("mock: more than %d rows are read, and the others were not recorded", len(set.Rows))
	}
	return io.EOF
}

// cell returns a value as a driver gives it.
func cell(v any) driver.Value {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []byte:
		return bytes.Clone(v)
	}
	return v
}

func (r *rows) HasNextResultSet() bool { return len(r.sets) > 1 }

func (r *rows) NextResultSet() error {
	if len(r.sets) < 2 {
		return io.EOF
	}
	r.sets, r.next = r.sets[1:], 0
	return r.sets[0].Err
}

func (r *rows) columnType(i int) ColumnType {
	if types := r.sets[0].Types; i < len(types) {
		return types[i]
	}
	return ColumnType{}
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return r.columnType(i).Type }

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if t := r.columnType(i).Scan; t != nil {
		return t
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	c := r.columnType(i)
	return c.Length, c.HasLength
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	c := r.columnType(i)
	return c.Nullable, c.HasNullable
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	c := r.columnType(i)
	return c.Precision, c.Scale, c.HasDecimal
}

// realRows are driver.Rows of a database.
type realRows struct{ *sql.Rows }

func (r *realRows) Columns() []string {
	names, _ := r.Rows.Columns() // fails only for rows that are closed
	return names
}

func (r *realRows) Next(dest []driver.Value) error {
	if !r.Rows.Next() {
		if err := r.Rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	pointers := make([]any, len(dest))
	for i := range dest {
		pointers[i] = (*any)(&dest[i])
	}
	return r.Rows.Scan(pointers...)
}

func (r *realRows) HasNextResultSet() bool { return true }

func (r *realRows) NextResultSet() error {
	if r.Rows.NextResultSet() {
		return nil
	}
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return io.EOF
}

func (r *realRows) columnType(i int) *sql.ColumnType {
	types, err := r.Rows.ColumnTypes()
	if err != nil || i >= len(types) {
		return new(sql.ColumnType)
	}
	return types[i]
}

func (r *realRows) ColumnTypeDatabaseTypeName(i int) string {
	return r.columnType(i).DatabaseTypeName()
}

func (r *realRows) ColumnTypeScanType(i int) reflect.Type { return r.columnType(i).ScanType() }

func (r *realRows) ColumnTypeLength(i int) (length int64, ok bool) { return r.columnType(i).Length() }

func (r *realRows) ColumnTypeNullable(i int) (nullable, ok bool) { return r.columnType(i).Nullable() }

func (r *realRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	return r.columnType(i).DecimalSize()
}
