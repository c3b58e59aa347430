//go:build ftrace_core

// This file is added to package database/sql. It has the errors that FTRACE_FAIL can name, see
// mock/errors.go in package runtime.

package sql

import (
	"database/sql/driver"
	_ "unsafe" // for linkname
)

//go:linkname ftraceErrors runtime.ftraceErrorsSQL
var ftraceErrors = []any{
	"database/sql.ErrNoRows", &ErrNoRows,
	"database/sql.ErrConnDone", &ErrConnDone,
	"database/sql.ErrTxDone", &ErrTxDone,
	"database/sql/driver.ErrBadConn", &driver.ErrBadConn,
	"database/sql/driver.ErrSkip", &driver.ErrSkip,
}
