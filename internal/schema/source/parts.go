package source

import (
	"math"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A large recording is gone through in parts, by several goroutines, as
// internal/view/walk/parts.go says. The pass of a part does not know how many calls and waits there
// were before on a goroutine, nor which calls are around those of the part. So it numbers them by
// block, and the pass of the whole recording says of a block what was before.

// A block is what a goroutine does in a part between two events that are put off. In a pass that
// knows all that was before there is one.
type block struct {
	before uint64 // how many calls and waits were before it
	around uint64 // number of the call around, 0: there is none

	// What the part has to say of it.
	thread   *passThread
	calls    uint64          // how many calls and waits there are in it
	outer    sums[uint32]    // by function: what the call around did
	counters []*counter      // those for it, and others
	objects  map[uint64]bool // that were waited for, which the calls in the block don't name
	waiting  *Wait           // that is under way at the end of the recording
	since    uint64          // ticks
	ends     bool            // the part ends with it
}

// number makes numbers of the block such of the goroutine.
func (b *block) number(id, endID, nesting *uint64) {
	*id += b.before
	if *endID != 0 {
		*endID += b.before
	}
	if *nesting != 0 {
		*nesting += b.before
	} else {
		*nesting = b.around
	}
}

// place gives an event of the block its numbers.
func (b *block) place(e *Event) { b.number(&e.ID, &e.EndID, &e.Nesting) }

// wait takes in that the thread waits at the end of the recording.
func (t *passThread) wait(b *block) {
	if b.waiting != nil {
		t.Waiting, t.since = b.waiting, b.since
	}
}

// farFromEnd is how many bytes must come after a part for which only the last calls of each thread
// are kept. The last ones of all threads are then likely to be in the parts after it.
var farFromEnd int64 = 64 << 20

// inParts goes through the recording in parts. It returns false if it did nothing.
func (p *pass) inParts() (bool, error) {
	p.w.Taken, p.w.Resume = p.taken, p.resume
	p.calls.joins, p.waits.joins = true, true
	done, err := p.w.InParts(24, func(w *passWalker) walk.PartWriter {
		part := newPass(w, p.options)
		part.part, part.instances, part.later, part.known, part.near = true, math.MaxInt32, p.later, p.known, p.near
		w.Aside, w.Next = part.aside, part.begins
		w.Over = func() { p.join(part) }
		return nil
	})
	if !done {
		p.calls.joins, p.waits.joins = false, false
	}
	return done, err
}

// begins makes the pass that of another part.
func (p *pass) begins(left int64) {
	p.global, p.byCaller, p.byObject = sums[uint32]{}, sums[[2]uint32]{}, sums[objectKey]{}
	clear(p.lengths)
	clear(p.recent[:])
	p.calls.far = !p.near && left > farFromEnd
	p.started, p.holders, p.sent, p.lost.records, p.calls.n = nil, nil, nil, 0, 0
	p.objects.Forget()
}

// aside returns what there is to say of a block, which ends.
func (p *pass) aside(st *passStack, end bool) any {
	t := st.Data.View
	if t == nil || !end && (t.calls == 0 || len(st.Calls) > 0) {
		return nil // while there are calls of the part, the numbers go on
	}
	b := t.block
	for _, c := range b.counters {
		if c.block == b {
			p.sumUp(c)
		}
	}
	b.calls, b.ends = t.calls, end
	t.calls, t.block = 0, &block{thread: t}
	return b
}

// taken takes in what was said of a block.
func (p *pass) taken(st *passStack, said any) {
	b := said.(*block)
	if b.thread.whole == nil {
		b.thread.whole = p.thread(st)
	}
	t := b.thread.whole
	st.Data.View = t
	b.before = t.calls
	t.calls += b.calls
	caller := uint32(0)
	if n := len(st.Calls); n > 0 {
		caller, b.around = st.Calls[n-1].Function, st.Calls[n-1].Data.View.id
	}
	p.lost.instances += merge(&p.byCaller, &b.outer, p.instances, func(function uint32) [2]uint32 { return [2]uint32{function, caller} })
	for object := range b.objects {
		p.learnt(st, t, object)
	}
	if b.waiting != nil {
		b.place(&b.waiting.Event)
		t.wait(b)
	}
	if b.ends {
		t.base = b.before
		t.args = append(t.args, b.thread.args...)
	}
}

// resume gives a call of the part that has ended, which is under way, its numbers.
func (p *pass) resume(st *passStack) {
	n := len(st.Calls)
	d := &st.Calls[n-1].Data.View
	d.id += st.Data.View.base
	if d.nesting = 0; n > 1 {
		d.nesting = st.Calls[n-2].Data.View.id
	}
}

// join takes in what a part has found, of which all blocks have been taken.
func (p *pass) join(part *pass) {
	part.sumUpAll()
	if part.calls.far {
		p.far = true
	} else {
		p.calledNear += part.calls.n
	}
	p.w.Now = max(p.w.Now, part.w.Now)
	p.lost.records += part.lost.records
	for function, l := range part.lengths {
		to := p.lengthsOf(function)
		for i, n := range l {
			to[i] += n
		}
	}
	p.holders = append(p.holders, part.holders...)
	p.objects.Join(part.objects.Names())
	merge(&p.global, &part.global, math.MaxInt32, func(function uint32) uint32 { return function })
	p.lost.instances += merge(&p.byCaller, &part.byCaller, p.instances, func(key [2]uint32) [2]uint32 { return key })
	p.lost.instances += merge(&p.byObject, &part.byObject, p.instances, func(key objectKey) objectKey { return key })
	for _, t := range part.started {
		for i, function := range t.sums.keys {
			if sum := p.ofThread(t.whole, function); sum != nil {
				sum.merge(t.sums.tallies[i])
			} else {
				p.lost.instances += int64(t.sums.tallies[i].count)
			}
		}
	}
	p.calls.join(&part.calls, part.started, ofCalls, func(b *block, c *endedCall) { b.number(&c.id, &c.endID, &c.nesting) })
	p.waits.join(&part.waits, part.started, ofWaits, func(b *block, w *Wait) { b.place(&w.Event) })
	p.spans.join(&part.spans, nil, nil, func(b *block, s *Span) { b.place(&s.Event) })
	p.probes.join(&part.probes, nil, nil, func(b *block, f *firedProbe) { b.place(&f.Event) })
	for _, tell := range part.sent {
		tell(&p.statements)
	}
}
