package web

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// The index of a large recording is kept in a file in its directory, so that the next start need
// not read the recording, or not all of it. The file is hidden: readers of CTF pass such files
// over. It has
//
//	magic, and the print of the recording that it was made of
//	the index: numbers, and for each lane its rows, all little-endian
//	whether it is of a part of the recording, and what was under way at the end of that
//	a checksum
//
// What is not as it should be in the file is as if there were none.
const (
	indexFile  = ".web-index"
	indexMagic = "ftrace web index 2\n"
	keptLeast  = 100 << 20 // smaller recordings are read in a moment
	indexPart  = 20        // the file has at most the recording's size divided by that
	notesMax   = 1 << 16   // bytes
	nameMax    = 1 << 16
)

// keepEvery is after how many events the index of what has been read by then is kept.
const keepEvery = 64 << 20

// open has the index from its file, or else goes through the recording as build does, and keeps
// what it has made unless that is too large or can't be written. What the file has of a part of the
// recording is not read again.
func (x *index) open(progress func(size int64, done func() int64) (end func()), more func() bool) {
	of, size, err := recording.FootprintOf(x.r.Dir)
	if err != nil {
		x.build(progress, more, nil, nil)
		return
	}
	name := filepath.Join(x.r.Dir, indexFile)
	from, wrong := x.restore(name, of)
	if wrong == nil && from == nil {
		return
	}
	keep := func(s *halt) {
		if now, _, err := recording.FootprintOf(x.r.Dir); err != nil || now != of || x.stored > slicesMax {
			return
		}
		x.keep(name, of, size/indexPart, s) // who can't write there only waits longer the next time
	}
	if size < keptLeast {
		keep = nil
	}
	x.build(progress, more, from, keep)
}

var errLarge = errors.New("the index is too large a part of the recording")

// keep writes an index, of a part of the recording if s is not nil, to a file, which has at most so
// many bytes. Others may only read the index meanwhile.
func (x *index) keep(name string, of recording.Footprint, most int64, s *halt) error {
	f, err := ownfile.Replace(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := &indexWriter{to: bufio.NewWriterSize(f, 1<<20), left: most}
	w.bytes([]byte(indexMagic))
	w.bytes(of[:])
	w.index(x)
	w.numbers(bit(s != nil))
	if s != nil {
		w.halt(s)
	}
	w.bytes(binary.LittleEndian.AppendUint32(nil, w.sum))
	if w.err == nil {
		w.err = w.to.Flush()
	}
	if w.err != nil {
		return w.err
	}
	return f.Commit()
}

// An indexWriter writes an index until there is an error.
type indexWriter struct {
	to   *bufio.Writer
	left int64
	sum  uint32
	err  error
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (w *indexWriter) bytes(b []byte) {
	if w.left -= int64(len(b)); w.left < 0 && w.err == nil {
		w.err = errLarge
	}
	if w.err != nil {
		return
	}
	w.sum = crc32.Update(w.sum, castagnoli, b)
	_, w.err = w.to.Write(b)
}

func (w *indexWriter) numbers(list ...uint64) {
	b := make([]byte, 0, 64)
	for _, n := range list {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	w.bytes(b)
}

func (w *indexWriter) index(x *index) {
	notes := x.notes[:min(len(x.notes), notesMax)]
	w.numbers(uint64(x.now), x.calls, x.deep, x.beyond, uint64(x.finest), uint64(len(notes)), uint64(len(x.lanes)))
	w.bytes([]byte(notes))
	w.spans(x.spans)
	for _, l := range x.lanes {
		w.numbers(l.goroutine, l.calls, l.failed, uint64(l.begin), uint64(l.end), uint64(len(l.rows)))
		for r := range l.all() {
			w.numbers(uint64(len(r.lists)))
			w.slices(r.pending)
			for _, list := range r.lists {
				w.slices(list)
			}
		}
	}
}

const sliceBytes = 24

func (w *indexWriter) spans(s *spans) {
	w.numbers(uint64(s.n), s.beyond, uint64(len(s.families)))
	for _, f := range s.families {
		w.numbers(uint64(len(f.name)), f.calls, f.failed, uint64(len(f.rows)))
		w.bytes([]byte(f.name))
		for _, row := range f.rows {
			w.numbers(uint64(len(row)))
			for _, c := range row {
				w.numbers(uint64(c.begin), uint64(c.end), uint64(c.what)<<32|uint64(c.calls), c.goroutine, uint64(c.depth))
			}
		}
	}
}

func (w *indexWriter) slices(list []slice) {
	w.numbers(uint64(len(list)))
	b := make([]byte, 0, min(len(list), 4096)*sliceBytes)
	for i, s := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.begin))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.end))
		b = binary.LittleEndian.AppendUint32(b, s.what)
		b = binary.LittleEndian.AppendUint32(b, s.calls)
		if len(b) == cap(b) || i == len(list)-1 {
			w.bytes(b)
			b = b[:0]
		}
	}
}

