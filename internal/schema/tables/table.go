package tables

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

// A Table is one of a schema. Its rows are a function of a snapshot.
type Table struct {
	Name    string
	Columns []Head
	Rows    func(*View) Rowset                                   // nil: it is a view, of which others have the query
	Update  func(p *Pending, row any, column int, v value) error // of an updatable column
	Rules   *source.RuleKind                                     // INSERT and DELETE are allowed: the rows are rules
	Parts   []source.Part                                        // what TRUNCATE empties; nil: it is refused
	Reads   live.Contents                                        // what its rows are made of, beside what each snapshot has
}

// A Head says what a column is.
type Head struct {
	Name      string
	Kind      string // MySQL's name for it
	Updatable bool
	Null      bool
	Hidden    bool // SELECT * does not include it
	Key       bool // it is of the table's primary key
}

// A View is a source's snapshot, for one statement.
type View struct {
	Source source.Source
	Has    live.Contents // what the snapshot has
	*source.Snapshot
	Statement Statement
}

// A Statement is the one that reads tables. It fails if a table says so, with the first of such
// errors. Its session has names and values of its own for SHOW STATUS and SHOW VARIABLES; the
// caller does not change them.
type Statement interface {
	Fail(error)
	Status() map[string]string
	Variables() map[string]string
}

// A Rowset is a table's rows from one source.
type Rowset interface {
	Len() int
	At(row, column int) value
	Row(row int) any // for Update and Delete
}

// A Column of rows that are Ts.
type Column[T any] struct {
	Head
	value func(*View, *T) value
}

type rowsOf[T any] struct {
	v       *View
	rows    []T
	columns []Column[T]
}

func (r *rowsOf[T]) Len() int                 { return len(r.rows) }
func (r *rowsOf[T]) At(row, column int) value { return r.columns[column].value(r.v, &r.rows[row]) }
func (r *rowsOf[T]) Row(row int) any          { return &r.rows[row] }

// New returns a table whose rows are what rows returns.
func New[T any](name string, rows func(*View) []T, columns ...Column[T]) *Table {
	t := &Table{Name: name, Rows: func(v *View) Rowset { return &rowsOf[T]{v, rows(v), columns} }}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Head)
	}
	return t
}

// reading says which parts of a snapshot a table's rows are made of.
func reading(of live.Contents, t *Table) *Table {
	t.Reads = of
	return t
}

// Number is a column of integers.
func Number[T any](name string, f func(*T) int64) Column[T] {
	return Column[T]{Head{Name: name, Kind: "bigint"}, func(_ *View, r *T) value { return f(r) }}
}

// Unsigned is a column of numbers that are NULL if they are 0.
func Unsigned[T any](name string, f func(*T) uint64) Column[T] {
	return Column[T]{Head{Name: name, Kind: "bigint unsigned", Null: true}, func(_ *View, r *T) value {
		n := f(r)
		if n == 0 {
			return nil
		}
		return int64(min(n, 1<<63-1))
	}}
}

// id is a column of numbers that are never NULL.
func id[T any](name string, f func(*T) uint64) Column[T] {
	return Column[T]{Head{Name: name, Kind: "bigint unsigned"}, func(_ *View, r *T) value { return int64(f(r)) }}
}

// Text is a column of text of a type, such as WordKind.
func Text[T any](name, kind string, f func(*View, *T) string) Column[T] {
	return Column[T]{Head{Name: name, Kind: kind}, func(v *View, r *T) value { return f(v, r) }}
}

// Optional is a column of text that may be NULL.
func Optional[T any](name, kind string, f func(*View, *T) (string, bool)) Column[T] {
	return Column[T]{Head{Name: name, Kind: kind, Null: true}, func(v *View, r *T) value {
		if s, ok := f(v, r); ok {
			return s
		}
		return nil
	}}
}

// Known is a column of text that is NULL if it is "".
func Known[T any](name, kind string, f func(*View, *T) string) Column[T] {
	return Optional(name, kind, func(v *View, r *T) (string, bool) {
		s := f(v, r)
		return s, s != ""
	})
}

const yesNoKind = "enum('YES','NO')"

func yesNo[T any](name string, f func(*T) bool) Column[T] {
	return Column[T]{Head{Name: name, Kind: yesNoKind}, func(_ *View, r *T) value {
		if f(r) {
			return "YES"
		}
		return "NO"
	}}
}

// Constant is a column that is the same in all rows.
func Constant[T any](name, value string) Column[T] {
	return Text(name, WordKind, func(*View, *T) string { return value })
}

// Null is a column that is always NULL.
func Null[T any](name, kind string) Column[T] {
	return Optional(name, kind, func(*View, *T) (string, bool) { return "", false })
}

// Fixed returns a table of one row, given the name of each column and then its value.
func Fixed(name string, columns ...any) *Table {
	var list []Column[struct{}]
	for c := range slices.Chunk(columns, 2) {
		kind := WordKind
		if _, whole := c[1].(int64); whole {
			kind = "bigint"
		}
		list = append(list, Column[struct{}]{Head{Name: c[0].(string), Kind: kind, Null: c[1] == nil}, func(*View, *struct{}) value { return c[1] }})
	}
	return New(name, func(*View) []struct{} { return make([]struct{}, 1) }, list...)
}

// Empty returns a table that never has rows, given the names of its columns with spaces between.
func Empty(name, columns string) *Table {
	var list []Column[struct{}]
	for c := range strings.FieldsSeq(columns) {
		list = append(list, Null[struct{}](c, NameKind))
	}
	return New(name, func(*View) []struct{} { return nil }, list...)
}

// updatable marks a column.
func updatable[T any](c Column[T]) Column[T] {
	c.Updatable = true
	return c
}

// hidden marks a column that SELECT * does not include.
func hidden[T any](c Column[T]) Column[T] {
	c.Hidden = true
	return c
}

// key marks a column that tells the table's rows apart.
func key[T any](c Column[T]) Column[T] {
	c.Key = true
	return c
}

// alias returns a hidden column under another name, which WL#2360 or MySQL has for it somewhere.
func alias[T any](name string, c Column[T]) Column[T] {
	c.Name = name
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

// ColumnIndex returns the index of a column; -1: there is none of that name.
func (t *Table) ColumnIndex(name string) int {
	for i, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

// ColumnNames returns the names of the columns that are not hidden.
func (t *Table) ColumnNames() []string {
	var names []string
	for _, c := range t.Columns {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// Types of columns of text.
const (
	NameKind = "varchar(512)"
	WordKind = "varchar(64)"
	TextKind = "longtext"
)

// Performance are the tables of performance_schema, and of the schema of each recording.
var Performance = ByName(setupTables, eventTables, summaryTables, waitTables, lockTables, fileTables, statementTables, stageTables, probeTables, statusTables)

// ByName returns tables by their names.
func ByName(lists ...[]*Table) map[string]*Table {
	tables := map[string]*Table{}
	for _, t := range slices.Concat(lists...) {
		tables[t.Name] = t
	}
	return tables
}
