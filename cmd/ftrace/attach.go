package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// attachCommand is "ftrace attach [FLAGS] PID|NAME".
func attachCommand(args []string) int {
	flags := flag.NewFlagSet("attach", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var a live.AttachOptions
	flags.StringVar(&a.Rules, "f", "", "")
	flags.DurationVar(&a.For, "for", 0, "")
	flags.StringVar(&a.Dir, "o", "", "")
	t := textFlags(flags)
	flags.BoolVar(&a.Stack, "stack", false, "")
	flags.BoolVar(&a.Arm, "arm", false, "")
	flags.BoolVar(&a.Disarm, "disarm", false, "")
	flags.StringVar(&a.Dump, "dump", "", "")
	if err := flags.Parse(args); err != nil {
		return fail("attach", usageError{err})
	}
	err := t.parse()
	a.Text = t.Options
	once := 0
	for _, asked := range []bool{a.Stack, a.Arm, a.Disarm, a.Dump != ""} {
		if asked {
			once++
		}
	}
	switch {
	case err != nil:
	case flags.NArg() == 0:
		err = errors.New("which process? ftrace list lists them")
	case flags.NArg() > 1:
		err = fmt.Errorf("there is more than one process: %v", flags.Args())
	case once > 1:
		err = errors.New("-stack, -arm, -disarm and -dump do not go together")
	case once > 0 && (a.Dir != "" || a.For != 0):
		err = errors.New("-o and -for do not go with -stack, -arm, -disarm and -dump")
	case a.Rules != "" && (a.Stack || a.Disarm || a.Dump != ""):
		err = errors.New("-f does not go with -stack, -disarm and -dump")
	default:
		err = walk.CheckRules(a.Rules)
	}
	if err != nil {
		return fail("attach", usageError{err})
	}
	out := stdout
	if !a.Stack {
		out = stdout.As(form(a.Text.Format.Colour))
	}
	if err := live.Attach(flags.Arg(0), a, out, stderr); err != nil {
		return fail("attach", err)
	}
	return 0
}
