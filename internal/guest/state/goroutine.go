//go:build ftrace_core

// The tracer's state of each goroutine. It is off the heap, so that it neither shows in the
// program's allocation counts nor is scanned by the garbage collector. The pointers in it lead to
// static data or to configurations, which are kept for ever.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceG is the tracer's state of one goroutine that has called an armed function. Only that
// goroutine changes it. Other processes may read it.
type ftraceG struct {
	_ sys.NotInHeap

	// What a call reads first, in one line of the processor's cache.
	depth  int32  // frames in use
	shown  int32  // frames in use whose calls are shown
	events uint64 // number of noted calls so far
	// What makes it unusual, see asUsual.
	busy     int8   // the tracer itself is at work on this goroutine: what it calls is not traced
	doubtful uint8  // ftraceHooksChanged and the bits beside it; atomic
	muted    bool   // its calls are not traced, see arm/setup.go
	unwound  bool   // some of its frames may be of calls that a recovered panic ended
	mask     uint32 // the marks of the calls under way
	// g.labels when it was decided whether it is muted. It is an address, so labels that took the
	// place of others in memory look the same.
	labels   uintptr
	top      *ftraceFrame // the first frame that is not in use
	full     *ftraceFrame // the frame after the last for which the fast path can be taken, see call/fast.go
	nextCall uint32       // where the next one goes in the history
	recorded bool         // its first record was made
	headed   bool         // the goroutine's first line was printed
	lost     bool         // there was no memory for its history
	passed   uint8        // 1 + which of ftraceBudget.passed has calls that a panic has ended, 0: none
	calls    uint64       // number of calls put into the history so far

	last        uint64         // ticks of what was last noted; calls are faster if this is in another cache line
	goroutine   uint64         // 0: it is not in use
	history     unsafe.Pointer // the last calls that have ended
	historyAt   uint64         // where that is in the memory file, 0: not there
	framesAt    uint64         // likewise
	parent      uint64         // the goroutine that started it, if in an armed function, and in which call of which
	parentCount uintptr
	parentKey   uint32
	startMask   uint32 // the marks that it inherits
	start       uint64 // address of the function that it was started with

	config       uint32        // number of the configuration whose marks mask and the frames have
	startConfig  uint32        // and startMask
	parentFn     ftraceFuncPtr // the armed function in which it was started, if any
	contextShown uint64        // ticks when its last calls were printed, see keep/context.go
	size         int32         // frames that fit
	switches     uint32        // those of ftraceBudget.switches whose functions' calls were looked for among the frames

	group *ftraceGroup // lines that wait for the end of the outermost call, see text/group.go
	held  *ftraceText  // entry lines that wait for the exit, see text/text.go
	notes *ftraceText  // notes of the calls under way

	waited  uint64         // number of waits put into their history so far
	waitsAt uint64         // where that is in the memory file, 0: not there
	waits   unsafe.Pointer // the last waits that have ended
	// By session.
	seen       [ftrace_format_SessionsMax]int32 // its calls under way that were recorded for the session
	recordedIn uint16                           // bits: its first record was made there
	processor  uint16                           // by timers other than cycles: on which something of it was noted last
	nextWait   uint32                           // where the next one goes in the history of waits
}

var _ = [1]int{}[4*64-unsafe.Sizeof(ftraceG{})] // it has four lines of the cache

// after returns the ticks of what the goroutine does now: now, or later if what it did last is.
//
//go:nosplit
func (t *ftraceG) after(now uint64) uint64 {
	if now > t.last && ftraceTimer == ftrace_format_TimerCycle {
		return now
	}
	return t.afterTick(now)
}

// afterTick is after where two things can be done in a tick. Each processor's records are in a file
// of their own, and those of two files are read in the order of their ticks. So what a goroutine
// does after it came to another processor is a tick later: going there takes a microsecond or so. A
// timer that is coarser would run ahead of the time by that.
//
//go:nosplit
//go:noinline
func (t *ftraceG) afterTick(now uint64) uint64 {
	id := uint16(getg().m.p.ptr().id)
	if ftraceTimer > ftrace_format_TimerMicrosecond || ftraceTimer != ftrace_format_TimerCycle && id == t.processor {
		return max(now, t.last)
	}
	t.processor = id
	return max(now, t.last+1)
}

