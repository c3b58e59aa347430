// Package probes runs programs in D over what other programs do, and lists probes.
//
// It takes the source of a program, which package dtrace compiles, and gives it the events of a
// recording, of a command that it runs, or of a process that it attaches to, through package live
// ([live.Tail]). What the program prints and its maps go to the writers that it is given.
// cmd/ftrace calls it for ftrace -n, -s and -l. It evaluates nothing itself.
package probes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	running "github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are a program in D, and what it is run over: a command, a process, or a recording.
type Options struct {
	Source    string    // of the program; of a list the probes that are wanted
	Quiet     bool      // only what the program prints is printed
	JSON      bool      // maps and lists are JSON
	Command   *exec.Cmd // nil: none
	Process   string    // a number or a name; "": none
	Recording string
}

// Output is where text goes, and what is JSON; and what is to be said beside that.
type Output struct{ Text, JSON, Warn io.Writer }

// Run runs the program of the options, compiled. It returns the status to exit with.
func Run(program *dtrace.Program, o Options, out Output) (status int, err error) {
	v := &view{program: program, options: o, out: out}
	v.leave = make(chan os.Signal, 2)
	signal.Notify(v.leave, os.Interrupt, syscall.SIGTERM) // as in package live
	signals.Notify(v.leave, syscall.SIGHUP)
	defer signal.Stop(v.leave)
	switch {
	case o.Command != nil:
		status, err = v.runCommand(o.Command)
	case o.Process != "":
		err = v.attach(o.Process)
	default:
		err = v.read(o.Recording)
	}
	if err == nil {
		err = v.err
	}
	if v.machine != nil && (v.machine.Done() || status == 0) {
		status = v.machine.Status()
	}
	return status, err
}

// view runs a program over events.
type view struct {
	program *dtrace.Program
	machine *dtrace.Machine
	r       *recording.Recording
	options Options
	out     Output
	leave   chan os.Signal
	since   time.Time // the process ran before that; zero: it did not
	err     error     // of writing
}

func (v *view) Begin(r *recording.Recording) {
	first, _ := r.Clocks()
	if !v.since.IsZero() {
		c := r.Converter()
		first.Ticks = c.Ticks(v.since.Sub(time.Unix(0, first.Wall)))
	}
	v.beginAt(r, first.Ticks)
}

func (v *view) beginAt(r *recording.Recording, ticks uint64) {
	v.r = r
	v.machine = dtrace.NewMachine(v.program, r, v.out.Text, v.out.Warn)
	v.machine.Quiet = v.machine.Quiet || v.options.Quiet
	v.machine.Start(ticks)
	v.machine.Begin()
}

func (v *view) Refreshed() { v.machine.Refresh() }

func (v *view) Event(e *recording.Event) bool {
	v.machine.Event(e)
	return true
}

func (v *view) Settled(until time.Time) bool {
	v.machine.Advance(until)
	v.err = v.machine.Flush()
	return v.err == nil && !v.machine.Done()
}

// Finish fires END, and prints the maps and how many events are missing.
func (v *view) Finish() error {
	v.machine.End()
	if v.err = errors.Join(v.err, v.machine.Flush()); v.err != nil {
		return nil
	}
	if v.options.JSON {
		enc := json.NewEncoder(v.out.JSON)
		enc.SetEscapeHTML(false)
		for _, m := range v.machine.Maps() {
			v.err = errors.Join(v.err, enc.Encode(m))
		}
	} else {
		_, v.err = v.out.Text.Write(v.machine.AppendMaps(nil))
	}
	if n := v.machine.Dropped(); n > 0 {
		fmt.Fprintf(v.out.Warn, "ftrace: %d events dropped: they could not be recorded, or not be read in time, and maps are without them\n", n)
	}
	return nil // Run returns the error of writing
}

