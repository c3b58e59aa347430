package main

import (
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/graph"
)

// graphVerb shows what is around a function.
func graphVerb() *cli.Command {
	o := options{verb: "graph", within: takesIn}
	return command.Verb(&cli.Command{
		Name: "graph", ArgsUsage: "[FLAGS] FUNC [DIR ...]", Usage: "what calls a function, and what it calls",
		Description: `
Graph writes what calls a function and what it calls, how often, and how long that
took. FUNC is a GLOB as in FTRACE's rules; of several functions each has its graph.
What is not shown by -f is left out: its callers then call what it called.

With -children calls of child processes are in it, and so are those of all recordings
that are named. A request that one process serves is called there by the one that
another process made, if requests carried their traces (FTRACE_PROPAGATE=on). Its time
is not taken off that of the one that made it.`,
		UsageText: `
	$ ftrace graph main.parse
	$ ftrace graph '(*Conn).Read' slow.data
	$ ftrace graph 'stage/http/*' ftrace.data old.data`,
		Flags: slices.Concat([]cli.Flag{o.childrenFlag(), o.traceFlag()}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		switch {
		case len(args) == 0:
			return 0, command.Usagef("no function given: name one, as in ftrace graph main.main")
		case len(args) == 1 && recording.Is(args[0]):
			return 0, command.Usagef("no function of %s given: name one, as in ftrace graph main.main %[1]s", args[0])
		}
		family, traces, err := o.openFamily(args[1:])
		if err != nil {
			return 0, err
		}
		g, err := graph.Find(family, traces, args[0])
		complain(family...)
		if err != nil {
			return 0, err
		}
		out := o.output()
		defer out.close()
		return 0, g.Write(out, o.json)
	})
}