// Readers find these fields where package format has them.
var (
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.depth)-unsafe.Offsetof(ftrace_format_Goroutine{}.Depth)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.events)-unsafe.Offsetof(ftrace_format_Goroutine{}.Events)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.muted)-unsafe.Offsetof(ftrace_format_Goroutine{}.Muted)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.calls)-unsafe.Offsetof(ftrace_format_Goroutine{}.Calls)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.goroutine)-unsafe.Offsetof(ftrace_format_Goroutine{}.ID)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.historyAt)-unsafe.Offsetof(ftrace_format_Goroutine{}.HistoryAt)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.framesAt)-unsafe.Offsetof(ftrace_format_Goroutine{}.FramesAt)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.parent)-unsafe.Offsetof(ftrace_format_Goroutine{}.Parent)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.parentCount)-unsafe.Offsetof(ftrace_format_Goroutine{}.ParentCount)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.parentKey)-unsafe.Offsetof(ftrace_format_Goroutine{}.ParentKey)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.start)-unsafe.Offsetof(ftrace_format_Goroutine{}.Start)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.waited)-unsafe.Offsetof(ftrace_format_Goroutine{}.Waited)]
	_ = [1]int{}[unsafe.Offsetof(ftraceG{}.waitsAt)-unsafe.Offsetof(ftrace_format_Goroutine{}.WaitsAt)]
)

// Blocks of frames hold ftraceSmallest << class frames. Goroutines that call deep get larger ones.
const (
	ftraceSmallest = 4
	ftraceClasses  = 24
)

// ftraceLost counts the calls that were not noted because there was no memory for them; atomic.
var ftraceLost uint32

// ftraceNewG returns an empty state, or nil if there is no memory. It may have frames and histories
// already.
func ftraceNewG() *ftraceG {
	lock(&ftraceFreeLists.lock)
	t := ftraceFreeLists.gs
	if t != nil {
		link := (**ftraceG)(unsafe.Pointer(t))
		ftraceFreeLists.gs, *link = *link, nil
	}
	unlock(&ftraceFreeLists.lock)
	if t == nil {
		t = ftraceSharedG()
	}
	if t == nil {
		t = (*ftraceG)(ftraceAlloc(unsafe.Sizeof(ftraceG{})))
	}
	if t != nil {
		t.labels = ftraceNotJudged
	}
	return t
}

// ftraceStateOf returns the goroutine's state, or nil if there is no memory. If the goroutine has
// none it gets one. It is not preempted meanwhile: then the scheduler may give it one, see
// wait/yield.go.
func ftraceStateOf(gp *g) *ftraceG {
	mp := acquirem()
	t := gp.ftrace
	if t == nil {
		if t = ftraceNewG(); t != nil {
			t.goroutine, t.start = gp.goid, uint64(gp.startpc)
			gp.ftrace = t
		}
	}
	releasem(mp)
	return t
}

// frame returns the frame with that number, from 0 on.
//
//go:nosplit
func (t *ftraceG) frame(i int32) *ftraceFrame {
	return (*ftraceFrame)(unsafe.Pointer(uintptr(unsafe.Pointer(t.top)) - uintptr(t.depth-i)*unsafe.Sizeof(ftraceFrame{})))
}

// ftraceNotJudged is not the address of any labels.
const ftraceNotJudged = ^uintptr(0)

// push returns an empty frame on top of the others, or nil if there is no memory.
func (t *ftraceG) push() *ftraceFrame {
	if t.depth == t.size && !t.grow() {
		return nil
	}
	frame := t.top
	frame.begin()
	frame.Place, frame.Event, frame.clause = ftrace_format_Place{}, 0, 0
	t.top = frame.above()
	t.depth++
	return frame
}

// asUsual reports whether the goroutine's calls are noted like those of any other. It is
// ftraceMayTrace for one that has a state, and so does not run on a system stack. It checks five
// fields at once.
//
// (A goroutine that allocates or throws holds locks. Where throwsplit is set, no function can be
// entered that is not nosplit. Nothing outside of this package runs while preemptoff is set.)
//
//go:nosplit
func (t *ftraceG) asUsual(gp *g) bool {
	mp := gp.m
	return *(*uint64)(unsafe.Pointer(&t.busy)) == 0 && gp._panic == nil && mp.locks == 0 && !gp.ftraceMock.quiet
}

// ftraceStore64 stores after all earlier stores, for readers in other processes.
//
//go:nosplit
func ftraceStore64(p *uint64, v uint64) {
	if goarch.IsAmd64 != 0 {
		*p = v // amd64 keeps the order of stores, and the compiler keeps a store that is followed by a read
	} else {
		atomic.StoreRel64(p, v)
	}
}

// innermost returns the frame of the innermost call that was not left out, or nil.
//
//go:nosplit
func (t *ftraceG) innermost() *ftraceFrame {
	for i := t.depth - 1; i >= 0; i-- {
		if frame := t.frame(i); frame.Flags&ftrace_format_FrameAtEnd == 0 {
			return frame
		}
	}
	return nil
}

