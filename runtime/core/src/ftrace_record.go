//go:build ftrace_core

// The recording: calls as binary records, for FTRACE_RECORD and FTRACE_ON_ERROR. docs/format.md has every byte.
//
// Each processor (a P of the scheduler) has a writer of its own, so that nothing is locked and nothing is shared: a goroutine writes to that of the
// processor it runs on, which it can't leave meanwhile (acquirem). Records go to a chunk of memory, which is part of a file that is mapped, or of the processor's
// ring; so what is recorded is there whatever ends the program. The chunk's size of content, which is written behind each record, says which records are whole.
//
// A record is made of words, in the machine's byte order. All begin with an ftraceEvent.

package runtime

import (
	"internal/cpu"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceEvent is what every record begins with.
type ftraceEvent struct {
	_         sys.NotInHeap
	ticks     uint64
	kind      uint8
	words     uint8  // size of the record
	depth     uint16 // recorded calls around it, at most 65535
	fn        uint32 // key of the function, 0: none
	goroutine uint64
}

// The kinds of records, with what follows the ftraceEvent.
const (
	ftraceKindEntry     = 1 + iota // call uint64: the how-manyeth call it is
	ftraceKindEntryArgs            // call uint64; layout, size uint32; values
	ftraceKindExit                 //
	ftraceKindExitArgs             // layout, size uint32; values: the results
	ftraceKindPanic                // the same: the call ended by a panic, the value is the panic's
	ftraceKindGoexit               // the call ended by runtime.Goexit
	ftraceKindRecovered            // the same: one of the call's deferred calls recovered this panic; its exit follows
	ftraceKindMock                 // a replacement was called in place of the function; its exit follows
	ftraceKindGo                   // parent, call uint64: a goroutine whose first record this is, by which goroutine, in which call of fn it was started
	ftraceKindEnd                  // the goroutine ended
	ftraceKindNote                 // 0, size uint32; text: ftrace.Note, in the call under way
	ftraceKindLine                 // level int32, size uint32; text: what the program printed or logged
)

const (
	ftraceProcessorsMost = 1024 // of more, nothing is recorded

	ftraceRecordSize = unsafe.Sizeof(ftraceEvent{})
	ftraceRecordMost = 255 * 8
	ftraceRecordRoom = ftraceRecordMost + 128 // with a goroutine's first record in front
)

// ftraceChunk is the head of a chunk: the header and the context of a packet of the Common Trace Format.
type ftraceChunk struct {
	_         sys.NotInHeap
	magic     uint32
	stream    uint32 // 0
	uuid      [16]byte
	begin     uint64 // ticks
	content   uint64 // bits in use, this head included; written behind each record
	size      uint64 // bits
	discarded uint64 // records lost on this processor so far
	number    uint64 // of the chunk, on this processor, from 0
	processor uint64
}

const ftraceCTFMagic = 0xC1FC1FC1

// ftraceWriter writes the records of one processor, on which the goroutine is held.
type ftraceWriter struct {
	_      sys.NotInHeap
	chunk  *ftraceChunk // being written, or nil
	pos    uintptr      // where the next record goes, from the chunk's start
	limit  uintptr      // from here on there is too little room
	last   uint64       // ticks of the last record
	lost   uint64       // records
	number uint64       // of the next chunk
	ring   unsafe.Pointer
	fd     int32
	failed int32 // errno of what ended this writer
	_      cpu.CacheLinePad
}

// ftraceRecording is FTRACE_RECORD and FTRACE_ON_ERROR.
var ftraceRecording struct {
	wanted    bool // the environment asks for it
	on        bool
	dir       int32  // descriptor
	metadata  int32  // descriptor
	failed    uint32 // it was said that the recording is not complete; atomic
	chunkSize uintptr
	chunks    uint64 // of each ring, 0: the recording is in files
	uuid      [16]byte
	writers   [ftraceProcessorsMost]*ftraceWriter // by the processor's id; made at first use
	panics    ftraceKnownLayouts                  // of panics' values
}

// ftraceWriterOf returns the writer of the processor on which this goroutine is held, with room for the largest record, or nil.
func ftraceWriterOf(mp *m) *ftraceWriter {
	if id := mp.p.ptr().id; id < ftraceProcessorsMost {
		if w := ftraceRecording.writers[id]; w != nil && w.pos < w.limit {
			return w
		}
	}
	return ftraceMakeRoom(mp)
}

// ftraceMakeRoom makes the processor's writer, or goes on to its next chunk.
func ftraceMakeRoom(mp *m) *ftraceWriter {
	id := mp.p.ptr().id
	if id >= ftraceProcessorsMost {
		atomic.Xadd(&ftraceLost, 1)
		return nil
	}
	w := ftraceRecording.writers[id]
	if w == nil {
		w = ftraceNewWriter(id)
	}
	if !w.advance(id) {
		w.lost++
		return nil
	}
	return w
}

// begin begins a record, which ftraceWriter.end completes. Its size is still to be set.
func (w *ftraceWriter) begin(gp *g, kind uint8, f *ftraceFunc, depth int32) *ftraceEvent {
	r := (*ftraceEvent)(add(unsafe.Pointer(w.chunk), w.pos))
	w.last = uint64(cputicks())
	r.ticks = w.last
	r.goroutine = gp.goid
	r.fn = 0
	if f != nil {
		r.fn = f.key
	}
	r.depth = uint16(min(depth, 65535))
	r.kind = kind
	return r
}

// end completes the record that begins at r and has size bytes.
func (w *ftraceWriter) end(r *ftraceEvent, size uintptr) {
	words := (size + 7) / 8
	r.words = uint8(words)
	atomic.StoreRel64(&w.chunk.content, uint64(w.pos+size)*8)
	w.pos += words * 8
}

// ftraceRecordEntry records that the call of frame, the topmost, begins.
func ftraceRecordEntry(gp *g, t *ftraceG, frame *ftraceFrame, args []any) {
	f := frame.fn
	var layout *ftraceLayout
	if len(args) > 0 && frame.clause.Detail >= ftrace_rule_Args {
		layout = f.entryLayouts.find(args, ftraceLayoutFlags(frame.clause))
	}
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		if !t.recorded {
			w = w.goroutine(gp, t)
		}
		r := w.begin(gp, ftraceKindEntry, f, frame.shown)
		frame.place = ftracePlace{r.ticks, uint32(w.number - 1), uint16(mp.p.ptr().id), uint16(w.pos / 8)}
		p := add(unsafe.Pointer(r), ftraceRecordSize)
		*(*uint64)(p) = uint64(frame.count)
		size := ftraceRecordSize + 8
		if layout != nil {
			r.kind = ftraceKindEntryArgs
			size += layout.capture(add(p, 8), r, args)
		}
		w.end(r, size)
	}
	releasem(mp)
}

