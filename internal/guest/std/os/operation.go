//go:build ftrace_core

// This file is added to package os. It tells the core of operations on files, see
// wait/operation.go in package runtime.

package os

import "unsafe"

// ftraceOperations is not 0 while operations are observed.
//
//go:linkname ftraceOperations runtime.ftraceOperations
var ftraceOperations uint32

//go:linkname ftrace_operates runtime.ftrace_operates
//go:noescape
func ftrace_operates(file *uint64, descriptor unsafe.Pointer, operation uint8, name string) bool

//go:linkname ftrace_opened runtime.ftrace_opened
//go:noescape
func ftrace_opened(file *uint64, descriptor unsafe.Pointer, name string)

//go:linkname ftrace_operated runtime.ftrace_operated
func ftrace_operated(bytes int64)

// The operations, as package format numbers them.
const (
	ftraceOpRead = 1 + iota
	ftraceOpWrite
	ftraceOpOpen
	ftraceOpClose
	ftraceOpSync
	ftraceOpSeek
	ftraceOpResize
)

// ftraceOperates begins an operation. It reports whether ftrace_operated is to be called.
func (f *file) ftraceOperates(operation uint8) bool {
	return ftrace_operates(&f.ftraceFile, unsafe.Pointer(&f.pfd.Sysfd), operation, f.name)
}

// ftraceOpens begins to open a file.
func ftraceOpens(name string) bool {
	var file uint64
	return ftrace_operates(&file, nil, ftraceOpOpen, name)
}

// ftraceOpened ends that. f is nil if there is none.
func ftraceOpened(f *File) {
	if f != nil {
		ftrace_opened(&f.ftraceFile, unsafe.Pointer(&f.pfd.Sysfd), f.name)
	}
	ftrace_operated(0)
}

// ftraceOperated ends an operation if it was begun.
func ftraceOperated(begun bool, err error) error {
	if begun {
		ftrace_operated(0)
	}
	return err
}
