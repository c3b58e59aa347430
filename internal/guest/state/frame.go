//go:build ftrace_core

// Calls under way: the frames of a goroutine.

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// ftraceFrame is one call of an armed function that is under way. Readers outside of the program
// know the first fields byte for byte.
type ftraceFrame struct {
	_                   sys.NotInHeap
	ftrace_format_Frame // its Mask: marks of this call and of those around it

	fn     ftraceFuncPtr
	clause ftraceClausePtr // the clause by which it is shown; 0 if it is not shown
	sp     uintptr         // of the function's frame, as a distance from the stack's top, which a stack copy keeps
	start  int64           // nanotime, if something needs it; of a call that is left out, ticks when it began
	shown  int32           // number of shown calls around it
	held   int32           // 1 + where its entry line begins in the goroutine's held text, 0 if it is not held
	heldAt int32           // where the part after the brace begins
	note   int32           // 1 + where its notes begin in the goroutine's notes, 0 if it has none
}

// The highest flags of a frame have a bit for each session that the call was recorded for. A
// function has no such flags, so these calls do not end on the fast path.
const (
	ftraceFrameSession  = 1 << (32 - ftrace_format_SessionsMax)
	ftraceFrameSessions = (1<<ftrace_format_SessionsMax - 1) * ftraceFrameSession
)

// saw reports whether the call was recorded for a session.
func (frame *ftraceFrame) saw(session int) bool {
	return frame.Flags>>session&ftraceFrameSession != 0
}

// ftraceSessionOf returns the first of the sessions that these flags of a frame name.
func ftraceSessionOf(flags uint32) int {
	return sys.TrailingZeros32(flags) - (32 - ftrace_format_SessionsMax)
}

// ftraceFuncPtr and ftraceClausePtr are pointers that the garbage collector need not see, as
// guintptr is: what they point to is never freed. So storing them needs no write barrier. Frames
// are not in the collector's memory, where a barrier has no business, and where
// GOEXPERIMENT=cgocheck2 forbids pointers into the collector's memory.
type (
	ftraceFuncPtr   uintptr
	ftraceClausePtr uintptr
)

//go:nosplit
func (p ftraceFuncPtr) ptr() *ftraceFunc { return (*ftraceFunc)(unsafe.Pointer(p)) }

//go:nosplit
func (p ftraceClausePtr) ptr() *ftrace_rule_Clause { return (*ftrace_rule_Clause)(unsafe.Pointer(p)) }

// above returns the frame on top of this one.
//
//go:nosplit
func (frame *ftraceFrame) above() *ftraceFrame {
	return (*ftraceFrame)(add(unsafe.Pointer(frame), unsafe.Sizeof(*frame)))
}

// below returns the frame under this one.
//
//go:nosplit
func (frame *ftraceFrame) below() *ftraceFrame {
	return (*ftraceFrame)(unsafe.Pointer(uintptr(unsafe.Pointer(frame)) - unsafe.Sizeof(*frame)))
}

//go:nosplit
func (frame *ftraceFrame) keyAndFlags() uint64 { return *(*uint64)(unsafe.Pointer(&frame.Key)) }

// ftracePlaceAt makes a place as whole words: the processor is slow to load one that was stored in
// parts.
func ftracePlaceAt(ticks, chunk uint64, writer int32, offset uintptr) ftrace_format_Place {
	return ftrace_format_Place{ticks, uint64(uint32(chunk)) | uint64(writer)<<ftrace_format_PlaceProcessor | uint64(offset/8)<<ftrace_format_PlaceOffset}
}

func (p *ftrace_format_Place) writer() int {
	return int(p.Where >> ftrace_format_PlaceProcessor & 0xFFFF)
}

func (p *ftrace_format_Place) number() uint32 { return uint32(p.Where) }

func (p *ftrace_format_Place) offset() uintptr {
	return uintptr(p.Where>>ftrace_format_PlaceOffset) * 8
}
