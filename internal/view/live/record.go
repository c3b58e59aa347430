// Package live shows programs that run: it starts them or attaches to them, and shows what they
// record, or has them record.
//
// It takes a command or a process, and gives what is recorded to package text, or to another
// [View], while it happens ([Tail]); of attached processes also what package live of the reading
// side sees in their memory ([Attach], [List]). What it shows goes to the writers that it is given.
// cmd/ftrace calls it for record, live, attach and list, package probes to run D programs over the
// same. A process that it attached to is left as it was, unless that is what was wanted.
package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/scratch"
	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Record runs a command and has it record to dir, from where a recording that is there is moved
// away. It returns the command's exit status. If there is something to do meanwhile, that is called
// with the directory and what is closed when the command has ended, and Record waits for it.
func Record(cmd *exec.Cmd, dir, rules string, warn io.Writer, meanwhile func(dir string, ended <-chan struct{})) (status int, err error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return 1, err
	}
	if err := moveAway(full); err != nil {
		return 1, err
	}
	if err := os.Mkdir(full, 0o700); err != nil { // the program makes it, but where it can't, it is not to run
		return 1, fmt.Errorf("making a directory for the recording: %w: -o names one that can be made", err)
	}
	os.Remove(full)
	program := cmd.Args[0]
	p, err := Start(cmd, full, rules)
	if err != nil {
		return 1, err
	}
	ended := make(chan struct{})
	var others sync.WaitGroup
	if meanwhile != nil {
		others.Go(func() { meanwhile(full, ended) })
	}
	status = p.Wait()
	close(ended)
	others.Wait()
	if !recording.Begun(full) {
		fmt.Fprintf(warn, "ftrace: record: %v\n", ErrNothing(program))
		return status, nil
	}
	if os.Getenv("FTRACE_BUDGET") == "off" {
		return status, nil
	}
	if left := leftOut(full); left != "" {
		fmt.Fprintf(warn, "ftrace: record: %s; -budget off records all\n", left)
	}
	return status, nil
}

// leftOutMax is up to how many bytes of a recording are read for what was left out.
const leftOutMax = 1 << 30

// leftOut says of which functions calls were left out of the recording at dir to keep within a
// budget, or returns "".
func leftOut(dir string) string {
	r, err := recording.Open(dir)
	if err != nil {
		return "" // who reads it hears of that
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	if s.Size() > leftOutMax {
		return "calls may have been left out to keep within the budget, as ftrace report says"
	}
	for e := (recording.Event{}); s.Next(&e); {
	}
	return walk.LeftOut(r)
}

// ErrNothing is that a program recorded nothing.
func ErrNothing(program string) error {
	return fmt.Errorf("nothing was recorded: was %s built with ftrace-wrap (go build -toolexec=ftrace-wrap)?", program)
}

// Temporary returns a directory that is not there yet, for a recording that is removed in the end.
func Temporary() (dir string, remove func(), err error) {
	temp, removeTemp, err := scratch.New()
	if err != nil {
		return "", nil, err
	}
	restore := KeepPipes()
	return filepath.Join(temp, "recording"), func() {
		removeTemp()
		restore()
	}, nil
}

// KeepPipes lets what is temporary be removed also where whoever reads the output has gone: writing
// fails then, and ends the process no more, until restore is called.
func KeepPipes() (restore func()) {
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	return func() { signal.Stop(closed) }
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
		if len(entries) > 0 && !recording.Is(name) {
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

// A Program is run, and records.
type Program struct {
	Done <-chan struct{} // closed when it has ended

	cmd     *exec.Cmd
	signals chan os.Signal
}

// Start starts a command that records to dir what rules say, or, if these are empty, what the
// environment says.
func Start(cmd *exec.Cmd, dir, rules string) (*Program, error) {
	done := make(chan struct{})
	p := &Program{Done: done, cmd: cmd, signals: make(chan os.Signal, 1)}
	// A percent sign in FTRACE_RECORD stands for something.
	p.cmd.Env = append(p.cmd.Environ(), "FTRACE_RECORD="+strings.ReplaceAll(dir, "%", "%%"))
	if rules != "" {
		p.cmd.Env = append(p.cmd.Env, "FTRACE="+rules)
	}
	// Ctrl-C reaches the program as well; ftrace ends after it.
	signals.Notify(p.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w: give the path of an executable program", cmd.Args[0], cmp.Or(errors.Unwrap(err), err))
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
		close(done)
	}()
	return p, nil
}

// Wait waits for the end and returns the exit status: the program's, or 128 and the signal's number
// if a signal ended it.
func (p *Program) Wait() int {
	<-p.Done
	signal.Stop(p.signals)
	state := p.cmd.ProcessState
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// End lets the program end.
func (p *Program) End() { p.cmd.Process.Signal(syscall.SIGTERM) }
