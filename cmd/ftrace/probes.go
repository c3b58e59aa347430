package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/probes"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// asksProbes reports whether the arguments are for probes: ftrace -n PROGRAM, -s FILE, -l. The
// flags of ftrace live, which has no verb either, are others.
func asksProbes(args []string) bool {
	if len(args) == 0 {
		return false
	}
	name, isFlag := strings.CutPrefix(args[0], "-")
	name = strings.TrimPrefix(name, "-")
	return isFlag && (slices.Contains([]string{"c", "p", "o", "json"}, name) || name != "" && strings.Trim(name, "qnsl") == "")
}

// probeOptions are what its flags say to the verb probes.
type probeOptions struct {
	probes.Options
	programs []string
	list     bool
	command  string // -c
	file     string // -o
}

// probesVerb runs a program in D, or lists probes.
func probesVerb() *cli.Command {
	var p probeOptions
	return command.Verb(&cli.Command{
		Name: "probes", ArgsUsage: "-n 'PROGRAM'|-s FILE|-l [FLAGS] [-c 'CMD ARGS'|-p PID|NAME|DIR]",
		Usage: "run a program in D, the language of DTrace: ftrace -n PROGRAM",
		Description: `
Probes runs a program in D, the language of DTrace, over what a program built with
ftrace-wrap does: with -c over CMD, which it runs; with -p over a process that runs
already, which is left as it was; or over a recording, ftrace.data by default. The word
probes may be left out. Only what the D program asks about is armed and recorded. Maps
are printed at the end, also of Ctrl-C. A D program is clauses of probes, a predicate
and actions:

	call:net/http:(*Server).*:return /elapsed > 1ms/ { @[probefunc] = count(); }

	call:PACKAGE:FUNCTION:entry, :return   calls; parts may be empty or globs
	tcp:::send, udp:::*, myapp:::start     static probes
	BEGIN, END, tick-1s, interval:s:1

docs/probes.md has the language, and examples.`,
		UsageText: `
	$ ftrace -n 'tcp:::accept-established { trace(args[2]->ip_saddr); }' -p server
	$ ftrace -n 'call:main:*:return { @[probefunc] = quantize(elapsed); }' -c './app -v'
	$ ftrace -qn 'call:::return /err != nil/ { @[probefunc, err] = count(); }'
	$ ftrace -l -n 'call:net/http:*:entry' server`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "n", Usage: "run this `PROGRAM`; several are one", Validator: func(text string) error {
				p.programs = append(p.programs, text)
				return nil
			}},
			&cli.StringFlag{Name: "s", Usage: "run the program in `FILE`", Validator: func(file string) error {
				text, err := os.ReadFile(file)
				p.programs = append(p.programs, string(text))
				return err
			}},
			&cli.BoolFlag{Name: "l", Destination: &p.list, Usage: "list probes with their arguments and results; -n names those wanted"},
			&cli.StringFlag{Name: "c", Destination: &p.command, Usage: "run a command, and watch it: `'CMD ARGS'`"},
			&cli.StringFlag{Name: "p", Destination: &p.Process, Usage: "watch a process that runs, or read a recording: `PID|NAME|DIR`"},
			&cli.BoolFlag{Name: "q", Destination: &p.Quiet, Usage: "print only what the program prints: no columns"},
			&cli.BoolFlag{Name: "json", Destination: &p.JSON, Usage: "print the maps as JSON, a line each"},
			&cli.StringFlag{Name: "o", Destination: &p.file, Usage: "print to `FILE`"},
		},
	}, command.Letters, func(a command.Args) (status int, err error) {
		if err := p.check(a.All()); err != nil {
			return 0, err
		}
		status, err = p.run()
		if fault := (*dtrace.Error)(nil); errors.As(err, &fault) {
			fmt.Fprintf(stderr, "ftrace: %v\n", fault)
			return 1, nil
		}
		return status, err
	})
}

// run lists probes, or runs a program.
func (p *probeOptions) run() (status int, err error) {
	to := probes.Output{Text: stdout, JSON: stdout.As(screen.JSON), Warn: stderr}
	if p.list {
		return 0, probes.List(p.Options, to)
	}
	program, err := dtrace.Compile(p.Source)
	if err != nil {
		return 1, err
	}
	if p.file != "" {
		f, err := ownfile.Create(p.file) // what programs were given may be secret
		if err != nil {
			return 1, err
		}
		defer f.Close()
		to.Text, to.JSON = screen.New(f, screen.Text), screen.New(f, screen.JSON)
	}
	return probes.Run(program, p.Options, to)
}

// check takes in what the flags and the other arguments say together.
func (p *probeOptions) check(args []string) error {
	p.Source = strings.Join(p.programs, "\n")
	run, err := words.Shell(p.command)
	if err != nil {
		return command.Usagef("-c: %v", err)
	}
	if len(run) > 0 {
		p.Command = shared(run)
	}
	p.Recording = defaultDir
	if len(args) > 0 {
		p.Recording = args[0]
	}
	if len(args) == 0 && p.Command == nil && recording.Is(p.Process) {
		p.Recording, p.Process = p.Process, ""
	}
	switch {
	case p.Command != nil && p.Process != "":
		return command.Usagef("-c runs a program and -p looks into one that runs: leave one out")
	case (p.Command != nil || p.Process != "") && len(args) > 0, len(args) > 1:
		return command.Usagef("too many arguments: %s: a program and its arguments are one argument of -c, in quotes", strings.Join(args, " "))
	case !p.list && len(p.programs) == 0:
		return command.Usagef("no D program given: -n 'PROGRAM' or -s FILE has it")
	case p.list && p.Command == nil && p.Process == "" && p.Recording == defaultDir && !recording.Is(defaultDir):
		return command.Usagef("no process, program or recording given: ftrace -l PID|RECORDING, ftrace -l -c CMD")
	}
	return nil
}
