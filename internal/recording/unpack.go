package recording

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// unpacker reads numbers and bytes from a packed packet.
type unpacker struct {
	*packing
	src    []byte
	failed bool // the packet has ended
}

func (u *unpacker) uvarint() uint64 {
	if len(u.src) > 0 && u.src[0] < 0x80 {
		v := u.src[0]
		u.src = u.src[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(u.src)
	if n <= 0 {
		u.failed, u.src = true, nil
		return 0
	}
	u.src = u.src[n:]
	return v
}

func (u *unpacker) varint() int64 {
	v := u.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// unpack fills raw, the content of a packet after its head, with the records of src. It returns how
// much of raw it has filled, and what is wrong if that is not all.
func (p *packing) unpack(raw, src []byte, begin uint64) (n int, wrong string) {
	p.begin(begin)
	u := unpacker{packing: p, src: src}
	for n < len(raw) {
		if len(u.src) == 0 {
			return n, "the packet ends before its last record"
		}
		op := u.src[0]
		u.src = u.src[1:]
		size := 0
		switch k := Kind(op & packedKind); {
		case op == packedRest:
			if n += copy(raw[n:], u.src); n < len(raw) {
				return n, "the packet ends before its last record"
			}
			return n, ""
		case op == packedRecord:
			if len(u.src) > 0 {
				size = int(u.src[0]) * 8
				u.src = u.src[1:]
			}
			if stored := min(size, len(u.src), len(raw)-n); stored+8 > size && size != 0 {
				u.src = u.src[copy(raw[n:n+stored], u.src):]
			} else {
				size = 0
			}
		case k >= Entry && k <= Probe, k == packedWait:
			size = u.record(raw[n:], op)
		}
		if size == 0 || u.failed {
			return n, fmt.Sprintf("a record that cannot be, %d bytes before the packet's end", len(u.src))
		}
		n = min(n+size, len(raw))
	}
	return n, ""
}

// record adds a record to raw. It returns the record's size in raw in whole words, 0 if there is
// none or no room for it.
func (u *unpacker) record(raw []byte, op byte) int {
	k := Kind(op & packedKind)
	if k == packedWait {
		k = Wait
	}
	u.ticks += u.uvarint()
	if op&packedGoing != 0 {
		u.on(u.uvarint())
	}
	key, depth := u.g.predict(k)
	if op&packedDepth != 0 {
		depth = uint16(u.uvarint())
	}
	if op&packedFunc != 0 {
		key = uint32(u.uvarint())
	}
	if len(raw) < recordHead {
		return 0
	}
	u.g.saw(k, key, depth)
	order := binary.LittleEndian
	order.PutUint64(raw, u.ticks)
	raw[kindAt] = byte(k)
	order.PutUint16(raw[depthAt:], depth)
	order.PutUint32(raw[functionAt:], key)
	order.PutUint64(raw[goroutineAt:], u.goroutine)
	size := recordHead
	call, values, text, start := recordShape(k)
	switch {
	case !call && !values && !text && !start:
		raw[wordsAt] = recordHead / 8
		return recordHead
	case call || values:
		f := u.function(key)
		v := &f.values[0]
		if !call {
			v = &f.values[1]
		}
		detail := op&packedDetail != 0
		if call {
			f.call++
			if detail {
				f.call += uint64(u.varint())
			}
			if len(raw) < size+8 {
				return 0
			}
			order.PutUint64(raw[size:], f.call)
			size += 8
		}
		if values {
			if detail {
				v.layout = uint32(u.uvarint())
			}
			n := int(min(u.uvarint(), 1<<16))
			if len(raw) < size+8+n {
				return 0
			}
			order.PutUint32(raw[size:], v.layout)
			order.PutUint32(raw[size+4:], uint32(n))
			size += 8
			if u.src = v.unpack(raw[size:size+n], u.src); u.src == nil && n > 0 {
				u.failed = true
				return 0
			}
			size += n
		}
		if k == Wait {
			end := recordHead + waitSize
			if len(raw) < end {
				return 0
			}
			order.PutUint64(raw[size:], u.ticks-u.uvarint())
			order.PutUint64(raw[size+8:], u.ticks-u.uvarint())
			if u.src = v.unpack(raw[size+16:end], u.src); u.src == nil {
				u.failed = true
				return 0
			}
			size = end
		}
	case text:
		level, n := u.varint(), int(min(u.uvarint(), 1<<16))
		if len(raw) < size+8+n || len(u.src) < n {
			return 0
		}
		order.PutUint32(raw[size:], uint32(level))
		order.PutUint32(raw[size+4:], uint32(n))
		size += 8 + copy(raw[size+8:], u.src[:n])
		u.src = u.src[n:]
	case start:
		if len(raw) < size+16 {
			return 0
		}
		order.PutUint64(raw[size:], u.uvarint())
		order.PutUint64(raw[size+8:], u.uvarint())
		size += 16
	}
	words := (size + 7) / 8
	if words > 255 {
		return 0
	}
	raw[wordsAt] = byte(words)
	clear(raw[size:min(words*8, len(raw))])
	return words * 8
}

// unpack fills data with values. It returns the rest of src, nil if that has ended.
func (v *packedValues) unpack(data, src []byte) []byte {
	old := v.data
	if cap(old) < len(data) {
		old = append(make([]byte, 0, max(64, len(data))), old...)
	}
	known := len(old)
	old = old[:len(data)]
	if known < len(data) {
		clear(old[known:])
	}
	v.data = old
	at := 0 // in src
	for i := 0; i < len(data); i += 8 {
		if at >= len(src) {
			return nil
		}
		mask := src[at]
		at++
		if mask == 0 {
			continue
		}
		if len(src)-at < bits.OnesCount8(mask) || len(data)-i < bits.Len8(mask) {
			return nil
		}
		for ; mask != 0; mask &= mask - 1 {
			old[i+bits.TrailingZeros8(mask)] = src[at]
			at++
		}
	}
	copy(data, old)
	return src[at:len(src):len(src)]
}
