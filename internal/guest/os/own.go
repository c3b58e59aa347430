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

// ftraceFill makes a file longer by size bytes from offset on, all zero. It returns an errno or 0.
func ftraceFill(fd int32, offset int64, size uintptr) int32 {
	const piece = 32 << 10
	b := ftraceNewText()
	defer ftraceFreeText(b)
	memclrNoHeapPointers(unsafe.Pointer(&b.data), piece)
	for size > 0 {
		n := min(size, piece)
		if errno := ftraceWriteAt(fd, unsafe.Pointer(&b.data), int(n), offset); errno != 0 {
			return errno
		}
		offset, size = offset+int64(n), size-n
	}
	return 0
}
