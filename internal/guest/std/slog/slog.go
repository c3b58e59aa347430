//go:build ftrace_core

// This file is added to package log/slog. It says what is logged, so that it is woven into the
// trace. See weave/log.go in package runtime.

package slog

import "unsafe"

//go:linkname ftraceWeaves runtime.ftraceWeaves
var ftraceWeaves uint32

//go:linkname ftrace_slog runtime.ftrace_slog
//go:noescape
func ftrace_slog(level int, message string, line []byte, attrs, form int, moment uint64, by uintptr) bool

//go:linkname ftrace_dropped runtime.ftrace_dropped
//go:noescape
func ftrace_dropped(line []byte)

//go:linkname ftraceLogged runtime.ftrace_logged
func ftraceLogged(begun bool)

// The forms of lines.
const (
	ftraceText = iota
	ftraceJSON
	ftraceDefault
)

// ftraceHandle says that h is about to write the line of r. attrs is where the attributes begin in
// line.
func (h *commonHandler) ftraceHandle(r Record, line []byte, attrs, form int) bool {
	if h.json {
		form = ftraceJSON
	}
	moment := uint64(0)
	if !r.Time.IsZero() {
		moment = uint64(r.Time.UnixNano()) ^ uint64(r.PC)
	}
	return ftrace_slog(int(r.Level), r.Message, line, attrs, form, moment, uintptr(unsafe.Pointer(h.mu))) // With keeps the mutex
}
