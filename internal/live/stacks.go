//go:build linux

package live

import (
	"cmp"
	"slices"
	"unsafe"
)

// stateAt is a goroutine's state and where it is in the file.
type stateAt struct {
	at uint64
	goroutine
}

// states returns the states of the goroutines that have called an armed function.
func (p *Process) states() ([]stateAt, error) {
	h := p.seen.Load()
	n := min(h.goroutines.used, h.goroutines.most)
	block, err := p.read(h.goroutines.at, n*h.goroutines.size)
	if err != nil {
		return nil, err
	}
	var list []stateAt
	for i := range n {
		if g := (*goroutine)(unsafe.Pointer(&block[i*h.goroutines.size])); g.id != 0 {
			list = append(list, stateAt{h.goroutines.at + i*h.goroutines.size, *g})
		}
	}
	return list, nil
}

// crossings are the calls that were under way at a cut and have ended since.
type crossings struct {
	next  []uint64          // by processor, the next one to read
	calls map[uint64][]call // by goroutine
}

// crossings adds those that have come since its last call, of calls that began under that number of
// cuts or fewer.
func (p *Process) crossings(to *crossings, cuts uint32) error {
	h := p.seen.Load()
	for id := range p.processors() {
		if id == uint64(len(to.next)) {
			to.next = append(to.next, 0)
		}
		at := h.processors.at + id*h.processors.size
		w, err := readAs[writer](p, at, 1)
		if err != nil {
			return err
		}
		end := w[0].crossed
		first := max(to.next[id], end-min(end, h.crossingsMax))
		to.next[id] = end
		var calls []call
		for n := first; n < end; {
			place := n % h.crossingsMax
			some, err := readAs[call](p, at+h.crossingsAt+place*callSize, min(end-n, h.crossingsMax-place))
			if err != nil {
				return err
			}
			calls = append(calls, some...)
			n += uint64(len(some))
		}
		if len(calls) == 0 {
			continue
		}
		if w, err = readAs[writer](p, at, 1); err != nil {
			return err
		}
		for i := range calls {
			written := first+uint64(i)+h.crossingsMax <= w[0].crossed // it was overwritten, or is being
			if c := &calls[i]; c.cut == cuts+1 && !written {
				if to.calls == nil {
					to.calls = map[uint64][]call{}
				}
				to.calls[c.goroutine] = append(to.calls[c.goroutine], *c)
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
		list = append(list, Goroutine{ID: g.id, Parent: g.parent, ParentFn: g.parentKey, ParentCall: g.parentCount, Start: g.start, Muted: g.muted, Stack: stack})
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
func (g *Goroutine) cross(calls []call) {
	for i := range calls {
		c := &calls[i]
		g.Stack = append(g.Stack, Frame{Function: c.key, Start: c.entry.ticks, Event: c.event, Count: c.count, Entry: c.entry.place(), Timed: c.start != 0, Receiver: c.object})
	}
	slices.SortFunc(g.Stack, func(a, b Frame) int { return cmp.Compare(a.Event, b.Event) })
	g.Stack = slices.CompactFunc(g.Stack, func(a, b Frame) bool { return a.Event == b.Event })
}

// attempts is how often a stack that keeps moving is read before it is left out.
const attempts = 50

// stack returns the calls on a goroutine's stack that began under that number of cuts or fewer.
// Nothing in them changes any more until they end; and then they may still be returned.
func (p *Process) stack(of *stateAt, cuts uint32) ([]Frame, error) {
	size := p.seen.Load().frameSize
	for range attempts {
		before, err := readAs[goroutine](p, of.at, 1)
		if err != nil {
			return nil, err
		}
		g := &before[0]
		if g.id != of.id || g.depth <= 0 || g.framesAt == 0 || uint64(g.depth)*size > p.seen.Load().frames.most {
			return nil, nil
		}
		frames, err := p.read(g.framesAt, uint64(g.depth)*size)
		if err != nil {
			return nil, err
		}
		again, err := p.read(g.framesAt, uint64(len(frames)))
		if err != nil {
			return nil, err
		}
		after, err := readAs[goroutine](p, of.at, 1)
		if err != nil {
			return nil, err
		}
		if a := &after[0]; a.id != g.id || a.framesAt != g.framesAt {
			continue
		}
		var stack []Frame
		for i := uint64(0); i < uint64(len(frames)); i += size {
			f, now := (*frame)(unsafe.Pointer(&frames[i])), (*frame)(unsafe.Pointer(&again[i]))
			old := int32(f.cut-cuts) <= 0 && int32(now.cut-cuts) <= 0 // the frame of another call would have said so before anything else
			if old && f.place.ticks != 0 && f.flags&framePanicked == 0 {
				stack = append(stack, Frame{Function: f.key, Start: f.place.ticks, Event: f.event, Count: f.count, Entry: f.place.place(), Timed: f.flags&frameNotTimed == 0, Receiver: f.object})
			}
		}
		return stack, nil
	}
	return nil, nil // it never stops
}
