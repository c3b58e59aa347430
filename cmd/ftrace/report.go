package main

import (
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/report"
)

// reportVerb shows a table of functions.
func reportVerb() *cli.Command {
	o := options{verb: "report", within: takesIn}
	p := report.Options{By: "function", Sort: "total"}
	var diff bool
	return command.Verb(&cli.Command{
		Name: "report", ArgsUsage: "[FLAGS] [DIR ...], or ftrace report -diff [FLAGS] A B", Usage: "calls, times and errors of each function",
		Description: `
Report writes a table of the functions that were called: calls, total time (of calls
within others of the same function only the outer ones), self time (without the calls
that they made and that are shown), average, shortest, longest, percentiles (within
3 %), calls whose last result was an error that is not nil, and panics.

With -children calls of child processes are in it, and so are those of all recordings
that are named. By goroutine these are named by process: 1234 G1.

With -waits the columns are how self time divides into running, runnable (for want of a
processor) and waiting, by kind. Of calls under way that is until the end.`,
		UsageText: `
	$ ftrace report -n 20
	$ ftrace report -by package -sort self
	$ ftrace report -waits -n 20
	$ ftrace report -diff ftrace.data.old ftrace.data`,
		Flags: slices.Concat([]cli.Flag{
			command.Choice(&p.By, "by", "a row for each `WHAT`", "function", "package", "goroutine"),
			command.Choice(&p.Sort, "sort", "sort by `COLUMN`", report.SortBy()...),
			&cli.IntFlag{Name: "n", Destination: &p.Rows, Usage: "show the first `N` rows"},
			&cli.BoolFlag{Name: "diff", Destination: &diff, Usage: "show what changed from A to B, the largest change first"},
			&cli.BoolFlag{Name: "waits", Destination: &p.Waits, Usage: "divide self time into running, runnable and waiting"},
			o.childrenFlag(), o.traceFlag(),
		}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		switch {
		case diff && len(args) != 2:
			return 0, command.Usagef("-diff compares two recordings, not %d: name both", len(args))
		case diff && p.Waits:
			return 0, command.Usagef("-waits divides the times of one recording: leave it or -diff out")
		case diff && p.By == "goroutine":
			return 0, command.Usagef("-diff -by goroutine: goroutines of two runs have nothing to do with each other: leave one out")
		}
		p.JSON = o.json
		of := [][]string{args}
		if diff {
			of = [][]string{args[:1], args[1:]}
		}
		var summaries []*report.Summary
		for _, args := range of {
			family, _, err := o.openFamily(args)
			if err != nil {
				return 0, err
			}
			s, err := report.Summarize(family, p)
			if err != nil {
				return 0, err
			}
			complain(family...)
			summaries = append(summaries, s)
		}
		out := o.output()
		defer out.close()
		if diff {
			return 0, report.WriteDiff(out, summaries[0], summaries[1], p)
		}
		return 0, summaries[0].Write(out, p)
	})
}
