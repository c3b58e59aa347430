package source

import (
	"slices"
	"strconv"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// liveProcess is a running process as a source.
//
// The process itself keeps what the tables show, and does what the setup tables say. So all readers
// see the same, and what was set stays when they have gone.
//
// There is one exception. The process keeps calls under way and histograms even if their consumers
// are off. While they are off, this source shows what they had when it first saw them off.
type liveProcess struct {
	p     *live.Process
	names *symbols.Table

	open   sync.RWMutex // held for reading while p is in use
	closed bool

	mu     sync.Mutex
	wants  bool                    // a session has begun
	frozen map[Consumers]*Snapshot // what consumers had that the process can't stop keeping
	rows   *functionRows           // of the last snapshot
}

// Attach opens a running process of this user as a source.
func Attach(pid int) (Source, error) {
	p, err := live.Attach(pid)
	if err != nil {
		return nil, err
	}
	return &liveProcess{p: p, names: symbols.OfProcess(pid, p.Code()), frozen: map[Consumers]*Snapshot{}}, nil
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

// inProcess are the consumers that the process keeps, by its own bits. Values are not
// among them: they exist while it records to rings. waitsInProcess are those for waits.
var inProcess = map[Consumers]live.Consumers{Current: live.Current, History: live.History, HistoryLong: live.HistoryLong, SummaryGlobal: live.Summary,
	SummaryByThread: live.ByGoroutine, SummaryByCaller: live.ByCaller, SummaryByInstance: live.ByReceiver}
var waitsInProcess = map[Consumers]live.Consumers{WaitCurrent: live.Current, WaitHistory: live.History, WaitHistoryLong: live.HistoryLong, WaitSummaryGlobal: live.Summary,
	WaitSummaryByThread: live.ByGoroutine, WaitSummaryByCaller: live.ByCaller, WaitSummaryByInstance: live.ByReceiver, LockHolders: live.LockHolders}

// noted marks a process's note as the set of consumers that were requested.
const noted = 1 << 63

// consumers returns what is enabled: what was last requested, unless others have since changed what
// the process keeps without leaving a note.
func (s *liveProcess) consumers() Consumers {
	asked := EveryConsumer
	if note := s.p.Note(); note&noted != 0 {
		asked = Consumers(note) & EveryConsumer
	}
	in := asked.InForce()
	compare := func(bit Consumers, kept bool) {
		if in&bit != 0 != kept {
			asked ^= bit
		}
	}
	calls, waits := s.p.Consumers()
	for bit, mask := range inProcess {
		compare(bit, calls&mask != 0)
	}
	for bit, mask := range waitsInProcess {
		compare(bit, waits&mask != 0)
	}
	if !s.p.ToFiles() { // else the values are there anyway
		compare(ValuesConsumer, s.p.Recording() == live.ToRings)
	}
	return asked
}

// kept returns those of the consumers that are on, in the process's bits.
func kept(on Consumers, inProcess map[Consumers]live.Consumers) (keep live.Consumers) {
	for bit, mask := range inProcess {
		if on&bit != 0 {
			keep |= mask
		}
	}
	return keep
}

func (s *liveProcess) SetConsumers(c Consumers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.freeze(0); err != nil { // what will be off has had its last change
		return err
	}
	on := c.InForce()
	return s.use(func() error {
		switch recording := s.p.Recording(); {
		case on&ValuesConsumer != 0 && recording == live.NotRecording && !s.p.ToFiles():
			if err := s.p.RecordRings(); err != nil {
				return err
			}
		case on&ValuesConsumer == 0 && recording == live.ToRings:
			if err := s.p.StopRecording(); err != nil {
				return err
			}
		}
		if err := s.p.SetConsumers(kept(on, inProcess), kept(on, waitsInProcess)); err != nil {
			return err
		}
		s.p.SetNote(noted | uint64(c))
		return nil
	})
}

func (s *liveProcess) Want(c Consumers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inSession(func() error { return s.p.Want(kept(c, inProcess), kept(c, waitsInProcess)) })
}

func (s *liveProcess) Look(changes map[uint32]bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switches := map[uint32]live.Switch{}
	for key, on := range changes {
		switches[key] = live.Off
		if on {
			switches[key] = live.On
		}
	}
	return s.inSession(func() error { return s.p.Look(switches) })
}

// inSession calls f, which requests something for a session. The session begins with the first
// request, and ends when the source is closed.
func (s *liveProcess) inSession(f func() error) error {
	return s.use(func() error {
		if !s.wants {
			if err := s.p.Begin(); err != nil {
				return err
			}
			s.wants = true
		}
		return f()
	})
}

// freeze returns a snapshot in which the consumers that are off and are kept here show what they
// had.
func (s *liveProcess) freeze(of live.Contents) (*Snapshot, error) {
	if s.consumers().InForce()&Histograms == 0 && s.frozen[Histograms] == nil {
		of |= live.SumsByFunction | live.Histograms
	}
	snap, err := s.look(of)
	if err != nil {
		return nil, err
	}
	on := snap.Consumers.InForce()
	if on&Current != 0 {
		delete(s.frozen, Current)
	} else if old := s.frozen[Current]; old != nil {
		for i := range snap.Threads {
			snap.Threads[i].Current = old.thread(snap.Threads[i].ID).Current
		}
	} else {
		for i := range snap.Threads {
			for j := range snap.Threads[i].Current {
				snap.Threads[i].Current[j].Recorded() // they may not be there later
			}
		}
		s.frozen[Current] = snap
	}
	if on&WaitCurrent != 0 {
		delete(s.frozen, WaitCurrent)
	} else if old := s.frozen[WaitCurrent]; old != nil {
		for i := range snap.Threads {
			snap.Threads[i].Waiting = old.thread(snap.Threads[i].ID).Waiting
		}
	} else {
		s.frozen[WaitCurrent] = snap
	}
	switch old := s.frozen[Histograms]; {
	case on&Histograms != 0:
		delete(s.frozen, Histograms)
	case of&live.Histograms == 0:
	case old == nil:
		s.frozen[Histograms] = snap
	default:
		for i := range snap.Global {
			snap.Global[i].Buckets = old.buckets(snap.Global[i].Function)
		}
	}
	return snap, nil
}

// thread returns the thread of an ID; one of which nothing is known if there is none.
func (s *Snapshot) thread(id uint64) *Thread {
	for i := range s.Threads {
		if s.Threads[i].ID == id {
			return &s.Threads[i]
		}
	}
	return &Thread{}
}

// buckets returns the histogram of a function.
func (s *Snapshot) buckets(function uint32) []uint64 {
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

// rulesOf returns the process's rules as rows, or the single row that exists if none were set.
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

func (s *liveProcess) SetBudget(percent int) error {
	return s.use(func() error { return s.p.SetKept(percent) })
}

func (s *liveProcess) SetTimer(name string) error {
	return s.use(func() error { return s.p.SetTimer(name) })
}

func (s *liveProcess) Truncate(part Part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.frozen, Histograms)
	calls := map[Part]live.Consumers{HistoryPart: live.History, HistoryLongPart: live.HistoryLong, GlobalPart: live.Summary, HistogramPart: live.Summary,
		ByThreadPart: live.ByGoroutine, ByCallerPart: live.ByCaller, ByInstancePart: live.ByReceiver,
		StatementPart: live.Statements, StagePart: live.Stages, StatementGlobalPart: live.StatementSums, StageGlobalPart: live.StageSums, ProbePart: live.Probes, ProbeGlobalPart: live.ProbeSums}[part]
	waits := map[Part]live.Consumers{WaitHistoryPart: live.History, WaitHistoryLongPart: live.HistoryLong, WaitGlobalPart: live.Summary}[part]
	return s.use(func() error { return s.p.Clear(calls, waits) })
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

func (s *liveProcess) Snapshot(of live.Contents) (*Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freeze(of)
}

// statements returns the statements whose probes the process's rings have. There are none if no
// probe for statements is enabled, or if the process does not record to rings.
func (s *liveProcess) statements(probes []Function) (Statements, error) {
	tells := func(f Function) bool { return f.Enabled && tellsOfStatements(f.Package, f.Name) }
	if s.p.Recording() != live.ToRings || !slices.ContainsFunc(probes, tells) {
		return Statements{}, nil
	}
	scratch, err := s.p.Scratch()
	if err != nil {
		return Statements{}, err
	}
	defer scratch.Remove()
	if err := s.use(func() error { return s.p.Dump(scratch.Inside) }); err != nil {
		return Statements{}, err
	}
	rings, err := OpenRecording(scratch.Here, RecordingOptions{})
	if err != nil {
		return Statements{}, err
	}
	snap, err := rings.Snapshot(live.AllContents)
	if err != nil {
		return Statements{}, err
	}
	return snap.Statements()
}

// look makes a snapshot of the process.
func (s *liveProcess) look(of live.Contents) (*Snapshot, error) {
	var snap *Snapshot
	err := s.use(func() error {
		l, err := s.p.Snapshot(of)
		if err != nil {
			return err
		}
		v := &liveView{s: s, l: l, printer: l.Program.Printer(recording.DefaultFormat), sites: map[uint32]site{}, known: map[*live.Call]*Values{}}
		snap = v.snapshot()
		return nil
	})
	return snap, err
}
