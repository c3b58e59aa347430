//go:build ftrace_core

package runtime

// ftraceCycles reads the processor's counter, for which package runtime has the clock here.
//
//go:nosplit
func ftraceCycles() uint64 { return uint64(cputicks()) }
