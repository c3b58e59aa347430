package recording

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"
)

// A Window says which events are wanted. The zero value wants all.
type Window struct {
	From   uint64 // ticks; earlier events are left out. Where files can be searched, they are not read
	To     uint64 // later ones are left out; 0: none
	Follow bool   // the recording is being written: Next returns false when there is nothing more for now, and may have more after Stream.Poll

	part bool // it is read by one of several goroutines: none is to read ahead for it
}

// A Stream gives the events of a recording in the order of time, and those of a goroutine in their order. It reads a packet of each processor at a time.
type Stream struct {
	r       *Recording
	window  Window
	cursors []*cursor // all
	heap    []*cursor // that have a record, the first is the next
	limit   uint64    // the first cursor goes on while its ticks are at most that
	horizon uint64    // following: no event later than that, for one before may not have been seen yet
	seen    uint64    // following: ticks of the last record that was there at the last poll
	opened  map[string]bool
	ends    map[int]uint64 // by processor: records that were lost at the end, and were not yet said to be; nil before the end
	size    int64
	done    atomic.Int64
	err     error
}

// Size returns how many bytes there were to read when the stream was begun, and Done how many of these have been read. Done may be called by another goroutine.
func (s *Stream) Size() int64 { return s.size }

func (s *Stream) Done() int64 { return s.done.Load() }

// Events returns the events in a window. The caller closes it.
func (r *Recording) Events(w Window) *Stream {
	s := &Stream{r: r, window: w, opened: map[string]bool{}, horizon: math.MaxUint64}
	if s.window.To == 0 {
		s.window.To = math.MaxUint64
	}
	if w.Follow {
		s.horizon = 0
	}
	s.open()
	s.rebuild()
	if w.From != 0 {
		for _, c := range s.cursors {
			if c.reported = c.lost; !c.in || c.pos == packetHead && c.ticks >= w.From {
				c.reported = min(c.lost, c.before) // the others were lost in the window
			}
		}
	}
	return s
}

// Err returns what ended the stream early, if anything did but damage.
func (s *Stream) Err() error { return s.err }

// Close gives up what the stream holds.
func (s *Stream) Close() {
	for _, c := range s.cursors {
		c.close()
	}
	if !s.window.Follow {
		s.r.checkTables()
	}
}

// open opens the files that are new.
func (s *Stream) open() {
	names, err := s.r.callFiles()
	if err != nil {
		s.err = err
		return
	}
	for _, name := range names {
		if s.opened[name] {
			continue
		}
		s.opened[name] = true
		c, err := s.r.newCursor(name)
		if err == nil {
			c.alone = s.window.part
		}
		if err == nil && s.window.From != 0 {
			err = c.seek(s.window.From)
		}
		if err != nil {
			s.err = err
			continue
		}
		c.done = &s.done
		s.size += c.left()
		s.cursors = append(s.cursors, c)
	}
}

// rebuild makes the heap of the cursors that have something.
func (s *Stream) rebuild() {
	s.heap = s.heap[:0]
	for _, c := range s.cursors {
		if c.fill(s.window.Follow) {
			s.heap = append(s.heap, c)
		}
	}
	slices.SortFunc(s.heap, func(a, b *cursor) int {
		switch {
		case a.ticks < b.ticks:
			return -1
		case a.ticks > b.ticks:
			return 1
		}
		return 0
	})
	s.settle()
}

// Poll looks for what was added to a recording that is being written, some milliseconds after it last did. Next then gives what was there the time
// before: by now no record is still to come that belongs in front of those, since one takes microseconds to be written. If the program has ended Next gives all.
func (s *Stream) Poll(ended bool) {
	s.horizon = s.seen
	if ended {
		s.horizon = math.MaxUint64
	}
	s.open()
	s.rebuild()
	for _, c := range s.cursors {
		s.seen = max(s.seen, c.last(), c.lastBegun())
	}
}

