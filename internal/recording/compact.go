package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// The files of records: programs write callFiles_N; a compact recording has packedFiles_N.
const (
	callFiles   = "calls"
	packedFiles = "packed"
)

// IsCompact reports whether Compact made the recording.
func (r *Recording) IsCompact() bool { return r.Env.Version == format.CompactVersion }

// Compact writes the recording, as far as it can be read, to a new directory in the compact form.
// Everything can be read from that as from this one. progress, which may be nil, is called by
// several goroutines with the number of bytes read since its last call.
func (r *Recording) Compact(dir string, progress func(int64)) error {
	if r.IsCompact() {
		return fmt.Errorf("%s is compact already", r.Dir)
	}
	if err := r.copyTables(dir, format.CompactVersion); err != nil {
		return err
	}
	names, err := r.callFiles()
	if err != nil {
		return err
	}
	room := make(chan bool, runtime.GOMAXPROCS(0))
	errs := make([]error, len(names))
	var done sync.WaitGroup
	for i, name := range names {
		room <- true
		done.Go(func() {
			errs[i] = r.compactFile(dir, name, progress)
			<-room
		})
	}
	done.Wait()
	r.checkTables()
	return errors.Join(errs...)
}

// compactFile writes a file of records.
func (r *Recording) compactFile(dir, name string, progress func(int64)) error {
	c, err := r.newCursor(name, false)
	if err != nil {
		return err
	}
	defer c.close()
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s_%d", packedFiles, c.processor)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<18)
	var p packing
	var b []byte
	for c.open(false) {
		raw := c.buf[packetHead:]
		b = appendPacketHead(b[:0], format.CompactStream, r.Env.UUID, c.packet, c.processor)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(raw))*8)
		b = p.pack(b, raw, c.packet.begin)
		setPacketSize(b, len(b), len(b))
		if _, err := w.Write(b); err != nil {
			return err
		}
		if progress != nil {
			progress(c.stored)
		}
		c.pos = len(c.buf) // what could not be read of it is counted as read
		c.leave()
	}
	return errors.Join(w.Flush(), f.Close())
}

// copyTables makes a directory for a recording of this process in another format, with metadata and
// tables.
func (r *Recording) copyTables(dir string, version int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	metadata, err := os.ReadFile(filepath.Join(r.Dir, "metadata"))
	if err != nil {
		return err
	}
	metadata = formatLine().ReplaceAll(metadata, fmt.Appendf(nil, "${1}%d", version))
	if version == format.WideVersion {
		metadata = wideMetadata(metadata)
	}
	if err := os.WriteFile(filepath.Join(dir, "metadata"), metadata, 0o600); err != nil {
		return err
	}
	tables, err := os.Open(filepath.Join(r.Dir, "tables"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer tables.Close()
	f, err := os.OpenFile(filepath.Join(dir, "tables"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, tables)
	return errors.Join(err, f.Close())
}

var formatLine = words.Regexp(`(?m)^(\s*ftrace_format\s*=\s*)\d+`)

// appendPacketHead appends the head of a packet. Its size is set later.
func appendPacketHead(b []byte, stream uint32, uuid [16]byte, p packet, processor int) []byte {
	b, err := binary.Append(b, binary.LittleEndian, format.Packet{Magic: format.PacketMagic, Stream: stream, UUID: uuid,
		Begin: p.begin, Lost: p.lost, Number: p.number, Processor: uint64(processor)})
	if err != nil {
		panic(err) // its size is fixed
	}
	return b
}

// setPacketSize sets the content and the size of a packet, in bytes.
func setPacketSize(head []byte, content, size int) {
	binary.LittleEndian.PutUint64(head[contentAt:], uint64(content)*8)
	binary.LittleEndian.PutUint64(head[sizeAt:], uint64(size)*8)
}

// readPacked reads the packet at an offset of a compact recording, and turns it into one as
// programs write them. buf is memory for that. Another goroutine calls it while the packet before
// is being read, but never twice at once.
func (c *cursor) readPacked(offset int64, buf []byte) readAhead {
	got := readAhead{offset: offset, buf: buf}
	var head [packedHead]byte
	n, _ := c.file.ReadAt(head[:], offset)
	if n < packedHead {
		got.n = copy(buf, head[:min(n, packetHead-1)])
		return got
	}
	p, content, wrong := parsePacked(head[:], c.r.Env.UUID)
	if wrong != "" {
		got.n, got.wrong = copy(buf, head[:packetHead]), wrong
		return got
	}
	size := p.size - packedHead
	if info, err := c.file.Stat(); err == nil { // the file may be cut off, or the head be wrong
		size = min(size, uint64(max(0, info.Size()-offset-packedHead)))
	}
	if uint64(cap(c.src)) < size {
		c.src = make([]byte, size)
	}
	src := c.src[:size]
	n, _ = c.file.ReadAt(src, offset+packedHead)
	src = src[:n]
	got.stored = int64(p.size)
	if uint64(cap(got.buf)) < packetHead+content {
		got.buf = make([]byte, packetHead+content)
	}
	got.buf = got.buf[:cap(got.buf)]
	raw := got.buf[packetHead : packetHead+content]
	n, got.wrong = c.packed.unpack(raw, src, p.begin)
	got.n = packetHead + n
	appendPacketHead(got.buf[:0], format.CallsStream, c.r.Env.UUID, p, c.processor)
	setPacketSize(got.buf, packetHead+len(raw), packetHead+len(raw))
	return got
}

// parsePacked reads the head of a packed packet. It returns the packet and the unpacked size of its
// content, and what is wrong with it.
func parsePacked(head []byte, uuid [16]byte) (p packet, content uint64, wrong string) {
	p, wrong = parsePacket(head, format.CompactStream, uuid)
	if wrong != "" {
		return p, 0, wrong
	}
	content = le64(head[packetHead:]) / 8
	switch {
	case p.size < packedHead:
		wrong = fmt.Sprintf("a packet of %d bytes", p.size)
	case content > packetMax || content > packedLargest*(p.size-packedHead):
		wrong = fmt.Sprintf("a packet of %d bytes with %d bytes unpacked", p.size, content)
	}
	return p, content, wrong
}

// seekPacked goes to the last packet that began before these ticks, from head to head.
func (c *cursor) seekPacked(ticks uint64) {
	var head [packedHead]byte
	lost := uint64(0) // before the last packet
	for at := int64(0); ; {
		if n, _ := c.file.ReadAt(head[:], at); n < packedHead {
			return
		}
		p, _, wrong := parsePacked(head[:], c.r.Env.UUID)
		if wrong != "" {
			size := at + c.leftAt(at)
			if at = nextPacket(c.file, format.CompactStream, c.r.Env.UUID, at+1, size); at >= size {
				return
			}
			continue
		}
		if p.begin >= ticks {
			return
		}
		c.offset, c.before, lost = at, lost, p.lost
		at += int64(p.size)
	}
}
