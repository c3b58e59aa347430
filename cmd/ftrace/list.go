package main

import (
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// listVerb lists the programs that can be attached to.
func listVerb() *cli.Command {
	var o options
	return command.Verb(&cli.Command{
		Name: "list", ArgsUsage: "[-json]", Usage: "the running programs that can be attached to",
		Description: `
List writes the running programs of this user that were built with ftrace-wrap, with
their number, whether anything is armed in them, where they record if someone asked
them to, and their command line. They need not have been prepared for that.`,
		UsageText: `
	$ ftrace list`,
		Flags: []cli.Flag{o.jsonFlag()},
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if args := a.All(); len(args) > 0 {
			return 0, command.Usagef("%s: list takes no arguments: leave them out", strings.Join(args, " "))
		}
		return 0, live.List(o.json, stdout.As(o.form()), stderr)
	})
}
