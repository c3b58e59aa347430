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
// A record consists of words, in the machine's byte order. All begin with an ftraceEvent, but for
// those that say which goroutine the next ones are of.

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
	ftraceRecordRoom = ftrace_format_RecordMax + 128 // with a goroutine's first record before it, and a turn before each
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

	chunk *ftraceChunk     // being written, or nil
	pos   uintptr          // where the next record goes, from the chunk's start
	limit uintptr          // from here on there is too little room
	where uint64           // the place of the chunk's first byte
	turn  ftraceRecordTurn // the chunk's last; its goroutine is 0 if there is none

	number    uint64 // of the next chunk
	lost      uint64 // number of records lost
	ring      unsafe.Pointer
	crossed   uint64         // number of calls put into crossings so far
	waited    uint64         // number of waits put into their long history so far
	waits     unsafe.Pointer // the last waits, nil: there is no memory for them
	nextWait  uintptr        // where the next one goes there
	crossings unsafe.Pointer // calls under way at a cut, see keep/cut.go
	tallies   [ftrace_format_Tallies]unsafe.Pointer
	half      uintptr // where the half of the tallies begins that is written to
	bytes     uint64  // of the wait that is being added to sums
	fd        int32
	failed    int32 // errno of the error that ended this writer
	at        int64 // where the chunk begins in the file
	of        *ftraceStream
	noted     uint64 // calls noted by the fast path
	counted   uint64 // calls that were only counted, to keep within the budget
	filed     uint64 // ns of processor time that it took to make files longer
	_         cpu.CacheLinePad
}

// Readers find these fields where package format has them.
var (
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.calls)-unsafe.Offsetof(ftrace_format_Processor{}.Calls)]
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.lost)-unsafe.Offsetof(ftrace_format_Processor{}.Lost)]
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.crossed)-unsafe.Offsetof(ftrace_format_Processor{}.Crossed)]
	_ = [1]int{}[unsafe.Offsetof(ftraceWriter{}.waited)-unsafe.Offsetof(ftrace_format_Processor{}.Waits)]
)

// ftraceRecordTurn is what a chunk's last ftrace_format_Turn said.
type ftraceRecordTurn struct {
	goroutine uint64
	ticks     uint64
}

// size returns how many bytes there are from the record to the next. It may be 0, in a chunk that
// is being overwritten.
//
//go:nosplit
func (r *ftraceEvent) size() uintptr {
	switch size := uintptr(r.Words) * 8; r.Kind {
	case ftrace_format_KindEntryWords:
		return ftraceRecordSize + size
	case ftrace_format_KindExitWords:
		return ftrace_format_RecordNear + size
	default:
		return size
	}
}

// sees takes in what r says, if it is an ftrace_format_Turn.
func (t *ftraceRecordTurn) sees(r *ftraceEvent) {
	if r.Kind == ftrace_format_KindTurn {
		to := (*ftrace_format_Turn)(unsafe.Pointer(r))
		*t = ftraceRecordTurn{to.Goroutine, to.Ticks}
	}
}

// ticksOf returns the ticks of a record that follows the turn.
func (t *ftraceRecordTurn) ticksOf(r *ftraceEvent) uint64 {
	return t.ticks + uint64(r.Ticks-uint32(t.ticks))
}

// ftraceStream is a recording: an observer's, or a copy of the rings.
type ftraceStream struct {
	on        bool
	dir       int32  // descriptor
	metadata  int32  // descriptor
	tables    int32  // descriptor of the file tables, 0: there is none; the tables are locked
	broken    int32  // errno of what could not be written there
	failed    uint32 // it was reported that the recording is not complete; atomic
	told      uint64 // ticks when it was last recorded which waits had lasted for long
	chunkSize uintptr
	chunks    uint64                                     // of each ring, 0: the recording is in files
	writers   [ftrace_format_ProcessorsMax]*ftraceWriter // by the processor's id; made at first use
}

// ftraceRecording is the program's own: FTRACE_RECORD, FTRACE_ON_ERROR, and what was requested. Its
// writers also keep what the consumers have.
var ftraceRecording struct {
	ftraceStream
	wanted bool   // an environment variable requests it
	asked  uint32 // who wants rings: ftraceAskedAtStart, ftraceAskedLater
	uuid   [16]byte
	panics ftraceKnownLayouts // of panics' values
}

const (
	ftraceAskedAtStart = 1 << iota // FTRACE_RECORD or FTRACE_ON_ERROR
	ftraceAskedLater               // a request
)

// ftraceSessions are the recordings of the sessions, all to files.
var ftraceSessions [ftrace_format_SessionsMax]ftraceStream

