package mock

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
	"unsafe"
)

// The links into the core: nil in a program built without the wrapper. When the wrapper compiles
// this package it adds a file that sets them (see internal/inject).
var (
	coreStart     func(dispatcher func(data any, params []any, want, instance any) (results any, n int), ended func(call any, results []any, panicked bool), run uintptr)
	coreMatching  func(pattern string) (names []string, message string)
	coreFind      func(name string) (fn unsafe.Pointer, pkg, typ string, hooked bool)
	coreTables    func() (tables [][3]string)
	coreLists     func(path string) (lists any, hooked bool)
	coreAdd       func(fn unsafe.Pointer, data any, everywhere bool, plan unsafe.Pointer, handle *unsafe.Pointer)
	coreRemove    func(mock unsafe.Pointer)
	coreQuiet     func(quiet bool) (before bool)
	coreBypass    func(mock unsafe.Pointer) (previous unsafe.Pointer)
	coreCode      func(symbol string) uintptr
	coreWrapper   func(code uintptr) bool
	coreReceiver  func(closure unsafe.Pointer) (receiver any, ok bool)
	coreFail      func(pattern string, err error, first, last uint64, everywhere bool) (faults []unsafe.Pointer, named int, message string)
	coreGoroutine func() uint64
	coreFailed    func(fault unsafe.Pointer) (name string, n uint64)
	coreScope     func() unsafe.Pointer
	coreBubbled   func() bool
	coreTicks     func(on bool) (before bool)
	coreBusy      func(scope unsafe.Pointer) int
)

// ErrNotHooked is the error of a function that can't be replaced because it has no hook. Errors
// that wrap it say what to do.
var ErrNotHooked = errors.New("mock: not hooked")

// errPlain is the error in a program built by plain go build.
var errPlain = fmt.Errorf("%w: this program was not built with ftrace-wrap; run with ftrace-wrap test", ErrNotHooked)

