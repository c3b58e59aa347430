// Package guest has the part of the tracer that runs inside instrumented programs. Package inject
// gives its files to the compiler when that compiles Go's package runtime and a few others. A build
// tag keeps them out of ordinary builds.
//
// These folders become part of package runtime. They are one Go package there, so each declaration
// begins with "ftrace", and the file call/hooks.go is called ftrace_call_hooks.go:
//
//	call     what hooks call: the fast path, the slow path, frames, panics
//	arm      environment variables, rules laid on functions, setup tables, what rules matched
//	text     lines of a trace, groups, JSON, and where lines go
//	value    values from their type descriptors, secrets, which memory may be read
//	record   recordings: records, chunks, tables, metadata
//	keep     what is kept in memory: histories, summaries, FTRACE_ON_ERROR
//	share    the memory file, and requests from outside
//	weave    what the program writes and logs
//	mock     replacements and faults
//	probe    static probes and protocols
//	os       systems, processors, timers, the tracer's own memory and files
//
// The others become part of the package that they are named after:
//
//	std      Go's own packages
//	lib      client libraries whose protocol is followed
//	link     packages of this module that programs import: their links into package runtime
//
// Code for package runtime allocates nothing implicitly, imports nothing but what runtime imports,
// and takes no locks but the runtime's. Each nosplit and linkname says why it is there.
package guest

import "embed"

// Files are the sources, by folder.
//
//go:embed */*.go */*/*.go os/cpu_amd64.s
var Files embed.FS
