//go:build ftrace_core

// Where records go: FTRACE_RECORD names a directory, or rings in memory. A recording is a directory
// of the Common Trace Format: "metadata" says what the bytes mean, "tables" has what is said once,
// and "calls_N" has the chunks of processor N.
//
// A process may find that its directory exists, because its parent has it or it was run before.
// Then it makes one of its own within that, named by its process id.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceRingSize = 4 << 20  // for each processor, by default
	ftraceFileStep = 32 << 10 // bytes of a file's chunk for which pages are made at once
)

// ftraceParseRecord reads FTRACE_RECORD: a directory, or ring or ring:SIZE. It returns the number
// of chunks, 0 for a directory. It reports what is wrong.
func ftraceParseRecord(setting string) (chunks uint64, ok bool) {
	switch {
	case setting == "ring":
		return ftraceRingSize / ftrace_format_RingChunk, true
	case len(setting) > 5 && setting[:5] == "ring:":
		n, ok := ftraceParseSize(setting[5:])
		if !ok || n < 2*ftrace_format_RingChunk || n > 1<<40 {
			ftraceComplain("FTRACE_RECORD: " + setting + ": the size of a ring is a number of bytes, from 128K to 1T, such as ring:64M; nothing is recorded")
			return 0, false
		}
		return n / ftrace_format_RingChunk, true
	}
	return 0, true
}

// begin has records go to rings of that many chunks, or to files in a directory if chunks is 0. It
// returns what is wrong; then nothing is recorded.
func (s *ftraceStream) begin(directory string, chunks uint64) string {
	ftraceStartTables()
	s.chunkSize, s.chunks, s.failed, s.told = ftrace_format_RingChunk, chunks, 0, 0
	if chunks == 0 {
		if failed := s.make(directory); failed != "" {
			return failed
		}
		s.chunkSize = ftrace_format_FileChunk
	}
	s.turn(true)
	return ""
}

// ftraceParseSize reads a number of bytes that may end in K, M or G.
func ftraceParseSize(s string) (uint64, bool) {
	shift := 0
	if s != "" {
		switch s[len(s)-1] {
		case 'K', 'k':
			shift = 10
		case 'M', 'm':
			shift = 20
		case 'G', 'g':
			shift = 30
		}
	}
	if shift != 0 {
		s = s[:len(s)-1]
	}
	n, ok := ftraceParseInt(s)
	return uint64(n) << shift, ok
}

// ftraceMakeUUID makes the number that ties the files of a recording together.
func ftraceMakeUUID() {
	for i := range 2 {
		v := rand()
		for j := range 8 {
			ftraceRecording.uuid[8*i+j] = byte(v >> (8 * j))
		}
	}
}

// ftraceNewWriter returns the writer of the caller's processor, so that no two make the same one.
func ftraceNewWriter(id int32) *ftraceWriter {
	var w *ftraceWriter
	if h := ftraceArmed(); h != nil {
		if part := ftraceMapMemory(h.Processors.At+uint64(id)*h.Processors.Size, h.Processors.Size); part != nil {
			w = (*ftraceWriter)(part)
			w.crossings, w.waits, w.halfSize = add(part, uintptr(h.CrossingsAt)), add(part, uintptr(h.WaitsAt)), uintptr(h.HalfSize)
			w.historyEnd, w.ownEnd, w.summariesMax = uintptr(h.LongMax)*unsafe.Sizeof(ftraceCall{}), uint32(h.HistoryMax)*uint32(unsafe.Sizeof(ftraceCall{})), uint32(h.SummariesMax)
			w.history, w.summaries, w.ring = add(part, uintptr(h.LongAt)), add(part, uintptr(h.SummariesAt)), add(part, uintptr(h.RingAt))
			for i, at := range h.TalliesAt {
				w.tallies[i] = add(part, uintptr(at))
			}
			for atomic.Load64(&h.Processors.Used) <= uint64(id) { // others do this too
				used := atomic.Load64(&h.Processors.Used)
				atomic.Cas64(&h.Processors.Used, used, max(used, uint64(id)+1))
			}
		}
	}
	if w == nil {
		w = (*ftraceWriter)(ftraceAlloc(unsafe.Sizeof(ftraceWriter{})))
	}
	w.of = &ftraceRecording.ftraceStream
	if w.ring == nil && ftraceRecording.chunks != 0 {
		// Only what is written to takes memory.
		if w.ring = sysAlloc(uintptr(ftraceRecording.chunks)*ftrace_format_RingChunk, &memstats.other_sys, "ftrace ring"); w.ring == nil {
			w.failed = 12
		}
	}
	atomic.StorepNoWB(unsafe.Pointer(&ftraceRecording.writers[id]), unsafe.Pointer(w))
	allp[id].ftrace = w
	return w
}

