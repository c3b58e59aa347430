package ftrace_test

import (
	"fmt"

	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// Rules can be changed while the program runs. A program built without the wrapper learns that
// there is nothing to trace.
func ExampleSetRules() {
	err := ftrace.SetRules("example.com/app/db.*=deep; !*.String")
	fmt.Println(err)
	// Output: ftrace: this program was not built with ftrace-wrap
}

// What is wrong with rules is said.
func ExampleSetRules_wrong() {
	err := ftrace.SetRules("main.*=agrs")
	fmt.Println(err)
	// Output: ftrace: rules: at byte 7, "agrs": unknown setting "agrs" (did you mean "args"?)
}

func ExampleNote() {
	retry := func(attempts int) {
		ftrace.Note("attempts", attempts) // } // main.retry: attempts 3
	}
	retry(3)
	fmt.Println(ftrace.Active(), ftrace.Enabled(), ftrace.Depth())
	// Output: false false 0
}
