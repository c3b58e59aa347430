package schema

import (
	"database/sql/driver"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// A value is one in a row: nil, int64, float64 or string.
type value = driver.Value

// A table is one of a schema. Its rows are a function of a snapshot.
type table struct {
	name    string
	columns []columnHead
	rows    func(*view) rowset                                   // nil: it is a view, of which others have the query
	update  func(p *pending, row any, column int, v value) error // of an updatable column
	rules   *source.RuleKind                                     // INSERT and DELETE are allowed: the rows are rules
	parts   []source.Part                                        // what TRUNCATE empties; nil: it is refused
	reads   live.Contents                                        // what its rows are made of, beside what each snapshot has
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
	statement statement
}

// A statement is the one that reads tables, and what they show of its session.
type statement interface {
	Fail(error)
	Status() []variable    // as SHOW STATUS has them, beside those of snapshots
	Variables() []variable // as SHOW VARIABLES has them, likewise
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
	return text(name, yesNoKind, func(_ *view, r *T) string {
		if f(r) {
			return "YES"
		}
		return "NO"
	})
}

// constant returns a column that is the same in all rows.
func constant[T any](name, value string) column[T] {
	return text(name, wordKind, func(*view, *T) string { return value })
}

// null returns a column that is always NULL.
func null[T any](name, kind string) column[T] {
	return optional(name, kind, func(*view, *T) (string, bool) { return "", false })
}

// fixed returns a table of one row, given the names and values of its columns.
func fixed(name string, columns ...any) *table {
	var list []column[struct{}]
	for c := range slices.Chunk(columns, 2) {
		kind := wordKind
		if _, whole := c[1].(int64); whole {
			kind = "bigint"
		}
		list = append(list, column[struct{}]{columnHead{name: c[0].(string), kind: kind, null: c[1] == nil}, func(*view, *struct{}) value { return c[1] }})
	}
	return newTable(name, func(*view) []struct{} { return make([]struct{}, 1) }, list...)
}

// empty returns a table that never has rows, given the names of its columns.
func empty(name, columns string) *table {
	var list []column[struct{}]
	for c := range strings.FieldsSeq(columns) {
		list = append(list, null[struct{}](c, nameKind))
	}
	return newTable(name, func(*view) []struct{} { return nil }, list...)
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
var performanceTables = byName(setupTables, eventTables, summaryTables, waitTables, lockTables, fileTables, statementTables, stageTables, probeTables, statusTables)

// byName returns tables by their names.
func byName(lists ...[]*table) map[string]*table {
	tables := map[string]*table{}
	for _, t := range slices.Concat(lists...) {
		tables[t.name] = t
	}
	return tables
}
