// Package format declares what programs and their readers agree on byte for byte: recordings,
// the memory file of a running program, and the tables that the rewriter leaves to the core.
//
// Package inject makes this file part of Go's package runtime, so the core writes what it declares.
// Packages recording, live and rewrite import it. The package has no code and imports only unsafe.
// docs/format.md describes the same, and a test compares the two.
//
// Where the core has more to keep next to a structure of this package, it embeds the structure
// or asserts, at compile time, that its own fields have the same offsets.
package format

import "unsafe"

// Recordings.
const (
	Version        = 4 // of a recording as programs write it
	WideVersion    = 1 // of one whose records leave nothing out, as programs once wrote them
	CompactVersion = 2 // of one that "ftrace compact" wrote

	CallsStream   = 0 // of packets in the files calls_N
	TablesStream  = 1 // in the file tables
	CompactStream = 2 // in the files packed_N

	PacketMagic = 0xC1FC1FC1
	FileChunk   = 256 << 10 // bytes of each packet in a file calls_N
	RingChunk   = 64 << 10  // bytes of each packet in a ring
)

// A Packet is what each packet begins with, the header and the context of the Common Trace Format.
type Packet struct {
	Magic     uint32
	Stream    uint32
	UUID      [16]byte // of the recording
	Begin     uint64   // ticks
	Content   uint64   // bits in use, this head included; written after each record
	Size      uint64   // bits
	Lost      uint64   // records lost on this processor so far
	Number    uint64   // of the packet, from 0
	Processor uint64
}

// The sizes of heads. They are not typed, so that readers can count with them in any type.
const (
	PacketSize      = 72
	RecordSize      = 16
	RecordNear      = 8 // of one that has only the first half of its head
	TurnSize        = 24
	TableRecordSize = 16
)

var (
	_ = [1]int{}[unsafe.Sizeof(Packet{})-PacketSize]
	_ = [1]int{}[unsafe.Sizeof(Record{})-RecordSize]
	_ = [1]int{}[unsafe.Offsetof(Record{}.Function)-RecordNear]
	_ = [1]int{}[unsafe.Sizeof(Turn{})-TurnSize]
	_ = [1]int{}[unsafe.Sizeof(TableRecord{})-TableRecordSize]
)

// A Record is what each record of calls begins with, except for a Turn. The last Turn before it in
// the packet says which goroutine it is of, and gives the upper half of its ticks.
type Record struct {
	Ticks    uint32 // the lower half of them
	Kind     uint8  // Kind...
	Words    uint8  // size of the record; of KindEntryWords and KindExitWords: of its values
	Depth    uint16 // recorded calls around it, at most DepthMax; of KindExitNear: so many words before this record is the entry
	Function uint32 // key, 0: none
	Call     uint32 // of KindEntry, KindEntryArgs and KindEntryWords: number of the call among those of the function
}

// A Turn says which goroutine the records that follow in the packet are of. There is one before the
// first record, and before any whose ticks are 1<<32 or more later than those of the last Turn.
type Turn struct {
	Low       uint32 // the lower half of Ticks
	Kind      uint8  // KindTurn
	Words     uint8
	Depth     uint16 // 0
	Goroutine uint64
	Ticks     uint64
}

const (
	RecordMax = 253 * 8 // bytes of a record; as readers see it, it may be larger by two words

	DepthMax     = 65535      // a record of a deeper call has this depth
	Untimed      = 1 << 63    // in the number of a call: the call is not timed
	AtEnd        = 1 << 62    // likewise: the entry was noted when the call ended, since it had been left out, and failed or was slow
	Uncounted    = 1 << 63    // in the number of calls that were left out: there may have been more
	Nil          = 0xFFFFFFFF // stands for the length of a nil slice, map or chan
	LevelUnknown = -1 << 31   // of a line that was printed, not logged
)

