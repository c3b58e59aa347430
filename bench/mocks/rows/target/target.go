// Package target has what the cases replace. Its functions return Real.
package target

import "sync/atomic"

// Real is what functions return that are not replaced.
const Real = "real"

// Constant is one of the package, which ReadConstant returns.
const Constant = Real

// ReadConstant returns it.
func ReadConstant() string { return Constant }

// Variable is one of the package, which Read returns.
var Variable = Real

// Read returns it.
func Read() string { return Variable }

// Small is a function that the compiler inlines.
func Small() string { return Variable }

// Large is a function that it does not.
func Large() string {
	defer func() { calls.Add(1) }()
	return Real
}

// Shared is what two tests replace at once.
func Shared() string {
	defer func() { calls.Add(1) }()
	return Real
}

// Kept is what nobody restores in time.
func Kept() string {
	defer func() { calls.Add(1) }()
	return Real
}

// Started is what is replaced while the program starts.
func Started() string {
	defer func() { calls.Add(1) }()
	return Real
}

var calls atomic.Int64

// Repeat is one with an argument.
func Repeat(n int) string {
	s := ""
	for range n {
		calls.Add(1)
		s += Real
	}
	return s
}

func hidden() string {
	defer func() { calls.Add(1) }()
	return Real
}

// Hidden calls what other packages can't name.
func Hidden() string { return hidden() }

// T has methods.
type T struct{ n int }

// New returns another one each time.
func New() *T {
	calls.Add(1)
	return &T{int(calls.Load())}
}

// Get is one of an interface, too.
func (t *T) Get() string {
	defer func() { calls.Add(int64(t.n)) }()
	return Real
}

func (t *T) get(n int) string {
	defer func() { calls.Add(int64(t.n)) }()
	return Repeat(n)
}

// Hidden calls what other packages can't name.
func (t *T) Hidden() string { return t.get(1) }

// U is another type with method Get.
type U struct{ n int }

// Get is one of an interface, too.
func (u U) Get() string {
	defer func() { calls.Add(int64(u.n)) }()
	return Real
}

// Getter is an interface that T and U implement.
type Getter interface{ Get() string }

// Getters are values of each type: two of T, one of U.
func Getters() [3]Getter { return [3]Getter{New(), New(), U{1}} }

// Literal returns a function literal.
func Literal() func() string {
	n := 0
	return func() string {
		n++
		return Real
	}
}

// Short does nothing.
func Short() {}

// Pick is generic.
func Pick[E any](e E) string {
	defer func() { calls.Add(1) }()
	if any(e) == nil {
		return "nil"
	}
	return Real
}

// Zero has E in no parameter or result.
func Zero[E any]() string {
	var e E
	defer func() { calls.Add(1) }()
	if any(e) == any(calls.Load()) {
		return "as many"
	}
	return Real
}

// Number has the underlying type of int, so the compiler gives both one instantiation.
type Number int

// Assembly is written in assembly; it returns 1.
func Assembly() int

// CallAssembly calls it in its own package.
func CallAssembly() int { return Assembly() }
