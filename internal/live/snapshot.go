//go:build linux || windows || darwin

package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// Snapshot returns the state of the program, with those of the large parts that of has. All that it
// has of calls is of the same moment, see internal/guest/keep/cut.go.
func (p *Process) Snapshot(of Contents) (*Snapshot, error) {
	deadline := time.Now().Add(answerWithin)
	done, err := p.exclude(lockCut, deadline)
	if err != nil {
		return nil, err
	}
	defer done()
	b := &budget{until: deadline}
	b.left.Store(budgetMax)
	p.taking.Store(b)
	defer p.taking.Store(nil)
	for {
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("process %d: taking a snapshot: what its memory says of requests is inconsistent", p.PID)
		}
		l := &look{p: p, of: of}
		if err := l.before(); err != nil {
			return nil, err
		}
		setup, err := p.request(0, format.AskLook, "", deadline)
		if err != nil {
			return nil, err
		}
		if atomic.LoadUint32(&p.head.Cuts) != l.cuts+1 {
			continue // a request that another reader had given up was still on its way
		}
		s, err := l.after()
		if err != nil {
			return nil, err
		}
		if s.Setup, err = parseSetup(setup); err != nil {
			return nil, fmt.Errorf("process %d: %v", p.PID, err)
		}
		return s, nil
	}
}

// A budget limits what reading the memory for a snapshot may take: the sizes in it may be anything.
type budget struct {
	until time.Time
	left  atomic.Int64 // bytes
}

const (
	budgetMax = 4 << 30
	readMax   = 1 << 30 // bytes at once
)

var errTooMuch = errors.New("its memory is inconsistent: there is more in it than can be")

// take takes bytes from the budget.
func (b *budget) take(bytes uint64) error {
	switch {
	case bytes > readMax:
		return errTooMuch
	case b == nil:
	case b.left.Add(-int64(bytes)) < 0:
		return errTooMuch
	case time.Now().After(b.until):
		return fmt.Errorf("reading its memory takes longer than %v", answerWithin)
	}
	return nil
}

// look is a snapshot being taken.
type look struct {
	p         *Process
	of        Contents
	cuts      uint32 // number of cuts before it
	kept      kept
	known     map[uint64]bool // the goroutines that existed before
	crossings crossings
}

// before reads, before the cut, what can't be read after it.
func (l *look) before() error {
	p, h := l.p, l.p.head
	l.cuts, l.known = atomic.LoadUint32(&h.Cuts), map[uint64]bool{}
	if atomic.LoadUint32(&h.Armed) == 0 {
		return nil // it will be there after the request
	}
	if err := p.check(); err != nil {
		return err
	}
	states, err := p.states()
	if err != nil {
		return err
	}
	for i := range states {
		l.known[states[i].ID] = true
	}
	if err := p.half(&l.kept, l.of, uint64(l.cuts+1)&1, states); err != nil {
		return err
	}
	return p.passCrossings(&l.crossings)
}

// after reads the rest, after the cut.
func (l *look) after() (*Snapshot, error) {
	p := l.p
	if err := p.check(); err != nil {
		return nil, err
	}
	h := p.seen.Load()
	// What is under way first, while it still is.
	states, err := p.states()
	if err != nil {
		return nil, err
	}
	goroutines, err := p.stacks(states, &l.crossings, l.cuts)
	if err != nil {
		return nil, err
	}
	if err := p.half(&l.kept, l.of, uint64(l.cuts)&1, states); err != nil {
		return nil, err
	}
	program, err := p.tables()
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Program: program, LongMax: int(h.LongMax), HistoryMax: int(h.HistoryMax),
		Limits: Limits{int(h.SummariesMax) - 1, int(h.Goroutines.Max), int(h.TalliesMax)}}
	s.Begun, s.Now = recording.Clock{Ticks: h.Begun.Ticks, Monotonic: h.Begun.Monotonic, Wall: h.Begun.Wall}, recording.Clock{Ticks: h.Now.Ticks, Monotonic: h.Now.Monotonic, Wall: h.Now.Wall}
	s.Clock = recording.Through(int(h.Timer&0xFF), s.Begun, s.Now)
	s.Lost = Losses{Functions: h.Lost.Functions, Goroutines: h.Lost.Goroutines, Frames: h.Lost.Frames, Tables: h.Lost.Tables, Tallies: h.Lost.Tallies, Records: l.kept.lost}
	s.LeftOut, s.Kept = h.LeftOut, int(h.Kept/1e4)
	s.Timer, s.Running = p.Timer(), h.Running
	if err := p.functions(s, &l.kept); err != nil {
		return nil, err
	}
	s.ByGoroutine, s.ByCaller, s.ByReceiver = l.kept.tallies[format.ByGoroutine], l.kept.tallies[format.ByCaller], l.kept.tallies[format.ByReceiver]
	defer l.kept.free()
	s.Long = callsOf(last(s.LongMax, slices.Collect(maps.Values(l.kept.long))...))
	s.LongWaits = l.kept.waitsOf(last(s.LongMax, slices.Collect(maps.Values(l.kept.longWaits))...))
	for _, g := range goroutines {
		if h := l.kept.histories[g.ID]; h != nil {
			g.History = callsOf(last(s.HistoryMax, h))
		}
		if h := l.kept.waits[g.ID]; h != nil {
			g.Waits = l.kept.waitsOf(last(s.HistoryMax, h))
		}
		if l.known[g.ID] || len(g.Stack) > 0 || len(g.History) > 0 || len(g.Waits) > 0 { // else it began after the cut
			s.Goroutines = append(s.Goroutines, g)
		}
	}
	if s.Spans, err = p.spans(); err != nil {
		return nil, err
	}
	if s.Fired, err = p.fired(); err != nil {
		return nil, err
	}
	s.SpansMax, s.FiredMax = int(h.Spans.Max), int(h.Probes.Max)
	s.Latest = s.Now.Ticks
	for i := range s.Goroutines {
		for _, f := range s.Goroutines[i].Stack {
			s.Latest = max(s.Latest, f.Start)
		}
	}
	return s, nil
}

