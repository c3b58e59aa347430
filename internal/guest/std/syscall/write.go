//go:build ftrace_core && unix

// This file is added to package syscall. It has what Write does while what the program writes is
// woven into the trace. See weave/weave.go in package runtime.

package syscall

import _ "unsafe" // for go:linkname

// ftraceWeaves is not 0 while what is written is woven.
//
//go:linkname ftraceWeaves runtime.ftraceWeaves
var ftraceWeaves uint32

//go:linkname ftrace_write runtime.ftrace_write
//go:noescape
func ftrace_write(fd int32, p []byte) (n int, errno int32)

//go:linkname ftrace_delivered runtime.ftrace_delivered
//go:noescape
func ftrace_delivered(fd int32, p []byte)

func ftraceWrite(fd int, p []byte) (n int, err error) {
	if fd != 1 && fd != 2 {
		if n, err = write(fd, p); n == len(p) {
			ftrace_delivered(int32(fd), p)
		}
		return n, err
	}
	n, errno := ftrace_write(int32(fd), p)
	if errno != 0 {
		err = errnoErr(Errno(errno))
	}
	return n, err
}
