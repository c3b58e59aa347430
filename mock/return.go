package mock

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
)

// Return is [Replace] with a replacement that returns results. Options may follow them:
//
//	mock.Return(t, os.ReadFile, []byte("x"), nil, mock.Then(nil, fs.ErrNotExist), mock.MustCall(2))
//
// nil is the zero value of a type that has nil. A number, string or bool such as a constant gives
// becomes what the result is, if that loses nothing but the rounding of a float32. If the number of
// results or a type is wrong, Return fails the test at once.
func Return[F any](t testing.TB, target F, results ...any) *Double[F] {
	t.Helper()
	results, opts := withoutOptions(results)
	d, err := replace(target, opts, false)
	d.inForce(t, err, func() (with F, err error) {
		f, err := d.returning("Return", results)
		if err == nil {
			with = f.Interface().(F)
		}
		return with, err
	})
	return d
}

// withoutOptions takes the options off what was given to [Return].
func withoutOptions(all []any) (results []any, opts []Option) {
	for _, v := range all {
		if o, ok := v.(Option); ok {
			opts = append(opts, o)
		} else {
			results = append(results, v)
		}
	}
	return results, opts
}

// Then has a further call of the replacement return these results, as for [Return]: the second if
// it is the first Then among the options, and so on. The last one has all further calls.
func Then(results ...any) Option {
	return func(d *double) error {
		if d.typ == nil {
			return notForErrors("Then")
		}
		d.then = append(d.then, results)
		return nil
	}
}

// returning makes a function of the double's type that returns results.
func (d *double) returning(option string, results []any) (reflect.Value, error) {
	if d.generic {
		return reflect.ValueOf(Generic(func([]any) []any { return slices.Clone(results) })), nil
	}
	if n := d.typ.NumOut(); n != len(results) {
		return reflect.Value{}, fmt.Errorf("mock: %s: %s has %d results, and %d are given: it is a %v", option, d.target.name, n, len(results), d.typ)
	}
	values := make([]reflect.Value, len(results))
	for i, r := range results {
		ok := false
		if values[i], ok = fitting(d.typ.Out(i), r); !ok {
			return reflect.Value{}, fmt.Errorf("mock: %s: result %d of %s has type %v, which %#v of type %[5]T does not fit", option, i+1, d.target.name, d.typ.Out(i), r)
		}
	}
	return reflect.MakeFunc(d.typ, func([]reflect.Value) []reflect.Value { return values }), nil
}

// constants are the types that constants without a type have in an interface.
var constants = []reflect.Type{
	reflect.TypeFor[int](), reflect.TypeFor[rune](), reflect.TypeFor[float64](), reflect.TypeFor[complex128](), reflect.TypeFor[string](), reflect.TypeFor[bool](),
}

// fitting makes a value of type t of v.
func fitting(t reflect.Type, v any) (reflect.Value, bool) {
	if v == nil {
		switch t.Kind() {
		case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
			return reflect.Zero(t), true
		}
		return reflect.Value{}, false
	}
	r := reflect.ValueOf(v)
	switch from := r.Type(); {
	case from.AssignableTo(t):
		return r.Convert(t), true
	case !slices.Contains(constants, from), (from.Kind() == reflect.String) != (t.Kind() == reflect.String), !from.ConvertibleTo(t) || !t.ConvertibleTo(from):
		return reflect.Value{}, false
	}
	c := r.Convert(t)
	switch t.Kind() {
	case reflect.Float32:
		if r.CanFloat() {
			return c, !c.OverflowFloat(r.Float())
		}
	case reflect.Complex64:
		if r.CanComplex() {
			return c, !c.OverflowComplex(r.Complex())
		}
	}
	back := c.Convert(r.Type())
	negative := r.CanInt() && r.Int() < 0 && c.CanUint()
	return c, back.Equal(r) && !negative
}

// Sequence returns a replacement that has its first call from first, the second from then[0], and
// so on; the last one has all further calls:
//
//	mock.Replace(t, os.ReadFile, mock.Sequence(readsOnce, fails))
//
// [Then] does the same for results. Sequence panics if a function is nil.
func Sequence[F any](first F, then ...F) F {
	fs := []reflect.Value{}
	for i, f := range append([]F{first}, then...) {
		v := reflect.ValueOf(f)
		if v.Kind() != reflect.Func || v.IsNil() {
			panic(fmt.Sprintf("mock: Sequence: argument %d is no function, or nil", i+1))
		}
		fs = append(fs, v)
	}
	return sequence(reflect.TypeFor[F](), fs).Interface().(F)
}

// sequence returns a function of type t that calls the functions in turn.
func sequence(t reflect.Type, fs []reflect.Value) reflect.Value {
	var calls atomic.Int64
	return reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
		return call(fs[min(int(calls.Add(1)), len(fs))-1], args)
	})
}
