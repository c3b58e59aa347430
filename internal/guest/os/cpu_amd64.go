//go:build ftrace_core

package runtime

// ftraceCycles reads the processor's counter, see os/cpu_amd64.s.
func ftraceCycles() uint64

// ftraceTouch reports whether the byte at p can be read, by reading it: see os/cpu_amd64.s. The
// handler of the signal must know it.
func ftraceTouch(p uintptr) bool

// ftraceUntouched returns false, as ftraceTouch does.
func ftraceUntouched() bool
