//go:build ftrace_core

// The memory that others may look into. It shows what goes on in the program, in a file that has no
// name in any directory (memfd_create). Another process of the same user finds it through
// /proc/PID/fd and maps it. When the program ends it is gone.
//
// docs/format.md says where everything is. The program itself reads back nothing but requests
// (share/attach.go) and the consumers that are on.
//
// The file is large, and nearly all of it is never touched, which takes no memory. Where there can
// be no such file, the same memory is mapped without one. If that fails too there are no histories
// and no summaries.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceMemoryVersion is the version of the head and of all that docs/format.md describes under "A
// process".
const ftraceMemoryVersion = 4

const ftraceMemoryMagic = 0x6576696C72746601 // "\x01ftrlive"

// ftraceHead is what the file begins with. Readers know it byte for byte.
type ftraceHead struct {
	_         sys.NotInHeap
	magic     uint64
	version   uint32
	size      uint32 // of this head
	pid       uint64
	uuid      [16]byte
	begun     ftraceClock // when the sections were made
	now       ftraceClock // when the last request was answered
	armed     uint32      // the sections are there; atomic
	consumers uint32      // ftraceConsumer...: what is kept; other processes may write it; atomic
	functions uint32      // registered functions; their flags lie in a row, by key
	timer     uint32      // the one in use, ftraceTimer...
	cuts      uint32      // number of cuts, see keep/cut.go: the lowest bit says which half is written to; atomic
	_         uint32
	timers    [ftraceTimers]ftraceTimerFacts
	lost      ftraceLosses

	// Requests, see share/attach.go.
	request   uint32 // number of the last request, written by the process that makes it; waited for
	reply     uint32 // number of the last one answered
	kind      uint32
	failed    uint32 // the reply is an error message
	asked     uint32 // bytes of the request, and of the reply
	answered  uint32
	recording uint32 // 0: none, 1: to rings, 2: to files
	session   uint32 // another process stays attached, and makes the beats
	beats     uint64

	tables, flags, goroutines, frames, processors ftraceSection
	// Within a processor's part, after its ftraceWriter. Of what is there twice, in the first half:
	longAt, longMax, summariesAt, summariesMax, ringAt, ringChunks, ringChunk, historyMax, frameSize uint64

	talliesAt  [ftraceTallyTables]uint64
	talliesMax uint64 // rows of each, a power of two
	note       uint64 // from one reader to another; any may write it

	crossingsAt, crossingsMax, halfSize uint64
}

// ftraceSection is a part of the file: used of at most most entries of size bytes each.
type ftraceSection struct {
	at, size, most, used uint64
}

// ftraceLosses count what there was no room for; atomic.
type ftraceLosses struct {
	functions  uint64 // calls of functions that have no summary
	goroutines uint64 // goroutines that are not in the section
	frames     uint64 // stacks and histories that are not in it
	tables     uint64 // records of the tables
	calls      uint64 // calls that were not seen
	tallies    uint64 // calls for which the summaries by goroutine, by caller or by receiver have no row
}

const (
	ftracePage       = 4096
	ftraceRequestAt  = 1 * ftracePage // where requests and replies are, of at most ftraceRequestMax bytes
	ftraceReplyAt    = 17 * ftracePage
	ftraceRequestMax = 16 * ftracePage
	ftraceHeadSize   = 33 * ftracePage
)

// The limits that FTRACE_MEMORY sets.
var ftraceLimits = struct {
	functions, goroutines, history, long, rows int
}{1 << 16, 1 << 17, 10, 10000, 1 << 16}

// ftraceMemory is the memory file.
var ftraceMemory struct {
	off    bool  // FTRACE_MEMORY=off
	fd     int32 // 0: there is none
	head   *ftraceHead
	tables unsafe.Pointer
	flags  unsafe.Pointer
	gs     unsafe.Pointer
	frames unsafe.Pointer
}

// ftraceParseMemory reads FTRACE_MEMORY: off, or limits.
func ftraceParseMemory(s string) {
	for s != "" {
		var item string
		item, s = ftraceItem(s)
		if item == "off" || item == "on" {
			ftraceMemory.off = item == "off"
		} else if !ftraceParseLimit(item) {
			ftraceComplain("FTRACE_MEMORY: " + item + " is neither off nor one of functions=N, goroutines=N, history=N (to 1000), history_long=N, rows=N; it has no effect")
		}
	}
}

