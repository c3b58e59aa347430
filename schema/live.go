package schema

import (
	"errors"
	"strconv"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/live"
	"github.com/ftrace-wrap/ftrace-wrap/recording"
)

// liveProcess is a running process as a source.
//
// What the process itself keeps, and can stop to keep, are histories, summaries and values. The other consumers are made of these here: to disable one means to
// show what it had then. So are setup_objects, by which functions are switched off that setup_instruments has enabled, and setup_actors, by which goroutines are
// left out of what is shown. These settings are this source's: they end with it, functions stay as they are.
type liveProcess struct {
	p *live.Process

	open   sync.RWMutex // held for reading while p is used
	closed bool

	mu        sync.Mutex
	requested Consumers
	frozen    map[Consumers]*Snapshot // of consumers that are kept here and are not in force, what they had
	actors    []Rule
	objects   []Rule
	untimed   map[uint32]bool  // functions of which TIMED was set to NO: the process knows it only while they are enabled
	wanted    map[uint32]Flags // of functions that setup_objects keeps off
	timer     string           // the one that is used, "" until it was asked for
}

// Attach makes a source of a running process of this user.
func Attach(pid int) (Source, error) {
	p, err := live.Attach(pid)
	if err != nil {
		return nil, err
	}
	s := &liveProcess{p: p, requested: EveryConsumer, frozen: map[Consumers]*Snapshot{}, actors: []Rule{everyActor}, objects: []Rule{everyObject}, wanted: map[uint32]Flags{}, untimed: map[uint32]bool{}}
	return s, nil
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

// inProcess are the consumers that the process keeps.
const inProcess = History | HistoryLong | SummaryGlobal | ValuesConsumer

// kept returns which of them it keeps now.
func (s *liveProcess) kept() Consumers {
	c := s.p.Consumers()
	kept := Consumers(0)
	for mask, bit := range map[live.Consumers]Consumers{live.History: History, live.HistoryLong: HistoryLong, live.Summary: SummaryGlobal} {
		if c&mask != 0 {
			kept |= bit
		}
	}
	if s.p.Recording() == live.ToRings {
		kept |= ValuesConsumer
	}
	return kept
}

// consumers returns what is enabled. Others may have changed what the process keeps.
func (s *liveProcess) consumers() Consumers {
	kept := s.kept()
	if s.requested.InForce()&inProcess != kept {
		s.requested = s.requested&^inProcess | kept
	}
	return s.requested
}

func (s *liveProcess) SetConsumers(c Consumers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, err := s.look()
	if err != nil {
		return err
	}
	before, after := snap.Consumers.InForce(), c.InForce()
	for bit := Consumers(1); bit < EveryConsumer; bit <<= 1 {
		switch {
		case bit&inProcess != 0:
		case after&bit != 0:
			delete(s.frozen, bit)
		case before&bit != 0:
			snap.load()
			s.frozen[bit] = snap
		}
	}
	keep := live.Consumers(0)
	for bit, mask := range map[Consumers]live.Consumers{History: live.History, HistoryLong: live.HistoryLong, SummaryGlobal: live.Summary} {
		if after&bit != 0 {
			keep |= mask
		}
	}
	err = s.use(func() error {
		s.p.SetConsumers(keep)
		switch recording := s.p.Recording(); {
		case after&ValuesConsumer != 0 && recording == live.NotRecording:
			return s.p.RecordRings()
		case after&ValuesConsumer == 0 && recording == live.ToRings:
			return s.p.StopRecording()
		}
		return nil
	})
	if err == nil {
		s.requested = c
	}
	return err
}

// load reads what is read when it is asked for, since it may not be there later.
func (s *Snapshot) load() {
	s.ByInstance()
	for i := range s.Threads {
		for j := range s.Threads[i].Current {
			s.Threads[i].Current[j].values()
		}
	}
}

// flagsOf returns what setup_objects makes of a function's flags. The last rule that matches decides.
func (s *liveProcess) flagsOf(f *Function, wanted Flags) Flags {
	for i := len(s.objects) - 1; i >= 0; i-- {
		r := &s.objects[i]
		if like(f.Package, r.Pattern[0]) && like(f.Type(), r.Pattern[1]) && like(f.Method(), r.Pattern[2]) {
			return Flags{wanted.Enabled && r.Enabled, wanted.Timed && r.Timed}
		}
	}
	return Flags{false, wanted.Timed}
}

func (s *liveProcess) SetInstruments(changes map[uint32]Flags) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap, err := s.look()
	if err != nil {
		return err
	}
	return s.setFlags(snap, changes)
}

