package recording

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// cursor reads the records of a file, calls_N, a packet at a time. While it is in one packet the
// next is read ahead.
type cursor struct {
	r         *Recording
	name      string
	processor int
	file      *os.File

	buf      []byte // the packet's content so far
	pos      int    // of the next record
	ticks    uint64 // of the next record, or of the last if there is none left
	offset   int64  // of the packet in the file
	first    int64  // of the first packet that has not been given back
	packet   packet
	stored   int64         // bytes that it takes in the file
	content  uint64        // bytes of these that have content, unless it is packed
	packed   *packing      // of a compact recording: src is read into its packets
	narrow   bool          // likewise of one whose records are narrow
	in       bool          // it is in a packet
	lost     uint64        // number of lost records that the last packet knew
	skipped  uint64        // number of records that were skipped
	reported uint64        // how many of the lost and the skipped ones were reported
	before   uint64        // number of lost records known to the packet before the one that seek found
	alone    bool          // nothing is read ahead
	frees    bool          // the space of packets is given back when they are left
	done     *atomic.Int64 // bytes read so far, by all cursors of a stream
	wrong    string        // why a packed or narrow packet is not complete

	src   []byte         // what is unpacked, or made wide
	old   []byte         // the packet before: an event may still refer to it
	spare []byte         // the one before that
	ahead chan readAhead // nil: nothing is being read
}

// readAhead is what was read at an offset.
type readAhead struct {
	offset int64
	buf    []byte
	n      int
	stored int64  // bytes that a packed or narrow packet takes in the file; 0: it is neither
	wrong  string // why such a packet is not complete

	content uint64 // bytes of content of a narrow packet
}

// fill makes sure that there is a record at pos. It returns false if there is none, or none yet.
func (c *cursor) fill(following bool) bool {
	for {
		switch {
		case !c.in:
			if !c.open(following) {
				return false
			}
		case c.whole():
			return true
		case !following:
			c.leave()
		case !c.grown():
			return false
		}
	}
}

// whole reports whether a record begins at pos, and sets ticks to its time.
func (c *cursor) whole() bool {
	if c.pos+recordHead > len(c.buf) {
		return false
	}
	words := c.buf[c.pos+wordsAt]
	if words < recordHead/8 {
		return false
	}
	ticks := le64(c.buf[c.pos:])
	if next := c.pos + int(words)*8; next+recordHead <= len(c.buf) && c.buf[next+wordsAt] >= recordHead/8 {
		if ticks > le64(c.buf[next:]) {
			ticks = c.believed(ticks, le64(c.buf[next:]))
		}
	} else if ticks > c.ticks+longPause {
		ticks = c.believed(ticks, c.nextBegins())
	}
	c.ticks = max(c.ticks, ticks) // within a file they never go back
	return true
}

// longPause is so many ticks between records that the last one of a packet may be damaged.
const longPause = 1 << 20

// believed returns when an event was, of which a record says ticks, and which was no later than
// next. A record after which time goes back is damaged: if its ticks were believed, those of all
// records after it would be wrong.
func (c *cursor) believed(ticks, next uint64) uint64 {
	before := c.ticks
	if before == 0 {
		before = min(c.packet.begin, next)
	}
	if before <= next && next < ticks {
		return before
	}
	return ticks
}

// nextBegins returns when the next packet begins, the largest number if that is not known.
func (c *cursor) nextBegins() uint64 {
	var head [packedHead]byte
	n, _ := c.file.ReadAt(head[:], c.offset+c.stored)
	p, wrong := packet{}, "there is none"
	switch {
	case c.packed != nil && n == packedHead:
		p, _, wrong = parsePacked(head[:], c.r.Env.UUID)
	case c.packed == nil && n >= packetHead:
		p, wrong = parsePacket(head[:packetHead], format.CallsStream, c.r.Env.UUID)
	}
	if wrong != "" {
		return math.MaxUint64
	}
	return p.begin
}

