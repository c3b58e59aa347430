//go:build ftrace_core && go1.22

// This file is added to packages of client libraries whose protocol is known: the links into the
// core. See probe/protocol.go in package runtime.

package definition

import "unsafe"

// What a plugin gets.
const (
	ftraceWantsNotes = 1 << iota
	ftraceWantsSecrets
	ftraceWantsParameters
)

//go:linkname ftraceProtocols runtime.ftraceProtocols
var ftraceProtocols uint32

//go:linkname ftraceBegin runtime.ftrace_protocol_begin
func ftraceBegin(protocol string, probed bool, address, user, database string) (conn unsafe.Pointer, wants uint32)

//go:linkname ftracePend runtime.ftrace_protocol_pend
func ftracePend(protocol string, pending unsafe.Pointer) (outerProtocol string, outer unsafe.Pointer)

//go:linkname ftracePending runtime.ftrace_protocol_pending
func ftracePending(protocol string) unsafe.Pointer

//go:linkname ftraceQuiet runtime.ftrace_protocol_quiet
func ftraceQuiet() bool

//go:linkname ftraceEnter runtime.ftrace_protocol_enter
func ftraceEnter(conn unsafe.Pointer) bool

//go:linkname ftracePrintExit runtime.ftrace_protocol_leave
func ftracePrintExit(conn unsafe.Pointer) (ended bool)

//go:linkname ftraceClose runtime.ftrace_protocol_close
func ftraceClose(conn unsafe.Pointer) (ended bool)

//go:linkname ftraceStage runtime.ftrace_protocol_stage
func ftraceStage(conn unsafe.Pointer, stage string)

//go:linkname ftraceIdentify runtime.ftrace_protocol_identify
func ftraceIdentify(conn unsafe.Pointer, id uint64)

//go:linkname ftraceAddress runtime.ftrace_protocol_address
func ftraceAddress(conn unsafe.Pointer, address string)

//go:linkname ftraceDriver runtime.ftrace_protocol_driver
func ftraceDriver(conn unsafe.Pointer, driver any)

//go:linkname ftraceEvent runtime.ftrace_protocol_event
func ftraceEvent(conn unsafe.Pointer, event string, args *ftraceArgs)

//go:linkname ftraceNote runtime.ftrace_protocol_note
func ftraceNote(conn unsafe.Pointer, note string)

//go:linkname ftraceWait runtime.ftrace_protocol_wait
func ftraceWait(conn unsafe.Pointer) bool

//go:linkname ftraceNumber runtime.ftrace_protocol_number
func ftraceNumber() uint64

// Static probes, see probe/probes.go in package runtime.

//go:linkname ftraceDeclare runtime.ftrace_declare
func ftraceDeclare(provider, file, text string, hooks *any, n uintptr, parts string, wanted *uint64)

//go:linkname ftraceFire runtime.ftrace_fire
//go:noescape
func ftraceFire(hook *any, args ...any)
