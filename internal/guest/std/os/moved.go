//go:build ftrace_core && linux

// This file is added to package os on Linux: copies between a file and a connection that the kernel makes, for io.Copy, do not pass package net, which is told of them here.

package os

import (
	"internal/poll"
	"unsafe"
)

// ftraceNetMoved is package net's, nil in programs without it.
//
//go:linkname ftraceNetMoved runtime.ftraceNetMoved
var ftraceNetMoved func(pfd unsafe.Pointer, n int64, sent bool)

// ftraceMoved says that n bytes were sent by, or received from, a connection.
func ftraceMoved(pfd *poll.FD, n int64, sent bool) {
	if n > 0 && ftraceNetMoved != nil {
		ftraceNetMoved(unsafe.Pointer(pfd), n, sent)
	}
}
