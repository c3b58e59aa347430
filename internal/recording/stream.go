package recording

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// A Window says which events are wanted. The zero value wants all.
type Window struct {
	From   uint64 // ticks; earlier events are left out, and not read where files can be searched
	To     uint64 // later events are left out; 0: none are
	Follow bool   // the recording is being written: Next returns false when there are no more events for now, and may return more after Stream.Poll
	Free   bool   // nobody else reads it: the space of what has been read is given back

	part bool // one of several goroutines reads it: nothing is read ahead
}

// A Stream returns the events of a recording in the order of time, and those of a goroutine in
// their order. It reads a packet of each processor at a time.
type Stream struct {
	r       *Recording
	window  Window
	cursors []*cursor // all
	heap    []*cursor // those with a record; the first has the next event
	limit   uint64    // the first cursor stays first while its ticks are at most this
	horizon uint64    // if following: no later events are returned, because an event before them may not have been seen yet
	seen    uint64    // if following: ticks of the last record at the last poll
	opened  map[string]bool
	held    Held
	going   uint64         // goroutine of the last event, of which nothing is held
	ready   []Event        // to be returned next
	lost    map[int]uint64 // number of records lost at the end and not yet reported, by processor; nil before the end
	size    int64
	done    atomic.Int64
	err     error
}

// Size returns how many bytes there were to read when the stream began. Done returns how many of
// these have been read. Another goroutine may call Done.
func (s *Stream) Size() int64 { return s.size }

func (s *Stream) Done() int64 { return s.done.Load() }

// Events returns the events in a window. The caller closes it.
func (r *Recording) Events(w Window) *Stream {
	s := &Stream{r: r, window: w, opened: map[string]bool{}, horizon: math.MaxUint64, held: Held{}}
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

// Err returns what ended the stream early, except for damage.
func (s *Stream) Err() error { return s.err }

// Close releases what the stream holds.
func (s *Stream) Close() {
	for _, c := range s.cursors {
		c.close()
	}
	if !s.window.Follow {
		s.r.checkTables()
		s.r.noteLost(s.cursors)
	}
}

// open opens new files.
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
		c, err := s.r.newCursor(name, s.window.Free)
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

// rebuild makes the heap of the cursors that have a record.
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

// Poll checks what was added to a recording that is being written. Some milliseconds must have
// passed since its last call. Next then returns what was there at that call: since it takes
// microseconds to write a record, none is still to come that belongs before those. If the program
// has ended, Next returns everything.
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
	for pos := c.pos; pos+recordHead <= len(c.buf) && c.buf[pos+wordsAt] >= recordHead/8; pos += int(c.buf[pos+wordsAt]) * 8 {
		ticks = max(ticks, le64(c.buf[pos:]))
	}
	return ticks
}

// lastBegun returns the ticks at which the last packet in the file began: all earlier ones are
// complete.
func (c *cursor) lastBegun() uint64 {
	offset := c.offset + (c.left()-1)/packetUsual*packetUsual
	var head [packetHead]byte
	for ; offset > c.offset; offset -= packetUsual {
		if n, _ := c.file.ReadAt(head[:], offset); n == packetHead {
			if p, wrong := parsePacket(head[:], format.CallsStream, c.r.Env.UUID); wrong == "" {
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

// Next reads the next event into e. It returns false if there is none.
func (s *Stream) Next(e *Event) bool {
	if s.next(e) {
		return true
	}
	if !s.ends() {
		return false
	}
	if len(s.held) > 0 && !s.window.part {
		s.noteLast()
		s.ready, s.held = s.held.AtEnd(s.seen), nil
		if s.next(e) {
			return true
		}
	}
	return s.lostAtEnd(e)
}

// next is Next, but for what only the end of the recording tells.
func (s *Stream) next(e *Event) bool {
	if len(s.ready) > 0 {
		*e, s.ready = s.ready[0], s.ready[1:]
		return true
	}
	for len(s.heap) > 0 {
		c := s.heap[0]
		if c.ticks > s.limit {
			if s.settle(); s.heap[0].ticks > s.limit {
				break // the window's end, or the horizon
			}
			continue
		}
		if lost := c.lost + c.skipped - c.reported; lost != 0 {
			c.reported += lost
			if c.ticks >= s.window.From {
				*e = Event{Ticks: c.ticks, Kind: Lost, Call: lost, Processor: int32(c.processor)}
				return true
			}
		}
		n := e.decode(c.buf[c.pos:])
		if n == 0 {
			if s.window.Follow {
				c.pos = len(c.buf) // nothing more of the packet can be read
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
		if wanted && (e.Kind == Off || e.Kind == On) {
			s.r.noteSwitch(e)
		}
		if !wanted || e.Kind >= format.KindEnd || e.Kind == 0 { // other kinds are of later versions
			continue
		}
		if e.Kind == Blocked || e.Kind == format.KindWaiting || (len(s.held) > 0 || s.window.part) && e.Goroutine != s.going {
			if s.held.keep(e, s.window.part, &s.ready) {
				s.going = 0
				if len(s.ready) == 0 {
					continue
				}
				*e, s.ready = s.ready[0], s.ready[1:]
				return true
			}
			s.going = e.Goroutine
		}
		return true
	}
	return false
}

// lostAtEnd makes an event of records that were lost after the last one of a processor.
func (s *Stream) lostAtEnd(e *Event) bool {
	if s.lost == nil {
		s.lost = maps.Clone(s.r.lost)
		for _, c := range s.cursors {
			s.lost[c.processor] = max(s.lost[c.processor], c.lost)
			s.lost[c.processor] += c.skipped - c.reported
		}
		s.noteLast()
	}
	for _, processor := range slices.Sorted(maps.Keys(s.lost)) {
		if n := s.lost[processor]; n != 0 {
			s.lost[processor] = 0
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
