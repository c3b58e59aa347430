//go:build ftrace_core

// This file is added to package sync. It says which locks are taken and let go, as the one that is
// added to internal/sync. See wait/locks.go in package runtime.

package sync

import "unsafe" // for go:linkname too

//go:linkname ftraceLocksOff runtime.ftraceLocksOff
var ftraceLocksOff bool

//go:linkname ftraceLocksNever runtime.ftraceLocksNever
var ftraceLocksNever int32

//go:linkname ftraceWrites runtime.ftrace_writes
func ftraceWrites(rw unsafe.Pointer)

//go:linkname ftraceTriedRead runtime.ftrace_tried_read
func ftraceTriedRead(rw unsafe.Pointer)

//go:linkname ftraceReadUnlocked runtime.ftrace_read_unlocked
func ftraceReadUnlocked(rw unsafe.Pointer)
