package source

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Source is one process: a running one, or a recording. Its methods may be called by several
// goroutines.
type Source interface {
	// Name is shown in the tables' column PROCESS: the number of a running process, the name of a
	// recording.
	Name() string
	// Alive reports whether the next snapshot may have something new.
	Alive() bool
	// Snapshot returns the current state, with those of the large parts that are requested; it may
	// have others too. The caller does not change it.
	Snapshot(live.Contents) (*Snapshot, error)
	// Timers measures the five timers.
	Timers() ([]Timer, error)

	// Commands. Read-only sources return ErrReadOnly.

	SetInstruments(map[uint32]Flags) error // by key
	SetThreads(map[uint64]bool) error      // whether they are instrumented, by ID
	SetConsumers(Consumers) error
	Want(Consumers) error // have these on too, until the source is closed; others do not see that
	// Look has the calls of functions, by key, kept or no longer, until the source is closed. The
	// process's own settings take precedence, and others see no change of them. A process that
	// prints or records is not looked at so.
	Look(map[uint32]bool) error
	SetTimer(name string) error
	SetBudget(percent int) error                // what calls may cost that only the tables show, 0: there is no limit
	SetRules(kind RuleKind, rules []Rule) error // all rules of that kind; they replace the ones before
	Truncate(Part) error

	Close() error
}

// ErrReadOnly is returned by commands of read-only sources, and for what a source does not have.
var ErrReadOnly = errors.New("read only")

// ErrGone is returned by a source whose process has ended. Its rows are left out.
var ErrGone = errors.New("the process has ended")

// A Snapshot is the state of a process at one moment. Times are in picoseconds since the process
// started, see Picoseconds.
type Snapshot struct {
	Process    Process
	Functions  []Function // in the order of their keys
	Probes     []Function // static probes, likewise
	Waits      []Function // kinds of waits, likewise
	Kinds      []Function // kinds of statements and stages, likewise
	Threads    []Thread   // in the order of their IDs
	Spans      []Span     // the last statements and stages, in the order in which they began
	Fired      []Span     // the last probes that fired, in that order
	Long       []Call     // the last calls, in the order in which they ended
	LongWaits  []Wait     // the last waits, likewise
	Global     []Summary  // by function, and by kind of waits; the other summaries likewise
	ByThread   func() []Summary
	ByCaller   func() []Summary
	ByInstance func() []Summary // by receiver
	Buckets    [64]int64        // where bucket i of histograms ends: its calls were shorter
	Now        int64            // when the snapshot was taken
	Running    int              // how many goroutines there were then, with those that called nothing armed
	Consumers  Consumers
	Timer      string // the timer that is used
	Budget     int    // what calls may cost that only the tables show, in percent of the processor time; 0: there is no limit
	Actors     []Rule
	Objects    []Rule
	Memory     func() []Memory            // nil: there is none
	Lost       []Counter                  // what was lost because the tables for it were full
	Limits     []Counter                  // how large the tables are
	History    int                        // how many events of a thread a history has
	Statements func() (Statements, error) // nil: there are none
	// States returns all goroutines of the process, as they are now. nil: those in Threads are all
	// that are known.
	States func() ([]State, error)
	// Locks returns who holds locks while consumer locks is on, and findings. Of a recording it
	// returns who held those that were waited for at its end. nil: there are none.
	Locks func() (Locks, error)
	// Held returns those of the holders that have held their lock all the while that States listed
	// the goroutines. nil: there are none.
	Held func() ([]Holder, error)
	// Name returns the name of what is at an address: that of a package variable in full, that of
	// a field or parameter, or else that of a place where it was waited for. It returns "" if it is
	// not known. nil: no name is.
	Name func(address uint64) string
	// FileName returns the name by which a file was opened that was waited for, or what the ends of
	// a socket are, or "". nil: none is known.
	FileName func(object uint64) string
	// File says what a descriptor of the process is now, or "". nil: it is not known.
	File func(descriptor uint64) string

	once  sync.Once
	byKey []*Function
	named sync.Once
	spans map[[2]uint64]uint32 // the kinds of Spans, by thread and ID
	under map[uint64]*Span     // the innermost that is under way, by thread
}

// add adds a function to the list for it.
func (s *Snapshot) add(f *recording.Function, flags Flags) {
	to := &s.Functions
	switch {
	case f.Probe:
		to = &s.Probes
	case f.Wait:
		to = &s.Waits
	case f.Span:
		to = &s.Kinds
	}
	*to = append(*to, Function{f.Key, f.Probe, f.Wait, f.Span, f.Package, f.Name, f.File, f.Line, flags})
}

