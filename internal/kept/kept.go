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

// A Call is one call, with values of type V.
type Call[V any] struct {
	Function      int // which of those that are recorded
	Args, Results []V
	Lack          string // why it can't become a double; "": it can
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