// ftraceSessionsOn is how many of them are on. It changes where they do.
var ftraceSessionsOn uint32

// ftraceRecords reports whether there is any recording.
func ftraceRecords() bool { return ftraceRecording.on || ftraceSessionsRecord() }

// ftraceSessionsRecord reports whether there is a session that records. A wait asks this, so there
// is a word for it: the sessions themselves are pages apart.
func ftraceSessionsRecord() bool { return ftraceSessionsOn != 0 }

// turn has the stream begin or end to take records.
func (s *ftraceStream) turn(on bool) {
	s.on = on
	n := uint32(0)
	for i := range ftraceSessions {
		if ftraceSessions[i].on {
			n++
		}
	}
	ftraceSessionsOn = n
}

// ftraceShowRecording shows other processes where the program records.
func ftraceShowRecording() {
	h, r := ftraceMemory.head, &ftraceRecording
	if h == nil {
		return
	}
	h.Recording, h.Directory = ftrace_format_ToNothing, 0
	if !r.on {
		return
	}
	if r.chunks == 0 {
		h.Directory = r.dir
	}
	if r.asked&ftraceAskedLater != 0 {
		h.Recording = ftrace_format_ToRings
		if r.chunks == 0 {
			h.Recording = ftrace_format_ToFiles
		}
	}
}

// ftraceCopied is the recording that is made of the rings.
var ftraceCopied ftraceStream

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
	if !w.of.on {
		return false // no longer: the world was stopped to end the recording
	}
	if w.failed == 0 { // else there never is any, and to look again takes a microsecond
		from, first := ftraceThreadTime(), w.number == 0
		more := w.prepare() || w.advance(mp.p.ptr().id)
		if !first { // to begin the file is not for the calls
			w.filed += uint64(ftraceThreadTime() - from)
		}
		if more {
			return true
		}
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

// follow has what is noted next follow what t's goroutine, which runs, did last. It returns w. Both
// may be nil.
func (w *ftraceWriter) follow(t *ftraceG) *ftraceWriter {
	if w != nil && t != nil {
		w.last = t.after(w.last)
		t.last = w.last
	}
	return w
}

// recorder returns the writer for a session of the processor on which this goroutine is held, with
// room for a record, or nil. It makes the goroutine's first record there.
func (s *ftraceStream) recorder(gp *g, mp *m, t *ftraceG) *ftraceWriter {
	id := mp.p.ptr().id
	if !s.on || id >= ftrace_format_ProcessorsMax {
		return nil
	}
	w := s.writers[id]
	if w == nil {
		if w = (*ftraceWriter)(ftraceAlloc(unsafe.Sizeof(ftraceWriter{}))); w == nil {
			return nil
		}
		w.of = s
		atomic.StorepNoWB(unsafe.Pointer(&s.writers[id]), unsafe.Pointer(w))
	}
	if !w.room(mp) {
		return nil
	}
	w.last = max(w.last, ftraceTicks())
	if t == nil {
		return w
	}
	w.follow(t)
	if bit := uint16(1) << s.session(); t.recordedIn&bit == 0 {
		t.recordedIn |= bit
		w.goroutine(gp, t)
	}
	return w
}

// ftraceRecorderFor returns the writer for a session, or for the program's own recording if that is
// -1, with room for a record, and how many of its calls are under way. It returns nil if there is
// none.
func ftraceRecorderFor(gp *g, mp *m, t *ftraceG, session int) (w *ftraceWriter, depth int32) {
	if session >= 0 {
		return ftraceSessions[session].recorder(gp, mp, t), t.seen[session]
	}
	if w = ftraceRecorder(mp).follow(t); w != nil {
		w.first(gp, t)
	}
	return w, t.shown
}

// session returns the number of the session whose recording this is, from 0 on.
func (s *ftraceStream) session() int {
	return int((uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(&ftraceSessions))) / unsafe.Sizeof(*s))
}

// begin begins a record of what was last noted. ftraceWriter.end completes it. Its size is not set
// yet.
func (w *ftraceWriter) begin(gp *g, kind uint8, f *ftraceFunc, depth int32) *ftraceEvent {
	if w.turn.goroutine != gp.goid || w.last-w.turn.ticks >= 1<<32 {
		w.turnTo(gp.goid, w.last)
	}
	r := (*ftraceEvent)(add(unsafe.Pointer(w.chunk), w.pos))
	sys.Prefetch(uintptr(unsafe.Pointer(r)) + ftracePrefetch)
	r.Ticks = uint32(w.last)
	r.Function, r.Call = 0, 0
	if f != nil {
		r.Function = f.key
	}
	r.Depth = uint16(min(depth, ftrace_format_DepthMax))
	r.Kind = kind
	return r
}

