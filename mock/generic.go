package mock

import (
	"fmt"
	"reflect"
)

// A Generic is a replacement for a function of any type, given to [Unexported] or [SwapUnexported].
// It replaces all instances of a generic function:
//
//	mock.Unexported(t, "example.com/p.Map[...]", mock.Generic(func(args []any) []any { return nil }))
//
// args are the arguments, the receiver first; those of a variadic parameter are one slice. The
// replacement may keep the slice. results are the results in their order: nil stands for the zero
// value of any type, and a nil slice for zero values of all. If their number or a type is wrong,
// the call panics.
//
// A predicate for [When] is then a func(args []any) bool, and the replacements for [Sequence] are
// Generics. [Double.Original] panics.
type Generic func(args []any) (results []any)

// anyResults are results whose types are not known here. The core has the same type,
// ftraceAnyResults.
type anyResults struct {
	values   []any
	function string
}

const anyNumber = -2 // what dispatch returns with them, and ftraceAny in the core

// complete checks the number of a Generic's results. It makes zero values if the slice is nil.
func (d *double) complete(results []any) []any {
	n := d.target.numResults()
	if results == nil {
		return make([]any, n)
	}
	if len(results) != n {
		panic(fmt.Sprintf("mock: the replacement of %s returned %d results, the function has %d", d.target.name, len(results), n))
	}
	return results
}

// packAny makes what dispatch returns from a Generic's results. If their types are not known here,
// the core checks them.
func (d *double) packAny(values []any, want any) (results any, n int) {
	n = len(values)
	t := reflect.TypeOf(want)
	if t == nil && n > 0 {
		return &anyResults{values, d.target.name}, anyNumber
	}
	types := make([]reflect.Type, n)
	converted := make([]reflect.Value, n)
	for i, v := range values {
		types[i] = t
		if n > 1 {
			types[i] = t.Field(i).Type
		}
		if v == nil {
			converted[i] = reflect.Zero(types[i])
			continue
		}
		converted[i] = reflect.ValueOf(v)
		if c := converted[i].Type(); c != types[i] && (types[i].Kind() != reflect.Interface || !c.Implements(types[i])) {
			panic(fmt.Sprintf("mock: the replacement of %s returned a %T, the function's result is a %v", d.target.name, v, types[i]))
		}
	}
	return pack(resultType(types), converted), n
}

// numResults returns the number of the function's results, by the text of its type.
func (t *target) numResults() int {
	n, depth := 0, 0
	for i, c := range t.typ {
		switch c {
		case '(':
			if depth == 0 && i > len("func") {
				n = 1
			}
			depth++
		case ')':
			depth--
		case ',':
			if depth == 1 && n > 0 {
				n++
			}
		}
	}
	return n
}
