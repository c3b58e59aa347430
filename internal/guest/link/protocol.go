//go:build ftrace_core

// This file is added to package github.com/ftrace-wrap/ftrace-wrap/protocol when the wrapper
// compiles it: the links into the core.

package protocol

import "unsafe"

//go:linkname linkLoad runtime.ftrace_protocol_load
func linkLoad(name string, wants uint32, start func(core unsafe.Pointer, protocol string) any, stop func(core unsafe.Pointer, conn any),
	event func(core unsafe.Pointer, conn any, stage, event string, args *Args) bool) (loaded string)

//go:linkname linkUnload runtime.ftrace_protocol_unload
func linkUnload()

//go:linkname linkDetach runtime.ftrace_protocol_detach
func linkDetach(core unsafe.Pointer, report string)

//go:linkname linkConn runtime.ftrace_protocol_conn
func linkConn(core unsafe.Pointer) (id uint64, driver any)

//go:linkname linkFacts runtime.ftrace_protocol_facts
func linkFacts(core unsafe.Pointer) (number uint64, address, user, database string)

func init() {
	coreFacts = linkFacts
	coreLoad, coreUnload, coreDetach, coreConn = linkLoad, linkUnload, linkDetach, linkConn
}
