package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// listCommand is "ftrace list [-json]".
func listCommand(args []string) int {
	o := newOptions("list")
	rest, err := o.parse(args)
	if err == nil && len(rest) > 0 {
		err = usagef("%s: list takes no arguments", rest[0])
	}
	if err != nil {
		return fail("list", err)
	}
	out := stdout
	if o.json {
		out = stdout.As(screen.JSON)
	}
	if err := live.List(o.json, out, stderr); err != nil {
		return fail("list", err)
	}
	return 0
}
