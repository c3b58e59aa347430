package schema

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// fake is a process that lives in the test. It collects what call is told, as a real one does: by
// its flags and consumers.
type fake struct {
	name      string
	mu        sync.Mutex
	functions []source.Function
	waits     []source.Function // with keys from 101 on
	longWaits []source.Wait
	kinds     []source.Function // with keys from 201 on
	spans     []source.Span
	fileName  func(uint64) string
	states    func() ([]source.State, error)
	byObject  []source.Summary
	threads   map[uint64]*source.Thread
	long      []source.Call
	global    map[uint32]*source.Summary
	consumers source.Consumers
	timer     string
	budget    int
	actors    []source.Rule
	objects   []source.Rule
	lost      []source.Counter
	readings  int // of the timers
	snapshots int
	clock     int64
	gone      bool
}

func newFake(name string) *fake {
	return &fake{name: name, consumers: source.EveryConsumer, timer: "CYCLE", threads: map[uint64]*source.Thread{}, global: map[uint32]*source.Summary{}, actors: []source.Rule{{Pattern: [3]string{"%", "%"}, Flags: source.Flags{Enabled: true, Timed: true}}}, objects: []source.Rule{{Pattern: [3]string{"%", "%", "%"}, Flags: source.Flags{Enabled: true, Timed: true}}},
		functions: []source.Function{
			{Key: 1, Package: "main", Name: "main", File: "/src/main.go", Line: 10},
			{Key: 2, Package: "main", Name: "(*Pool).Get", File: "/src/pool.go", Line: 20},
			{Key: 3, Package: "net/http", Name: "(*Client).Do", File: "/go/http.go", Line: 30},
			{Key: 4, Package: "example.com/mutex", Name: "Lock", File: "/src/mutex.go", Line: 40},
			{Key: 5, Package: "example.com/mutex", Name: "Lock.func1", File: "/src/mutex.go", Line: 41},
		}}
}

// call is a call of a function on a thread that lasts so many picoseconds, which is collected if
// the function is enabled.
func (f *fake) call(thread uint64, key uint32, lasts int64, err string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn := f.functions[key-1]
	if !fn.Enabled {
		return
	}
	t := f.threads[thread]
	if t == nil {
		t = &source.Thread{ID: thread, Entry: key}
		f.threads[thread] = t
	}
	id := uint64(1)
	if n := len(t.History); n > 0 {
		id = t.History[n-1].ID + 1
	}
	c := source.Call{Event: source.Event{Thread: thread, ID: id, EndID: id, Function: key, Timed: fn.Timed, Start: f.clock, End: f.clock + lasts}, Failed: err != "", Values: func() *source.Values {
		return &source.Values{Object: 0xC000010000, Args: source.Text{String: "n=1", Valid: true}, Results: source.Text{String: "nil", Valid: true}, Error: source.Text{String: err, Valid: err != ""}}
	}}
	f.clock += lasts
	on := f.consumers.InForce()
	if on&source.History != 0 {
		t.History = append(t.History[max(0, len(t.History)-9):], c)
	}
	if on&source.HistoryLong != 0 {
		f.long = append(f.long, c)
	}
	if on&source.SummaryGlobal != 0 {
		s := f.global[key]
		if s == nil {
			s = &source.Summary{Function: key, Min: lasts, Buckets: make([]uint64, 64)}
			f.global[key] = s
		}
		s.Count++
		if fn.Timed {
			s.Timed++
			s.Sum, s.Min, s.Max, s.Self = s.Sum+lasts, min(s.Min, lasts), max(s.Max, lasts), s.Self+lasts
			s.Buckets[10]++
		}
		if err != "" {
			s.Errors++
		}
	}
}

func (f *fake) Name() string { return f.name }
func (f *fake) Alive() bool  { return !f.gone }

func (f *fake) Snapshot(of live.Contents) (*source.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snapshots++
	if f.gone {
		return nil, source.ErrGone
	}
	s := &source.Snapshot{Process: source.Process{PID: 42, Executable: "/bin/" + f.name, Args: []string{f.name}, Release: "go1.26", Start: time.Unix(0, 0), State: "RUNNING"},
		Functions: slices.Clone(f.functions), Waits: slices.Clone(f.waits), LongWaits: f.longWaits, Kinds: slices.Clone(f.kinds), Spans: f.spans, Now: f.clock, Long: slices.Clone(f.long), Consumers: f.consumers, Timer: f.timer, Actors: f.actors, Objects: f.objects, Lost: f.lost, History: 10,
		ByThread: func() []source.Summary { return nil }, ByCaller: func() []source.Summary { return nil }, ByInstance: func() []source.Summary { return f.byObject }, FileName: f.fileName, States: f.states}
	for i := range s.Buckets {
		s.Buckets[i] = int64(i) * 1000
	}
	for _, id := range slices.Sorted(maps.Keys(f.threads)) {
		t := *f.threads[id]
		t.History = slices.Clone(t.History)
		s.Threads = append(s.Threads, t)
	}
	for _, key := range slices.Sorted(maps.Keys(f.global)) {
		s.Global = append(s.Global, *f.global[key])
	}
	s.Name = func(address uint64) string { return map[uint64]string{0x5000: "main.mu"}[address] }
	leaveOut(s, of)
	return s, nil
}

