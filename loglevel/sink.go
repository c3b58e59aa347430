package loglevel

import (
	"io"
	"strconv"
	"sync"

	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// A sink writes finished lines, each with one Write and one at a time, and keeps them from being
// woven into the trace again if they go to standard output or standard error.
type sink struct {
	lock sync.Mutex
	w    io.Writer

	// What write uses and returns: it is made once, so that no line needs a function literal of its
	// own.
	line  []byte
	n     int
	err   error
	write func()
}

func newSink(w io.Writer) *sink {
	s := &sink{w: w}
	s.write = func() { s.n, s.err = s.w.Write(s.line) }
	return s
}

// Write writes a line that has its level in it.
func (s *sink) Write(line []byte) (int, error) { return s.log(ftrace.LevelInLine, line, 0) }

// log writes a line of that level, whose text begins at the given place, behind where it stands in
// the trace.
func (s *sink) log(level int, line []byte, text int) (int, error) {
	ftrace.Logged(level, line[text:])
	s.lock.Lock()
	defer s.lock.Unlock()
	s.line = line
	ftrace.WithoutWeaving(s.write)
	s.line = nil
	return s.n, s.err
}

// A lineBuffer is what a line is made in.
type lineBuffer []byte

var lineBuffers = sync.Pool{New: func() any { return new(lineBuffer) }}

const maxPooled = 16 << 10

func newLine() *lineBuffer { return lineBuffers.Get().(*lineBuffer) }

func (b *lineBuffer) free() {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		lineBuffers.Put(b)
	}
}

// begin appends the beginning of a line of a trace: the goroutine and the indentation of its calls
// under way. Without the wrapper there is neither.
func (b *lineBuffer) begin() {
	if id := ftrace.Goroutine(); id != 0 {
		from := len(*b)
		*b = strconv.AppendUint(append(*b, 'G'), id, 10)
		for len(*b) < from+4 {
			*b = append(*b, ' ')
		}
		*b = append(*b, ' ')
		for range ftrace.Depth() {
			*b = append(*b, "  "...)
		}
	}
	*b = append(*b, "- "...)
}
