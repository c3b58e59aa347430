package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sweep"
)

// sweepVerb runs tests with each function failing that can.
func sweepVerb() *cli.Command {
	options, flags := sweepFlags()
	return command.Verb(&cli.Command{
		Name: "sweep", ArgsUsage: "[FLAGS] [PACKAGES] [-- TEST FLAGS]", Usage: "run tests, each time with another function failing",
		Description: `
Sweep runs each test once for each function that it reaches and whose last result is
an error, with the first call of that function failing, and says which failures no
one handled:

	panic     the program panicked, or the runtime ended it; but not where the
	          code that panics is in a test file
	hang      the test did not end in ten times its time, and in 5 seconds; but not
	          where the test has failed and waits in its cleanup
	swallowed the test passes: a function of the program got the error, and
	          returned none
	lost      the test passes: the error left a goroutine, or came to a function that
	          had not returned when the program ended
	reached   the test passes, though the error came up to its own code

A test that fails or is skipped is as it should be. One that passes need not be
wrong: what was tried again, may well fail, or was expected ends in the same way.
Read those. Where the call returns an error in the test as it is, it is only counted.

A function fails with an error that its source returns: a variable or a type of
errors, of its own or of a function that it calls. Where there is none that the
program has, the error is made up.

PACKAGES are patterns of the go command, the one in the current directory if there
are none. Functions are those of packages that FTRACE_PACKAGES selects, but not those
of test files, nor those whose source shows that their error is always nil, or that
they do nothing but make one, unless -func names them. A test that fails without a failure is left out, and named.

Other flags are those of go test -c, such as -race and -tags. TEST FLAGS are for the
test programs: -test.short, -update. An interrupt ends it as -time does.

The exit status is 1 if there was a panic or a hang, or, with -baseline, any finding
that FILE lacks; 2 for wrong usage and for tests
that can't be built, else 0.`,
		UsageText: `
	$ ftrace-wrap sweep -time 10m -report sweep.jsonl ./...
	$ ftrace-wrap sweep -run TestSave -func 'store.*;!*.Close' ./store`,
		Flags: flags,
	}, command.Foreign(gocmd.ValueFlags), func(a command.Args) (status int, err error) {
		if err := checkBuildFlags(a.Foreign); err != nil {
			return 2, err
		}
		if options.Update && options.Baseline == "" {
			return 2, errors.New("-update is about a baseline: add -baseline FILE")
		}
		options.Build, options.Packages, options.Args = a.Foreign, a.Rest, a.After
		bad, err := sweep.Run(stdout, stderr, options)
		switch {
		case err != nil:
			return 2, err
		case bad:
			return 1, nil
		}
		return 0, nil
	})
}

// sweepFlags declares the verb's flags, which set the options.
func sweepFlags() (*sweep.Options, []cli.Flag) {
	o := &sweep.Options{}
	return o, []cli.Flag{
		&cli.DurationFlag{
			Name: "time", Destination: &o.Time,
			Usage: "end after `DURATION`, builds not included; each function fails once before any fails twice, " +
				"and tests are left out that take more than a twentieth of it",
			Validator: func(d time.Duration) error {
				if d <= 0 {
					return fmt.Errorf("-time %v is no time to run tests in: give more, such as 90s or 10m", d)
				}
				return nil
			},
		},
		&cli.StringFlag{
			Name: "report", Destination: &o.Report,
			Usage: "append a line of JSON to `FILE` for each run; what is there already is not run again while the test program is the same",
		},
		&cli.StringFlag{
			Name: "baseline", Destination: &o.Baseline,
			Usage: "show only what `FILE` lacks, and exit with 1 if there is any; lines of FILE have no line numbers, so it stays good after edits",
		},
		&cli.BoolFlag{Name: "update", Destination: &o.Update, Usage: "write all that is found to the file that -baseline names"},
		&cli.StringFlag{Name: "sarif", Destination: &o.SARIF, Usage: "write what is found to `FILE`, in the format of code hosts (SARIF 2.1.0)"},
		&cli.StringFlag{
			Name: "run", Value: ".", HideDefault: true, Destination: &o.Tests, Usage: "run the tests whose names `REGEXP` matches",
			Validator: func(value string) error {
				if _, err := regexp.Compile(value); err != nil {
					return fmt.Errorf("%q is no regular expression: %v", value, err)
				}
				return nil
			},
		},
		&cli.StringFlag{
			Name: "func", Usage: "let functions fail that `RULES` name, as FTRACE has them but without settings",
			Validator: func(value string) error {
				clauses, fault, ok := rule.Parse(value)
				switch {
				case !ok:
					return errors.New(fault.Message)
				case len(clauses) == 0 || strings.ContainsAny(value, "=#"):
					return fmt.Errorf("%q does not just name functions: leave settings out", value)
				}
				o.Funcs = value
				return nil
			},
		},
		&cli.StringFlag{
			Name: "errors", Value: sweep.One, Destination: &o.Errors,
			Usage: "let each function fail with the first error that its source returns (`WHICH`: one), with each of them (all), or with one that is made up (none)",
			Validator: func(value string) error {
				if !slices.Contains([]string{sweep.One, sweep.All, sweep.None}, value) {
					return fmt.Errorf("%q is neither one, all nor none", value)
				}
				return nil
			},
		},
		&cli.StringFlag{
			Name: "from", Destination: &o.From,
			Usage: "let functions fail with errors that they returned in the recording `DIR`, in place of those that their source returns",
		},
		&cli.BoolFlag{Name: "always", Destination: &o.Always, Usage: "let all calls of the function fail, not only the first"},
		&cli.IntFlag{
			Name: "p", Value: 1, Destination: &o.Parallel, Usage: "run `N` tests at a time; tests may share a port",
			Validator: func(n int) error {
				if n < 1 {
					return fmt.Errorf("-p %d is no number of runs at a time: give 1 or more", n)
				}
				return nil
			},
		},
	}
}

// checkBuildFlags refuses flags of go test -c that say where and how tests are built or run.
func checkBuildFlags(flags []string) error {
	for _, flag := range flags {
		if name, _, _ := gocmd.FlagName(flag); slices.Contains([]string{"C", "o", "c", "exec"}, name) {
			return fmt.Errorf("%s: the tests are built and run as they are, where they are: leave it out", flag)
		}
	}
	return nil
}