// pop takes off frame, the topmost.
func (t *ftraceG) pop(frame *ftraceFrame) {
	t.top = frame
	t.depth--
	t.shown = frame.shown
	t.mask = t.inherited()
	frame.Object, frame.Within = 0, 0
	if frame.Flags&ftraceFrameSessions != 0 {
		t.unsee(frame)
	}
	if frame.Flags&ftrace_format_FrameHasText != 0 {
		if frame.note != 0 {
			t.notes.n = int(frame.note) - 1
		}
		frame.start, frame.held, frame.heldAt, frame.note = 0, 0, 0, 0
	}
}

// unsee takes a frame off those that sessions see. Within pop, which calls it, a goroutine is not
// preempted.
//
//go:nosplit
func (t *ftraceG) unsee(frame *ftraceFrame) {
	for seen := frame.Flags & ftraceFrameSessions; seen != 0; seen &= seen - 1 {
		t.seen[ftraceSessionOf(seen)]--
	}
	frame.Flags &^= ftraceFrameSessions
}

// inherited returns the marks of the calls under way. Within pop, which calls it, a goroutine is
// not preempted: the frame is still looked at, and the scheduler may put a wait there.
//
//go:nosplit
func (t *ftraceG) inherited() uint32 {
	if t.depth == 0 {
		return t.startMarks()
	}
	return t.frame(t.depth - 1).Mask
}

// startMarks returns the marks that the goroutine began with, if they are of its configuration.
//
//go:nosplit
func (t *ftraceG) startMarks() uint32 {
	if t.startConfig != t.config {
		return 0
	}
	return t.startMask
}

// remark gives the calls under way the marks of c, when the goroutine first calls a function that c
// affects: a bit of another configuration means something else.
func (t *ftraceG) remark(c *ftraceConfig) {
	t.config = c.number
	t.startMask, t.startConfig = c.still(t.startMask, t.startConfig), c.number
	t.mask = t.startMask
	for i := range t.depth {
		frame := t.frame(i)
		if l := frame.fn.ptr().loadLaid(); l != nil && l.config == c {
			t.mask |= l.marks
		}
		frame.Mask = t.mask
	}
}

// grow doubles the room for frames.
func (t *ftraceG) grow() bool {
	size := max(t.size*2, ftraceSmallest)
	frames := ftraceNewFrames(size)
	if frames == nil {
		return false
	}
	mp := acquirem() // the scheduler may put a wait on top, see wait/yield.go
	before, room := t.frame(0), t.size
	if t.depth > 0 {
		memmove(unsafe.Pointer(frames), unsafe.Pointer(before), uintptr(t.depth)*unsafe.Sizeof(ftraceFrame{}))
	}
	t.framesAt, t.size = ftraceSharedAt(unsafe.Pointer(frames)), size
	t.top = (*ftraceFrame)(add(unsafe.Pointer(frames), uintptr(t.depth)*unsafe.Sizeof(ftraceFrame{})))
	t.full = t.frame(min(size, ftrace_format_DepthMax))
	ftraceFreeFrames(before, room)
	releasem(mp)
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
	lock(&ftraceFreeLists.lock)
	frames := ftraceFreeLists.frames[class]
	if frames != nil {
		ftraceFreeLists.frames[class] = *(**ftraceFrame)(unsafe.Pointer(frames))
	}
	unlock(&ftraceFreeLists.lock)
	if frames != nil {
		memclrNoHeapPointers(unsafe.Pointer(frames), uintptr(size)*unsafe.Sizeof(ftraceFrame{}))
	} else {
		shared, _ := ftraceShared(uintptr(size) * unsafe.Sizeof(ftraceFrame{}))
		frames = (*ftraceFrame)(shared)
	}
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
	lock(&ftraceFreeLists.lock)
	*(**ftraceFrame)(unsafe.Pointer(frames)) = ftraceFreeLists.frames[class]
	ftraceFreeLists.frames[class] = frames
	unlock(&ftraceFreeLists.lock)
}

// ftraceMayTrace reports whether this is an ordinary goroutine in ordinary circumstances: not on a
// system stack, with no runtime lock held, not within malloc, not between fork and exec, and not
// within package mock.
func ftraceMayTrace(gp *g) bool {
	mp := gp.m
	return mp.curg == gp && mp.locks == 0 && mp.mallocing == 0 && mp.dying == 0 && mp.preemptoff == "" && !gp.throwsplit && !gp.ftraceMock.quiet
}

// ftraceLeaked is the status of a goroutine that waits, and that the garbage collector has found to
// be leaked. It is _Gleaked, which Go 1.25 doesn't have.
const ftraceLeaked = 10

// ftraceLives reports whether gp is a goroutine that has not ended. The g of one that has keeps its
// id and all else until another goroutine gets it.
func ftraceLives(gp *g) bool {
	switch readgstatus(gp) &^ _Gscan {
	case _Grunning, _Gcopystack, _Gpreempted, _Grunnable, _Gwaiting, _Gsyscall, ftraceLeaked:
		return true
	}
	return false
}