// ObjectName returns the name of what is waited for by a kind of waits: of a lock, or of a file; ""
// if it is not known. A file without a name has that which its descriptor has now if now is set, or
// else fd 3: the descriptor may have been of another then.
func (s *Snapshot) ObjectName(kind uint32, object uint64, now bool) string {
	switch {
	case object == 0:
	case strings.HasPrefix(s.Function(kind).Name, "io/"):
		if s.FileName != nil {
			if name := s.FileName(object); name != "" {
				return name
			}
		}
		descriptor := object & format.ObjectDescriptor
		if now && s.File != nil {
			if name := s.File(descriptor); name != "" {
				return name
			}
		}
		return fmt.Sprintf("fd %d", descriptor)
	case s.Name != nil:
		return s.Name(object)
	}
	return ""
}

// A Process is what a source shows.
type Process struct {
	PID        int
	Executable string
	Args       []string
	Release    string // of Go
	Start      time.Time
	State      string // RUNNING or RECORDED
}

// Flags are those of a function.
type Flags struct{ Enabled, Timed bool }

// A Function is an instrument.
type Function struct {
	Key     uint32
	Probe   bool   // it is a static probe: Package is the provider
	Wait    bool   // it is a kind of waits: Package is wait, Name what follows it
	Span    bool   // it is a kind of statements or stages: Package is statement or stage
	Package string // as in stack traces: main, or the import path
	Name    string // in the package: Get, (*Client).Do
	File    string
	Line    int
	Flags
}

// A Thread is a goroutine.
type Thread struct {
	ID        uint64
	Parent    uint64 // the thread that started it, 0 if that is not known
	Creator   uint32 // the function that started it
	Made      string // its full name, if Creator is 0; "" if it is not known
	Started   string // the full name of the function that it was started with, "" if that is not known
	Entry     uint32 // the first function seen on it
	Ended     bool
	Disabled  bool   // its calls are ignored
	Current   []Call // under way, the outermost first
	Innermost uint64 // ID of the innermost call, statement or stage under way, 0: there is none
	Level     int    // how many are under way
	History   []Call // the last calls, in the order in which they ended
	Waiting   *Wait  // under way; nil: it does not wait, or that is not known
	Stopped   string // why it waits if Waiting does not say it, ""
	Least     int64  // for how many ps it has waited at least, if Waiting does not say since when; 0: not known
	Waits     []Wait // the last waits, in the order in which they ended
}

// Locks are who holds locks, and what is wrong with how they are held.
type Locks struct {
	Holders  []Holder
	Findings []Finding
}

// A Holder is a thread that holds a lock.
type Holder struct {
	Object   uint64
	Mode     string // LOCK of a mutex, WRITE or READ
	Thread   uint64 // it may have ended
	Held     int64  // so far, to some 10 ms
	Function uint32 // the one in which it took the lock, 0: it is not known
	Call     uint64
	Source   string
}

// A Finding is something that is wrong: ORDER of two locks, RECURSION of a read lock, or LONG.
type Finding struct {
	Kind    string
	Count   uint64
	Lasted  int64 // of LONG
	Objects [2]uint64
	// Of an order the first thread took the second object before the first; otherwise there is only
	// the second.
	Acts [2]Act
}

// An Act is what a thread did with two locks.
type Act struct {
	Thread     uint64 // 0: there is none
	Function   uint32
	Call       uint64
	Held, Took string // where it took the first; where it took the second, or let the first go
}

// A State is what a goroutine does.
type State struct {
	Thread  uint64
	Started string   // the full name of the function that it was started with
	Does    string   // running, runnable, or why it waits; "" if Wait says it
	Wait    uint32   // the kind of its wait, 0: none
	Object  uint64   // what it waits for, as of a Wait
	Objects []uint64 // the channels of a select, or else Object
	Waits   bool     // it is neither running nor runnable
	Stuck   bool     // nothing can wake it any more
	Parent  uint64   // the thread that started it
	Creator string   // the full name of the function that did, "" if it is not known
	Since   int64    // when it stopped, -1: not known
	Least   int64    // if it is not: for how many ps it has waited at least, 0: that is not known
	Within  string   // the innermost function that is not of the runtime, "" if it is not known
	Source  string   // where that is, file:line
}

// Awaits returns the objects that a goroutine waits for, at least one, which may be 0.
func (s *State) Awaits() []uint64 {
	if len(s.Objects) > 0 {
		return s.Objects
	}
	return []uint64{s.Object}
}

