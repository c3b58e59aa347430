//go:build ftrace_core

// The recording: calls as binary records, for FTRACE_RECORD and FTRACE_ON_ERROR. docs/format.md has
// every byte.
//
// Each processor (a P of the scheduler) has a writer of its own, so that nothing is locked and
// nothing is shared. A goroutine writes to that of the processor it runs on, which it can't leave
// meanwhile (acquirem). Records go to a chunk of memory, in a mapped file or in the processor's
// ring. So what is recorded is there whatever ends the program. The chunk's size of content, which
// is written after each record, says which records are whole.
//
// A record consists of words, in the machine's byte order. All begin with an ftraceEvent.

package runtime

import (
	"internal/cpu"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceEvent is what every record begins with.
type ftraceEvent struct {
	_ sys.NotInHeap
	ftrace_format_Record
}

const (
	ftracePrefetch   = 512 // bytes that the processor is told to fetch in advance, since nothing else has them in its cache
	ftraceRecordSize = uintptr(ftrace_format_RecordSize)
	ftraceRecordRoom = ftrace_format_RecordMax + 128 // with a goroutine's first record before it
)

// ftraceChunk is the head of a chunk.
type ftraceChunk struct {
	_ sys.NotInHeap
	ftrace_format_Packet
}

// ftraceWriter writes what is kept of one processor, on which the goroutine is held. It is at the
// beginning of the processor's part of the memory file.
type ftraceWriter struct {
	_ sys.NotInHeap

	// What every call reads, even if nothing of it is recorded, in one line of the processor's
	// cache.
	calls        uint64         // number of calls put into the long history so far
	last         uint64         // ticks of what was last noted
	history      unsafe.Pointer // the last calls, nil: there is no memory for them
	nextCall     uintptr        // where the next one goes in the history
	historyEnd   uintptr        // where it starts again from the beginning
	summaries    unsafe.Pointer // by key, nil: there is no memory for them
	summariesMax uint32
	ownEnd       uint32  // where a goroutine's history starts again from the beginning
	halfSize     uintptr // distance from the first half of history, summaries and tallies to the second

	chunk *ftraceChunk // being written, or nil
	pos   uintptr      // where the next record goes, from the chunk's start
	limit uintptr      // from here on there is too little room
	where uint64       // the place of the chunk's first byte

	number    uint64 // of the next chunk
	lost      uint64 // number of records lost
	ring      unsafe.Pointer
	crossed   uint64         // number of calls put into crossings so far
	waited    uint64         // number of waits put into their long history so far
	waits     unsafe.Pointer // the last waits, nil: there is no memory for them
	crossings unsafe.Pointer // calls under way at a cut, see keep/cut.go
	tallies   [ftrace_format_Tallies]unsafe.Pointer
	half      uintptr // where the half of the tallies begins that is written to
	fd        int32
	failed    int32 // errno of the error that ended this writer
	_         cpu.CacheLinePad
}

// Readers find these fields where package format has them.
var (
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.calls)-unsafe.Offsetof(ftrace_format_Processor{}.Calls)]
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.lost)-unsafe.Offsetof(ftrace_format_Processor{}.Lost)]
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.crossed)-unsafe.Offsetof(ftrace_format_Processor{}.Crossed)]
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.waited)-unsafe.Offsetof(ftrace_format_Processor{}.Waits)]
)

// ftraceRecording is FTRACE_RECORD and FTRACE_ON_ERROR.
var ftraceRecording struct {
	wanted    bool // an environment variable requests it
	on        bool
	dir       int32  // descriptor
	metadata  int32  // descriptor
	failed    uint32 // it was reported that the recording is not complete; atomic
	chunkSize uintptr
	chunks    uint64 // of each ring, 0: the recording is in files
	uuid      [16]byte
	writers   [ftrace_format_ProcessorsMax]*ftraceWriter // by the processor's id; made at first use
	panics    ftraceKnownLayouts                         // of panics' values
}

// ftraceWriterOf returns the writer of the processor on which this goroutine is held, or nil if
// there are too many.
func ftraceWriterOf(mp *m) *ftraceWriter {
	id := mp.p.ptr().id
	if id >= ftrace_format_ProcessorsMax {
		atomic.Xadd(&ftraceLost, 1)
		return nil
	}
	if w := ftraceRecording.writers[id]; w != nil {
		return w
	}
	return ftraceNewWriter(id)
}

