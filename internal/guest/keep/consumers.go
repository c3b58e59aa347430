//go:build ftrace_core

// What is kept of calls in memory while functions are armed: each goroutine's calls under way and
// last calls (history), the last calls of all (history long), and a summary of each function. They
// are called consumers, as in WL#2360. Each can be switched at any time, also from outside.
//
// The goroutine that calls writes everything, to memory of its own or of its processor, where it is
// held meanwhile. So nothing is locked, and nothing allocated. What has ended is kept in two
// halves, so that others can read one while the other is written to, see keep/cut.go.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// Some of the consumers.
const (
	ftraceConsumersUsual = ftrace_format_ConsumerCurrent | ftrace_format_ConsumerHistory |
		ftrace_format_ConsumerHistoryLong | ftrace_format_ConsumerSummary
	// See keep/tallies.go.
	ftraceConsumersTallies = ftrace_format_ConsumerGoroutines | ftrace_format_ConsumerCallers | ftrace_format_ConsumerReceivers
)

var ftraceConsumerNames = [...]string{"history", "history_long", "summary", "by_goroutine", "by_caller", "by_receiver", "current"}

// ftraceAskedConsumers is FTRACE_CONSUMERS.
var ftraceAskedConsumers struct {
	set    bool
	wanted uint32
}

// ftraceConsumersOr returns what FTRACE_CONSUMERS wants, or the usual if it is not set.
func ftraceConsumersOr(usual uint32) uint32 {
	if ftraceAskedConsumers.set {
		return ftraceAskedConsumers.wanted
	}
	return usual
}

// ftraceParseConsumers reads FTRACE_CONSUMERS: all, none, or some.
func ftraceParseConsumers(s string) {
	ftraceAskedConsumers.set = s != ""
	wanted := &ftraceAskedConsumers.wanted
	if s == "all" {
		*wanted = ftrace_format_ConsumersAll
	}
	for s != "" && s != "all" && s != "none" {
		var item string
		item, s = ftraceItem(s)
		known := false
		for i, name := range ftraceConsumerNames {
			if item == name {
				*wanted |= 1 << i
				known = true
			}
		}
		if !known {
			ftraceComplain("FTRACE_CONSUMERS: " + item + " is none of current, history, history_long, summary, by_goroutine, by_caller, by_receiver, all, none")
		}
	}
}

// ftraceCall is a call that has ended, in a history.
type ftraceCall struct {
	_ sys.NotInHeap
	ftrace_format_Call
}

// ftraceSummary is the summary of all calls of a function on a processor.
type ftraceSummary struct {
	_ sys.NotInHeap
	ftrace_format_Summary
}

// ftraceHistoryAhead is how far ahead the processor is told to fetch memory of the long history.
// That is so large that its next part is no longer in the caches when its turn comes.
const ftraceHistoryAhead = 256

// ftraceConsumers returns the consumers that are on.
//
//go:nosplit
func ftraceConsumers() uint32 {
	if h := ftraceMemory.head; h != nil {
		return atomic.Load(&h.Consumers)
	}
	return 0
}

// ftraceConsumeEntry notes that the call of the topmost frame begins.
func ftraceConsumeEntry(gp *g, t *ftraceG, frame *ftraceFrame, args []any) {
	f := frame.fn.ptr()
	records := ftraceRecording.on
	if !records && ftraceConsumers() == 0 {
		return
	}
	var layout *ftraceLayout
	if records && len(args) > 0 && frame.clause.ptr().Detail >= ftrace_rule_Args {
		if frame.clause.ptr().Capture != "" {
			ftraceConsumeEntryPaths(gp, t, frame, args)
			return
		}
		layout = f.entryLayouts.find(args, ftraceLayoutFlags(frame.clause.ptr()), nil, len(args))
	}
	ftraceRecordEntry(gp, t, frame, layout, args)
}

// ftraceConsumeEntryPaths is ftraceConsumeEntry with what paths lead to after the parameters.
//
//go:noinline
func ftraceConsumeEntryPaths(gp *g, t *ftraceG, frame *ftraceFrame, args []any) {
	var room [ftraceValuesMax]any
	paths := ftracePaths{f: frame.fn.ptr(), text: frame.clause.ptr().Capture, redaction: frame.clause.ptr().Own}
	values := paths.follow((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), args, false)
	own := min(len(args), len(room))
	ftraceRecordEntry(gp, t, frame, frame.fn.ptr().entryLayouts.find(values, ftraceLayoutFlags(frame.clause.ptr()), &paths, own), values)
}

