package live

import (
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// The most that a program's memory can have of something, whatever its limits are.
const (
	tablesMax     = 1 << 30
	entriesMax    = 1 << 25
	historyMax    = 1000
	processorsMax = 1024
)

// wrong says what in the head of a file of that size can't be true. The memory is a program's,
// which may have written anything there.
func wrong(h *format.Head, fileSize uint64) string {
	for _, s := range []format.Section{h.Tables, h.Flags, h.Goroutines, h.Frames, h.Processors, h.Spans, h.Probes} {
		if s.At > fileSize || s.Max > 0 && s.Size > (fileSize-s.At)/s.Max {
			return "the sections"
		}
	}
	goroutineSize := uint64(unsafe.Sizeof(format.Goroutine{}))
	if h.HalfSize > h.Processors.Size {
		return "the halves"
	}
	within := func(at, most, size, end uint64) bool { return most <= entriesMax && at <= end && most*size <= end-at }
	for _, at := range h.TalliesAt {
		if !within(at, h.TalliesMax, tallySize, h.Processors.Size-h.HalfSize) {
			return "the summaries"
		}
	}
	switch {
	case h.Tables.Max > tablesMax:
		return "the size of the tables"
	case h.Flags.Max > entriesMax:
		return "the number of functions"
	case h.Goroutines.Max > entriesMax || h.Goroutines.Size < goroutineSize && h.Goroutines.Max > 0 || h.Goroutines.Size > 1<<16:
		return "the goroutines"
	case h.Frames.Max > 1<<40 || h.FrameSize < uint64(unsafe.Sizeof(format.Frame{})) && h.Frames.Max > 0 || h.FrameSize > 1<<16:
		return "the stacks"
	case h.Spans.Max > entriesMax || h.Spans.Size != uint64(unsafe.Sizeof(format.Span{})) && h.Spans.Max > 0:
		return "the statements and stages"
	case h.Probes.Max > entriesMax || h.Probes.Size != uint64(unsafe.Sizeof(format.Probe{})) && h.Probes.Max > 0:
		return "the probes"
	case h.Processors.Max > format.ProcessorsMax || h.HistoryMax > format.HistoryMax:
		return "the histories"
	case h.RingChunk != format.RingChunk && h.RingChunks > 0:
		return "the rings"
	case !within(h.SummariesAt, h.SummariesMax, summarySize, h.Processors.Size-h.HalfSize), !within(h.LongAt, h.LongMax, callSize, h.Processors.Size-h.HalfSize), !within(h.WaitsAt, h.LongMax, callSize, h.Processors.Size-h.HalfSize),
		!within(h.OthersAt, h.LongMax, othersSize, h.Processors.Size-h.HalfSize),
		!within(h.CrossingsAt, h.CrossingsMax, callSize, h.Processors.Size):
		return "the processors"
	}
	return ""
}
