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

// The consumers.
const (
	ftraceConsumerHistory = 1 << iota
	ftraceConsumerHistoryLong
	ftraceConsumerSummary
	ftraceConsumerGoroutines // see keep/tallies.go
	ftraceConsumerCallers
	ftraceConsumerReceivers
	ftraceConsumerCurrent  // calls under way, which are kept too while another consumer is on
	ftraceConsumersAll     = 1<<iota - 1
	ftraceConsumersUsual   = ftraceConsumerCurrent | ftraceConsumerHistory | ftraceConsumerHistoryLong | ftraceConsumerSummary
	ftraceConsumersTallies = ftraceConsumerGoroutines | ftraceConsumerCallers | ftraceConsumerReceivers
)

var ftraceConsumerNames = [...]string{"history", "history_long", "summary", "by_goroutine", "by_caller", "by_receiver", "current"}

// ftraceParseConsumers reads FTRACE_CONSUMERS: all, none, or some.
func ftraceParseConsumers(s string, wanted uint32) uint32 {
	switch s {
	case "":
		return wanted
	case "all":
		return ftraceConsumersAll
	case "none":
		return 0
	}
	wanted = 0
	for s != "" {
		var item string
		item, s = ftraceItem(s)
		known := false
		for i, name := range ftraceConsumerNames {
			if item == name {
				wanted |= 1 << i
				known = true
			}
		}
		if !known {
			ftraceComplain("FTRACE_CONSUMERS: " + item + " is none of current, history, history_long, summary, by_goroutine, by_caller, by_receiver, all, none")
		}
	}
	return wanted
}

// ftraceCall is a call that has ended, in a history. Readers know it byte for byte.
type ftraceCall struct {
	_         sys.NotInHeap
	number    uint64 // 1 + the number of calls put into this history before
	key       uint32
	flags     uint32 // ftraceCall...
	goroutine uint64
	start     uint64      // ticks; 0: it was not timed
	end       uint64      // ticks; if it was not timed they only tell the order
	event     uint64      // number of the call on its goroutine, from 1
	nesting   uint64      // number of the call around it, 0 if there is none
	last      uint64      // number of the last call on its goroutine when it ended
	count     uint64      // it was the nth call of the function
	entry     ftracePlace // its records, if there are any
	exit      ftracePlace
	object    uint64 // the receiver's address if it is a pointer
	depth     uint32 // number of calls around it
	cut       uint32 // of a call that was under way at a cut: the number of cuts when it ended
}

const (
	ftraceCallPanicked = 1 << iota
	ftraceCallGoexit
	ftraceCallFailed // its last result was an error that is not nil
	ftraceCallReplaced
)

// ftraceSummary is the summary of all calls of a function on a processor. Readers know it byte for
// byte.
type ftraceSummary struct {
	_              sys.NotInHeap
	count          uint64
	sum, min, max  uint64 // ticks, of the calls that were timed
	self           uint64 // ticks, without those of armed functions called within it
	errors, panics uint64
	log2           [ftraceLog2]uint64 // by the number of bits of the ticks; the last one also has what is longer
}

const ftraceLog2 = 48

// ftraceHistoryAhead is how far ahead the processor is told to fetch memory of the long history.
// That is so large that its next part is no longer in the caches when its turn comes.
const ftraceHistoryAhead = 256

// ftraceConsumers returns the consumers that are on.
//
//go:nosplit
func ftraceConsumers() uint32 {
	if h := ftraceMemory.head; h != nil {
		return atomic.Load(&h.consumers)
	}
	return 0
}

// ftraceConsumeEntry notes that the call of frame, the topmost, begins.
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
	frame.event = t.events
	if f.flags&ftraceReceives != 0 && len(args) > 0 && args[0] != nil {
		frame.object = uint64(uintptr(efaceOf(&args[0]).data))
	}
	mp := acquirem()
	w := ftraceWriterOf(mp)
	if w != nil {
		if f.flags&ftraceNotTimed != 0 {
			frame.flags |= ftraceNotTimed
		}
		frame.place = ftracePlace{w.now(t, frame.flags), ftraceNowhere}
		if records && w.room(mp) {
			if !t.recorded {
				w.goroutine(gp, t)
			}
			w.entry(gp, mp, frame, layout, args)
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
	case flags&ftraceNotTimed != 0:
		w.last = max(w.last, t.last+1)
	case ftraceTimer == ftraceTimerCycle:
		w.last = max(w.last, ftraceCycles())
	default:
		w.last = max(w.last, ftraceReadTimer(ftraceTimer))
	}
	t.last = w.last
	return w.last
}

