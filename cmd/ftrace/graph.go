package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/graph"
)

// graphCommand is "ftrace graph [FLAGS] FUNC [DIR]".
func graphCommand(args []string) int {
	o := newOptions("graph")
	args, err := o.parse(args)
	switch {
	case err != nil:
	case len(args) == 0:
		err = usagef("which function?")
	case len(args) == 1 && recording.Is(args[0]):
		err = usagef("which function of %s?", args[0])
	}
	if err != nil {
		return fail("graph", err)
	}
	from, err := o.openSource(args[1:]...)
	if err != nil {
		return fail("graph", err)
	}
	g, err := graph.Find(from, args[0])
	complain(from)
	if err != nil {
		return fail("graph", err)
	}
	out := o.output()
	defer out.close()
	if err := g.Write(out, o.json); err != nil {
		return fail("graph", err)
	}
	return 0
}
