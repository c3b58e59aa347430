//go:build ftrace_core

// This file is added to package net. It has the errors that FTRACE_FAIL can name, see
// mock/errors.go in package runtime.

package net

import (
	"internal/bytealg"
	"os"
	"syscall"
	_ "unsafe" // for linkname
)

//go:linkname ftraceErrors runtime.ftraceErrorsNet
var ftraceErrors = []any{
	"net.ErrClosed", &ErrClosed,
	"net.ErrWriteToConnected", &ErrWriteToConnected,
	"net.AddrError", (*AddrError)(nil),
	"net.DNSError", (*DNSError)(nil),
	"net.OpError", (*OpError)(nil),
	"net.ParseError", (*ParseError)(nil),
}

// ftraceWrap returns err as a function of this package would return it.
//
//go:linkname ftraceWrap runtime.ftraceWrapNet
var ftraceWrap = func(function string, params []any, err error) error {
	errno, ok := err.(syscall.Errno)
	if !ok && err != ErrClosed && err != os.ErrDeadlineExceeded {
		return err
	}
	op := []byte(function[bytealg.LastIndexByteString(function, '.')+1:])
	lowerASCIIBytes(op)
	e := &OpError{Op: string(op), Err: err}
	switch e.Op {
	case "dialtimeout", "dialcontext", "dialtcp", "dialudp", "dialunix", "dialip":
		e.Op = "dial"
	case "readfrom", "readmsg":
		e.Op = "read"
	case "writeto", "writemsg":
		e.Op = "write"
	}
	call := e.Op
	if call == "dial" {
		call = "connect"
	}
	if ok {
		e.Err = os.NewSyscallError(call, errno)
	}
	for _, x := range params {
		switch x := x.(type) {
		case string:
			if e.Net == "" {
				e.Net = string([]byte(x)) // which may be on the stack
			} else if e.Addr == nil {
				e.Addr = ftraceCalled([]byte(x))
			}
		case Conn:
			if e.Net == "" && x.LocalAddr() != nil {
				e.Net, e.Source, e.Addr = x.LocalAddr().Network(), x.LocalAddr(), x.RemoteAddr()
			}
		}
	}
	return e
}

// ftraceCalled is an address that was to be called.
type ftraceCalled string

func (a ftraceCalled) Network() string { return "" }
func (a ftraceCalled) String() string  { return string(a) }
