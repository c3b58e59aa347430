package main

import (
	"flag"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// recordCommand is "ftrace record [FLAGS] CMD [ARGS]".
func recordCommand(args []string) int {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("o", defaultDir, "")
	rules := flags.String("f", "", "")
	if err := flags.Parse(args); err != nil {
		return fail("record", usageError{err})
	}
	if flags.NArg() == 0 {
		return fail("record", usagef("which program?"))
	}
	if err := walk.CheckRules(*rules); err != nil {
		return fail("record", usageError{err})
	}
	status, err := live.Record(command(flags.Args()), *dir, *rules, stderr)
	if err != nil {
		return fail("record", err)
	}
	return status
}
