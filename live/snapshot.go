//go:build linux

package live

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/recording"
)

// attempts is how often something is read that changes meanwhile, before it is left out.
const attempts = 50

// Snapshot returns what there is to see.
func (p *Process) Snapshot() (*Snapshot, error) {
	setup, err := p.request(askLook, "")
	if err != nil {
		return nil, err
	}
	s, err := p.look()
	if err != nil {
		return nil, err
	}
	if s.Setup, err = parseSetup(setup); err != nil {
		return nil, fmt.Errorf("process %d: %v", p.PID, err)
	}
	return s, nil
}

// look is Snapshot without telling the program.
func (p *Process) look() (*Snapshot, error) {
	h := p.head
	info, err := p.file.Stat()
	if err != nil {
		return nil, err
	}
	if wrong := h.wrong(uint64(info.Size())); wrong != "" {
		return nil, fmt.Errorf("process %d: its memory does not hold together: %s", p.PID, wrong)
	}
	tables, err := p.read(h.tables.at, min(atomic.LoadUint64(&h.tables.used), h.tables.most))
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Program: recording.FromTables(recording.Env{UUID: h.uuid, PID: p.PID}, tables), Consumers: p.Consumers(), LongMost: int(max(h.longMost, 1) - 1), HistoryMost: int(h.historyMost)}
	s.Begun, s.Now = recording.Clock{Ticks: h.begun.ticks, Monotonic: h.begun.monotonic, Wall: h.begun.wall}, recording.Clock{Ticks: h.now.ticks, Monotonic: h.now.monotonic, Wall: h.now.wall}
	s.Program.Env.Executable, s.Program.Env.Release = s.Program.Process.Executable, s.Program.Process.Release
	s.Clock = recording.Through(int(h.timer&0xFF), s.Begun, s.Now)
	s.Lost = Losses{Functions: h.lost.functions, Goroutines: h.lost.goroutines, Frames: h.lost.frames, Tables: h.lost.tables, Tallies: h.lost.tallies}
	s.Timer = p.Timer()
	if err := p.functions(s); err != nil {
		return nil, err
	}
	for id := range min(atomic.LoadUint64(&h.processors.used), h.processors.most) {
		if err := p.processor(s, h.processors.at+id*h.processors.size); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.Long, func(a, b Call) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Event, b.Event)) })
	s.Long = s.Long[max(0, len(s.Long)-s.LongMost):]
	// The goroutines come last, since the records of their calls are not in the rings for long.
	if err := p.goroutines(s); err != nil {
		return nil, err
	}
	s.Latest = s.Now.Ticks
	for i := range s.Goroutines {
		for _, f := range s.Goroutines[i].Stack {
			s.Latest = max(s.Latest, f.Start)
		}
	}
	return s, nil
}

// read returns a part of the file.
func (p *Process) read(at, n uint64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := p.file.ReadAt(b, int64(at)); err != nil && err != io.EOF {
		return nil, fmt.Errorf("process %d: %v", p.PID, err)
	}
	return b, nil
}

// readAs returns n things of type T at a place in the file.
func readAs[T any](p *Process, at, n uint64) ([]T, error) {
	list := make([]T, n)
	if n == 0 {
		return nil, nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), n*uint64(unsafe.Sizeof(list[0])))
	if _, err := p.file.ReadAt(b, int64(at)); err != nil && err != io.EOF {
		return nil, fmt.Errorf("process %d: %v", p.PID, err)
	}
	return list, nil
}

// functions reads the functions' flags.
func (p *Process) functions(s *Snapshot) error {
	n := min(uint64(p.head.functions)+1, p.head.flags.most)
	flags, err := p.read(p.head.flags.at, n)
	s.Functions = make([]Function, n)
	for key := range flags {
		s.Functions[key] = Function{Enabled: flags[key]&1 != 0, Timed: flags[key]&2 == 0, On: flags[key]&4 != 0, Untimed: flags[key]&8 != 0}
	}
	return err
}

// processor adds what a processor has counted, and its last calls.
func (p *Process) processor(s *Snapshot, at uint64) error {
	h := p.head
	w, err := readAs[writer](p, at, 1)
	if err != nil {
		return err
	}
	s.Lost.Records += w[0].lost
	list, err := readAs[summary](p, at+h.summariesAt, min(uint64(len(s.Functions)), h.summariesMost))
	if err != nil {
		return err
	}
	again, err := readAs[summary](p, at+h.summariesAt, uint64(len(list)))
	if err != nil {
		return err
	}
	for key := range min(len(list), len(s.Functions)) {
		c := &list[key]
		if c.changing%2 != 0 || c.changing != again[key].changing {
			if c, err = settled[summary](p, at+h.summariesAt+uint64(key)*uint64(unsafe.Sizeof(summary{}))); err != nil {
				return err
			}
		}
		s.Functions[key].Summary.add(c)
	}
	for i, to := range []*[]Tally{&s.ByGoroutine, &s.ByCaller, &s.ByReceiver} {
		if err := p.tallies(to, at, at+h.talliesAt[i]); err != nil {
			return err
		}
	}
	calls, err := readAs[call](p, at+h.longAt, min(w[0].calls, h.longMost))
	if err != nil {
		return err
	}
	after, err := readAs[writer](p, at, 1)
	if err != nil {
		return err
	}
	for i := range calls {
		// One that was begun to be written over since may be torn.
		if n := calls[i].number; n != 0 && n+h.longMost > after[0].calls+1 {
			s.Long = append(s.Long, calls[i].call())
		}
	}
	return nil
}

