// Package kept declares what a test program writes of calls that become doubles.
//
// Package mock/doubles writes calls to a file, as package gob does. Package internal/doubles reads
// them, values as recording.Datum, which has the same fields. Package mock looks whether calls are
// being recorded.
package kept

import (
	"reflect"
	"sync/atomic"
)

// Recording is true in a program that records calls for doubles.
var Recording atomic.Bool

// What package mock has for mock/sqldouble, and sets.
var (
	Lenient func(option any) bool // reports whether it is mock.Lenient()
	Quiet   func() (end func())   // what is called until end is called is neither replaced nor shown
)

// A Call is one call, with values of type V.
type Call[V any] struct {
	Function      int // which of those that are recorded
	Args, Results []V
	Lack          string        // why it can't become a double; "": it can
	Statement     *Statement[V] // what was said to a database; then it is no call
}

// A Statement is what package database/sql said to a driver, and what that answered.
type Statement[V any] struct {
	Number       int    // in the order in which they began; of several with the same number the last counts
	Test         string // in which it was said, or ""
	Op           string // "": a statement; else what mock/sqldouble calls it
	Query        string // without its secrets
	Args         []Arg[V]
	Exec         bool // it returned a result, no rows
	LastInsertID int64
	RowsAffected int64
	NoInsertID   *Error[V] // in place of LastInsertID, if the program asked for that
	NoAffected   *Error[V]
	Sets         []Set[V]
	Err          *Error[V]
	Lack         string // why it can't be replayed; "": it can
}

// An Arg is an argument of a statement.
type Arg[V any] struct {
	Name   string
	Value  V
	Secret bool
}

// A Set is a result set.
type Set[V any] struct {
	Columns []string
	Types   []ColumnType // only if the program asked for them
	Rows    [][]V
	Secret  bool      // a value is hidden
	More    bool      // there were more rows, which the program did not read
	Err     *Error[V] // after the rows, or in place of the set
}

// A ColumnType is what a driver tells of a column beside its name.
type ColumnType struct {
	Type                               string
	Scan                               string // the type to scan into, as package reflect writes it
	Length, Precision, Scale           int64
	Nullable                           bool
	HasLength, HasDecimal, HasNullable bool
}

// An Error is an error, and what it says.
type Error[V any] struct {
	Value V
	Type  string
	Text  string
}

// A Value is a value. The fields are those of recording.Datum.
type Value struct {
	Type     *Type
	Lack     string
	Nil      bool
	Number   uint64
	Float    complex128
	Text     string
	Parts    []*Value
	Message  string
	Variable string

	HasMessage bool
}

// A Type is a value's type.
type Type struct {
	Kind   reflect.Kind
	Secret bool
	Name   string
	Fields []Field
}

// Stream is the name of the type of a stream, whose Text is all that can be read from it.
const Stream = "stream"

// A Field is a field of a struct.
type Field struct{ Name string }
