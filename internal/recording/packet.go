package recording

import (
	"encoding/binary"
	"fmt"
)

const (
	packetHead  = 72
	packetMagic = 0xC1FC1FC1
	packetUsual = 256 << 10 // size of those of calls_N
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
	if magic := le32(head); magic != packetMagic {
		if binary.BigEndian.Uint32(head) == packetMagic {
			return p, "a packet of the other byte order"
		}
		return p, "no packet begins here"
	}
	if s := le32(head[4:]); s != stream {
		return p, fmt.Sprintf("a packet of stream %d", s)
	}
	if [16]byte(head[8:24]) != uuid {
		return p, "a packet of another recording"
	}
	p = packet{begin: le64(head[24:]), content: (le64(head[32:]) + 7) / 8, size: le64(head[40:]) / 8, lost: le64(head[48:]), number: le64(head[56:])}
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
