//go:build ftrace_core

// The memory that others may look into. It shows what goes on in the program, in a file that has no
// name in any directory (memfd_create). Another process of the same user finds it through
// /proc/PID/fd and maps it. When the program ends it is gone. On Windows each part of it that is
// mapped is a section of its own, with a name (os/memory_windows.go). On macOS the file has a name
// (os/memory_darwin.go).
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

// ftraceHead is what the file begins with.
type ftraceHead struct {
	_ sys.NotInHeap
	ftrace_format_Head
}

// The limits that FTRACE_MEMORY sets.
var ftraceLimits = struct {
	functions, goroutines, history, long, rows int
}{ftraceFunctionsUsual, 1 << 17, 10, 10000, ftraceRowsUsual}

// ftraceMemory is the memory file.
var ftraceMemory struct {
	off    bool  // FTRACE_MEMORY=off
	fd     int32 // 0: there is none
	head   *ftraceHead
	tables unsafe.Pointer
	flags  unsafe.Pointer
	gs     unsafe.Pointer
	spans  unsafe.Pointer
	probes unsafe.Pointer
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
	}{{"functions=", &ftraceLimits.functions, 1 << 24}, {"goroutines=", &ftraceLimits.goroutines, 1 << 24}, {"history=", &ftraceLimits.history, ftrace_format_HistoryMax}, {"history_long=", &ftraceLimits.long, 1 << 24},
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
	ftraceMemory.fd = ftraceMemoryFile(ftrace_format_HeadSize)
	ftraceMemory.head = (*ftraceHead)(ftraceMapMemory(0, ftrace_format_HeadSize))
	h := ftraceMemory.head
	if h == nil {
		return
	}
	h.Version, h.Size, h.PID = ftrace_format_MemoryVersion, uint32(unsafe.Sizeof(*h)), uint64(ftracePid())
	h.Timer, h.Code = uint32(ftraceTimer), uint64(firstmoduledata.text)
	atomic.Store64(&h.Magic, ftrace_format_MemoryMagic)
	if ftraceMemory.fd != 0 {
		systemstack(func() { newm(ftraceListen, nil, -1) })
		for GOOS == "windows" && atomic.Load(&ftraceAttach.listens) == 0 {
			osyield() // wine prints an error if a program ends while one of its threads begins
		}
	}
}

// ftraceFramesFrom is the distance of the first frame from its section's start. On Linux the
// section has 1 GiB, and is mapped right below that of the goroutines' states. Addresses at the
// same place in both differ in one bit. AMD's processors ignore that bit when they guess by an
// address in which way of their cache a line is (M. Lipp et al., Take A Way, 2020). If a
// goroutine's frames were at the place of its state, each would keep evicting the other, and a call
// would take twice as long.
const ftraceFramesFrom = 21 * 64

// ftraceArmMemory makes the sections when something is armed for the first time. Each processor has
// a ring of that many chunks.
func ftraceArmMemory(chunks uint64) {
	h := ftraceMemory.head
	if h == nil || h.Armed != 0 {
		return
	}
	at := ftracePages(ftrace_format_HeadSize)
	section := func(size uintptr, most int) ftrace_format_Section {
		s := ftrace_format_Section{At: at, Size: uint64(size), Max: uint64(most)}
		at += ftracePages(s.Size * s.Max)
		return s
	}
	h.Tables = section(1, ftraceTablesMax)
	h.Flags = section(1, ftraceLimits.functions+1)
	h.Goroutines = section(unsafe.Sizeof(ftraceG{}), ftraceLimits.goroutines)
	h.Frames = section(1, ftraceFramesMax)
	h.Frames.Used = ftraceFramesFrom
	own := ftracePages(uint64(unsafe.Sizeof(ftraceWriter{})))
	part := func(size uintptr, most int) (from, n uint64) {
		from = own
		own += ftracePages(uint64(size) * uint64(most))
		return from, uint64(most)
	}
	h.CrossingsAt, h.CrossingsMax = part(unsafe.Sizeof(ftraceCall{}), ftrace_format_Crossings)
	h.HalfSize = own
	h.LongAt, h.LongMax = part(unsafe.Sizeof(ftraceCall{}), ftraceLimits.long)
	h.WaitsAt, _ = part(unsafe.Sizeof(ftraceCall{}), ftraceLimits.long)
	h.OthersAt, _ = part(unsafe.Sizeof(ftrace_format_Others{}), ftraceLimits.long)
	h.SummariesAt, h.SummariesMax = part(unsafe.Sizeof(ftraceSummary{}), ftraceLimits.functions+1)
	h.TalliesMax = ftraceTallyPlaces
	for h.TalliesMax < uint64(ftraceLimits.rows) {
		h.TalliesMax *= 2
	}
	for i := range h.TalliesAt {
		h.TalliesAt[i], _ = part(unsafe.Sizeof(ftraceTally{}), int(h.TalliesMax))
	}
	h.HalfSize = own - h.HalfSize
	own += h.HalfSize
	h.RingAt, h.RingChunks = part(ftrace_format_RingChunk, int(chunks))
	h.RingChunk, h.HistoryMax, h.FrameSize = ftrace_format_RingChunk, uint64(ftraceLimits.history), uint64(unsafe.Sizeof(ftraceFrame{}))
	h.Processors = section(uintptr(own), ftrace_format_ProcessorsMax)
	h.Spans = section(unsafe.Sizeof(ftrace_format_Span{}), ftrace_format_SpansMax)
	h.Probes = section(unsafe.Sizeof(ftrace_format_Probe{}), ftrace_format_ProbesMax)
	m := &ftraceMemory
	if m.fd != 0 && ftraceResize(m.fd, at) != 0 {
		return
	}
	for _, s := range [...]struct {
		to *unsafe.Pointer
		of *ftrace_format_Section
	}{{&m.tables, &h.Tables}, {&m.flags, &h.Flags}, {&m.gs, &h.Goroutines}, {&m.frames, &h.Frames}, {&m.spans, &h.Spans}, {&m.probes, &h.Probes}} {
		if *s.to = ftraceMapMemory(s.of.At, ftracePages(s.of.Size*s.of.Max)); *s.to == nil {
			m.gs, m.frames = nil, nil
			return
		}
	}
	h.UUID = ftraceRecording.uuid
	h.Begun = ftraceReadClock()
	for i := range ftraceEpoch {
		ftraceEpoch[i] = ftraceReadTimer(i)
	}
	ftraceEpoch[ftraceTimer] = h.Begun.Ticks
	h.Now = h.Begun
	atomic.Store(&h.Armed, 1)
}

