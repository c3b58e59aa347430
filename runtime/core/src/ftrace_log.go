//go:build ftrace_core

// What package log and log/slog are about to write. They know the level and the message, which the bytes that they hand to a writer no longer
// tell apart, and their writer may be anything: what they log is woven although it goes to a file.
//
// A logger says that it begins to write a line and that it has (ftrace_log, ftrace_slog, ftrace_logged). When the line comes to the descriptors 1
// or 2 in between, it is woven in the logger's words; if it does not, it is woven when the logger is done. It may come there later
// then, because the writer was a buffer or a pipe: such lines are remembered, and are not woven a second time.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceRecord is a line that a logger is writing on its goroutine.
type ftraceRecord struct {
	_         sys.NotInHeap
	next      *ftraceRecord // the line amidst whose writing this one is logged
	active    *ftraceRecord // in ftraceUnseen's list
	line      *ftraceText   // as it is handed to the writer
	at        uintptr       // where the logger has that
	text      *ftraceText   // in the logger's words, with a newline
	message   int           // where the message begins in text, behind the level
	level     int           // as in log/slog
	object    bool          // line is a JSON object
	used      bool          // it was woven
	again     bool          // by another handler
	observed  bool          // its writer has said what it writes, see ftrace_api_logged
	delivered bool          // it went to a file, or all of it to 1 or 2
	seen      int           // how much of line came to 1 or 2
}

// bytes returns the text.
func (r *ftraceRecord) bytes() []byte { return r.text.data[:r.text.n] }

// ftraceNewRecord begins a line on the goroutine, or returns nil if it is not to be woven. If it or its message has in it the line that a logger is writing, it is what that one writes: that record is returned then,
// and none begun. Lines that fit no buffer are woven where they are written.
func ftraceNewRecord(gp *g, line []byte, message string, size int) (r *ftraceRecord, begun bool) {
	if ftraceWeaves == 0 || !ftraceMayWeave(gp) || gp.ftraceWeave.unwoven != 0 || len(line)+size > ftraceTextSize-1024 {
		return nil, false
	}
	outer := gp.ftraceWeave.log
	if outer != nil && (!outer.used || outer.again) && (outer.bare() == "" || outer.contained(line) >= 0 || outer.contained(unsafe.Slice(unsafe.StringData(message), len(message))) >= 0) {
		semacquire(&ftraceUnseen.lock)
		outer.handed(line) // this is what is written of it
		semrelease(&ftraceUnseen.lock)
		return outer, false
	}
	lock(&ftraceMem.lock)
	r = ftraceMem.records
	if r != nil {
		ftraceMem.records = r.next
	}
	unlock(&ftraceMem.lock)
	if r == nil {
		r = (*ftraceRecord)(ftraceAlloc(unsafe.Sizeof(ftraceRecord{})))
		r.line, r.text = ftraceNewText(), ftraceNewText()
	}
	*r = ftraceRecord{next: outer, line: r.line, text: r.text} // a free record keeps its buffers
	r.text.n = 0
	r.handed(line)
	gp.ftraceWeave.log = r
	ftraceUnseen.begin(r)
	return r, true
}

// handed notes what is handed to the writer.
func (r *ftraceRecord) handed(line []byte) {
	r.at = uintptr(unsafe.Pointer(unsafe.SliceData(line)))
	r.line.n = 0
	r.line.bytes(line)
}

// canRead says whether p, which the record's goroutine writes, can be read: what a logger has handed over can, which is asked first since it is known at once. r may be nil.
func (r *ftraceRecord) canRead(p []byte) bool {
	at := unsafe.Pointer(unsafe.SliceData(p))
	return r != nil && uintptr(at) == r.at && len(p) <= r.line.n || ftraceReadable(at, uintptr(len(p)))
}

// ftrace_log is called by package log when it is about to write line, whose message begins at the given place. header is what it puts in front of the message,
// without date and time. It says whether ftrace_logged is to be called behind.
//
//go:linkname ftrace_log
func ftrace_log(line, header []byte, message int) bool {
	gp := getg()
	r, begun := ftraceNewRecord(gp, line, "", len(header))
	if r != nil {
		r.atLeast(gp)
	}
	if !begun {
		return false
	}
	r.text.bytes(header)
	r.text.bytes(line[message:])
	r.end()
	return true
}

// The forms of lines of log/slog.
const (
	ftraceSlogText    = iota // key=value
	ftraceSlogJSON           // an object
	ftraceSlogDefault        // key=value, for package log to write
)