// room reports whether there is room for the largest record. It may go on to the next chunk for
// that.
func (w *ftraceWriter) room(mp *m) bool {
	if w.pos < w.limit {
		return true
	}
	if !ftraceRecording.on {
		return false // no longer: the world was stopped to end the recording
	}
	if w.advance(mp.p.ptr().id) {
		return true
	}
	w.lost++
	return false
}

// ftraceRecorder returns the writer of the processor on which this goroutine is held, with room for
// a record, or nil.
func ftraceRecorder(mp *m) *ftraceWriter {
	if w := ftraceWriterOf(mp); w != nil && w.room(mp) {
		w.last = max(w.last, ftraceTicks())
		return w
	}
	return nil
}

// begin begins a record of what was last noted. ftraceWriter.end completes it. Its size is not set
// yet.
func (w *ftraceWriter) begin(gp *g, kind uint8, f *ftraceFunc, depth int32) *ftraceEvent {
	r := (*ftraceEvent)(add(unsafe.Pointer(w.chunk), w.pos))
	sys.Prefetch(uintptr(unsafe.Pointer(r)) + ftracePrefetch)
	r.Ticks = w.last
	r.Goroutine = gp.goid
	r.Function = 0
	if f != nil {
		r.Function = f.key
	}
	r.Depth = uint16(min(depth, ftrace_format_DepthMax))
	r.Kind = kind
	return r
}

// end completes the record that begins at r and has size bytes.
func (w *ftraceWriter) end(r *ftraceEvent, size uintptr) {
	words := (size + 7) / 8
	r.Words = uint8(words)
	ftraceStore64(&w.chunk.Content, uint64(w.pos+size)*8)
	w.pos += words * 8
}

// place returns where the next record goes.
func (w *ftraceWriter) place() ftrace_format_Place {
	return ftrace_format_Place{w.last, w.where | uint64(w.pos/8)<<ftrace_format_PlaceOffset}
}

// entry records that the call of frame, the topmost, begins, with its parameters if there is a
// layout.
func (w *ftraceWriter) entry(gp *g, mp *m, frame *ftraceFrame, layout *ftraceLayout, args []any) {
	frame.Place = w.place()
	r := w.begin(gp, ftrace_format_KindEntry, frame.fn.ptr(), frame.shown)
	p := add(unsafe.Pointer(r), ftraceRecordSize)
	*(*uint64)(p) = frame.Count
	if frame.Flags&ftrace_format_FrameNotTimed != 0 {
		*(*uint64)(p) |= ftrace_format_Untimed
	}
	size := ftraceRecordSize + 8
	if layout != nil {
		r.Kind = ftrace_format_KindEntryArgs
		size += layout.capture(add(p, 8), r, args)
	}
	w.end(r, size)
}

