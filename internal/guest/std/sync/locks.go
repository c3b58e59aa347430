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

//go:linkname ftraceTried runtime.ftrace_tried
func ftraceTried(m unsafe.Pointer)

//go:linkname ftraceUnlocks runtime.ftrace_unlocks
func ftraceUnlocks(m unsafe.Pointer)

const ftraceForReading = 1 // is added to an RWMutex's address