// tables returns what the tables say. They are read again only if something was added to them,
// which is all that happens to them.
func (p *Process) tables() (*recording.Recording, error) {
	h := p.seen.Load()
	used := min(h.Tables.Used, h.Tables.Max)
	if p.program != nil && p.programSize == used {
		return p.program, nil
	}
	tables, err := p.read(h.Tables.At, used)
	if err != nil {
		return nil, err
	}
	r := recording.FromTables(recording.Env{UUID: h.UUID, PID: p.PID}, tables)
	r.Env.Executable, r.Env.Release = r.Process.Executable, r.Process.Release
	p.program, p.programSize = r, used
	return r, nil
}

// check reports whether the memory is consistent. Later reads use the places and sizes of the head
// that was checked, for the memory may change.
func (p *Process) check() error {
	size, err := p.memory.size()
	if err != nil {
		return err
	}
	h := *p.head
	if wrong := wrong(&h, size); wrong != "" {
		return fmt.Errorf("process %d: its memory is inconsistent: %s", p.PID, wrong)
	}
	p.seen.Store(&h)
	return nil
}

// read returns a part of the file.
func (p *Process) read(at, n uint64) ([]byte, error) {
	if err := p.taking.Load().take(n); err != nil {
		return nil, fmt.Errorf("process %d: %w", p.PID, err)
	}
	b := make([]byte, n)
	if _, err := p.memory.readAt(p.seen.Load(), b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("process %d: %v", p.PID, err)
	}
	return b, nil
}

// readAs returns n values of type T at a place in the file.
func readAs[T any](p *Process, at, n uint64) ([]T, error) {
	return readTo[T](p, nil, at, n)
}

// readTo is readAs, to a list that is no longer needed.
func readTo[T any](p *Process, list []T, at, n uint64) ([]T, error) {
	if n == 0 {
		return nil, nil
	}
	var one T
	if n > readMax {
		return nil, fmt.Errorf("process %d: %w", p.PID, errTooMuch)
	}
	size := n * uint64(unsafe.Sizeof(one))
	if err := p.taking.Load().take(size); err != nil {
		return nil, fmt.Errorf("process %d: %w", p.PID, err)
	}
	if n > uint64(cap(list)) {
		list = make([]T, n)
	}
	list = list[:n]
	return list, fill(p, list, at)
}

// fill reads a list, which is not empty, from a place in the file.
func fill[T any](p *Process, list []T, at uint64) error {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), uintptr(len(list))*unsafe.Sizeof(list[0]))
	n, err := p.memory.readAt(p.seen.Load(), b, at)
	if err != nil && err != io.EOF {
		return fmt.Errorf("process %d: %v", p.PID, err)
	}
	clear(b[n:])
	return nil
}

// functions puts the functions' flags and summaries together.
func (p *Process) functions(s *Snapshot, k *kept) error {
	flags, err := p.read(p.seen.Load().Flags.At, p.keys())
	s.Functions = make([]Function, len(flags))
	for key := range flags {
		s.Functions[key] = Function{Enabled: flags[key]&format.FunctionOn != 0, Timed: flags[key]&format.FunctionUntimed == 0,
			On: flags[key]&format.FunctionMeant != 0, Untimed: flags[key]&format.FunctionCoarse != 0}
		if s.Functions[key].Summary = noCalls; key < len(k.functions) {
			s.Functions[key].Summary = &k.functions[key]
		}
	}
	return err
}

// noCalls is the summary of functions that have none.
var noCalls = new(Counts)

// keys returns the number of keys that functions have, 0 included.
func (p *Process) keys() uint64 {
	h := p.seen.Load()
	return min(uint64(h.Functions)+1, h.Flags.Max)
}

// eventInFile is Event for a recording in files. directory is the program's descriptor of theirs.
func (p *Process) eventInFile(directory int32, at Place, function uint32, e *recording.Event) bool {
	if at.offset >= format.FileChunk {
		return false
	}
	f, err := p.memory.openIn(directory, fmt.Sprintf("calls_%d", at.processor))
	if err != nil {
		return false
	}
	defer f.Close()
	b, chunk := make([]byte, min(format.RecordMax, format.FileChunk-at.offset)), int64(at.number)*format.FileChunk
	if _, err := f.ReadAt(b, chunk+int64(at.offset)); err != nil {
		return false
	}
	return e.Decode(b, at.ticks, function)
}