func ftraceParseLimit(item string) bool {
	for _, l := range [...]struct {
		name  string
		limit *int
		most  int
	}{{"functions=", &ftraceLimits.functions, 1 << 24}, {"goroutines=", &ftraceLimits.goroutines, 1 << 24}, {"history=", &ftraceLimits.history, 1000}, {"history_long=", &ftraceLimits.long, 1 << 24},
		{"rows=", &ftraceLimits.rows, 1 << 20}} {
		if len(item) > len(l.name) && item[:len(l.name)] == l.name {
			n, ok := ftraceParseInt(item[len(l.name):])
			if ok && n <= l.most {
				*l.limit = n
				return true
			}
		}
	}
	return false
}

// ftraceMakeMemory makes the head of the file, so that the program can be found.
func ftraceMakeMemory() {
	if ftraceMemory.off {
		return
	}
	ftraceMemory.fd = ftraceMemoryFile(ftraceHeadSize)
	ftraceMemory.head = (*ftraceHead)(ftraceMapMemory(0, ftraceHeadSize))
	h := ftraceMemory.head
	if h == nil {
		return
	}
	h.version, h.size, h.pid = ftraceMemoryVersion, uint32(unsafe.Sizeof(*h)), uint64(ftracePid())
	h.timer = uint32(ftraceTimer)
	atomic.Store64(&h.magic, ftraceMemoryMagic)
	if ftraceMemory.fd != 0 {
		systemstack(func() { newm(ftraceListen, nil, -1) })
	}
}

// ftraceFramesFrom is the distance of the first frame from its section's start. The section has 1
// GiB, and is mapped right below that of the goroutines' states. Addresses at the same place in
// both differ in one bit. AMD's processors ignore that bit when they guess by an address in which
// way of their cache a line is (M. Lipp et al., Take A Way, 2020). If a goroutine's frames were at
// the place of its state, each would keep evicting the other, and a call would take twice as long.
const ftraceFramesFrom = 21 * 64

// ftraceArmMemory makes the sections when something is armed for the first time. Each processor has
// a ring of that many chunks.
func ftraceArmMemory(chunks uint64) {
	h := ftraceMemory.head
	if h == nil || h.armed != 0 {
		return
	}
	at := uint64(ftraceHeadSize)
	section := func(size uintptr, most int) ftraceSection {
		s := ftraceSection{at: at, size: uint64(size), most: uint64(most)}
		at += ftracePages(s.size * s.most)
		return s
	}
	h.tables = section(1, 256<<20)
	h.flags = section(1, ftraceLimits.functions+1)
	h.goroutines = section(unsafe.Sizeof(ftraceG{}), ftraceLimits.goroutines)
	h.frames = section(1, 1<<30)
	h.frames.used = ftraceFramesFrom
	own := ftracePages(uint64(unsafe.Sizeof(ftraceWriter{})))
	part := func(size uintptr, most int) (from, n uint64) {
		from = own
		own += ftracePages(uint64(size) * uint64(most))
		return from, uint64(most)
	}
	h.crossingsAt, h.crossingsMax = part(unsafe.Sizeof(ftraceCall{}), ftraceCrossings)
	h.halfSize = own
	h.longAt, h.longMax = part(unsafe.Sizeof(ftraceCall{}), ftraceLimits.long)
	h.summariesAt, h.summariesMax = part(unsafe.Sizeof(ftraceSummary{}), ftraceLimits.functions+1)
	h.talliesMax = ftraceTallyPlaces
	for h.talliesMax < uint64(ftraceLimits.rows) {
		h.talliesMax *= 2
	}
	for i := range h.talliesAt {
		h.talliesAt[i], _ = part(unsafe.Sizeof(ftraceTally{}), int(h.talliesMax))
	}
	h.halfSize = own - h.halfSize
	own += h.halfSize
	h.ringAt, h.ringChunks = part(ftraceRingChunk, int(chunks))
	h.ringChunk, h.historyMax, h.frameSize = ftraceRingChunk, uint64(ftraceLimits.history), uint64(unsafe.Sizeof(ftraceFrame{}))
	h.processors = section(uintptr(own), ftraceProcessorsMax)
	m := &ftraceMemory
	if m.fd != 0 && ftraceResize(m.fd, at) != 0 {
		return
	}
	for _, s := range [...]struct {
		to *unsafe.Pointer
		of *ftraceSection
	}{{&m.tables, &h.tables}, {&m.flags, &h.flags}, {&m.gs, &h.goroutines}, {&m.frames, &h.frames}} {
		if *s.to = ftraceMapMemory(s.of.at, ftracePages(s.of.size*s.of.most)); *s.to == nil {
			m.gs, m.frames = nil, nil
			return
		}
	}
	h.uuid = ftraceRecording.uuid
	h.begun = ftraceReadClock()
	for i := range ftraceEpoch {
		ftraceEpoch[i] = ftraceReadTimer(i)
	}
	ftraceEpoch[ftraceTimer] = h.begun.ticks
	h.now = h.begun
	atomic.Store(&h.armed, 1)
}