// ftraceRecordEntry notes that the call of frame begins, with values if there is a layout.
func ftraceRecordEntry(gp *g, t *ftraceG, frame *ftraceFrame, layout *ftraceLayout, args []any) {
	f, records := frame.fn.ptr(), ftraceRecording.on
	t.events++
	frame.Event = t.events
	if f.flags&ftraceReceives != 0 && len(args) > 0 && args[0] != nil {
		frame.Object = uint64(uintptr(efaceOf(&args[0]).data))
	}
	mp := acquirem()
	w := ftraceWriterOf(mp)
	if w != nil {
		if f.flags&ftrace_format_FrameNotTimed != 0 {
			frame.Flags |= ftrace_format_FrameNotTimed
		}
		frame.Place = ftrace_format_Place{w.now(t, frame.Flags), ftrace_format_Nowhere}
		if records && w.room(mp) {
			w.first(gp, t)
			frame.Place = w.entry(gp, frame, frame.shown, frame.Flags&ftrace_format_FrameNotTimed != 0, layout, args)
			t.last = w.last // which is later if a chunk was begun
		}
	}
	releasem(mp)
}

// now returns the ticks at which something is noted that happens on the processor. They never go
// back in what the processor notes, nor in what the goroutine does. The timer is not read for a
// call that is not timed.
func (w *ftraceWriter) now(t *ftraceG, flags uint32) uint64 {
	switch {
	case flags&ftrace_format_FrameNotTimed != 0:
		w.last = max(w.last, t.last+1)
	case ftraceTimer == ftrace_format_TimerCycle:
		w.last = max(w.last, ftraceCycles())
	default:
		w.last = max(w.last, ftraceReadTimer(ftraceTimer))
	}
	return w.follow(t).last
}

// ftraceConsumeExit notes that the call of the topmost frame ends: by p, by the panic that was
// recovered, or with results.
func ftraceConsumeExit(gp *g, t *ftraceG, frame *ftraceFrame, results []any, p *_panic) {
	f := frame.fn.ptr()
	records, on := ftraceRecording.on, ftraceConsumers()
	if f.flags&ftraceIsSpan != 0 {
		on &^= ftrace_format_ConsumerHistory | ftrace_format_ConsumerHistoryLong // it is among the spans
	}
	switch {
	case frame.Place.Ticks == 0:
		return // nothing was kept when the call began
	case on&^ftrace_format_ConsumerCurrent == 0 && !records && (on == 0 || frame.Cut == atomic.Load(&ftraceCuts)):
		return // nothing is kept of calls that have ended
	}
	mp := acquirem()
	w := ftraceWriterOf(mp)
	if w == nil {
		releasem(mp)
		return
	}
	now := w.now(t, frame.Flags)
	exit := ftrace_format_Place{0, ftrace_format_Nowhere}
	if records && w.room(mp) {
		exit = w.exit(gp, mp, frame, frame.clause.ptr(), frame.shown, results, p)
		t.last = w.last
	}
	if on != 0 {
		ftraceConsume(gp, t, w, frame, ftraceOutcome(f, frame, results, p), on, now, exit.Where)
		frame.Flags |= ftrace_format_FrameEnded // before a cut can be made: the frame is there until its line is written
	}
	releasem(mp)
}

// ftraceOutcome says how the call ended.
func ftraceOutcome(f *ftraceFunc, frame *ftraceFrame, results []any, p *_panic) (flags uint32) {
	switch {
	case p != nil && p.goexit:
		flags = ftrace_format_CallGoexit
	case p != nil || frame.Flags&ftrace_format_FramePanicked != 0:
		flags = ftrace_format_CallPanicked
	case f.flags&ftraceMayFail != 0 && len(results) > 0:
		last := efaceOf(&results[len(results)-1])
		failed := last._type != nil
		if failed && frame.Flags&ftrace_format_FrameAtReturns == 0 { // it is a pointer to the result
			failed = *(*unsafe.Pointer)(last.data) != nil
		}
		if failed {
			flags = ftrace_format_CallFailed
		}
	}
	if frame.Flags&ftrace_format_FrameReplaced != 0 {
		flags |= ftrace_format_CallReplaced
	}
	return flags
}