// An Event is what a call, a wait, a statement, a stage and a probe that fired have in common.
type Event struct {
	Thread   uint64
	ID       uint64 // among the thread's events, from 1; 0: it has none, since it began unobserved
	EndID    uint64 // ID of the thread's last event that began before it ended; 0 while inside
	Nesting  uint64 // ID of the call, statement or stage around it, 0: there is none
	Level    int    // number of them around it
	Function uint32 // or its kind
	Timed    bool
	Inside   bool
	Start    int64
	End      int64 // 0 while inside
}

// Common returns what the event has in common with all others.
func (e *Event) Common() *Event { return e }

// Named returns the name of the event's instrument, EVENT_NAME.
func (e *Event) Named(s *Snapshot) string { return s.Function(e.Function).Instrument() }

// A Call is one call of a function.
type Call struct {
	Event
	Self     int64 // so far, without the calls and waits within it; of one that has ended 0: summaries have that
	Panicked bool
	Failed   bool           // it returned an error
	Values   func() *Values // as far as they were recorded; nil: they were not
}

// A Wait is a time for which a goroutine stopped.
type Wait struct {
	Event
	Runnable int64    // from when the goroutine could go on until it did; -1: not known
	Object   uint64   // address of what it waited for, or a file, see format.ObjectFile; 0: not known
	Others   []uint64 // the other channels of a select, up to 15
	Source   string   // where it stopped, file:line; "": not known
	Place    string   // of a running program: the name that this gives to an object without another one
	Ender    Ender

	Operation recording.Operation // what was done with the file; 0: it was waited for
}

// A Span is a statement that the program sent to a server, or a stage: an HTTP request that it
// served or made. A static probe that fired is one too, which ends when it begins, and has Args.
type Span struct {
	Event
	Failed   bool // it ended by an error
	Panicked bool
	Status   int    // that the other side answered with, 0: none
	Text     string // as much as was kept
	Trace    string // of a request in a trace: 32 digits, a dash, and the 16 of its id; "": it is in none
	Parent   string // the id of its parent in the trace, "": it has none
	Message  string // of its error
	Args     func() Text
}

// An Ender is who ended a wait.
type Ender struct {
	Thread   uint64 // 0: no goroutine, but a timer, the network or the collector
	Function uint32 // in which function, 0: in none that was seen
	Call     uint64 // in its nth call
}

// Values are the values of a call.
type Values struct {
	Object  uint64 // the receiver's address, 0: it is not a pointer
	Args    Text
	Results Text
	Error   Text // the error that it returned, or the value of its panic
}

// Recorded returns a call's values, as far as they were recorded.
func (c *Call) Recorded() *Values {
	if c.Values != nil {
		return c.Values()
	}
	return &Values{}
}

// Text is a string that may be missing because it was not recorded.
type Text struct {
	String string
	Valid  bool
}

// Get returns the text, and whether there is one.
func (t Text) Get() (string, bool) { return t.String, t.Valid }

// A Summary covers all ended calls that have the same key. Thread, Caller or Object is set if the
// summary's list is by it.
type Summary struct {
	Function uint32
	Thread   uint64
	Caller   uint32 // 0: the goroutine's first function
	Object   uint64
	Count    uint64
	Timed    uint64 // how many of the calls have times
	LeftOut  uint64 // how many of the calls were left out to keep within a budget
	More     bool   // calls were left out that Count does not have
	Sum      int64
	Min      int64
	Max      int64
	Self     int64 // without the calls that they made; of waits, without the time in which goroutines could run
	Errors   uint64
	Panics   uint64
	Bytes    uint64   // that were read or written
	Buckets  []uint64 // number of calls by their length, see Snapshot.Buckets; nil: not known
}

// Merge adds another summary.
func (s *Summary) Merge(of *Summary) {
	if of.Timed > 0 && (s.Timed == 0 || of.Min < s.Min) {
		s.Min = of.Min
	}
	s.Count += of.Count
	s.Timed += of.Timed
	s.Sum = saturated(s.Sum, of.Sum)
	s.Max = max(s.Max, of.Max)
	s.Bytes += of.Bytes
}

// saturated adds times. The largest number stands for anything larger.
func saturated(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}

// A Timer is one of the five timers of WL#2360.
type Timer struct {
	Name       string
	Frequency  int64 // ticks a second; 0: there is no such timer
	Resolution int64 // by how many ticks it advances at least
	Overhead   int64 // of a reading, in cycles; 0: not known
}

// TimerNames are the names of the five, from the highest frequency to the lowest.
var TimerNames = []string{"CYCLE", "NANOSECOND", "MICROSECOND", "MILLISECOND", "TICK"}