func ftracePages(n uint64) uint64 { return (n + ftracePage - 1) &^ (ftracePage - 1) }

// ftraceArmed returns the head, or nil if the sections are not there.
func ftraceArmed() *ftraceHead {
	if h := ftraceMemory.head; h != nil && h.armed != 0 {
		return h
	}
	return nil
}

// ftraceShared returns n bytes of the section for frames and histories, and their place in the
// file; nil if there is no more. They are never given back to the section.
func ftraceShared(n uintptr) (unsafe.Pointer, uint64) {
	h := ftraceArmed()
	if h == nil {
		return nil, 0
	}
	n = (n + 63) &^ 63
	end := atomic.Xadd64(&h.frames.used, int64(n))
	if end > h.frames.most {
		atomic.Xadd64(&h.frames.used, -int64(n))
		atomic.Xadd64(&h.lost.frames, 1)
		return nil, 0
	}
	from := uintptr(end) - n
	return add(ftraceMemory.frames, from), h.frames.at + uint64(from)
}

// ftraceSharedAt returns where in the file p is, 0 if it is not in the section for frames and
// histories.
func ftraceSharedAt(p unsafe.Pointer) uint64 {
	h := ftraceArmed()
	if h == nil || uintptr(p)-uintptr(ftraceMemory.frames) >= uintptr(h.frames.most) {
		return 0
	}
	return h.frames.at + uint64(uintptr(p)-uintptr(ftraceMemory.frames))
}

// showFlags shows other processes what l says of f.
func (l *ftraceLaid) showFlags(f *ftraceFunc) {
	h := ftraceArmed()
	if h == nil || uint64(f.key) >= h.flags.most {
		return
	}
	flags := uint8(0)
	if l.wants(f) && (l.clause == nil || l.clause.Detail >= ftrace_rule_Call) {
		flags |= 4
		if l.flags&ftraceMaskedOff == 0 {
			flags |= 1
		}
	}
	if f.flags&ftraceNotTimed != 0 {
		flags |= 2
	}
	if f.flags&ftraceAskedUntimed != 0 {
		flags |= 8
	}
	*(*uint8)(add(ftraceMemory.flags, uintptr(f.key))) = flags
}

// ftraceSharedG returns a goroutine's state from the section for these, or nil if there is no more.
func ftraceSharedG() *ftraceG {
	h := ftraceArmed()
	if h == nil {
		return nil
	}
	n := atomic.Xadd64(&h.goroutines.used, 1)
	if n > h.goroutines.most {
		atomic.Xadd64(&h.goroutines.used, -1)
		atomic.Xadd64(&h.lost.goroutines, 1)
		return nil
	}
	return (*ftraceG)(add(ftraceMemory.gs, uintptr(n-1)*unsafe.Sizeof(ftraceG{})))
}

// ftraceKeepTables adds a packet of the tables to those in memory. The tables are locked.
func ftraceKeepTables(p unsafe.Pointer, n int) {
	h := ftraceArmed()
	if h == nil {
		return
	}
	if h.tables.used+uint64(n) > h.tables.most {
		atomic.Xadd64(&h.lost.tables, 1)
		return
	}
	memmove(add(ftraceMemory.tables, uintptr(h.tables.used)), p, uintptr(n))
	atomic.Store64(&h.tables.used, h.tables.used+uint64(n))
}

// ftraceCrossings is the number of calls under way at a cut that each processor can keep. The
// reader takes them out in time.
const ftraceCrossings = 4096
