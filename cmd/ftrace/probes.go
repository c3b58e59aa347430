package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// asksProbes reports whether the arguments are for probes: ftrace -n PROGRAM, -s FILE, -l. The flags of ftrace live, which has no verb either, are others.
func asksProbes(args []string) bool {
	name, isFlag := strings.CutPrefix(args[0], "-")
	name = strings.TrimPrefix(name, "-")
	return isFlag && (slices.Contains([]string{"c", "p", "o", "json"}, name) || name != "" && strings.Trim(name, "qnsl") == "")
}

// probes is ftrace -n, -s or -l.
type probes struct {
	source  string // of the program
	list    bool
	quiet   bool
	json    bool
	command []string // -c
	process string   // -p
	file    string   // -o
	rest    []string
}

// probesCommand is "ftrace -n PROGRAM|-s FILE|-l [FLAGS] [-c CMD | -p PID | RECORDING]".
func probesCommand(args []string) int {
	p, err := parseProbes(args)
	if err != nil {
		return fail("probes", err)
	}
	status := 0
	if p.list {
		err = p.listAll()
	} else {
		status, err = p.run()
	}
	if err != nil {
		var fault *dtrace.Error
		if errors.As(err, &fault) {
			fmt.Fprintf(stderr, "ftrace: %v\n", fault)
			return 1
		}
		return fail("probes", err)
	}
	return status
}

