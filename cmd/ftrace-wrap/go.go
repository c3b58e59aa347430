package main

import (
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
)

// goVerb is the go command with us as -toolexec.
func goVerb() *cli.Command {
	return command.Verb(&cli.Command{
		Name: "go", ArgsUsage: "VERB [ARGS]", Usage: "run any go command, with ftrace-wrap in it",
		Description: `
Go runs the go command. Where VERB compiles (build, fix, install, list, run, test,
vet) it adds -toolexec=ftrace-wrap, by the full name of this program. What is built
runs untraced until FTRACE says otherwise. For test, the packages of functions that
the tests replace are added to FTRACE_PACKAGES.

This is the same as go build -toolexec=ftrace-wrap, or GOFLAGS=-toolexec=ftrace-wrap,
with ftrace-wrap in PATH.`,
		UsageText: `
	$ ftrace-wrap go build -o app ./cmd/app
	$ FTRACE='main.*' ./app`,
	}, command.Raw, func(a command.Args) (int, error) { return runGo(a.Rest) })
}

// toolexecVerbs are the verbs of the go command that compile, so that -toolexec makes sense.
var toolexecVerbs = []string{"build", "fix", "install", "list", "run", "test", "vet"}

func runGo(args []string) (status int, err error) {
	if len(args) > 0 && slices.Contains(toolexecVerbs, args[0]) {
		flag, err := gocmd.ToolexecFlag(args[0], args[1:])
		if err != nil {
			return 0, err
		}
		if args[0] == "test" {
			targets.Select(args[1:])
		}
		if err := gocmd.SelectVersioned(args); err != nil {
			return 0, err
		}
		return gocmd.Build(gocmd.InsertFlags(args, flag))
	}
	return gocmd.Exec(args)
}
