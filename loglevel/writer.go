package loglevel

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// A Writer makes lines of a trace of the lines that are written to it: for package log and other
// loggers that write to an io.Writer.
//
//	log.SetOutput(loglevel.NewTextWriter(os.Stderr))
//
// A line is written out, with one Write, when its end is there; its beginning is held by goroutine,
// so that what several goroutines write in pieces stays apart. All methods may be called from
// several goroutines at once.
type Writer struct {
	out  *sink
	json slog.Handler // nil if lines are text
	as   Level

	lock sync.Mutex
	held map[uint64][]byte // unfinished lines by goroutine
}

// maxHeld is how much of a line is held. It is written as a line of its own then.
const maxHeld = 64 << 10

// NewTextWriter returns a Writer whose lines are those written to it with goroutine and indentation
// in front:
//
//	G1     - 2024/02/29 12:00:00 listening
func NewTextWriter(w io.Writer) *Writer { return &Writer{out: newSink(w)} }

// NewJSONWriter returns a Writer whose lines are as those of [NewJSONHandler], with level as the
// level and the line written to it as the message.
func NewJSONWriter(w io.Writer, level Level) *Writer {
	return &Writer{json: NewJSONHandler(w, &HandlerOptions{Level: level}), as: level}
}

// Write takes all of p. The error is the first one that writing its lines out gave; the others are
// written all the same.
func (w *Writer) Write(p []byte) (n int, err error) {
	rest := p
	for len(rest) > 0 {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		rest = after
		if line, ended = w.finish(line, ended); ended {
			if e := w.line(line); err == nil {
				err = e
			}
		}
	}
	return len(p), err
}

// finish returns a line with what is held in front of it, or holds it if it has not ended.
func (w *Writer) finish(line []byte, ended bool) ([]byte, bool) {
	id := ftrace.Goroutine()
	w.lock.Lock()
	defer w.lock.Unlock()
	if held := w.held[id]; held != nil {
		line = append(held, line...)
		delete(w.held, id)
	}
	if ended || len(line) >= maxHeld {
		return line, true
	}
	if w.held == nil {
		w.held = map[uint64][]byte{}
	}
	w.held[id] = bytes.Clone(line)
	return nil, false
}

// Flush writes out what is held, each piece as a line of the goroutine that calls it.
func (w *Writer) Flush() error {
	w.lock.Lock()
	held := w.held
	w.held = nil
	w.lock.Unlock()
	var err error
	for _, line := range held {
		if e := w.line(line); err == nil {
			err = e
		}
	}
	return err
}

func (w *Writer) line(line []byte) error {
	if w.json != nil {
		return w.json.Handle(context.Background(), slog.NewRecord(time.Now(), slog.Level(w.as), string(line), 0))
	}
	b := newLine()
	defer b.free()
	b.begin()
	text := len(*b)
	if len(line) == 0 {
		*b = bytes.TrimSuffix(*b, []byte(" ")) // "-" alone, as what is woven has it
		text--
	}
	*b = append(append(*b, line...), '\n')
	_, err := w.out.log(ftrace.LevelInLine, *b, text)
	return err
}
