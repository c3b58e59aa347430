package main

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"time"
)

func init() { sql.Register("memory", memory{}) }

// memory is a database, each of its connections, and each of its statements.
type memory struct{}

var books = map[string]string{"7": "Siddhartha"}

func (memory) Open(string) (driver.Conn, error)           { return memory{}, nil }
func (memory) Prepare(query string) (driver.Stmt, error)  { return memory{}, nil }
func (memory) Begin() (driver.Tx, error)                  { return nil, errors.ErrUnsupported }
func (memory) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (memory) NumInput() int                              { return 1 }
func (memory) Close() error                               { return nil }

// Query returns the title of a book, after a while.
func (memory) Query(args []driver.Value) (driver.Rows, error) {
	time.Sleep(2 * time.Millisecond)
	title, ok := books[args[0].(string)]
	if !ok {
		return nil, errors.New("there is no such book")
	}
	return &rows{title}, nil
}

// rows are at most one row.
type rows struct{ title string }

func (*rows) Columns() []string { return []string{"title"} }
func (*rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if r.title == "" {
		return io.EOF
	}
	dest[0], r.title = r.title, ""
	return nil
}
