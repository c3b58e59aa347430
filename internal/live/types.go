package live

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// Found is a process whose program was built with ftrace-wrap.
type Found struct {
	PID        int
	Executable string
	Args       []string
	Armed      bool      // some function's calls are traced
	Recording  Recording // where it records
	Session    bool      // a session is under way
	Err        error     // why Attach fails: a VersionError; then the three fields before are not known
}

// Called reports whether the process runs an executable of that name. On Windows case is the same,
// and .exe may be left out.
func (f *Found) Called(name string) bool {
	base := filepath.Base(f.Executable)
	if runtime.GOOS == "windows" {
		plain := func(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".exe") }
		return plain(base) == plain(name)
	}
	return base == name
}

// A VersionError says that a program was built by another version of ftrace-wrap, whose memory has
// another layout than this package knows.
type VersionError struct {
	Version, Size int // of the memory file and of its head
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("its memory has version %d (%d bytes), and this ftrace reads version %d (%d bytes): use the ftrace that came with the program's ftrace-wrap",
		e.Version, e.Size, format.MemoryVersion, unsafe.Sizeof(format.Head{}))
}

// Recording says where a program records by a request. A program that records because of its
// environment has none of these values.
type Recording uint32

const (
	NotRecording Recording = format.ToNothing
	ToRings      Recording = format.ToRings
	ToFiles      Recording = format.ToFiles
)

// Consumers is a set of what programs keep of calls in memory.
type Consumers uint32

const (
	History     Consumers = format.ConsumerHistory     // the last calls of each goroutine
	HistoryLong Consumers = format.ConsumerHistoryLong // the last calls of all
	Summary     Consumers = format.ConsumerSummary     // counts and times of each function
	ByGoroutine Consumers = format.ConsumerGoroutines  // the same, of each function on each goroutine
	ByCaller    Consumers = format.ConsumerCallers     // by the function that called it
	ByReceiver  Consumers = format.ConsumerReceivers   // by the address of the receiver, of methods of pointers
	Current     Consumers = format.ConsumerCurrent     // the calls under way, which are also there while another is on

	AllConsumers Consumers = format.ConsumersAll

	// What Clear can forget too.
	Statements    Consumers = format.ClearStatements // the last ones that have ended
	Stages        Consumers = format.ClearStages
	StatementSums Consumers = format.ClearStatementSums
	StageSums     Consumers = format.ClearStageSums
	Probes        Consumers = format.ClearProbes
	ProbeSums     Consumers = format.ClearProbeSums

	LockHolders Consumers = format.ConsumerLocks // of waits: who holds which lock
)

// Contents is a set of the parts of a snapshot that are large. Who does not need one need not read
// it.
type Contents uint32

const (
	SumsByFunction  Contents = 1 << iota // Summary of each function
	SumsByGoroutine                      // ByGoroutine
	SumsByCaller                         // ByCaller
	SumsByReceiver                       // ByReceiver
	SumsOfWaits                          // Summary of each kind of waits
	LongCalls                            // Long
	LongWaits                            // LongWaits
	Histograms                           // Log2 of the Summaries that it has

	AllContents Contents = 1<<iota - 1
)

// A Switch says what a function is switched to; several can be combined.
type Switch uint32

const (
	On      Switch = format.SwitchOn
	Off     Switch = format.SwitchOff
	Timed   Switch = format.SwitchTimed
	Untimed Switch = format.SwitchUntimed
)

var timerNames = [format.Timers]string{"CYCLE", "NANOSECOND", "MICROSECOND", "MILLISECOND", "TICK"}

// A Rule is a row of one of the tables by which a program chooses what it traces. Patterns are
// those of SQL's LIKE, without regard to case. The last rule that matches decides; what none
// matches is off.
type Rule struct {
	On, Timed bool
	Patterns  [3]string
}

// Setup is what a program was told to trace, besides its rules.
type Setup struct {
	// Objects are for functions. The patterns are package, type, and function without its type. A
	// function that is off stays off whatever else says otherwise, and the same holds for untimed.
	// nil: all are on.
	Objects []Rule
	// Actors are for goroutines, when they call an armed function for the first time, and when
	// their labels (runtime/pprof) have changed. The patterns are the function that the goroutine
	// was started with, as an instrument (call/main/main), and a label, as key=value: % is for any
	// goroutine, labelled or not. nil: all are on.
	Actors []Rule
}

// A Timer is one by which calls can be timed (FTRACE_TIMER), with what was measured of it.
type Timer struct {
	Name       string
	Frequency  uint64 // units a second, 0: there is no such timer
	Resolution uint64 // units by which it advances
	Overhead   uint64 // cycles that a reading takes
	Used       bool
}