// setFlags switches functions to what is wanted of them, as far as setup_objects lets them.
func (s *liveProcess) setFlags(snap *Snapshot, changes map[uint32]Flags) error {
	switches := map[uint32]live.Switch{}
	for key, wanted := range changes {
		f := snap.Function(key)
		flags := s.flagsOf(f, wanted)
		if s.untimed[key] = !wanted.Timed; wanted.Timed {
			delete(s.untimed, key)
		}
		if flags == wanted {
			delete(s.wanted, key)
		} else {
			s.wanted[key] = wanted
		}
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

func (s *liveProcess) SetRules(kind RuleKind, rules []Rule) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == ActorRules {
		s.actors = rules
		return nil
	}
	snap, err := s.look()
	if err != nil {
		return err
	}
	s.objects = rules
	changes := map[uint32]Flags{}
	for i := range snap.Functions {
		f := &snap.Functions[i]
		if _, masked := s.wanted[f.Key]; masked || s.flagsOf(f, f.Flags) != f.Flags {
			changes[f.Key] = f.Flags
		}
	}
	return s.setFlags(snap, changes)
}

// SetTimer fails: a process chooses its timer when it starts.
func (s *liveProcess) SetTimer(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == s.timer {
		return nil
	}
	return errors.New("the timer can't be changed while the process runs: start it with FTRACE_TIMER")
}

func (s *liveProcess) Truncate(part Part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := live.HistoryLong // of which the summaries by thread, caller and instance are made
	switch part {
	case HistoryPart:
		what = live.History
	case GlobalPart, HistogramPart:
		what = live.Summary
	}
	if err := s.use(func() error { return s.p.Clear(what) }); err != nil {
		return err
	}
	if len(s.frozen) == 0 {
		return nil
	}
	// What is frozen is emptied too.
	snap, err := s.look()
	for bit := range s.frozen {
		if bit == Current || what == live.Summary != (bit == Histograms) || what == live.History {
			continue
		}
		s.frozen[bit] = snap
	}
	return err
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
	snap, err := s.look()
	if err != nil {
		return nil, err
	}
	for bit, old := range s.frozen {
		switch bit {
		case Current:
			snap.Threads = old.Threads
		case SummaryByThread:
			snap.ByThread = old.ByThread
		case SummaryByCaller:
			snap.ByCaller = old.ByCaller
		case SummaryByInstance:
			snap.ByInstance = old.ByInstance
		case Histograms:
			thaw := snap.Global
			snap.Global = nil
			for _, now := range thaw {
				now.Buckets = nil
				for _, then := range old.Global {
					if then.Function == now.Function {
						now.Buckets = then.Buckets
					}
				}
				snap.Global = append(snap.Global, now)
			}
		}
	}
	return snap, nil
}

// look makes a snapshot of what the process has.
func (s *liveProcess) look() (*Snapshot, error) {
	var snap *Snapshot
	err := s.use(func() error {
		l, err := s.p.Snapshot()
		if err != nil {
			return err
		}
		if s.timer == "" {
			timers, err := s.p.Timers()
			if err != nil {
				return err
			}
			for _, t := range timers {
				if t.Used {
					s.timer = t.Name
				}
			}
		}
		v := &liveView{s: s, l: l, printer: l.Program.Printer(recording.DefaultFormat), functions: map[callName]uint32{}}
		snap = v.snapshot()
		return nil
	})
	return snap, err
}
