package text

import (
	"io"
	"os"
	"slices"
)

// Lines writes out the lines of a trace, as they come or grouped by goroutine.
type Lines struct {
	out io.Writer
	b   []byte
	err error // of writing; nothing is written after that

	// Lines that are grouped wait in memory, and, when these are many, in a temporary file.
	groups map[uint64]*group
	order  []uint64                             // goroutines, as they appeared
	Before func(i int, goroutine uint64) string // what is put in front of the i-th group; nil: an empty line between two
	waits  int                                  // bytes in memory
	spool  *os.File
	size   int64 // of the spool
}

// group is the lines of a goroutine.
type group struct {
	b      []byte // the last ones
	pieces []piece
}

// piece is a part of the spool.
type piece struct{ from, n int64 }

const (
	linesBuffer = 64 << 10
	groupsMax   = 64 << 20 // bytes that wait in memory
)

// NewLines returns what writes lines to out.
func NewLines(out io.Writer, grouped bool) *Lines {
	l := &Lines{out: out}
	if grouped {
		l.groups = map[uint64]*group{}
	}
	return l
}

// Add takes whole lines of a goroutine.
func (l *Lines) Add(goroutine uint64, b []byte) {
	if l.groups == nil {
		l.b = append(l.b, b...)
		if len(l.b) >= linesBuffer {
			l.flush()
		}
		return
	}
	g := l.groups[goroutine]
	if g == nil {
		g = &group{}
		l.groups[goroutine] = g
		l.order = append(l.order, goroutine)
	}
	g.b = append(g.b, b...)
	if l.waits += len(b); l.waits > groupsMax {
		l.swap()
	}
}

// many takes many lines at once, of any goroutines, where these are not grouped.
func (l *Lines) many(b []byte) {
	if len(b) < linesBuffer {
		l.Add(0, b)
		return
	}
	l.flush()
	if l.err == nil {
		_, l.err = l.out.Write(b)
	}
}

// flush writes what waits to be written.
func (l *Lines) flush() {
	if l.err == nil && len(l.b) > 0 {
		_, l.err = l.out.Write(l.b)
	}
	l.b = l.b[:0]
}

// swap moves what is in memory to the spool.
func (l *Lines) swap() {
	if l.spool == nil && l.err == nil {
		if l.spool, l.err = os.CreateTemp("", "ftrace-*"); l.err == nil {
			os.Remove(l.spool.Name()) // where that can't be done close does it
		}
	}
	for _, id := range l.order {
		g := l.groups[id]
		if len(g.b) == 0 || l.err != nil {
			continue
		}
		_, l.err = l.spool.Write(g.b)
		g.pieces = append(g.pieces, piece{l.size, int64(len(g.b))})
		l.size += int64(len(g.b))
		g.b = nil
	}
	l.waits = 0
}

// Close writes what is left. It returns the error of any write.
func (l *Lines) Close() error {
	for i, id := range l.order {
		g := l.groups[id]
		between := ""
		switch {
		case l.Before != nil:
			between = l.Before(i, id)
		case i > 0:
			between = "\n"
		}
		if l.err == nil {
			_, l.err = io.WriteString(l.out, between)
		}
		for _, p := range g.pieces {
			if l.err == nil {
				_, l.err = io.Copy(l.out, io.NewSectionReader(l.spool, p.from, p.n))
			}
		}
		l.b = append(l.b, g.b...)
		l.flush()
	}
	l.flush()
	if l.spool != nil {
		l.spool.Close()
		os.Remove(l.spool.Name())
	}
	l.order, l.groups = nil, nil
	l.b = slices.Clip(l.b)
	return l.err
}
