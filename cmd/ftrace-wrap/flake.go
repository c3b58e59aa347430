package main

import (
	"fmt"
	"regexp"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/flake"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// flakeVerb runs tests until they have passed and failed.
func flakeVerb() *cli.Command {
	o := flake.Options{}
	least := func(least int, what string) func(int) error {
		return func(n int) error {
			if n < least {
				return fmt.Errorf("%d is no %s: give %d or more", n, what, least)
			}
			return nil
		}
	}
	return command.Verb(&cli.Command{
		Name: "flake", ArgsUsage: "[FLAGS] [PACKAGE] [-- TEST FLAGS]", Usage: "run a test until it passes and fails, and find out what differs",
		Description: `
Flake finds out why a test fails now and then. It builds the tests of the package with
hooks and runs them again and again, each time recorded, until a run has failed and some
have passed. Then ftrace diff tells where the run that failed first parts from all those
that passed. What differs among these is left out.

So that a failure comes sooner, the scheduler is shaken. Of five runs one is as it is, one
has GOMAXPROCS=1 and one all processors, both with FTRACE_SHAKE and a seed by which calls
let other goroutines run, one has four times as many as there are, and during one others
keep the machine busy. After the first failure the others are as that one was, with other
seeds. With one processor, the same seed does nearly the same again. The command for that
is printed.

The recordings stay in the directory -o names, which is emptied if an earlier run of this
made it. PACKAGE is the one in the current directory if none is named. Other flags are
those of go test -c, such as -race and -tags. The exit status is 0 if no run failed, 1 if
one did, 2 for wrong usage and for tests that can't be built.`,
		UsageText: `
	$ ftrace-wrap flake -run TestQueue ./queue
	$ ftrace-wrap flake -race -count 1000 -run 'TestQueue$' ./queue -- -test.short`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "count", Value: 200, Destination: &o.Count, Usage: "run them `N` times at most", Validator: least(1, "number of runs")},
			&cli.IntFlag{Name: "good", Value: 5, Destination: &o.Good, Usage: "compare with `N` runs that passed", Validator: least(1, "number of runs to compare with")},
			&cli.StringFlag{
				Name: "run", Value: ".", HideDefault: true, Destination: &o.Tests, Usage: "run the tests whose names `REGEXP` matches",
				Validator: func(value string) error {
					if _, err := regexp.Compile(value); err != nil {
						return fmt.Errorf("%q is no regular expression: %v", value, err)
					}
					return nil
				},
			},
			&cli.StringFlag{Name: "f", Destination: &o.Funcs, Usage: "record what FTRACE=`RULES` would show; without, and without FTRACE in the environment, everything"},
			&cli.StringFlag{Name: "o", Value: "flake.data", Destination: &o.Dir, Usage: "keep the program and the recordings in `DIR`"},
			&cli.BoolFlag{Name: "calm", Destination: &o.Calm, Usage: "leave the scheduler alone"},
			&cli.IntFlag{Name: "cpu", Destination: &o.CPU, Usage: "set GOMAXPROCS to `N` in all runs, and shake them all", Validator: least(1, "number of processors")},
			&cli.IntFlag{Name: "seed", Destination: &o.Seed, Usage: "add `N` to the seeds, so that they differ from those of an earlier run", Validator: least(0, "seed")},
			&cli.DurationFlag{
				Name: "timeout", Value: time.Minute, Destination: &o.Timeout, Usage: "a run fails that takes longer than `DURATION`",
				Validator: func(d time.Duration) error {
					if d <= 0 {
						return fmt.Errorf("-timeout %v is no time to run tests in: give more, such as 10s", d)
					}
					return nil
				},
			},
		},
	}, command.Foreign(gocmd.ValueFlags), func(a command.Args) (status int, err error) {
		if err := checkBuildFlags(a.Foreign); err != nil {
			return 2, err
		}
		if len(a.Rest) > 1 {
			return 2, command.Usagef("%d packages are named: name the one with the test", len(a.Rest))
		}
		o.Build, o.Package, o.Args = a.Foreign, ".", a.After
		if len(a.Rest) == 1 {
			o.Package = a.Rest[0]
		}
		failed, err := flake.Run(stdout, stderr, &o)
		switch {
		case err != nil:
			return 2, err
		case failed:
			return 1, nil
		}
		return 0, nil
	})
}
