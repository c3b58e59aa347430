package main

import (
	"flag"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// liveCommand is "ftrace live [FLAGS] CMD [ARGS]", or "ftrace [FLAGS] CMD [ARGS]".
func liveCommand(args []string) int {
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	rules := flags.String("f", "", "")
	t := textFlags(flags)
	err := flags.Parse(args)
	if err == nil {
		err = t.parse()
	}
	if err == nil {
		err = walk.CheckRules(*rules)
	}
	if err == nil && flags.NArg() == 0 {
		err = usagef("which program?")
	}
	if err != nil {
		return fail("live", usageError{err})
	}
	status, err := live.Show(command(flags.Args()), *rules, t.Options, stderr.As(form(t.Format.Colour)), stderr)
	if err != nil {
		return fail("live", err)
	}
	return status
}