// turnTo records that what follows is of a goroutine.
//
//go:nosplit
//go:noinline
func (w *ftraceWriter) turnTo(goroutine, ticks uint64) {
	r := (*ftrace_format_Turn)(add(unsafe.Pointer(w.chunk), w.pos))
	r.Low, r.Kind, r.Words, r.Depth = uint32(ticks), ftrace_format_KindTurn, ftrace_format_TurnSize/8, 0
	r.Goroutine, r.Ticks = goroutine, ticks
	w.turn = ftraceRecordTurn{goroutine, ticks}
	w.pos += ftrace_format_TurnSize
	ftraceStore64(&w.chunk.Content, uint64(w.pos)*8)
}

// end completes the record that begins at r and has size bytes. It returns where that is.
func (w *ftraceWriter) end(r *ftraceEvent, size uintptr) ftrace_format_Place {
	words := (size + 7) / 8
	r.Words = uint8(words)
	at := w.pos
	ftraceStore64(&w.chunk.Content, uint64(at+size)*8)
	w.pos += words * 8
	return ftrace_format_Place{w.last, w.where | uint64(at/8)<<ftrace_format_PlaceOffset}
}

// entry records that the call of the topmost frame begins, with its parameters if there is a
// layout. depth is how many of the recording's calls are around it. A call that was left out, and
// is timed, began before that. entry returns where the record is.
func (w *ftraceWriter) entry(gp *g, frame *ftraceFrame, depth int32, untimed bool, layout *ftraceLayout, args []any) ftrace_format_Place {
	r := w.begin(gp, ftrace_format_KindEntry, frame.fn.ptr(), depth)
	number := frame.Count
	if untimed {
		number |= ftrace_format_Untimed
	}
	if frame.Flags&ftrace_format_FrameAtEnd != 0 {
		number |= ftrace_format_AtEnd
	}
	size := r.number(number)
	if layout != nil {
		r.Kind++ // to the kind with values
		size += layout.capture(add(unsafe.Pointer(r), size), r, args)
	} else if frame.Flags&ftrace_format_FrameAtEnd != 0 && !untimed {
		r.Kind = ftrace_format_KindEntryLate
		*(*uint64)(add(unsafe.Pointer(r), size)) = min(uint64(frame.start), w.last)
		size += 8
	}
	return w.end(r, size)
}

// number sets the number of the call in the head of an entry, or after it. It returns the record's
// size so far.
//
//go:nosplit
func (r *ftraceEvent) number(number uint64) (size uintptr) {
	if r.Kind, r.Call = ftrace_format_KindEntry, uint32(number); number>>32 == 0 {
		return ftraceRecordSize
	}
	r.Kind = ftrace_format_KindEntryLong
	return r.long(number)
}