// The kinds of records, with what follows the Record. Values are layout and size, uint32 each, and
// bytes.
const (
	KindEntry           = 1 + iota //
	KindEntryArgs                  // values: the parameters
	KindExit                       //
	KindExitResults                // values: the results
	KindExitPanic                  // values: the panic's
	KindExitGoexit                 // the call ended by runtime.Goexit
	KindRecovered                  // values: of the panic that a deferred call of the call recovered; its exit follows
	KindMock                       // a replacement was called in place of the function; its exit follows
	KindGoroutineStart             // parent, call uint64: which goroutine started this one, in which call of the function
	KindGoroutineEnd               //
	KindNote                       // 0, size uint32; text that the program added to the call
	KindLine                       // level int32, size uint32; text that the program printed or logged
	KindProbe                      // call uint64; values: the arguments, layout 0: none are wanted
	KindWait                       // what follows is a Wait: the goroutine went on after it had stopped
	KindAfter                      // values: the parameters when the call ends, in the order of the entry; its exit follows
	KindOff                        // ticks, call uint64: calls of the function are not noted since then, to keep within the budget; so many were so far
	KindOn                         // ticks, calls uint64: they are noted again, after they were not since then; so many were counted meanwhile, see Uncounted; failed uint64: so many of these failed; noted uint64: so many, of these or of those before, were noted at their end
	KindBlocked                    // what follows is a Blocked, of a wait under way whose record is the goroutine's next
	KindEntryLate                  // call uint64, with AtEnd; ticks uint64: the same as KindEntry, and when the call began
	KindSelect                     // what follows is a Wait, n uint64, and the addresses of the n other channels of a select, up to OthersMax
	KindWaiting                    // as KindSelect: the goroutine had waited for a while. Nothing more is said of that if the goroutine has a later record
	KindTurn                       // this is a Turn
	KindExitNear                   // the same as KindExit, of a call whose entry is in the packet: the head's second half is left out
	KindExitNearResults            // the same as KindExitResults, likewise
	KindEntryLong                  // call uint64: the same as KindEntry, with a number that has more than 32 bits, or flags
	KindEntryLongArgs              // call uint64; values: the same as KindEntryArgs, likewise
	KindEntryWords                 // the same as KindEntryArgs, of values that are words: their layout, see LayoutImplied, and their size are left out
	KindExitWords                  // the same as KindExitNearResults, likewise
	KindEnd                        // one more than the last kind
)

// A TableRecord is what each record of the tables begins with.
type TableRecord struct {
	Ticks uint64
	Kind  uint32 // Table...
	Size  uint32 // bytes, these included
}

// The kinds of records in the tables.
const (
	TableProcess  = 1 + iota // pid, start, arguments, release, system, architecture, executable, arguments
	TableClock               // ticks, monotonic ns, ns since 1970: of the same moment
	TableFunc                // key, line, import path, symbol of the package, name, file, names of parameters and results, name in the package clause
	TableType                // number, kind, flags, size, length, number of the element, name, fields
	TableLayout              // number, flags, numbers of the types
	TableLost                // processor, records lost on it by the end
	TableCode                // address, name of the function whose code begins there
	TableProbe               // as TableFunc
	TableCaptured            // number of a layout, the paths that lead to its last values
	TableTimer               // number of the timer in use from here on; earlier clocks are of another
	TableWait                // as TableFunc; the names of a kind of waits
	TableSite                // number, line, name of a function, file: where goroutines stop
	TableSpan                // as TableFunc; the names of a kind of spans: the package is statement or stage
	TableFile                // number, name: a path, or the addresses of a connection
	TableChannel             // address of a channel that a goroutine waited for, address of a word that leads to it
	TableRunning             // as TableClock, while the program runs on: how fast the timer goes
	TableEnd                 // one more than the last kind
)

// A Wait is what follows the head of a record of a wait. The record's time is when the goroutine
// went on. With the number 0 the wait was under way when the recording ended, which is that time.
type Wait struct {
	Number    uint64 // of the wait among those of its kind
	Begin     uint64 // ticks when the goroutine stopped
	Ready     uint64 // ticks when it was made runnable, 0: not known
	Object    uint64 // address of what it waited for, or a file, see ObjectFile; 0: none
	Goroutine uint64 // which one made it runnable; 0: none did, but a timer, the network or the collector
	Call      uint64 // in which call, 0: in none that was seen
	Function  uint32 // of which function
	Site      uint32 // where it stopped, 0: unknown
	Operation uint64 // what was done with the file, and from bit OperationBytes on with how many bytes; 0: it waited until that was ready
}

// A Blocked is a goroutine that holds a lock for which another one waits when the recording ends.
type Blocked struct {
	Object    uint64 // address of the lock
	Goroutine uint64 // which holds the lock
	Call      uint64 // in which call it took it, 0: in none that was seen
	Function  uint32 // of which function
	Mode      uint32 // Hold...
	Since     uint64 // ticks when it took it, to some 10 ms
}

