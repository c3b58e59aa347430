//go:build ftrace_core && windows

// This file is added to package internal/poll on Windows. It has what is done with what goes to a
// console while what the program writes is woven into the trace. See weave/weave.go in package
// runtime.

package poll

import (
	"syscall"
	"unicode/utf8"
	_ "unsafe" // for go:linkname
)

// ftraceWeaves is not 0 while what is written is woven.
//
//go:linkname ftraceWeaves runtime.ftraceWeaves
var ftraceWeaves uint32

//go:linkname ftrace_descriptor runtime.ftrace_descriptor
func ftrace_descriptor(handle uintptr) int32

//go:linkname ftrace_write runtime.ftrace_write
//go:noescape
func ftrace_write(fd int32, p []byte) (n int, errno int32)

// ftraceWriteConsole does what writeConsole does. It keeps the beginning of a character at the end
// for the next write, for a console takes whole ones.
func (fd *FD) ftraceWriteConsole(b []byte) (int, error) {
	descriptor := int32(0)
	if ftraceWeaves != 0 {
		descriptor = ftrace_descriptor(uintptr(fd.Sysfd))
	}
	if descriptor != 1 && descriptor != 2 {
		return fd.writeConsole(b)
	}
	text := b
	if len(fd.lastbits) > 0 {
		text = append(fd.lastbits, b...)
	}
	end := len(text)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	if end > 0 {
		if _, errno := ftrace_write(descriptor, text[:end]); errno != 0 {
			return 0, syscall.Errno(errno)
		}
	}
	fd.lastbits = append([]byte(nil), text[end:]...)
	return len(b), nil
}
