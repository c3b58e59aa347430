package recording

import (
	"encoding/binary"
	"slices"
	"strings"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Programs leave out of a record what those before it in the packet say: such records are narrow.
// Readers make each packet wide before they do anything else with it. Recordings of format 1 are
// wide, and so is what a compact packet is unpacked to and what a Writer writes.

// wideRecord is what each record begins with in a packet that is wide. An entry's number follows.
type wideRecord struct {
	Ticks     uint64
	Kind      uint8
	Words     uint8
	Depth     uint16
	Function  uint32
	Goroutine uint64
}

// Where fields are in a record that a program wrote.
const (
	narrowKindAt     = int(unsafe.Offsetof(format.Record{}.Kind))
	narrowWordsAt    = int(unsafe.Offsetof(format.Record{}.Words))
	narrowDepthAt    = int(unsafe.Offsetof(format.Record{}.Depth))
	narrowFunctionAt = int(unsafe.Offsetof(format.Record{}.Function))
	narrowCallAt     = int(unsafe.Offsetof(format.Record{}.Call))
	turnGoroutineAt  = int(unsafe.Offsetof(format.Turn{}.Goroutine))
	turnTicksAt      = int(unsafe.Offsetof(format.Turn{}.Ticks))
)

// widener goes through a packet, or through a single record that is not in one.
type widener struct {
	packet    []byte // as the program wrote it
	pos       int    // of the next record
	goroutine uint64
	ticks     uint64 // of the last turn
	single    bool
	function  uint32 // of a single exit that does not say it
}

// next goes on by a record, and appends it to wide unless it is a turn. It returns false if there
// is no record that can be read.
func (n *widener) next(wide []byte) ([]byte, bool) {
	b := n.packet[min(n.pos, len(n.packet)):]
	if len(b) < format.RecordNear {
		return wide, false
	}
	kind, depth, size := b[narrowKindAt], le16(b[narrowDepthAt:]), narrowSize(b)
	if size < format.RecordNear || size-len(b) >= 8 { // the last record may end within its last word
		return wide, false
	}
	b = b[:min(size, len(b))]
	head, rest, number, values := b, format.RecordSize, 0, 0 // of the last two, so many bytes are to be added
	switch kind {
	case format.KindEntry, format.KindEntryArgs:
		number = 8
	case format.KindEntryWords:
		kind, number, values = format.KindEntryArgs, 8, 8
	case format.KindEntryLong, format.KindEntryLongArgs:
		kind -= format.KindEntryLong - format.KindEntry
	case format.KindExitNear, format.KindExitNearResults, format.KindExitWords:
		if kind == format.KindExitWords {
			kind, values = format.KindExitNearResults, 8
		}
		kind -= format.KindExitNear - format.KindExit
		head, rest = n.entry(int(depth)*8), format.RecordNear
		if len(head) >= format.RecordSize {
			depth = le16(head[narrowDepthAt:])
		}
	case format.KindTurn:
		if len(b) < format.TurnSize {
			return wide, false
		}
		n.goroutine, n.ticks = le64(b[turnGoroutineAt:]), le64(b[turnTicksAt:])
		n.pos += size
		return wide, true
	}
	words := (recordHead + number + values + len(b) - rest + 7) / 8
	if len(head) < format.RecordSize || len(b) < rest || words > 255 {
		return wide, false
	}
	order, at, function := binary.LittleEndian, len(wide), le32(head[narrowFunctionAt:])
	if cap(wide)-at < 255*8 {
		wide = slices.Grow(wide, packetUsual)
	}
	wide = wide[:at+recordHead+number+values]
	w := wide[at:]
	order.PutUint64(w, n.ticks+uint64(le32(b)-uint32(n.ticks)))
	order.PutUint64(w[kindAt:], uint64(kind)|uint64(words)<<8|uint64(depth)<<16|uint64(function)<<32)
	order.PutUint64(w[goroutineAt:], n.goroutine)
	if number != 0 {
		order.PutUint64(w[recordHead:], uint64(le32(b[narrowCallAt:])))
	}
	if values != 0 {
		layout := format.LayoutImplied | function<<1
		if number == 0 {
			layout++
		}
		order.PutUint64(w[recordHead+number:], uint64(layout)|uint64(len(b)-rest)<<32)
	}
	n.pos += size
	return append(wide, b[rest:]...), true
}

// narrowSize returns how many bytes there are from a record to the next.
func narrowSize(b []byte) int {
	switch size := int(b[narrowWordsAt]) * 8; b[narrowKindAt] {
	case format.KindEntryWords:
		return format.RecordSize + size
	case format.KindExitWords:
		return format.RecordNear + size
	default:
		return size
	}
}

// entry returns the entry of a call that is so many bytes before the exit at pos, nil if there is
// none.
func (n *widener) entry(back int) []byte {
	if n.single {
		return binary.LittleEndian.AppendUint32(make([]byte, narrowFunctionAt, format.RecordSize), n.function)[:format.RecordSize]
	}
	if at := n.pos - back; at >= packetHead && back > 0 {
		switch n.packet[at+narrowKindAt] {
		case format.KindEntry, format.KindEntryArgs, format.KindEntryLong, format.KindEntryLongArgs, format.KindEntryWords:
			return n.packet[at:n.pos]
		}
	}
	return nil
}

// widen makes a packet wide, as far as it can be read. It returns that in the memory of wide if
// there is enough, and how many bytes of the packet it is of.
func widen(wide, packet []byte, begin uint64) ([]byte, int) {
	wide = append(wide[:0], packet[:packetHead]...)
	n, more := widener{packet: packet, pos: packetHead, ticks: begin}, true
	for more {
		wide, more = n.next(wide)
	}
	return wide, min(n.pos, len(packet))
}

// readNarrow reads the packet at an offset, and makes it wide. buf is memory for that. Another
// goroutine calls it while the packet before is being read, but never twice at once.
func (c *cursor) readNarrow(offset int64, buf []byte) readAhead {
	got := readAhead{offset: offset}
	if len(c.src) == 0 {
		c.src = make([]byte, packetUsual)
	}
	n, _ := c.file.ReadAt(c.src, offset)
	p, wrong := packet{}, "the head is not whole"
	if n >= packetHead {
		p, wrong = parsePacket(c.src, format.CallsStream, c.r.Env.UUID)
	}
	if wrong != "" {
		got.buf = append(buf[:0], c.src[:n]...)
		got.n = n
		return got
	}
	if p.content > uint64(n) && n == len(c.src) { // it is larger than usual
		c.src = make([]byte, min(int64(p.content), c.leftAt(offset)))
		n, _ = c.file.ReadAt(c.src, offset)
	}
	src := c.src[:min(uint64(n), p.content)]
	wide, good := widen(buf, src, p.begin)
	rest := int(p.content) - good
	got.buf, got.n, got.stored, got.content = wide, len(wide), int64(p.size), p.content
	setPacketSize(wide, len(wide)+rest, len(wide)+rest)
	switch {
	case rest == 0:
	case len(src) < int(p.content):
		got.wrong = "the file ends within a packet"
	default:
		got.wrong = "a record that cannot be"
	}
	return got
}

// narrowAt returns how many bytes of the packet that the cursor is in are before the record that is
// at pos when it is wide.
func (c *cursor) narrowAt(pos int) int64 {
	src := make([]byte, min(int64(c.content), c.left()))
	read, _ := c.file.ReadAt(src, c.offset)
	n, wide, more := widener{packet: src[:read], pos: packetHead}, make([]byte, packetHead), true
	for more && len(wide) < pos {
		wide, more = n.next(wide)
	}
	return int64(min(n.pos, read))
}

// Decode reads the record that b begins with, which a program wrote at these ticks about a call of
// a function. Its goroutine, and the depth of an exit, are 0 if the record does not have them. It
// returns false if there is no such record.
func (e *Event) Decode(b []byte, ticks uint64, function uint32) bool {
	n := widener{packet: b, ticks: ticks, single: true, function: function}
	wide, _ := n.next(nil)
	return e.decode(wide) != 0 && e.Ticks == ticks
}

// wideMetadata has the metadata declare records that are wide.
func wideMetadata(text []byte) []byte {
	text = narrowEvents().ReplaceAll(text, nil)
	return []byte(strings.NewReplacer(
		"{ low_t timestamp;", "{ ticks_t timestamp;",
		"uint16_t depth; };", "uint16_t depth; func_t func; uint64_t goroutine; };",
		`"entry"; id = 1; stream_id = 0; context := struct head; fields := struct { }`, `"entry"; id = 1; stream_id = 0; fields := struct { uint64_t call; }`,
		`"entry_args"; id = 2; stream_id = 0; context := struct head; fields := struct {`, `"entry_args"; id = 2; stream_id = 0; fields := struct { uint64_t call;`,
		" context := struct head;", "",
	).Replace(string(text)))
}

// narrowEvents matches what declares the kinds that no wide packet has.
var narrowEvents = words.Regexp(`(?m)^event \{ name = "(turn|exit_near|exit_near_results|entry_long|entry_long_args|entry_words|exit_words)";.*\n`)
