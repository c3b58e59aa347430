//go:build ftrace_core

// This file is added to package context. It has the errors that FTRACE_FAIL can name, see
// mock/errors.go in package runtime.

package context

import _ "unsafe" // for linkname

//go:linkname ftraceErrors runtime.ftraceErrorsContext
var ftraceErrors = []any{
	"context.Canceled", &Canceled,
	"context.DeadlineExceeded", &DeadlineExceeded,
}
