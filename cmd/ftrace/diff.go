package main

import (
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/diff"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// diffVerb compares two recordings. Its exit status is that of diff(1): 1 if they differ, 2 if they
// can't be compared.
func diffVerb() *cli.Command {
	o := options{verb: "diff", within: named}
	var d diff.Options
	return command.Verb(&cli.Command{
		Name: "diff", ArgsUsage: "[FLAGS] A B", Usage: "find where two recordings differ first",
		Description: `
Diff finds out why one run did not do what another did. It puts the goroutines of two
recordings together that were started by the same functions, and compares their calls
by function, parameters and results; addresses are taken to be the same. It writes the
first divergence with the calls around it, and which functions were not called as
often, or returned not as many errors, or panicked. The exit status is 0 if there is
no difference, 1 if there is, 2 for trouble.`,
		UsageText: `
	$ ftrace diff good.data bad.data
	$ ftrace diff -json good.data bad.data | jq .divergence.path
	$ ftrace diff -f 'main.*' ftrace.data.old ftrace.data`,
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: "context", Value: 5, Destination: &d.Context, Usage: "show `N` lines before and after the divergence"},
			&cli.IntFlag{Name: "n", Value: 20, Destination: &d.Rows, Usage: "show `N` functions in the summary; 0: all"},
		}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		if len(args) != 2 {
			return 2, command.Usagef("two recordings are compared, not %d: name both", len(args))
		}
		d.JSON = o.json
		var sides [2]walk.Source
		for i, dir := range args {
			if sides[i], err = o.openSource(dir); err != nil {
				return 2, err
			}
		}
		found, err := diff.Compare(sides[0], sides[1], d)
		complain(sides[:]...)
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
