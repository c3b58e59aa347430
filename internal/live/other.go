//go:build !linux && !windows

package live

import (
	"errors"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// A Process is a running program, on Linux or Windows.
type Process struct{ PID int }

var errSystem = errors.New("running programs can be inspected on Linux and Windows only")

// List returns no processes.
func List() []Found { return nil }

// Attach fails.
func Attach(pid int) (*Process, error) { return nil, errSystem }

func Writes(int, string, [16]byte, string) bool { return false }

func (p *Process) Close() error                           { return errSystem }
func (p *Process) Memory() []Memory                       { return nil }
func (p *Process) Alive() bool                            { return false }
func (p *Process) ProcessorTime() time.Duration           { return 0 }
func (p *Process) Spent() time.Duration                   { return 0 }
func (p *Process) SetRules(rules string) error            { return errSystem }
func (p *Process) Record(dir string) error                { return errSystem }
func (p *Process) RecordRules(dir, rules string) error    { return errSystem }
func (p *Process) SetBudget(percent int) error            { return errSystem }
func (p *Process) SetKept(percent int) error              { return errSystem }
func (p *Process) RecordRings() error                     { return errSystem }
func (p *Process) StopRecording() error                   { return errSystem }
func (p *Process) Dump(dir string) error                  { return errSystem }
func (p *Process) Foreign() bool                          { return false }
func (p *Process) Scratch() (*Scratch, error)             { return nil, errSystem }
func (p *Process) Recording() Recording                   { return NotRecording }
func (p *Process) ToFiles() bool                          { return false }
func (p *Process) Directory() string                      { return "" }
func (p *Process) RecordsTo(dir string) bool              { return false }
func (p *Process) Sessions() int                          { return 0 }
func (p *Process) Consumers() (calls, waits Consumers)    { return 0, 0 }
func (p *Process) SetConsumers(c, w Consumers) error      { return errSystem }
func (p *Process) Want(calls, waits Consumers) error      { return errSystem }
func (p *Process) Look(map[uint32]Switch) error           { return errSystem }
func (p *Process) Note() uint64                           { return 0 }
func (p *Process) SetNote(n uint64)                       {}
func (p *Process) Clear(calls, waits Consumers) error     { return errSystem }
func (p *Process) Switch(changes map[uint32]Switch) error { return errSystem }
func (p *Process) Timers() ([]Timer, error)               { return nil, errSystem }
func (p *Process) Files() func(uint64) string             { return func(uint64) string { return "" } }
func (p *Process) Timer() string                          { return "" }
func (p *Process) SetTimer(name string) error             { return errSystem }
func (p *Process) Mute(goroutines map[uint64]bool) error  { return errSystem }
func (p *Process) SetObjects(rules []Rule) error          { return errSystem }
func (p *Process) SetActors(rules []Rule) error           { return errSystem }
func (p *Process) Begin() error                           { return errSystem }
func (p *Process) Detach() error                          { return errSystem }
func (p *Process) Snapshot(Contents) (*Snapshot, error)   { return nil, errSystem }
func (p *Process) States() ([]State, uint64, error)       { return nil, 0, errSystem }
func (p *Process) Stuck(time.Duration) (Search, error)    { return Search{}, errSystem }
func (p *Process) Locks() (Locks, error)                  { return Locks{}, errSystem }
func (p *Process) StatesAndLocks() ([]State, uint64, Locks, error) {
	return nil, 0, Locks{}, errSystem
}
func (p *Process) Objects([]State, Locks, *symbols.Table) (map[uint64]*Object, error) {
	return nil, errSystem
}
func (p *Process) Event(at Place, e *recording.Event) bool { return false }