// parseProbes reads the arguments. Flags of a letter can be written as one: -qn.
func parseProbes(args []string) (*probes, error) {
	p := &probes{}
	flags := flag.NewFlagSet("probes", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var programs []string
	flags.Func("n", "", func(text string) error {
		programs = append(programs, text)
		return nil
	})
	flags.Func("s", "", func(file string) error {
		text, err := os.ReadFile(file)
		programs = append(programs, string(text))
		return err
	})
	flags.BoolVar(&p.list, "l", false, "")
	flags.BoolVar(&p.quiet, "q", false, "")
	flags.BoolVar(&p.json, "json", false, "")
	command := flags.String("c", "", "")
	flags.StringVar(&p.process, "p", "", "")
	flags.StringVar(&p.file, "o", "", "")
	var split []string
	for _, arg := range args {
		if letters, ok := strings.CutPrefix(arg, "-"); ok && len(letters) > 1 && strings.Trim(letters, "qnsl") == "" {
			for _, letter := range letters {
				split = append(split, "-"+string(letter))
			}
			continue
		}
		split = append(split, arg)
	}
	for args = split; ; {
		if err := flags.Parse(args); err != nil {
			return nil, usageError{err}
		}
		if args = flags.Args(); len(args) == 0 {
			break
		}
		p.rest = append(p.rest, args[0])
		args = args[1:]
	}
	p.source = strings.Join(programs, "\n")
	var err error
	if p.command, err = words(*command); err != nil {
		return nil, usagef("-c: %v", err)
	}
	switch {
	case len(p.command) > 0 && p.process != "":
		err = usagef("-c runs a program and -p looks into one that runs: one of them")
	case (len(p.command) > 0 || p.process != "") && len(p.rest) > 0, len(p.rest) > 1:
		err = usagef("too many arguments: %s: a program and its arguments are one argument of -c, in quotes", strings.Join(p.rest, " "))
	case !p.list && len(programs) == 0:
		err = usagef("which program? -n 'PROGRAM' or -s FILE")
	}
	return p, err
}

// words splits a command as a shell does, as far as quotes and backslashes.
func words(s string) (list []string, err error) {
	var word strings.Builder
	var quote rune
	in, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			in, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				list = append(list, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("%s: a quote that does not end", s)
	}
	if in {
		list = append(list, word.String())
	}
	return list, nil
}

// run runs a program over what the arguments name.
func (p *probes) run() (status int, err error) {
	program, err := dtrace.Compile(p.source)
	if err != nil {
		return 1, err
	}
	v := &probeView{program: program, quiet: p.quiet, json: p.json, out: stdout}
	if p.file != "" {
		f, err := ownfile.Create(p.file) // what programs were given may be secret
		if err != nil {
			return 1, err
		}
		defer f.Close()
		v.out = screen.New(f, screen.Text)
	}
	v.leave = make(chan os.Signal, 2)
	signal.Notify(v.leave, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(v.leave)
	switch {
	case len(p.command) > 0:
		status, err = v.runCommand(p.command)
	case p.process != "":
		err = v.attach(p.process)
	default:
		err = v.read(p.rest)
	}
	if err == nil {
		err = v.err
	}
	if v.machine != nil && (v.machine.Done() || status == 0) {
		status = v.machine.Status()
	}
	return status, err
}

// probeView runs a program over events.
type probeView struct {
	program *dtrace.Program
	machine *dtrace.Machine
	r       *recording.Recording
	quiet   bool
	json    bool
	out     io.Writer
	leave   chan os.Signal
	since   time.Time // the process ran before that; zero: it did not
	err     error     // of writing
}

func (v *probeView) begin(r *recording.Recording) {
	first, _ := r.Clocks()
	if !v.since.IsZero() {
		c := r.Converter()
		first.Ticks = c.Ticks(v.since.Sub(time.Unix(0, first.Wall)))
	}
	v.beginAt(r, first.Ticks)
}

func (v *probeView) beginAt(r *recording.Recording, ticks uint64) {
	v.r = r
	v.machine = dtrace.NewMachine(v.program, r, v.out, stderr)
	v.machine.Quiet = v.machine.Quiet || v.quiet
	v.machine.Start(ticks)
	v.machine.Begin()
}

func (v *probeView) refreshed() { v.machine.Refresh() }

func (v *probeView) event(e *recording.Event) bool {
	v.machine.Event(e)
	return true
}

func (v *probeView) settled(until time.Time) bool {
	v.machine.Advance(until)
	v.err = v.machine.Flush()
	return v.err == nil && !v.machine.Done()
}

// finish fires END, and prints the maps and how many events are missing.
func (v *probeView) finish() {
	v.machine.End()
	if v.err = errors.Join(v.err, v.machine.Flush()); v.err != nil {
		return
	}
	if v.json {
		enc := json.NewEncoder(asJSON(v.out))
		enc.SetEscapeHTML(false)
		for _, m := range v.machine.Maps() {
			v.err = errors.Join(v.err, enc.Encode(m))
		}
	} else {
		_, v.err = v.out.Write(v.machine.AppendMaps(nil))
	}
	if n := v.machine.Dropped(); n > 0 {
		fmt.Fprintf(stderr, "ftrace: %d events dropped\n", n)
	}
}

// read runs the program over a recording.
func (v *probeView) read(args []string) error {
	dir := defaultDir
	if len(args) > 0 {
		dir = args[0]
	}
	r, err := recording.Open(dir)
	if err != nil {
		if _, missing := os.Stat(dir); missing != nil {
			return fmt.Errorf("%w: -c runs a program, -p looks into one that runs", err)
		}
		return err
	}
	if children, _ := r.Children(); len(children) > 0 {
		fmt.Fprintf(stderr, "ftrace: %s: other processes recorded within it, %d: ftrace info names them\n", dir, len(children))
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
		v.event(&e)
		more = s.Next(&e)
		if n&1023 == 0 {
			v.err = v.machine.Flush()
			if len(v.leave) > 0 {
				break // Ctrl-C
			}
		}
	}
	v.finish()
	complain(r, s)
	return v.err
}

// runCommand runs a program over what a command records.
func (v *probeView) runCommand(command []string) (status int, err error) {
	temp, err := os.MkdirTemp("", "ftrace-probes-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "recording")
	rules := v.program.Rules()
	if err := checkRules(rules); err != nil {
		return 1, err
	}
	p, err := start(command, dir, rules)
	if err != nil {
		return 1, err
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-p.done:
		case <-v.leave:
		}
		close(over)
	}()
	err = tail(dir, over, errNothing(command[0]), v)
	v.end(p)
	status = p.wait()
	if err == nil {
		if unmatched := v.program.Check(v.r.Functions()); unmatched != nil {
			err = unmatched
		}
	}
	return status, err
}

// endWithin is how long a command has to end by itself after Ctrl-C, which the terminal gives to it too.
const endWithin = time.Second

// end ends a command, if it still runs because exit() was called, or Ctrl-C pressed.
func (v *probeView) end(p *process) {
	if !v.machineDone() {
		select {
		case <-p.done:
			return
		case <-time.After(endWithin):
		}
	}
	select {
	case <-p.done:
	default:
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
}

func (v *probeView) machineDone() bool { return v.machine != nil && v.machine.Done() }

// attach runs the program over what a running process does, until Ctrl-C, exit(), or its end. Then all is as it was before.
func (v *probeView) attach(name string) error {
	p, err := processNamed(name)
	if err != nil {
		return err
	}
	err = v.stay(p)
	return errors.Join(err, p.Close())
}

func (v *probeView) stay(p *live.Process) error {
	s, err := p.Snapshot()
	if err != nil {
		return err
	}
	if err := v.program.Check(s.Program.Functions()); err != nil {
		return err
	}
	rules := v.program.Rules()
	if err := checkRules(rules); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "ftrace-probes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "recording")
	if err := p.Begin(); err != nil {
		return err
	}
	v.since = time.Now()
	if err := p.Record(dir); err != nil {
		return err
	}
	if err := p.SetRules(rules); err != nil {
		return err
	}
	enough, done := make(chan os.Signal, 1), make(chan struct{})
	var detached error
	go func() {
		(&attachment{}).wait(p, merged(v.leave, enough))
		detached = p.Detach()
		close(done)
	}()
	err = tail(dir, done, fmt.Errorf("process %d ended before it recorded anything", p.PID), v)
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
