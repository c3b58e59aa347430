package mock

import (
	"fmt"
	"reflect"
)

// An Option says when a replacement is called. Calls for which it is not go to the replacement
// before it, or to the function itself.
type Option func(*double) error

// notForErrors is the error of an option that concerns one function's calls, given to [Errors].
func notForErrors(option string) error {
	return fmt.Errorf("mock: Errors: the option %s is for a replacement of one function; Errors takes Times, AllGoroutines, MustCall and MustCallTimes", option)
}

// AllGoroutines lets the replacement be called on every goroutine, also on those that were started
// by someone else: the workers of a pool, or what [time.AfterFunc] calls.
func AllGoroutines() Option {
	return func(d *double) error { d.everywhere = true; return nil }
}

// ThisGoroutine confines a [Swap] to the goroutine that calls it and those that this one starts
// from then on.
func ThisGoroutine() Option {
	return func(d *double) error { d.everywhere = false; return nil }
}

// ForReceiver lets the replacement of a method be called for this receiver only: for the same
// pointer, or an equal value. If the target is an interface's method, such as io.Reader.Read, that
// of the receiver's type is replaced.
func ForReceiver(x any) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("ForReceiver")
		}
		if t := reflect.TypeOf(x); t == nil || !t.Comparable() {
			return fmt.Errorf("mock: ForReceiver: values of type %v can't be compared", t)
		}
		d.receiver, d.implementation = x, x
		return nil
	}
}

// Implementation says whose method is meant if the target is an interface's, such as
// io.Reader.Read: that of x's type.
func Implementation(x any) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("Implementation")
		}
		d.implementation = x
		return nil
	}
}

// Times lets the replacement be called at most n times, and not from then on. For [Errors] each
// function counts for itself.
func Times(n int) Option {
	return func(d *double) error { d.most, d.limited = n, true; return nil }
}

// Sequence lets the first call go to the replacement given to [Replace], the next to the first of
// these, and so on. The last one takes all further calls, unless [Times] says otherwise.
func Sequence[F any](with ...F) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("Sequence")
		}
		if t := reflect.TypeFor[F](); t != d.typ {
			return fmt.Errorf("mock: Sequence: a %v is no %v", t, d.typ)
		}
		for i := range with {
			v := reflect.ValueOf(&with[i]).Elem()
			if v.IsNil() {
				return fmt.Errorf("mock: Sequence: replacement %d is nil", i)
			}
			d.with = append(d.with, v)
		}
		return nil
	}
}

// When lets the replacement be called only if predicate holds: a function with the parameters of
// the target that returns a bool.
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

// Unrecorded lets [Double.Calls] know nothing, which makes calls faster.
func Unrecorded() Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("Unrecorded")
		}
		d.unrecorded = true
		return nil
	}
}

// MustCall fails the test if the replacement is called fewer than n times; with [Errors], if fewer
// than n calls fail.
func MustCall(n int) Option {
	return func(d *double) error { d.least = n; return nil }
}

// MustCallTimes fails the test if the replacement is not called exactly n times; with [Errors],
// unless n calls fail.
func MustCallTimes(n int) Option {
	return func(d *double) error { d.least, d.exact = n, true; return nil }
}
