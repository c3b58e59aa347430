package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// replayCommand is "ftrace replay [FLAGS] [DIR]": the text of the trace.
func replayCommand(args []string) int {
	o := newOptions("replay")
	t := textFlags(o.flags)
	o.flags.BoolVar(&t.Group, "group", false, "")
	args, err := o.parse(args)
	if err == nil {
		err = t.parse()
	}
	if err == nil && t.Repeats && t.Group {
		err = usagef("-repeats groups by goroutine itself, where it must: not with -group")
	}
	if err != nil {
		return fail("replay", err)
	}
	if o.children {
		t.From, t.To = o.from, o.to // since the first recording began
		o.from, o.to = 0, 0
	}
	family, err := o.openFamily(args)
	if err != nil {
		return fail("replay", err)
	}
	out := o.output()
	defer out.close()
	if !t.Format.ColourSet {
		t.Format.Colour = o.coloured(out.terminal)
	}
	if t.Format.Colour && !o.json {
		out.Writer = out.As(screen.Coloured)
	}
	if out.terminal {
		for i := range family {
			family[i].Progress = nil // there the text shows how far it is
		}
	}
	err = replay(o, t.Options, family, out)
	complain(family...)
	if err != nil {
		return fail("replay", err)
	}
	return 0
}

// replay writes the text of a family, or its lines of JSON.
func replay(o *options, t text.Options, family []walk.Source, out *output) error {
	switch {
	case o.children && o.json:
		return text.JSONFamily(family, t, out)
	case o.children:
		return text.ReplayFamily(family, t, out)
	case o.json:
		return text.JSON(family[0], out)
	}
	return text.Replay(family[0], t, out)
}
