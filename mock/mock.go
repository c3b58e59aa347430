package mock

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"
)

// The links into the core: nil in a program built without the wrapper. When the wrapper compiles
// this package it adds a file that sets them (see internal/inject).
var (
	coreStart    func(dispatcher func(data any, params []any, want any) (results any, n int), run uintptr)
	coreFind     func(name string) (fn unsafe.Pointer, pkg, typ string, hooked bool)
	coreAdd      func(fn unsafe.Pointer, data any, everywhere bool, plan unsafe.Pointer) unsafe.Pointer
	coreRemove   func(mock unsafe.Pointer)
	coreQuiet    func(quiet bool) (before bool)
	coreBypass   func(mock unsafe.Pointer) (previous unsafe.Pointer)
	coreCode     func(symbol string) uintptr
	coreReceiver func(closure unsafe.Pointer) (receiver any, ok bool)
	coreFail     func(pattern string, err error, first, last uint64, everywhere bool) (faults []unsafe.Pointer, named int, message string)
	coreFailed   func(fault unsafe.Pointer) (name string, n uint64)
)

// ErrNotHooked is the error of a function that can't be replaced because it has no hook. It wraps
// no other; its text says what to do.
var ErrNotHooked = errors.New("mock: not hooked")

// errPlain is that of a program built by plain go build.
var errPlain = fmt.Errorf("%w: this program was not built with ftrace-wrap; run with ftrace-wrap test", ErrNotHooked)

func init() {
	if coreStart != nil {
		coreStart(dispatch, reflect.ValueOf((*testing.T).Run).Pointer())
	}
}

// Hooked reports whether the program was built with ftrace-wrap.
func Hooked() bool { return coreFind != nil }

// SkipUnlessHooked skips the test if the program was not built with ftrace-wrap.
func SkipUnlessHooked(t testing.TB) {
	t.Helper()
	if !Hooked() {
		t.Skip("replaces functions; run with ftrace-wrap test")
	}
}

// Replace puts with in the place of the function target until the test ends, for calls made on the
// test's goroutine and on those that it starts. It fails the test if target has no hook.
//
// target is a function, a method expression such as (*T).M, whose receiver is its first parameter,
// or a method value such as x.M, which replaces the method for that receiver only. Of a generic
// function or method an instantiation is named, and that is replaced.
//
// Called on another goroutine than the test's, Replace is for that goroutine and those it starts.
func Replace[F any](t testing.TB, target, with F, opts ...Option) *Double[F] {
	t.Helper()
	d, err := replace(target, with, opts, false)
	if err != nil {
		t.Fatal(err)
	}
	d.cleanup(t)
	d.start()
	return d
}

// Unexported is [Replace] for a function that can't be written down there: name is what stack
// traces call it, with the whole import path: "example.com/p.flush", "example.com/p.(*T).flush",
// "example.com/p.F.func1", "example.com/p.Map[...]". A method's receiver is the first parameter of
// with. A generic function, named with [...], is replaced for those calls whose parameters and
// results have the types of with, or for all if with is a [Generic].
//
// It fails the test if with can't be of the function's type.
func Unexported[F any](t testing.TB, name string, with F, opts ...Option) *Double[F] {
	t.Helper()
	d, err := unexported(name, with, opts, false)
	if err != nil {
		t.Fatal(err)
	}
	d.cleanup(t)
	d.start()
	return d
}

// Swap is [Replace] without a test: for all goroutines, unless [ThisGoroutine] says otherwise,
// until restore is called. The error is an [ErrNotHooked] if target has no hook.
func Swap[F any](target, with F, opts ...Option) (restore func(), err error) {
	d, err := replace(target, with, opts, true)
	if err != nil {
		return func() {}, err
	}
	d.unrecorded, d.uncounted = true, true
	d.start()
	return d.Restore, nil
}

// SwapUnexported is [Unexported] without a test, as [Swap] is Replace.
func SwapUnexported[F any](name string, with F, opts ...Option) (restore func(), err error) {
	d, err := unexported(name, with, opts, true)
	if err != nil {
		return func() {}, err
	}
	d.unrecorded, d.uncounted = true, true
	d.start()
	return d.Restore, nil
}

func replace[F any](target, with F, opts []Option, everywhere bool) (*Double[F], error) {
	d, err := prepare(with, opts, everywhere)
	if err != nil {
		return nil, err
	}
	defer coreQuiet(coreQuiet(true))
	if d.target, err = resolve(reflect.ValueOf(&target).Elem(), d.implementation); err != nil {
		return nil, err
	}
	if d.receiver != nil && d.target.bound {
		return nil, fmt.Errorf("mock: %s is a method value, which already has a receiver; ForReceiver is for a method expression", d.target.name)
	}
	return d, nil
}

func unexported[F any](name string, with F, opts []Option, everywhere bool) (*Double[F], error) {
	d, err := prepare(with, opts, everywhere)
	if err != nil {
		return nil, err
	}
	defer coreQuiet(coreQuiet(true))
	if d.target, err = find(name, name); err != nil {
		return nil, err
	}
	if d.generic = d.typ == reflect.TypeFor[Generic](); d.generic {
		return d, nil
	}
	if err := d.target.check(d.typ); err != nil {
		return nil, err
	}
	return d, nil
}

// prepare makes a double that lacks its target.
func prepare[F any](with F, opts []Option, everywhere bool) (*Double[F], error) {
	if !Hooked() {
		return nil, errPlain
	}
	d := &Double[F]{double: &double{typ: reflect.TypeFor[F](), everywhere: everywhere}}
	if d.typ.Kind() != reflect.Func {
		return nil, fmt.Errorf("mock: a %v is no function", d.typ)
	}
	first := reflect.ValueOf(&with).Elem()
	if first.IsNil() {
		return nil, errors.New("mock: the replacement is nil")
	}
	d.with = []reflect.Value{first}
	for _, o := range opts {
		if err := o(d.double); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// start puts the double in force.
func (d *double) start() {
	defer coreQuiet(coreQuiet(true))
	d.handle = coreAdd(d.target.fn, d, d.everywhere, unsafe.Pointer(d.plan()))
}

// cleanup lets the test end the replacement, and checks how often it was called.
func (d *double) cleanup(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		t.Helper()
		d.Restore()
		if problem := d.uncalled(); problem != "" && !t.Skipped() {
			t.Error(problem)
		}
	})
}