// A Snapshot is the state of a program at one moment. All that it has of calls, histories, sums and
// stacks, is of that moment.
type Snapshot struct {
	Program    *recording.Recording // functions' names, types; it has no events
	Clock      recording.Converter
	Begun, Now recording.Clock // when the program was first armed; when the snapshot was taken
	Latest     uint64          // ticks of the latest moment in it
	Running    uint64          // how many goroutines there were, with those that called nothing armed
	Functions  []Function      // by key; the first is no function
	Goroutines []Goroutine
	Long       []Call  // the last calls of all, in the order in which they ended
	LongWaits  []Wait  // the last waits of all, likewise
	LongMax    int     // how many are kept
	Spans      []Span  // the last statements and stages of all, in the order in which they began
	SpansMax   int     // how many are kept
	Fired      []Fired // the last static probes of all, in the order in which they fired
	FiredMax   int     // how many are kept
	HistoryMax int     // and how many of each goroutine
	Limits     Limits
	Lost       Losses
	Kept       int    // what calls may cost that only the consumers see, in percent of the processor time; 0: there is no limit
	LeftOut    uint64 // functions of which calls were left out to keep within the budget
	Timer      string // the timer by which calls are timed
	Setup      Setup
	// What was counted while these consumers were on.
	ByGoroutine []Tally
	ByCaller    []Tally
	ByReceiver  []Tally
}

// A Span is a statement that the program sent to a server, or a stage: an HTTP request that it
// served or made.
type Span struct {
	Function             uint32 // its kind
	Goroutine            uint64
	Event, Nesting, Last uint64 // as of a Call
	Depth                int
	Start, End           uint64 // ticks; 0: it is not timed, it is under way
	Panicked, Failed     bool
	Status               int    // that the other side answered with, 0: none
	Text                 string // what it is about, at most format.SpanText bytes
	Trace, Parent        string // of a request in a trace: 32 digits, a dash, and the 16 of its id; those of its parent's id; "": there is none
	Message              string // of its error
}

// A Fired is a static probe that fired.
type Fired struct {
	Function       uint32 // the probe
	Goroutine      uint64
	Event, Nesting uint64 // as of a Call
	Depth          int
	At             uint64 // ticks; 0: it is not timed
	Count          uint64 // how many times the probe has fired
	Layout         uint32 // of its arguments, 0: there are none
	Data           []byte
}

// Limits of what a program keeps of spans.
const (
	SpanKindsMax = format.SpanKindsMax
	SpanTextMax  = format.SpanText // bytes of a text
)

// A Tally is a summary of a function's calls by something more. Several may be of the same function
// and thing: each processor has its own.
type Tally struct {
	Function uint32
	// the goroutine, 0 for those that have ended and whose rows were needed; or the key of the
	// caller, 0 if there was none; or the address of the receiver
	By    uint64
	Timed uint64 // how many of the calls were timed
	Sums
}

// Add adds the calls of other.
func (t *Tally) Add(other *Tally) {
	if other.Timed > 0 && (t.Timed == 0 || other.Min < t.Min) {
		t.Min = other.Min
	}
	t.Timed += other.Timed
	t.Count += other.Count
	t.Sum += other.Sum
	t.Max = max(t.Max, other.Max)
	t.Self += other.Self
	t.Errors += other.Errors
	t.Panics += other.Panics
	t.Bytes += other.Bytes
}

// A Function is a function of the program, and its counts.
type Function struct {
	Enabled bool    // its calls are traced
	Timed   bool    // and timed
	On      bool    // they would be traced if Setup.Objects allowed it
	Untimed bool    // they would not be timed even if that allowed it
	Summary *Counts // without calls where the snapshot has no SumsByFunction, or SumsOfWaits
}

// Buckets is the number of buckets in the histogram of a function's times. The nth has the calls
// that took from 2^(n-1) to 2^n - 1 ticks. The last one also has those that took longer.
const Buckets = format.Log2

// Sums are of calls that have ended. Times are in ticks, of the calls that were timed.
type Sums struct {
	Count, Sum, Min, Max uint64
	Self                 uint64 // without armed functions called within it
	Errors, Panics       uint64
	Bytes                uint64 // that operations read or wrote
}

// Counts are the counts and times of a function's calls that have ended.
type Counts struct {
	Sums
	Timed   uint64   // how many of the calls were timed
	LeftOut uint64   // of Count, those that were left out to keep within a budget
	More    bool     // calls were left out that Count does not have
	Log2    []uint64 // the histogram; nil if the function has no calls, or the snapshot no Histograms
}

// A Goroutine is one that has called an armed function.
type Goroutine struct {
	ID         uint64
	Parent     uint64 // the goroutine that started it, 0 if that was not in an armed function
	ParentFn   uint32 // the key of that function, and the number of its call
	ParentCall uint64
	Start      uint64 // address of the function that it was started with
	Stack      []Frame
	History    []Call // in the order in which they ended
	Waits      []Wait // the last waits, likewise
	Muted      bool   // it is not traced
}

