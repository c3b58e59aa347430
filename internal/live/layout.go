package live

import "unsafe"

// The memory file as the core writes it: internal/guest/state/memory.go,
// internal/guest/keep/consumers.go, internal/guest/keep/tallies.go, internal/guest/record/record.go
// and internal/guest/state/goroutine.go have the same declarations. The reader runs on the same
// machine, so the layout is the compiler's.

const (
	memoryVersion = 4
	memoryMagic   = 0x6576696C72746601
	pageSize      = 4096
	requestAt     = 1 * pageSize
	replyAt       = 17 * pageSize
	requestMax    = 16 * pageSize
	headSize      = 33 * pageSize
)

type clock struct {
	ticks           uint64
	monotonic, wall int64
}

type head struct {
	magic     uint64
	version   uint32
	size      uint32
	pid       uint64
	uuid      [16]byte
	begun     clock
	now       clock
	armed     uint32
	consumers uint32
	functions uint32
	timer     uint32
	cuts      uint32
	_         uint32
	timers    [5]timer
	lost      losses

	request   uint32
	reply     uint32
	kind      uint32
	failed    uint32
	asked     uint32
	answered  uint32
	recording uint32
	session   uint32
	beats     uint64

	tables, flags, goroutines, frames, processors section

	longAt, longMax, summariesAt, summariesMax, ringAt, ringChunks, ringChunk, historyMax, frameSize uint64

	talliesAt  [tallyTables]uint64
	talliesMax uint64
	note       uint64

	crossingsAt, crossingsMax, halfSize uint64
}

type timer struct{ frequency, resolution, overhead uint64 }

type losses struct{ functions, goroutines, frames, tables, calls, tallies uint64 }

type section struct{ at, size, most, used uint64 }

type goroutine struct {
	depth       int32
	_           uint32 // its own data
	events      uint64
	_           uint16
	muted       bool
	_           [37]byte
	calls       uint64
	_           uint64
	id          uint64
	_           uint64
	historyAt   uint64
	framesAt    uint64
	parent      uint64
	parentCount uint64
	parentKey   uint32
	_           uint32
	start       uint64
}

type frame struct {
	place place
	key   uint32
	flags uint32
	event uint64
	count uint64

	object uint64
	cut    uint32
	_      uint32
}

// framePanicked is the flag of a call that a panic has ended. The program notes that when the
// goroutine next calls or returns.
const framePanicked = 1 << 2

// frameNotTimed is the flag of a call that is not timed.
const frameNotTimed = 1 << 6

type place struct {
	ticks  uint64
	number uint32
	writer uint16
	offset uint16
}

const nowhere = 0xFFFF

type call struct {
	number    uint64
	key       uint32
	flags     uint32
	goroutine uint64
	start     uint64
	end       uint64
	event     uint64
	nesting   uint64
	last      uint64
	count     uint64
	entry     place
	exit      place
	object    uint64
	depth     uint32
	cut       uint32
}

type summary struct {
	count          uint64
	sum, min, max  uint64
	self           uint64
	errors, panics uint64
	log2           [Buckets]uint64
}

// The tables of summaries by something more than the function.
const (
	byGoroutine = iota
	byCaller
	byReceiver
	tallyTables
)

type tally struct {
	by             uint64
	key            uint32
	_              uint32
	count, timed   uint64
	sum, min, max  uint64
	self           uint64
	errors, panics uint64
	_              [6]uint64
}

// writer is the beginning of a processor's part.
type writer struct {
	calls   uint64
	_       [12]uint64
	lost    uint64
	_       uint64
	crossed uint64
}

// The kinds of requests.
const (
	askLook = 1 + iota
	askRules
	askSwitch
	askRecord
	askRing
	askStop
	askClear
	askTimers
	askSession
	askDetach
	askDump
	askTimer
	askMute
	askActors
	askObjects
)

// chunkHead is the size of a chunk's head in a ring, and where its number is.
const (
	chunkHead   = 72
	chunkNumber = 56
	chunkSize   = 64 << 10
)

const (
	callSize    = uint64(unsafe.Sizeof(call{}))
	summarySize = uint64(unsafe.Sizeof(summary{}))
	tallySize   = uint64(unsafe.Sizeof(tally{}))
)