// leaveOut empties the large parts of a snapshot that were not asked for.
func leaveOut(s *source.Snapshot, of live.Contents) {
	none := func() []source.Summary { return nil }
	switch {
	case of&live.SumsByFunction != 0:
	case of&live.SumsOfWaits != 0:
		s.Global = slices.DeleteFunc(slices.Clone(s.Global), func(sum source.Summary) bool { return s.Function(sum.Function).Class() != source.WaitClass })
	default:
		s.Global = nil
	}
	if of&live.Histograms == 0 {
		for i := range s.Global {
			s.Global[i].Buckets = nil
		}
	}
	if of&live.SumsByGoroutine == 0 {
		s.ByThread = none
	}
	if of&live.SumsByCaller == 0 {
		s.ByCaller = none
	}
	if of&live.SumsByReceiver == 0 {
		s.ByInstance = none
	}
	if of&live.LongCalls == 0 {
		s.Long = nil
	}
	if of&live.LongWaits == 0 {
		s.LongWaits = nil
	}
}

func (f *fake) Timers() ([]source.Timer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readings++
	var list []source.Timer
	for i, name := range source.TimerNames {
		list = append(list, source.Timer{Name: name, Frequency: int64(1e9) - int64(i)*1e6 + int64(f.readings), Resolution: 1, Overhead: 20})
	}
	return list, nil
}

func (f *fake) SetInstruments(changes map[uint32]source.Flags) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, flags := range changes {
		if int(key) <= len(f.functions) {
			f.functions[key-1].Flags = flags
		} else {
			f.waits[key-101].Flags = flags
		}
	}
	return nil
}

func (f *fake) SetThreads(changes map[uint64]bool) error {
	for id, on := range changes {
		f.threads[id].Disabled = !on
	}
	return nil
}

func (f *fake) SetConsumers(c source.Consumers) error { f.consumers = c; return nil }
func (f *fake) Want(source.Consumers) error           { return nil }
func (f *fake) Look(map[uint32]bool) error            { return nil }
func (f *fake) SetTimer(name string) error            { f.timer = name; return nil }
func (f *fake) SetBudget(percent int) error           { f.budget = percent; return nil }
func (f *fake) Close() error                          { return nil }

func (f *fake) SetRules(kind source.RuleKind, rules []source.Rule) error {
	if kind == source.ActorRules {
		f.actors = rules
	} else {
		f.objects = rules
	}
	return nil
}

func (f *fake) Truncate(part source.Part) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch part {
	case source.HistoryPart:
		for _, t := range f.threads {
			t.History = nil
		}
	case source.WaitHistoryPart:
		for _, t := range f.threads {
			t.Waits = nil
		}
	case source.HistoryLongPart:
		f.long = nil
	case source.GlobalPart:
		f.global = map[uint32]*source.Summary{}
	}
	return nil
}

// open returns a session on processes.
func open(t *testing.T, sources ...source.Source) *Session {
	t.Helper()
	c := &Catalog{Several: len(sources) > 1}
	for _, s := range sources {
		c.Add(s)
	}
	return openIn(t, c)
}

func openIn(t *testing.T, c *Catalog) *Session {
	t.Helper()
	s, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); c.Close() })
	return s
}

// ask runs a statement and returns its rows as text: columns separated by |, each row ended by a
// newline.
func ask(t *testing.T, s *Session, query string, args ...any) string {
	t.Helper()
	text, _, err := try(t, s, query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// try is ask for statements that may fail. It returns the result too.
func try(t *testing.T, s *Session, query string, args ...any) (string, *Result, *mysqlerr.Error) {
	t.Helper()
	r, err := s.Query(t.Context(), query, args)
	if err != nil {
		return "", nil, err.(*mysqlerr.Error)
	}
	defer r.Close()
	text := ""
	for {
		row, err := r.Next()
		if err != nil {
			return text, r, err.(*mysqlerr.Error)
		}
		if row == nil {
			return text, r, nil
		}
		for i, v := range row {
			if i > 0 {
				text += "|"
			}
			if cell, ok := r.Columns[i].Format(v); ok {
				text += cell
			} else {
				text += "NULL"
			}
		}
		text += "\n"
	}
}
