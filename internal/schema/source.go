package schema

import (
	"errors"
	"math"
	"sync"
	"time"
)

// A Source is one process that is asked: a live one, or a recording. Its methods may be called by several goroutines.
type Source interface {
	// Name is what the tables' column PROCESS has: the number of a live process, the name of a recording.
	Name() string
	// Alive reports whether there may be something new in the next snapshot.
	Alive() bool
	// Snapshot returns what is known now. The caller does not change it.
	Snapshot() (*Snapshot, error)
	// Timers measures the five timers.
	Timers() ([]Timer, error)

	// Commands. Those of sources that can only be read return ErrReadOnly.

	SetInstruments(map[uint32]Flags) error // by key
	SetThreads(map[uint64]bool) error      // whether they are instrumented, by ID
	SetConsumers(Consumers) error
	SetTimer(name string) error
	SetRules(kind RuleKind, rules []Rule) error // all rules of that kind, in place of those that were there
	Truncate(Part) error

	Close() error
}

// ErrReadOnly is returned by commands of sources that can only be read, and of what a source does not have.
var ErrReadOnly = errors.New("read only")

// ErrGone is returned by a source whose process has ended. Its rows are left out.
var ErrGone = errors.New("the process has ended")

// A Snapshot is what is known of a process at one moment. Times are in picoseconds since the process started, see Picoseconds.
type Snapshot struct {
	Process    Process
	Functions  []Function // in the order of their keys
	Probes     []Function // static probes, likewise
	Threads    []Thread   // in the order of their IDs
	Long       []Call     // the last calls that ended, in the order in which they did
	Global     []Summary  // by function
	ByThread   func() []Summary
	ByCaller   func() []Summary
	ByInstance func() []Summary // by receiver
	Buckets    [64]int64        // where the i-th bucket of histograms ends: it has calls that were shorter
	Consumers  Consumers
	Timer      string // which of the timers is used
	Actors     []Rule
	Objects    []Rule
	Memory     []Memory
	Lost       []Counter                  // what was lost since the tables for it were full
	Limits     []Counter                  // how large the tables are
	Statements func() (Statements, error) // nil: there are none

	once  sync.Once
	byKey map[uint32]*Function
}

// A Process is what a source is of.
type Process struct {
	PID        int
	Executable string
	Args       []string
	Release    string // of Go
	Start      time.Time
	State      string // RUNNING or RECORDED
}

// Flags of a function.
type Flags struct{ Enabled, Timed bool }

// A Function is an instrument.
type Function struct {
	Key     uint32
	Probe   bool   // it is a static probe: Package is the provider
	Package string // as in stack traces: main, or the import path
	Name    string // in the package: Get, (*Client).Do
	File    string
	Line    int
	Flags
}

// A Thread is a goroutine.
type Thread struct {
	ID       uint64
	Parent   uint64 // that started it, 0 if that is not known
	Creator  uint32 // the function that started it
	Started  string // the full name of the function that it was started with, "" if that is not known
	Entry    uint32 // the first function that was seen on it
	Ended    bool
	Disabled bool   // its calls are not taken notice of
	Current  []Call // under way, the outermost first
	History  []Call // the last that ended, in the order in which they did
}

// A Call is one call of a function.
type Call struct {
	Thread   uint64
	ID       uint64 // the how-manyeth call of the thread
	EndID    uint64 // that of the last call that began before it ended; 0 while inside
	Nesting  uint64 // that of the call around it, 0: there is none
	Level    int    // calls around it
	Function uint32
	Timed    bool
	Inside   bool
	Start    int64
	End      int64 // 0 while inside
	Panicked bool
	Failed   bool           // it returned an error
	Values   func() *Values // as far as they were recorded; nil: they were not
}

// Values are those of a call.
type Values struct {
	Object  uint64 // the receiver's address, 0: it is no pointer
	Args    Text
	Results Text
	Error   Text // the error that was returned, or what it panicked with
}

// values returns a call's values.
func (c *Call) values() *Values {
	if c.Values != nil {
		return c.Values()
	}
	return &Values{}
}

// Text is a string, or nothing if it was not recorded.
type Text struct {
	String string
	Valid  bool
}

func (t Text) get() (string, bool) { return t.String, t.Valid }

// A Summary is of all calls that ended and have the key in common. Of Thread, Caller and Object those are set that the list it is in is by.
type Summary struct {
	Function uint32
	Thread   uint64
	Caller   uint32 // 0: the goroutine's first function
	Object   uint64
	Count    uint64
	Timed    uint64 // how many of them have times
	Sum      int64
	Min      int64
	Max      int64
	Self     int64 // without the calls that they made
	Errors   uint64
	Panics   uint64
	Buckets  *[64]uint64 // calls by how long they were, see Snapshot.Buckets; nil: not known
}

// A Timer is one of the five of WL#2360.
type Timer struct {
	Name       string
	Frequency  int64 // ticks a second; 0: there is no such timer
	Resolution int64 // by how many ticks it moves at least
	Overhead   int64 // of a reading, in cycles; 0: not known
}

// TimerNames are the five, from the highest frequency to the lowest.
var TimerNames = []string{"CYCLE", "NANOSECOND", "MICROSECOND", "MILLISECOND", "TICK"}

// Memory is what the tracer has of it for one purpose.
type Memory struct {
	Name  string
	Count int64
	Bytes int64
	Most  int64 // bytes that it can become
}

// A Counter is a number with a name, as SHOW STATUS and SHOW VARIABLES have it, without "performance_schema_".
type Counter struct {
	Name  string
	Value int64
}

// A RuleKind says what rules choose.
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

// Consumers is the set of consumers that are enabled.
type Consumers uint32

// The consumers. GlobalInstrumentation and ThreadInstrumentation are those that the others depend on, see consumerNames.
const (
	GlobalInstrumentation Consumers = 1 << iota
	ThreadInstrumentation
	Current
	History
	HistoryLong
	SummaryGlobal
	SummaryByThread
	SummaryByCaller
	SummaryByInstance
	Histograms
	ValuesConsumer // of calls: parameters, results, errors

	EveryConsumer Consumers = 1<<iota - 1
)

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
)

// Picoseconds returns a duration in picoseconds, the largest number there is if it is longer than that: 106 days.
func Picoseconds(d time.Duration) int64 {
	switch {
	case d > math.MaxInt64/1000:
		return math.MaxInt64
	case d < math.MinInt64/1000:
		return math.MinInt64
	}
	return int64(d) * 1000
}

// Function returns the function with a key. Of one that the snapshot does not have it returns a stand-in.
func (s *Snapshot) Function(key uint32) *Function {
	s.once.Do(func() {
		s.byKey = make(map[uint32]*Function, len(s.Functions))
		for i := range s.Functions {
			s.byKey[s.Functions[i].Key] = &s.Functions[i]
		}
	})
	if f := s.byKey[key]; f != nil {
		return f
	}
	return &Function{Key: key, Package: "?", Name: "?"}
}
