package mock

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// Errors makes functions fail with err until the test ends: all that have a hook, that pattern
// names, and whose last result is an error. They do not run, and their other results are zero. It
// concerns calls on the test's goroutine and on those that it starts; [AllGoroutines] includes all
// others.
//
// pattern is one of rules without settings: "example.com/store.*", "(*DB).Close",
// "example.com/store/...;!*.Close". docs/rules.md has the grammar.
//
// Without options every call fails. With [Times] the first n calls of each function do. [MustCall]
// and [MustCallTimes] count all calls that fail, of all functions. Other options are refused. If a
// function is also replaced, the later of the two takes its calls.
//
// If pattern is wrong, or names no function that can fail, Errors fails the test at once.
func Errors(t testing.TB, pattern string, err error, opts ...Option) *Failures {
	t.Helper()
	f, problem := fail(pattern, err, opts)
	if problem != nil {
		t.Fatal(problem)
	}
	t.Cleanup(func() {
		t.Helper()
		f.Restore()
		if problem := f.options.miscounted(f.Count()); problem != "" && !t.Skipped() {
			t.Errorf("mock: %d calls of functions that %q names failed, %s", f.Count(), pattern, problem)
		}
	})
	return f
}

// Failures are the failing functions of one call of [Errors]. Its methods may be called on any
// goroutine.
type Failures struct {
	options double
	faults  []unsafe.Pointer // belong to the core
}

// Count returns the number of calls that have failed.
func (f *Failures) Count() int {
	n := 0
	for _, fault := range f.faults {
		_, failed := coreFailed(fault)
		n += int(failed)
	}
	return n
}

// Functions returns the names of the functions with calls that have failed, sorted.
func (f *Failures) Functions() []string {
	var names []string
	for _, fault := range f.faults {
		if name, failed := coreFailed(fault); failed > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Restore makes the functions run again before the test ends. Further calls do nothing.
func (f *Failures) Restore() {
	if f.options.restored.CompareAndSwap(false, true) {
		for _, fault := range f.faults {
			coreRemove(fault)
		}
	}
}

func fail(pattern string, err error, opts []Option) (*Failures, error) {
	if !Hooked() {
		return nil, errPlain
	}
	if err == nil {
		return nil, errors.New("mock: Errors: the error is nil")
	}
	f := new(Failures)
	for _, o := range opts {
		if err := o(&f.options); err != nil {
			return nil, err
		}
	}
	last := ^uint64(0)
	if f.options.limited {
		last = uint64(f.options.most)
	}
	defer coreQuiet(coreQuiet(true))
	faults, named, message := coreFail(pattern, err, 1, last, f.options.everywhere)
	switch {
	case message != "":
		return nil, fmt.Errorf("mock: Errors: pattern %q: %s", pattern, message)
	case named == 0:
		return nil, noneNamed(pattern)
	case len(faults) == 0:
		return nil, fmt.Errorf("mock: Errors: none of the %d functions that %q names returns an error as its last result", named, pattern)
	}
	f.faults = faults
	return f, nil
}
