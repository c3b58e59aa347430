//go:build ftrace_core

// This file takes the place of link.go in package github.com/ftrace-wrap/ftrace-wrap/probe when the
// wrapper compiles it: the links into the core.

package probe

import _ "unsafe" // for go:linkname

//go:linkname declare runtime.ftrace_declare
func declare(provider, file, text string, hook *any, n uintptr, parts string, wanted *uint64)

//go:linkname fire runtime.ftrace_fire
//go:noescape
func fire(hook *any, args ...any)
