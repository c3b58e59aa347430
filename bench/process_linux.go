package main

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// peakMemory returns the most memory, in kB, that a process or one that it waited for had resident.
func peakMemory(state *os.ProcessState) float64 {
	return float64(state.SysUsage().(*syscall.Rusage).Maxrss)
}

// processorTime returns the processor time, user and system, that a running process has taken, by
// the clock that clock_getcpuclockid(3) would name.
func processorTime(pid int) (time.Duration, error) {
	var t syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|2), uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(t.Nano()), nil
}
