// Package mock replaces functions in tests: any function that has a hook, with no change to the
// program.
//
//	func TestReceipt(t *testing.T) {
//		mock.Replace(t, time.Now, func() time.Time { return noon })
//		...
//	}
//
// Run the test with "ftrace-wrap test". It gives hooks to the packages whose functions are
// replaced. With "go test -toolexec=ftrace-wrap" the packages of the main module have hooks;
// FTRACE_PACKAGES names others. With plain "go test" [Replace] fails the test, and
// [SkipUnlessHooked] skips it. docs/mock.md is a tutorial.
//
// [Replace] names the function itself; [Unexported] names it by text, for functions of other
// packages that are not exported. [Errors] lets all functions fail that a pattern names. [Swap]
// does without a test. [Around] gives the replacement the original, [Return] does with results
// alone. [Every] replaces an interface's method in all types. [Set] and [SetUnexported] replace a
// variable's value. [Intercept] watches all functions that a pattern names. [Replay] answers calls
// as a real run did. [Clock] gives a test a time of its own, [Seed] random numbers. [Fault] lets
// files and connections go wrong.
//
// # Which calls are replaced
//
// A replacement holds for the test's goroutine and for those that it starts, at any depth, before
// the replacement or after. So tests that run in parallel can replace the same function. Goroutines
// that others started are outside: the workers of a pool that was there before, what
// [time.AfterFunc] calls, finalizers. [AllGoroutines] includes them.
//
// If a function has several replacements, the innermost one is called: that of the subtest before
// that of the test, and of those in one test the latest. Those that other tests put in force for
// all goroutines come last, the latest of them first. Options such as [Times] and [When] limit a
// replacement; the calls that it does not get go to the next one, and in the end to the function.
//
// # What a replacement gets
//
// It gets the function's arguments. What these point to on the caller's stack is copied for the
// time of the call, because a replacement may keep it. What the replacement changes in the copy is
// changed on the stack when it returns or panics. One difference can be seen: a pointer that the
// replacement stores elsewhere points to the copy.
package mock
