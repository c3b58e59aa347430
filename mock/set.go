package mock

import "testing"

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