// advance goes on to the next chunk. The writer has not failed.
func (w *ftraceWriter) advance(id int32) bool {
	var c *ftraceChunk
	if w.of.chunks != 0 {
		c = (*ftraceChunk)(add(w.ring, uintptr(w.number%w.of.chunks)*ftrace_format_RingChunk))
		atomic.Store64(&c.Content, 0) // a reader sees that what was there is gone before it is
	} else {
		c = w.nextInFile(id)
	}
	if c == nil {
		return false
	}
	size := uint64(unsafe.Sizeof(ftraceChunk{}))
	c.Magic, c.Stream, c.UUID = ftrace_format_PacketMagic, ftrace_format_CallsStream, ftraceRecording.uuid
	w.last = max(w.last, ftraceTicks())
	c.Begin, c.Size, c.Lost, c.Number, c.Processor = w.last, uint64(w.of.chunkSize)*8, w.lost, w.number, uint64(id)
	w.number++
	w.chunk, w.pos = c, uintptr(size)
	if w.of.chunks != 0 {
		w.limit = w.of.chunkSize - ftraceRecordRoom
	}
	w.where, w.turn = ftracePlaceAt(0, c.Number, id, 0).Where, ftraceRecordTurn{}
	atomic.StoreRel64(&c.Content, size*8)
	return true
}

// prepare has the system make the next pages of the chunk, if there are more. It would make each
// when it is first written to, which takes longer than to write it: here that can be measured. By
// writing zeros to the file it makes many at once, in a third of the time (see
// docs/design/measurements.md). w.limit says how far they are ready.
func (w *ftraceWriter) prepare() bool {
	at, most := uintptr(0), w.of.chunkSize-ftraceRecordRoom
	if w.chunk == nil || w.limit >= most {
		return false
	}
	if w.limit != 0 {
		at = w.limit + ftraceRecordRoom
	}
	end := min(at+ftraceFileStep, w.of.chunkSize)
	if GOOS == "linux" { // elsewhere ftraceMapFile has written them
		ftraceFill(w.fd, w.at+int64(at), end-at) // what fails is made below
	}
	for ; at < end; at += physPageSize {
		atomic.Store8((*uint8)(add(unsafe.Pointer(w.chunk), at)), 0)
	}
	w.limit = end - ftraceRecordRoom
	return true
}

// nextInFile maps the next chunk of the processor's file, and unmaps the last one. Its first pages
// are ready.
func (w *ftraceWriter) nextInFile(id int32) *ftraceChunk {
	if w.chunk != nil {
		ftraceUnmap(unsafe.Pointer(w.chunk), ftrace_format_FileChunk)
		w.chunk, w.limit = nil, 0
	}
	if w.fd == 0 {
		fd := w.of.newCalls(id)
		if fd < 0 {
			w.fail(-fd)
			return nil
		}
		w.fd = fd
	}
	w.at = int64(w.number) * ftrace_format_FileChunk
	p, errno := ftraceMapFile(w.fd, w.at, ftrace_format_FileChunk)
	if errno != 0 {
		w.fail(errno)
		return nil
	}
	w.chunk = (*ftraceChunk)(p)
	w.prepare()
	return w.chunk
}

// newCalls makes the file of a processor. It returns the descriptor or a negative errno.
func (s *ftraceStream) newCalls(id int32) int32 {
	b := ftraceNewText()
	b.str("calls_")
	b.uint(uint64(id))
	fd := ftraceCreateAt(s.dir, unsafe.String(&b.data[0], b.n))
	ftraceFreeText(b)
	return fd
}

// fail ends this writer.
func (w *ftraceWriter) fail(errno int32) {
	w.failed = errno
	w.of.fail(errno)
}

