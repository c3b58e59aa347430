//go:build ftrace_core

// This file is added to package log. It says what is logged, so that it is woven into the trace.
// See weave/log.go in package runtime.

package log

import (
	"time"
	_ "unsafe" // for go:linkname
)

//go:linkname ftraceWeaves runtime.ftraceWeaves
var ftraceWeaves uint32

//go:linkname ftrace_log runtime.ftrace_log
//go:noescape
func ftrace_log(line, header []byte, message int) bool

//go:linkname ftraceFatal runtime.ftrace_fatal
func ftraceFatal()

//go:linkname ftraceLogged runtime.ftrace_logged
func ftraceLogged(begun bool)

// ftraceLog says that line is about to be written. Its message begins at the given place.
func ftraceLog(line []byte, message int, prefix string, flag int, file string, position int) bool {
	header := getBuffer()
	defer putBuffer(header)
	formatHeader(header, time.Time{}, prefix, flag&^(Ldate|Ltime|Lmicroseconds), file, position)
	return ftrace_log(line, *header, message)
}
