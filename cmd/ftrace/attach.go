package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
)

// attachCommand is "ftrace attach [FLAGS] PID|NAME".
func attachCommand(args []string) int {
	flags := flag.NewFlagSet("attach", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	rules := flags.String("f", "", "")
	var a attachment
	flags.DurationVar(&a.time, "for", 0, "")
	flags.StringVar(&a.dir, "o", "", "")
	formatText := flags.String("format", formatOfEnvironment(), "")
	fold := flags.Bool("fold", false, "")
	flags.BoolVar(&a.repeats, "repeats", false, "")
	stack := flags.Bool("stack", false, "")
	arm := flags.Bool("arm", false, "")
	disarm := flags.Bool("disarm", false, "")
	dump := flags.String("dump", "", "")
	if err := flags.Parse(args); err != nil {
		return fail("attach", usageError{err})
	}
	var err error
	a.format, err = parseFormat(*formatText)
	a.format.fold = a.format.fold || *fold
	once := 0
	for _, asked := range []bool{*stack, *arm, *disarm, *dump != ""} {
		if asked {
			once++
		}
	}
	switch {
	case err != nil:
	case flags.NArg() == 0:
		err = errors.New("which process? ftrace list lists them")
	case flags.NArg() > 1:
		err = fmt.Errorf("there is more than one process: %v", flags.Args())
	case once > 1:
		err = errors.New("-stack, -arm, -disarm and -dump do not go together")
	case once > 0 && (a.dir != "" || a.time != 0):
		err = errors.New("-o and -for do not go with -stack, -arm, -disarm and -dump")
	case *rules != "" && (*stack || *disarm || *dump != ""):
		err = errors.New("-f does not go with -stack, -disarm and -dump")
	default:
		err = checkRules(*rules)
	}
	if err != nil {
		return fail("attach", usageError{err})
	}
	p, err := processNamed(flags.Arg(0))
	if err != nil {
		return fail("attach", err)
	}
	switch {
	case *stack:
		err = showStacks(p, a.format)
	case *arm:
		err = armProcess(p, *rules)
	case *disarm:
		err = disarmProcess(p)
	case *dump != "":
		err = p.Dump(*dump)
	default:
		err = a.stay(p, *rules)
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fail("attach", err)
	}
	return 0
}

// armProcess puts rules in force that stay, and lets the program record to rings.
func armProcess(p *live.Process, rules string) error {
	if rules == "" {
		rules = "1"
	}
	if err := setRules(p, rules); err != nil {
		return err
	}
	if p.Recording() != live.NotRecording {
		return nil
	}
	return p.RecordRings()
}

// setRules puts rules in force, and says on stderr which of their clauses decide for no function of
// the process.
func setRules(p *live.Process, text string) error {
	s, err := p.Snapshot() // first, so that calls are not seen for longer than was wanted
	if err != nil {
		return err
	}
	_, idle, err := newRules(text, s.Program)
	if err != nil {
		return err
	}
	for _, c := range idle {
		fmt.Fprintln(stderr, "ftrace: -f:", c.message("the process"))
	}
	return p.SetRules(text)
}

// disarmProcess lets the program do nothing more than it does without any rules: those of the setup tables go, too.
func disarmProcess(p *live.Process) error {
	for _, undo := range []func() error{func() error { return p.SetRules("") }, func() error { return p.SetObjects(nil) }, func() error { return p.SetActors(nil) }} {
		if err := undo(); err != nil {
			return err
		}
	}
	if p.Recording() != live.NotRecording {
		return p.StopRecording()
	}
	return nil
}

// attachment is how to stay attached to a process.
type attachment struct {
	time    time.Duration // 0: until Ctrl-C, or the end
	dir     string        // record there, and show nothing
	format  format
	repeats bool
}

// stay shows or records the process until it is time to leave.
func (a *attachment) stay(p *live.Process, rules string) error {
	dir := a.dir
	if dir == "" {
		temp, err := os.MkdirTemp("", "ftrace-attach-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = filepath.Join(temp, "recording")
	} else {
		full, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		if err := moveAway(full); err != nil {
			return err
		}
	}
	if err := p.Begin(); err != nil {
		return err
	}
	if rules == "" {
		armed, err := anyEnabled(p)
		if err != nil {
			return err
		}
		if !armed {
			rules = "1"
		}
	}
	if err := p.Record(dir); err != nil {
		return err
	}
	if rules != "" {
		if err := setRules(p, rules); err != nil {
			return err
		}
	}
	leave, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(leave, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(leave)
	var detached error
	var left time.Time
	late := make(chan struct{})
	go func() {
		a.wait(p, leave)
		left = time.Now()
		if p.Alive() { // all is shown of a process that has ended
			time.AfterFunc(showWithin, func() { close(late) })
		}
		detached = p.Detach()
		close(done)
	}()
	var err error
	v := &textView{format: a.format, repeats: a.repeats, lines: newLines(stdout.As(form(a.format.colour)), false), late: late}
	if a.dir == "" {
		err = v.follow(dir, done, fmt.Errorf("process %d ended before it recorded anything", p.PID))
		if err != nil {
			select {
			case leave <- os.Interrupt: // whoever read the output has gone
			default:
			}
		}
	}
	<-done
	if v.behind != 0 {
		fmt.Fprintf(stderr, "ftrace: attach: what was called in the last %v is not shown, since showing it takes longer than that: -f chooses functions, -o DIR records all\n",
			left.Sub(v.text.clock.Wall(v.behind)).Round(time.Millisecond))
	}
	return errors.Join(err, detached)
}

// showWithin is how long what was recorded may still be shown when it is time to leave. Usually that is the time between two polls.
const showWithin = 2 * pollEvery

// wait waits until it is time to leave.
func (a *attachment) wait(p *live.Process, leave <-chan os.Signal) {
	var timeout <-chan time.Time
	if a.time > 0 {
		timeout = time.After(a.time)
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
	s, err := p.Snapshot()
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
