//go:build ftrace_core

// The tracer's memory: per-goroutine state and text buffers. All of it is off the heap, so that it neither shows in the
// program's allocation counts nor is scanned by the garbage collector. What pointers it holds are to static data or to
// configurations, which are kept for ever.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceG is the tracer's state of one goroutine that has called an armed function. Only that goroutine uses it.
type ftraceG struct {
	_      sys.NotInHeap
	next   *ftraceG // in the free list
	frames *ftraceFrame
	size   int32 // frames that fit
	depth  int32 // frames in use
	shown  int32 // of them, those that are shown
	busy   int32 // the tracer itself is at work on this goroutine: what it calls is not traced
	mask   uint32
	headed bool // the goroutine's first line was printed

	// Where the goroutine was started, if in an armed function.
	parent      uint64
	parentFn    *ftraceFunc
	parentCount uintptr
	startMask   uint32 // the marks it inherits

	group *ftraceGroup // lines that wait for the end of the outermost call, see ftrace_group.go
	held  *ftraceText  // entry lines that wait for the exit, see ftrace_text.go
	notes *ftraceText  // of the calls under way
}

// ftraceText is a buffer for text. It is large, but only the pages in use take memory.
type ftraceText struct {
	_    sys.NotInHeap
	next *ftraceText // in the free list
	n    int
	data [ftraceTextSize]byte
}

const ftraceTextSize = 64<<10 - 64

// ftraceMem holds the free lists.
var ftraceMem struct {
	lock    mutex
	gs      *ftraceG
	texts   *ftraceText
	records *ftraceRecord
	frames  [ftraceClasses]*ftraceFrame // by size class; the first frame of a free block links to the next block
}

// Blocks of frames hold ftraceSmallest << class frames. Goroutines that call deep get larger ones.
const (
	ftraceSmallest = 8
	ftraceClasses  = 24
)

// ftraceLost counts the calls that were not seen because there was no memory for them; atomic.
var ftraceLost uint32

func ftraceAlloc(size uintptr) unsafe.Pointer {
	return persistentalloc(size, 0, &memstats.other_sys)
}

// ftraceNewG returns an empty state, or nil if there is no memory.
func ftraceNewG() *ftraceG {
	lock(&ftraceMem.lock)
	t := ftraceMem.gs
	if t != nil {
		ftraceMem.gs = t.next
	}
	unlock(&ftraceMem.lock)
	if t == nil {
		t = (*ftraceG)(ftraceAlloc(unsafe.Sizeof(ftraceG{})))
	}
	return t
}

// free gives the state back, empty, with what it holds.
func (t *ftraceG) free() {
	held, notes, frames, size := t.held, t.notes, t.frames, t.size
	if t.group != nil {
		t.group.orphan()
	}
	*t = ftraceG{}
	ftraceFreeText(held)
	ftraceFreeText(notes)
	ftraceFreeFrames(frames, size)
	lock(&ftraceMem.lock)
	t.next = ftraceMem.gs
	ftraceMem.gs = t
	unlock(&ftraceMem.lock)
}

func (t *ftraceG) frame(i int32) *ftraceFrame {
	return (*ftraceFrame)(add(unsafe.Pointer(t.frames), uintptr(i)*unsafe.Sizeof(ftraceFrame{})))
}

// push returns an empty frame on top of the others, or nil if there is no memory.
func (t *ftraceG) push() *ftraceFrame {
	if t.depth == t.size && !t.grow() {
		return nil
	}
	frame := t.frame(t.depth)
	*frame = ftraceFrame{}
	t.depth++
	return frame
}

// pop takes frame off, which is the topmost.
func (t *ftraceG) pop(frame *ftraceFrame) {
	t.depth--
	t.shown = frame.shown
	t.mask = t.inherited()
	if frame.note != 0 {
		t.notes.n = int(frame.note) - 1
	}
}

// inherited returns the marks of the calls under way.
func (t *ftraceG) inherited() uint32 {
	if t.depth == 0 {
		return t.startMask
	}
	return t.frame(t.depth - 1).mask
}

// grow doubles the room for frames.
func (t *ftraceG) grow() bool {
	size := max(t.size*2, ftraceSmallest)
	frames := ftraceNewFrames(size)
	if frames == nil {
		return false
	}
	if t.depth > 0 {
		memmove(unsafe.Pointer(frames), unsafe.Pointer(t.frames), uintptr(t.depth)*unsafe.Sizeof(ftraceFrame{}))
	}
	ftraceFreeFrames(t.frames, t.size)
	t.frames, t.size = frames, size
	return true
}

func ftraceClass(size int32) int {
	class := 0
	for n := int32(ftraceSmallest); n < size; n *= 2 {
		class++
	}
	return class
}

func ftraceNewFrames(size int32) *ftraceFrame {
	class := ftraceClass(size)
	if class >= ftraceClasses {
		return nil
	}
	lock(&ftraceMem.lock)
	frames := ftraceMem.frames[class]
	if frames != nil {
		ftraceMem.frames[class] = *(**ftraceFrame)(unsafe.Pointer(frames))
	}
	unlock(&ftraceMem.lock)
	if frames == nil {
		frames = (*ftraceFrame)(ftraceAlloc(uintptr(size) * unsafe.Sizeof(ftraceFrame{})))
	}
	return frames
}

func ftraceFreeFrames(frames *ftraceFrame, size int32) {
	if frames == nil {
		return
	}
	class := ftraceClass(size)
	lock(&ftraceMem.lock)
	*(**ftraceFrame)(unsafe.Pointer(frames)) = ftraceMem.frames[class]
	ftraceMem.frames[class] = frames
	unlock(&ftraceMem.lock)
}

// ftraceNewText returns an empty buffer.
func ftraceNewText() *ftraceText {
	lock(&ftraceMem.lock)
	text := ftraceMem.texts
	if text != nil {
		ftraceMem.texts = text.next
	}
	unlock(&ftraceMem.lock)
	if text == nil {
		text = (*ftraceText)(ftraceAlloc(unsafe.Sizeof(ftraceText{})))
	}
	text.next = nil
	text.n = 0
	return text
}

func ftraceFreeText(text *ftraceText) {
	if text == nil {
		return
	}
	lock(&ftraceMem.lock)
	text.next = ftraceMem.texts
	ftraceMem.texts = text
	unlock(&ftraceMem.lock)
}

// ftraceGoroutineStart is called by newproc1, on the system stack, for each new goroutine: it notes which armed function
// starts it, and lets it inherit the marks, so that "everything it calls" includes the goroutines it starts.
func ftraceGoroutineStart(newg, callergp *g) {
	ftraceScopeStart(newg, callergp)
	t := callergp.ftrace
	if t == nil || t.depth == 0 || isSystemGoroutine(newg, false) {
		return
	}
	frame := t.frame(t.depth - 1)
	child := ftraceNewG()
	if child == nil {
		atomic.Xadd(&ftraceLost, 1)
		return
	}
	child.parent = callergp.goid
	child.parentFn = frame.fn
	child.parentCount = frame.count
	child.startMask = frame.mask
	child.mask = frame.mask
	newg.ftrace = child
}

// ftraceGoroutineEnd is called by gdestroy, on the system stack.
func ftraceGoroutineEnd(gp *g) {
	gp.ftraceMock.clear()
	gp.ftraceWeave = ftraceWeaveG{}
	if t := gp.ftrace; t != nil {
		gp.ftrace = nil
		gp.ftraceRecovered = nil
		t.free()
	}
}
