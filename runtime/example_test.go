package ftrace_test

import (
	"errors"
	"fmt"
	"os"

	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// These examples run without the wrapper, so nothing is traced in them. The comments show what the
// trace has in a program built with ftrace-wrap.

// A program chooses what is traced while it runs. This one runs without the wrapper as well.
func ExampleSetRules() {
	err := ftrace.SetRules("example.com/app/db.*=deep; !*.String")
	if err != nil && !errors.Is(err, ftrace.ErrInactive) {
		fmt.Println(err) // the rules are wrong
	}
	fmt.Println(err)
	// Output: ftrace: this program was not built with ftrace-wrap
}

// Wrong rules are refused, with the place.
func ExampleSetRules_wrong() {
	err := ftrace.SetRules("main.*=agrs")
	fmt.Println(err)
	// Output: ftrace: rules: at byte 7, "agrs": unknown setting "agrs" (did you mean "args"?)
}

// Some seconds of trace, and then none.
func ExampleSetRules_off() {
	work := func() {}
	if err := ftrace.SetRules("main.*=tree"); err != nil {
		fmt.Println("not traced:", err)
	}
	work()
	ftrace.SetRules("off")
	fmt.Printf("%q\n", ftrace.Rules())
	// Output:
	// not traced: ftrace: this program was not built with ftrace-wrap
	// ""
}

// A clause that matches nothing is mostly a mistake.
func ExampleMatches() {
	for _, m := range ftrace.Matches() {
		if m.Funcs == 0 {
			fmt.Printf("%s matches no function\n", m.Clause)
		}
	}
	// Output:
}

// A note tells what the parameters do not.
func ExampleNote() {
	retry := func(attempts int) {
		ftrace.Note("attempts", attempts) // G1   } // main.retry: attempts 3
	}
	retry(3)
	fmt.Println(ftrace.Depth())
	// Output: 0
}

// What a note costs to prepare is saved while nobody sees it.
func ExampleEnabled() {
	summary := func() string { return "expensive" }
	if ftrace.Enabled() {
		ftrace.Note(summary())
	}
	fmt.Println(ftrace.Active(), ftrace.Enabled())
	// Output: false false
}

// A log line with the goroutine's number can be found in the trace.
func ExampleGoroutine() {
	fmt.Printf("G%d\n", ftrace.Goroutine())
	// Output: G0
}

// A writer that makes lines of the trace itself keeps them from being woven once more.
func ExampleWithoutWeaving() {
	log := func(line string) {
		ftrace.Logged(ftrace.LevelInLine, []byte(line))
		ftrace.WithoutWeaving(func() { os.Stdout.WriteString(line) })
	}
	log("level=INFO msg=listening\n")
	// Output: level=INFO msg=listening
}
