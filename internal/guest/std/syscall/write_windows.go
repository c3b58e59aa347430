//go:build ftrace_core && windows

// This file is added to package syscall on Windows. It has what WriteFile does while what the
// program writes is woven into the trace. See weave/weave.go in package runtime.

package syscall

import _ "unsafe" // for go:linkname

// ftraceWeaves is not 0 while what is written is woven.
//
//go:linkname ftraceWeaves runtime.ftraceWeaves
var ftraceWeaves uint32

//go:linkname ftrace_descriptor runtime.ftrace_descriptor
func ftrace_descriptor(handle uintptr) int32

//go:linkname ftrace_write runtime.ftrace_write
//go:noescape
func ftrace_write(fd int32, p []byte) (n int, errno int32)

//go:linkname ftrace_delivered runtime.ftrace_delivered
//go:noescape
func ftrace_delivered(fd int32, p []byte)

// ftraceWriteFile weaves what is written at once, not what is only begun.
func ftraceWriteFile(fd Handle, p []byte, done *uint32, overlapped *Overlapped) error {
	if ftraceWeaves == 0 || overlapped != nil || done == nil {
		return writeFile(fd, p, done, overlapped)
	}
	descriptor := ftrace_descriptor(uintptr(fd))
	if descriptor != 1 && descriptor != 2 {
		err := writeFile(fd, p, done, overlapped)
		if err == nil && int(*done) == len(p) {
			ftrace_delivered(descriptor, p)
		}
		return err
	}
	n, errno := ftrace_write(descriptor, p)
	if errno != 0 {
		return errnoErr(Errno(errno))
	}
	*done = uint32(n)
	return nil
}
