package main

import (
	"os"
	"syscall"
)

// peakMemory returns the most memory, in kB, that a process or one that it waited for had resident.
func peakMemory(state *os.ProcessState) float64 {
	return float64(state.SysUsage().(*syscall.Rusage).Maxrss)
}
