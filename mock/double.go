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
// replacement that is to call it gets it by [Around], because a goroutine that is calling already
// may find the replacement before Replace has returned the Double.
//
// Original panics if the replacement is a [Generic], and for some functions that were named to
// [Unexported]: function literals, generic functions, and functions that the compiler inlined
// wherever they are called.
func (d *Double[F]) Original() F {
	if d == nil {
		panic("mock: Original of a nil Double: the replacement was called before Replace returned; Around gives it the original")
	}
	original, err := d.original()
	if err != nil {
		panic(err.Error())
	}
	return original.Interface().(F)
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
	with   reflect.Value

	members []member     // what is replaced
	method  string       // of the interface, for Every
	iface   reflect.Type // the interface, else nil

	companions  []*double    // that end with it
	interceptor *interceptor // if not nil, it is a function that Intercept watches
	replay      *replay      // if not nil, it answers calls from recorded ones

	// Options.
	everywhere     bool
	except         uint64 // goroutine that is left out, or 0
	receiver       any
	implementation any
	limited        bool
	most           int // if limited
	when           reflect.Value
	then           [][]any
	least          int
	exact          bool
	unrecorded     bool // nobody will read the calls
	uncounted      bool // nor their number

	generic bool   // with is a Generic
	asks    uint64 // goroutine whose call tells target.instance, or 0

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
	if d.restored.CompareAndSwap(false, true) {
		for i := range d.members {
			coreRemove(d.members[i].handle)
		}
		for _, c := range d.companions {
			c.Restore()
		}
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

// original returns the original as an F.
func (d *double) original() (reflect.Value, error) {
	defer coreQuiet(coreQuiet(true))
	name, target := d.target.name, d.target.value
	if d.generic {
		return target, fmt.Errorf("mock: Original: %s can't be called by a Generic, which does not know its type", name)
	}
	if !target.IsValid() {
		if literal.MatchString(name) || strings.Contains(name, "[...]") {
			return target, fmt.Errorf("mock: Original: %s can't be called by name", name)
		}
		code := coreCode(d.target.symbol)
		if code == 0 {
			return target, fmt.Errorf("mock: Original: %s is not in the program but inlined", name)
		}
		closure := unsafe.Pointer(&struct{ code uintptr }{code})
		target = reflect.NewAt(d.typ, unsafe.Pointer(&closure)).Elem()
	}
	return reflect.MakeFunc(d.typ, func(args []reflect.Value) []reflect.Value {
		if m := d.member(args); m != nil {
			previous := coreBypass(m.handle)
			defer coreBypass(previous)
		}
		return call(target, args)
	}), nil
}

func call(f reflect.Value, args []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(args)
	}
	return f.Call(args)
}

// unsatisfiable returns what is wrong with the options if no calls can satisfy them.
func (d *double) unsatisfiable() error {
	if d.limited && d.most < d.least {
		return fmt.Errorf("mock: Times(%d) gives the replacement fewer calls than the %d that it must get", d.most, d.least)
	}
	return nil
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
