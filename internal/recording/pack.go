package recording

import (
	"encoding/binary"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// The compact form of a packet, which docs/format.md describes under "Compact recordings". It
// leaves out what can be predicted of a record from those before it in the packet.
//
// packing is what the writer and the reader both know as they go through the records.
type packing struct {
	ticks      uint64
	goroutine  uint64
	g          *packedGoroutine
	goroutines map[uint64]*packedGoroutine
	functions  []packedFunction // by key; the last one is for all larger keys
	packet     uint32           // the packet is the nth, from 1
}

// packedGoroutine has the calls under way on a goroutine.
type packedGoroutine struct {
	depth uint16 // at which the next call would be
	calls []packedCall
}

type packedCall struct {
	function uint32
	depth    uint16
}

// packedFunction has the last call and values of a function.
type packedFunction struct {
	packet uint32 // the packet that this is about; in others nothing is known
	call   uint64 // number of the last one
	values [2]packedValues
}

// packedValues are the last values with which a function was entered, or left.
type packedValues struct {
	layout uint32
	data   []byte
}

const (
	packedHead = packetHead + 8 // the head is followed by the size of the content in bits, unpacked

	packedKind    = 0x0F // of the first byte of a record
	packedGoing   = 0x10 // the goroutine follows
	packedDepth   = 0x20 // the depth follows
	packedFunc    = 0x40 // the function's key follows
	packedDetail  = 0x80 // the number of the call, and the layout, follow
	packedWait    = 0    // kind: a Wait, whose own number is taken
	packedRecord  = 14   // kind: a record as it was
	packedRest    = 15   // kind: the rest of the packet as it was
	packedKeys    = 1 << 16
	packedLargest = 64 // a packet is at most this many times as large as its packed form
)

// begin forgets what was known from another packet.
func (p *packing) begin(ticks uint64) {
	if p.goroutines == nil {
		p.goroutines = map[uint64]*packedGoroutine{}
	}
	clear(p.goroutines)
	p.packet++
	p.ticks, p.goroutine, p.g = ticks, 0, nil
	p.on(0)
}

// on goes on to a goroutine.
func (p *packing) on(goroutine uint64) {
	p.goroutine = goroutine
	if p.g = p.goroutines[goroutine]; p.g == nil {
		p.g = &packedGoroutine{}
		p.goroutines[goroutine] = p.g
	}
}

// function returns the state of the function with this key.
func (p *packing) function(key uint32) *packedFunction {
	key = min(key, packedKeys)
	for uint32(len(p.functions)) <= key {
		p.functions = append(p.functions, make([]packedFunction, max(64, min(len(p.functions), packedKeys+1-len(p.functions))))...)
	}
	f := &p.functions[key]
	if f.packet != p.packet {
		f.packet, f.call = p.packet, 0
		for i := range f.values {
			f.values[i].layout, f.values[i].data = 0, f.values[i].data[:0]
		}
	}
	return f
}

// predict returns the function and depth that a record of this kind is likely to have.
func (g *packedGoroutine) predict(k Kind) (function uint32, depth uint16) {
	switch k {
	case Entry, EntryArgs, GoroutineStart, GoroutineEnd, Line, Probe, Wait:
		return 0, g.depth
	}
	if n := len(g.calls); n > 0 {
		return g.calls[n-1].function, g.calls[n-1].depth
	}
	return 0, g.depth - 1
}

// saw takes a record into account.
func (g *packedGoroutine) saw(k Kind, function uint32, depth uint16) {
	enters := k == Entry || k == EntryArgs
	if !enters && (k < Exit || k > ExitGoexit) {
		return
	}
	n := len(g.calls)
	for n > 0 && g.calls[n-1].depth >= depth {
		n--
	}
	g.calls = g.calls[:n]
	g.depth = depth
	if enters {
		g.calls = append(g.calls, packedCall{function, depth})
		g.depth = min(depth, format.DepthMax-1) + 1
	}
}

// recordShape returns what follows a record's head: the sizes are those that the program writes.
func recordShape(k Kind) (call, values, text, start bool) {
	switch k {
	case Entry, Wait: // a wait's other fields follow
		return true, false, false, false
	case EntryArgs, Probe:
		return true, true, false, false
	case ExitResults, ExitPanic, Recovered, After:
		return false, true, false, false
	case Note, Line:
		return false, false, true, false
	case GoroutineStart, Off, On:
		return false, false, false, true
	}
	return false, false, false, false
}

// shaped returns the size of the record raw, without the zeros that fill its last word, if the
// record is exactly as programs write its kind; otherwise 0.
func shaped(raw []byte) int {
	k := Kind(raw[kindAt])
	if k < Entry || k > Wait {
		return 0
	}
	call, values, text, start := recordShape(k)
	size := recordHead
	if call {
		size += 8
	}
	switch {
	case start:
		size += 16
	case k == Wait:
		size += waitSize - 8
	case values || text:
		if len(raw) < size+8 || text && k == Note && le32(raw[size:]) != 0 {
			return 0
		}
		size += 8 + int(min(le32(raw[size+4:]), 1<<16))
	}
	if size > len(raw) || (size+7)/8 != int(raw[wordsAt]) || !zero(raw[size:]) {
		return 0
	}
	return size
}

// pack appends the records of a packet in the compact form. raw is the packet without its head.
func (p *packing) pack(dst, raw []byte, begin uint64) []byte {
	p.begin(begin)
	for len(raw) > 0 {
		if len(raw) < recordHead || raw[wordsAt] < recordHead/8 || int(raw[wordsAt])*8-len(raw) >= 8 {
			return append(append(dst, packedRest), raw...)
		}
		record := raw[:min(int(raw[wordsAt])*8, len(raw))]
		raw = raw[len(record):]
		if size := shaped(record); size != 0 {
			dst = p.record(dst, record[:size])
		} else {
			dst = append(append(dst, packedRecord, record[wordsAt]), record...)
		}
	}
	return dst
}

// record appends a record.
func (p *packing) record(dst, b []byte) []byte {
	k, depth, key := Kind(b[kindAt]), le16(b[depthAt:]), le32(b[functionAt:])
	at := len(dst)
	if k == Wait {
		dst = append(dst, packedWait)
	} else {
		dst = append(dst, byte(k))
	}
	ticks := le64(b)
	dst = binary.AppendUvarint(dst, ticks-p.ticks)
	p.ticks = ticks
	if goroutine := le64(b[goroutineAt:]); goroutine != p.goroutine {
		dst[at] |= packedGoing
		dst = binary.AppendUvarint(dst, goroutine)
		p.on(goroutine)
	}
	function, predicted := p.g.predict(k)
	if depth != predicted {
		dst[at] |= packedDepth
		dst = binary.AppendUvarint(dst, uint64(depth))
	}
	if key != function {
		dst[at] |= packedFunc
		dst = binary.AppendUvarint(dst, uint64(key))
	}
	p.g.saw(k, key, depth)
	call, values, text, start := recordShape(k)
	b = b[recordHead:]
	switch {
	case call || values:
		f := p.function(key)
		v := &f.values[0]
		if !call {
			v = &f.values[1]
		}
		number, layout := f.call+1, v.layout
		if call {
			number = le64(b)
			b = b[8:]
		}
		if values {
			layout = le32(b)
		}
		if call && number != f.call+1 || layout != v.layout {
			dst[at] |= packedDetail
			if call {
				dst = binary.AppendVarint(dst, int64(number-f.call-1))
			}
			if values {
				dst = binary.AppendUvarint(dst, uint64(layout))
			}
		}
		if call {
			f.call = number
		}
		if values {
			v.layout = layout
			dst = binary.AppendUvarint(dst, uint64(len(b)-8))
			dst = v.pack(dst, b[8:])
		}
		if k == Wait {
			dst = binary.AppendUvarint(dst, ticks-le64(b))
			dst = binary.AppendUvarint(dst, ticks-le64(b[8:]))
			dst = v.pack(dst, b[16:])
		}
	case text:
		dst = binary.AppendVarint(dst, int64(int32(le32(b))))
		dst = binary.AppendUvarint(dst, uint64(len(b)-8))
		dst = append(dst, b[8:]...)
	case start:
		dst = binary.AppendUvarint(dst, le64(b))
		dst = binary.AppendUvarint(dst, le64(b[8:]))
	}
	return dst
}

// pack appends values. For each 8 bytes it appends a byte that says which of them differ from those
// of the last values, and then these.
func (v *packedValues) pack(dst, data []byte) []byte {
	for i := 0; i < len(data); i += 8 {
		at := len(dst)
		dst = append(dst, 0)
		for j := i; j < min(i+8, len(data)); j++ {
			if j >= len(v.data) && data[j] != 0 || j < len(v.data) && data[j] != v.data[j] {
				dst[at] |= 1 << (j - i)
				dst = append(dst, data[j])
			}
		}
	}
	v.data = append(v.data[:0], data...)
	return dst
}
