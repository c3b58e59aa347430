package recording

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// A Writer writes events to a new recording, which is wide. It is for parts of recordings, and for
// one goroutine.
type Writer struct {
	r     *Recording
	dir   string
	files map[int32]*writtenFile // by processor
	err   error
}

// writtenFile is a file of records, and the packet that is being filled.
type writtenFile struct {
	f       *os.File
	b       []byte
	content int    // bytes of b in use: the last record ends within its last word
	last    uint64 // ticks
	lost    uint64
	number  uint64
}

// NewWriter makes a new directory for a recording with the process and the tables of r.
func (r *Recording) NewWriter(dir string) (*Writer, error) {
	if err := r.copyTables(dir, format.WideVersion); err != nil {
		return nil, err
	}
	return &Writer{r: r, dir: dir, files: map[int32]*writtenFile{}}, nil
}

// Write adds an event, which must not be earlier than those before it on its processor. All later
// calls, and Close, return the first error.
func (w *Writer) Write(e *Event) error {
	if w.err != nil {
		return w.err
	}
	f := w.files[e.Processor]
	if f == nil {
		file, err := os.OpenFile(filepath.Join(w.dir, fmt.Sprintf("%s_%d", callFiles, e.Processor)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			w.err = err
			return err
		}
		f = &writtenFile{f: file}
		w.files[e.Processor] = f
	}
	if e.Kind == Lost {
		w.err = f.flush(w.r.Env.UUID)
		f.lost += e.Call // the next packet says so
		return w.err
	}
	if len(f.b) > packetUsual-format.RecordMax {
		if w.err = f.flush(w.r.Env.UUID); w.err != nil {
			return w.err
		}
	}
	if len(f.b) == 0 {
		f.b = appendPacketHead(f.b, format.CallsStream, w.r.Env.UUID, packet{begin: e.Ticks, lost: f.lost, number: f.number}, int(e.Processor))
		f.number++
	}
	f.b = e.encode(f.b)
	f.content, f.last = len(f.b), e.Ticks
	for len(f.b)%8 != 0 {
		f.b = append(f.b, 0)
	}
	return nil
}

// flush writes the packet, if there is one.
func (f *writtenFile) flush(uuid [16]byte) error {
	if len(f.b) == 0 {
		return nil
	}
	f.b = append(f.b, make([]byte, packetUsual-len(f.b))...)
	setPacketSize(f.b, f.content, packetUsual)
	_, err := f.f.Write(f.b)
	f.b = f.b[:0]
	return err
}

// Close completes the recording. The caller must call it.
func (w *Writer) Close() error {
	err := w.err
	for processor, f := range w.files {
		if err == nil && len(f.b) == 0 && f.lost != 0 {
			// If records were lost at the end, a packet without records says so.
			f.b = appendPacketHead(f.b, format.CallsStream, w.r.Env.UUID, packet{begin: f.last, lost: f.lost, number: f.number}, int(processor))
			f.content = len(f.b)
		}
		err = errors.Join(err, f.flush(w.r.Env.UUID), f.f.Close())
	}
	return err
}

// encode appends the record of an event. The next record begins after its last word.
func (e *Event) encode(b []byte) []byte {
	order := binary.LittleEndian
	at := len(b)
	b = append(b, make([]byte, recordHead)...)
	head := b[at:]
	order.PutUint64(head, e.Ticks)
	head[kindAt] = byte(e.Kind)
	order.PutUint16(head[depthAt:], e.Depth)
	order.PutUint32(head[functionAt:], e.Function)
	order.PutUint64(head[goroutineAt:], e.Goroutine)
	call, values, text, start := recordShape(e.Kind)
	switch {
	case start:
		number := e.Call
		if e.Uncounted {
			number |= format.Uncounted
		}
		b = order.AppendUint64(order.AppendUint64(b, e.Parent), number)
		if e.Kind == On {
			b = order.AppendUint64(order.AppendUint64(b, e.Failed), e.Noted)
		}
	case text:
		level := uint32(0)
		if e.Kind == Line {
			level = uint32(e.Level)
		}
		b = order.AppendUint32(order.AppendUint32(b, level), uint32(len(e.Data)))
		b = append(b, e.Data...)
	}
	if call {
		number := e.Call
		if e.Untimed {
			number |= format.Untimed
		}
		if e.AtEnd {
			number |= format.AtEnd
		}
		b = order.AppendUint64(b, number)
		if e.AtEnd && !e.Untimed {
			b[at+kindAt] = format.KindEntryLate
			b = order.AppendUint64(b, e.Parent)
		}
	}
	if values {
		b = order.AppendUint32(order.AppendUint32(b, e.Layout), uint32(len(e.Data)))
		b = append(b, e.Data...)
	}
	switch e.Kind {
	case Blocked:
		b = append(b, e.Data...)
	case Wait:
		b = append(b, e.Data[8:]...) // after the number
		if len(e.Data) > waitSize {
			b[at+kindAt] = format.KindSelect
		}
	}
	b[at+wordsAt] = byte((len(b) - at + 7) / 8)
	return b
}