// ftrace_slog is called by log/slog when it is about to write line, in which the attributes stand behind the given place. What package log has it write is woven in its words: they have the level and more attributes.
// moment is the record's time and place, 0 if it has no time, and by tells which handler writes it: what several handlers write of one record is woven once.
//
//go:linkname ftrace_slog
func ftrace_slog(level int, message string, line []byte, attrs, form int, moment uint64, by uintptr) bool {
	gp := getg()
	r, begun := ftraceNewRecord(gp, line, message, 2*len(message)+len(line))
	if r == nil || r.message > 0 {
		return false
	}
	r.text.n = 0
	r.level = level
	r.atLeast(gp)
	r.text.level(level, false)
	r.text.byte(' ')
	r.message = r.text.n
	r.text.str(message)
	if form == ftraceSlogJSON {
		r.object = true
		r.text.attributes(line[attrs:])
	} else {
		r.text.bytes(line[attrs:])
	}
	r.end()
	if w := &gp.ftraceWeave; moment != 0 && gp.bubble == nil { // in a bubble of testing/synctest all lines have one time
		moment ^= uint64(ftraceLineHash(message)) << 32
		if w.moment == moment && w.by != by {
			r.used, r.again = true, true
		} else {
			w.moment, w.by = moment, by
		}
	}
	return begun
}

// ftrace_dropped is called by log/slog when package log has it write a line that is below the handler's level.
//
//go:linkname ftrace_dropped
func ftrace_dropped(line []byte) {
	if r := getg().ftraceWeave.log; r != nil && r.line.string() == string(line) {
		r.used = true
	}
}

// ftrace_fatal is called by package log's Fatal functions.
//
//go:linkname ftrace_fatal
func ftrace_fatal() { getg().ftraceWeave.fatal = true }

// atLeast raises the level, also that by which log/slog writes it, if this is the line with which package log ends the program.
func (r *ftraceRecord) atLeast(gp *g) {
	if gp.ftraceWeave.fatal {
		r.level = max(r.level, ftraceLevelFatal)
	}
}

// end ends the text with one newline.
func (r *ftraceRecord) end() {
	r.text.n = min(r.text.n, len(r.text.data)-1)
	if r.text.n == 0 || r.text.data[r.text.n-1] != '\n' {
		r.text.byte('\n')
	}
}

// ftrace_logged is called when the line has been written that the goroutine began last.
//
//go:linkname ftrace_logged
func ftrace_logged(begun bool) {
	gp := getg()
	r := gp.ftraceWeave.log
	if !begun || r == nil {
		return
	}
	gp.ftraceWeave.log = r.next
	if r.next == nil {
		gp.ftraceWeave.fatal = false // a test may have replaced os.Exit
	}
	if !r.used && ftraceMayWeave(gp) {
		// It counts as written to no descriptor that has unfinished lines.
		if _, errno := ftraceWeaveText(gp, 0, r.bytes(), gp.stack.hi-sys.GetCallerSP(), false, r); errno != 0 {
			ftraceDead(errno)
		}
	}
	ftraceUnseen.end(r)
	lock(&ftraceMem.lock)
	r.next = ftraceMem.records
	ftraceMem.records = r
	unlock(&ftraceMem.lock)
}

// ftrace_delivered is called when p was written to a descriptor other than 1 and 2. A line that went to a file comes nowhere else.
//
//go:linkname ftrace_delivered
func ftrace_delivered(fd int32, p []byte) {
	r := getg().ftraceWeave.log
	if r == nil || len(p) < r.line.n || string(p[len(p)-r.line.n:]) != r.line.string() {
		return
	}
	r.delivered = ftraceRegular(fd)
}

// What a write is to a record.
const (
	ftraceRecordNone = iota
	ftraceRecordText // it is the line, or begins it
	ftraceRecordOn   // it goes on with the line, or repeats it: the line was woven
)

// match says what p is, which the record's goroutine writes, and notes how far the line has come.
func (r *ftraceRecord) match(p []byte) int {
	kind := ftraceRecordText
	if r.used {
		kind = ftraceRecordOn
	}
	if r.used && r.seen < r.line.n && r.from(r.seen, p) {
		r.seen += len(p)
		return kind
	}
	if r.from(0, p) {
		r.seen = len(p)
		return kind
	}
	if i := r.contained(p); i >= 0 && bytealg.IndexByte(p[:i], '\n') < 0 && r.endsLine(p[i:]) {
		r.seen = r.line.n
		return kind
	}
	return ftraceRecordNone
}

// from says whether the line has p at the given place.
func (r *ftraceRecord) from(at int, p []byte) bool {
	return len(p) <= r.line.n-at && string(r.line.data[at:at+len(p)]) == string(p)
}

// bare returns the line without its newline.
func (r *ftraceRecord) bare() string {
	line := r.line.string()
	if len(line) > 0 && line[len(line)-1] == '\n' {
		line = line[:len(line)-1]
	}
	return line
}

