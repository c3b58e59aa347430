package mock_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

// t is the test's. The examples without output need hooks: TestExamples runs them, if it is run
// with ftrace-wrap test.
var t testing.TB = new(testing.T)

// An account is what the examples test.
type account struct {
	owner   string
	balance int
}

func (a *account) withdraw(amount int) error {
	if amount > a.balance {
		return errors.New("insufficient funds")
	}
	a.balance -= amount
	return nil
}

func (a *account) String() string { return a.owner }

func today() string { return time.Now().Format(time.DateOnly) }

func largest[T int | string](a, b T) T { return max(a, b) }

// The clock stands still until the test ends.
func ExampleReplace() {
	mock.Replace(t, time.Now, func() time.Time { return time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC) })
	if got := today(); got != "2024-02-29" {
		t.Error(got)
	}
}

// A method expression names a method for all receivers, a method value for one.
func ExampleReplace_method() {
	ada, bob := &account{"Ada", 0}, &account{"Bob", 0}
	mock.Replace(t, ada.withdraw, func(amount int) error { return nil })
	if ada.withdraw(1) != nil || bob.withdraw(1) == nil {
		t.Error("want a replacement for Ada alone")
	}
	mock.Replace(t, (*account).withdraw, func(a *account, amount int) error { return nil })
	if bob.withdraw(1) != nil {
		t.Error("want a replacement for Bob too")
	}
}

// Of a generic function one instantiation is replaced.
func ExampleReplace_generic() {
	mock.Replace(t, largest[int], func(a, b int) int { return -1 })
	if largest(1, 2) != -1 || largest("a", "b") != "b" {
		t.Error(largest(1, 2), largest("a", "b"))
	}
}

// Of an interface's method that of one type is replaced.
func ExampleImplementation() {
	mock.Replace(t, fmt.Stringer.String, func(fmt.Stringer) string { return "Bob" },
		mock.Implementation(new(account)))
	if got := (&account{"Ada", 10}).String(); got != "Bob" {
		t.Error(got)
	}
}

// Functions of other packages go by the name that they have in stack traces.
func ExampleUnexported() {
	mock.Unexported(t, "github.com/ftrace-wrap/ftrace-wrap/mock_test.(*account).withdraw",
		func(a *account, amount int) error { return nil })
	if err := (&account{"Ada", 0}).withdraw(1); err != nil {
		t.Error(err)
	}
}

// All instances of a generic function.
func ExampleGeneric() {
	mock.Unexported(t, "github.com/ftrace-wrap/ftrace-wrap/mock_test.largest[...]",
		mock.Generic(func(args []any) []any { return args[:1] }))
	if largest(1, 2) != 1 || largest("a", "b") != "a" {
		t.Error(largest(1, 2), largest("a", "b"))
	}
}

// A double knows the calls.
func ExampleDouble_Calls() {
	d := mock.Replace(t, (*account).withdraw, func(a *account, amount int) error { return nil })
	(&account{"Ada", 0}).withdraw(1000)
	calls := d.Calls()
	if d.Count() != 1 || mock.Arg[int](calls[0], 1) != 1000 || mock.Result[error](calls[0], 0) != nil {
		t.Error(calls)
	}
}

// A replacement can call what it replaces.
func ExampleAround() {
	mock.Around(t, (*account).withdraw, func(original func(*account, int) error) func(*account, int) error {
		return func(a *account, amount int) error { return original(a, amount*2) }
	})
	ada := &account{"Ada", 10}
	ada.withdraw(3)
	if ada.balance != 4 {
		t.Error(ada.balance)
	}
}

// The test itself can call what is replaced.
func ExampleDouble_Original() {
	d := mock.Replace(t, today, func() string { return "2024-02-29" })
	if real := d.Original()(); real == today() {
		t.Error(real)
	}
}

// The second call fails, and all after it.
func ExampleReturn() {
	mock.Return(t, (*account).withdraw, nil, mock.Then(errors.New("bank on fire")))
	ada := &account{"Ada", 0}
	if first, second := ada.withdraw(1), ada.withdraw(1); first != nil || second == nil {
		t.Error(first, second)
	}
}

