package main

import (
	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// liveVerb runs a program and shows its calls meanwhile.
func liveVerb() *cli.Command {
	var rules string
	var t textOptions
	return command.Verb(&cli.Command{
		Name: "live", ArgsUsage: "[FLAGS] CMD [ARGS]", Usage: "run a program and show its calls as it runs; the default",
		Description: `
Live runs a program and shows on stderr, as it runs, what it records to a temporary
directory. The exit status is the program's. If stdout and stderr are the same terminal
or file, what the program writes is there once, and not in the trace too, unless
FTRACE_WEAVE says so. It is what ftrace does if no command is
named, but a program by its path.`,
		UsageText: `
	$ ftrace ./app
	$ ftrace -f 'main.*' -format duration ./app
	$ ftrace live -repeats app`,
		Flags: append(t.flags(), rulesFlag(&rules, "record what FTRACE=`RULES` would show; without, and without FTRACE in the environment, everything")),
	}, command.Front, func(a command.Args) (status int, err error) {
		if err := t.parse(); err != nil {
			return 0, err
		}
		cmd, err := program(a)
		if err != nil {
			return 0, err
		}
		return live.Show(cmd, rules, t.Options, stderr.As(form(t.Format.Colour)), stderr)
	})
}
