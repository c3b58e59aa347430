package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/diff"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// diffVerb compares a recording with others. Its exit status is that of diff(1): 1 if they differ,
// 2 if they can't be compared.
func diffVerb() *cli.Command {
	o := options{verb: "diff", within: named}
	var d diff.Options
	return command.Verb(&cli.Command{
		Name: "diff", ArgsUsage: "[FLAGS] GOOD... BAD", Usage: "find where a recording first differs from good ones",
		Description: `
Diff finds out why one run did not do what others did. It puts the goroutines of the
recordings together that were started in the same way, and compares their calls by
function, parameters and results. It takes to be the same what differs from run to run:
addresses, times, random identifiers, ports, the order in which a map is ranged over, and
which of several workers did what. With several good recordings, what differs among those
is left out. Functions of which a budget left out calls are not compared. Of runs of
several processes each process is compared with the same one of another run.

It writes the first divergence with the calls around it and the values side by side, the
first one of each other goroutine, and which functions were not called as often, or
returned not as many errors, or panicked. Where good runs differ near it, a divergence
comes after others. So does the order of a list, or what a search asked for, if the tests
of BAD passed as well. The exit status is 0 if there is no difference, none but such
divergences, or, if the tests of BAD passed, no more than three good recordings or more
have from each other by chance; 1 if there is; 2 for trouble.`,
		UsageText: `
	$ ftrace diff good.data bad.data
	$ ftrace diff good1.data good2.data good3.data bad.data
	$ ftrace diff -json good.data bad.data | jq .divergence.path
	$ ftrace diff -f 'main.*' ftrace.data.old ftrace.data`,
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: "context", Value: 5, Destination: &d.Context, Usage: "show `N` lines before and after the divergence"},
			&cli.IntFlag{Name: "n", Value: 20, Destination: &d.Rows, Usage: "show `N` goroutines and functions; 0: all"},
		}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		if len(args) < 2 {
			return 2, command.Usagef("recordings are compared, not %d: name good ones, and last the bad one", len(args))
		}
		d.JSON = o.json
		sources := make([]walk.Source, len(args))
		for i, dir := range args {
			if sources[i], err = o.openSource(dir); err != nil {
				return 2, err
			}
		}
		if err := hintProcesses(sources); err != nil {
			return 2, err
		}
		found, err := diff.Compare(sources, d)
		complain(sources...)
		if err != nil {
			return 2, err
		}
		out := o.output()
		defer out.close()
		if err := found.Write(out, d); err != nil {
			return 2, err
		}
		if found.Same() {
			return 0, nil
		}
		return 1, nil
	})
}

// hintProcesses says on stderr if recordings are not of several runs: requests of one process were
// served by another.
func hintProcesses(sources []walk.Source) error {
	var recordings []*recording.Recording
	for _, from := range sources {
		recordings = append(recordings, from.Recording)
	}
	traces, err := walk.NewTraces(context.Background(), recordings)
	if err != nil {
		return err
	}
	if list := traces.Passings(); len(list) > 0 {
		made, served := recordings[list[0].Made.Recording].Dir, recordings[list[0].Served.Recording].Dir
		fmt.Fprintf(stderr, "ftrace: diff: %s served requests of %s, so both are of one run: to compare runs of several processes, compare each process with the same one of another run\n", served, made)
	}
	return nil
}
