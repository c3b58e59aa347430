package main

import (
	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/show"
)

// showVerb shows single calls, and what they changed.
func showVerb() *cli.Command {
	o := options{verb: "show", within: named}
	var s show.Options
	return command.Verb(&cli.Command{
		Name: "show", ArgsUsage: "[FLAGS] CALL [DIR]", Usage: "show single calls, and what they changed",
		Description: `
Show writes what was recorded of a call: when and where it was made, the calls around it,
its parameters, and its results. CALL is a function and the number that lines have after
it: main.handle#3. Without the number the first calls are shown. The function is a GLOB as
in FTRACE's rules.

With -changes it writes what the call changed: the parts of its parameters, the receiver
included, that were not the same when it ended. The recording must have been made with the
detail changes: ftrace record -f 'main.handle=changes' ./app.`,
		UsageText: `
	$ ftrace show main.factor#3
	$ ftrace show -changes main.factor
	$ ftrace show -json 'main.*' old.data | jq .args`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "changes", Destination: &s.Changes, Usage: "show what each call changed in place of its values"},
			&cli.IntFlag{Name: "n", Value: 10, Destination: &s.Calls, Usage: "show `N` calls; 0: all"},
		}, append(o.sourceFlags(), o.outputFlags()...)...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		switch {
		case len(args) == 0:
			return 0, command.Usagef("no call given: name one, as in ftrace show main.main#1")
		case len(args) == 1 && recording.Is(args[0]):
			return 0, command.Usagef("no call of %s given: name one, as in ftrace show main.main#1 %[1]s", args[0])
		}
		from, err := o.openSource(args[1:]...)
		if err != nil {
			return 0, err
		}
		s.Call, s.JSON = args[0], o.json
		out := o.output()
		defer out.close()
		err = show.Write(from, s, out)
		complain(from)
		return 0, err
	})
}
