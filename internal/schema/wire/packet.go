package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"
)

// packetMax is how long a packet can be; longer content takes several.
const packetMax = 1<<24 - 1

// contentMax is how long a client's content may be, and loginMax before the client has logged in.
const (
	contentMax = 64 << 20
	loginMax   = 64 << 10
)

// packets reads and writes packets of a connection. Each has a number, which is one more than that
// of the packet before.
type packets struct {
	net.Conn
	r        *bufio.Reader
	w        *bufio.Writer
	timed    *timedWriter
	sequence byte
	limit    int
	hold     func(bytes int) error // is called with the size of content before it is read; nil: there is little
	patient  bool                  // the time limit is for each chunk of the client's content
}

func newPackets(c net.Conn) *packets {
	timed := &timedWriter{c, writeTime}
	return &packets{Conn: c, r: bufio.NewReader(c), w: bufio.NewWriterSize(timed, 16<<10), timed: timed, limit: loginMax}
}

// readTime and writeTime are how long a client may take for a chunk that it sends or receives:
// MySQL's net_read_timeout and net_write_timeout.
const (
	readTime  = 30 * time.Second
	writeTime = 60 * time.Second
	chunkMax  = 64 << 10
)

// timedWriter gives up on a client that does not receive.
type timedWriter struct {
	net.Conn
	patience time.Duration
}

func (w *timedWriter) Write(b []byte) (written int, err error) {
	for len(b) > 0 && err == nil {
		chunk := b[:min(len(b), chunkMax)]
		w.SetWriteDeadline(time.Now().Add(w.patience))
		var n int
		n, err = w.Conn.Write(chunk)
		written += n
		b = b[n:]
	}
	return written, err
}

var errPacket = errors.New("malformed packet")

// read returns the content of the next packets.
func (p *packets) read() ([]byte, error) {
	var content []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(p.r, head[:]); err != nil {
			return nil, err
		}
		size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		if head[3] != p.sequence {
			return nil, fmt.Errorf("%w: number %d where %d was expected", errPacket, head[3], p.sequence)
		}
		p.sequence++
		if len(content)+size > p.limit {
			return nil, fmt.Errorf("%w: longer than %d bytes", errPacket, p.limit)
		}
		// Memory is allocated for what has come: the head of a packet may claim anything.
		for left := size; left > 0; {
			n := min(left, chunkMax)
			if p.hold != nil {
				if err := p.hold(n); err != nil {
					return nil, err
				}
			}
			if p.patient {
				p.SetReadDeadline(time.Now().Add(readTime))
			}
			from := len(content)
			content = append(content, make([]byte, n)...)
			if _, err := io.ReadFull(p.r, content[from:]); err != nil {
				return nil, err
			}
			left -= n
		}
		if size < packetMax {
			return content, nil
		}
	}
}

// write writes content as packets. flush sends it, if it was not sent before.
func (p *packets) write(content []byte) error {
	for {
		n := min(len(content), packetMax)
		head := [4]byte{byte(n), byte(n >> 8), byte(n >> 16), p.sequence}
		p.sequence++
		p.w.Write(head[:])
		if _, err := p.w.Write(content[:n]); err != nil {
			return err
		}
		if content = content[n:]; n < packetMax {
			return nil
		}
	}
}

func (p *packets) flush() error { return p.w.Flush() }

// Values in packets.

func appendUint16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }
func appendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func appendUint64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// appendLength appends an integer in as many bytes as it needs.
func appendLength(b []byte, n uint64) []byte {
	switch {
	case n < 251:
		return append(b, byte(n))
	case n < 1<<16:
		return appendUint16(append(b, 0xFC), uint16(n))
	case n < 1<<24:
		return append(b, 0xFD, byte(n), byte(n>>8), byte(n>>16))
	}
	return appendUint64(append(b, 0xFE), n)
}

func appendString(b []byte, s string) []byte { return append(appendLength(b, uint64(len(s))), s...) }

// reader takes values from a packet. After its end there are zeros, and bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		r.b = nil
		return make([]byte, min(max(n, 0), 8))
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) uint8() byte      { return r.take(1)[0] }
func (r *reader) uint16() uint16   { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) uint32() uint32   { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) uint64() uint64   { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) float32() float32 { return math.Float32frombits(r.uint32()) }
func (r *reader) float64() float64 { return math.Float64frombits(r.uint64()) }

func (r *reader) length() int {
	n := uint64(0)
	switch c := r.uint8(); c {
	case 0xFC:
		n = uint64(r.uint16())
	case 0xFD:
		b := r.take(3)
		n = uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xFE:
		n = r.uint64()
	default:
		n = uint64(c)
	}
	return int(min(n, math.MaxInt32))
}

func (r *reader) string() string { return string(r.take(r.length())) }

// zeroString returns the text up to a zero byte, or the end.
func (r *reader) zeroString() string {
	for i, c := range r.b {
		if c == 0 {
			s := string(r.b[:i])
			r.b = r.b[i+1:]
			return s
		}
	}
	s := string(r.b)
	r.b = nil
	return s
}
