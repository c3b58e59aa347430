package source

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	passWalker = walk.Walker[*passThread, passCall]
	passStack  = walk.Stack[*passThread, passCall]
	passFrame  = walk.Frame[passCall]
)

// A pass goes through a recording, or a part of one, and does with its calls what the process would
// have done.
type pass struct {
	w       *passWalker
	r       *recording.Recording
	options RecordingOptions
	clock   recording.Converter
	later   time.Duration
	printer *recording.Printer
	objects *recording.Objects
	known   []passFunction // by key
	threads map[uint64]*passThread
	ended   []uint64 // threads that have ended, the oldest first
	holders []heldAt
	lost    struct{ threads, instances, records int64 }

	calls  history[endedCall]
	waits  history[Wait]
	spans  history[Span]
	probes history[firedProbe]

	global    sums[uint32]
	byCaller  sums[[2]uint32] // by function and caller
	byObject  sums[objectKey]
	instances int // how many sums there may be by thread, by caller and by object, each
	inThreads int // sums of all threads
	lengths   map[uint32]*lengths
	recent    [256]counter

	statements statementPass

	part       bool                   // it is of a part, and does not know what was before
	started    []*passThread          // of a part: all its threads
	sent       []func(*statementPass) // of a part: what its probes say of statements
	near       bool                   // no part is taken to be far from the end
	far        bool                   // a part was
	calledNear int                    // calls that ended in the other parts
}

// passFunction is a function of the recording.
type passFunction struct {
	*recording.Function
	receives bool // its first parameter is a receiver
}

// function returns the function with a key, which may not be in the tables.
func (p *pass) function(key uint32) passFunction {
	if int(key) < len(p.known) && p.known[key].Function != nil {
		return p.known[key]
	}
	return passFunction{Function: p.r.Function(key)}
}

type objectKey struct {
	function uint32
	object   uint64
}

// passThread is what is kept of a goroutine.
type passThread struct {
	Thread
	kept    bool // it is among the threads of the pass
	block   *block
	calls   uint64 // number of calls and waits begun, in the block
	history ofThread[endedCall]
	waits   ofThread[Wait]
	sums    sums[uint32]
	args    []byte      // of the calls under way
	since   uint64      // ticks when the wait began that is under way at the end, 0: there is none
	held    []heldAt    // who holds the lock that is waited for then
	whole   *passThread // of a part: the one of all parts
	base    uint64      // of the whole: how many calls were before the block that was taken last
}

func ofCalls(t *passThread) *ofThread[endedCall] { return &t.history }
func ofWaits(t *passThread) *ofThread[Wait]      { return &t.waits }

// argsMax is the number of bytes that the parameters of a goroutine's calls under way may take.
// Calls beyond that have none. A stack overflow has millions of calls.
const argsMax = 16 << 20

// passCall is what is kept of a call under way. It has no pointers, so that it can be set aside.
type passCall struct {
	id, nesting uint64
	object      uint64
	args        uint32 // bytes of its parameters, which are among those of the thread
	layout      uint32
}

// entry returns the event with which a call began, as far as its values are concerned. args are
// those of the calls around it, and its own.
func entry(c *passFrame, args []byte) recording.Event {
	d := &c.Data.View
	return recording.Event{Kind: recording.EntryArgs, Function: c.Function, Layout: d.layout, Data: args[len(args)-int(d.args):]}
}

// endedCall is a call in a history. Its values become text when the pass has ended.
type endedCall struct {
	thread             uint64
	id, endID, nesting uint64
	object             uint64
	start              uint64 // ticks
	function           uint32
	level              uint16
	kind               recording.Kind // of its exit
	fails              bool
	args, results      uint32 // layouts
	argsSize           uint32
	values             []byte // the parameters, and then the results
}

// heldAt is who held a lock, and when that was recorded.
type heldAt struct {
	Holder
	at int64
}

