//go:build ftrace_core && linux

// This file is added to package os on Linux. Copies between a file and a connection that the kernel
// makes, for io.Copy, do not pass package net. This file tells it about them.

package os

import (
	"internal/poll"
	"unsafe"
)

// ftraceNetMoved is package net's function, nil in programs without that package.
//
//go:linkname ftraceNetMoved runtime.ftraceNetMoved
var ftraceNetMoved func(pfd unsafe.Pointer, n int64, sent bool)

// ftraceMoved says that a connection sent or received n bytes.
func ftraceMoved(pfd *poll.FD, n int64, sent bool) {
	if n > 0 && ftraceNetMoved != nil {
		ftraceNetMoved(unsafe.Pointer(pfd), n, sent)
	}
}