// read runs the program over a recording.
func (v *view) read(dir string) error {
	r, err := recording.Open(dir)
	if err != nil {
		if _, missing := os.Stat(dir); missing != nil {
			return fmt.Errorf("%w: -c runs a program, -p looks into one that runs", err)
		}
		return err
	}
	if children, _ := r.Children(); len(children) > 0 {
		fmt.Fprintf(v.out.Warn, "ftrace: %s: other processes recorded within it, %d: ftrace info names them\n", dir, len(children))
	}
	if err := v.program.Check(r.Functions()); err != nil {
		return err
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	more := s.Next(&e)
	first, _ := r.Clocks()
	if more {
		first.Ticks = e.Ticks
	}
	v.beginAt(r, first.Ticks)
	for n := 0; more && !v.machine.Done() && v.err == nil; n++ {
		v.Event(&e)
		more = s.Next(&e)
		if n&1023 == 0 {
			v.err = v.machine.Flush()
			if len(v.leave) > 0 {
				break // Ctrl-C
			}
		}
	}
	v.Finish()
	walk.Complain(v.out.Warn, r)
	if v.machine.LacksWaits() {
		v.err = errors.Join(v.err, fmt.Errorf("%s has no waits, which vtimestamp, offcpu and runnable need: FTRACE='...; wait/*' records them", dir))
	}
	return errors.Join(v.err, s.Err())
}

// runCommand runs a program over what a command records.
func (v *view) runCommand(command *exec.Cmd) (status int, err error) {
	dir, remove, err := live.Temporary()
	if err != nil {
		return 1, err
	}
	defer remove()
	rules := v.program.Rules()
	if err := walk.CheckRules(rules); err != nil {
		return 1, err
	}
	program := command.Args[0]
	p, err := live.Start(command, dir, rules)
	if err != nil {
		return 1, err
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-p.Done:
		case <-v.leave:
		}
		close(over)
	}()
	err = live.Tail(dir, over, live.ErrNothing(program), v, live.Room{}, v.out.Warn)
	v.end(p)
	status = p.Wait()
	if err == nil {
		if unmatched := v.program.Check(v.r.Functions()); unmatched != nil {
			err = unmatched
		}
	}
	return status, err
}

// endWithin is how long a command has to end by itself after Ctrl-C, which the terminal gives to it
// too.
const endWithin = time.Second

// end ends a command, if it still runs because exit() was called, or Ctrl-C pressed.
func (v *view) end(p *live.Program) {
	if !v.machineDone() {
		select {
		case <-p.Done:
			return
		case <-time.After(endWithin):
		}
	}
	select {
	case <-p.Done:
	default:
		p.End()
	}
}

func (v *view) machineDone() bool { return v.machine != nil && v.machine.Done() }

// attach runs the program over what a running process does, until Ctrl-C, exit(), or its end. Then
// what it asked for goes.
func (v *view) attach(name string) error {
	p, err := live.Named(name)
	if err != nil {
		return err
	}
	err = v.stay(p)
	return errors.Join(err, p.Close())
}

func (v *view) stay(p *running.Process) error {
	s, err := p.Snapshot(0)
	if err != nil {
		return err
	}
	if err := v.program.Check(s.Program.Functions()); err != nil {
		return err
	}
	rules := v.program.Rules()
	if err := walk.CheckRules(rules); err != nil {
		return err
	}
	scratch, err := p.Scratch()
	if err != nil {
		return err
	}
	defer scratch.Remove()
	defer live.KeepPipes()()
	if err := p.Begin(); err != nil {
		return err
	}
	v.since = time.Now()
	if err := p.RecordRules(scratch.Inside, rules); err != nil {
		return err
	}
	enough, done := make(chan os.Signal, 1), make(chan struct{})
	var detached error
	go func() {
		live.Wait(p, 0, merged(v.leave, enough))
		detached = p.Detach()
		close(done)
	}()
	err = live.Tail(scratch.Here, done, fmt.Errorf("process %d ended before it recorded anything", p.PID), v, live.Room{Unread: live.AttachedBehind}, v.out.Warn)
	select {
	case enough <- os.Interrupt:
	default:
	}
	<-done
	return errors.Join(err, detached)
}

// merged returns a channel that has what comes first from two.
func merged(a, b <-chan os.Signal) <-chan os.Signal {
	to := make(chan os.Signal, 1)
	go func() {
		select {
		case s := <-a:
			to <- s
		case s := <-b:
			to <- s
		}
	}()
	return to
}
