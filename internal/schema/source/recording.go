package source

import (
	"cmp"
	"path/filepath"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// RecordingOptions limit how much of a recording is read, and kept in memory. Where they are 0,
// that is all of it, and as much as a process keeps.
type RecordingOptions struct {
	History     int // calls of each thread
	HistoryLong int // calls of all
	Threads     int // threads; of those that have ended the oldest are left out
	Instances   int // rows of the summaries by thread, by caller and by instance, each
	Window      recording.Window
	// Later says how long after the moment from which times are counted the recording began; nil:
	// they are counted from its beginning. It is called when the recording is first needed.
	Later func() time.Duration
	// Keep means that what was found out about a large recording is kept in its directory.
	Keep bool
}

// later returns what Later says.
func (o *RecordingOptions) later() time.Duration {
	if o.Later == nil {
		return 0
	}
	return o.Later()
}

// recorded is a recording as a source. It is read-only.
type recorded struct {
	name    string
	r       *recording.Recording
	options RecordingOptions
	once    sync.Once
	snap    *Snapshot
	err     error
}

// OpenRecording opens the recording in a directory as a source. It is read through when it is first
// needed.
func OpenRecording(dir string, options RecordingOptions) (Source, error) {
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	options.History = cmp.Or(options.History, 10)
	options.HistoryLong = cmp.Or(options.HistoryLong, 10000)
	options.Threads = cmp.Or(options.Threads, 10000)
	options.Instances = cmp.Or(options.Instances, 100000)
	return &recorded{name: filepath.Base(filepath.Clean(dir)), r: r, options: options}, nil
}

func (s *recorded) Name() string { return s.name }

func (s *recorded) Alive() bool { return false }

func (s *recorded) Snapshot(live.Contents) (*Snapshot, error) {
	s.once.Do(func() { s.snap, s.err = s.pass() })
	return s.snap, s.err
}

// Timers returns the one timer of the recorded process that is known: the one that it used.
func (s *recorded) Timers() ([]Timer, error) {
	clock := s.r.Converter()
	var timers []Timer
	for _, name := range TimerNames {
		t := Timer{Name: name}
		if name == timerOf(s.r) {
			t.Frequency, t.Resolution = clock.Frequency(), 1
		}
		timers = append(timers, t)
	}
	return timers, nil
}

func (s *recorded) SetInstruments(map[uint32]Flags) error { return ErrReadOnly }
func (s *recorded) SetThreads(map[uint64]bool) error      { return ErrReadOnly }
func (s *recorded) SetConsumers(Consumers) error          { return ErrReadOnly }
func (s *recorded) Want(Consumers) error                  { return ErrReadOnly }
func (s *recorded) Look(map[uint32]bool) error            { return ErrReadOnly }
func (s *recorded) SetTimer(string) error                 { return ErrReadOnly }
func (s *recorded) SetBudget(int) error                   { return ErrReadOnly }
func (s *recorded) SetRules(RuleKind, []Rule) error       { return ErrReadOnly }
func (s *recorded) Truncate(Part) error                   { return ErrReadOnly }
func (s *recorded) Close() error                          { return nil }

// timerOf returns the name of the timer that a program used.
func timerOf(r *recording.Recording) string { return TimerNames[min(r.Timer, len(TimerNames)-1)] }