// goroutine records which call started the goroutine, before its first record.
func (w *ftraceWriter) goroutine(gp *g, t *ftraceG) {
	t.recorded = true
	r := w.begin(gp, ftrace_format_KindGoroutineStart, t.parentFn.ptr(), 0)
	*(*[2]uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = [2]uint64{t.parent, uint64(t.parentCount)}
	w.end(r, ftraceRecordSize+16)
}

// exit records that the call of frame, the topmost, ends: by p, by the panic that was recovered, or
// with results. It returns where that record is.
func (w *ftraceWriter) exit(gp *g, mp *m, frame *ftraceFrame, results []any, p *_panic) (place ftrace_format_Place) {
	switch {
	case frame.Flags&ftrace_format_FrameReplaced != 0:
		w.values(gp, ftrace_format_KindMock, frame, nil)
	case frame.Flags&ftrace_format_FrameRecovered != 0:
		w.panic(gp, ftrace_format_KindRecovered, frame, gp.ftraceRecovered)
	}
	if !w.room(mp) {
		return ftrace_format_Place{0, ftrace_format_Nowhere}
	}
	place = w.place()
	switch {
	case p != nil && p.goexit:
		w.values(gp, ftrace_format_KindExitGoexit, frame, nil)
	case p != nil:
		w.panic(gp, ftrace_format_KindExitPanic, frame, p.arg)
	case frame.Flags&ftrace_format_FramePanicked != 0:
		w.panic(gp, ftrace_format_KindExitPanic, frame, gp.ftraceRecovered)
	case len(results) > 0 && frame.clause.ptr().Detail >= ftrace_rule_Args:
		if frame.clause.ptr().Capture != "" {
			w.valuesAndPaths(gp, frame, results)
		} else {
			w.values(gp, ftrace_format_KindExitResults, frame, results)
		}
	default:
		w.end(w.begin(gp, ftrace_format_KindExit, frame.fn.ptr(), frame.shown), ftraceRecordSize)
	}
	return place
}

// panic records a panic's value, or none where parameters are not wanted.
func (w *ftraceWriter) panic(gp *g, kind uint8, frame *ftraceFrame, value any) {
	values := [...]any{value}
	n := 1
	if frame.clause.ptr().Detail < ftrace_rule_Args {
		n = 0
	}
	w.values(gp, kind, frame, ftraceValues(&values[0], n))
}

// values records something of the call of frame, with values.
func (w *ftraceWriter) values(gp *g, kind uint8, frame *ftraceFrame, values []any) {
	var layout *ftraceLayout
	if len(values) > 0 {
		flags := ftraceLayoutFlags(frame.clause.ptr())
		if kind == ftrace_format_KindExitResults && frame.Flags&ftrace_format_FrameAtReturns == 0 {
			flags |= ftraceLayoutPointers
		}
		layouts := &frame.fn.ptr().exitLayouts
		if kind != ftrace_format_KindExitResults {
			layouts = &ftraceRecording.panics
			flags |= ftrace_format_LayoutPanic
		}
		layout = layouts.find(values, flags, nil, len(values))
	}
	r := w.begin(gp, kind, frame.fn.ptr(), frame.shown)
	size := ftraceRecordSize
	switch {
	case layout != nil:
		size += layout.capture(add(unsafe.Pointer(r), size), r, values)
	case kind == ftrace_format_KindExitResults:
		r.Kind = ftrace_format_KindExit
	case kind == ftrace_format_KindExitPanic || kind == ftrace_format_KindRecovered:
		*(*[2]uint32)(add(unsafe.Pointer(r), size)) = [2]uint32{}
		size += 8
	}
	w.end(r, size)
}

// valuesAndPaths records results, and what paths lead to.
//
//go:noinline
func (w *ftraceWriter) valuesAndPaths(gp *g, frame *ftraceFrame, results []any) {
	var room [ftraceValuesMax]any
	paths := ftracePaths{f: frame.fn.ptr(), text: frame.clause.ptr().Capture, results: true, redaction: frame.clause.ptr().Own}
	values := paths.follow((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), results, frame.Flags&ftrace_format_FrameAtReturns == 0)
	layout := frame.fn.ptr().exitLayouts.find(values, ftraceLayoutFlags(frame.clause.ptr()), &paths, min(len(results), len(room)))
	kind := uint8(ftrace_format_KindExit)
	if layout != nil {
		kind = ftrace_format_KindExitResults
	}
	r := w.begin(gp, kind, frame.fn.ptr(), frame.shown)
	size := ftraceRecordSize
	if layout != nil {
		size += layout.capture(add(unsafe.Pointer(r), size), r, values)
	}
	w.end(r, size)
}

// ftraceRecordEnd records that the goroutine, the last to run on this processor, has ended.
func ftraceRecordEnd(gp *g) {
	mp := acquirem()
	if w := ftraceRecorder(mp); w != nil {
		w.end(w.begin(gp, ftrace_format_KindGoroutineEnd, nil, 0), ftraceRecordSize)
	}
	releasem(mp)
}

// ftraceRecordNote records text that the program adds to the call of frame.
func ftraceRecordNote(gp *g, frame *ftraceFrame, text string) {
	mp := acquirem()
	if w := ftraceRecorder(mp); w != nil {
		r := w.begin(gp, ftrace_format_KindNote, frame.fn.ptr(), frame.shown)
		w.end(r, w.text(r, 0, text))
	}
	releasem(mp)
}

// text writes a number, the size of a text, and as much of the text as there is room for, after the
// record's head. It returns the record's size.
func (w *ftraceWriter) text(r *ftraceEvent, number uint32, text string) uintptr {
	p := add(unsafe.Pointer(r), ftraceRecordSize)
	n := min(uintptr(len(text)), ftrace_format_RecordMax-ftraceRecordSize-8)
	*(*[2]uint32)(p) = [2]uint32{number, uint32(n)}
	memmove(add(p, 8), unsafe.Pointer(unsafe.StringData(text)), n)
	return ftraceRecordSize + 8 + n
}