// A Frame is a call under way.
type Frame struct {
	Function uint32
	Start    uint64 // ticks
	Event    uint64 // it is the nth call on its goroutine
	Count    uint64 // it is the nth call of the function; of a wait what is done with a file, as in Wait
	Entry    Place
	Timed    bool
	Receiver uint64 // its address, 0: there is none, or it is not a pointer
	Within   uint64 // ticks of the calls and waits within it that have ended
	Left     bool   // it has ended since: Within is not known
}

// A Call is one that has ended.
type Call struct {
	Function  uint32
	Panicked  bool
	Goexit    bool
	Failed    bool // its last result was an error that is not nil
	Replaced  bool // a mock was called instead
	Goroutine uint64
	Start     uint64 // ticks; 0: it was not timed
	End       uint64 // if it was not timed this only tells the order
	Event     uint64 // it is the nth call on its goroutine
	Nesting   uint64 // number of the call around it, 0: there is none
	Last      uint64 // number of calls that the goroutine had begun when it ended
	Count     uint64 // it is the nth call of the function
	Depth     int    // number of calls around it
	Receiver  uint64 // its address, 0: there is none, or it is not a pointer
	Entry     Place  // its parameters
	Exit      Place  // its results
}

// A Wait is one that has ended. What it has in common with a Call is without a Count, Entry and
// Exit.
type Wait struct {
	Call
	Runnable  uint64 // ticks from when the goroutine could go on until it did
	Known     bool   // Runnable is known
	Site      uint32 // where it stopped, see recording.Recording.Site; 0: not known
	Operation uint64 // what was done with a file, see recording.Operation; 0: it was waited for
	Ender     Ender
	Others    []uint64 // the other channels of a select, up to 15
}

// An Ender is who ended a wait.
type Ender struct {
	Goroutine uint64 // 0: none did
	Function  uint32 // in which function, 0: in none that was seen
	Call      uint64 // in its nth call
}

// A Place is where a record is, in the rings; see Process.Event.
type Place struct {
	ticks     uint64
	number    uint64
	processor int // -1: there is no record
	offset    int
}

// Memory is what a part of the memory file is used for: how many entries it has, the bytes of
// memory that it takes, and how many entries it can have.
type Memory struct {
	Name               string
	Count, Bytes, Most uint64
}

// Limits are how many there is room for: functions with kinds of waits and probes, goroutines, and
// rows of each summary by something more than the function, on each processor.
type Limits struct{ Functions, Goroutines, Rows int }

// Losses count what there was no room for.
type Losses struct {
	Functions  uint64 // functions, kinds of waits and probes that have no summary
	Goroutines uint64 // goroutines that are not shown
	Frames     uint64 // stacks and histories that are not shown
	Tables     uint64 // names of functions and types
	Records    uint64 // of recordings
	Tallies    uint64 // calls for which the summaries by something more had no row
}

// A State is where a goroutine of the program is, whether it has called an armed function or not.
type State struct {
	ID      uint64
	Parent  uint64 // the goroutine that started it
	Status  Status
	Kind    uint32        // of its wait: the key, 0: it does not wait, or for something of the runtime's
	Since   uint64        // ticks when it stopped, 0: waits were not observed then
	Least   time.Duration // for how long it has waited at least, if Since is 0: the collector has seen that; 0: it has not
	Stuck   bool          // nothing can wake it any more, as Stuck has found
	Object  uint64        // address of what it waits for, or a file descriptor; 0: unknown, or several
	Objects []uint64      // the channels of a select, or else Object; at most the first 16
	*Stack                // one for all goroutines that have the same; never nil
}

// A Stack is where a goroutine is, and how it came there.
type Stack struct {
	Reason  string // why it waits, as stack traces have it
	Start   string // the function that it was started with
	Creator string // the function that started it
	Calls   []Position
}

// Place returns the innermost call that is in none of the packages by which programs wait, or else
// the outermost, as internal/guest/wait/site.go does; the zero Position if no call is known.
func (s *Stack) Place() (at Position) {
	for _, c := range s.Calls {
		if c.Function == "runtime.main" || c.Function == "runtime.goexit" {
			break
		}
		if c.File == "<autogenerated>" { // what the compiler makes of an embedded method
			continue
		}
		if at = c; !waitsFor(c.Function) {
			break
		}
	}
	return at
}

// waitsFor reports whether a function belongs to a package by which programs wait. Assembly code of
// the runtime belongs to none.
func waitsFor(function string) bool {
	pkg, name := funcname.Split(function)
	if name == "" {
		return true
	}
	switch pkg {
	case "runtime", "sync", "time", "syscall", "os", "net", "io", "bufio":
		return true
	}
	return strings.HasPrefix(pkg, "internal/")
}

