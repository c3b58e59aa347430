package main

import (
	"os"
	"regexp"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// recordVerb runs a program and has it record.
func recordVerb() *cli.Command {
	dir, rules, budget := defaultDir, "", ""
	return command.Verb(&cli.Command{
		Name: "record", ArgsUsage: "[-o DIR] [-f RULES] [-budget N%] CMD [ARGS]", Usage: "run a program and record its calls in ftrace.data",
		Description: `
Record runs a program with FTRACE_RECORD set to DIR. A recording that is there already
is renamed to DIR.old. Children of the program that were built with ftrace-wrap record
to directories within DIR. The exit status is the program's, or 128 and the signal's
number if a signal ended it.`,
		UsageText: `
	$ ftrace record ./app -v
	$ ftrace record -f 'main.*;net/http/...=call' -o slow.data ./app
	$ ftrace record -budget 3% ./app`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Value: dir, Destination: &dir, Usage: "record to `DIR`"},
			rulesFlag(&rules, "record what FTRACE=`RULES` would show; without, and without FTRACE in the environment, everything"),
			&cli.StringFlag{Name: "budget", Destination: &budget, Usage: "leave out calls of the functions that are called most, so that recording costs at most `N%` of the program's own processor time (docs/record.md)"},
		},
	}, command.Front, func(a command.Args) (status int, err error) {
		cmd, err := program(a)
		if err != nil {
			return 0, err
		}
		if budget != "" {
			if !isBudget.MatchString(budget) {
				return 0, command.Usagef("-budget: %s is neither off nor a percentage from 1%% to 999%%", budget)
			}
			os.Setenv("FTRACE_BUDGET", budget)
		}
		return live.Record(cmd, dir, rules, stderr)
	})
}

// isBudget is what FTRACE_BUDGET may be.
var isBudget = regexp.MustCompile(`^(off|[1-9][0-9]{0,2}%?)$`)