// ftraceConsumeExit notes that the call of frame, the topmost, ends: by p, by the panic that was
// recovered, or with results.
func ftraceConsumeExit(gp *g, t *ftraceG, frame *ftraceFrame, results []any, p *_panic) {
	f := frame.fn.ptr()
	records, on := ftraceRecording.on, ftraceConsumers()
	switch {
	case frame.place.ticks == 0:
		return // nothing was kept when the call began
	case on&^ftraceConsumerCurrent == 0 && !records && (on == 0 || frame.cut == atomic.Load(&ftraceCuts)):
		return // nothing is kept of calls that have ended
	}
	mp := acquirem()
	w := ftraceWriterOf(mp)
	if w == nil {
		releasem(mp)
		return
	}
	now := w.now(t, frame.flags)
	exit := ftracePlace{0, ftraceNowhere}
	if records && w.room(mp) {
		exit = w.exit(gp, mp, frame, results, p)
		t.last = w.last
	}
	if on != 0 {
		ftraceConsume(gp, t, w, frame, ftraceOutcome(f, frame, results, p), on, now, exit.where)
	}
	releasem(mp)
}

// ftraceOutcome says how the call ended.
func ftraceOutcome(f *ftraceFunc, frame *ftraceFrame, results []any, p *_panic) (flags uint32) {
	switch {
	case p != nil && p.goexit:
		flags = ftraceCallGoexit
	case p != nil || frame.flags&ftracePanicked != 0:
		flags = ftraceCallPanicked
	case f.flags&ftraceMayFail != 0 && len(results) > 0:
		last := efaceOf(&results[len(results)-1])
		failed := last._type != nil
		if failed && frame.flags&ftraceAtReturns == 0 { // it is a pointer to the result
			failed = *(*unsafe.Pointer)(last.data) != nil
		}
		if failed {
			flags = ftraceCallFailed
		}
	}
	if frame.flags&ftraceReplaced != 0 {
		flags |= ftraceCallReplaced
	}
	return flags
}

// ftraceConsume passes the call of frame, which has just ended, to the consumers that are on. The
// goroutine does not leave its processor meanwhile.
//
//go:nosplit
func ftraceConsume(gp *g, t *ftraceG, w *ftraceWriter, frame *ftraceFrame, outcome, on uint32, now, where uint64) {
	cut := atomic.Load(&ftraceCuts) // once, so that either all know of the call or none does
	lasted := now - frame.place.ticks
	around := t.around()
	if around != nil && frame.flags&ftraceNotTimed == 0 {
		around.within += lasted
	}
	if on&^(ftraceConsumerSummary|ftraceConsumerCurrent) != 0 || frame.cut != cut {
		nesting, exit := uint64(0), ftracePlace{now, where}
		if around != nil {
			nesting = around.event
		}
		if on&ftraceConsumersTallies != 0 || on&ftraceConsumerHistory != 0 && t.history == nil || frame.cut != cut {
			mp := acquirem()
			ftraceConsumeMore(gp, t, w, frame, around, outcome, on, cut, nesting, exit)
			releasem(mp)
		}
		if end := uintptr(w.ownEnd); on&ftraceConsumerHistory != 0 && t.history != nil && end != 0 {
			c := (*ftraceCall)(add(t.history, uintptr(cut&1)*end+uintptr(t.nextCall)))
			c.fill(gp, t, frame, outcome, nesting, exit)
			if t.nextCall += uint32(unsafe.Sizeof(*c)); uintptr(t.nextCall) == end {
				t.nextCall = 0
			}
			t.calls++
			c.number = t.calls
		}
		if on&ftraceConsumerHistoryLong != 0 && w.history != nil {
			c := (*ftraceCall)(add(w.history, uintptr(cut&1)*w.halfSize+w.nextCall))
			sys.Prefetch(uintptr(unsafe.Pointer(c)) + ftraceHistoryAhead)
			sys.Prefetch(uintptr(unsafe.Pointer(c)) + ftraceHistoryAhead + 64)
			c.fill(gp, t, frame, outcome, nesting, exit)
			if w.nextCall += unsafe.Sizeof(*c); w.nextCall == w.historyEnd {
				w.nextCall = 0
			}
			w.calls++
			c.number = w.calls
		}
	}
	if on&ftraceConsumerSummary != 0 && w.summaries != nil {
		w.summarize(frame, outcome, cut, lasted)
	}
}

