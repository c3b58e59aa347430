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

// ErrNotHooked is the error of a function that can't be replaced because it has no hook. Errors
// that wrap it say what to do.
var ErrNotHooked = errors.New("mock: not hooked")

// errPlain is the error in a program built by plain go build.
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

// Replace makes calls of the function target call with instead, until the test ends. It concerns
// calls on the test's goroutine and on those that it starts; called on another goroutine, calls on
// that one and those that it starts. Options change which calls.
//
// target is one of
//
//   - a function;
//   - a method expression such as (*T).M, whose first parameter is the receiver;
//   - a method value such as x.M: the method is replaced for this receiver only;
//   - an instantiation of a generic function, such as largest[int]: no other is replaced.
//
// If target has no hook, or an option is wrong, Replace fails the test at once.
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

// Unexported is [Replace] for a function that the test can't name in Go. Its name is the one in
// stack traces, with the whole import path:
//
//	example.com/p.flush
//	example.com/p.(*T).flush      a method; with has the receiver as its first parameter
//	example.com/p.F.func1         the first function literal in F
//	example.com/p.Map[...]        a generic function
//
// Of a generic function those calls are replaced whose parameters and results have the types of
// with; all, if with is a [Generic].
//
// If there is no such function, it has no hook, or with is not of its type, Unexported fails the
// test at once.
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

// Swap is [Replace] without a test: it replaces target until restore is called, on all goroutines
// unless [ThisGoroutine] is given. It keeps no calls. If target has no hook, the error wraps
// [ErrNotHooked], and restore does nothing.
func Swap[F any](target, with F, opts ...Option) (restore func(), err error) {
	d, err := replace(target, with, opts, true)
	if err != nil {
		return func() {}, err
	}
	d.unrecorded, d.uncounted = true, true
	d.start()
	return d.Restore, nil
}

// SwapUnexported is [Unexported] without a test, as [Swap] is Replace without one.
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
		return nil, fmt.Errorf("mock: a %v is not a function", d.typ)
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

// cleanup has the test end the replacement, and checks how often it was called.
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
