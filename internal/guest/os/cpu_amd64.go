//go:build ftrace_core

package runtime

// ftraceCycles reads the processor's counter, see os/cpu_amd64.s.
func ftraceCycles() uint64