// spans returns the last spans.
func (p *Process) spans() ([]Span, error) {
	h := p.seen.Load()
	list, err := readAs[format.Span](p, h.Spans.At, min(h.Spans.Used, h.Spans.Max))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b format.Span) int { return cmp.Compare(a.Number, b.Number) })
	var spans []Span
	for i := range list {
		s := &list[i]
		text := min(int(s.Text), format.SpanText)
		trace := text + min(int(s.Trace), format.SpanTrace+format.SpanParent)
		message := min(trace+int(s.Message), len(s.Bytes))
		if s.Number == 0 {
			continue // it is being written
		}
		spans = append(spans, Span{Function: s.Key, Goroutine: s.Goroutine, Event: s.Event, Nesting: s.Nesting, Last: s.Last, Depth: int(s.Depth), Start: s.Start, End: s.End,
			Panicked: s.Flags&format.CallPanicked != 0, Failed: s.Flags&format.CallFailed != 0, Status: int(s.Status),
			Text: string(s.Bytes[:text]), Trace: string(s.Bytes[text:min(text+format.SpanTrace, trace)]), Parent: string(s.Bytes[min(text+format.SpanTrace, trace):trace]), Message: string(s.Bytes[trace:message])})
	}
	return spans, nil
}

// fired returns the last static probes that fired.
func (p *Process) fired() ([]Fired, error) {
	h := p.seen.Load()
	list, err := readAs[format.Probe](p, h.Probes.At, min(h.Probes.Used, h.Probes.Max))
	if err != nil {
		return nil, err
	}
	var fired []Fired
	for i := range list {
		if f := &list[(h.Probes.Used+uint64(i))%uint64(len(list))]; f.Number != 0 { // else it is being written
			fired = append(fired, Fired{Function: f.Key, Goroutine: f.Goroutine, Event: f.Event, Nesting: f.Nesting, Depth: int(f.Depth), At: f.Ticks, Count: f.Count,
				Layout: f.Values[0], Data: f.Bytes[:min(f.Values[1], format.ProbeBytes)]})
		}
	}
	return fired, nil
}

func callOf(c *format.Call) Call {
	return Call{Function: c.Key, Panicked: c.Flags&format.CallPanicked != 0, Goexit: c.Flags&format.CallGoexit != 0,
		Failed: c.Flags&format.CallFailed != 0, Replaced: c.Flags&format.CallReplaced != 0, Goroutine: c.Goroutine,
		Start: c.Start, End: c.End, Event: c.Event, Nesting: c.Nesting, Last: c.Last, Count: c.Count, Depth: int(c.Depth),
		Receiver: c.Object, Entry: placeOf(c.Entry), Exit: placeOf(c.Exit)}
}

func waitOf(c *format.Call, others []uint64) Wait {
	runnable := c.Exit.Where & format.WaitRunnable
	w := Wait{Call: callOf(c), Runnable: runnable, Known: runnable != format.WaitRunnable, Site: c.Flags >> format.CallSite, Others: others,
		Ender: Ender{Goroutine: c.Entry.Where, Function: uint32(c.Exit.Where >> format.WaitFunction), Call: c.Count}}
	if !isSelect(*c) {
		w.Operation = c.Entry.Ticks
	}
	w.Count, w.Entry, w.Exit = 0, nowhere, nowhere
	return w
}

var nowhere = Place{processor: -1}

func placeOf(p format.Place) Place {
	if p.Where&format.Nowhere == format.Nowhere {
		return nowhere
	}
	return Place{p.Ticks, uint64(uint32(p.Where)), int(uint16(p.Where >> format.PlaceProcessor)), int(p.Where>>format.PlaceOffset) * 8}
}

// Event reads a record, of a call of a function, of the program's own recording, from the rings or
// the files. It returns false if there is none, or if another has replaced it.
func (p *Process) Event(at Place, function uint32, e *recording.Event) bool {
	h := p.seen.Load()
	if h == nil || at.processor < 0 || uint64(at.processor) >= h.Processors.Max || at.offset < format.PacketSize {
		return false
	}
	if directory := atomic.LoadInt32(&p.head.Directory); directory != 0 {
		return p.eventInFile(directory, at, function, e)
	}
	if h.RingChunks == 0 || h.RingChunk != format.RingChunk || uint64(at.offset) >= h.RingChunk {
		return false
	}
	chunk := h.Processors.At + uint64(at.processor)*h.Processors.Size + h.RingAt + at.number%h.RingChunks*h.RingChunk
	b, err := p.read(chunk+uint64(at.offset), min(format.RecordMax, h.RingChunk-uint64(at.offset)))
	if err != nil {
		return false
	}
	number, err := readAs[uint64](p, chunk+numberAt, 1)
	return err == nil && number[0] == at.number && e.Decode(b, at.ticks, function)
}
