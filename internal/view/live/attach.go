package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// AttachOptions are what is done with a process: that of Stack, Arm, Disarm and Dump which is set,
// or else it is shown, or recorded, until it is time to leave.
type AttachOptions struct {
	Rules  string
	Stack  bool
	Arm    bool
	Disarm bool
	Dump   string        // a directory
	Dir    string        // record there, and show nothing
	For    time.Duration // 0: until Ctrl-C, or the end
	Budget int           // percent of the process's own processor time that recording may cost; 0: any; -1: with Arm, as it is
	Text   text.Options
}

// Attach attaches to the process of that number or name.
func Attach(name string, o AttachOptions, out, warn io.Writer) error {
	p, err := Named(name)
	if err != nil {
		return err
	}
	switch {
	case o.Stack:
		err = showStacks(p, o.Text.Format, out, warn)
	case o.Arm:
		err = armProcess(p, o.Rules, o.Budget, warn)
	case o.Disarm:
		err = disarmProcess(p)
	case o.Dump != "":
		err = dump(p, o.Dump)
	default:
		err = o.stay(p, out, warn)
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	return err
}

// dump has the process write what its rings have to dir.
func dump(p *live.Process, dir string) error {
	if !p.Foreign() {
		return p.Dump(dir)
	}
	s, err := p.Scratch()
	if err != nil {
		return err
	}
	defer s.Remove()
	if err := p.Dump(s.Inside); err != nil {
		return err
	}
	return s.CopyTo(dir)
}

// armProcess puts rules in force that stay, and lets the program record to rings.
func armProcess(p *live.Process, rules string, budget int, warn io.Writer) error {
	if rules == "" {
		rules = "1"
	}
	if err := checkRules(p, rules, warn); err != nil {
		return err
	}
	if budget >= 0 {
		if err := p.SetBudget(budget); err != nil {
			return err
		}
	}
	if err := p.SetRules(rules); err != nil {
		return err
	}
	if p.Recording() != live.NotRecording || p.ToFiles() {
		return nil
	}
	return p.RecordRings()
}

// checkRules returns what is wrong with rules for the process, and says on stderr which of their
// clauses decide for no function of it.
func checkRules(p *live.Process, text string, warn io.Writer) error {
	s, err := p.Snapshot(0)
	if err != nil {
		return err
	}
	rules, err := walk.NewRules(text, s.Program, "the process")
	if err != nil {
		return err
	}
	for _, c := range rules.Idle() {
		fmt.Fprintln(warn, "ftrace: -f:", c)
	}
	if rules.Nothing() {
		return errors.New("-f shows nothing of this program: ftrace -l lists its functions")
	}
	return nil
}

// disarmProcess lets the program do nothing more than it does without any rules: those of the setup
// tables go, too.
func disarmProcess(p *live.Process) error {
	for _, undo := range []func() error{func() error { return p.SetBudget(-1) }, func() error { return p.SetRules("") }, func() error { return p.SetObjects(nil) }, func() error { return p.SetActors(nil) }} {
		if err := undo(); err != nil {
			return err
		}
	}
	if p.Recording() != live.NotRecording {
		return p.StopRecording()
	}
	return nil
}

// stay shows or records the process until it is time to leave.
func (o *AttachOptions) stay(p *live.Process, out, warn io.Writer) error {
	leave := make(chan os.Signal, 1)
	signal.Notify(leave, os.Interrupt, syscall.SIGTERM) // a shell has its jobs ignore Ctrl-C, but not kill -INT
	signals.Notify(leave, syscall.SIGHUP)
	defer signal.Stop(leave)
	kept := ""
	if o.Dir != "" {
		full, err := filepath.Abs(o.Dir)
		if err != nil {
			return err
		}
		if err := moveAway(full); err != nil {
			return err
		}
		kept = full
	}
	to := &live.Scratch{Inside: kept, Here: kept}
	if kept == "" || p.Foreign() {
		var err error
		if to, err = p.Scratch(); err != nil {
			return err
		}
		defer to.Remove()
		defer KeepPipes()()
	}
	if _, err := o.begin(p, to.Inside, warn); err != nil {
		return err
	}
	done := make(chan struct{})
	var detached error
	var left time.Time
	late := make(chan struct{})
	go func() {
		Wait(p, o.For, leave)
		left = time.Now()
		if p.Alive() { // all is shown of a process that has ended
			time.AfterFunc(showWithin, func() { close(late) })
		}
		detached = p.Detach()
		close(done)
	}()
	var err error
	v := &textView{options: o.Text, out: out, late: late}
	if o.Dir == "" {
		err = Tail(to.Here, done, fmt.Errorf("process %d ended before it recorded anything", p.PID), v, Room{Unread: AttachedBehind}, warn)
		if err != nil {
			select {
			case leave <- os.Interrupt: // whoever read the output has gone
			default:
			}
		}
	}
	<-done
	if !v.behind.IsZero() {
		fmt.Fprintf(warn, "ftrace: attach: what was called in the last %v is not shown, since showing it takes longer than that: -f chooses functions, -o DIR records all\n",
			left.Sub(v.behind).Round(time.Millisecond))
	}
	if o.Budget > 0 {
		left := ""
		switch {
		case o.Dir != "":
			left = leftOut(to.Here)
		case v.r != nil: // what was read is removed
			left = walk.LeftOut(v.r)
		}
		if left != "" {
			fmt.Fprintf(warn, "ftrace: attach: %s; -budget off records all\n", left)
		}
	}
	if kept != "" && kept != to.Here && recording.Is(to.Here) {
		err = errors.Join(err, to.CopyTo(kept))
	}
	return errors.Join(err, detached)
}

// begin begins a session in which the process records to a directory what the rules say, or, if
// there are none, what is armed, or else everything. It returns the rules, "" for what is armed.
func (o *AttachOptions) begin(p *live.Process, dir string, warn io.Writer) (rules string, err error) {
	rules = o.Rules
	if err := p.Begin(); err != nil {
		return "", err
	}
	if rules == "" {
		armed, err := anyEnabled(p)
		if err != nil {
			return "", err
		}
		if !armed {
			rules = "1"
		}
	}
	record := func() error { return p.Record(dir) }
	if rules != "" {
		if err := checkRules(p, rules, warn); err != nil {
			return "", err
		}
		record = func() error { return p.RecordRules(dir, rules) }
	}
	if err := p.SetBudget(o.Budget); err != nil {
		return "", err
	}
	return rules, record()
}

// showWithin is how long what was recorded may still be shown when it is time to leave. Usually
// that is the time between two polls.
const showWithin = 2 * pollEvery

// Wait waits until it is time to leave: when leave says so, after a time (0: never), or when the
// process has ended.
func Wait[T any](p *live.Process, within time.Duration, leave <-chan T) {
	var timeout <-chan time.Time
	if within > 0 {
		timeout = time.After(within)
	}
	for p.Alive() {
		select {
		case <-leave:
			return
		case <-timeout:
			return
		case <-time.After(pollEvery):
		}
	}
}

// anyEnabled reports whether calls of some function are seen.
func anyEnabled(p *live.Process) (bool, error) {
	s, err := p.Snapshot(0)
	if err != nil {
		return false, err
	}
	for _, f := range s.Functions {
		if f.Enabled {
			return true, nil
		}
	}
	return false, nil
}
