//go:build linux || windows || darwin

package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// List returns the processes that Attach can attach to, and those that it can't because of their
// version, ordered by their numbers.
func List() []Found {
	var list []Found
	for _, pid := range processes() {
		p, err := Attach(pid)
		var version *VersionError
		switch {
		case err == nil:
			list = append(list, p.found())
			p.Close()
		case errors.As(err, &version):
			list = append(list, runs(Found{PID: pid, Err: version}))
		}
	}
	slices.SortFunc(list, func(a, b Found) int { return a.PID - b.PID })
	return list
}

func (p *Process) found() Found {
	f := Found{PID: p.PID, Recording: p.Recording(), Session: atomic.LoadUint32(&p.head.Sessions) != 0}
	if atomic.LoadUint32(&p.head.Armed) != 0 && p.check() == nil {
		h := p.seen.Load()
		if flags, err := p.read(h.Flags.At, h.Flags.Max); err == nil {
			f.Armed = slices.ContainsFunc(flags, func(b byte) bool { return b&format.FunctionOn != 0 })
		}
	}
	return runs(f)
}

// runs adds what the process runs.
func runs(f Found) Found {
	f.Executable, f.Args = symbols.Program(f.PID)
	return f
}

// A deniedError is an fs.ErrPermission with words of its own.
type deniedError struct{ text string }

func (e *deniedError) Error() string { return e.text }
func (e *deniedError) Unwrap() error { return fs.ErrPermission }

// A Process is a running program. Its methods may be called concurrently. Several readers of the
// same program may be at work at once.
type Process struct {
	PID         int
	memory      *shared
	head        *format.Head                // in the memory, which may change at any moment
	seen        atomic.Pointer[format.Head] // as it was when last checked: places and sizes are taken from it
	taking      atomic.Pointer[budget]
	program     *recording.Recording // what the tables say as far as they were read, nil: they were not
	programSize uint64               // how many bytes of them
	mem         []byte
	begins      sync.Mutex              // held while a session is begun or ended
	session     uint32                  // the session's number, 0: there is none
	ends        chan struct{}           // ends the session's beats, nil: there is no session
	parts       [lockCut + 1]sync.Mutex // which parts of the file are locked, for the goroutines here
}

// Alive reports whether the process still runs.
func (p *Process) Alive() bool { return p.memory.alive() }

var errLocked = errors.New("another reader has it locked")

var errStarting = errors.New("its memory file is not one of ftrace-wrap's, or it is just starting")

// Attach opens the memory file of a process of this user. That changes nothing for the process.
func Attach(pid int) (*Process, error) {
	m, err := openMemory(pid)
	if err != nil {
		return nil, err
	}
	return newProcess(pid, m)
}

