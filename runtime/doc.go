// Package ftrace lets a program that was built with ftrace-wrap steer its own trace.
//
//	import ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
//
//	ftrace.SetRules("example.com/app/db.*=deep; !*.String")
//	...
//	ftrace.Note("retry", n)   // G1   } = nil // db.Query: retry 2
//
// [SetRules] chooses which functions are traced while the program runs; the environment variable
// FTRACE chooses at its start. [Note] adds what the program knows to the trace. [Enabled] and
// [Depth] report where in the trace the program is. [WithoutWeaving] and [Logged] are for writers
// of loggers.
//
// # Without the wrapper
//
// A program built by plain go build can import this package too. There is nothing to trace then:
// [Active] reports false, [SetRules] returns [ErrInactive], and all else does nothing, in a few
// nanoseconds.
//
// # Rules
//
// Rules are those of FTRACE; docs/rules.md has their grammar. What the trace looks like and where
// it goes is set by FTRACE_FORMAT and FTRACE_OUT; docs/reference.md lists these variables.
//
// All functions may be called from several goroutines at once.
package ftrace
