package mock

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// Intercept has before called when a function is entered that pattern names, and after when it
// ends, until the test ends. One of them can be nil. pattern is as for [Errors]. It concerns calls
// on the test's goroutine and on those that it starts; the options [AllGoroutines] and
// [NotThisGoroutine] change that.
//
// before can keep the function from running, by [Intercepted.Return]. What before and after
// themselves call is neither intercepted nor replaced. If a function is also replaced, the later of
// the two gets its calls first: Intercept sees what is replaced before it.
//
// If pattern is wrong, or names no function with a hook, Intercept fails the test at once.
func Intercept(t testing.TB, pattern string, before, after func(*Intercepted), opts ...Option) *Interception {
	t.Helper()
	i, err := intercept(pattern, &interceptor{before, after}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Restore)
	return i
}

// An Interception is what [Intercept] has put in force.
type Interception struct {
	doubles []*double
}

// Restore ends it before the test does. Further calls do nothing.
func (i *Interception) Restore() {
	for _, d := range i.doubles {
		d.Restore()
	}
}

// An Intercepted is a call that is intercepted.
type Intercepted struct {
	// Function is its name as in stack traces, with the whole import path.
	Function string
	// Args are the arguments, the receiver first. Those of a variadic parameter are one slice. What
	// they point to on the stack is a copy, made when the call began.
	Args []any
	// Results are the results. They are nil before the function has run, and if it panicked.
	Results []any
	// Panicked reports whether the function ended by a panic, or by ending its goroutine. If it has
	// no deferred calls, after is called only when a function that is intercepted, or replaced, is
	// next called or ends on the goroutine, no deeper in the stack.
	Panicked bool
	// Data is for before to leave something to after.
	Data any

	returns bool
	results []any
	double  *double
}

// Return lets the call return results in place of running the function. They are as for a
// [Generic]: nil stands for the zero value of any type, no results for zero values of all. It has
// no effect in after.
func (c *Intercepted) Return(results ...any) { c.returns, c.results = true, results }

type interceptor struct{ before, after func(*Intercepted) }

const continues = -3 // what dispatch returns to hear of the call's end, and ftraceContinues in the core

func intercept(pattern string, by *interceptor, opts []Option) (*Interception, error) {
	if !Hooked() {
		return nil, errPlain
	}
	if by.before == nil && by.after == nil {
		return nil, errors.New("mock: Intercept: before and after are nil")
	}
	options := double{typ: reflect.TypeFor[Generic]()}
	for _, o := range opts {
		if err := o(&options); err != nil {
			return nil, err
		}
	}
	if options.limited || options.least > 0 || options.exact || options.when.IsValid() || options.implementation != nil || options.then != nil || options.unrecorded {
		return nil, errors.New("mock: Intercept takes the options AllGoroutines and NotThisGoroutine alone")
	}
	defer coreQuiet(coreQuiet(true))
	names, message := coreMatching(pattern)
	switch {
	case message != "":
		return nil, fmt.Errorf("mock: Intercept: pattern %q: %s", pattern, message)
	case len(names) == 0:
		return nil, noneNamed(pattern)
	}
	i := new(Interception)
	for _, name := range names {
		t, err := find(name)
		if err != nil {
			continue // it only returns a function literal
		}
		d := &double{typ: options.typ, target: t, generic: true, everywhere: options.everywhere, except: options.except, interceptor: by}
		i.doubles = append(i.doubles, d)
	}
	if len(i.doubles) == 0 {
		return nil, noneNamed(pattern)
	}
	for _, d := range i.doubles {
		d.add()
	}
	return i, nil
}

// noneNamed is the error for a pattern.
func noneNamed(pattern string) error {
	return fmt.Errorf("%w: %q names no function with a hook: packages have hooks if FTRACE_PACKAGES, now %s, says so; ftrace-wrap list lists their functions",
		ErrNotHooked, pattern, packages())
}

// intercept is dispatch for a function that Intercept watches.
func (d *double) intercept(params []any, want any) (results any, n int) {
	if d.except != 0 && d.except == coreGoroutine() {
		return nil, -1
	}
	c := &Intercepted{Function: d.target.name, Args: slices.Clone(params), double: d}
	if d.interceptor.before != nil {
		d.interceptor.before(c)
	}
	if !c.returns {
		if d.interceptor.after == nil {
			return nil, -1
		}
		return c, continues
	}
	values := d.complete(c.results)
	if d.interceptor.after != nil {
		c.Results = slices.Clone(values)
		d.interceptor.after(c)
	}
	return d.packAny(values, want)
}

// ended is called by the core, in quiet, when a call has ended that continued.
func ended(call any, results []any, panicked bool) {
	defer coreQuiet(false)
	c := call.(*Intercepted)
	c.Results, c.Panicked = slices.Clone(results), panicked
	if !c.double.restored.Load() {
		c.double.interceptor.after(c)
	}
}