// newProcess maps the head of a memory file. It closes the file if that fails.
func newProcess(pid int, m *shared) (*Process, error) {
	mem, err := m.mapHead()
	if err != nil {
		m.close()
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	p := &Process{PID: pid, memory: m, mem: mem, head: (*format.Head)(unsafe.Pointer(&mem[0]))}
	h := p.head
	switch {
	case atomic.LoadUint64(&h.Magic) != format.MemoryMagic:
		err = errStarting
	case h.Version != format.MemoryVersion || uintptr(h.Size) != unsafe.Sizeof(format.Head{}):
		err = &VersionError{int(h.Version), int(h.Size)}
	}
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return p, nil
}

// Code returns where the Go code of the process is in memory.
func (p *Process) Code() uint64 { return p.head.Code }

// Close ends the session, if there is one, and unmaps the memory. Everything else that was set
// stays.
func (p *Process) Close() error {
	err := p.Detach()
	p.memory.unmapHead(p.mem)
	return errors.Join(err, p.memory.close())
}

// The parts of the file that readers lock: for a request, for a snapshot, and from lockSession on
// for each session.
const (
	lockRequest = 0
	lockCut     = 2
	lockSession = 3
)

// exclude keeps all others, here and elsewhere, from a part of the file until done is called. It
// waits for that until the deadline.
func (p *Process) exclude(part int64, deadline time.Time) (done func(), err error) {
	p.parts[part].Lock() // the file's lock is the same for all who have it open through p.file
	for {
		if err = p.memory.lock(part); err == nil {
			return func() {
				p.memory.unlock(part)
				p.parts[part].Unlock()
			}, nil
		}
		if !errors.Is(err, errLocked) {
			err = fmt.Errorf("process %d: %v", p.PID, err)
			break
		}
		if time.Now().After(deadline) {
			err = fmt.Errorf("another reader of process %d does not finish: is it stopped?", p.PID)
			break
		}
		time.Sleep(time.Millisecond)
	}
	p.parts[part].Unlock()
	return nil, err
}

// answerWithin is how long a request or a snapshot may take: a stopped process answers no request,
// and memory that lies may never hold still.
const answerWithin = 4 * time.Second

// ask makes a request whose only answer is an error. It is about what the program itself has set,
// which stays.
func (p *Process) ask(kind uint32, text string) error { return p.askFor(0, kind, text) }

// askOwn makes a request about what this reader wants to see: that of its session, if it has begun
// one.
func (p *Process) askOwn(kind uint32, text string) error {
	return p.askFor(atomic.LoadUint32(&p.session), kind, text)
}

func (p *Process) askFor(observer, kind uint32, text string) error {
	_, err := p.request(observer, kind, text, time.Now().Add(answerWithin))
	return err
}

// askBetweenCuts is ask while nobody takes a snapshot.
func (p *Process) askBetweenCuts(kind uint32, text string) error {
	done, err := p.exclude(lockCut, time.Now().Add(answerWithin))
	if err != nil {
		return err
	}
	defer done()
	return p.ask(kind, text)
}

// request makes a request for an observer and waits for the answer, until the deadline.
func (p *Process) request(observer, kind uint32, text string, deadline time.Time) (answer string, err error) {
	if len(text) > format.RequestMax {
		return "", fmt.Errorf("a request of %d bytes is too long", len(text))
	}
	done, err := p.exclude(lockRequest, deadline)
	if err != nil {
		return "", err
	}
	defer done()
	h := p.head
	waitFor := func(number uint32) error {
		for atomic.LoadUint32(&h.Reply) != number {
			if !p.Alive() {
				return fmt.Errorf("process %d has ended", p.PID)
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d does not answer: is it stopped?", p.PID)
			}
			p.memory.awaitReply(h, number)
		}
		return nil
	}
	// One that another reader has given up may still be on its way.
	if err := waitFor(atomic.LoadUint32(&h.Request)); err != nil {
		return "", err
	}
	copy(p.mem[format.RequestAt:], text)
	h.Asked, h.Kind, h.Observer = uint32(len(text)), kind, observer
	number := atomic.AddUint32(&h.Request, 1)
	p.memory.wake(h)
	if err := waitFor(number); err != nil {
		return "", err
	}
	answer = string(p.mem[format.ReplyAt : format.ReplyAt+min(h.Answered, format.RequestMax)])
	if h.Failed != 0 {
		return "", errors.New(answer)
	}
	return answer, nil
}

// SetRules puts rules in force, in the grammar of FTRACE; "" disarms all functions. They are in
// force when SetRules returns. An error says what is wrong with them. In a session they are its
// own, beside those of the program and of other sessions. Otherwise they replace the program's.
func (p *Process) SetRules(rules string) error { return p.askOwn(format.AskRules, rules) }

// Record makes the program record to a directory, which is created, as FTRACE_RECORD does. In a
// session it records what the session's rules say, or, if it has none yet, what the program's say.
func (p *Process) Record(dir string) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return p.askOwn(format.AskRecord, strings.ReplaceAll(full, "%", "%%"))
}