// An object that is a file has its descriptor in the lower half, all ones if it was not open, and
// from bit ObjectFile on its number in the tables, 0: it has none.
const (
	ObjectFile       = 32
	ObjectDescriptor = 1<<ObjectFile - 1
	OperationBytes   = 8
)

// The operations on files and sockets, and their names.
const (
	OperationRead = 1 + iota
	OperationWrite
	OperationOpen
	OperationClose
	OperationSync
	OperationSeek
	OperationResize
	OperationReceive
	OperationSend
	OperationConnect
	OperationAccept
	OperationEnd // one more than the last operation

	OperationNames = "poll read write open close sync seek chsize recv send connect accept"
)

// The flags of a type.
const (
	TypeNamed  = 1 << iota
	TypeError  // its values are errors
	TypeSecret // its values are hidden: nothing is recorded of them
	TypeText   // its values are recorded as the text that a trace shows
	TypeWraps  // its values are errors that wrap others
)

// The flags of a layout.
const (
	LayoutDeep    = 1 << iota // what pointers to structs point to is there
	LayoutPanic               // the value is that of a panic
	LayoutDynamic             // each value has the number of its type in front, as in an interface
	LayoutNested              // of what pointers lead to, what is nested is there too, and of all pointers
	LayoutOwn                 // this and higher flags are the core's own, and not in recordings
)

// LayoutImplied, with a function's key from bit 1 on, is the number of the layout that records of
// its parameters leave out. With bit 0 set it is that of its results.
const LayoutImplied = 1 << 31

// MetadataTypes and MetadataStreams declare all of the above in the language of the Common Trace
// Format. The core writes the types, with the recording's UUID in the place of UUID, an enum of
// the functions called func_t, and the streams.
const MetadataTypes = `
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := char_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.ticks.value; } := ticks_t;
typealias integer { size = 32; align = 8; signed = false; map = clock.ticks.value; } := low_t;

trace {
	major = 1;
	minor = 8;
	uuid = "UUID";
	byte_order = le;
	packet.header := struct { uint32_t magic; uint32_t stream_id; uint8_t uuid[16]; };
};
`

