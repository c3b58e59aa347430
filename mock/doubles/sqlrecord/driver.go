package sqlrecord

//lint:file-ignore SA1019 drivers may implement what is deprecated, and package database/sql calls it

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/sqlvalue"
)

// Package database/sql asks which optional interfaces a driver's types implement. The types here
// implement all, and do without one what package database/sql would do.

// connector returns a connector whose connections are recorded.
func (r *recorder) connector(real driver.Connector) driver.Connector {
	c := &connector{r: r, real: real}
	if closer, ok := real.(io.Closer); ok {
		return struct {
			*connector
			io.Closer
		}{c, closer}
	}
	return c
}

// A connector is a driver.Connector.
type connector struct {
	r    *recorder
	real driver.Connector
}

func (c *connector) recorded() {}

func (c *connector) Driver() driver.Driver { return c.real.Driver() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	real, err := c.real.Connect(ctx)
	c.r.step(connects, "", err)
	if err != nil {
		return nil, err
	}
	return &conn{r: c.r, real: real}, nil
}

// A conn is a driver.Conn. Like all such, it is used by one goroutine at a time.
type conn struct {
	r       *recorder
	real    driver.Conn
	skipped string              // a statement that package database/sql will prepare itself
	with    []driver.NamedValue // its arguments
	last    string              // the statement that came last in a transaction
}

func (c *conn) Close() error { return c.real.Close() }

func (c *conn) Ping(ctx context.Context) error {
	pinger, ok := c.real.(driver.Pinger)
	if !ok {
		return nil
	}
	err := pinger.Ping(ctx)
	c.r.step(pings, "", err)
	return err
}

func (c *conn) ResetSession(ctx context.Context) error {
	if resetter, ok := c.real.(driver.SessionResetter); ok {
		return resetter.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	validator, ok := c.real.(driver.Validator)
	return !ok || validator.IsValid()
}

func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	real, err := c.begin(ctx, opts)
	c.r.step(begins, "", err)
	if err != nil {
		return nil, err
	}
	c.last = ""
	return &tx{c, real}, nil
}

func (c *conn) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if beginner, ok := c.real.(driver.ConnBeginTx); ok {
		return beginner.BeginTx(ctx, opts)
	}
	if opts.Isolation != driver.IsolationLevel(sql.LevelDefault) {
		return nil, errors.New("sql: driver does not support non-default isolation level")
	}
	if opts.ReadOnly {
		return nil, errors.New("sql: driver does not support read-only transactions")
	}
	tx, err := c.real.Begin()
	if err == nil && ctx.Err() != nil {
		tx.Rollback()
		return nil, ctx.Err()
	}
	return tx, err
}

// A tx is a driver.Tx.
type tx struct {
	c    *conn
	real driver.Tx
}

func (t *tx) Commit() error {
	err := t.real.Commit()
	t.c.r.step(commits, t.c.last, err)
	return err
}

func (t *tx) Rollback() error {
	err := t.real.Rollback()
	t.c.r.step(rollbacks, t.c.last, err)
	return err
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	real, err := driver.Rows(nil), driver.ErrSkip
	s := c.r.begin("", query, args)
	switch q := c.real.(type) {
	case driver.QueryerContext:
		real, err = q.QueryContext(ctx, query, converted(args))
	case driver.Queryer:
		var values []driver.Value
		if values, err = positional(ctx, args); err == nil {
			real, err = q.Query(query, values)
		}
	}
	c.sent(query, args, err)
	return s.rows(ctx, real, err)
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	real, err := driver.Result(nil), driver.ErrSkip
	s := c.r.begin("", query, args)
	switch e := c.real.(type) {
	case driver.ExecerContext:
		real, err = e.ExecContext(ctx, query, converted(args))
	case driver.Execer:
		var values []driver.Value
		if values, err = positional(ctx, args); err == nil {
			real, err = e.Exec(query, values)
		}
	}
	c.sent(query, args, err)
	return s.result(real, err)
}

// sent notes a statement that the driver was given.
func (c *conn) sent(query string, args []driver.NamedValue, err error) {
	if err == driver.ErrSkip {
		c.skipped, c.with = query, args
		return
	}
	c.last = query
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	real, err := c.prepare(ctx, query)
	switch {
	case query != c.skipped || query == "":
		c.r.step(prepares, query, err)
	case err != nil: // the program did not prepare it
		c.r.begin("", query, c.with).end(err)
	}
	c.skipped, c.with = "", nil
	if err != nil {
		return nil, err
	}
	return &stmt{c: c, real: real, query: query}, nil
}

func (c *conn) prepare(ctx context.Context, query string) (driver.Stmt, error) {
	if preparer, ok := c.real.(driver.ConnPrepareContext); ok {
		return preparer.PrepareContext(ctx, query)
	}
	s, err := c.real.Prepare(query)
	if err == nil && ctx.Err() != nil {
		s.Close()
		return nil, ctx.Err()
	}
	return s, err
}

// A stmt is a driver.Stmt.
type stmt struct {
	c     *conn
	real  driver.Stmt
	query string
}

func (s *stmt) Close() error  { return s.real.Close() }
func (s *stmt) NumInput() int { return s.real.NumInput() }

func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), sqlvalue.Named(args))
}

func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), sqlvalue.Named(args))
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	call := s.c.r.begin("", s.query, args)
	s.c.last = s.query
	if e, ok := s.real.(driver.StmtExecContext); ok {
		return call.result(e.ExecContext(ctx, converted(args)))
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	return call.result(s.real.Exec(values))
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	call := s.c.r.begin("", s.query, args)
	s.c.last = s.query
	if q, ok := s.real.(driver.StmtQueryContext); ok {
		real, err := q.QueryContext(ctx, converted(args))
		return call.rows(ctx, real, err)
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	real, err := s.real.Query(values)
	return call.rows(ctx, real, err)
}
