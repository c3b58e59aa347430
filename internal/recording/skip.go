package recording

import "github.com/ftrace-wrap/ftrace-wrap/internal/format"

// Skip gives up the oldest events of a recording that is being written, if more than limit bytes
// have not been read: whole packets of all processors, up to one moment, so that about half of
// limit is left. They are counted, and Next returns them as lost. An event that Next returned
// before stays as it is.
func (s *Stream) Skip(limit int64) {
	s.open()
	total, most := int64(0), (*cursor)(nil)
	for _, c := range s.cursors {
		left := c.left()
		total += left
		if most == nil || left > most.left() {
			most = c
		}
	}
	if total <= limit {
		return
	}
	give := int64(float64(most.left()) * (1 - float64(limit/2)/float64(total)))
	p, ok := most.packetAt(most.offset + give/packetUsual*packetUsual)
	if !ok {
		return
	}
	for _, c := range s.cursors {
		c.skipUntil(p.begin)
	}
	s.rebuild()
}

// packetAt reads the head of the packet at an offset. It returns false if none begins there.
func (c *cursor) packetAt(offset int64) (packet, bool) {
	var head [packetHead]byte
	if n, _ := c.file.ReadAt(head[:], offset); n < packetHead {
		return packet{}, false
	}
	p, wrong := parsePacket(head[:], format.CallsStream, c.r.Env.UUID)
	return p, wrong == ""
}

// skipUntil passes the packets that are followed by one that began before these ticks, or then.
// Such a packet is complete.
func (c *cursor) skipUntil(ticks uint64) {
	for {
		p, ok := c.packetAt(c.offset)
		next, more := c.packetAt(c.offset + int64(p.size))
		if !ok || !more || next.begin > ticks {
			return
		}
		got := c.readAt(c.offset, make([]byte, p.size)) // the content may have grown until the next packet began
		pos := packetHead
		if c.in {
			pos = c.pos
		}
		c.lost = max(c.lost, p.lost)
		c.skipped += c.r.count(got.buf[:got.n], pos)
		c.buf, c.pos = nil, 0 // an event may still refer to it
		c.pass(int64(p.size))
	}
}

// count returns how many records there are in a packet from pos on. It notes which functions were
// turned on and off, and how many calls were left out.
func (r *Recording) count(buf []byte, pos int) (n uint64) {
	var e Event
	for pos+recordHead <= len(buf) && buf[pos+wordsAt] >= recordHead/8 {
		if size := e.decode(buf[pos:]); size != 0 && (e.Kind == Off || e.Kind == On) {
			r.noteSwitch(&e)
		}
		pos += int(buf[pos+wordsAt]) * 8
		n++
	}
	return n
}
