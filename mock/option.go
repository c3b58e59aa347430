package mock

import (
	"errors"
	"fmt"
	"reflect"
)

// An Option says which calls go to a replacement, or what a test expects of it. Calls that a
// replacement does not get go to the one before it, and in the end to the function itself.
type Option func(*double) error

// notForErrors returns the error for an option that concerns one function's calls and was given to
// [Errors].
func notForErrors(option string) error {
	return fmt.Errorf("mock: Errors: the option %s is for a replacement of one function; Errors takes Times, AllGoroutines, MustCall and MustCallTimes", option)
}

// AllGoroutines gives the replacement the calls on every goroutine, also on those that the test did
// not start: workers of a pool, or what [time.AfterFunc] calls. Tests that replace the same
// function in this way must not run in parallel.
func AllGoroutines() Option {
	return func(d *double) error { d.everywhere = true; return nil }
}

// ThisGoroutine confines a [Swap] to the goroutine that calls it and those that it starts.
func ThisGoroutine() Option {
	return func(d *double) error { d.everywhere = false; return nil }
}

// NotThisGoroutine leaves out the calls on the goroutine that makes the replacement. Those that it
// starts are not left out.
func NotThisGoroutine() Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("NotThisGoroutine")
		}
		d.except = coreGoroutine()
		return nil
	}
}

// ForReceiver gives the replacement of a method only the calls of one receiver: of this pointer, or
// of values equal to x. Maps and funcs are equal if they are the same, slices if they have the same
// place and length. x is what the method is declared for: a pointer or a value. If the target is a
// method of an interface, such as io.Reader.Read, the method of x's type is replaced.
func ForReceiver(x any) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("ForReceiver")
		}
		if x == nil {
			return errors.New("mock: ForReceiver(nil): there is no receiver")
		}
		d.receiver, d.implementation = x, x
		return nil
	}
}

// Implementation chooses the method of x's type, if the target is a method of an interface, such as
// io.Reader.Read.
func Implementation(x any) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("Implementation")
		}
		d.implementation = x
		return nil
	}
}

// Times gives the replacement only the first n calls. For [Errors] each function is counted for
// itself.
func Times(n int) Option {
	return func(d *double) error { d.most, d.limited = n, true; return notNegative("Times", n) }
}

func notNegative(option string, n int) error {
	if n < 0 {
		return fmt.Errorf("mock: %s(%d): there are no %[2]d calls", option, n)
	}
	return nil
}

// When gives the replacement only the calls for whose arguments predicate returns true. predicate
// is a function with the parameters of the target and one result, a bool.
func When(predicate any) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("When")
		}
		p := reflect.ValueOf(predicate)
		if p.Kind() != reflect.Func || p.IsNil() || !judges(p.Type(), d.typ) {
			return fmt.Errorf("mock: When: a %v is not the %v with the result bool", reflect.TypeOf(predicate), d.typ)
		}
		d.when = p
		return nil
	}
}

// judges reports whether p has the parameters of f and a bool as its result.
func judges(p, f reflect.Type) bool {
	if p.NumOut() != 1 || p.Out(0).Kind() != reflect.Bool || p.NumIn() != f.NumIn() || p.IsVariadic() != f.IsVariadic() {
		return false
	}
	for i := range p.NumIn() {
		if p.In(i) != f.In(i) {
			return false
		}
	}
	return true
}

// Unrecorded leaves [Double.Calls] empty, which makes calls of the replacement faster.
func Unrecorded() Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("Unrecorded")
		}
		d.unrecorded = true
		return nil
	}
}

// MustCall fails the test at its end if the replacement got fewer than n calls. With [Errors], it
// fails the test if fewer than n calls failed.
func MustCall(n int) Option {
	return func(d *double) error { d.least = n; return notNegative("MustCall", n) }
}

// MustCallTimes fails the test at its end unless the replacement got exactly n calls. With
// [Errors], it fails the test unless exactly n calls failed.
func MustCallTimes(n int) Option {
	return func(d *double) error { d.least, d.exact = n, true; return notNegative("MustCallTimes", n) }
}