// firedProbe is a static probe in a history. Its arguments become text when the pass has ended.
type firedProbe struct {
	Span
	layout uint32
	args   []byte
}

// newPass makes a walker's pass. The other passes of the recording are of its parts.
func newPass(w *passWalker, options RecordingOptions) *pass {
	r := w.Recording
	p := &pass{w: w, r: r, options: options, clock: r.Converter(), printer: r.Printer(recording.DefaultFormat), objects: r.Objects(), threads: map[uint64]*passThread{},
		lengths: map[uint32]*lengths{}, instances: options.Instances, statements: newStatementPass(options)}
	p.calls = history[endedCall]{most: options.HistoryLong, each: options.History, own: func(c *endedCall) { c.values = slices.Clone(c.values) }}
	p.waits = history[Wait]{most: options.HistoryLong, each: options.History}
	p.spans = history[Span]{most: options.HistoryLong}
	p.probes = history[firedProbe]{most: options.HistoryLong}
	w.Keep = true
	w.Begin, w.End, w.More, w.Wait, w.Blocked, w.Ended = p.begin, p.end, p.more, p.wait, p.blocked, p.goroutineEnded
	return p
}

// passThrough goes through a recording. Where few calls end near its end, it does so twice.
func passThrough(r *recording.Recording, options RecordingOptions) (*pass, error) {
	p, err := passOnce(r, options, false)
	if err == nil && p.far && p.calledNear < options.HistoryLong {
		return passOnce(r, options, true)
	}
	return p, err
}

func passOnce(r *recording.Recording, options RecordingOptions, near bool) (*pass, error) {
	p := newPass(walk.New[*passThread, passCall](walk.Source{Recording: r, Window: options.Window}), options)
	p.near, p.later, p.known = near, options.later(), make([]passFunction, r.Keys())
	for _, f := range r.Functions() {
		p.known[f.Key] = passFunction{f, len(f.Params) > 0 && (&Function{Name: f.Name}).Receives()}
	}
	done, err := p.inParts()
	if !done {
		err = p.w.Walk(nil)
	}
	p.sumUpAll()
	return p, err
}

// thread returns the thread of a stack, or one that is not kept if there are too many.
func (p *pass) thread(st *passStack) *passThread {
	if st.Data.View != nil {
		return st.Data.View
	}
	t := &passThread{Thread: Thread{ID: st.Goroutine}}
	t.block = &block{thread: t}
	st.Data.View, st.Keep = t, true
	if p.part {
		p.started = append(p.started, t)
		return t
	}
	for len(p.threads) >= p.options.Threads && len(p.ended) > 0 {
		if old := p.threads[p.ended[0]]; old != nil {
			p.inThreads -= len(old.sums.keys)
			old.kept = false
			delete(p.threads, p.ended[0])
			p.lost.threads++
		}
		p.ended = p.ended[1:]
	}
	if len(p.threads) >= p.options.Threads {
		p.lost.threads++
		return t
	}
	t.kept = true
	p.threads[t.ID] = t
	return t
}

// goroutineEnded takes in the end of a goroutine.
func (p *pass) goroutineEnded(st *passStack, e *recording.Event) {
	t := p.thread(st)
	t.Ended, st.Keep = true, false
	p.ended = append(p.ended, t.ID)
}

func (p *pass) begin(st *passStack, c *passFrame, e *recording.Event) {
	t := p.thread(st)
	if t.Entry == 0 {
		t.Entry = e.Function
	}
	t.calls++
	d := &c.Data.View
	d.id = t.calls
	if n := len(st.Calls); n > 1 {
		d.nesting = st.Calls[n-2].Data.View.id
	}
	if e.Layout != 0 {
		if p.function(e.Function).receives {
			d.object, _ = p.printer.Address(e)
		}
		if len(t.args)+len(e.Data) <= argsMax {
			d.args, d.layout = uint32(len(e.Data)), e.Layout
			t.args = append(t.args, e.Data...)
		}
	}
}