const MetadataStreams = `
struct packet {
	ticks_t timestamp_begin;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t events_discarded;
	uint64_t packet_seq_num;
	uint64_t cpu_id;
};

stream {
	id = 0;
	packet.context := struct packet;
	event.header := struct { low_t timestamp; uint8_t id; } align(64);
	event.context := struct { uint8_t words; uint16_t depth; };
};
stream {
	id = 1;
	packet.context := struct packet;
	event.header := struct { ticks_t timestamp; uint32_t id; };
	event.context := struct { uint32_t bytes; };
};

struct head { func_t func; uint32_t call; };
struct values { uint32_t layout; uint32_t size; uint8_t data[size]; };
event { name = "entry"; id = 1; stream_id = 0; context := struct head; fields := struct { }; };
event { name = "entry_args"; id = 2; stream_id = 0; context := struct head; fields := struct { struct values args; }; };
event { name = "exit"; id = 3; stream_id = 0; context := struct head; fields := struct { }; };
event { name = "exit_results"; id = 4; stream_id = 0; context := struct head; fields := struct { struct values results; }; };
event { name = "exit_panic"; id = 5; stream_id = 0; context := struct head; fields := struct { struct values value; }; };
event { name = "exit_goexit"; id = 6; stream_id = 0; context := struct head; fields := struct { }; };
event { name = "recovered"; id = 7; stream_id = 0; context := struct head; fields := struct { struct values value; }; };
event { name = "mock"; id = 8; stream_id = 0; context := struct head; fields := struct { }; };
event { name = "goroutine_start"; id = 9; stream_id = 0; context := struct head; fields := struct { uint64_t parent; uint64_t call; }; };
event { name = "goroutine_end"; id = 10; stream_id = 0; context := struct head; fields := struct { }; };
event { name = "note"; id = 11; stream_id = 0; context := struct head; fields := struct { uint32_t zero; uint32_t size; char_t text[size]; }; };
event { name = "line"; id = 12; stream_id = 0; context := struct head; fields := struct { int32_t level; uint32_t size; char_t text[size]; }; };
event { name = "probe"; id = 13; stream_id = 0; context := struct head; fields := struct { uint64_t call; struct values args; }; };
event { name = "wait"; id = 14; stream_id = 0; context := struct head; fields := struct { uint64_t call; uint64_t begin; uint64_t ready; uint64_t object;
	uint64_t by; uint64_t by_call; func_t by_func; uint32_t site; uint64_t operation; }; };
event { name = "after"; id = 15; stream_id = 0; context := struct head; fields := struct { struct values args; }; };
event { name = "off"; id = 16; stream_id = 0; context := struct head; fields := struct { uint64_t since; uint64_t calls; }; };
event { name = "on"; id = 17; stream_id = 0; context := struct head; fields := struct { uint64_t since; uint64_t calls; }; };
event { name = "blocked"; id = 18; stream_id = 0; context := struct head; fields := struct { uint64_t object; uint64_t by; uint64_t by_call; func_t by_func; uint32_t mode; uint64_t since; }; };
event { name = "entry_late"; id = 19; stream_id = 0; context := struct head; fields := struct { uint64_t call; uint64_t began; }; };
event { name = "select"; id = 20; stream_id = 0; context := struct head; fields := struct { uint64_t call; uint64_t begin; uint64_t ready; uint64_t object;
	uint64_t by; uint64_t by_call; func_t by_func; uint32_t site; uint64_t operation; uint64_t n; uint64_t others[n]; }; };
event { name = "waiting"; id = 21; stream_id = 0; context := struct head; fields := struct { uint64_t call; uint64_t begin; uint64_t ready; uint64_t object;
	uint64_t by; uint64_t by_call; func_t by_func; uint32_t site; uint64_t operation; uint64_t n; uint64_t others[n]; }; };
event { name = "turn"; id = 22; stream_id = 0; fields := struct { uint64_t goroutine; uint64_t ticks; }; };
event { name = "exit_near"; id = 23; stream_id = 0; fields := struct { }; };
event { name = "exit_near_results"; id = 24; stream_id = 0; fields := struct { struct values results; }; };
event { name = "entry_long"; id = 25; stream_id = 0; context := struct head; fields := struct { uint64_t call; }; };
event { name = "entry_long_args"; id = 26; stream_id = 0; context := struct head; fields := struct { uint64_t call; struct values args; }; };
event { name = "entry_words"; id = 27; stream_id = 0; context := struct head; fields := struct { uint64_t args[stream.event.context.words]; }; };
event { name = "exit_words"; id = 28; stream_id = 0; fields := struct { uint64_t results[stream.event.context.words]; }; };

event { name = "process"; id = 1; stream_id = 1; fields := struct { uint64_t pid; int64_t start; uint64_t nargs;
	string release; string os; string arch; string executable; string args[nargs]; }; };
event { name = "clock"; id = 2; stream_id = 1; fields := struct { uint64_t ticks; int64_t monotonic; int64_t wall; }; };
event { name = "func"; id = 3; stream_id = 1; fields := struct { uint64_t key; uint64_t line;
	string import_path; string symbol; string name; string file; string params; string clause; }; };
event { name = "type"; id = 4; stream_id = 1; fields := struct { uint64_t number; uint64_t kind; uint64_t flags; uint64_t size; uint64_t length;
	uint64_t elem; uint64_t nfields; string name; struct { uint64_t type; string name; } fields[nfields]; }; };
event { name = "layout"; id = 5; stream_id = 1; fields := struct { uint64_t number; uint64_t flags; uint64_t ntypes; uint64_t types[ntypes]; }; };
event { name = "lost"; id = 6; stream_id = 1; fields := struct { uint64_t processor; uint64_t records; }; };
event { name = "code"; id = 7; stream_id = 1; fields := struct { uint64_t address; string name; }; };
event { name = "probe"; id = 8; stream_id = 1; fields := struct { uint64_t key; uint64_t line;
	string import_path; string symbol; string name; string file; string params; string clause; }; };
event { name = "captured"; id = 9; stream_id = 1; fields := struct { uint64_t layout; uint64_t npaths; string paths[npaths]; }; };
event { name = "timer"; id = 10; stream_id = 1; fields := struct { uint64_t number; }; };
event { name = "wait"; id = 11; stream_id = 1; fields := struct { uint64_t key; uint64_t line;
	string import_path; string symbol; string name; string file; string params; string clause; }; };
event { name = "site"; id = 12; stream_id = 1; fields := struct { uint64_t number; uint64_t line; string name; string file; }; };
event { name = "span"; id = 13; stream_id = 1; fields := struct { uint64_t key; uint64_t line;
	string import_path; string symbol; string name; string file; string params; string clause; }; };
event { name = "file"; id = 14; stream_id = 1; fields := struct { uint64_t number; string name; }; };
event { name = "channel"; id = 15; stream_id = 1; fields := struct { uint64_t channel; uint64_t word; }; };
event { name = "running"; id = 16; stream_id = 1; fields := struct { uint64_t ticks; int64_t monotonic; int64_t wall; }; };
`