func init() {
	if coreStart != nil {
		coreStart(dispatch, ended, reflect.ValueOf((*testing.T).Run).Pointer())
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
	d, err := replace(target, opts, false)
	d.inForce(t, err, func() (F, error) { return with, nil })
	return d
}

// Around is [Replace] with a replacement that may call the original. around is called once, before
// the replacement is in force, and returns it. original is what [Double.Original] returns.
//
//	mock.Around(t, (*DB).Get, func(original func(*DB, string) string) func(*DB, string) string {
//		return func(db *DB, key string) string { return strings.ToUpper(original(db, key)) }
//	})
func Around[F any](t testing.TB, target F, around func(original F) F, opts ...Option) *Double[F] {
	t.Helper()
	d, err := replace(target, opts, false)
	d.inForce(t, err, d.around(around))
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
	d, err := unexported[F](name, opts, false)
	d.inForce(t, err, func() (F, error) { return with, nil })
	return d
}

// AroundUnexported is [Around] for a function that the test can't name in Go, as [Unexported] is
// Replace for one. It fails the test if the function can't be called by its name:
// [Double.Original] says which.
func AroundUnexported[F any](t testing.TB, name string, around func(original F) F, opts ...Option) *Double[F] {
	t.Helper()
	d, err := unexported[F](name, opts, false)
	d.inForce(t, err, d.around(around))
	return d
}

// Swap is [Replace] without a test: it replaces target until restore is called, on all goroutines
// unless [ThisGoroutine] is given. It keeps no calls. If target has no hook, the error wraps
// [ErrNotHooked], and restore does nothing.
func Swap[F any](target, with F, opts ...Option) (restore func(), err error) {
	d, err := replace(target, opts, true)
	return d.swap(with, err)
}

// SwapUnexported is [Unexported] without a test, as [Swap] is Replace without one.
func SwapUnexported[F any](name string, with F, opts ...Option) (restore func(), err error) {
	d, err := unexported[F](name, opts, true)
	return d.swap(with, err)
}

// replace makes a double for a function that lacks its replacement.
func replace[F any](target F, opts []Option, everywhere bool) (*Double[F], error) {
	d, err := prepare[F](opts, everywhere)
	if err != nil {
		return d, err
	}
	defer coreQuiet(coreQuiet(true))
	if d.target, err = resolve(reflect.ValueOf(&target).Elem(), d.implementation, d.receiver != nil); err != nil {
		return d, err
	}
	return d, d.checkReceiver()
}

// unexported is replace for a function that is named by text.
func unexported[F any](name string, opts []Option, everywhere bool) (*Double[F], error) {
	d, err := prepare[F](opts, everywhere)
	if err != nil {
		return d, err
	}
	defer coreQuiet(coreQuiet(true))
	if d.target, err = find(name); err != nil {
		return d, err
	}
	if d.generic = d.typ == reflect.TypeFor[Generic](); !d.generic {
		if err := d.target.check(d.typ); err != nil {
			return d, err
		}
	}
	return d, d.checkReceiver()
}

// prepare makes a double that lacks its target and its replacement.
func prepare[F any](opts []Option, everywhere bool) (*Double[F], error) {
	d := &Double[F]{double: &double{typ: reflect.TypeFor[F](), everywhere: everywhere}}
	if !Hooked() {
		return d, errPlain
	}
	if d.typ.Kind() != reflect.Func {
		return d, fmt.Errorf("mock: a %v is not a function", d.typ)
	}
	for _, o := range opts {
		if err := o(d.double); err != nil {
			return d, err
		}
	}
	return d, d.unsatisfiable()
}

// inForce gives a test's double its replacement and puts it in force, or fails the test.
func (d *Double[F]) inForce(t testing.TB, err error, with func() (F, error)) {
	t.Helper()
	if err == nil {
		err = d.use(with)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.cleanup(t) // first: it takes locks, and these can be what is replaced
	d.start()
}

// swap is inForce without a test.
func (d *Double[F]) swap(with F, err error) (restore func(), _ error) {
	if err == nil {
		d.unrecorded, d.uncounted = true, true
		err = d.use(func() (F, error) { return with, nil })
	}
	if err != nil {
		return func() {}, err
	}
	d.start()
	return d.Restore, nil
}

// around returns what makes the replacement for [Around].
func (d *Double[F]) around(around func(original F) F) func() (F, error) {
	return func() (with F, err error) {
		original, err := d.original()
		if err != nil {
			return with, err
		}
		return around(original.Interface().(F)), nil
	}
}

// use gives the double its replacement.
func (d *Double[F]) use(with func() (F, error)) error {
	f, err := with()
	if err != nil {
		return err
	}
	first := reflect.ValueOf(&f).Elem()
	if first.IsNil() {
		return errors.New("mock: the replacement is nil")
	}
	d.with = first
	return d.continued()
}

// start puts the double in force. A goroutine that is calling the function may find it before start
// returns.
func (d *double) start() {
	defer coreQuiet(coreQuiet(true))
	d.add()
	if d.target.name == "time.Now" {
		d.addElapsed()
	}
}

// continued makes the replacement a sequence if results follow it.
func (d *double) continued() error {
	if len(d.then) == 0 {
		return nil
	}
	all := []reflect.Value{reflect.ValueOf(d.with.Interface())}
	for _, results := range d.then {
		f, err := d.returning("Then", results)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	d.with.Set(sequence(d.typ, all))
	return nil
}

func (d *double) add() {
	if d.members == nil {
		d.members = []member{{fn: d.target.fn}}
	}
	plan := unsafe.Pointer(d.plan())
	for i := range d.members {
		coreAdd(d.members[i].fn, d, d.everywhere, plan, &d.members[i].handle)
	}
}

// addElapsed has time.Since and time.Until go by a replaced time.Now. They read a clock of their
// own for times that have a monotonic part.
func (d *double) addElapsed() {
	for name, with := range map[string]any{
		"time.Since": func(t time.Time) time.Duration { now := time.Now(); return now.Sub(t) },
		"time.Until": func(t time.Time) time.Duration { now := time.Now(); return t.Sub(now) },
	} {
		if c, err := substitute(name, with, d.everywhere); err == nil {
			c.add()
			d.companions = append(d.companions, c)
		}
	}
}

// substitute makes a double for a function that is named by text, whose calls nobody will read.
// with has its type. It is not in force yet.
func substitute(name string, with any, everywhere bool) (*double, error) {
	target, err := find(name)
	if err != nil {
		return nil, err
	}
	f := reflect.New(reflect.TypeOf(with)).Elem() // it has an address, as a plan needs
	f.Set(reflect.ValueOf(with))
	_, generic := with.(Generic)
	return &double{typ: f.Type(), target: target, with: f, everywhere: everywhere, generic: generic, unrecorded: true, uncounted: true}, nil
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