// ftraceConsume passes the call of frame, which has just ended, to the consumers that are on. The
// goroutine does not leave its processor meanwhile.
//
//go:nosplit
func ftraceConsume(gp *g, t *ftraceG, w *ftraceWriter, frame *ftraceFrame, outcome, on uint32, now, where uint64) {
	cut := atomic.Load(&ftraceCuts) // once, so that either all know of the call or none does
	lasted := now - frame.Place.Ticks
	around := t.around()
	if around != nil && frame.Flags&(ftrace_format_FrameNotTimed|ftrace_format_FrameAtEnd) == 0 {
		around.Within += lasted
	}
	if on&^(ftrace_format_ConsumerSummary|ftrace_format_ConsumerCurrent) != 0 || frame.Cut != cut {
		nesting, exit := uint64(0), ftrace_format_Place{now, where}
		if around != nil {
			nesting = around.Event
		}
		if on&ftraceConsumersTallies != 0 || on&ftrace_format_ConsumerHistory != 0 && t.history == nil || frame.Cut != cut {
			mp := acquirem()
			ftraceConsumeMore(gp, t, w, frame, around, outcome, on, cut, nesting, exit)
			releasem(mp)
		}
		if end := uintptr(w.ownEnd); on&ftrace_format_ConsumerHistory != 0 && t.history != nil && end != 0 {
			c := (*ftraceCall)(add(t.history, uintptr(cut&1)*end+uintptr(t.nextCall)))
			c.fill(gp, t, frame, outcome, nesting, exit)
			if t.nextCall += uint32(unsafe.Sizeof(*c)); uintptr(t.nextCall) == end {
				t.nextCall = 0
			}
			t.calls++
			c.Number = t.calls
		}
		if on&ftrace_format_ConsumerHistoryLong != 0 && w.history != nil {
			c := (*ftraceCall)(add(w.history, uintptr(cut&1)*w.halfSize+w.nextCall))
			sys.Prefetch(uintptr(unsafe.Pointer(c)) + ftraceHistoryAhead)
			sys.Prefetch(uintptr(unsafe.Pointer(c)) + ftraceHistoryAhead + 64)
			c.fill(gp, t, frame, outcome, nesting, exit)
			if w.nextCall += unsafe.Sizeof(*c); w.nextCall == w.historyEnd {
				w.nextCall = 0
			}
			w.calls++
			c.Number = w.calls
		}
	}
	if on&ftrace_format_ConsumerSummary != 0 && w.summaries != nil {
		w.summarize(frame, outcome, cut, lasted)
	}
}

// summarize adds the call of frame to the summary of its function.
//
//go:nosplit
func (w *ftraceWriter) summarize(frame *ftraceFrame, outcome, cut uint32, lasted uint64) {
	if frame.Key >= w.summariesMax {
		return // head.Lost.Functions counts such functions
	}
	s := (*ftraceSummary)(add(w.summaries, uintptr(cut&1)*w.halfSize+uintptr(frame.Key)*unsafe.Sizeof(ftraceSummary{})))
	s.Count++
	if frame.Flags&ftrace_format_FrameNotTimed == 0 {
		s.Sum += lasted
		if s.Min == 0 || lasted < s.Min {
			s.Min = lasted
		}
		if lasted > s.Max {
			s.Max = lasted
		}
		s.Self += lasted - min(lasted, frame.Within)
		s.Log2[min(sys.Len64(lasted), ftrace_format_Log2-1)]++
	}
	if outcome != 0 {
		if outcome&ftrace_format_CallFailed != 0 {
			s.Errors++
		} else if outcome&ftrace_format_CallPanicked != 0 {
			s.Panics++
		}
		if outcome&ftrace_format_CallWait != 0 {
			s.Bytes += w.bytes
		}
	}
}

// sumLeftOut adds n calls that are left out to keep within the budget to the summary of f, if they
// belong there.
//
//go:nosplit
func (f *ftraceFunc) sumLeftOut(n uint64) {
	if atomic.Load(&f.leftOut)&ftraceSummed == 0 {
		return
	}
	if s := f.summary(); s != nil {
		s.Count += n
		s.LeftOut += n
	}
}

// sumHidden adds a call that is not shown, to keep within the limit of lines, to the summary of f.
//
//go:nosplit
func (f *ftraceFunc) sumHidden() {
	if s := f.summary(); s != nil {
		s.Count++
		s.LeftOut++
	}
}

