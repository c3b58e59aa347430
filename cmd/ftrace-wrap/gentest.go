package main

import (
	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gentest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// gentestVerb makes a test of recorded calls.
func gentestVerb() *cli.Command {
	o := gentest.Options{}
	return command.Verb(&cli.Command{
		Name: "gentest", ArgsUsage: "-func FUNC [FLAGS] [DIR]", Usage: "make a table test of a function from its recorded calls",
		Description: `
Gentest makes a table test of a function from a recording of its calls, in DIR or else in
ftrace.data. Parameters and results become Go literals, and errors their messages. A call
can be no case if one of its values was not recorded as a whole, is a secret, or can't be
written in Go. It is left out then, with the reason, and so is a call that does not
return the same when the test calls the function.

Of the calls those are kept that together reach the most statements of the function, as
go test -cover counts them. The test is written beside the function, into FILE_test.go.
If an earlier run has made it, it gets the cases that it does not have. All else in the
file stays as it is. The file is written only if go test runs the test and it passes.

Other flags are those of go test, such as -tags. The exit status is 0 if a test was
written, 1 if no call can be a case or the test can't be made, 2 for wrong usage.`,
		UsageText: `
	$ ftrace record -f 'main.parse=deep' ./app
	$ ftrace-wrap gentest -func main.parse`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "func", Destination: &o.Func, Usage: "test this `FUNC`, named as traces name it"},
			&cli.StringFlag{Name: "o", Destination: &o.File, Usage: "write the test to `FILE`, in the function's package"},
			&cli.BoolFlag{Name: "all", Destination: &o.All, Usage: "keep calls that reach no other statements"},
		},
	}, command.Foreign(gocmd.ValueFlags), func(a command.Args) (status int, err error) {
		if err := checkBuildFlags(a.Foreign); err != nil {
			return 2, err
		}
		switch all := a.All(); {
		case o.Func == "":
			return 2, command.Usagef("no function is named: give -func")
		case len(all) > 1:
			return 2, command.Usagef("%d recordings are named: give one", len(all))
		case len(all) == 1:
			o.Recording = all[0]
		default:
			o.Recording = "ftrace.data"
		}
		o.Build = a.Foreign
		written, err := gentest.Run(stdout, &o)
		if err == nil && !written {
			status = 1
		}
		return status, err
	})
}