// goroutine records which call started the goroutine, in front of its first record.
func (w *ftraceWriter) goroutine(gp *g, t *ftraceG) *ftraceWriter {
	t.recorded = true
	r := w.begin(gp, ftraceKindGo, t.parentFn, 0)
	*(*[2]uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = [2]uint64{t.parent, uint64(t.parentCount)}
	w.end(r, ftraceRecordSize+16)
	return w
}

// ftraceRecordExit records that the call of frame, the topmost, ends: by p, or by the panic that was recovered, or with results.
func ftraceRecordExit(gp *g, frame *ftraceFrame, results []any, p *_panic) {
	switch {
	case frame.flags&ftraceReplaced != 0:
		ftraceRecordValues(gp, ftraceKindMock, frame, nil)
	case frame.flags&ftraceRecovered != 0:
		ftraceRecordPanic(gp, ftraceKindRecovered, frame, gp.ftraceRecovered)
	}
	switch {
	case p != nil && p.goexit:
		ftraceRecordValues(gp, ftraceKindGoexit, frame, nil)
	case p != nil:
		ftraceRecordPanic(gp, ftraceKindPanic, frame, p.arg)
	case frame.flags&ftracePanicked != 0:
		ftraceRecordPanic(gp, ftraceKindPanic, frame, gp.ftraceRecovered)
	case len(results) > 0 && frame.clause.Detail >= ftrace_rule_Args:
		ftraceRecordValues(gp, ftraceKindExitArgs, frame, results)
	default:
		ftraceRecordValues(gp, ftraceKindExit, frame, nil)
	}
}

// ftraceRecordPanic records a panic's value, or, where parameters are not wanted, none.
func ftraceRecordPanic(gp *g, kind uint8, frame *ftraceFrame, value any) {
	values := [...]any{value}
	n := 1
	if frame.clause.Detail < ftrace_rule_Args {
		n = 0
	}
	ftraceRecordValues(gp, kind, frame, ftraceValues(&values[0], n))
}

// ftraceRecordValues records something of the call of frame, with values.
func ftraceRecordValues(gp *g, kind uint8, frame *ftraceFrame, values []any) {
	var layout *ftraceLayout
	if len(values) > 0 {
		flags := ftraceLayoutFlags(frame.clause)
		if kind == ftraceKindExitArgs && frame.flags&ftraceAtReturns == 0 {
			flags |= ftraceLayoutPointers
		}
		layouts := &frame.fn.exitLayouts
		if kind != ftraceKindExitArgs {
			layouts = &ftraceRecording.panics
			flags |= ftraceLayoutPanic
		}
		layout = layouts.find(values, flags)
	}
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		r := w.begin(gp, kind, frame.fn, frame.shown)
		size := ftraceRecordSize
		switch {
		case layout != nil:
			size += layout.capture(add(unsafe.Pointer(r), size), r, values)
		case kind == ftraceKindExitArgs:
			r.kind = ftraceKindExit
		case kind == ftraceKindPanic || kind == ftraceKindRecovered:
			*(*[2]uint32)(add(unsafe.Pointer(r), size)) = [2]uint32{}
			size += 8
		}
		w.end(r, size)
	}
	releasem(mp)
}

// ftraceRecordEnd records that the goroutine, which ran last on this processor, has ended.
func ftraceRecordEnd(gp *g) {
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		w.end(w.begin(gp, ftraceKindEnd, nil, 0), ftraceRecordSize)
	}
	releasem(mp)
}

// ftraceRecordNote records text that the program adds to the call of frame.
func ftraceRecordNote(gp *g, frame *ftraceFrame, text string) {
	mp := acquirem()
	if w := ftraceWriterOf(mp); w != nil {
		r := w.begin(gp, ftraceKindNote, frame.fn, frame.shown)
		w.end(r, w.text(r, 0, text))
	}
	releasem(mp)
}

// text writes a number, the size of a text and the text, as far as there is room, behind the record's head. It returns the record's size.
func (w *ftraceWriter) text(r *ftraceEvent, number uint32, text string) uintptr {
	p := add(unsafe.Pointer(r), ftraceRecordSize)
	n := min(uintptr(len(text)), ftraceRecordMost-ftraceRecordSize-8)
	*(*[2]uint32)(p) = [2]uint32{number, uint32(n)}
	memmove(add(p, 8), unsafe.Pointer(unsafe.StringData(text)), n)
	return ftraceRecordSize + 8 + n
}