// restore reads the index from a file if it is that of the recording. If it is of a part, it
// returns how to go on.
func (x *index) restore(name string, of recording.Footprint) (*halt, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return x.decode(f, stat.Size(), of)
}

// decode reads an index of so many bytes. If it fails, the index is of nothing yet, as before.
func (x *index) decode(from io.Reader, size int64, of recording.Footprint) (*halt, error) {
	r := &indexReader{from: bufio.NewReaderSize(from, 1<<20), left: size}
	if string(r.bytes(len(indexMagic))) != indexMagic || recording.Footprint(r.bytes(len(of))) != of {
		return nil, errors.Join(errIndex, r.err)
	}
	read := newIndex(x.r)
	s := r.contents(read)
	sum := r.sum
	if stored := binary.LittleEndian.Uint32(r.bytes(4)); r.err == nil && (stored != sum || r.left != 0 || read.stored > slicesMax) {
		r.fail()
	}
	if r.err != nil {
		return nil, r.err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lanes, x.spans, x.runners, x.rows, x.finest, x.stored = read.lanes, read.spans, read.runners, read.rows, read.finest, read.stored
	x.now, x.calls, x.deep, x.beyond, x.notes, x.finished = read.now, read.calls, read.deep, read.beyond, read.notes, s == nil
	return s, nil
}

var errIndex = errors.New("it is no index of this recording")

// An indexReader reads an index until there is an error. From then on all is zero.
type indexReader struct {
	from *bufio.Reader
	left int64
	sum  uint32
	buf  []byte
	err  error
}

// bytes returns the next n bytes, until the next call.
func (r *indexReader) bytes(n int) []byte {
	if n > cap(r.buf) {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	if r.left -= int64(n); r.left < 0 && r.err == nil {
		r.err = errIndex
	}
	if r.err == nil {
		_, r.err = io.ReadFull(r.from, b)
	}
	if r.err != nil {
		clear(b)
		return b
	}
	r.sum = crc32.Update(r.sum, castagnoli, b)
	return b
}

func (r *indexReader) number() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

// fail notes that the file is not as it should be.
func (r *indexReader) fail() { r.err = errors.Join(r.err, errIndex) }

// count reads how many things follow, each of at least so many bytes.
func (r *indexReader) count(each int64, most uint64) int {
	n := r.number()
	if n > most || int64(n) > max(r.left, 0)/each {
		r.fail()
		return 0
	}
	return int(n)
}

// contents reads an index, and, if it is of a part, how to go on.
func (r *indexReader) contents(x *index) *halt {
	r.index(x)
	if r.number() == 0 {
		return nil
	}
	return r.halt(x.spans.families)
}

func (r *indexReader) index(x *index) {
	x.now, x.calls, x.deep, x.beyond = int64(r.number()), r.number(), r.number(), r.number()
	x.finest = r.count(1, levels-1)
	notes, lanes := r.count(1, notesMax), r.count(6*8, lanesMax+processorsMax)
	x.notes = string(r.bytes(notes))
	r.spans(x.spans)
	for range lanes {
		l := &lane{goroutine: r.number(), calls: r.number(), failed: r.number(), begin: int64(r.number()), end: int64(r.number())}
		l.rows = make([]row, r.count(2*8, rowsMax))
		x.rows += len(l.rows)
		for at := range l.all() {
			lists := r.count(8, levels)
			at.pending = r.slices(levels)
			for range lists {
				list := r.slices(slicesMax)
				at.lists = append(at.lists, list)
				x.stored += len(list)
			}
		}
		if r.err != nil {
			return
		}
		x.lanes[l.goroutine] = l
		if l.goroutine&processorLane != 0 {
			x.runners++
		}
	}
}

func (r *indexReader) spans(s *spans) {
	const each = 5 * 8
	s.n, s.beyond = r.count(each, spansMax), r.number()
	for range r.count(4*8, familiesMax) {
		name := r.count(1, nameMax)
		f := &family{calls: r.number(), failed: r.number()}
		f.rows = make([][]spanSlice, r.count(8, spanRows))
		f.name = string(r.bytes(name))
		for i := range f.rows {
			for range r.count(each, spansMax) {
				begin, end, what, goroutine, depth := r.number(), r.number(), r.number(), r.number(), r.number()
				f.rows[i] = append(f.rows[i], spanSlice{slice{int64(begin), int64(end), uint32(what >> 32), uint32(what)}, goroutine, uint16(depth)})
			}
		}
		s.families = append(s.families, f)
	}
}

func (r *indexReader) slices(most uint64) []slice {
	n := r.count(sliceBytes, most)
	list := make([]slice, 0, n)
	for len(list) < n && r.err == nil {
		b := r.bytes(min(n-len(list), 4096) * sliceBytes)
		for ; len(b) > 0; b = b[sliceBytes:] {
			list = append(list, slice{
				int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])),
				binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:]),
			})
		}
	}
	return list
}
