package live

import "unsafe"

// The most that a program's memory can have of something, whatever its limits are.
const (
	tablesMax     = 1 << 30
	entriesMax    = 1 << 25
	historyMax    = 1000
	processorsMax = 1024
)

// wrong says what in the head of a file of that size can't be true. The memory is a program's,
// which may have written anything there.
func (h *head) wrong(fileSize uint64) string {
	for _, s := range []section{h.tables, h.flags, h.goroutines, h.frames, h.processors} {
		if s.at > fileSize || s.most > 0 && s.size > (fileSize-s.at)/s.most {
			return "the sections"
		}
	}
	goroutineSize := uint64(unsafe.Sizeof(goroutine{}))
	if h.halfSize > h.processors.size {
		return "the halves"
	}
	within := func(at, most, size, end uint64) bool { return most <= entriesMax && at <= end && most*size <= end-at }
	for _, at := range h.talliesAt {
		if !within(at, h.talliesMax, tallySize, h.processors.size-h.halfSize) {
			return "the summaries"
		}
	}
	switch {
	case h.tables.most > tablesMax:
		return "the size of the tables"
	case h.flags.most > entriesMax:
		return "the number of functions"
	case h.goroutines.most > entriesMax || h.goroutines.size < goroutineSize && h.goroutines.most > 0 || h.goroutines.size > 1<<16:
		return "the goroutines"
	case h.frames.most > 1<<40 || h.frameSize < uint64(unsafe.Sizeof(frame{})) && h.frames.most > 0 || h.frameSize > 1<<16:
		return "the stacks"
	case h.processors.most > processorsMax || h.historyMax > historyMax:
		return "the histories"
	case h.ringChunk != chunkSize && h.ringChunks > 0:
		return "the rings"
	case !within(h.summariesAt, h.summariesMax, summarySize, h.processors.size-h.halfSize), !within(h.longAt, h.longMax, callSize, h.processors.size-h.halfSize),
		!within(h.crossingsAt, h.crossingsMax, callSize, h.processors.size):
		return "the processors"
	}
	return ""
}