// sumUncounted notes in the summary of f that calls of it are no longer counted.
//
//go:nosplit
func (f *ftraceFunc) sumUncounted() {
	if s := f.summary(); s != nil && atomic.Load(&f.leftOut)&ftraceSummed != 0 {
		s.Uncounted = 1
	}
}

// sumFailed adds a call that failed to the summary of f, which has counted it as left out.
//
//go:nosplit
func (f *ftraceFunc) sumFailed() {
	if s := f.summary(); s != nil && atomic.Load(&f.leftOut)&ftraceSummed != 0 {
		s.Errors++
	}
}

// summary returns the summary of f on this processor, or nil if there is none. The caller must not
// leave the processor while it uses it.
//
//go:nosplit
func (f *ftraceFunc) summary() *ftraceSummary {
	w := getg().m.p.ptr().ftrace
	if w == nil || w.summaries == nil || f.key >= w.summariesMax || ftraceConsumers()&ftrace_format_ConsumerSummary == 0 {
		return nil
	}
	return (*ftraceSummary)(add(w.summaries, uintptr(atomic.Load(&ftraceCuts)&1)*w.halfSize+uintptr(f.key)*unsafe.Sizeof(ftraceSummary{})))
}

// ftraceConsumeMore does what is rarely needed. It updates the summaries by something else than the
// function, gives the goroutine a history, and keeps calls that were under way at a cut. around is
// the frame of the call around it, or nil.
func ftraceConsumeMore(gp *g, t *ftraceG, w *ftraceWriter, frame, around *ftraceFrame, outcome, on, cut uint32, nesting uint64, exit ftrace_format_Place) {
	if on&ftraceConsumersTallies != 0 {
		w.half = uintptr(cut&1) * w.halfSize
		ftraceTallies(t, w, frame, around, outcome, on, exit.Ticks-frame.Place.Ticks)
	}
	if on&ftrace_format_ConsumerHistory != 0 && t.history == nil && !t.lost && w.ownEnd != 0 {
		t.history, t.historyAt = ftraceShared(2 * uintptr(w.ownEnd))
		t.lost = t.history == nil
	}
	if frame.Cut != cut && w.crossings != nil {
		w.cross(cut).fill(gp, t, frame, outcome, nesting, exit)
		ftraceStore64(&w.crossed, w.crossed+1)
	}
}

// ftraceTallies adds a call to the tables that are on.
func ftraceTallies(t *ftraceG, w *ftraceWriter, frame, around *ftraceFrame, outcome, on uint32, lasted uint64) {
	if on&ftrace_format_ConsumerGoroutines != 0 {
		w.tally(ftrace_format_ByGoroutine, t.goroutine, t, frame, outcome, lasted)
	}
	if on&ftrace_format_ConsumerCallers != 0 {
		caller := uint64(0)
		if around != nil {
			caller = uint64(around.Key)
		}
		w.tally(ftrace_format_ByCaller, caller, t, frame, outcome, lasted)
	}
	if on&ftrace_format_ConsumerReceivers != 0 && frame.Object != 0 {
		w.tally(ftrace_format_ByReceiver, frame.Object, t, frame, outcome, lasted)
	}
}

// around returns the innermost noted call around the topmost, or nil.
//
//go:nosplit
func (t *ftraceG) around() *ftraceFrame { return t.notedFrom(t.depth - 2) }

// notedFrom returns the first noted call of frame i and those below it, or nil if none is noted.
//
//go:nosplit
func (t *ftraceG) notedFrom(i int32) *ftraceFrame {
	for ; i >= 0; i-- {
		if frame := t.frame(i); frame.Event != 0 {
			return frame
		}
	}
	return nil
}

//go:nosplit
func (c *ftraceCall) fill(gp *g, t *ftraceG, frame *ftraceFrame, outcome uint32, nesting uint64, exit ftrace_format_Place) {
	c.Key, c.Flags, c.Goroutine = frame.Key, outcome, gp.goid
	c.Start, c.End = frame.Place.Ticks, exit.Ticks
	if frame.Flags&ftrace_format_FrameNotTimed != 0 {
		c.Start = 0
	}
	c.Event, c.Nesting, c.Last, c.Count = frame.Event, nesting, t.events, frame.Count
	c.Entry, c.Exit, c.Object, c.Depth = frame.Place, exit, frame.Object, uint32(frame.shown)
}
