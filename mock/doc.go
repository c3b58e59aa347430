// Package mock replaces functions in tests: any function with a hook, with nothing changed in the
// program.
//
//	func TestReceipt(t *testing.T) {
//		mock.Replace(t, time.Now, func() time.Time { return noon })
//		...
//	}
//
// The test is run with ftrace-wrap test, which gives the packages of what is replaced their hooks,
// or with go test -toolexec=ftrace-wrap; there FTRACE_PACKAGES says which packages have hooks, by
// default those of the main module. docs/mock.md is a tutorial.
//
// # Which calls are replaced
//
// A replacement holds for the test's goroutine and for those that it starts, at any depth, whether
// they were started before the replacement or after. So tests that run in parallel can replace the
// same function. Goroutines that others started are outside: the workers of a pool that was there
// before, what [time.AfterFunc] calls, finalizers. [AllGoroutines] includes them.
//
// Of several replacements of one function the innermost holds, that of the subtest before that of
// the test, and of those in one test the latest. What an option keeps from a replacement goes to
// the next one, and in the end to the function itself.
//
// # Failing
//
// [Errors] puts an error in the place of all functions that a pattern names and that return one,
// without a replacement for each.
//
// # What a replacement gets
//
// The function's arguments. What these point to on the caller's stack is copied for the time of the
// call, because a replacement may keep it, and what the replacement changed there is changed on the
// stack when it returns or panics. The one difference that can be seen: if it stores such a pointer
// in a variable of its own, that is a pointer to the copy.
package mock
