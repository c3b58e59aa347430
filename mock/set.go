package mock

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Set gives a package variable a value until the test ends.
//
//	mock.Set(t, &maxRetries, 1)
//	mock.Set(t, &output, io.Writer(&buf)) // output is an io.Writer
//
// A variable is the whole process's. So Set fails a test that is parallel, or has a parallel test
// around it; a later call of its method Parallel panics. Goroutines that read the variable
// meanwhile need what keeps them from a data race, as ever. Set needs no hooks.
func Set[T any](t testing.TB, variable *T, value T) {
	t.Helper()
	if isParallel(t) {
		t.Fatal("mock: Set: a variable is the whole process's, and this test is parallel")
	}
	before := *variable
	*variable = value
	t.Cleanup(func() { *variable = before })
}

// SetUnexported is [Set] for a package variable that the test can't name in Go. Its name begins
// with the whole import path:
//
//	mock.SetUnexported(t, "example.com/store.maxRetries", 1)
//
// value is as a result is for [Return]. If there is no such variable, or value is not of its type,
// SetUnexported fails the test at once.
//
// The package needs hooks, and a list of its variables. By ftrace-wrap test it has both if variable
// is a constant. Otherwise the setting FTRACE_VARIABLES of the build names packages.
func SetUnexported(t testing.TB, variable string, value any) {
	t.Helper()
	if isParallel(t) {
		t.Fatal("mock: SetUnexported: a variable is the whole process's, and this test is parallel")
	}
	at, err := findVariable(variable)
	if err != nil {
		t.Fatal(err)
	}
	v, ok := fitting(at.Type(), value)
	if !ok {
		t.Fatalf("mock: SetUnexported: %s has type %v, which %#v of type %[3]T does not fit", variable, at.Type(), value)
	}
	before := reflect.New(at.Type()).Elem()
	before.Set(at)
	at.Set(v)
	t.Cleanup(func() { at.Set(before) })
}

// findVariable returns the package variable with this name.
func findVariable(name string) (variable reflect.Value, err error) {
	if !Hooked() {
		return variable, errPlain
	}
	defer coreQuiet(coreQuiet(true))
	path, lists := listsOf(name)
	if path == "" {
		return variable, notFound(name)
	}
	list, ok := lists.(interface{ Variables() []any })
	if !ok {
		return variable, fmt.Errorf("mock: SetUnexported: this build has no list of the variables of package %s: ftrace-wrap test makes it for a name that is a constant, else build with FTRACE_VARIABLES=%[1]s", path)
	}
	best, least := "", 3
	for all := list.Variables(); len(all) > 0; all = all[2:] {
		full := path + "." + all[0].(string)
		if full == name {
			return reflect.ValueOf(all[1]).Elem(), nil
		}
		if n := edits(full, name); n < least {
			best, least = full, n
		}
	}
	hint := ""
	if best != "" {
		hint = "; did you mean " + best + "?"
	}
	return variable, fmt.Errorf("mock: SetUnexported: package %s has no variable %s%s", path, name, hint)
}

// listsOf returns the package with hooks whose variable this may be, and its lists. The last
// element of an import path may have dots.
func listsOf(variable string) (path string, lists any) {
	for dot := len(variable); dot > strings.LastIndexByte(variable, '/'); dot = strings.LastIndexByte(variable[:dot], '.') {
		if lists, hooked := coreLists(variable[:dot]); hooked {
			return variable[:dot], lists
		}
	}
	return "", nil
}

// isParallel reports whether a test or one around it is parallel. If not, it keeps the test from
// becoming so. Setenv does both for environment variables.
func isParallel(t testing.TB) (parallel bool) {
	defer func() { parallel = recover() != nil }()
	if Hooked() {
		defer coreQuiet(coreQuiet(true))
	}
	t.Setenv("MOCK_SET", "1")
	return false
}
