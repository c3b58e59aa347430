// Package screen is what commands print through. What package escape does not let pass reaches no
// terminal by it, whoever wrote it.
package screen

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/mattn/go-isatty"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// A Form is how text is made that comes through a Writer.
type Form int

const (
	Text     Form = iota // lines, in which tabs may be
	Coloured             // the same, with colours
	JSON                 // what is escaped is so as JSON has it
	Binary               // no text: all passes, to a file or a pipe that is no terminal
)

// A Writer lets through what may be shown: characters that are safe, newlines and tabs, and colours
// if its form has them. All else is escaped. It may be used concurrently.
type Writer struct {
	to    io.Writer
	form  Form
	using sync.Mutex
	rest  []byte // the beginning of a character or a colour, of which the rest is to come
	b     []byte
}

// Terminal reports whether a file is a terminal on which lines can be changed.
func Terminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb" }

// New returns a writer to a file.
func New(to io.Writer, form Form) *Writer { return &Writer{to: to, form: form} }

// As returns a writer of another form to the same file.
func (w *Writer) As(form Form) *Writer { return New(w.to, form) }

// WriteString writes a string.
func (w *Writer) WriteString(s string) (int, error) {
	return w.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// Write writes p, but for the beginning of a character at its end, which waits for what is written
// next.
func (w *Writer) Write(p []byte) (int, error) {
	if w.form == Binary {
		return w.to.Write(p)
	}
	w.using.Lock()
	defer w.using.Unlock()
	text := p
	if len(w.rest) > 0 {
		text = append(w.rest, p...)
		w.rest = nil
	}
	s := unsafe.String(unsafe.SliceData(text), len(text))
	n := w.plain(s)
	if n == len(s) {
		if _, err := w.to.Write(text); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	b := append(w.b[:0], s[:n]...)
	for s = s[n:]; s != ""; {
		n := w.plain(s)
		if n == 0 && w.begun(s) {
			w.rest = []byte(s)
			break
		}
		if n == 0 {
			n, _ = escape.Next(s)
			b = w.escaped(b, s[:n])
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	w.b = b[:0]
	if _, err := w.to.Write(b); err != nil {
		return 0, err
	}
	return len(p), nil
}

// plain returns how much of s passes as it is.
func (w *Writer) plain(s string) int {
	for i := 0; ; {
		i += escape.Plain(s[i:])
		switch {
		case i == len(s):
			return i
		case s[i] == '\n' || s[i] == '\t':
			i++
			continue
		case s[i] == '\x1b' && w.form == Coloured:
			if n := escape.Colour(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		return i
	}
}

// begun reports whether s is the beginning of a character or a colour, which may be whole when more
// is written.
func (w *Writer) begun(s string) bool {
	if s[0] == '\x1b' {
		return w.form == Coloured && len(s) < 64 && (s == "\x1b" || escape.Colour(s+"m") == len(s)+1)
	}
	return s[0] >= 0x80 && escape.Unfinished(s) == len(s)
}

// escaped appends a character that does not pass.
func (w *Writer) escaped(b []byte, s string) []byte {
	if w.form != JSON {
		return escape.Append(b, s)
	}
	r, _ := utf8.DecodeRuneInString(s)
	if r > 0xFFFF {
		r -= 0x10000
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