// The timers.
const (
	TimerCycle = iota
	TimerNanosecond
	TimerMicrosecond
	TimerMillisecond
	TimerTick
	Timers
)

// Timer is what was measured of a timer.
type Timer struct {
	Frequency  uint64 // units a second; 0: there is no such timer here
	Resolution uint64 // units by which it goes on at least
	Overhead   uint64 // cycles that reading it takes
}

// The memory file.
const (
	MemoryVersion = 19                 // of the head and of all that follows here
	MemoryMagic   = 0x6576696C72746601 // "\x01ftrlive"

	Page       = 4096
	RequestAt  = 1 * Page // the text of a request, of at most RequestMax bytes
	ReplyAt    = 17 * Page
	RequestMax = 16 * Page
	HeadSize   = 33 * Page

	ProcessorsMax = 1024  // nothing is kept of more
	SessionsMax   = 8     // sessions at once
	HistoryMax    = 1000  // calls of a goroutine's history, whatever FTRACE_MEMORY says
	Crossings     = 4096  // calls that a cut was made in, of each processor
	SpansMax      = 10000 // the last spans
	ProbesMax     = 10000 // the last probes that fired
	SpanKindsMax  = 1000  // kinds of them; what is of no other is of the kind other
)

// A Head is what the memory file begins with.
type Head struct {
	Magic     uint64
	Version   uint32
	Size      uint32 // of this head
	PID       uint64
	UUID      [16]byte // of its recordings
	Begun     Clock    // when the sections were made
	Now       Clock    // when the last request was answered
	Armed     uint32   // the sections are there; atomic
	Consumers uint32   // Consumer...: what is kept, since anyone wants it; atomic
	Functions uint32   // that are registered; their flags follow one another, by key
	Timer     uint32   // the one in use, Timer...
	Cuts      uint32   // how many were made: the lowest bit tells which half is written to; atomic
	Waits     uint32   // Consumer...: what is kept of waits, as Consumers; atomic
	Timers    [Timers]Timer
	Lost      Losses

	Request   uint32 // number of the last request, written by the process that makes it; waited for
	Reply     uint32 // number of the last one answered
	Kind      uint32 // Ask...
	Failed    uint32 // the reply is an error message
	Asked     uint32 // bytes of the request, and of the reply
	Answered  uint32
	Recording uint32 // To...
	Observer  uint32 // whose request it is: 0 the program's own settings, or the number of a session
	Sessions  uint32 // bit n-1: session n is there, and its reader makes the beats; atomic
	Directory int32  // descriptor of the directory that the program's own recording is in, 0: there is none
	Beats     [SessionsMax]uint64

	Tables, Flags, Goroutines, Frames, Processors Section

	// Within a processor's part, after its Processor; of what is there twice, in the first half:
	LongAt, LongMax, SummariesAt, SummariesMax, RingAt, RingChunks, RingChunk, HistoryMax, FrameSize uint64

	TalliesAt  [Tallies]uint64
	TalliesMax uint64 // rows of each, a power of two
	Note       uint64 // from readers to each other; anyone may write it

	CrossingsAt, CrossingsMax, HalfSize uint64

	WaitsAt uint64 // the last waits, as LongAt, and as many

	Own [2]uint32 // what of Consumers and Waits the program's own settings want

	Spans Section // the last spans of all goroutines, each a Span; Used is how many there were

	Running uint64 // how many goroutines there were at the last look
	LeftOut uint64 // functions of which calls were left out to keep within the budget; atomic
	Kept    uint64 // millionths of the processor time that calls may cost that only consumers see, 0: there is no limit

	Probes Section // the last static probes that fired, each a Probe; Used is how many there were

	Spent uint64 // ns of processor time that calls have cost while there was a budget, as that measures it; atomic
	Code  uint64 // where the program's Go code is in memory

	OthersAt uint64 // Others of each of the last waits, as WaitsAt
}

