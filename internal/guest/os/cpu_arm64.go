//go:build ftrace_core

package runtime

// ftraceCycles reads the processor's counter, for which package runtime has the clock here.
//
//go:nosplit
func ftraceCycles() uint64 { return uint64(cputicks()) }

// ftraceTouch reports whether the byte at p can be read, by reading it: see os/cpu_arm64.s. The
// handler of the signal must know it.
func ftraceTouch(p uintptr) bool

// ftraceUntouched returns false, as ftraceTouch does.
func ftraceUntouched() bool
