package schema

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// liveProcess is a running process as a source.
//
// The process itself keeps what the tables have, and does what the setup tables say; so all who ask it see the same, and what was set stays when they have left. There are two exceptions: that calls under way
// and histograms are there whether their consumers are on or not, so it is this source that shows, while they are off, what they had when it saw that first.
type liveProcess struct {
	p *live.Process

	open   sync.RWMutex // held for reading while p is used
	closed bool

	mu     sync.Mutex
	frozen map[Consumers]*Snapshot // what consumers had that the process can't stop to keep
}

// Attach makes a source of a running process of this user.
func Attach(pid int) (Source, error) {
	p, err := live.Attach(pid)
	if err != nil {
		return nil, err
	}
	return &liveProcess{p: p, frozen: map[Consumers]*Snapshot{}}, nil
}

func (s *liveProcess) Name() string { return strconv.Itoa(s.p.PID) }

func (s *liveProcess) Alive() bool { return s.p.Alive() }

func (s *liveProcess) Close() error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.p.Close()
}

// use calls f, which uses the process, unless it was closed or has ended.
func (s *liveProcess) use(f func() error) error {
	s.open.RLock()
	defer s.open.RUnlock()
	if s.closed || !s.p.Alive() {
		return ErrGone
	}
	err := f()
	if err != nil && !s.p.Alive() {
		return ErrGone
	}
	return err
}

// inProcess are the consumers that the process keeps, as it knows them; and values, which are there while it records to rings.
var inProcess = map[Consumers]live.Consumers{Current: live.Current, History: live.History, HistoryLong: live.HistoryLong, SummaryGlobal: live.Summary,
	SummaryByThread: live.ByGoroutine, SummaryByCaller: live.ByCaller, SummaryByInstance: live.ByReceiver, ValuesConsumer: 0}

// noted marks a process's note as that of which consumers were asked for.
const noted = 1 << 63

// consumers returns what is enabled: what was asked for last, unless others have changed what the process keeps without asking here.
func (s *liveProcess) consumers() Consumers {
	asked := EveryConsumer
	if note := s.p.Note(); note&noted != 0 {
		asked = Consumers(note) & EveryConsumer
	}
	keeps := s.p.Consumers()
	for bit, mask := range inProcess {
		kept := keeps&mask != 0
		if bit == ValuesConsumer {
			kept = s.p.Recording() == live.ToRings
		}
		if asked.InForce()&bit != 0 != kept {
			asked ^= bit
		}
	}
	return asked
}

func (s *liveProcess) SetConsumers(c Consumers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.freeze(); err != nil { // what will be off has had its last change
		return err
	}
	on, keep := c.InForce(), live.Consumers(0)
	for bit, mask := range inProcess {
		if on&bit != 0 {
			keep |= mask
		}
	}
	return s.use(func() error {
		switch recording := s.p.Recording(); {
		case on&ValuesConsumer != 0 && recording == live.NotRecording:
			if err := s.p.RecordRings(); err != nil {
				return err
			}
		case on&ValuesConsumer == 0 && recording == live.ToRings:
			if err := s.p.StopRecording(); err != nil {
				return err
			}
		}
		s.p.SetConsumers(keep)
		s.p.SetNote(noted | uint64(c))
		return nil
	})
}

// freeze returns a snapshot in which the consumers that are off and are kept here have what they had.
func (s *liveProcess) freeze() (*Snapshot, error) {
	snap, err := s.look()
	if err != nil {
		return nil, err
	}
	on := snap.Consumers.InForce()
	if on&Current != 0 {
		delete(s.frozen, Current)
	} else if old := s.frozen[Current]; old != nil {
		for i := range snap.Threads {
			snap.Threads[i].Current = old.current(snap.Threads[i].ID)
		}
	} else {
		for i := range snap.Threads {
			for j := range snap.Threads[i].Current {
				snap.Threads[i].Current[j].values() // they may not be there later
			}
		}
		s.frozen[Current] = snap
	}
	if on&Histograms != 0 {
		delete(s.frozen, Histograms)
	} else if old := s.frozen[Histograms]; old != nil {
		for i := range snap.Global {
			snap.Global[i].Buckets = old.buckets(snap.Global[i].Function)
		}
	} else {
		s.frozen[Histograms] = snap
	}
	return snap, nil
}