// A Clock is one moment by three clocks.
type Clock struct {
	Ticks           uint64
	Monotonic, Wall int64 // ns
}

// Losses count what there was no room for; atomic.
type Losses struct {
	Functions  uint64 // functions for which there is no room
	Goroutines uint64 // goroutines that are not in the section
	Frames     uint64 // stacks and histories that are not
	Tables     uint64 // records of the tables
	Calls      uint64 // calls that were not seen
	Tallies    uint64 // calls without a row in the summaries by goroutine, caller or receiver
}

// A Section is a part of the file: Used of at most Max entries of Size bytes each.
type Section struct {
	At, Size, Max, Used uint64
}

// The kinds of requests.
const (
	AskLook      = 1 + iota // begin the tables, make a cut
	AskRules                // rules: put them in force
	AskSwitch               // pairs of key and Switch...; of a session SwitchOn looks, anything else does not
	AskRecord               // directory: record there
	AskRing                 // record to rings
	AskStop                 // record no more
	AskClear                // consumers of calls, of waits: forget what they have; summaries by something have both
	AskTimers               // measure the timers
	AskSession              // begin the session
	AskDetach               // end it, with its rules and its recording
	AskDump                 // directory: write what the rings have there
	AskTimer                // number: another timer
	AskMute                 // goroutines, and whether to look at them
	AskActors               // rules: which goroutines to look at
	AskObjects              // rules: which functions stay off
	AskStates               // number: list the goroutines of the program from that one on
	AskConsumers            // consumers of calls, of waits: keep these
	AskStuck                // nanoseconds: find the goroutines that nothing can wake, with the world stopped that long at most
	AskWhat                 // addresses of locks and channels: what they are, and what leads there
	AskLocks                // number: list who holds locks, and findings, from that one on
	AskBudget               // millionths of the processor time, 0: none: what the observer's recording may cost; all bits of the program's own: what FTRACE_BUDGET says
	AskKept                 // millionths of the processor time, 0: none: what calls may cost that only the consumers see
)

// What a list of locks says first of each entry.
const (
	LockHeld         = 1 + iota // a goroutine holds a lock
	FindingOrder                // two goroutines took two locks in opposite orders
	FindingRecursion            // one took a lock for reading twice
	FindingLong                 // one held a lock for long
)

// How a lock is held.
const (
	HoldMutex = 1 + iota // or a writer of an RWMutex that waits for its readers
	HoldWrite
	HoldRead
)

// What a function can be switched to.
const (
	SwitchOn = 1 << iota
	SwitchOff
	SwitchTimed
	SwitchUntimed
)

// Where a program that was asked to records.
const (
	ToNothing = iota
	ToRings
	ToFiles
)

// The consumers: what is kept of calls.
const (
	ConsumerHistory = 1 << iota
	ConsumerHistoryLong
	ConsumerSummary
	ConsumerGoroutines
	ConsumerCallers
	ConsumerReceivers
	ConsumerCurrent // calls under way, which are there too while another is on
	ConsumersAll    = 1<<iota - 1
	// ConsumerLocks is who holds which lock. It is among the consumers of waits that someone wants,
	// but neither in ConsumersAll nor in Head.Waits.
	ConsumerLocks = 1 << 31
)

// What else can be forgotten of calls.
const (
	ClearStatements    = (ConsumersAll + 1) << iota // the last ones that have ended
	ClearStages                                     // likewise
	ClearStatementSums                              // summaries by kind
	ClearStageSums
	ClearProbes    // the last ones that fired
	ClearProbeSums // summaries by probe
)

// The flags of a function in the section for these.
const (
	FunctionOn      = 1 << iota // its calls are seen
	FunctionUntimed             // they are not timed
	FunctionMeant               // they would be seen but for the rules of setup_objects
	FunctionCoarse              // they would not be timed but for these
)

// A Goroutine is the state of one that has called an armed function.
type Goroutine struct {
	Depth       int32 // calls under way that are noted
	_           uint32
	Events      uint64 // calls noted so far
	_           [2]byte
	Muted       bool // it is not looked at
	_           [37]byte
	Calls       uint64 // in its history so far
	_           uint64
	ID          uint64 // 0: none
	_           uint64
	HistoryAt   uint64 // in the file, 0: it has none
	FramesAt    uint64
	Parent      uint64 // the goroutine that started it, 0: unknown
	ParentCount uint64 // in which call
	ParentKey   uint32 // of which function
	_           uint32
	Start       uint64 // address of the function that it was started with
	_           [56]byte
	Waited      uint64 // waits in its history of these so far
	WaitsAt     uint64 // as HistoryAt
}

