//go:build ftrace_core

// This file is added to package net/http. It has the errors that FTRACE_FAIL can name, see
// mock/errors.go in package runtime.

package http

import _ "unsafe" // for linkname

//go:linkname ftraceErrors runtime.ftraceErrorsHTTP
var ftraceErrors = []any{
	"net/http.ErrAbortHandler", &ErrAbortHandler,
	"net/http.ErrBodyReadAfterClose", &ErrBodyReadAfterClose,
	"net/http.ErrHandlerTimeout", &ErrHandlerTimeout,
	"net/http.ErrNoCookie", &ErrNoCookie,
	"net/http.ErrNoLocation", &ErrNoLocation,
	"net/http.ErrServerClosed", &ErrServerClosed,
	"net/http.ErrUseLastResponse", &ErrUseLastResponse,
}