// All accounts have the same name, and whatever else prints itself.
func ExampleEvery() {
	mock.Every(t, fmt.Stringer.String, func(fmt.Stringer) string { return "Bob" })
	if name := (&account{"Ada", 0}).String(); name != "Bob" {
		t.Error(name)
	}
}

// Calls are watched, and one of them does not run.
func ExampleIntercept() {
	var results []any
	mock.Intercept(t, "mock_test.(*account).withdraw", func(c *mock.Intercepted) {
		if c.Args[1] == 13 {
			c.Return(errors.New("unlucky"))
		}
	}, func(c *mock.Intercepted) {
		results = append(results, c.Results[0])
	})
	ada := &account{"Ada", 100}
	ada.withdraw(3)
	ada.withdraw(13)
	if ada.balance != 97 || len(results) != 2 || results[0] != nil || fmt.Sprint(results[1]) != "unlucky" {
		t.Error(ada.balance, results)
	}
}

// Large amounts fail, others reach the function.
func ExampleWhen() {
	mock.Replace(t, (*account).withdraw,
		func(a *account, amount int) error { return errors.New("bank on fire") },
		mock.When(func(a *account, amount int) bool { return amount > 100 }))
	ada := &account{"Ada", 1000}
	if ada.withdraw(5) != nil || ada.withdraw(500) == nil {
		t.Error("want an error for the large amount alone")
	}
}

// The first two calls time out, the third is the real one.
func ExampleTimes() {
	mock.Replace(t, (*account).withdraw,
		func(a *account, amount int) error { return os.ErrDeadlineExceeded },
		mock.Times(2), mock.MustCallTimes(2))
	ada := &account{"Ada", 10}
	first, second, third := ada.withdraw(1), ada.withdraw(1), ada.withdraw(1)
	if first == nil || second == nil || third != nil {
		t.Error("want two errors")
	}
}

// Each call gets its own answer.
func ExampleSequence() {
	mock.Replace(t, today, mock.Sequence(
		func() string { return "2024-02-29" },
		func() string { return "2024-03-01" }))
	if first, then := today(), today(); first != "2024-02-29" || then != "2024-03-01" {
		t.Error(first, then)
	}
}

// Every function that the pattern names fails.
func ExampleErrors() {
	boom := errors.New("bank on fire")
	f := mock.Errors(t, "mock_test.(*account).*", boom, mock.Times(1))
	ada := &account{"Ada", 10}
	if err := ada.withdraw(1); err != boom {
		t.Error(err)
	}
	if err := ada.withdraw(1); err != nil || f.Count() != 1 {
		t.Error(err, f.Functions())
	}
}

// Outside of tests. A program that was not built with ftrace-wrap gets an error.
func ExampleSwap() {
	restore, err := mock.Swap(today, func() string { return "2024-02-29" })
	if errors.Is(err, mock.ErrNotHooked) {
		fmt.Println(err)
	}
	defer restore()
	// Output: mock: not hooked: this program was not built with ftrace-wrap; run with ftrace-wrap test
}

// A test can be run without hooks too, and is skipped then.
func ExampleSkipUnlessHooked() {
	mock.SkipUnlessHooked(t)
	mock.Replace(t, today, func() string { return "2024-02-29" })
}

// TestExamples runs the examples that need hooks.
func TestExamples(test *testing.T) {
	mock.SkipUnlessHooked(test)
	defer func(before testing.TB) { t = before }(t)
	for name, example := range map[string]func(){
		"Replace": ExampleReplace, "method": ExampleReplace_method, "generic": ExampleReplace_generic,
		"Implementation": ExampleImplementation, "Unexported": ExampleUnexported, "Generic": ExampleGeneric,
		"Calls": ExampleDouble_Calls, "Original": ExampleDouble_Original, "Around": ExampleAround, "Return": ExampleReturn, "Every": ExampleEvery, "Intercept": ExampleIntercept, "When": ExampleWhen,
		"Times": ExampleTimes, "Sequence": ExampleSequence, "Errors": ExampleErrors,
		"SkipUnlessHooked": ExampleSkipUnlessHooked,
	} {
		test.Run(name, func(test *testing.T) {
			t = test
			example()
		})
	}
}