// A Scratch is a directory for a recording that is removed in the end.
type Scratch struct {
	Inside string // its name for the process, which makes it
	Here   string // its name for this process
	Remove func() // removes it, with all that is beside it
}

// CopyTo copies the recording to a directory that is not there yet. It follows no link that leads
// out of the recording: the process may have put it there.
func (s *Scratch) CopyTo(dir string) error {
	beside, err := os.OpenRoot(filepath.Dir(s.Here))
	if err != nil {
		return err
	}
	defer beside.Close()
	from, err := beside.OpenRoot(filepath.Base(s.Here))
	if err != nil {
		return err
	}
	defer from.Close()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.CopyFS(dir, from.FS())
}

// A Search for goroutines that nothing can wake any more.
type Search struct {
	Took  time.Duration // for which the program was stopped
	Bytes uint64        // of memory that were looked at
	Late  bool          // it was not finished, so nothing was found
	Found int
}

// An Object is a lock or channel that goroutines wait for, or a lock that one holds.
type Object struct {
	Name     string // as recordings have it, "" if it is not known
	Place    string // where the first of the goroutines waits for it, or has taken it, as recordings have it; "" if it has a name
	Len, Cap uint64 // of a channel
	Timer    bool   // it is a timer that sends
	Elem     string // type of its elements, "" if it is no channel

	hidden bool // package variables lead there, by ways that have no name
}

// ForLock reports whether the goroutine waits for a lock that others hold.
func (s *State) ForLock() bool {
	return s.Status == Waiting && (strings.HasPrefix(s.Reason, "sync.Mutex.") || strings.HasPrefix(s.Reason, "sync.RWMutex."))
}

// chans reports whether it is channels that the goroutine waits for.
func (s *State) chans() bool {
	return strings.HasPrefix(s.Reason, "chan ") || strings.HasPrefix(s.Reason, "select")
}

// Status is what a goroutine does.
type Status uint32

// What goroutines do.
const (
	Runnable  Status = 1
	Running   Status = 2
	InSyscall Status = 3
	Waiting   Status = 4
)

func (s Status) String() string {
	switch s {
	case Runnable:
		return "runnable"
	case Running:
		return "running"
	case InSyscall:
		return "in a system call"
	case Waiting:
		return "waiting"
	}
	return "stopped" // its stack is being copied, or a debugger or the collector has it
}

// A Position is a call that is under way, and where it is in the source.
type Position struct {
	Line           int
	Function, File string
}

// Locks are what a program knows of its locks, of the time while locks were observed.
type Locks struct {
	On       bool   // locks are observed now
	Now      uint64 // ticks
	Lost     uint64 // locks, and orders of locks, for which there was no place
	Holders  []Holder
	Findings []Finding
	Changed  map[uint64]bool // of StatesAndLocks: the locks that no goroutine held all the while
}

// A Holder is a goroutine that holds a lock.
type Holder struct {
	Lock      uint64   // address of the sync.Mutex or sync.RWMutex
	Goroutine uint64   // it may have ended: another may let the lock go
	Mode      HoldMode // a goroutine that holds a lock for reading twice is there twice
	Since     uint64   // ticks, to some 10 ms
	Function  uint32   // key of the innermost armed function in which it took the lock, 0: none
	Call      uint64   // in which call of that
	At        Position // where it took it
}

// A HoldMode is how a lock is held.
type HoldMode uint32

// The ways to hold a lock.
const (
	HoldMutex HoldMode = format.HoldMutex // or a writer of an RWMutex that waits for its readers
	HoldWrite HoldMode = format.HoldWrite
	HoldRead  HoldMode = format.HoldRead
)

// A FindingKind is what is wrong with how locks are held.
type FindingKind uint32

// The kinds of findings.
const (
	FindingOrder     FindingKind = format.FindingOrder     // two goroutines took two locks in opposite orders
	FindingRecursion FindingKind = format.FindingRecursion // a goroutine took a lock for reading while it held it for reading
	FindingLong      FindingKind = format.FindingLong      // a goroutine held a lock for long
)

// A Finding is something that is wrong with how locks are held. What was done at the same places is
// one finding.
type Finding struct {
	Kind   FindingKind
	Count  uint64    // how often it was seen
	Lasted uint64    // ticks, if it is long
	Locks  [2]uint64 // the second act took the second while it held the first; the lowest bit is set if for reading
	Acts   [2]Act    // the first took them in the other order; they are the same if it is no order
}

// An Act is what a goroutine did with two locks.
type Act struct {
	Goroutine uint64
	Since     uint64   // ticks when it took the second; if it is long, when it took the lock
	Function  uint32   // key of the armed function in which it did, 0: none
	Call      uint64   // in which call of that
	Held      Position // where it had taken the first
	Took      Position // where it took the second; if it is long, where it let the lock go
}
