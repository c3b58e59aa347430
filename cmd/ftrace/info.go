package main

import (
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/info"
)

// infoVerb tells what a recording is of.
func infoVerb() *cli.Command {
	o := options{verb: "info"}
	return command.Verb(&cli.Command{
		Name: "info", ArgsUsage: "[FLAGS] [DIR ...]", Usage: "what a recording is of, how large, and what is missing",
		Description: `
Info writes what a recording is of: program, process, times, functions, goroutines,
calls, events, size, how many records were lost, and what is damaged. It reads all of
it. Recordings within this one, of other processes, are named, and with -children
described.`,
		UsageText: `
	$ ftrace info
	$ ftrace info -children
	$ ftrace info -json slow.data`,
		Flags: slices.Concat([]cli.Flag{o.childrenFlag()}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		family, _, err := o.openFamily(a.All())
		if err != nil {
			return 0, err
		}
		out := o.output()
		defer out.close()
		return 0, info.Write(family, o.json, out)
	})
}