// Memory is the tracer's memory for one purpose.
type Memory struct {
	Name  string
	Count int64
	Bytes int64
	Most  int64 // bytes that it can grow to
}

// A Counter is a named number, as SHOW STATUS and SHOW VARIABLES show it, without
// "performance_schema_".
type Counter struct {
	Name  string
	Value int64
}

// LeftOut is the name of what counts the functions of which calls were left out, to keep within the
// program's FTRACE_BUDGET.
const LeftOut = "call_classes_left_out"

// historySizes say how many events the histories have: each of a thread, and the long ones of calls
// and waits, of statements and stages, and of probes.
func historySizes(history, long, spans, probes int) (list []Counter) {
	for _, of := range []Counter{{"calls", int64(long)}, {"waits", int64(long)}, {"statements", int64(spans)}, {"stages", int64(spans)}, {"probes", int64(probes)}} {
		list = append(list, Counter{"events_" + of.Name + "_history_size", int64(history)}, Counter{"events_" + of.Name + "_history_long_size", of.Value})
	}
	return list
}

// A RuleKind is what rules choose.
type RuleKind int

const (
	ActorRules  RuleKind = iota // goroutines: Pattern[0] is the function that they were started with, [1] a label, as key=value
	ObjectRules                 // functions: Pattern[0] is the package, [1] the type, [2] the function
)

// A Rule is a row of setup_actors or setup_objects. Patterns are LIKE's.
type Rule struct {
	Pattern [3]string
	Flags
}

// Part is what can be truncated.
type Part int

const (
	HistoryPart Part = iota
	HistoryLongPart
	GlobalPart
	ByThreadPart
	ByCallerPart
	ByInstancePart
	HistogramPart
	WaitHistoryPart
	WaitHistoryLongPart
	WaitGlobalPart
	StatementPart // the history and the long history
	StagePart     // likewise
	StatementGlobalPart
	StageGlobalPart
	ProbePart
	ProbeGlobalPart
)

// Picoseconds returns a duration in picoseconds. Durations above 106 days become the largest
// number.
func Picoseconds(d time.Duration) int64 {
	switch {
	case d > math.MaxInt64/1000:
		return math.MaxInt64
	case d < math.MinInt64/1000:
		return math.MinInt64
	}
	return int64(d) * 1000
}

// Function returns the function with a key, or a stand-in if the snapshot does not have it.
func (s *Snapshot) Function(key uint32) *Function {
	s.once.Do(func() {
		lists := [][]Function{s.Functions, s.Waits, s.Kinds, s.Probes}
		largest := uint32(0)
		for _, list := range lists {
			for i := range list {
				largest = max(largest, list[i].Key)
			}
		}
		s.byKey = make([]*Function, largest+1)
		for _, list := range lists {
			for i := range list {
				s.byKey[list[i].Key] = &list[i]
			}
		}
	})
	if key < uint32(len(s.byKey)) && s.byKey[key] != nil {
		return s.byKey[key]
	}
	return &Function{Key: key, Package: "?", Name: "?"}
}

// The classes of events.
const (
	CallClass      = "call"
	WaitClass      = "wait"
	StatementClass = "statement"
	StageClass     = "stage"
	ProbeClass     = "probe"
)

// Class returns the class of the events of f.
func (f *Function) Class() string {
	switch {
	case f.Probe:
		return ProbeClass
	case f.Wait:
		return WaitClass
	case f.Span:
		return f.Package
	}
	return CallClass
}

// nameSpans makes spans and under.
func (s *Snapshot) nameSpans() {
	s.spans, s.under = make(map[[2]uint64]uint32, len(s.Spans)), map[uint64]*Span{}
	for i := range s.Spans {
		p := &s.Spans[i]
		s.spans[[2]uint64{p.Thread, p.ID}] = p.Function
		if p.Inside && (s.under[p.Thread] == nil || p.ID > s.under[p.Thread].ID) {
			s.under[p.Thread] = p
		}
	}
}

// Inside returns the innermost statement or stage that a thread is in, or nil.
func (s *Snapshot) Inside(thread uint64) *Span {
	s.named.Do(s.nameSpans)
	return s.under[thread]
}

// NestingType returns the class of the event of a thread that has that ID, as NESTING_EVENT_TYPE
// shows it.
func (s *Snapshot) NestingType(thread, id uint64) string {
	s.named.Do(s.nameSpans)
	if kind, ok := s.spans[[2]uint64{thread, id}]; ok {
		return strings.ToUpper(s.Function(kind).Class())
	}
	return "CALL"
}