// fail says once why the recording is not complete. The tables may be locked: it
// allocates nothing, and takes no lock.
func (s *ftraceStream) fail(errno int32) {
	if !atomic.Cas(&s.failed, 0, 1) {
		return
	}
	var digits [20]byte
	what, unknown := "error ", ftraceItoa(digits[:], uint64(uint32(errno)))
	for _, e := range ftraceErrors {
		if e.errno == errno {
			what, unknown = e.text, nil
		}
	}
	var line [256]byte
	n := copy(line[:], "ftrace: ")
	n += copy(line[n:], s.whose())
	n += copy(line[n:], what)
	n += copy(line[n:], unknown)
	n += copy(line[n:], "; the program runs on, its recording is not complete\n")
	write(2, unsafe.Pointer(&line), int32(n))
}

// whose says in messages which recording this is.
func (s *ftraceStream) whose() string {
	if s == &ftraceRecording.ftraceStream {
		return "FTRACE_RECORD: "
	}
	return "recording for who is attached: "
}

// make makes the directory of a recording. If there is one already it makes one for
// this process within that. It returns what is wrong.
func (s *ftraceStream) make(setting string) string {
	name := ftraceExpand(setting)
	errno := s.makeDir(name)
	if errno == ftraceEEXIST {
		var digits [20]byte
		inside := name + "/" + string(ftraceItoa(digits[:], uint64(ftracePid())))
		name = inside
		for i := uint64(1); ; i++ {
			if errno = s.makeDir(name); errno != ftraceEEXIST || i == 1000 {
				break
			}
			name = inside + "." + string(ftraceItoa(digits[:], i))
		}
	}
	if errno != 0 {
		return "can't record to " + name + ": " + ftraceErrno(errno)
	}
	fd := ftraceCreateAt(s.dir, "tables")
	if fd < 0 {
		return "can't record to " + name + ": " + ftraceErrno(-fd)
	}
	s.fileTables(fd)
	s.writeMetadata()
	return ""
}

// makeDir makes a directory, or takes one that holds no recording. Whoever makes the metadata owns
// it.
func (s *ftraceStream) makeDir(name string) (errno int32) {
	dir := ftraceOpenOwnDir(name)
	if dir < 0 {
		return -dir
	}
	fd := ftraceCreateAt(dir, "metadata")
	if fd < 0 {
		ftraceClose(dir)
		return -fd
	}
	s.dir, s.metadata = dir, fd
	return 0
}

// restart makes the next record the first. The world is stopped.
func (s *ftraceStream) restart() {
	for _, w := range s.writers {
		if w != nil {
			if s != &ftraceRecording.ftraceStream {
				w.last, w.lost = 0, 0 // of another session
			}
			w.chunk, w.pos, w.limit, w.number, w.fd, w.failed = nil, 0, 0, 0, 0, 0
		}
	}
}

// end ends the recording. One in files is then complete.
func (s *ftraceStream) end() {
	ftraceRecordWaits(s)
	stw := stopTheWorld(stwUnknown)
	s.turn(false)
	for _, w := range s.writers {
		if w == nil {
			continue
		}
		if s.chunks == 0 && w.chunk != nil {
			ftraceUnmap(unsafe.Pointer(w.chunk), ftrace_format_FileChunk)
		}
		if w.fd != 0 {
			ftraceClose(w.fd)
		}
		w.chunk, w.pos, w.limit, w.fd = nil, 0, 0, 0
	}
	startTheWorld(stw)
	if s.chunks == 0 {
		ftraceDefineClock()
		s.writeMetadata()
		s.close()
	}
}

// close closes the files that belong to no processor.
func (s *ftraceStream) close() {
	lock(&ftraceTables.lock)
	ftraceClose(s.tables)
	s.tables = 0
	unlock(&ftraceTables.lock)
	ftraceClose(s.metadata)
	ftraceClose(s.dir)
	s.dir, s.metadata = 0, 0
}

// ftraceFinishRecordings is called before the program ends in an orderly way.
func ftraceFinishRecordings() {
	ftraceRecording.finish()
	for i := range ftraceSessions {
		ftraceSessions[i].finish()
	}
}

// finish completes a recording in files, to which others may still write.
func (s *ftraceStream) finish() {
	if !s.on || s.chunks != 0 {
		return
	}
	ftraceRecordWaits(s)
	lost := uint64(0)
	for id, w := range s.writers {
		if w != nil && w.lost != 0 {
			lost += w.lost
			ftraceDefineLost(uint64(id), w.lost)
		}
	}
	ftraceDefineClock()
	s.writeMetadata()
	if lost != 0 {
		var digits [20]byte
		ftraceComplain(s.whose() + string(ftraceItoa(digits[:], lost)) + " records were lost")
	}
}
