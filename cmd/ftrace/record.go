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
	dir, rules, budget, propagate := defaultDir, "", "", false
	return command.Verb(&cli.Command{
		Name: "record", ArgsUsage: "[-o DIR] [-f RULES] [-budget N%] [-propagate] CMD [ARGS]", Usage: "run a program and record its calls in ftrace.data",
		Description: `
Record runs a program with FTRACE_RECORD set to DIR. A recording that is there already
is renamed to DIR.old. Children of the program that were built with ftrace-wrap record
to directories within DIR. The exit status is the program's, or 128 and the signal's
number if a signal ended it.

Recording costs at most 10% of the processor time that the program uses itself, or as
much as -budget or FTRACE_BUDGET says. Calls of the functions that are called most are
left out for that, and counted. Record says of which when the program has ended.`,
		UsageText: `
	$ ftrace record ./app -v
	$ ftrace record -f 'main.*;net/http/...=call' -o slow.data ./app
	$ ftrace record -budget off ./app`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Value: dir, Destination: &dir, Usage: "record to `DIR`"},
			rulesFlag(&rules, "record what FTRACE=`RULES` would show; without, and without FTRACE in the environment, everything"),
			&cli.StringFlag{Name: "budget", Destination: &budget, Usage: "leave out calls of the functions that are called most, so that recording costs at most `N%` of the program's own processor time; off leaves out none; without, and without FTRACE_BUDGET in the environment, 10% (docs/record.md)"},
			&cli.BoolFlag{Name: "propagate", Destination: &propagate, Usage: "have requests and messages carry the trace to other processes, as FTRACE_PROPAGATE=on does: what is recorded of requests has the ids of W3C Trace Context (docs/distributed.md)"},
		},
	}, command.Front, func(a command.Args) (status int, err error) {
		cmd, err := program(a)
		if err != nil {
			return 0, err
		}
		switch {
		case budget != "":
			if err := checkBudget(budget); err != nil {
				return 0, err
			}
			os.Setenv("FTRACE_BUDGET", budget)
		case os.Getenv("FTRACE_BUDGET") == "":
			os.Setenv("FTRACE_BUDGET", defaultBudget)
		}
		if propagate {
			os.Setenv("FTRACE_PROPAGATE", "on")
		}
		return live.Record(cmd, dir, rules, stderr)
	})
}

// defaultBudget is what recording may cost if nothing else is said.
const defaultBudget = "10%"

// isBudget is what FTRACE_BUDGET may be.
var isBudget = regexp.MustCompile(`^(off|[1-9][0-9]{0,2}%?)$`)