// A Frame is a call under way.
type Frame struct {
	Place  Place // of its entry, with the ticks; 0 if nothing was noted of it
	Key    uint32
	Flags  uint32 // Frame...
	Event  uint64 // number of the call among those noted on its goroutine, from 1
	Count  uint64 // number of the call among those of the function
	Object uint64 // the receiver's address if it is a pointer
	Cut    uint32 // cuts when it began; written before all else
	Mask   uint32 // the core's own
	Within uint64 // ticks of the calls and waits within it that were noted and have ended
}

// The flags of a frame.
const (
	FrameAtReturns = 1 << iota // the function is traced at its returns: its exit is not seen if it panics
	FrameRecovered             // the function recovered a panic
	FramePanicked              // the call ended by a panic that was recovered further up
	FrameHeldLost              // its entry line is still to be shown, but did not fit into the held text
	FrameReplaced              // a replacement was called in its place
	FramePrinted               // its entry line was printed
	FrameNotTimed              // it was not when it began
	FrameHasText               // there is text that belongs to it
	FrameAtEnd                 // it was left out to keep within the budget; if it is noted then when it ends
	FrameEnded                 // the call has ended, and is where calls that have ended are kept
	FrameFlags     = 1<<iota - 1
)

// A Place is where a record is, in the rings or in files.
type Place struct {
	Ticks uint64 // 0: the call was not noted
	Where uint64 // number of the packet, the processor from bit PlaceProcessor on, and the offset in words from bit PlaceOffset on
}

const (
	PlaceProcessor = 32
	PlaceOffset    = 48
	Nowhere        = 0xFFFF << PlaceProcessor // nothing is recorded
)

// A Processor is what a processor's part begins with.
type Processor struct {
	Calls   uint64 // in the long history so far
	_       [14]uint64
	Lost    uint64 // records
	_       uint64
	Crossed uint64 // calls put among the crossings so far
	Waits   uint64 // in the long history of waits so far
}

// A Call is one that has ended, in a history; or a wait, with CallWait.
type Call struct {
	Number    uint64 // 1 + how many were put into this history before
	Key       uint32
	Flags     uint32 // Call...
	Goroutine uint64
	Start     uint64 // ticks; 0: it was not timed
	End       uint64 // ticks; if it was not timed they only tell its order
	Event     uint64 // number of the call on its goroutine, from 1
	Nesting   uint64 // that of the call around it, 0: none
	Last      uint64 // number of the last call on its goroutine when it ended
	Count     uint64 // number of the call among those of the function
	Entry     Place  // its records, if there are any
	Exit      Place
	Object    uint64 // the receiver's address if it is a pointer
	Depth     uint32 // calls around it
	Cut       uint32 // if a cut was made in it: cuts when it ended
}

// The flags of a call that has ended.
const (
	CallPanicked = 1 << iota
	CallGoexit
	CallFailed // its last result was an error that is not nil
	CallReplaced
	CallWait   // what it has of who ended the wait is packed, see WaitRunnable
	CallSelect // it is a wait for several channels, see Others
)

// Of a wait, the Flags of a Call have the number of its site from bit CallSite on. Count is the
// number of the call in which the wait was ended. Entry.Where is the goroutine that ended it, and
// Entry.Ticks the Operation of a Wait.
// Exit.Where has how long the goroutine was runnable then, in ticks, and the key of the function
// that ended it from bit WaitFunction on.
const (
	CallSite     = 8
	WaitFunction = 40
	WaitRunnable = 1<<WaitFunction - 1 // the longest such time; also if it is not known
)

// OthersMax is how many channels of a select are listed, beside the one that let the goroutine go
// on.
const OthersMax = 15

// Others are the addresses of the other channels of a select, a wait in a history with CallSelect.
// Entry.Ticks of the Call says how many there are. They are at its place in a list of their own.
// For the last waits of a processor that list begins at OthersAt of the Head. For those of a
// goroutine the word after both halves of its history says where it begins; 0: there is none. It
// has two halves too.
type Others [OthersMax]uint64

