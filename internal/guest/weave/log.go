//go:build ftrace_core

// What package log and log/slog are about to write. They know the level and the message, which can
// no longer be told apart in the bytes that they hand to a writer. And their writer may be
// anything: what they log is woven even if it goes to a file.
//
// A logger says that it begins to write a line, and that it has written it (ftrace_log,
// ftrace_slog, ftrace_logged). If the line comes to the descriptors 1 or 2 in between, it is woven
// in the logger's words. If it does not, it is woven when the logger is done. It may come there
// later: see weave/unseen.go.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceRecord is a line that a logger is writing on its goroutine.
type ftraceRecord struct {
	_         sys.NotInHeap
	next      *ftraceRecord // the line that was being written when this one was logged
	active    *ftraceRecord // in ftraceUnseen's list
	line      *ftraceText   // as it is handed to the writer
	at        uintptr       // where the logger has it
	text      *ftraceText   // in the logger's words, with a newline
	message   int           // where the message begins in text, after the level
	level     int           // as in log/slog
	object    bool          // line is a JSON object
	used      bool          // it was woven
	again     bool          // another handler writes it again
	observed  bool          // its writer has said what it writes, see ftrace_api_logged
	delivered bool          // it went to a file, or all of it to 1 or 2
	seen      int           // how much of line has come to 1 or 2
}

// bytes returns the text.
func (r *ftraceRecord) bytes() []byte { return r.text.data[:r.text.n] }

// ftraceNewRecord begins a line on the goroutine, or returns nil if the line is not to be woven. If
// the line or its message contains the line that a logger is writing, it is what that logger
// writes: then that record is returned, and none begun. Lines that fit no buffer are woven where
// they are written.
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
	lock(&ftraceFreeLists.lock)
	r = ftraceFreeLists.records
	if r != nil {
		ftraceFreeLists.records = r.next
	}
	unlock(&ftraceFreeLists.lock)
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

// canRead reports whether p, which the record's goroutine writes, can be read. What a logger has
// handed over can, which is checked first because it is quick. r may be nil.
func (r *ftraceRecord) canRead(p []byte) bool {
	at := unsafe.Pointer(unsafe.SliceData(p))
	return r != nil && uintptr(at) == r.at && len(p) <= r.line.n || ftraceReadable(at, uintptr(len(p)))
}

// ftrace_log is called by package log when it is about to write line. The message begins at the
// given place in line. header is what package log puts before the message, without date and time.
// ftrace_log reports whether ftrace_logged is to be called after the write.
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

// ftrace_slog is called by log/slog when it is about to write line. attrs is where the attributes
// begin in line. What log/slog has package log write is woven in log/slog's words: they have the
// level and more attributes.
//
// moment is the record's time and place, 0 if it has no time. by identifies the handler that writes
// it: a record that several handlers write is woven once.
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
	if w := &gp.ftraceWeave; moment != 0 && gp.bubble == nil { // in a bubble of testing/synctest all lines have the same time
		moment ^= uint64(ftraceLineHash(message)) << 32
		if w.moment == moment && w.by != by {
			r.used, r.again = true, true
		} else {
			w.moment, w.by = moment, by
		}
	}
	return begun
}

// ftrace_dropped is called by log/slog when package log has it write a line that is below the
// handler's level.
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

// atLeast raises the level if this is the line with which package log ends the program. It also
// raises the one by which log/slog writes it.
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

// ftrace_logged is called when the line is written that the goroutine began last.
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
	lock(&ftraceFreeLists.lock)
	r.next = ftraceFreeLists.records
	ftraceFreeLists.records = r
	unlock(&ftraceFreeLists.lock)
}

// ftrace_delivered is called when p was written to a descriptor other than 1 and 2. A line that
// went to a file comes nowhere else.
//
//go:linkname ftrace_delivered
func ftrace_delivered(fd int32, p []byte) {
	r := getg().ftraceWeave.log
	if r == nil || len(p) < r.line.n || string(p[len(p)-r.line.n:]) != r.line.string() {
		return
	}
	r.delivered = ftraceRegular(fd)
}

// What a write means to a record.
const (
	ftraceRecordNone = iota
	ftraceRecordText // it is the line, or begins it
	ftraceRecordOn   // it goes on with the line, or repeats it: the line was woven
)

// match returns what p, which the record's goroutine writes, is to the record. It notes how far the
// line has come.
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

// from reports whether the line has p at the given place.
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

// contained returns where the line is in p, without its newline, or -1. p may have colours around
// the line, or the time before it.
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

// endsLine reports whether nothing stands after the end of the line with which p begins.
func (r *ftraceRecord) endsLine(p []byte) bool {
	n := r.line.n
	if r.line.data[n-1] == '\n' {
		n--
	}
	i := bytealg.IndexByte(p[n:], '\n')
	return i < 0 || n+i == len(p)-1
}

// attributes appends the rest of the object that log/slog wrote, from a comma on, as key=value,
// with dots between the names of nested groups.
func (b *ftraceText) attributes(rest []byte) {
	var a ftrace_jsonline_Attributes
	for a.Of(rest); a.Next(); {
		b.byte(' ')
		for i := range a.Groups() {
			b.bytes(a.Group(i))
			b.byte('.')
		}
		b.bytes(a.Key)
		b.byte('=')
		b.bytes(a.Value)
	}
}

// ftraceLevelNames are the severities, most severe first, with their names in text and in JSON:
// those of package loglevel.
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
