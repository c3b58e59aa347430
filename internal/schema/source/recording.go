package source

import (
	"cmp"
	"iter"
	"maps"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// RecordingOptions limit how much of a recording is read, and kept in memory. Where they are 0,
// that is all of it, and as much as a process keeps.
type RecordingOptions struct {
	History     int // calls of each thread
	HistoryLong int // calls of all
	Threads     int // threads; of those that have ended the oldest are left out
	Instances   int // rows of the summaries by thread, by caller and by instance, each
	Window      recording.Window
	// Later says how long after the moment from which times are counted the recording began; nil:
	// they are counted from its beginning. It is called when the recording is first needed.
	Later func() time.Duration
	// Keep means that what was found out about a large recording is kept in its directory.
	Keep bool
}

// later returns what Later says.
func (o *RecordingOptions) later() time.Duration {
	if o.Later == nil {
		return 0
	}
	return o.Later()
}

// recorded is a recording as a source. It is read-only.
type recorded struct {
	name    string
	r       *recording.Recording
	options RecordingOptions
	once    sync.Once
	snap    *Snapshot
	err     error
}

// OpenRecording opens the recording in a directory as a source. It is read through when it is first
// needed.
func OpenRecording(dir string, options RecordingOptions) (Source, error) {
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	options.History = cmp.Or(options.History, 10)
	options.HistoryLong = cmp.Or(options.HistoryLong, 10000)
	options.Threads = cmp.Or(options.Threads, 10000)
	options.Instances = cmp.Or(options.Instances, 100000)
	return &recorded{name: filepath.Base(filepath.Clean(dir)), r: r, options: options}, nil
}

func (s *recorded) Name() string { return s.name }

func (s *recorded) Alive() bool { return false }

func (s *recorded) Snapshot(live.Contents) (*Snapshot, error) {
	s.once.Do(func() { s.snap, s.err = s.pass() })
	return s.snap, s.err
}

// Timers returns the one timer of the recorded process that is known: the one that it used.
func (s *recorded) Timers() ([]Timer, error) {
	first, last := s.r.Clocks()
	frequency := int64(s.r.Env.Frequency)
	if d := last.Monotonic - first.Monotonic; d > 0 {
		frequency = int64(float64(last.Ticks-first.Ticks) / float64(d) * 1e9)
	}
	var timers []Timer
	for _, name := range TimerNames {
		t := Timer{Name: name}
		if name == timerOf(s.r) {
			t.Frequency, t.Resolution = frequency, 1
		}
		timers = append(timers, t)
	}
	return timers, nil
}

func (s *recorded) SetInstruments(map[uint32]Flags) error { return ErrReadOnly }
func (s *recorded) SetThreads(map[uint64]bool) error      { return ErrReadOnly }
func (s *recorded) SetConsumers(Consumers) error          { return ErrReadOnly }
func (s *recorded) Want(Consumers) error                  { return ErrReadOnly }
func (s *recorded) Look(map[uint32]bool) error            { return ErrReadOnly }
func (s *recorded) SetTimer(string) error                 { return ErrReadOnly }
func (s *recorded) SetBudget(int) error                   { return ErrReadOnly }
func (s *recorded) SetRules(RuleKind, []Rule) error       { return ErrReadOnly }
func (s *recorded) Truncate(Part) error                   { return ErrReadOnly }
func (s *recorded) Close() error                          { return nil }

// timerOf returns the name of the timer that a program used.
func timerOf(r *recording.Recording) string { return TimerNames[min(r.Timer, len(TimerNames)-1)] }

// A pass reads through a recording and does with its calls what the process would have done.
type pass struct {
	r        *recording.Recording
	options  RecordingOptions
	clock    recording.Converter
	later    time.Duration
	printer  *recording.Printer
	objects  *recording.Objects
	stacks   recording.Stacks[*passThread, passCall]
	threads  map[uint64]*passThread
	ended    []uint64 // threads that have ended, the oldest first
	long     ring[endedCall]
	waits    ring[Wait]
	spans    ring[Span]
	probes   ring[firedProbe]
	holders  []heldAt
	global   map[uint32]*tally
	ticks    uint64 // of the last event
	byCaller map[[2]uint32]*tally
	byObject map[objectKey]*tally
	inThread int // tallies of all threads
	lost     struct{ threads, instances, records int64 }

	statements statementPass
}

type objectKey struct {
	function uint32
	object   uint64
}

// passThread is what is kept of a goroutine.
type passThread struct {
	Thread
	calls   uint64 // number of calls and waits begun
	history ring[endedCall]
	waits   ring[Wait]
	tallies map[uint32]*tally
	seen    uint64            // ticks of the last of its events; of a wait under way at the end, when that began
	args    []byte            // of the calls under way
	texts   map[uint64]string // of spans under way whose text is a note, by ID
	held    []heldAt          // who holds the lock that is waited for at the end
}

// argsMax is the number of bytes that the parameters of a goroutine's calls under way may take.
// Calls beyond that have none. A stack overflow has millions of calls.
const argsMax = 16 << 20

// keep keeps the parameters with which a call begins.
func (t *passThread) keep(c *passCall, e *recording.Event) {
	if c.from = len(t.args); e.Layout != 0 && c.from+len(e.Data) <= argsMax {
		c.n, c.layout = len(e.Data), e.Layout
		t.args = append(t.args, e.Data...)
	}
}

// entry returns the event with which a call under way began, as far as its values are concerned.
func (t *passThread) entry(c *passCall) recording.Event {
	return recording.Event{Layout: c.layout, Data: t.args[c.from : c.from+c.n]}
}

// pop takes off the innermost call.
func (t *passThread) pop(st *recording.Stack[*passThread, passCall]) {
	t.args = t.args[:st.Calls[len(st.Calls)-1].Data.from]
	st.Pop()
}

// passCall is what is kept of a call under way. It has no pointers, so that it can be set aside.
type passCall struct {
	id, nesting uint64
	object      uint64
	inner       uint64 // ticks in calls that it made
	from, n     int    // where its parameters are among those of the thread
	layout      uint32
	pointers    recording.Pointers
}

// eventCopy is an event with values of its own.
type eventCopy struct {
	recording.Event
	buf []byte
}

func (c *eventCopy) set(e *recording.Event) {
	c.Event = *e
	c.buf = append(c.buf[:0], e.Data...)
	c.Data = c.buf
}

// endedCall is a call in a ring. Its values become text when the pass has ended.
type endedCall struct {
	thread   uint64
	call     passCall
	args     eventCopy
	function uint32
	level    int
	start    uint64
	endID    uint64
	fails    bool
	exit     eventCopy
}

// heldAt is who held a lock, and when that was recorded.
type heldAt struct {
	Holder
	at int64
}

// firedProbe is a static probe in a ring. Its arguments become text when the pass has ended.
type firedProbe struct {
	Span
	args eventCopy
}

// ring keeps the last calls or waits. It reuses the memory of its entries.
type ring[T any] struct {
	list []*T
	next int
}

// add returns the entry for what has ended, in a ring of n.
func (r *ring[T]) add(n int) *T {
	if len(r.list) < n {
		r.list = append(r.list, new(T))
		return r.list[len(r.list)-1]
	}
	c := r.list[r.next]
	r.next = (r.next + 1) % n
	return c
}

// all yields the entries, the oldest first.
func (r *ring[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range r.list {
			if !yield(r.list[(r.next+i)%len(r.list)]) {
				return
			}
		}
	}
}

// rows returns copies of the entries, the oldest first.
func (r *ring[T]) rows() (list []T) {
	for e := range r.all() {
		list = append(list, *e)
	}
	return list
}

// tally is a Summary in ticks.
type tally struct {
	count, sum, least, most, self, errors, panics, bytes uint64
	buckets                                              *[64]uint64
}

// counted is what a tally has of a call or wait.
type counted struct {
	lasted, self  uint64
	fails, panics bool
	bytes         uint64
}

func (t *tally) add(c counted) {
	if t.count == 0 || c.lasted < t.least {
		t.least = c.lasted
	}
	t.count++
	t.sum += c.lasted
	t.self += c.self
	t.most = max(t.most, c.lasted)
	t.bytes += c.bytes
	if c.fails {
		t.errors++
	}
	if c.panics {
		t.panics++
	}
	if t.buckets != nil {
		t.buckets[min(bits.Len64(c.lasted), 63)]++
	}
}

func newPass(r *recording.Recording, options RecordingOptions) *pass {
	statements := statementPass{connections: map[connectionKey]*connectionStatements{}, digests: map[string]*StatementSummary{}, events: map[string]*StatementSummary{}}
	return &pass{statements: statements, r: r, options: options, clock: r.Converter(), printer: r.Printer(recording.DefaultFormat), objects: r.Objects(), threads: map[uint64]*passThread{},
		global: map[uint32]*tally{}, byCaller: map[[2]uint32]*tally{}, byObject: map[objectKey]*tally{}, later: options.later()}
}

func (p *pass) run() (*Snapshot, error) {
	stream := p.r.Events(p.options.Window)
	defer stream.Close()
	var e recording.Event
	for stream.Next(&e) {
		p.event(&e)
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return p.snapshot(), nil
}

// thread returns the thread of an event, or one that is not kept if there are too many.
func (p *pass) thread(st *recording.Stack[*passThread, passCall]) *passThread {
	if st.Data != nil {
		return st.Data
	}
	t := &passThread{Thread: Thread{ID: st.Goroutine}}
	st.Data, st.Keep = t, true
	for len(p.threads) >= p.options.Threads && len(p.ended) > 0 {
		if old := p.threads[p.ended[0]]; old != nil {
			p.inThread -= len(old.tallies)
			delete(p.threads, p.ended[0])
			p.lost.threads++
		}
		p.ended = p.ended[1:]
	}
	if len(p.threads) >= p.options.Threads {
		p.lost.threads++
		return t
	}
	p.threads[t.ID] = t
	return t
}

func (p *pass) event(e *recording.Event) {
	p.ticks = max(p.ticks, e.Ticks)
	if e.Kind == recording.Lost {
		p.lost.records += int64(e.Call)
		return
	}
	st := p.stacks.Of(e)
	t := p.thread(st)
	if e.Enters() || e.Exits() || e.Kind == recording.Wait {
		for n := st.Unseen(e); n > 0; n-- {
			t.pop(st) // its end was not seen
		}
	}
	switch {
	case e.Kind == recording.GoroutineStart:
		t.Parent, t.Creator = e.Parent, e.Function
	case e.Kind == recording.GoroutineEnd:
		t.Ended, st.Keep = true, false
		p.ended = append(p.ended, t.ID)
	case e.Kind == recording.Probe:
		p.fired(st, t, e)
		p.statement(st, t, e)
	case e.Kind == recording.Wait:
		p.wait(st, t, e)
	case e.Kind == recording.Blocked:
		p.blocked(t, e)
		return
	case e.Enters():
		p.enter(st, t, e)
	case e.Kind == recording.Note && len(st.Calls) > 0:
		if c := &st.Calls[len(st.Calls)-1]; p.r.Function(c.Function).Span {
			if t.texts == nil {
				t.texts = map[uint64]string{}
			}
			t.texts[c.Data.id] = string(e.Data)
		}
	case e.Exits():
		if c := st.Ends(e); c != nil {
			p.exit(st, t, c, e)
			t.pop(st)
		}
	}
	t.seen = e.Ticks
	if e.Kind == recording.Wait && e.Call == 0 {
		t.seen = min(e.Wait().Begin, e.Ticks)
	}
	t.held = nil // if it did not wait on
}

func (p *pass) enter(st *recording.Stack[*passThread, passCall], t *passThread, e *recording.Event) {
	if t.Entry == 0 {
		t.Entry = e.Function
	}
	t.calls++
	nesting := uint64(0)
	if n := len(st.Calls); n > 0 {
		nesting = st.Calls[n-1].Data.id
	}
	c := st.Push(e)
	c.Data.id, c.Data.nesting, c.Data.object, c.Data.pointers = t.calls, nesting, p.object(e), p.objects.Pointers(e)
	t.keep(&c.Data, e)
}

// object returns the address of a method's receiver, if it is a pointer: the first value.
func (p *pass) object(e *recording.Event) uint64 {
	f := p.r.Function(e.Function)
	if e.Layout == 0 || len(f.Params) == 0 || !(&Function{Name: f.Name}).Receives() {
		return 0
	}
	address, _ := p.printer.Address(e)
	return address
}

func (p *pass) exit(st *recording.Stack[*passThread, passCall], t *passThread, c *recording.Call[passCall], e *recording.Event) {
	lasted := e.Ticks - c.Start
	self := lasted - min(lasted, c.Data.inner)
	if c.AtEnd {
		self = 0 // its own time counts as that of the call around it
	}
	panics := e.Kind == recording.ExitPanic
	fails := e.Kind == recording.ExitResults && p.fails(e)
	caller := uint32(0)
	if n := len(st.Calls); n > 1 {
		if !c.AtEnd {
			st.Calls[n-2].Data.inner += lasted
		}
		caller = st.Calls[n-2].Function
	}
	p.count(t, e.Function, caller, c.Data.object, counted{lasted: lasted, self: self, fails: fails, panics: panics})
	entry := t.entry(&c.Data)
	if f := p.r.Function(e.Function); f != nil && f.Span {
		row := p.span(t, c, f)
		row.Inside, row.EndID, row.End, row.Failed, row.Panicked = false, t.calls, p.at(e.Ticks), fails, panics
		for _, v := range p.printer.Values(e, f.Results) {
			if v.Name == "status" {
				row.Status, _ = strconv.Atoi(v.Text)
			}
		}
		row.Message = plainError(outcome(p.printer, f, e, fails).Error.String)
		delete(t.texts, c.Data.id)
		*p.spans.add(p.options.HistoryLong) = row
		return
	}
	for _, slot := range []*endedCall{t.history.add(p.options.History), p.long.add(p.options.HistoryLong)} {
		slot.call = c.Data
		slot.args.set(&entry)
		slot.thread, slot.function, slot.level, slot.start, slot.endID, slot.fails = t.ID, e.Function, int(c.Depth), c.Start, t.calls, fails
		slot.exit.set(e)
	}
}

// span returns the row of a span under way.
func (p *pass) span(t *passThread, c *recording.Call[passCall], f *recording.Function) Span {
	row := Span{Event: Event{Thread: t.ID, ID: c.Data.id, Nesting: c.Data.nesting, Level: int(c.Depth), Function: c.Function, Timed: true, Inside: true, Start: p.at(c.Start)}}
	entry := t.entry(&c.Data)
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
	if text := t.texts[c.Data.id]; text != "" {
		row.Text = text
	}
	return row
}

// fired is a static probe that fired.
func (p *pass) fired(st *recording.Stack[*passThread, passCall], t *passThread, e *recording.Event) {
	t.calls++
	slot := p.probes.add(p.options.HistoryLong)
	slot.Span = Span{Event: Event{Thread: t.ID, ID: t.calls, EndID: t.calls, Level: int(e.Depth), Function: e.Function, Timed: true, Start: p.at(e.Ticks), End: p.at(e.Ticks)}}
	slot.args.set(e)
	caller := uint32(0)
	if n := len(st.Calls); n > 0 {
		slot.Nesting, caller = st.Calls[n-1].Data.id, st.Calls[n-1].Function
	}
	p.count(t, e.Function, caller, 0, counted{})
}

// count adds a call or wait to the tallies.
func (p *pass) count(t *passThread, function, caller uint32, object uint64, c counted) {
	g := p.global[function]
	if g == nil {
		g = &tally{buckets: new([64]uint64)}
		p.global[function] = g
	}
	g.add(c)
	count(p, p.byCaller, len(p.byCaller), [2]uint32{function, caller}, c)
	if object != 0 {
		count(p, p.byObject, len(p.byObject), objectKey{function, object}, c)
	}
	if t.tallies == nil {
		t.tallies = map[uint32]*tally{}
	}
	if count(p, t.tallies, p.inThread, function, c) && p.threads[t.ID] == t {
		p.inThread++
	}
}

// wait is a wait that has ended, or that was under way when the recording ended.
func (p *pass) wait(st *recording.Stack[*passThread, passCall], t *passThread, e *recording.Event) {
	w := e.Wait()
	t.calls++
	row := Wait{Event: Event{Thread: t.ID, ID: t.calls, Level: int(e.Depth), Function: e.Function, Timed: true, Start: p.at(w.Begin)},
		Runnable: -1, Object: w.Object, Source: sourceOf(p.r, w.Site), Ender: Ender{w.Goroutine, w.Function, w.Call}, Operation: recording.Operation(w.Operation)}
	caller, lasted := uint32(0), e.Ticks-min(w.Begin, e.Ticks)
	if n := len(st.Calls); n > 0 {
		around := &st.Calls[n-1]
		row.Nesting, caller = around.Data.id, around.Function
		if e.Call != 0 {
			around.Data.inner += lasted
		}
	}
	p.learn(st, e.Function, w.Object, w.Site)
	row.Others = e.Others()
	for _, channel := range row.Others {
		p.learn(st, e.Function, channel, w.Site)
	}
	if e.Call == 0 {
		row.Inside = true
		t.Waiting, p.holders = &row, append(p.holders, t.held...)
		return
	}
	row.EndID, row.End = t.calls, p.at(e.Ticks)
	waited := lasted
	if w.Ready != 0 {
		runnable := e.Ticks - min(w.Ready, e.Ticks)
		row.Runnable = p.since(runnable)
		waited -= min(runnable, lasted)
	}
	bytes, _ := row.Operation.Bytes()
	p.count(t, e.Function, caller, w.Object, counted{lasted: lasted, self: waited, bytes: bytes})
	*t.waits.add(p.options.History), *p.waits.add(p.options.HistoryLong) = row, row
}

// learn takes in that a goroutine waited for an object, by a kind of waits, at a site.
func (p *pass) learn(st *recording.Stack[*passThread, passCall], kind uint32, object uint64, site uint32) {
	p.objects.Place(kind, object, site)
	for i := len(st.Calls) - 1; i >= 0 && object != 0; i-- {
		if p.objects.Learn(object, &st.Calls[i].Data.pointers) {
			break
		}
	}
}

// blocked takes in who holds a lock that is waited for when the recording ends.
func (p *pass) blocked(t *passThread, e *recording.Event) {
	b := e.Blocked()
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

// count adds a call to the tally of a key. If there is none it makes one and reports that, unless
// there are as many as there may be.
func count[K comparable](p *pass, tallies map[K]*tally, there int, key K, c counted) bool {
	t := tallies[key]
	isNew := t == nil
	if isNew {
		if there >= p.options.Instances {
			p.lost.instances++
			return false
		}
		t = new(tally)
		tallies[key] = t
	}
	t.add(c)
	return isNew
}

// fails reports whether the last result is an error that is not nil.
func (p *pass) fails(e *recording.Event) bool { return p.printer.Fails(e, p.r.Function(e.Function)) }

// snapshot makes the tables from what was counted.
func (p *pass) snapshot() *Snapshot {
	s := &Snapshot{
		Process:   Process{p.r.Process.PID, p.r.Process.Executable, p.r.Process.Args, p.r.Process.Release, p.r.Process.Start, "RECORDED"},
		Consumers: EveryConsumer &^ LockHolders, Timer: timerOf(p.r), Actors: []Rule{everyActor}, Objects: []Rule{everyObject},
		Lost: []Counter{{"thread_instances_lost", p.lost.threads}, {"summary_instances_lost", p.lost.instances + p.statements.lost}, {"records_lost", p.lost.records}},
		Limits: append(historySizes(p.options.History, p.options.HistoryLong, p.options.HistoryLong, p.options.HistoryLong),
			Counter{"max_thread_instances", int64(p.options.Threads)}, Counter{"max_summary_instances", int64(p.options.Instances)}),
	}
	s.History = p.options.History
	_, last := p.r.Clocks()
	leftOut := map[uint32]recording.LeftOut{}
	for _, l := range p.r.LeftOut(last.Ticks) {
		leftOut[l.Function] = l
	}
	s.Lost = append(s.Lost, Counter{LeftOut, int64(len(leftOut))})
	s.known(p.r, p.objects, p.statements.snapshot(), p.holdersAtEnd())
	var byThread, byCaller, byInstance []Summary
	s.ByThread, s.ByCaller, s.ByInstance = func() []Summary { return byThread }, func() []Summary { return byCaller }, func() []Summary { return byInstance }
	for i := range s.Buckets {
		s.Buckets[i] = p.since(1 << i)
	}
	s.Buckets[63] = 1<<63 - 1
	for _, f := range p.r.Functions() {
		s.add(f, Flags{p.global[f.Key] != nil, true})
	}
	current := map[uint64][]Call{}
	for _, st := range p.stacks.Every() {
		for i := range st.Calls { // of a very deep stack only the inner ones
			if f := p.r.Function(st.Calls[i].Function); f != nil && f.Span {
				s.Spans = append(s.Spans, p.span(st.Data, &st.Calls[i], f))
				continue
			}
			call := p.inside(st.Data, &st.Calls[i])
			until := st.Data.seen
			if i+1 < len(st.Calls) {
				until = st.Calls[i+1].Start
			}
			lasted := until - min(st.Calls[i].Start, until)
			call.Self = p.since(lasted - min(lasted, st.Calls[i].Data.inner))
			current[st.Goroutine] = append(current[st.Goroutine], call)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.threads)) {
		t := p.threads[id]
		t.Current = current[id]
		t.History = p.calls(&t.history)
		t.Waits = t.waits.rows()
		s.Threads = append(s.Threads, t.Thread)
		for _, key := range slices.Sorted(maps.Keys(t.tallies)) {
			byThread = append(byThread, p.summary(t.tallies[key], Summary{Function: key, Thread: id}))
		}
	}
	s.Spans = append(s.Spans, p.spans.rows()...)
	slices.SortStableFunc(s.Spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	for f := range p.probes.all() {
		args := p.values(&f.args.Event, p.r.Function(f.Function).Params)
		f.Args = func() Text { return args }
		s.Fired = append(s.Fired, f.Span)
	}
	s.Long, s.LongWaits, s.Now = p.calls(&p.long), p.waits.rows(), p.at(p.ticks)
	for _, key := range slices.Sorted(maps.Keys(p.global)) {
		s.Global = append(s.Global, p.summary(p.global[key], Summary{Function: key}).with(leftOut[key]))
	}
	for _, key := range slices.SortedFunc(maps.Keys(p.byCaller), func(a, b [2]uint32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		byCaller = append(byCaller, p.summary(p.byCaller[key], Summary{Function: key[0], Caller: key[1]}))
	}
	for _, key := range slices.SortedFunc(maps.Keys(p.byObject), func(a, b objectKey) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.object, b.object))
	}) {
		byInstance = append(byInstance, p.summary(p.byObject[key], Summary{Function: key.function, Object: key.object}))
	}
	return s
}

// Rules that choose everything.
var (
	everyActor  = Rule{[3]string{"%", "%"}, Flags{true, true}}
	everyObject = Rule{[3]string{"%", "%", "%"}, Flags{true, true}}
)

// since returns the length of a number of ticks.
func (p *pass) since(ticks uint64) int64 { return Picoseconds(p.clock.Between(0, ticks)) }

// at returns the time of ticks.
func (p *pass) at(ticks uint64) int64 { return Picoseconds(p.later + p.clock.Since(ticks)) }

func (p *pass) summary(t *tally, s Summary) Summary {
	s.Count, s.Timed, s.Errors, s.Panics, s.Bytes = t.count, t.count, t.errors, t.panics, t.bytes
	if t.buckets != nil {
		s.Buckets = t.buckets[:]
	}
	s.Sum, s.Min, s.Max, s.Self = p.since(t.sum), p.since(t.least), p.since(t.most), p.since(t.self)
	return s
}

// with returns the summary of a function with the calls of it that were left out.
func (s Summary) with(l recording.LeftOut) Summary {
	s.Count += l.Calls
	s.Errors += l.Failed
	s.LeftOut, s.More = l.Calls, l.More
	return s
}

// inside returns the row of a call under way.
func (p *pass) inside(t *passThread, c *recording.Call[passCall]) Call {
	entry := t.entry(&c.Data)
	v := &Values{Object: c.Data.object, Args: p.values(&entry, p.r.Function(c.Function).Params)}
	return Call{Event: Event{Thread: t.ID, ID: c.Data.id, Nesting: c.Data.nesting, Level: int(c.Depth), Function: c.Function, Timed: true, Inside: true, Start: p.at(c.Start)},
		Values: func() *Values { return v }}
}

// calls returns the rows of the calls in a ring, the oldest first.
func (p *pass) calls(r *ring[endedCall]) []Call {
	var calls []Call
	for c := range r.all() {
		calls = append(calls, p.call(c))
	}
	return calls
}

func (p *pass) call(c *endedCall) Call {
	f := p.r.Function(c.function)
	v := outcome(p.printer, f, &c.exit.Event, c.fails)
	v.Object, v.Args = c.call.object, p.values(&c.args.Event, f.Params)
	return Call{Event: Event{Thread: c.thread, ID: c.call.id, EndID: c.endID, Nesting: c.call.nesting, Level: c.level, Function: c.function, Timed: true, Start: p.at(c.start), End: p.at(c.exit.Ticks)},
		Panicked: c.exit.Kind == recording.ExitPanic, Failed: c.fails, Values: func() *Values { return v }}
}

// outcome returns the values with which a call ended. fails means that the last of them is an error
// that is not nil.
func outcome(printer *recording.Printer, f *recording.Function, exit *recording.Event, fails bool) *Values {
	v := &Values{}
	switch exit.Kind {
	case recording.ExitPanic:
		v.Error = Text{string(printer.AppendPanic(nil, 0, exit)), true}
	case recording.ExitResults:
		if exit.Layout == 0 {
			break
		}
		v.Results = Text{string(printer.Append(nil, 0, exit, f.Results)), true}
		if !fails {
			break
		}
		if list := printer.Values(exit, f.Results); len(list) > 0 {
			v.Error = Text{list[len(list)-1].Text, true}
		}
	}
	return v
}

func (p *pass) values(e *recording.Event, names []recording.Param) Text {
	return valuesOf(p.printer, e, names)
}

// valuesOf returns the values of an event as text.
func valuesOf(printer *recording.Printer, e *recording.Event, names []recording.Param) Text {
	if e.Layout == 0 {
		return Text{}
	}
	return Text{string(printer.Append(nil, 0, e, names)), true}
}