// leave leaves the packet, and notes what could not be read of it.
func (c *cursor) leave() {
	pos := min(c.pos, len(c.buf)) // records begin at whole words
	if rest := int64(c.packet.content) - int64(pos); rest > 0 {
		what := "a record that cannot be"
		if len(c.buf) < int(c.packet.content) {
			what = cmp.Or(c.wrong, "the file ends within a packet")
		}
		at := c.offset + int64(pos)
		switch {
		case c.packed != nil:
			at = c.offset
		case c.narrow:
			before := c.narrowAt(pos)
			at, rest = c.offset+before, int64(c.content)-before
		}
		c.r.damaged(Damage{c.name, at, rest, what})
	}
	c.pass(c.stored)
}

// pass goes beyond the packet, which takes so many bytes.
func (c *cursor) pass(size int64) {
	if c.frees {
		free(c.file, c.offset, size)
	}
	c.offset += size
	if c.done != nil {
		c.done.Add(size)
	}
	c.in = false
}

// grown checks, in a file that is still being written, whether the packet has more content or
// another packet follows. It returns false if neither is the case.
func (c *cursor) grown() bool {
	var head [packetHead]byte
	next := false
	if n, _ := c.file.ReadAt(head[:], c.offset+c.stored); n == packetHead {
		p, wrong := parsePacket(head[:], format.CallsStream, c.r.Env.UUID)
		next = wrong == "" && p.content >= packetHead
	}
	// The content is checked after that: once the next packet is there, this one is complete.
	if _, err := c.file.ReadAt(head[:], c.offset); err != nil {
		return false
	}
	p, wrong := parsePacket(head[:], format.CallsStream, c.r.Env.UUID)
	if wrong != "" || p.number != c.packet.number {
		return false
	}
	if p.content > c.content {
		got := c.readAt(c.offset, c.room(p.content)[:p.content])
		c.content, c.packet.content, c.buf = p.content, p.content, got.buf[:got.n]
		if c.narrow {
			c.content, c.packet.content, c.wrong = got.content, le64(got.buf[contentAt:])/8, got.wrong
		}
		return true
	}
	if next {
		c.leave()
	}
	return next
}

// room returns the cursor's buffer, with at least size bytes.
func (c *cursor) room(size uint64) []byte {
	if uint64(cap(c.buf)) < size {
		return make([]byte, size)
	}
	return c.buf[:cap(c.buf)]
}

// open begins the packet at offset, or the next one that can be read. It returns false if there is
// none.
func (c *cursor) open(following bool) bool {
	for {
		got := c.fetch(following)
		if got.n < packetHead {
			if got.n > 0 && !following && !zero(got.buf[:got.n]) {
				c.r.damaged(Damage{c.name, c.offset, int64(got.n), "the file ends within the head of a packet"})
			}
			return false
		}
		head := got.buf[:got.n]
		p, wrong := parsePacket(head, format.CallsStream, c.r.Env.UUID)
		if c.packed != nil && got.stored == 0 {
			wrong = got.wrong
		}
		if wrong != "" {
			// The space of a packet is reserved before it begins.
			if zero(head[:packetHead]) && (following || c.left() <= int64(max(c.packet.size, packetUsual))) {
				return false
			}
			if following {
				return false
			}
			if !c.resync(wrong) {
				return false
			}
			continue
		}
		if p.content > uint64(len(got.buf)) && got.stored == 0 { // it is larger than those before
			got.buf = make([]byte, min(int64(p.content), c.left()))
			got.n, _ = c.file.ReadAt(got.buf, c.offset)
		}
		c.packet, c.in, c.stored, c.content, c.wrong = p, true, int64(p.size), p.content, got.wrong
		if got.stored != 0 {
			c.stored, c.content = got.stored, got.content
		}
		if !following {
			c.spare, c.old = c.old, c.buf
		}
		c.buf = got.buf[:min(uint64(got.n), p.content)]
		c.pos = packetHead
		c.lost = max(c.lost, p.lost)
		if !following && !c.alone {
			c.read(c.offset+c.stored, int64(p.size))
		}
		return true
	}
}

// resync skips what is not a packet, and notes it.
func (c *cursor) resync(wrong string) bool {
	at, left := c.offset, c.left()
	more := c.skip(left)
	c.r.damaged(Damage{c.name, at, min(c.offset-at, left), wrong})
	return more
}

// skip goes to where the next packet may begin. Packets have the same size, so that is where it
// should be. It returns false if there is none in the bytes that are left.
func (c *cursor) skip(left int64) bool {
	size := int64(packetUsual)
	if c.stored != 0 {
		size = max(c.stored, 4096) // smaller steps would take long if that is wrong too
	}
	if c.packed != nil {
		size = nextPacket(c.file, format.CompactStream, c.r.Env.UUID, c.offset+1, c.offset+left) - c.offset
	}
	c.offset += size
	return size < left
}