func (p *pass) end(st *passStack, c *passFrame, e *recording.Event) {
	if c == nil {
		return // it began before the recording
	}
	t := st.Data.View
	if e != nil {
		p.exit(st, t, c, e)
	}
	t.args = t.args[:len(t.args)-int(c.Data.View.args)]
}

func (p *pass) exit(st *passStack, t *passThread, c *passFrame, e *recording.Event) {
	d, f := &c.Data.View, p.function(e.Function).Function
	lasted := e.Ticks - c.Start
	panics := e.Kind == recording.ExitPanic
	fails := e.Kind == recording.ExitResults && p.printer.Fails(e, f)
	caller := uint32(0)
	if n := len(st.Calls); n > 1 {
		caller = st.Calls[n-2].Function
	}
	p.count(t, len(st.Calls) > 1, e.Function, caller, d.object, &counted{lasted: lasted, self: lasted - min(lasted, c.Data.Inner), fails: fails, panics: panics})
	if f.Span {
		row := p.span(t, c, f, entry(c, t.args))
		row.Inside, row.EndID, row.End, row.Failed, row.Panicked = false, t.calls, p.at(e.Ticks), fails, panics
		for _, v := range p.printer.Values(e, f.Results) {
			if v.Name == "status" {
				row.Status, _ = strconv.Atoi(v.Text)
			}
		}
		row.Message = plainError(outcome(p.printer, f, e, fails).Error.String)
		*p.spans.add(nil, t.block, e.Ticks) = row
		return
	}
	row := p.calls.add(&t.history, t.block, e.Ticks)
	row.thread, row.id, row.endID, row.nesting, row.object, row.start = t.ID, d.id, t.calls, d.nesting, d.object, c.Start
	row.function, row.level, row.kind, row.fails = e.Function, c.Depth, e.Kind, fails
	row.args, row.results, row.argsSize = d.layout, e.Layout, d.args
	if row.values = row.values[:0]; d.args > 0 || len(e.Data) > 0 {
		row.values = append(append(row.values, t.args[len(t.args)-int(d.args):]...), e.Data...)
	}
}

// span returns the row of a span under way, which began with an entry.
func (p *pass) span(t *passThread, c *passFrame, f *recording.Function, entry recording.Event) Span {
	d := &c.Data.View
	row := Span{Event: Event{Thread: t.ID, ID: d.id, Nesting: d.nesting, Level: int(c.Depth), Function: c.Function, Timed: true, Inside: true, Start: p.at(c.Start)}}
	for i, v := range p.printer.Values(&entry, f.Params) {
		switch {
		case i == 0:
			row.Text = plainText(v.Text)
		case v.Name == "span":
			row.Trace = plainText(v.Text)
		case v.Name == "parent":
			row.Parent = plainText(v.Text)
		}
	}
	if c.Note != "" {
		row.Text = c.Note
	}
	return row
}

// more takes in what is of no call.
func (p *pass) more(st *passStack, _ *passFrame, e *recording.Event) {
	if e.Kind == recording.Lost {
		p.lost.records += int64(e.Call)
		return
	}
	t := p.thread(st)
	switch e.Kind {
	case recording.GoroutineStart:
		t.Parent, t.Creator = e.Parent, e.Function
	case recording.Probe:
		p.fired(st, t, e)
		p.statement(st, t, e)
	}
}

// fired is a static probe that fired.
func (p *pass) fired(st *passStack, t *passThread, e *recording.Event) {
	t.calls++
	caller, nesting := uint32(0), uint64(0)
	if n := len(st.Calls); n > 0 {
		caller, nesting = st.Calls[n-1].Function, st.Calls[n-1].Data.View.id
	}
	row := firedProbe{layout: e.Layout, args: slices.Clone(e.Data)}
	row.Span = Span{Event: Event{Thread: t.ID, ID: t.calls, EndID: t.calls, Nesting: nesting, Level: int(e.Depth), Function: e.Function, Timed: true, Start: p.at(e.Ticks), End: p.at(e.Ticks)}}
	*p.probes.add(nil, t.block, e.Ticks) = row
	p.count(t, len(st.Calls) > 0, e.Function, caller, 0, &counted{})
}