// long is number for one that has flags, or more than 32 bits.
//
//go:nosplit
func (r *ftraceEvent) long(number uint64) (size uintptr) {
	r.Call = 0
	*(*uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = number
	return ftraceRecordSize + 8
}

// first makes the goroutine's first record in the program's own recording, unless it was made.
func (w *ftraceWriter) first(gp *g, t *ftraceG) {
	if !t.recorded {
		t.recorded = true
		w.goroutine(gp, t)
	}
}

// goroutine records which call started the goroutine, before its first record.
func (w *ftraceWriter) goroutine(gp *g, t *ftraceG) {
	r := w.begin(gp, ftrace_format_KindGoroutineStart, t.parentFn.ptr(), 0)
	*(*[2]uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = [2]uint64{t.parent, uint64(t.parentCount)}
	w.end(r, ftraceRecordSize+16)
}

// exit records that the call of the topmost frame ends: by p, by the panic that was recovered, or
// with results. clause says which values are wanted; nil: none. It returns where that record is.
func (w *ftraceWriter) exit(gp *g, mp *m, frame *ftraceFrame, clause *ftrace_rule_Clause, depth int32, results []any, p *_panic) ftrace_format_Place {
	switch {
	case frame.Flags&ftrace_format_FrameReplaced != 0:
		w.values(gp, ftrace_format_KindMock, frame, clause, depth, nil)
	case frame.Flags&ftrace_format_FrameRecovered != 0:
		w.panic(gp, ftrace_format_KindRecovered, frame, clause, depth, gp.ftraceRecovered)
	}
	if clause != nil && clause.Detail == ftrace_rule_Changes && w.room(mp) {
		w.after(gp, frame, clause, depth)
	}
	if !w.room(mp) {
		return ftrace_format_Place{0, ftrace_format_Nowhere}
	}
	switch {
	case p != nil && p.goexit:
		return w.values(gp, ftrace_format_KindExitGoexit, frame, clause, depth, nil)
	case p != nil:
		return w.panic(gp, ftrace_format_KindExitPanic, frame, clause, depth, p.arg)
	case frame.Flags&ftrace_format_FramePanicked != 0:
		return w.panic(gp, ftrace_format_KindExitPanic, frame, clause, depth, gp.ftraceRecovered)
	case len(results) > 0 && clause != nil && clause.Detail >= ftrace_rule_Args:
		if clause.Capture != "" {
			return w.valuesAndPaths(gp, frame, clause, depth, results)
		}
		return w.values(gp, ftrace_format_KindExitResults, frame, clause, depth, results)
	}
	return w.end(w.begin(gp, ftrace_format_KindExit, frame.fn.ptr(), depth), ftraceRecordSize)
}

// panic records a panic's value, or none where parameters are not wanted.
func (w *ftraceWriter) panic(gp *g, kind uint8, frame *ftraceFrame, clause *ftrace_rule_Clause, depth int32, value any) ftrace_format_Place {
	values := [...]any{value}
	n := 1
	if clause == nil || clause.Detail < ftrace_rule_Args {
		n = 0
	}
	return w.values(gp, kind, frame, clause, depth, ftraceValues(&values[0], n))
}

// values records something of the call of frame, with values.
func (w *ftraceWriter) values(gp *g, kind uint8, frame *ftraceFrame, clause *ftrace_rule_Clause, depth int32, values []any) ftrace_format_Place {
	var layout *ftraceLayout
	if len(values) > 0 {
		flags := ftraceLayoutFlags(clause)
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
	r := w.begin(gp, kind, frame.fn.ptr(), depth)
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
	return w.end(r, size)
}

// valuesAndPaths records results, and what paths lead to.
//
//go:noinline
func (w *ftraceWriter) valuesAndPaths(gp *g, frame *ftraceFrame, clause *ftrace_rule_Clause, depth int32, results []any) ftrace_format_Place {
	var room [ftraceValuesMax]any
	paths := ftracePaths{f: frame.fn.ptr(), text: clause.Capture, results: true, redaction: clause.Own}
	values := paths.follow((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), results, frame.Flags&ftrace_format_FrameAtReturns == 0)
	layout := frame.fn.ptr().exitLayouts.find(values, ftraceLayoutFlags(clause), &paths, min(len(results), len(room)))
	kind := uint8(ftrace_format_KindExit)
	if layout != nil {
		kind = ftrace_format_KindExitResults
	}
	r := w.begin(gp, kind, frame.fn.ptr(), depth)
	size := ftraceRecordSize
	if layout != nil {
		size += layout.capture(add(unsafe.Pointer(r), size), r, values)
	}
	return w.end(r, size)
}

// ftraceRecordEnd records that the goroutine, the last to run on this processor, has ended.
func ftraceRecordEnd(gp *g, t *ftraceG) {
	mp := acquirem()
	if t.recorded {
		ftraceRecorder(mp).follow(t).one(gp, ftrace_format_KindGoroutineEnd)
	}
	for i := range ftraceSessions {
		if t.recordedIn>>i&1 != 0 {
			ftraceSessions[i].recorder(gp, mp, t).one(gp, ftrace_format_KindGoroutineEnd)
		}
	}
	releasem(mp)
}

// one makes a record of no call, without values.
func (w *ftraceWriter) one(gp *g, kind uint8) {
	if w != nil {
		w.end(w.begin(gp, kind, nil, 0), ftraceRecordSize)
	}
}

// ftraceRecordNote records text that the program adds to the call of frame, for all who see it.
func ftraceRecordNote(gp *g, t *ftraceG, frame *ftraceFrame, text string) {
	mp := acquirem()
	if ftraceRecording.on && frame.clause != 0 {
		ftraceRecorder(mp).follow(t).note(gp, frame, frame.shown, text)
	}
	for i := range ftraceSessions {
		if frame.saw(i) {
			ftraceSessions[i].recorder(gp, mp, t).note(gp, frame, t.seen[i]-1, text)
		}
	}
	releasem(mp)
}

func (w *ftraceWriter) note(gp *g, frame *ftraceFrame, depth int32, text string) {
	if w != nil {
		r := w.begin(gp, ftrace_format_KindNote, frame.fn.ptr(), depth)
		w.end(r, w.text(r, 0, text))
	}
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