// left returns how many bytes the file has from offset on.
func (c *cursor) left() int64 { return c.leftAt(c.offset) }

func (c *cursor) leftAt(offset int64) int64 {
	info, err := c.file.Stat()
	if err != nil {
		return 0
	}
	return max(0, info.Size()-offset)
}

// fetch returns what is in the file at offset, which may have been read ahead.
func (c *cursor) fetch(following bool) readAhead {
	if c.ahead != nil {
		got := <-c.ahead
		c.ahead = nil
		if got.offset == c.offset {
			return got
		}
		c.spare = got.buf
	}
	if following {
		return c.readAt(c.offset, c.room(max(c.packet.size, packetUsual)))
	}
	if c.alone {
		return c.readAt(c.offset, c.memory(int64(max(c.packet.size, packetUsual))))
	}
	c.read(c.offset, packetUsual)
	return c.fetch(false)
}

// memory returns a buffer for the next read, of at most size bytes.
func (c *cursor) memory(size int64) []byte {
	buf := c.spare
	c.spare = nil
	size = max(packetHead, min(size, c.left())) // the packets before offset are larger than packetHead
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	return buf[:cap(buf)]
}

// readAt reads what is at an offset. What is missing is noted when the cursor comes to it.
func (c *cursor) readAt(offset int64, buf []byte) readAhead {
	switch {
	case c.packed != nil:
		return c.readPacked(offset, buf)
	case c.narrow:
		return c.readNarrow(offset, buf)
	}
	n, _ := c.file.ReadAt(buf, offset)
	return readAhead{offset: offset, buf: buf, n: n}
}

// read starts to read ahead.
func (c *cursor) read(offset, size int64) {
	buf := c.memory(size)
	done := make(chan readAhead, 1)
	c.ahead = done
	go func() { done <- c.readAt(offset, buf) }()
}

// seek goes to the last packet that began before these ticks, if packets have the same size, as
// they should.
func (c *cursor) seek(ticks uint64) error {
	if c.packed != nil {
		c.seekPacked(ticks)
		return nil
	}
	info, err := c.file.Stat()
	if err != nil {
		return err
	}
	var head [packetHead]byte
	begin := func(i int64) (uint64, bool) {
		if n, _ := c.file.ReadAt(head[:], i*packetUsual); n < packetHead {
			return 0, false
		}
		p, wrong := parsePacket(head[:], format.CallsStream, c.r.Env.UUID)
		return p.begin, wrong == "" && p.size == packetUsual
	}
	low, high := c.first/packetUsual, info.Size()/packetUsual // the packet is in [low, high)
	for high-low > 1 {
		middle := (low + high) / 2
		i := middle
		at, ok := begin(i)
		for !ok && i+1 < high { // damaged, or reserved and not yet begun
			i++
			at, ok = begin(i)
		}
		if ok && at < ticks {
			low = i
		} else {
			high = middle
		}
	}
	c.offset = low * packetUsual
	for i := low - 1; i >= c.first/packetUsual; i-- {
		if _, ok := begin(i); ok {
			c.before = le64(head[lostAt:])
			break
		}
	}
	return nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (c *cursor) close() {
	if c.ahead != nil {
		<-c.ahead
	}
	c.file.Close()
}

func (r *Recording) newCursor(name string, frees bool) (*cursor, error) {
	open := os.Open
	if frees {
		open = openToFree
	}
	f, err := open(r.Dir + string(os.PathSeparator) + name)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", r.Dir, err)
	}
	c := &cursor{r: r, name: name, file: f, frees: frees, narrow: r.Env.Version > format.CompactVersion}
	prefix, number, _ := strings.Cut(name, "_")
	c.processor, _ = strconv.Atoi(number)
	if prefix == packedFiles {
		c.packed = &packing{}
		return c, nil
	}
	if c.first = firstData(f) / packetUsual * packetUsual; c.first > 0 {
		c.offset = c.first
		r.damaged(Damage{name, 0, c.first, "its beginning has been given back"})
	}
	return c, nil
}