// settled reads something that is being changed. It begins with a number that is odd meanwhile.
func settled[T any](p *Process, at uint64) (*T, error) {
	for range attempts {
		list, err := readAs[T](p, at, 1)
		if err != nil {
			return nil, err
		}
		again, err := readAs[uint64](p, at, 1)
		if err != nil {
			return nil, err
		}
		if changing := *(*uint64)(unsafe.Pointer(&list[0])); changing%2 == 0 && changing == again[0] {
			return &list[0], nil
		}
	}
	return new(T), nil
}

func (c *Counts) add(s *summary) {
	if s.min != 0 && (c.Min == 0 || s.min < c.Min) {
		c.Min = s.min
	}
	c.Max = max(c.Max, s.max)
	c.Count += s.count
	c.Sum += s.sum
	c.Self += s.self
	c.Errors += s.errors
	c.Panics += s.panics
	for i, n := range s.log2 {
		c.Log2[i] += n
	}
}

func (c *call) call() Call {
	return Call{Function: c.key, Panicked: c.flags&1 != 0, Goexit: c.flags&2 != 0, Failed: c.flags&4 != 0, Replaced: c.flags&8 != 0, Goroutine: c.goroutine,
		Start: c.start, End: c.end, Event: c.event, Nesting: c.nesting, Last: c.last, Count: c.count, Depth: int(c.depth),
		Receiver: c.object, Entry: c.entry.place(), Exit: c.exit.place()}
}

func (a *place) place() Place {
	if a.writer == nowhere {
		return Place{processor: -1}
	}
	return Place{a.ticks, uint64(a.number), int(a.writer), int(a.offset) * 8}
}

// goroutines reads what the goroutines are in, and their last calls.
func (p *Process) goroutines(s *Snapshot) error {
	h := p.head
	n := min(atomic.LoadUint64(&h.goroutines.used), h.goroutines.most)
	block, err := p.read(h.goroutines.at, n*h.goroutines.size)
	if err != nil {
		return err
	}
	for i := range n {
		if binary.LittleEndian.Uint64(block[i*h.goroutines.size:]) == 0 {
			continue
		}
		g, ok, err := p.goroutine(h.goroutines.at + i*h.goroutines.size)
		if err != nil {
			return err
		}
		if ok {
			s.Goroutines = append(s.Goroutines, g)
		}
	}
	slices.SortFunc(s.Goroutines, func(a, b Goroutine) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// goroutine reads a goroutine's state, unless it has ended.
func (p *Process) goroutine(at uint64) (g Goroutine, ok bool, err error) {
	for range attempts {
		before, err := readAs[goroutine](p, at, 1)
		if err != nil {
			return g, false, err
		}
		b := &before[0]
		if b.goroutine == 0 {
			return g, false, nil
		}
		if b.changing%2 != 0 || b.depth < 0 || uint64(b.depth)*p.head.frameSize > p.head.frames.most {
			continue
		}
		g = Goroutine{ID: b.goroutine, Parent: b.parent, ParentFn: b.parentKey, ParentCall: b.parentCount, Start: b.start, Muted: b.muted}
		if b.framesAt != 0 && b.depth > 0 {
			frames, err := p.read(b.framesAt, uint64(b.depth)*p.head.frameSize)
			if err != nil {
				return g, false, err
			}
			for i := range uint64(b.depth) {
				f := (*frame)(unsafe.Pointer(&frames[i*p.head.frameSize]))
				if f.place.ticks != 0 && f.flags&framePanicked == 0 {
					g.Stack = append(g.Stack, Frame{Function: f.key, Start: f.place.ticks, Event: f.event, Count: f.count, Entry: f.place.place(), Timed: f.flags&frameNotTimed == 0, Receiver: f.object})
				}
			}
		}
		var history []call
		if b.historyAt != 0 {
			if history, err = readAs[call](p, b.historyAt, min(b.calls, p.head.historyMost+1)); err != nil {
				return g, false, err
			}
		}
		after, err := readAs[goroutine](p, at, 1)
		if err != nil {
			return g, false, err
		}
		if a := &after[0]; a.goroutine != b.goroutine || a.changing != b.changing || a.depth != b.depth {
			continue
		}
		slices.SortFunc(history, func(a, b call) int { return cmp.Compare(a.number, b.number) })
		for i := range history {
			if n := history[i].number; n != 0 && n+p.head.historyMost > after[0].calls {
				g.History = append(g.History, history[i].call())
			}
		}
		return g, true, nil
	}
	return g, false, nil // it never stops
}

// Event reads a record from the rings. It returns false if there is none, or another one has taken its place.
func (p *Process) Event(at Place, e *recording.Event) bool {
	h := p.head
	if at.processor < 0 || uint64(at.processor) >= h.processors.most || h.ringChunks == 0 || h.ringChunk != chunkSize || at.offset < chunkHead || uint64(at.offset) >= h.ringChunk {
		return false
	}
	chunk := h.processors.at + uint64(at.processor)*h.processors.size + h.ringAt + at.number%h.ringChunks*h.ringChunk
	b, err := p.read(chunk+uint64(at.offset), min(255*8, h.ringChunk-uint64(at.offset)))
	if err != nil {
		return false
	}
	number, err := readAs[uint64](p, chunk+chunkNumber, 1)
	return err == nil && number[0] == at.number && e.Decode(b) && e.Ticks == at.ticks
}
