package schema

import (
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// A value is one in a row: nil, int64, float64 or string.
type value = driver.Value

// A table is one of a schema. Its rows are a function of a snapshot, or those of a query.
type table struct {
	name    string
	columns []columnHead
	rows    func(*view) rowset
	update  func(p *pending, row any, column int, v value) error // of an updatable column
	rules   *source.RuleKind                                     // INSERT and DELETE are allowed: the rows are rules
	parts   []source.Part                                        // what TRUNCATE empties; nil: it is refused
	reads   live.Contents                                        // what its rows are made of, beside what each snapshot has

	// Of a view, which has no rows of its own:
	query      *query
	definition string // as a user would write it
}

type columnHead struct {
	name      string
	kind      string // MySQL's name for it
	updatable bool
	null      bool
	hidden    bool // SELECT * does not include it
}

// A view is a source's snapshot, for one statement.
type view struct {
	source source.Source
	has    live.Contents
	*source.Snapshot
	session *Session
}

// A rowset is a table's rows from one source.
type rowset interface {
	len() int
	at(row, column int) value
	row(row int) any
}

// A column of rows that are Ts.
type column[T any] struct {
	columnHead
	value func(*view, *T) value
}

type rowsOf[T any] struct {
	v       *view
	rows    []T
	columns []column[T]
}

func (r *rowsOf[T]) len() int                 { return len(r.rows) }
func (r *rowsOf[T]) at(row, column int) value { return r.columns[column].value(r.v, &r.rows[row]) }
func (r *rowsOf[T]) row(row int) any          { return &r.rows[row] }

// newTable returns a table whose rows are what rows returns.
func newTable[T any](name string, rows func(*view) []T, columns ...column[T]) *table {
	t := &table{name: name, rows: func(v *view) rowset { return &rowsOf[T]{v, rows(v), columns} }}
	for _, c := range columns {
		t.columns = append(t.columns, c.columnHead)
	}
	return t
}

// reading says which parts of a snapshot a table's rows are made of.
func reading(of live.Contents, t *table) *table {
	t.reads = of
	return t
}

// The kinds of columns.

func number[T any](name string, f func(*T) int64) column[T] {
	return column[T]{columnHead{name: name, kind: "bigint"}, func(_ *view, r *T) value { return f(r) }}
}

// unsigned is a column of numbers that are NULL if they are 0.
func unsigned[T any](name string, f func(*T) uint64) column[T] {
	return column[T]{columnHead{name: name, kind: "bigint unsigned", null: true}, func(_ *view, r *T) value {
		n := f(r)
		if n == 0 {
			return nil
		}
		return int64(min(n, 1<<63-1))
	}}
}

func id[T any](name string, f func(*T) uint64) column[T] {
	return column[T]{columnHead{name: name, kind: "bigint unsigned"}, func(_ *view, r *T) value { return int64(f(r)) }}
}

func text[T any](name, kind string, f func(*view, *T) string) column[T] {
	return column[T]{columnHead{name: name, kind: kind}, func(v *view, r *T) value { return f(v, r) }}
}

// optional is a column of text that may be NULL.
func optional[T any](name, kind string, f func(*view, *T) (string, bool)) column[T] {
	return column[T]{columnHead{name: name, kind: kind, null: true}, func(v *view, r *T) value {
		if s, ok := f(v, r); ok {
			return s
		}
		return nil
	}}
}

// known is a column of text that is NULL if it is "".
func known[T any](name, kind string, f func(*view, *T) string) column[T] {
	return optional(name, kind, func(v *view, r *T) (string, bool) {
		s := f(v, r)
		return s, s != ""
	})
}

const yesNoKind = "enum('YES','NO')"

func yesNo[T any](name string, f func(*T) bool) column[T] {
	return column[T]{columnHead{name: name, kind: yesNoKind}, func(_ *view, r *T) value { return yes(f(r)) }}
}

// updatable marks a column.
func updatable[T any](c column[T]) column[T] {
	c.updatable = true
	return c
}

// hidden marks a column that SELECT * does not include.
func hidden[T any](c column[T]) column[T] {
	c.hidden = true
	return c
}

// alias returns a hidden column under another name, which WL#2360 has for it somewhere.
func alias[T any](name string, c column[T]) column[T] {
	c.name = name
	return hidden(c)
}

func yes(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

// parseYesNo reads a new value for a column of YES and NO.
func parseYesNo(column string, v value) (bool, error) {
	s, err := parseEnum(column, v, []string{"YES", "NO"})
	return s == "YES", err
}

// parseEnum reads a new value for a column of an enum: one of its values, or its number from 1 on.
func parseEnum(column string, v value, values []string) (string, error) {
	if v == nil {
		return "", mysqlerr.New(mysqlerr.Null, "Column '%s' cannot be null", column)
	}
	for i, known := range values {
		if s, ok := v.(string); v == int64(i+1) || ok && (strings.EqualFold(s, known) || s == strconv.Itoa(i+1)) {
			return known, nil
		}
	}
	return "", mysqlerr.New(mysqlerr.Truncated, "Data truncated for column '%s' at row 1", column)
}

// column returns the index of a column, or -1.
func (t *table) column(name string) int {
	for i, c := range t.columns {
		if strings.EqualFold(c.name, name) {
			return i
		}
	}
	return -1
}

func (t *table) columnNames() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// Types of names.
const (
	nameKind = "varchar(512)"
	wordKind = "varchar(64)"
	textKind = "longtext"
)

// performanceTables are the tables of performance_schema, and of the schema of each recording.
var performanceTables = func() map[string]*table {
	byName := map[string]*table{}
	for _, list := range [][]*table{setupTables, eventTables, summaryTables, waitTables, lockTables, fileTables, statementTables, stageTables, probeTables, statusTables} {
		for _, t := range list {
			byName[t.name] = t
		}
	}
	return byName
}()