// last returns the ticks of the last record in the packet that was read.
func (c *cursor) last() uint64 {
	ticks := c.ticks
	for pos := c.pos; pos+recordHead <= len(c.buf) && c.buf[pos+9] >= recordHead/8; pos += int(c.buf[pos+9]) * 8 {
		ticks = max(ticks, le64(c.buf[pos:]))
	}
	return ticks
}

// lastBegun returns the ticks at which the last packet in the file was begun: all before that are complete.
func (c *cursor) lastBegun() uint64 {
	offset := c.offset + (c.left()-1)/packetUsual*packetUsual
	var head [packetHead]byte
	for ; offset > c.offset; offset -= packetUsual {
		if n, _ := c.file.ReadAt(head[:], offset); n == packetHead {
			if p, wrong := parsePacket(head[:], 0, c.r.Env.UUID); wrong == "" {
				return p.begin
			}
		}
		if !zero(head[:]) {
			break
		}
	}
	return 0
}

// settle puts the first cursor where it belongs in the heap, and sets limit.
func (s *Stream) settle() {
	h := s.heap
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].ticks < h[child].ticks {
			child++
		}
		if h[i].ticks <= h[child].ticks {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	s.limit = min(s.window.To, s.horizon)
	if len(h) > 1 {
		s.limit = min(s.limit, h[1].ticks)
	}
	if len(h) > 2 {
		s.limit = min(s.limit, h[2].ticks)
	}
}

// Next takes in the next event. It returns false if there is none.
func (s *Stream) Next(e *Event) bool {
	for len(s.heap) > 0 {
		c := s.heap[0]
		if c.ticks > s.limit {
			if s.settle(); s.heap[0].ticks > s.limit {
				break // the window's end, or the horizon
			}
			continue
		}
		if c.lost != c.reported {
			lost := c.lost - c.reported
			c.reported = c.lost
			if c.ticks >= s.window.From {
				*e = Event{Ticks: c.ticks, Kind: Lost, Call: lost, Processor: int32(c.processor)}
				return true
			}
		}
		n := e.decode(c.buf[c.pos:])
		if n == 0 {
			if s.window.Follow {
				c.pos = len(c.buf) // the packet has nothing more that can be read
			} else {
				c.leave()
			}
			s.advance(c)
			continue
		}
		wanted := c.ticks >= s.window.From
		e.Ticks, e.Processor = c.ticks, int32(c.processor)
		c.pos += (n + 7) &^ 7
		if !c.whole() {
			e.Data = slices.Clone(e.Data) // what follows may be read into the same memory, if there are packets without records
			s.advance(c)
		}
		if wanted && e.Kind <= Probe && e.Kind != 0 { // other kinds are of later versions
			return true
		}
	}
	return len(s.heap) == 0 && s.lostAtEnd(e)
}

// lostAtEnd takes in that records were lost behind the last one of a processor, if the window has the end of the recording.
func (s *Stream) lostAtEnd(e *Event) bool {
	if s.window.To != math.MaxUint64 || s.horizon != math.MaxUint64 {
		return false
	}
	if s.ends == nil {
		s.ends = maps.Clone(s.r.lost)
		for _, c := range s.cursors {
			s.ends[c.processor] = max(s.ends[c.processor], c.lost)
			s.ends[c.processor] -= c.reported
			s.seen = max(s.seen, c.ticks)
		}
	}
	for _, processor := range slices.Sorted(maps.Keys(s.ends)) {
		if n := s.ends[processor]; n != 0 {
			s.ends[processor] = 0
			*e = Event{Ticks: s.seen, Kind: Lost, Call: n, Processor: int32(processor)}
			return true
		}
	}
	return false
}

// advance goes on in the first cursor's file, or leaves it.
func (s *Stream) advance(c *cursor) {
	if !c.fill(s.window.Follow) {
		last := len(s.heap) - 1
		s.heap[0] = s.heap[last]
		s.heap = s.heap[:last]
	}
	if len(s.heap) > 0 {
		s.settle()
	}
}