// ftracePages returns the size of the pages that n bytes take. Only at a page can a part of a file
// be mapped, and pages have 16 or 64 KiB on some arm64 systems.
func ftracePages(n uint64) uint64 {
	page := uint64(physPageSize)
	return (n + page - 1) &^ (page - 1)
}

// ftraceArmed returns the head, or nil if the sections are not there.
func ftraceArmed() *ftraceHead {
	if h := ftraceMemory.head; h != nil && h.Armed != 0 {
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
	end := atomic.Xadd64(&h.Frames.Used, int64(n))
	if end > h.Frames.Max {
		atomic.Xadd64(&h.Frames.Used, -int64(n))
		atomic.Xadd64(&h.Lost.Frames, 1)
		return nil, 0
	}
	from := uintptr(end) - n
	return add(ftraceMemory.frames, from), h.Frames.At + uint64(from)
}

// ftraceSharedAt returns where in the file p is, 0 if it is not in the section for frames and
// histories.
func ftraceSharedAt(p unsafe.Pointer) uint64 {
	h := ftraceArmed()
	if h == nil || uintptr(p)-uintptr(ftraceMemory.frames) >= uintptr(h.Frames.Max) {
		return 0
	}
	return h.Frames.At + uint64(uintptr(p)-uintptr(ftraceMemory.frames))
}

// showFlags shows other processes what l says of f.
func (l *ftraceLaid) showFlags(f *ftraceFunc) {
	h := ftraceArmed()
	if h == nil || uint64(f.key) >= h.Flags.Max {
		return
	}
	flags := uint8(0)
	if l.flags&ftraceLookedAt == 0 && l.wants(f) && (l.clause == nil || l.clause.Detail >= ftrace_rule_Call) {
		flags |= ftrace_format_FunctionMeant
		if l.flags&ftraceMaskedOff == 0 {
			flags |= ftrace_format_FunctionOn
		}
	}
	if f.flags&ftrace_format_FrameNotTimed != 0 {
		flags |= ftrace_format_FunctionUntimed
	}
	if f.flags&ftraceAskedUntimed != 0 {
		flags |= ftrace_format_FunctionCoarse
	}
	*(*uint8)(add(ftraceMemory.flags, uintptr(f.key))) = flags
}

// ftraceSharedG returns a goroutine's state from the section for these, or nil if there is no more.
func ftraceSharedG() *ftraceG {
	h := ftraceArmed()
	if h == nil {
		return nil
	}
	n := atomic.Xadd64(&h.Goroutines.Used, 1)
	if n > h.Goroutines.Max {
		atomic.Xadd64(&h.Goroutines.Used, -1)
		atomic.Xadd64(&h.Lost.Goroutines, 1)
		return nil
	}
	return (*ftraceG)(add(ftraceMemory.gs, uintptr(n-1)*unsafe.Sizeof(ftraceG{})))
}

// ftraceTablesKept has the packets of the tables that came while there was no section for them.
var ftraceTablesKept struct {
	first, last *ftraceTablesPacket
	size        int
}

type ftraceTablesPacket struct {
	_    sys.NotInHeap
	next *ftraceTablesPacket
	n    int // bytes, which follow
}

func (p *ftraceTablesPacket) bytes() unsafe.Pointer { return add(unsafe.Pointer(p), unsafe.Sizeof(*p)) }

// ftraceKeepTables adds a packet of the tables to those in memory. The tables are locked.
func ftraceKeepTables(p unsafe.Pointer, n int) {
	h := ftraceArmed()
	if h == nil {
		ftraceKeepTablesApart(p, n)
		return
	}
	if h.Tables.Used+uint64(n) > h.Tables.Max {
		atomic.Xadd64(&h.Lost.Tables, 1)
		return
	}
	memmove(add(ftraceMemory.tables, uintptr(h.Tables.Used)), p, uintptr(n))
	atomic.Store64(&h.Tables.Used, h.Tables.Used+uint64(n))
}

func ftraceKeepTablesApart(p unsafe.Pointer, n int) {
	kept := &ftraceTablesKept
	if kept.size+n > ftraceTablesMax {
		return
	}
	packet := (*ftraceTablesPacket)(ftraceAlloc(unsafe.Sizeof(ftraceTablesPacket{}) + uintptr(n)))
	packet.n = n
	memmove(packet.bytes(), p, uintptr(n))
	if kept.last != nil {
		kept.last.next = packet
	} else {
		kept.first = packet
	}
	kept.last = packet
	kept.size += n
}
