//go:build ftrace_core

// What is kept of waits: the same as of calls, by consumers and in histories of their own. So the
// many waits of a program do not drive out its calls.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceWaitConsumers returns the consumers of waits that are on.
func ftraceWaitConsumers() uint32 {
	if h := ftraceMemory.head; h != nil {
		return atomic.Load(&h.Waits)
	}
	return 0
}

// consume passes the wait of frame, the topmost, which ended at now, to the consumers that are on.
// others are the channels of a select that did not end it. The goroutine does not leave its
// processor meanwhile.
func (w *ftraceWaitG) consume(gp *g, t *ftraceG, writer *ftraceWriter, frame *ftraceFrame, site, on uint32, now uint64, others []uint64) {
	cut := atomic.Load(&ftraceCuts) // once, as in ftraceConsume
	lasted, nesting := now-frame.Place.Ticks, uint64(0)
	around := t.around()
	if around != nil {
		nesting = around.Event
		if frame.Flags&ftrace_format_FrameNotTimed == 0 {
			around.Within += lasted
		}
	}
	runnable := uint64(ftrace_format_WaitRunnable)
	if w.ready != 0 {
		runnable = min(runnable, now-min(w.ready, now))
		frame.Within = runnable // so what it has itself is the time in which it waited
	}
	if w.byKey < 1<<(64-ftrace_format_WaitFunction) {
		runnable |= uint64(w.byKey) << ftrace_format_WaitFunction
	}
	frame.Count, frame.Place.Where = w.byCall, w.by
	writer.bytes = w.operation >> ftrace_format_OperationBytes
	outcome, exit := ftrace_format_CallWait|site<<ftrace_format_CallSite, ftrace_format_Place{now, runnable}
	if on&ftraceConsumersTallies != 0 {
		writer.half = uintptr(cut&1) * writer.halfSize
		ftraceTallies(t, writer, frame, around, outcome, on, lasted)
	}
	if on&ftrace_format_ConsumerHistory != 0 && t.waits == nil && !t.lost && writer.ownEnd != 0 {
		t.waits, t.waitsAt = ftraceShared(2*uintptr(writer.ownEnd) + unsafe.Sizeof(uint64(0)))
		t.lost = t.waits == nil
	}
	if end := uintptr(writer.ownEnd); on&ftrace_format_ConsumerHistory != 0 && t.waits != nil && end != 0 {
		c := (*ftraceCall)(add(t.waits, uintptr(cut&1)*end+uintptr(t.nextWait)))
		c.fill(gp, t, frame, outcome, nesting, exit)
		c.Entry.Ticks = w.operation
		if len(others) > 0 {
			if list := t.othersList(writer, cut); list != nil {
				c.selected(add(list, uintptr(t.nextWait)/unsafe.Sizeof(*c)*unsafe.Sizeof(ftrace_format_Others{})), others)
			}
		}
		if t.nextWait += uint32(unsafe.Sizeof(*c)); uintptr(t.nextWait) == end {
			t.nextWait = 0
		}
		t.waited++
		c.Number = t.waited
	}
	if end := writer.historyEnd; on&ftrace_format_ConsumerHistoryLong != 0 && writer.waits != nil && end != 0 {
		c := (*ftraceCall)(add(writer.waits, uintptr(cut&1)*writer.halfSize+writer.nextWait))
		sys.Prefetch(uintptr(unsafe.Pointer(c)) + ftraceHistoryAhead)
		sys.Prefetch(uintptr(unsafe.Pointer(c)) + ftraceHistoryAhead + 64)
		c.fill(gp, t, frame, outcome, nesting, exit)
		c.Entry.Ticks = w.operation
		if len(others) > 0 {
			list := add(unsafe.Pointer(writer), uintptr(ftraceMemory.head.OthersAt)+uintptr(cut&1)*writer.halfSize)
			c.selected(add(list, writer.nextWait/unsafe.Sizeof(*c)*unsafe.Sizeof(ftrace_format_Others{})), others)
		}
		if writer.nextWait += unsafe.Sizeof(*c); writer.nextWait == end {
			writer.nextWait = 0
		}
		writer.waited++
		c.Number = writer.waited
	}
	if frame.Cut != cut && writer.crossings != nil {
		c := writer.cross(cut)
		c.fill(gp, t, frame, outcome, nesting, exit)
		c.Entry.Ticks = w.operation
		ftraceStore64(&writer.crossed, writer.crossed+1)
	}
	if on&ftrace_format_ConsumerSummary != 0 && writer.summaries != nil {
		writer.summarize(frame, outcome, cut, lasted)
	}
	frame.Within = 0
}

// selected adds the other channels of a select to its wait, and stores their addresses.
func (c *ftraceCall) selected(to unsafe.Pointer, others []uint64) {
	c.Flags |= ftrace_format_CallSelect
	c.Entry.Ticks = uint64(len(others))
	copy((*ftrace_format_Others)(to)[:], others)
}

// othersList returns where the other channels of the goroutine's last selects are in the half that
// is written to, nil if there is no room for them. Its first such select makes that list.
func (t *ftraceG) othersList(writer *ftraceWriter, cut uint32) unsafe.Pointer {
	end := uintptr(writer.ownEnd)
	half := end / unsafe.Sizeof(ftraceCall{}) * unsafe.Sizeof(ftrace_format_Others{})
	at := (*uint64)(add(t.waits, 2*end))
	if *at == 0 {
		if _, *at = ftraceShared(2 * half); *at == 0 {
			return nil
		}
	}
	return add(ftraceMemory.frames, uintptr(*at-ftraceMemory.head.Frames.At)+uintptr(cut&1)*half)
}