// count counts a call or wait. inner reports whether there is a call around it here, which is the
// caller.
func (p *pass) count(t *passThread, inner bool, function, caller uint32, object uint64, c *counted) {
	to := &p.recent[(function*31+caller)%uint32(len(p.recent))]
	if to.block != t.block || to.function != function || to.caller != caller || to.inner != inner {
		p.sumUp(to)
		*to = counter{block: t.block, function: function, caller: caller, inner: inner, lengths: p.lengthsOf(function),
			sums: [3]*tally{p.global.of(function, math.MaxInt32), p.ofCaller(t, inner, function, caller), p.ofThread(t, function)}}
		if p.part && !inner {
			t.block.counters = append(t.block.counters, to)
		}
	}
	to.add(c)
	to.lengths[min(bits.Len64(c.lasted), len(to.lengths)-1)]++
	if object == 0 {
		return
	}
	if to.object != object {
		to.object, to.ofObject = object, p.byObject.of(objectKey{function, object}, p.instances)
	}
	if to.ofObject != nil {
		to.ofObject.add(c)
	} else {
		p.lost.instances++
	}
}

// A counter has the calls of a function that a caller has made of late on a goroutine. They are not
// in the sums yet.
type counter struct {
	block            *block
	function, caller uint32
	inner            bool
	tally
	sums     [3]*tally // nil: there are as many as there may be
	lengths  *lengths  // of all calls of the function
	object   uint64    // of the last call
	ofObject *tally    // its sum, or nil as above
}

// sumUp adds what a counter has to the sums.
func (p *pass) sumUp(c *counter) {
	for _, sum := range c.sums {
		switch {
		case c.count == 0:
		case sum != nil:
			sum.merge(&c.tally)
		default:
			p.lost.instances += int64(c.count)
		}
	}
	c.tally = tally{}
}

// sumUpAll does so with all counters.
func (p *pass) sumUpAll() {
	for i := range p.recent {
		p.sumUp(&p.recent[i])
	}
}

// lengths count calls by how long they took: those in i took fewer than 1<<i ticks.
type lengths [64]uint64

func (p *pass) lengthsOf(function uint32) *lengths {
	l := p.lengths[function]
	if l == nil {
		l = new(lengths)
		p.lengths[function] = l
	}
	return l
}

// ofCaller returns the sum of the calls that a caller makes. In a part only the inner ones are
// known.
func (p *pass) ofCaller(t *passThread, inner bool, function, caller uint32) *tally {
	if p.part && !inner {
		return t.block.outer.of(function, math.MaxInt32)
	}
	return p.byCaller.of([2]uint32{function, caller}, p.instances)
}

// ofThread returns the sum of a function's calls on a goroutine.
func (p *pass) ofThread(t *passThread, function uint32) *tally {
	n := len(t.sums.keys)
	sum := t.sums.of(function, n+max(0, p.instances-p.inThreads))
	if t.kept {
		p.inThreads += len(t.sums.keys) - n
	}
	return sum
}

