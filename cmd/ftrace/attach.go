package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// attachVerb looks into a running program.
func attachVerb() *cli.Command {
	var o live.AttachOptions
	var t textOptions
	budget := ""
	return command.Verb(&cli.Command{
		Name: "attach", ArgsUsage: "[FLAGS] PID|NAME", Usage: "look into a running program, arm it, record it",
		Description: `
Attach shows the calls of a program while it runs, until Ctrl-C, until it ends, or for
-for. Then what it asked for goes, also if ftrace is killed. Up to eight can be attached
to a program, each with rules of its own, D programs included. NAME is the name of an
executable of which one process runs. If nothing is armed in the program, and there is
no -f, all its functions are.

What attach arms costs at most 10% of the processor time that the program uses itself,
or as much as -budget says. Calls of the functions that are called most are left out for
that, and counted. Attach says of which at its end. Calls that others see too, who have
asked for no budget, are not left out.

With -stack, -arm, -disarm or -dump it does one thing and ends.`,
		UsageText: `
	$ ftrace attach 4242
	$ ftrace attach -f 'net/http.*=call' -for 10s -o slow.data server
	$ ftrace attach -budget 3% -for 10m -o all.data server
	$ ftrace attach -arm -f 'main.*' server; sleep 60; ftrace attach -dump last.data server
	$ ftrace attach -stack server`,
		Flags: slices.Concat([]cli.Flag{
			rulesFlag(&o.Rules, "put these `RULES` in force, as FTRACE=RULES"),
			&cli.DurationFlag{Name: "for", Destination: &o.For, Usage: "stay attached for `TIME`: 10s, 1m; calls that could not be shown in the time are not"},
			&cli.StringFlag{Name: "o", Destination: &o.Dir, Usage: "record to `DIR`, and show nothing"},
			&cli.StringFlag{Name: "budget", Destination: &budget, Usage: "leave out calls of the functions that are called most, so that recording costs at most `N%` of the program's own processor time; off leaves out none; without, 10%, and none with -arm (docs/record.md)"},
		}, t.flags(), []cli.Flag{
			&cli.BoolFlag{Name: "stack", Destination: &o.Stack, Usage: "show each goroutine's last calls, and those that it is in, with how long; " +
				"values are there if the program records to rings"},
			&cli.BoolFlag{Name: "arm", Destination: &o.Arm, Usage: "put the rules of -f, or all functions, in force, to stay; let the program record to rings"},
			&cli.BoolFlag{Name: "disarm", Destination: &o.Disarm, Usage: "disarm all functions, end a recording that -arm began"},
			&cli.StringFlag{Name: "dump", Destination: &o.Dump, Usage: "write what the rings have to `DIR`, as a recording"},
		}),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if err := t.parse(); err != nil {
			return 0, err
		}
		o.Text = t.Options
		if !o.Arm {
			o.Budget = percent(cmp.Or(budget, defaultBudget))
		} else if o.Budget = -1; budget != "" {
			o.Budget = percent(budget)
		}
		once := 0
		for _, wanted := range []bool{o.Stack, o.Arm, o.Disarm, o.Dump != ""} {
			if wanted {
				once++
			}
		}
		args := a.All()
		switch {
		case len(args) == 0:
			err = command.Usagef("no process given: name one by number or executable; ftrace list lists them")
		case len(args) > 1:
			err = command.Usagef("there is more than one process: %s: name one", strings.Join(args, " "))
		case once > 1:
			err = command.Usagef("-stack, -arm, -disarm and -dump do not go together: give one of them")
		case once > 0 && (o.Dir != "" || o.For != 0):
			err = command.Usagef("-o and -for do not go with -stack, -arm, -disarm and -dump: leave them out")
		case o.Rules != "" && (o.Stack || o.Disarm || o.Dump != ""):
			err = command.Usagef("-f does not go with -stack, -disarm and -dump: leave it out")
		case budget != "" && (o.Stack || o.Disarm || o.Dump != ""):
			err = command.Usagef("-budget does not go with -stack, -disarm and -dump: leave it out")
		default:
			err = checkBudget(budget)
		}
		if err != nil {
			return 0, err
		}
		out := stdout
		if !o.Stack {
			out = stdout.As(form(o.Text.Format.Colour))
		}
		return 0, live.Attach(args[0], o, out, stderr)
	})
}

// percent returns what a budget says, 0 if it is off.
func percent(budget string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(budget, "%"))
	return n
}

// checkBudget returns what is wrong with a budget, which may be missing.
func checkBudget(budget string) error {
	if budget != "" && !isBudget().MatchString(budget) {
		return command.Usagef("-budget: %s is neither off nor a percentage from 1%% to 999%%", budget)
	}
	return nil
}
