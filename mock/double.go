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

// A Double is a replacement in force. Its methods may be called on any goroutine.
type Double[F any] struct {
	*double
}

// Original returns the function as it would be without this replacement: the one that this
// replaced, which can be an earlier replacement. A replacement may call it.
//
// It panics for what was named to [Unexported] and can't be called without what the compiler knows
// of it: a function literal, a generic function, or a function that was inlined wherever it is
// called. And it panics if the replacement is a [Generic].
func (d *Double[F]) Original() F {
	var f F
	reflect.ValueOf(&f).Elem().Set(d.original())
	return f
}

// A Call is one call of a replacement.
type Call struct {
	// Args are the arguments, the receiver first if the replacement has it; those of a variadic
	// parameter are one slice.
	Args []any
	// Results are the results, nil if the call did not return: it panicked, ended its goroutine, or
	// is under way.
	Results []any
}

// Arg returns an argument of a call. It panics if it is not a T; the zero value of an interface is
// one.
func Arg[T any](c Call, i int) T { return as[T](c.Args[i]) }

// Result returns a result of a call.
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
	handle unsafe.Pointer // the core's

	// Options.
	everywhere     bool
	receiver       any
	implementation any
	limited        bool
	most           int // if limited
	when           reflect.Value
	least          int
	exact          bool
	unrecorded     bool // nobody can ask for the calls
	uncounted      bool // nor for their number

	generic bool // with are Generics

	restored atomic.Bool
	planned  atomic.Int64           // calls made by the core itself, by a callPlan
	records  atomic.Pointer[record] // calls that are kept, the latest first; what call of a record leads to is guarded by mu

	mu     sync.Mutex
	called int
	passed []string // calls that were not for this replacement, and why
}

// Count returns how often the replacement was called.
func (d *double) Count() int {
	defer d.unlock(d.lock())
	return d.total()
}

func (d *double) total() int { return d.called + int(d.planned.Load()) }

// Calls returns the calls of the replacement, in the order in which they began.
func (d *double) Calls() []Call {
	defer d.unlock(d.lock())
	return d.kept()
}

// Restore ends the replacement. Calls that are under way end as they began. Restoring again does
// nothing.
func (d *double) Restore() {
	if d.restored.CompareAndSwap(false, true) && d.handle != nil {
		coreRemove(d.handle)
	}
}

// lock lets the fields below mu be used; what it calls could itself be replaced.
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

// uncalled says what is wrong with how often the replacement was called, or returns "".
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

// miscounted says how many calls MustCall and MustCallTimes want, if n is another number, or
// returns "".
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
