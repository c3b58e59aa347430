//go:build ftrace_core

package runtime

import (
	"internal/goarch"
	"unsafe"
)

// ftraceCycles reads the processor's counter, see os/cpu_amd64.s.
func ftraceCycles() uint64

// ftraceTouch reports whether the byte at p can be read, by reading it: see os/cpu_amd64.s. The
// handler of the signal must know it.
func ftraceTouch(p uintptr) bool

// ftraceUntouched returns false, as ftraceTouch does.
func ftraceUntouched() bool

// ftraceFramePointer returns the frame pointer of a function whose stack pointer is sp, as
// sys.GetCallerSP returns it to a function that it has called, and that calls others itself. getfp
// would be a call, and take longer. It was saved below the return address.
//
//go:nosplit
func ftraceFramePointer(sp uintptr) uintptr {
	return *(*uintptr)(unsafe.Pointer(sp - 2*goarch.PtrSize))
}
