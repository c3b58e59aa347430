package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/info"
)

// infoCommand is "ftrace info [FLAGS] [DIR]".
func infoCommand(args []string) int {
	o := newOptions("info")
	args, err := o.parse(args)
	if err != nil {
		return fail("info", err)
	}
	family, err := o.openFamily(args)
	if err != nil {
		return fail("info", err)
	}
	out := stdout
	if o.json {
		out = out.As(screen.JSON)
	}
	if err := info.Write(family, o.json, out); err != nil {
		return fail("info", err)
	}
	return 0
}