// summarize adds the call of frame to the summary of its function.
//
//go:nosplit
func (w *ftraceWriter) summarize(frame *ftraceFrame, outcome, cut uint32, lasted uint64) {
	if frame.key >= w.summariesMax {
		atomic.Xadd64(&ftraceMemory.head.lost.functions, 1)
		return
	}
	s := (*ftraceSummary)(add(w.summaries, uintptr(cut&1)*w.halfSize+uintptr(frame.key)*unsafe.Sizeof(ftraceSummary{})))
	s.count++
	if frame.flags&ftraceNotTimed == 0 {
		s.sum += lasted
		if s.min == 0 || lasted < s.min {
			s.min = lasted
		}
		if lasted > s.max {
			s.max = lasted
		}
		s.self += lasted - min(lasted, frame.within)
		s.log2[min(sys.Len64(lasted), ftraceLog2-1)]++
	}
	if outcome != 0 {
		if outcome&ftraceCallFailed != 0 {
			s.errors++
		} else if outcome&ftraceCallPanicked != 0 {
			s.panics++
		}
	}
}

// ftraceConsumeMore does what is rarely needed. It updates the summaries by something else than the
// function, gives the goroutine a history, and keeps calls that were under way at a cut. around is
// the frame of the call around it, or nil.
func ftraceConsumeMore(gp *g, t *ftraceG, w *ftraceWriter, frame, around *ftraceFrame, outcome, on, cut uint32, nesting uint64, exit ftracePlace) {
	if on&ftraceConsumersTallies != 0 {
		w.half = uintptr(cut&1) * w.halfSize
		ftraceTallies(t, w, frame, around, outcome, on, exit.ticks-frame.place.ticks)
	}
	if on&ftraceConsumerHistory != 0 && t.history == nil && !t.lost && w.ownEnd != 0 {
		t.history, t.historyAt = ftraceNewHistory(2 * uintptr(w.ownEnd))
		t.lost = t.history == nil
	}
	if frame.cut != cut && w.crossings != nil {
		w.cross(cut).fill(gp, t, frame, outcome, nesting, exit)
		ftraceStore64(&w.crossed, w.crossed+1)
	}
}

// ftraceTallies adds a call to the tables that are on.
func ftraceTallies(t *ftraceG, w *ftraceWriter, frame, around *ftraceFrame, outcome, on uint32, lasted uint64) {
	if on&ftraceConsumerGoroutines != 0 {
		w.tally(ftraceByGoroutine, t.goroutine, t, frame, outcome, lasted)
	}
	if on&ftraceConsumerCallers != 0 {
		caller := uint64(0)
		if around != nil {
			caller = uint64(around.key)
		}
		w.tally(ftraceByCaller, caller, t, frame, outcome, lasted)
	}
	if on&ftraceConsumerReceivers != 0 && frame.object != 0 {
		w.tally(ftraceByReceiver, frame.object, t, frame, outcome, lasted)
	}
}

// around returns the innermost noted call around the topmost, or nil.
//
//go:nosplit
func (t *ftraceG) around() *ftraceFrame {
	for i := t.depth - 2; i >= 0; i-- {
		if frame := t.frame(i); frame.event != 0 {
			return frame
		}
	}
	return nil
}

//go:nosplit
func (c *ftraceCall) fill(gp *g, t *ftraceG, frame *ftraceFrame, outcome uint32, nesting uint64, exit ftracePlace) {
	c.key, c.flags, c.goroutine = frame.key, outcome, gp.goid
	c.start, c.end = frame.place.ticks, exit.ticks
	if frame.flags&ftraceNotTimed != 0 {
		c.start = 0
	}
	c.event, c.nesting, c.last, c.count = frame.event, nesting, t.events, uint64(frame.count)
	c.entry, c.exit, c.object, c.depth = frame.place, exit, frame.object, uint32(frame.shown)
}