// A Span is a statement or stage that has begun: a call that has text.
type Span struct {
	Number    uint64 // 1 + how many began before; 0 while the rest is written
	Key       uint32 // of its kind
	Flags     uint32 // Call..., SpanStage
	Goroutine uint64
	Start     uint64 // ticks; 0: it is not timed
	End       uint64 // ticks; 0: it is under way
	Event     uint64 // as of a Call
	Nesting   uint64
	Last      uint64
	Depth     uint32
	Status    int32  // that the other side answered with, 0: none
	Text      uint16 // bytes of what it is about
	Trace     uint16 // bytes of where a request is in its trace, after the text: 0, SpanTrace, or SpanTrace+SpanParent
	Message   uint32 // bytes of its error, after that
	Bytes     [SpanText + SpanMessage]byte
}

const (
	SpanText    = 320     // bytes of text that are kept
	SpanTrace   = 49      // 32 digits, a dash and 16 digits
	SpanParent  = 16      // digits
	SpanMessage = 112     // bytes of the error's message; fewer after a long text with a trace
	SpanStage   = 1 << 16 // flag: it is a stage, not a statement
)

var _ = [1]int{}[unsafe.Sizeof(Span{})-512] // it lies within a page

// A Probe is a static probe that fired.
type Probe struct {
	Number    uint64 // 1 + how many fired before; 0 while the rest is written
	Key       uint32
	Depth     uint32 // calls around it
	Goroutine uint64
	Ticks     uint64 // 0: it is not timed
	Event     uint64 // as of a Call
	Nesting   uint64
	Count     uint64    // how many times the probe has fired
	Values    [2]uint32 // its arguments: their layout, 0: none; their size
	Bytes     [ProbeBytes]byte
}

const ProbeBytes = 960 // bytes of arguments that are kept

var _ = [1]int{}[unsafe.Sizeof(Probe{})-1024] // it lies within a page

// A Summary is the summary of all calls of a function on a processor.
type Summary struct {
	Count          uint64
	Sum, Min, Max  uint64 // ticks, of those that were timed
	Self           uint64 // ticks, without the calls within it of functions that are armed too; of a wait, without the time in which its goroutine could run
	Errors, Panics uint64
	Bytes          uint64       // of operations
	LeftOut        uint64       // of Count, those that were left out to keep within the budget; a processor's may be negative
	Uncounted      uint64       // 1: calls were left out that are not in Count
	Log2           [Log2]uint64 // by the number of bits of the ticks; the last one also has what is longer
}

const Log2 = 48

// The tables of summaries by something else than the function.
const (
	ByGoroutine = iota // its id
	ByCaller           // the key of the function around it, 0: there was none
	ByReceiver         // its address
	Tallies
)

// A Tally is a row of these tables.
type Tally struct {
	By             uint64
	Key            uint32 // 0: nothing was written here yet
	State          uint32 // the core's own
	Count, Timed   uint64
	Sum, Min, Max  uint64 // ticks, of those that were timed
	Self           uint64
	Errors, Panics uint64
	Bytes          uint64
	_              [5]uint64 // rows lie within pages
}

// TableVersion is that of Package and of the room that is left for the core. The core refuses
// tables of another version.
const TableVersion = 12

// A Package is what the rewriter writes of an instrumented package.
type Package struct {
	Version uintptr
	Path    string // import path
	Symbol  string // what precedes the function's name in symbols: the import path, or "main"
	Clause  string // the name in the package clause
	Files   []string
	// A line each: line, file, name, params; then, of those without a hook: !, name, reason. If
	// FTRACE_INLINE=keep left out some that the compiler would inline: "! * FTRACE_INLINE=keep".
	Funcs string
	// The constants of integer types, a line each: type VALUE NAME,VALUE NAME
	Constants string
	// Its error variables and error types, or nil: name, pointer to the variable or nil pointer to
	// the type, name, and so on. A method is called, and no function or table, since the order in
	// which variables are initialised does not depend on what a method mentions. If the build wants
	// them (FTRACE_VARIABLES), all variables are returned by another method, Variables.
	Lists  interface{ Errors() []any }
	Nfuncs uintptr
	Hooks  unsafe.Pointer // Nfuncs hooks
	Table  unsafe.Pointer // room for as many entries
	Next   unsafe.Pointer // the core's: what was registered after it, which may be on the heap
}

// The words of 8 bytes that are left, empty, for the core to use: after a Package, and after the
// pointer that each entry of its table begins with. The garbage collector does not look at them.
const (
	PackageWords = 2
	EntryWords   = 22
)