// contained returns where the line is in p, without its newline, or -1: p may have colours around it, or the time in front.
func (r *ftraceRecord) contained(p []byte) int {
	line := r.bare()
	if line == "" {
		return -1
	}
	for i := 0; len(p)-i >= len(line); i++ {
		next := bytealg.IndexByte(p[i:len(p)-len(line)+1], line[0])
		if next < 0 {
			return -1
		}
		i += next
		if string(p[i:i+len(line)]) == line {
			return i
		}
	}
	return -1
}

// endsLine says whether nothing stands behind the end of the line with which p begins.
func (r *ftraceRecord) endsLine(p []byte) bool {
	n := r.line.n
	if r.line.data[n-1] == '\n' {
		n--
	}
	i := bytealg.IndexByte(p[n:], '\n')
	return i < 0 || n+i == len(p)-1
}

// bytes appends p.
func (b *ftraceText) bytes(p []byte) { b.n += copy(b.data[b.n:], p) }

// string returns what is in the buffer.
func (b *ftraceText) string() string { return unsafe.String(&b.data[0], b.n) }

// ftraceLevelNames are the severities, most severe first, with their names in text and in JSON: those of package loglevel.
var ftraceLevelNames = [...]struct {
	level      int
	word, name string
}{{8, "err", "ERROR"}, {4, "warn", "WARN"}, {2, "notice", "NOTICE"}, {0, "info", "INFO"}, {-4, "debug", "DEBUG"}, {ftraceLevel, "trace", "TRACE"}}

// level appends the name of one of slog's levels, or that of the next lower one with an offset.
func (b *ftraceText) level(level int, json bool) {
	for _, l := range ftraceLevelNames {
		if level < l.level && l.level != ftraceLevel {
			continue
		}
		if json {
			b.str(l.name)
		} else {
			b.str(l.word)
		}
		if level > l.level {
			b.byte('+')
		}
		if level != l.level {
			b.int(int64(level - l.level))
		}
		return
	}
}

// ftraceUnseen are the lines of loggers that were woven, or are being, and may yet come to the descriptors 1 and 2: the last ones. What has come is taken out.
var ftraceUnseen = ftraceUnseenLines{lock: 1}

const (
	ftraceUnseenMax  = 1024      // lines
	ftraceUnseenText = 256 << 10 // and their bytes
)

type ftraceUnseenLines struct {
	lock   uint32        // semaphore
	n      uint32        // lines that are remembered or being logged, and beginnings that have come; atomic
	active *ftraceRecord // lines being logged
	store  *ftraceUnseenStore
	begun  [3]ftraceBegunLine // by descriptor
}

// ftraceBegunLine is the beginning of a line, without the rest, that has come to a descriptor.
type ftraceBegunLine struct {
	text   *ftraceText // nil if none has
	logger bool        // it came while a logger was writing, so it was certainly the logger's
}

type ftraceUnseenStore struct {
	_     sys.NotInHeap
	lines [ftraceUnseenMax]ftraceUnseenLine // a ring: the first is number first
	first uint32
	next  uint32
	at    uint32 // where the next line's bytes go
	data  [ftraceUnseenText]byte
}

// ftraceUnseenLine is where the bytes of a line are, none if it has come.
type ftraceUnseenLine struct{ at, size, hash uint32 }

func (u *ftraceUnseenLines) bytes(l ftraceUnseenLine) string {
	return unsafe.String(&u.store.data[l.at], l.size)
}

func ftraceLineHash(p string) uint32 {
	return uint32(memhash(unsafe.Pointer(unsafe.StringData(p)), 0, uintptr(len(p))))
}

// begin notes that r is being logged: another goroutine may write the line.
func (u *ftraceUnseenLines) begin(r *ftraceRecord) {
	semacquire(&u.lock)
	r.active = u.active
	u.active = r
	atomic.Xadd(&u.n, 1)
	semrelease(&u.lock)
}

// end notes that r was logged.
func (u *ftraceUnseenLines) end(r *ftraceRecord) {
	semacquire(&u.lock)
	for at := &u.active; *at != nil; at = &(*at).active {
		if *at == r {
			*at = r.active
			break
		}
	}
	atomic.Xadd(&u.n, -1)
	if (!r.used || r.again && r.seen == 0) && !r.delivered {
		u.add(r.line)
	}
	semrelease(&u.lock)
}

