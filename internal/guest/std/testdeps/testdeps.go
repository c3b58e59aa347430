//go:build ftrace_core

// This file is added to package testing/internal/testdeps, which is in all test binaries. The core
// needs to know that this is one: the go command reads what package testing writes.

package testdeps

import _ "unsafe" // for go:linkname

//go:linkname ftraceTests runtime.ftraceTests
var ftraceTests bool

func init() { ftraceTests = true }