// RecordRules makes the program record to a directory what rules say. The rules are in force once
// it records, so no function has been called by them before. It is for a session that has no rules
// yet.
func (p *Process) RecordRules(dir, rules string) error {
	for _, step := range []func() error{
		func() error { return p.SetRules("") }, // rather than the program's own
		func() error { return p.Record(dir) },
		func() error { return p.SetRules(rules) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// SetBudget limits what recording may cost to so many percent of the processor time that the
// program uses itself; 0 is no limit. In a session it is wanted as long as the session lasts.
// Otherwise it holds for the program's own recording, and -1 is what its FTRACE_BUDGET says. The
// smallest that anyone wants holds for all who want one. Who wants none sees every call.
func (p *Process) SetBudget(percent int) error {
	share := uint32(math.MaxUint32)
	if percent >= 0 {
		share = uint32(percent) * 1e4
	}
	return p.askOwn(format.AskBudget, string(binary.LittleEndian.AppendUint32(nil, share)))
}

// SetKept limits what calls may cost that only the consumers see, as SetBudget does for calls that
// are recorded.
func (p *Process) SetKept(percent int) error {
	return p.ask(format.AskKept, string(binary.LittleEndian.AppendUint32(nil, uint32(percent)*1e4)))
}

// RecordRings makes the program record to rings in memory, which Dump writes out. It is no error if
// it does already.
func (p *Process) RecordRings() error { return p.ask(format.AskRing, "") }

// StopRecording ends the program's own recording.
func (p *Process) StopRecording() error { return p.ask(format.AskStop, "") }

// Dump makes a recording of what the rings have, in a directory.
func (p *Process) Dump(dir string) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return p.ask(format.AskDump, strings.ReplaceAll(full, "%", "%%"))
}

// Recording returns where the program records, if a request made it record.
func (p *Process) Recording() Recording { return Recording(atomic.LoadUint32(&p.head.Recording)) }

// Spent returns how much processor time calls have cost while there was a budget, as far as the
// program has measured it.
func (p *Process) Spent() time.Duration { return time.Duration(atomic.LoadUint64(&p.head.Spent)) }

// ToFiles reports whether the program's own recording is in files, since its start or since a
// request.
func (p *Process) ToFiles() bool { return atomic.LoadInt32(&p.head.Directory) != 0 }

// Directory returns the directory that this recording is in, or "".
func (p *Process) Directory() string {
	descriptor := atomic.LoadInt32(&p.head.Directory)
	if descriptor == 0 {
		return ""
	}
	return p.memory.directory(descriptor)
}

// RecordsTo reports whether this recording is in a directory. A process that sees other files, as
// in a container, has another name for it.
func (p *Process) RecordsTo(dir string) bool {
	descriptor := atomic.LoadInt32(&p.head.Directory)
	if descriptor == 0 {
		return false
	}
	own, err := p.memory.statDirectory(descriptor)
	if err != nil {
		return false
	}
	is, err := os.Stat(dir)
	return err == nil && os.SameFile(own, is)
}

// Writes reports whether a process may still write to a recording, given its directory, its UUID
// and its executable: it is the process's own, or may be that of a session, or nobody can tell. In
// a container the process knows itself by another number than it has here.
func Writes(pid int, dir string, uuid [16]byte, executable string) bool {
	if writes(pid, dir, uuid, executable) {
		return true
	}
	return slices.ContainsFunc(alsoKnownAs(pid), func(other int) bool { return writes(other, dir, uuid, executable) })
}

// writes reports that of a process by its number here.
func writes(pid int, dir string, uuid [16]byte, executable string) bool {
	p, err := Attach(pid)
	if err != nil {
		var version *VersionError
		return errors.Is(err, errStarting) || errors.As(err, &version) || errors.Is(err, fs.ErrPermission) && mayBe(pid, dir, executable)
	}
	defer p.Close()
	return p.Alive() && p.head.UUID == uuid && (p.Sessions() > 0 || p.RecordsTo(dir))
}

// Sessions returns how many sessions there are.
func (p *Process) Sessions() int { return bits.OnesCount32(atomic.LoadUint32(&p.head.Sessions)) }

// Consumers returns what the program's own settings keep in memory, of calls and of waits.
func (p *Process) Consumers() (calls, waits Consumers) {
	return Consumers(atomic.LoadUint32(&p.head.Own[0])), Consumers(atomic.LoadUint32(&p.head.Own[1]))
}

// SetConsumers sets that. What consumers that are off from now on have kept stays as it is.
func (p *Process) SetConsumers(calls, waits Consumers) error { return p.keep(0, calls, waits) }

// Want has the process keep this too, as long as the session lasts.
func (p *Process) Want(calls, waits Consumers) error {
	return p.keep(atomic.LoadUint32(&p.session), calls, waits)
}

func (p *Process) keep(observer uint32, calls, waits Consumers) error {
	request := binary.LittleEndian.AppendUint32(nil, uint32(calls))
	return p.askFor(observer, format.AskConsumers, string(binary.LittleEndian.AppendUint32(request, uint32(waits))))
}

// Note returns a number that readers of the process leave for each other, 0 at first. It means
// nothing to the process. Package schema keeps in it which consumers were requested.
func (p *Process) Note() uint64 { return atomic.LoadUint64(&p.head.Note) }

// SetNote leaves a number for other readers.
func (p *Process) SetNote(n uint64) { atomic.StoreUint64(&p.head.Note, n) }

// Clear forgets what these consumers have kept of calls and of waits. Those by something more than
// the function forget both.
func (p *Process) Clear(calls, waits Consumers) error {
	request := binary.LittleEndian.AppendUint32(nil, uint32(calls))
	return p.askBetweenCuts(format.AskClear, string(binary.LittleEndian.AppendUint32(request, uint32(waits))))
}

// Switch switches functions, by their keys, whatever the rules say, until rules are set.
func (p *Process) Switch(changes map[uint32]Switch) error { return p.switchFor(0, changes) }

// Look has the calls of functions, by their keys, kept while the session lasts (On), or no longer
// (Off). The program's own rules and switches take precedence, and calls that are only looked at
// are neither shown nor recorded. So a function of a program that records is not looked at.
func (p *Process) Look(changes map[uint32]Switch) error {
	return p.switchFor(atomic.LoadUint32(&p.session), changes)
}

func (p *Process) switchFor(observer uint32, changes map[uint32]Switch) error {
	var text []byte
	flush := func() error {
		if len(text) == 0 {
			return nil
		}
		err := p.askFor(observer, format.AskSwitch, string(text))
		text = text[:0]
		return err
	}
	for key, what := range changes {
		text = binary.LittleEndian.AppendUint32(text, key)
		text = binary.LittleEndian.AppendUint32(text, uint32(what))
		if len(text)+8 > format.RequestMax {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Timers measures the program's timers, which takes it some milliseconds.
func (p *Process) Timers() ([]Timer, error) {
	if err := p.ask(format.AskTimers, ""); err != nil {
		return nil, err
	}
	list := make([]Timer, len(p.head.Timers))
	for i, t := range p.head.Timers {
		list[i] = Timer{Name: timerNames[i], Frequency: t.Frequency, Resolution: t.Resolution, Overhead: t.Overhead, Used: uint32(i) == p.head.Timer}
	}
	return list, nil
}

// Timer returns the name of the timer by which calls are timed.
func (p *Process) Timer() string {
	return timerNames[min(int(atomic.LoadUint32(&p.head.Timer)), len(timerNames)-1)]
}

// SetTimer makes calls that begin from now on be timed by another timer. What the program has kept
// of calls is forgotten, and calls under way are not timed. It fails while the program records to
// files.
func (p *Process) SetTimer(name string) error {
	n := slices.Index(timerNames[:], name)
	if n < 0 {
		return fmt.Errorf("there is no timer %s", name)
	}
	return p.askBetweenCuts(format.AskTimer, string(binary.LittleEndian.AppendUint32(nil, uint32(n))))
}

// Mute sets, by the ids of goroutines, whether their calls are ignored.
func (p *Process) Mute(goroutines map[uint64]bool) error {
	var text []byte
	flush := func() error {
		if len(text) == 0 {
			return nil
		}
		err := p.ask(format.AskMute, string(text))
		text = text[:0]
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(goroutines)) {
		looked := uint64(1)
		if goroutines[id] {
			looked = 0
		}
		text = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(text, id), looked)
		if len(text)+16 > format.RequestMax {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// SetObjects sets which functions stay off, see Setup. It holds until it is set anew.
func (p *Process) SetObjects(rules []Rule) error { return p.ask(format.AskObjects, formatRules(rules)) }

// SetActors sets which goroutines are traced, see Setup. It holds until it is set anew.
func (p *Process) SetActors(rules []Rule) error { return p.ask(format.AskActors, formatRules(rules)) }

// Begin begins a session: the rules that are set and what is recorded from now on are its own. They
// go with Detach, with Close, or some seconds after this reader has died. What others have set
// stays. A process has at most [format.SessionsMax] sessions at a time.
func (p *Process) Begin() error {
	p.begins.Lock()
	defer p.begins.Unlock()
	if p.session != 0 {
		return fmt.Errorf("a session of process %d has begun already", p.PID)
	}
	session := uint32(1)
	for p.memory.lock(lockSession+int64(session)) != nil {
		if session++; session > format.SessionsMax {
			return fmt.Errorf("%d are attached to process %d, and there can be no more: end one of them", format.SessionsMax, p.PID)
		}
	}
	if err := p.askFor(session, format.AskSession, ""); err != nil {
		p.memory.unlock(lockSession + int64(session))
		return err
	}
	atomic.StoreUint32(&p.session, session)
	p.ends = make(chan struct{})
	go func(ends chan struct{}, beats *uint64) {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				atomic.AddUint64(beats, 1)
			case <-ends:
				ends <- struct{}{}
				return
			}
		}
	}(p.ends, &p.head.Beats[session-1])
	return nil
}

// Detach ends the session.
func (p *Process) Detach() error {
	p.begins.Lock()
	defer p.begins.Unlock()
	session := p.session
	if session == 0 {
		return nil
	}
	p.ends <- struct{}{}
	<-p.ends // the memory is not touched any more
	atomic.StoreUint32(&p.session, 0)
	defer p.memory.unlock(lockSession + int64(session))
	if !p.Alive() {
		return nil
	}
	return p.askFor(session, format.AskDetach, "")
}
