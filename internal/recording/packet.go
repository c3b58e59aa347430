package recording

import (
	"encoding/binary"
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

const (
	packetUsual = format.FileChunk // size of those of calls_N
	packetMax   = 64 << 20
)

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// packet is what the head of a packet says, in bytes.
type packet struct {
	begin         uint64 // ticks
	content, size uint64 // the head included
	lost          uint64 // number of records lost before it began
	number        uint64
}

// parsePacket reads the head of a packet of this stream. It returns what is wrong with it.
func parsePacket(head []byte, stream uint32, uuid [16]byte) (p packet, wrong string) {
	var h format.Packet
	if _, err := binary.Decode(head, binary.LittleEndian, &h); err != nil || h.Magic != format.PacketMagic {
		if binary.BigEndian.Uint32(head) == format.PacketMagic {
			return p, "a packet of the other byte order"
		}
		return p, "no packet begins here"
	}
	if h.Stream != stream {
		return p, fmt.Sprintf("a packet of stream %d", h.Stream)
	}
	if h.UUID != uuid {
		return p, "a packet of another recording"
	}
	p = packet{begin: h.Begin, content: (h.Content + 7) / 8, size: h.Size / 8, lost: h.Lost, number: h.Number}
	switch {
	case p.size < packetHead || p.size > packetMax:
		return p, fmt.Sprintf("a packet of %d bytes", p.size)
	case p.content > p.size:
		return p, fmt.Sprintf("a packet of %d bytes with %d bytes of content", p.size, p.content)
	case p.content < packetHead:
		p.content = packetHead // of a ring, and just beginning
	}
	return p, ""
}
