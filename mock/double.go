package mock

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Double is a replacement in force. Its methods may be called on any goroutine, also after the
// replacement has ended.
type Double[F any] struct {
	*double
}

// Original returns what the replacement replaced: the function, or an earlier replacement. A
// replacement may call it, to do something before or after.
//
// Original panics if the replacement is a [Generic], and for some functions that were named to
// [Unexported]: function literals, generic functions, and functions that the compiler inlined
// wherever they are called.
func (d *Double[F]) Original() F {
	var f F
	reflect.ValueOf(&f).Elem().Set(d.original())
	return f
}

// A Call is one call of a replacement.
type Call struct {
	// Args are the arguments. If the replacement has the receiver as a parameter, it comes first.
	// The arguments of a variadic parameter are one slice.
	Args []any
	// Results are the results. They are nil while the call is under way, and if it panicked or
	// ended its goroutine.
	Results []any
}

// Arg returns the ith argument of a call, from 0, as a T. It panics if the argument is not a T, or
// i is out of range. A nil interface value is the zero T if T is an interface type.
func Arg[T any](c Call, i int) T { return as[T](c.Args[i]) }

// Result returns the ith result of a call, from 0, as a T. It panics as [Arg] does.
func Result[T any](c Call, i int) T { return as[T](c.Results[i]) }

func as[T any](v any) T {
	if v == nil {
		var zero T
		if reflect.TypeFor[T]().Kind() == reflect.Interface {
			return zero
		}
	}
	return v.(T)
}

// double is a Double without its type.
type double struct {
	typ    reflect.Type // F
	target target
	with   []reflect.Value
	handle unsafe.Pointer // belongs to the core

	// Options.
	everywhere     bool
	receiver       any
	implementation any
	limited        bool
	most           int // if limited
	when           reflect.Value
	least          int
	exact          bool
	unrecorded     bool // nobody will read the calls
	uncounted      bool // nor their number

	generic bool // with are Generics

	restored atomic.Bool
	planned  atomic.Int64           // calls made by the core itself, by a callPlan
	records  atomic.Pointer[record] // calls that are kept, the latest first; mu guards what the call of a record points to

	mu     sync.Mutex
	called int
	passed []string // calls that were not for this replacement, and why
}

// Count returns the number of calls that went to the replacement.
func (d *double) Count() int {
	defer d.unlock(d.lock())
	return d.total()
}

func (d *double) total() int { return d.called + int(d.planned.Load()) }

// Calls returns the calls that went to the replacement, in the order in which they began. With
// [Unrecorded] it returns nil.
func (d *double) Calls() []Call {
	defer d.unlock(d.lock())
	return d.kept()
}

// Restore ends the replacement before the test does. Calls under way end as they began. Further
// calls of Restore do nothing.
func (d *double) Restore() {
	if d.restored.CompareAndSwap(false, true) && d.handle != nil {
		coreRemove(d.handle)
	}
}

// lock guards the fields below mu. While it is held, what the package calls can't be replaced.
func (d *double) lock() (quiet bool) {
	quiet = coreQuiet(true)
	d.mu.Lock()
	return quiet
}

func (d *double) unlock(quiet bool) {
	d.mu.Unlock()
	coreQuiet(quiet)
}

// literal matches the names of function literals.
var literal = regexp.MustCompile(`\.func\d+(\.\d+)*$`)

func (d *double) original() reflect.Value {
	defer coreQuiet(coreQuiet(true))
	if d.generic {
		panic("mock: Original: " + d.target.name + " can't be called by a Generic, which does not know its type")
	}
	target := d.target.value
	if !target.IsValid() {
		name := d.target.name
		if literal.MatchString(name) || strings.Contains(name, "[...]") {
			panic("mock: Original: " + name + " can't be called by name")
		}
		code := coreCode(d.target.symbol)
		if code == 0 {
			panic("mock: Original: " + name + " is not in the program but inlined")
		}
		closure := unsafe.Pointer(&struct{ code uintptr }{code})
		target = reflect.NewAt(d.typ, unsafe.Pointer(&closure)).Elem()
	}
	return reflect.MakeFunc(d.typ, func(args []reflect.Value) []reflect.Value {
		if !d.restored.Load() {
			previous := coreBypass(d.handle)
			defer coreBypass(previous)
		}
		return call(target, args)
	})
}

func call(f reflect.Value, args []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// uncalled returns what is wrong with how often the replacement was called, or "".
func (d *double) uncalled() string {
	defer d.unlock(d.lock())
	want := d.miscounted(d.total())
	if want == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mock: the replacement of %s was called %d times, %s", d.target.name, d.total(), want)
	calls := d.kept()
	for _, c := range calls[:min(len(calls), maxPassed)] {
		fmt.Fprintf(&b, "\n\tcalled: %s", describe(c.Args))
	}
	for _, c := range d.passed {
		fmt.Fprintf(&b, "\n\tnot for it: %s", c)
	}
	return b.String()
}

// miscounted returns how many calls MustCall and MustCallTimes require, if n is not that number, or
// "".
func (d *double) miscounted(n int) string {
	switch {
	case n < d.least && !d.exact:
		return fmt.Sprint("want at least ", d.least)
	case n != d.least && d.exact:
		return fmt.Sprint("want ", d.least)
	}
	return ""
}

// maxPassed is how many calls are listed.
const maxPassed = 10

// pass notes a call that was not for this replacement.
func (d *double) pass(params []any, why string) {
	if d.least == 0 && !d.exact {
		return
	}
	defer d.unlock(d.lock())
	if len(d.passed) < maxPassed {
		d.passed = append(d.passed, describe(params)+": "+why)
	}
}

// describe writes arguments.
func describe(args []any) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		s := fmt.Sprintf("%#v", a)
		if a != nil && reflect.TypeOf(a).Kind() == reflect.Pointer {
			s = fmt.Sprintf("(%T)(%p)", a, a)
		}
		if len(s) > 100 {
			s = s[:100] + "..."
		}
		b.WriteString(s)
	}
	return "(" + b.String() + ")"
}
