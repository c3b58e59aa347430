// Package calls has the functions whose calls are measured: each stands for a kind of function that
// programs have.
package calls

import "errors"

// T is a type with methods of the smallest kind.
type T struct{ x int }

// Get is a getter, which the compiler inlines.
func (t *T) Get() int { return t.x }

// Set is a setter, which the compiler inlines.
func (t *T) Set(x int) { t.x = x }

// Fib calls itself, and does little else.
func Fib(n int) int {
	if n < 2 {
		return n
	}
	return Fib(n-1) + Fib(n-2)
}

// Scalar has one scalar parameter and result.
//
//go:noinline
func Scalar(n int) int { return n + 1 }

// Strings has parameters and results of several words.
//
//go:noinline
func Strings(a, b string, p *T) (string, error) {
	if a == b {
		return a, errors.ErrUnsupported
	}
	return b, nil
}

// A Point is a struct of some fields.
type Point struct {
	X, Y float64
	Name string
	Tags []string
}

// Structs has a struct and an interface as parameters, and a struct as its result.
//
//go:noinline
func Structs(p Point, v any) Point {
	return p
}

// Nothing has neither parameters nor results.
//
//go:noinline
func Nothing() {}

// Deferring defers already, without the wrapper.
//
//go:noinline
func Deferring(t *T) {
	defer t.Set(1)
}