// current returns the calls under way of a thread.
func (s *Snapshot) current(thread uint64) []Call {
	for i := range s.Threads {
		if s.Threads[i].ID == thread {
			return s.Threads[i].Current
		}
	}
	return nil
}

// buckets returns the histogram of a function.
func (s *Snapshot) buckets(function uint32) *[64]uint64 {
	for i := range s.Global {
		if s.Global[i].Function == function {
			return s.Global[i].Buckets
		}
	}
	return nil
}

func (s *liveProcess) SetInstruments(changes map[uint32]Flags) error {
	switches := map[uint32]live.Switch{}
	for key, flags := range changes {
		sw := live.Off
		if flags.Enabled {
			sw = live.On
		}
		if flags.Timed {
			sw |= live.Timed
		} else {
			sw |= live.Untimed
		}
		switches[key] = sw
	}
	return s.use(func() error { return s.p.Switch(switches) })
}

func (s *liveProcess) SetThreads(changes map[uint64]bool) error {
	muted := map[uint64]bool{}
	for id, instrumented := range changes {
		muted[id] = !instrumented
	}
	return s.use(func() error { return s.p.Mute(muted) })
}

func (s *liveProcess) SetRules(kind RuleKind, rules []Rule) error {
	set, every := s.p.SetObjects, everyObject
	if kind == ActorRules {
		set, every = s.p.SetActors, everyActor
	}
	if len(rules) == 1 && rules[0] == every {
		return s.use(func() error { return set(nil) })
	}
	list := []live.Rule{}
	for _, r := range rules {
		list = append(list, live.Rule{On: r.Enabled, Timed: r.Timed, Patterns: r.Pattern})
	}
	return s.use(func() error { return set(list) })
}

// rulesOf returns rules of the process as rows, or the one row that is there if none were set.
func rulesOf(rules []live.Rule, every Rule) []Rule {
	if rules == nil {
		return []Rule{every}
	}
	var list []Rule
	for _, r := range rules {
		list = append(list, Rule{r.Patterns, Flags{r.On, r.Timed}})
	}
	return list
}

func (s *liveProcess) SetTimer(name string) error {
	return s.use(func() error { return s.p.SetTimer(name) })
}

func (s *liveProcess) Truncate(part Part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.frozen, Histograms)
	what := map[Part]live.Consumers{HistoryPart: live.History, HistoryLongPart: live.HistoryLong, GlobalPart: live.Summary, HistogramPart: live.Summary,
		ByThreadPart: live.ByGoroutine, ByCallerPart: live.ByCaller, ByInstancePart: live.ByReceiver}[part]
	return s.use(func() error { return s.p.Clear(what) })
}

func (s *liveProcess) Timers() ([]Timer, error) {
	var timers []Timer
	err := s.use(func() error {
		list, err := s.p.Timers()
		for _, t := range list {
			timers = append(timers, Timer{t.Name, int64(t.Frequency), int64(t.Resolution), int64(t.Overhead)})
		}
		return err
	})
	return timers, err
}

func (s *liveProcess) Snapshot() (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freeze()
}

// statements returns those of which the process's rings have the probes: none if no probe that tells of statements is enabled, or it records to no rings.
func (s *liveProcess) statements(probes []Function) (Statements, error) {
	tells := func(f Function) bool { return f.Enabled && tellsOfStatements(f.Package, f.Name) }
	if s.p.Recording() != live.ToRings || !slices.ContainsFunc(probes, tells) {
		return Statements{}, nil
	}
	dir, err := os.MkdirTemp("", "ftrace-statements-*")
	if err != nil {
		return Statements{}, err
	}
	defer os.RemoveAll(dir)
	dump := filepath.Join(dir, "rings")
	if err := s.use(func() error { return s.p.Dump(dump) }); err != nil {
		return Statements{}, err
	}
	rings, err := OpenRecording(dump, RecordingOptions{})
	if err != nil {
		return Statements{}, err
	}
	snap, err := rings.Snapshot()
	if err != nil {
		return Statements{}, err
	}
	return snap.Statements()
}

// look makes a snapshot of what the process has.
func (s *liveProcess) look() (*Snapshot, error) {
	var snap *Snapshot
	err := s.use(func() error {
		l, err := s.p.Snapshot()
		if err != nil {
			return err
		}
		v := &liveView{s: s, l: l, printer: l.Program.Printer(recording.DefaultFormat)}
		snap = v.snapshot()
		return nil
	})
	return snap, err
}
