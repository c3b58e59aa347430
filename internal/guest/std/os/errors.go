//go:build ftrace_core

// This file is added to package os. It has the errors that FTRACE_FAIL can name, see
// mock/errors.go in package runtime.

package os

import (
	"errors"
	"internal/bytealg"
	"io"
	"io/fs"
	"syscall"
	_ "unsafe" // for linkname
)

//go:linkname ftraceErrors runtime.ftraceErrorsOS
var ftraceErrors = []any{
	"io.EOF", &io.EOF,
	"io.ErrUnexpectedEOF", &io.ErrUnexpectedEOF,
	"io.ErrClosedPipe", &io.ErrClosedPipe,
	"io.ErrNoProgress", &io.ErrNoProgress,
	"io.ErrShortBuffer", &io.ErrShortBuffer,
	"io.ErrShortWrite", &io.ErrShortWrite,
	"io/fs.ErrInvalid", &fs.ErrInvalid,
	"io/fs.ErrPermission", &fs.ErrPermission,
	"io/fs.ErrExist", &fs.ErrExist,
	"io/fs.ErrNotExist", &fs.ErrNotExist,
	"io/fs.ErrClosed", &fs.ErrClosed,
	"os.ErrInvalid", &ErrInvalid,
	"os.ErrPermission", &ErrPermission,
	"os.ErrExist", &ErrExist,
	"os.ErrNotExist", &ErrNotExist,
	"os.ErrClosed", &ErrClosed,
	"os.ErrNoDeadline", &ErrNoDeadline,
	"os.ErrDeadlineExceeded", &ErrDeadlineExceeded,
	"os.ErrProcessDone", &ErrProcessDone,
	"io/fs.PathError", (*fs.PathError)(nil),
	"os.LinkError", (*LinkError)(nil),
	"os.SyscallError", (*SyscallError)(nil),
	"errors.ErrUnsupported", &errors.ErrUnsupported,
	"syscall.E2BIG", syscall.E2BIG,
	"syscall.EACCES", syscall.EACCES,
	"syscall.EADDRINUSE", syscall.EADDRINUSE,
	"syscall.EADDRNOTAVAIL", syscall.EADDRNOTAVAIL,
	"syscall.EAGAIN", syscall.EAGAIN,
	"syscall.EBADF", syscall.EBADF,
	"syscall.EBUSY", syscall.EBUSY,
	"syscall.ECANCELED", syscall.ECANCELED,
	"syscall.ECONNABORTED", syscall.ECONNABORTED,
	"syscall.ECONNREFUSED", syscall.ECONNREFUSED,
	"syscall.ECONNRESET", syscall.ECONNRESET,
	"syscall.EDQUOT", syscall.EDQUOT,
	"syscall.EEXIST", syscall.EEXIST,
	"syscall.EFBIG", syscall.EFBIG,
	"syscall.EHOSTUNREACH", syscall.EHOSTUNREACH,
	"syscall.EINTR", syscall.EINTR,
	"syscall.EINVAL", syscall.EINVAL,
	"syscall.EIO", syscall.EIO,
	"syscall.EISDIR", syscall.EISDIR,
	"syscall.ELOOP", syscall.ELOOP,
	"syscall.EMFILE", syscall.EMFILE,
	"syscall.EMLINK", syscall.EMLINK,
	"syscall.ENAMETOOLONG", syscall.ENAMETOOLONG,
	"syscall.ENETDOWN", syscall.ENETDOWN,
	"syscall.ENETUNREACH", syscall.ENETUNREACH,
	"syscall.ENFILE", syscall.ENFILE,
	"syscall.ENOBUFS", syscall.ENOBUFS,
	"syscall.ENODEV", syscall.ENODEV,
	"syscall.ENOENT", syscall.ENOENT,
	"syscall.ENOMEM", syscall.ENOMEM,
	"syscall.ENOSPC", syscall.ENOSPC,
	"syscall.ENOSYS", syscall.ENOSYS,
	"syscall.ENOTCONN", syscall.ENOTCONN,
	"syscall.ENOTDIR", syscall.ENOTDIR,
	"syscall.ENOTEMPTY", syscall.ENOTEMPTY,
	"syscall.ENOTSUP", syscall.ENOTSUP,
	"syscall.ENXIO", syscall.ENXIO,
	"syscall.EPERM", syscall.EPERM,
	"syscall.EPIPE", syscall.EPIPE,
	"syscall.ERANGE", syscall.ERANGE,
	"syscall.EROFS", syscall.EROFS,
	"syscall.ESPIPE", syscall.ESPIPE,
	"syscall.ESTALE", syscall.ESTALE,
	"syscall.ETIMEDOUT", syscall.ETIMEDOUT,
	"syscall.EXDEV", syscall.EXDEV,
}

// ftraceWrap returns err as a function of this package would return it.
//
//go:linkname ftraceWrap runtime.ftraceWrapOS
var ftraceWrap = func(function string, params []any, err error) error {
	if _, ok := err.(syscall.Errno); !ok && err != ErrPermission && err != ErrNotExist && err != ErrExist && err != ErrClosed && err != ErrDeadlineExceeded {
		return err
	}
	var names [2]string
	n := 0
	for _, x := range params {
		switch x := x.(type) {
		case string:
			if n < len(names) {
				names[n] = string([]byte(x)) // which may be on the stack
				n++
			}
		case *File:
			if n == 0 && x != nil && x.file != nil {
				names[0], n = x.name, 1
			}
		}
	}
	op := ftraceOperation(function)
	switch op {
	case "readfile", "writefile", "create", "openfile", "readdir", "createtemp":
		op = "open"
	case "mkdirall":
		op = "mkdir"
	case "removeall":
		op = "unlinkat"
	case "readat", "readfrom":
		op = "read"
	case "writeat", "writestring", "writeto":
		op = "write"
	case "rename", "link", "symlink":
		return &LinkError{op, names[0], names[1], err}
	case "pipe", "hostname", "getwd":
		return NewSyscallError(op, err)
	}
	return &PathError{Op: op, Path: names[0], Err: err}
}

// ftraceOperation returns the last part of a function's name in lower case, as operations are
// named.
func ftraceOperation(function string) string {
	op := []byte(function[bytealg.LastIndexByteString(function, '.')+1:])
	for i, c := range op {
		if 'A' <= c && c <= 'Z' {
			op[i] = c + 'a' - 'A'
		}
	}
	return string(op)
}
