// Package guest has the part of the tracer that runs inside instrumented programs. Package inject
// gives its files to the compiler when that compiles Go's package runtime and a few others. A build
// tag keeps them out of ordinary builds.
//
// These folders become part of package runtime. They are one Go package there, so each declaration
// begins with "ftrace", and the file call/hooks.go is called ftrace_call_hooks.go:
//
//	share    requests from outside: what they change
//	arm      environment variables, rules laid on functions, setup tables, what rules matched
//	probe    static probes, protocols, statements and stages
//	wait     what goroutines stop for, and who ends that
//	call     what hooks call: the fast path, the slow path, panics, goroutines
//	mock     replacements and faults
//	weave    what the program writes and logs
//	keep     what is kept in memory: histories, summaries, cuts, FTRACE_ON_ERROR
//	record   recordings: records, chunks, tables, metadata
//	text     lines of a trace, groups, JSON, and where lines go
//	value    values from their type descriptors, secrets, which memory may be read
//	state    functions, frames, goroutines, rules and settings in force, the memory file
//	os       systems, processors, timers, buffers, the tracer's own files
//
// A room uses the rooms below it. docs/architecture.md counts the references and explains the
// exceptions.
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
//go:embed */*.go */*/*.go os/*.s
var Files embed.FS
