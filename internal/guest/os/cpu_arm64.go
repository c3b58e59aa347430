//go:build ftrace_core

package runtime

import "internal/goarch"

// ftraceCycles reads the processor's counter, for which package runtime has the clock here.
//
//go:nosplit
func ftraceCycles() uint64 { return uint64(cputicks()) }

// ftraceTouch reports whether the byte at p can be read, by reading it: see os/cpu_arm64.s. The
// handler of the signal must know it.
func ftraceTouch(p uintptr) bool

// ftraceUntouched returns false, as ftraceTouch does.
func ftraceUntouched() bool

// ftraceFramePointer returns the frame pointer of a function whose stack pointer is sp, as
// sys.GetCallerSP returns it to a function that it has called, and that calls others itself. getfp
// would be a call, and take longer. It is where one is saved, below each frame.
//
//go:nosplit
func ftraceFramePointer(sp uintptr) uintptr { return sp - goarch.PtrSize }
