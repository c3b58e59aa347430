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
	_      sys.NotInHeap
	place  ftracePlace // of its entry, with the ticks; 0 if the entry was not noted
	key    uint32
	flags  uint32
	event  uint64  // it is the nth noted call on its goroutine, from 1
	count  uintptr // it is the nth call of the function
	object uint64  // the receiver's address if it is a pointer
	cut    uint32  // number of cuts when it began, see keep/cut.go
	mask   uint32  // marks of this call and of those around it

	fn     ftraceFuncPtr
	clause ftraceClausePtr // the clause by which it is shown; 0 if it is not shown
	sp     uintptr         // of the function's frame, as a distance from the stack's top, which a stack copy keeps
	within uint64          // ticks of the calls within it that have ended
	start  int64           // nanotime, if something needs it
	shown  int32           // number of shown calls around it
	held   int32           // 1 + where its entry line begins in the goroutine's held text, 0 if it is not held
	heldAt int32           // where the part after the brace begins
	note   int32           // 1 + where its notes begin in the goroutine's notes, 0 if it has none
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

const (
	ftraceAtReturns  = 1 << iota // the function is traced at its returns: its exit is not seen if it panics
	ftraceRecovered              // the function recovered a panic, whose value is in g.ftraceRecovered
	ftracePanicked               // a panic ended the call, and was recovered further up
	ftraceHeldLost               // its entry line is still to be shown, but did not fit into the held text
	ftraceReplaced               // a replacement was called instead
	ftracePrinted                // its entry line was printed
	ftraceNotTimed               // timing was off when it began
	ftraceHasText                // start, held or note may be set, see ftraceG.pop
	ftraceFrameFlags = 1<<iota - 1
)

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
func (frame *ftraceFrame) keyAndFlags() uint64 { return *(*uint64)(unsafe.Pointer(&frame.key)) }

// ftracePlace is where a record is, in the rings or in files. Readers know it byte for byte.
type ftracePlace struct {
	ticks uint64
	where uint64 // 32 bits: number of the chunk, 16: the writer; 16: the offset in words
}

// ftraceNowhere is the place of what is not recorded.
const ftraceNowhere = 0xFFFF << 32

// ftracePlaceAt makes a place as whole words: the processor is slow to load one that was stored in
// parts.
func ftracePlaceAt(ticks, chunk uint64, writer int32, offset uintptr) ftracePlace {
	return ftracePlace{ticks, uint64(uint32(chunk)) | uint64(writer)<<32 | uint64(offset/8)<<48}
}

func (p *ftracePlace) writer() int { return int(p.where >> 32 & 0xFFFF) }

func (p *ftracePlace) number() uint32 { return uint32(p.where) }

func (p *ftracePlace) offset() uintptr { return uintptr(p.where>>48) * 8 }
