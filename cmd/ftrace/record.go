package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// recordCommand is "ftrace record [FLAGS] CMD [ARGS]".
func recordCommand(args []string) int {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("o", defaultDir, "")
	rules := flags.String("f", "", "")
	if err := flags.Parse(args); err != nil {
		return fail("record", usageError{err})
	}
	if flags.NArg() == 0 {
		return fail("record", usagef("which program?"))
	}
	if err := checkRules(*rules); err != nil {
		return fail("record", usageError{err})
	}
	full, err := filepath.Abs(*dir)
	if err != nil {
		return fail("record", err)
	}
	if err := moveAway(full); err != nil {
		return fail("record", err)
	}
	p, err := start(flags.Args(), full, *rules)
	if err != nil {
		return fail("record", err)
	}
	status := p.wait()
	if !isRecording(full) {
		fmt.Fprintf(stderr, "ftrace: record: %v\n", errNothing(flags.Arg(0)))
	}
	return status
}

func errNothing(program string) error {
	return fmt.Errorf("nothing was recorded: was %s built with ftrace-wrap (go build -toolexec=ftrace-wrap)?", program)
}

// moveAway renames the recording that is at dir to dir.old, in place of the one that is there.
func moveAway(dir string) error {
	for _, name := range []string{dir, dir + ".old"} {
		entries, err := os.ReadDir(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if len(entries) > 0 && !isRecording(name) {
			return fmt.Errorf("%s is there and is no recording: it is left as it is: remove it, or record with -o to another directory", name)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	if err := os.RemoveAll(dir + ".old"); err != nil {
		return err
	}
	return os.Rename(dir, dir+".old")
}

// checkRules says what is wrong with rules for the program, which would only say so itself and run on.
func checkRules(text string) error {
	_, _, err := newRules(text, &recording.Recording{})
	return err
}

// process is a program that is being recorded.
type process struct {
	cmd     *exec.Cmd
	signals chan os.Signal
	done    chan struct{} // closed when it has ended
}

// start starts a program that records to dir.
func start(args []string, dir, rules string) (*process, error) {
	p := &process{cmd: exec.Command(args[0], args[1:]...), signals: make(chan os.Signal, 1), done: make(chan struct{})}
	inherits(p.cmd)
	// A percent sign in FTRACE_RECORD stands for something.
	p.cmd.Env = append(os.Environ(), "FTRACE_RECORD="+strings.ReplaceAll(dir, "%", "%%"))
	if rules != "" {
		p.cmd.Env = append(p.cmd.Env, "FTRACE="+rules)
	}
	// Ctrl-C reaches the program as well; ftrace ends after it.
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(p.signals, s)
		}
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		for s := range p.signals {
			if s != os.Interrupt && s != syscall.SIGQUIT { // these the terminal gives to both
				p.cmd.Process.Signal(s)
			}
		}
	}()
	go func() {
		p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// wait waits for the end and returns the exit status: the program's, or 128 and the signal's number if a signal ended it.
func (p *process) wait() int {
	<-p.done
	signal.Stop(p.signals)
	state := p.cmd.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// liveCommand is "ftrace live [FLAGS] CMD [ARGS]", or "ftrace [FLAGS] CMD [ARGS]".
func liveCommand(args []string) int {
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	rules := flags.String("f", "", "")
	formatText := flags.String("format", formatOfEnvironment(), "")
	fold := flags.Bool("fold", false, "")
	repeats := flags.Bool("repeats", false, "")
	if err := flags.Parse(args); err != nil {
		return fail("live", usageError{err})
	}
	f, err := parseFormat(*formatText)
	if err != nil {
		return fail("live", usageError{err})
	}
	if err := checkRules(*rules); err != nil {
		return fail("live", usageError{err})
	}
	if flags.NArg() == 0 {
		return fail("live", usagef("which program?"))
	}
	f.fold = f.fold || *fold
	temp, err := os.MkdirTemp("", "ftrace-live-")
	if err != nil {
		return fail("live", err)
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "recording")
	p, err := start(flags.Args(), dir, *rules)
	if err != nil {
		return fail("live", err)
	}
	v := &textView{format: f, repeats: *repeats, lines: newLines(stderr.As(form(f.colour)), false)}
	if err := v.follow(dir, p.done, errNothing(p.cmd.Path)); err != nil {
		p.wait()
		return fail("live", err)
	}
	return p.wait()
}

// pollEvery is how often a recording that is being written is looked at.
const pollEvery = 50 * time.Millisecond

// A view is told what a process records, while it does.
type view interface {
	begin(r *recording.Recording)
	refreshed() // the tables, and with them the clock
	// event tells what happened. It returns false if that is enough.
	event(e *recording.Event) bool
	// settled says that all that happened until then has been told. It returns false if that is enough.
	settled(until time.Time) bool
	finish()
}

// tail tells a view what a process records until it has ended, or the view has enough, and fails with nothing if it recorded nothing.
func tail(dir string, done <-chan struct{}, nothing error, v view) error {
	ended := false
	poll := func() {
		select {
		case <-done:
			ended = true
		case <-time.After(pollEvery):
		}
	}
	var r *recording.Recording
	for r == nil {
		if poll(); ended {
			if !isRecording(dir) {
				return nothing
			}
		}
		var err error
		if r, err = recording.Open(dir); err != nil && ended {
			return err
		}
	}
	v.begin(r)
	s := r.Events(recording.Window{Follow: true})
	defer s.Close()
	var before, polled time.Time
	for more := true; more; {
		last := ended
		before, polled = polled, time.Now()
		s.Poll(last)
		// What records refer to is in the tables before them.
		if err := r.Refresh(); err != nil {
			return err
		}
		v.refreshed()
		var e recording.Event
		for more && s.Next(&e) {
			more = v.event(&e)
		}
		if last {
			before = polled
		}
		if more = v.settled(before) && more && !last; more {
			poll()
		}
	}
	v.finish()
	complain(r, s)
	return nil
}

// textView shows the text of a trace.
type textView struct {
	format  format
	repeats bool
	lines   *lines
	late    <-chan struct{} // closed when nothing more is to be shown, though there may be more; nil: never
	behind  uint64          // ticks of the first event that was not shown for that, 0: there was none
	w       *walker
	text    *text
	end     func()
}

// follow shows what a process records until it has ended, and fails with nothing if it recorded nothing.
func (v *textView) follow(dir string, done <-chan struct{}, nothing error) error {
	if err := tail(dir, done, nothing, v); err != nil {
		return err
	}
	return v.lines.close()
}

func (v *textView) begin(r *recording.Recording) {
	v.w = &walker{r: r}
	v.text = newText(v.w, v.format, v.lines)
	v.end = v.text.finish
	if v.repeats {
		v.end = newRepeats(v.text).finish
	}
}

func (v *textView) refreshed() { v.text.clock = v.w.r.Converter() }

func (v *textView) event(e *recording.Event) bool {
	select {
	case <-v.late:
		v.behind = e.Ticks
		return false
	default:
	}
	v.w.event(e)
	return v.lines.err == nil
}

func (v *textView) settled(time.Time) bool {
	v.lines.flush()
	return v.lines.err == nil
}

func (v *textView) finish() { v.end() }
