//go:build ftrace_core

// What a file is, why one is not used, and how one is filled.

package runtime

import "unsafe"

// An ftraceError is what one of the system's errors means.
type ftraceError struct {
	errno int32
	text  string
}

// ftraceRefused is what is added to an [ftrace_ownfile_Refusal] to make it an errno.
const ftraceRefused = 1 << 16

// What a file is.
const (
	ftraceFileOther = iota
	ftraceFileRegular
	ftraceFilePipe
	ftraceFileSocket
)

// ftraceZeros takes no memory, as nothing writes to it.
var ftraceZeros [32 << 10]byte

// ftraceFill makes a file longer by size bytes from offset on, all zero. It returns an errno or 0.
func ftraceFill(fd int32, offset int64, size uintptr) int32 {
	for size > 0 {
		n := min(size, unsafe.Sizeof(ftraceZeros))
		if errno := ftraceWriteAt(fd, unsafe.Pointer(&ftraceZeros), int(n), offset); errno != 0 {
			return errno
		}
		offset, size = offset+int64(n), size-n
	}
	return 0
}
