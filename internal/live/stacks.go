//go:build linux || windows || darwin

package live

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// stateAt is a goroutine's state and where it is in the file.
type stateAt struct {
	at uint64
	format.Goroutine
}

// states returns the states of the goroutines that have called an armed function.
func (p *Process) states() ([]stateAt, error) {
	h := p.seen.Load()
	n := min(h.Goroutines.Used, h.Goroutines.Max)
	block, err := p.read(h.Goroutines.At, n*h.Goroutines.Size)
	if err != nil {
		return nil, err
	}
	var list []stateAt
	for i := range n {
		if g := (*format.Goroutine)(unsafe.Pointer(&block[i*h.Goroutines.Size])); g.ID != 0 {
			list = append(list, stateAt{h.Goroutines.At + i*h.Goroutines.Size, *g})
		}
	}
	return list, nil
}

// crossings are the calls that were under way at a cut and have ended since.
type crossings struct {
	next  []uint64                 // by processor, the next one to read
	calls map[uint64][]format.Call // by goroutine
}

// passCrossings leaves out the crossings that have come so far.
func (p *Process) passCrossings(to *crossings) error {
	h := p.seen.Load()
	for id := range p.processors() {
		w, err := readAs[format.Processor](p, h.Processors.At+id*h.Processors.Size, 1)
		if err != nil {
			return err
		}
		to.next = append(to.next, w[0].Crossed)
	}
	return nil
}

// crossings adds those that have come since its last call, of calls that began under that number of
// cuts or fewer.
func (p *Process) crossings(to *crossings, cuts uint32) error {
	h := p.seen.Load()
	for id := range p.processors() {
		if id == uint64(len(to.next)) {
			to.next = append(to.next, 0)
		}
		at := h.Processors.At + id*h.Processors.Size
		w, err := readAs[format.Processor](p, at, 1)
		if err != nil {
			return err
		}
		end := w[0].Crossed
		first := max(to.next[id], end-min(end, h.CrossingsMax))
		to.next[id] = end
		var calls []format.Call
		for n := first; n < end; {
			place := n % h.CrossingsMax
			some, err := readAs[format.Call](p, at+h.CrossingsAt+place*callSize, min(end-n, h.CrossingsMax-place))
			if err != nil {
				return err
			}
			calls = append(calls, some...)
			n += uint64(len(some))
		}
		if len(calls) == 0 {
			continue
		}
		if w, err = readAs[format.Processor](p, at, 1); err != nil {
			return err
		}
		for i := range calls {
			written := first+uint64(i)+h.CrossingsMax <= w[0].Crossed // it was overwritten, or is being
			if c := &calls[i]; c.Cut == cuts+1 && !written {
				if to.calls == nil {
					to.calls = map[uint64][]format.Call{}
				}
				to.calls[c.Goroutine] = append(to.calls[c.Goroutine], *c)
			}
		}
	}
	return nil
}

// stacksAtOnce is the number of goroutines whose stacks are read before the crossings are, which do
// not last long.
const stacksAtOnce = 256

// stacks returns the goroutines, by their ids, with their calls under way at the cut after that
// number of others.
func (p *Process) stacks(states []stateAt, crossings *crossings, cuts uint32) ([]Goroutine, error) {
	list := make([]Goroutine, 0, len(states))
	for i := range states {
		g := &states[i]
		stack, err := p.stack(g, cuts)
		if err != nil {
			return nil, err
		}
		list = append(list, Goroutine{ID: g.ID, Parent: g.Parent, ParentFn: g.ParentKey, ParentCall: g.ParentCount, Start: g.Start, Muted: g.Muted, Stack: stack})
		if i%stacksAtOnce == stacksAtOnce-1 {
			if err := p.crossings(crossings, cuts); err != nil {
				return nil, err
			}
		}
	}
	// A call that has left the stack is among the crossings by then.
	if err := p.crossings(crossings, cuts); err != nil {
		return nil, err
	}
	for i := range list {
		list[i].cross(crossings.calls[list[i].ID])
		delete(crossings.calls, list[i].ID)
	}
	for id, calls := range crossings.calls { // these goroutines have ended since
		g := Goroutine{ID: id}
		g.cross(calls)
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b Goroutine) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// cross puts calls back on the stack that have left it since.
func (g *Goroutine) cross(calls []format.Call) {
	for i := range calls {
		c := &calls[i]
		frame := Frame{Function: c.Key, Start: c.Entry.Ticks, Event: c.Event, Count: c.Count, Entry: callOf(c).Entry, Timed: c.Start != 0, Receiver: c.Object, Left: true}
		if c.Flags&format.CallWait != 0 {
			frame.Start, frame.Count = c.Start, c.Entry.Ticks
		}
		g.Stack = append(g.Stack, frame)
	}
	slices.SortFunc(g.Stack, func(a, b Frame) int { return cmp.Compare(a.Event, b.Event) })
	g.Stack = slices.CompactFunc(g.Stack, func(a, b Frame) bool { return a.Event == b.Event })
}

// attempts is how often a stack that keeps moving is read before it is left out.
const attempts = 50

// stack returns the calls on a goroutine's stack that began under that number of cuts or fewer.
// Nothing in them changes any more until they end; and then they may still be returned.
func (p *Process) stack(of *stateAt, cuts uint32) ([]Frame, error) {
	size := p.seen.Load().FrameSize
	for range attempts {
		before, err := readAs[format.Goroutine](p, of.at, 1)
		if err != nil {
			return nil, err
		}
		g := &before[0]
		if g.ID != of.ID || g.Depth <= 0 || g.FramesAt == 0 || uint64(g.Depth)*size > p.seen.Load().Frames.Max {
			return nil, nil
		}
		frames, err := p.read(g.FramesAt, uint64(g.Depth)*size)
		if err != nil {
			return nil, err
		}
		again, err := p.read(g.FramesAt, uint64(len(frames)))
		if err != nil {
			return nil, err
		}
		after, err := readAs[format.Goroutine](p, of.at, 1)
		if err != nil {
			return nil, err
		}
		if a := &after[0]; a.ID != g.ID || a.FramesAt != g.FramesAt {
			continue
		}
		var stack []Frame
		for i := uint64(0); i < uint64(len(frames)); i += size {
			f, now := (*format.Frame)(unsafe.Pointer(&frames[i])), (*format.Frame)(unsafe.Pointer(&again[i]))
			old := int32(f.Cut-cuts) <= 0 && int32(now.Cut-cuts) <= 0 // the frame of another call would have said so before anything else
			if old && f.Place.Ticks != 0 && f.Flags&(format.FramePanicked|format.FrameEnded) == 0 {
				stack = append(stack, Frame{Function: f.Key, Start: f.Place.Ticks, Event: f.Event, Count: f.Count, Entry: placeOf(f.Place), Timed: f.Flags&format.FrameNotTimed == 0, Receiver: f.Object, Within: f.Within})
			}
		}
		return stack, nil
	}
	return nil, nil // it never stops
}