// wait is a wait that has ended, or that was under way when the recording ended.
func (p *pass) wait(st *passStack, e *recording.Event) {
	t, w := p.thread(st), e.Wait()
	t.calls++
	row := Wait{Event: Event{Thread: t.ID, ID: t.calls, Level: int(e.Depth), Function: e.Function, Timed: true, Start: p.at(w.Begin)},
		Runnable: -1, Object: w.Object, Source: sourceOf(p.r, w.Site), Ender: Ender{w.Goroutine, w.Function, w.Call}, Operation: recording.Operation(w.Operation)}
	caller, lasted := uint32(0), e.Ticks-w.Begin
	if n := len(st.Calls); n > 0 {
		caller, row.Nesting = st.Calls[n-1].Function, st.Calls[n-1].Data.View.id
	}
	p.learn(st, t, e.Function, w.Object, w.Site)
	row.Others = e.Others()
	for _, channel := range row.Others {
		p.learn(st, t, e.Function, channel, w.Site)
	}
	if e.Call == 0 {
		row.Inside = true
		p.holders = append(p.holders, t.held...)
		t.held, t.block.waiting, t.block.since = nil, &row, w.Begin
		if !p.part {
			t.wait(t.block)
		}
		return
	}
	t.held = nil // it did not wait on
	p.w.Spend(st, lasted)
	row.EndID, row.End = t.calls, p.at(e.Ticks)
	waited := lasted
	if w.Ready != 0 {
		runnable := e.Ticks - w.Ready
		row.Runnable = p.since(runnable)
		waited -= runnable
	}
	bytes, _ := row.Operation.Bytes()
	p.count(t, len(st.Calls) > 0, e.Function, caller, w.Object, &counted{lasted: lasted, self: waited, bytes: bytes})
	*p.waits.add(&t.waits, t.block, e.Ticks) = row
}

// learn takes in that a goroutine waited for an object, by a kind of waits, at a site.
func (p *pass) learn(st *passStack, t *passThread, kind uint32, object uint64, site uint32) {
	p.objects.Place(kind, object, site)
	if object == 0 || p.learnt(st, t, object) || !p.part {
		return
	}
	if t.block.objects == nil {
		t.block.objects = map[uint64]bool{}
	}
	t.block.objects[object] = true
}

// learnt reports whether the parameters of the calls under way say what an object is called.
func (p *pass) learnt(st *passStack, t *passThread, object uint64) bool {
	args := t.args
	for i := len(st.Calls) - 1; i >= 0; i-- {
		if c := &st.Calls[i]; c.Data.View.layout != 0 {
			e := entry(c, args)
			args = args[:len(args)-len(e.Data)]
			if pointers := p.objects.Pointers(&e); p.objects.Learn(object, &pointers) {
				return true
			}
		}
	}
	return false
}

// blocked takes in who holds a lock that is waited for when the recording ends.
func (p *pass) blocked(st *passStack, e *recording.Event) {
	t, b := p.thread(st), e.Blocked()
	if b.Goroutine == 0 {
		return
	}
	t.held = append(t.held, heldAt{Holder{Object: b.Object, Mode: holdModes[b.Mode], Thread: b.Goroutine, Held: p.since(e.Ticks - b.Since), Function: b.Function, Call: b.Call}, p.at(e.Ticks)})
}

// holdersAtEnd returns who held the locks that were waited for when the recording ended, each once.
// One that began to wait after that was recorded may have let go of the lock.
func (p *pass) holdersAtEnd() (list []Holder) {
	for _, h := range p.holders {
		if t := p.threads[h.Thread]; t != nil && t.Waiting != nil && t.Waiting.Start > h.at {
			continue
		}
		if !slices.ContainsFunc(list, func(other Holder) bool {
			return other.Object == h.Object && other.Thread == h.Thread && other.Mode == h.Mode
		}) {
			list = append(list, h.Holder)
		}
	}
	return list
}

// holdModes says how a lock is held.
var holdModes = map[uint32]string{format.HoldMutex: "LOCK", format.HoldWrite: "WRITE", format.HoldRead: "READ"}

// since returns the length of a number of ticks.
func (p *pass) since(ticks uint64) int64 { return Picoseconds(p.clock.Between(0, ticks)) }

// at returns the time of ticks.
func (p *pass) at(ticks uint64) int64 { return Picoseconds(p.later + p.clock.Since(ticks)) }