// add remembers a line. The oldest are forgotten if there is no room.
func (u *ftraceUnseenLines) add(line *ftraceText) {
	size := uint32(line.n)
	if size == 0 || line.data[size-1] != '\n' {
		return
	}
	if u.store == nil {
		u.store = (*ftraceUnseenStore)(ftraceAlloc(unsafe.Sizeof(ftraceUnseenStore{})))
	}
	s := u.store
	if s.at+size > ftraceUnseenText {
		for s.first != s.next && s.lines[s.first%ftraceUnseenMax].at >= s.at {
			u.drop()
		}
		s.at = 0
	}
	for s.first != s.next {
		oldest := s.lines[s.first%ftraceUnseenMax]
		if s.next-s.first < ftraceUnseenMax && (oldest.at < s.at || oldest.at >= s.at+size) {
			break
		}
		u.drop()
	}
	l := ftraceUnseenLine{at: s.at, size: size, hash: ftraceLineHash(line.string())}
	memmove(unsafe.Pointer(&s.data[l.at]), unsafe.Pointer(&line.data), uintptr(size))
	s.lines[s.next%ftraceUnseenMax] = l
	s.next++
	s.at += size
	atomic.Xadd(&u.n, 1)
}

// drop forgets the oldest line.
func (u *ftraceUnseenLines) drop() {
	s := u.store
	if s.lines[s.first%ftraceUnseenMax].size != 0 {
		atomic.Xadd(&u.n, -1)
	}
	s.first++
}

// take returns how many of the first bytes of p, which are written to fd, were woven before or are about to be: a line, its beginning or its end. logger says that they are
// written for a logger. If a line began to come and another goes on, before is what came of it: it was none of the remembered ones.
func (u *ftraceUnseenLines) take(fd int32, p []byte, logger bool) (before *ftraceText, seen int) {
	if len(p) == 0 {
		return nil, 0
	}
	semacquire(&u.lock)
	size := bytealg.IndexByte(p, '\n') + 1
	whole := size > 0
	if !whole {
		size = len(p)
	}
	if begun := &u.begun[fd]; begun.text != nil {
		at := begun.text.n
		begun.text.bytes(p[:size])
		goesOn := begun.text.n == at+size && u.knows(begun.text.string(), whole)
		switch {
		case goesOn && whole:
			ftraceFreeText(u.rest(begun))
			seen = size
		case goesOn:
			seen = size
		default:
			begun.text.n = at
			// A logger's line goes on later: another goroutine's came between.
			if !begun.logger {
				before = u.rest(begun)
			} else if !u.begins(begun.text.string()) {
				ftraceFreeText(u.rest(begun))
			}
		}
	}
	const least = 16 // bytes that are taken for the beginning of a line where no logger writes
	if seen == 0 && size < ftraceTextSize && (whole || logger || size >= least) && u.knows(unsafe.String(&p[0], size), whole) {
		seen = size
		if begun := &u.begun[fd]; !whole {
			if begun.text != nil {
				ftraceFreeText(u.rest(begun))
			}
			begun.text, begun.logger = ftraceNewText(), logger
			begun.text.bytes(p)
			atomic.Xadd(&u.n, 1)
		}
	}
	semrelease(&u.lock)
	return before, seen
}

// rest ends the wait for the rest of a line, and returns its beginning.
func (u *ftraceUnseenLines) rest(begun *ftraceBegunLine) *ftraceText {
	text := begun.text
	*begun = ftraceBegunLine{}
	atomic.Xadd(&u.n, -1)
	return text
}

// knows says whether text is a whole line that is known, which it takes out, or else begins one.
func (u *ftraceUnseenLines) knows(text string, whole bool) bool {
	if !whole {
		return u.begins(text)
	}
	hash := ftraceLineHash(text)
	if s := u.store; s != nil {
		for i := s.first; i != s.next; i++ {
			l := &s.lines[i%ftraceUnseenMax]
			if int(l.size) == len(text) && l.hash == hash && u.bytes(*l) == text {
				l.size = 0
				atomic.Xadd(&u.n, -1)
				for s.first != s.next && s.lines[s.first%ftraceUnseenMax].size == 0 {
					s.first++
				}
				return true
			}
		}
	}
	for r := u.active; r != nil; r = r.active {
		if !r.delivered && r.line.n == len(text) && r.line.string() == text {
			r.delivered = true // and is still to be woven
			return true
		}
	}
	return false
}

// begins says whether a known line begins with text.
func (u *ftraceUnseenLines) begins(text string) bool {
	if s := u.store; s != nil {
		for i := s.first; i != s.next; i++ {
			if l := s.lines[i%ftraceUnseenMax]; int(l.size) > len(text) && u.bytes(l)[:len(text)] == text {
				return true
			}
		}
	}
	for r := u.active; r != nil; r = r.active {
		if r.line.n > len(text) && r.line.string()[:len(text)] == text {
			return true
		}
	}
	return false
}
