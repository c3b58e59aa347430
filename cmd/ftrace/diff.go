package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/diff"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// diffCommand is "ftrace diff [FLAGS] A B". Its exit status is that of diff(1): 1 if they differ, 2
// if they can't be compared.
func diffCommand(args []string) int {
	o := newOptions("diff")
	var d diff.Options
	o.flags.IntVar(&d.Rows, "n", 20, "")
	o.flags.IntVar(&d.Context, "context", 5, "")
	args, err := o.parse(args)
	d.JSON = o.json
	if err == nil && len(args) != 2 {
		err = usagef("two recordings are compared")
	}
	if err != nil {
		return fail("diff", err)
	}
	var sides [2]walk.Source
	for i, dir := range args {
		if sides[i], err = o.openSource(dir); err != nil {
			fail("diff", err)
			return 2
		}
	}
	found, err := diff.Compare(sides[0], sides[1], d)
	complain(sides[:]...)
	if err == nil {
		out := o.output()
		defer out.close()
		err = found.Write(out, d)
	}
	switch {
	case err != nil:
		fail("diff", err)
		return 2
	case found.Same():
		return 0
	}
	return 1
}
