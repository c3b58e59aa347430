//go:build ftrace_core

// This file is added to package os. It has programs that a request starts belong to its trace, see
// probe/trace.go in package runtime.

package os

import _ "unsafe" // for linkname

//go:linkname ftracePropagate runtime.ftracePropagate
var ftracePropagate bool

//go:linkname ftraceEnvironment runtime.ftrace_trace_environment
func ftraceEnvironment(env []string) []string
