package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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
	name, isFlag := strings.CutPrefix(args[0], "-")
	name = strings.TrimPrefix(name, "-")
	return isFlag && (slices.Contains([]string{"c", "p", "o", "json"}, name) || name != "" && strings.Trim(name, "qnsl") == "")
}

// probesCommand is "ftrace -n PROGRAM|-s FILE|-l [FLAGS] [-c CMD | -p PID | RECORDING]".
func probesCommand(args []string) int {
	p, err := parseProbes(args)
	if err != nil {
		return fail("probes", err)
	}
	status, err := p.run()
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

// probeOptions are ftrace -n's, -s's and -l's.
type probeOptions struct {
	probes.Options
	list bool
	file string // -o
}

// parseProbes reads the arguments. Flags of a letter can be written as one: -qn.
func parseProbes(args []string) (*probeOptions, error) {
	p := &probeOptions{}
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
	flags.BoolVar(&p.Quiet, "q", false, "")
	flags.BoolVar(&p.JSON, "json", false, "")
	line := flags.String("c", "", "")
	flags.StringVar(&p.Process, "p", "", "")
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
	var rest []string
	for args = split; ; {
		if err := flags.Parse(args); err != nil {
			return nil, usageError{err}
		}
		if args = flags.Args(); len(args) == 0 {
			break
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
	p.Source = strings.Join(programs, "\n")
	run, err := words.Shell(*line)
	if err != nil {
		return nil, usagef("-c: %v", err)
	}
	if len(run) > 0 {
		p.Command = command(run)
	}
	p.Recording = defaultDir
	if len(rest) > 0 {
		p.Recording = rest[0]
	}
	switch {
	case p.Command != nil && p.Process != "":
		err = usagef("-c runs a program and -p looks into one that runs: one of them")
	case (p.Command != nil || p.Process != "") && len(rest) > 0, len(rest) > 1:
		err = usagef("too many arguments: %s: a program and its arguments are one argument of -c, in quotes", strings.Join(rest, " "))
	case !p.list && len(programs) == 0:
		err = usagef("which program? -n 'PROGRAM' or -s FILE")
	case p.list && p.Command == nil && p.Process == "" && p.Recording == defaultDir && !recording.Is(defaultDir):
		err = usagef("of which process, program or recording? ftrace -l PID|RECORDING, ftrace -l -c CMD")
	}
	return p, err
}
