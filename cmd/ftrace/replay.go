package main

import (
	"slices"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// replayVerb shows the text of the trace.
func replayVerb() *cli.Command {
	o := options{verb: "replay", within: takesIn}
	var t textOptions
	return command.Verb(&cli.Command{
		Name: "replay", ArgsUsage: "[FLAGS] [DIR ...]", Usage: "show a recording as the text of a trace",
		Description: `
Replay writes a recording as the text that the program would have written under
FTRACE. Values are those that were recorded: of strings the first 64 bytes, of slices
the first 8 elements, of maps the length. RULES are all that those of FTRACE can be:
selectors, first, depth, min, tree, in, after, rate.

With -children the recordings within this one are shown too, and likewise several that
are named, in the order of the time of day. Each line begins with the process's number.
If requests carried their traces from one to the other (FTRACE_PROPAGATE=on), times are
moved where the clocks of two machines differ. -trace shows one trace alone, and what
serves a request within the one that makes it.`,
		UsageText: `
	$ ftrace replay
	$ ftrace replay -repeats -format duration
	$ ftrace replay -f 'main.handle=tree,min=1ms' -from 2s -to 2.5s
	$ ftrace replay -g 1,7 -group old.data
	$ ftrace replay -children -f 'main.*' -format wall
	$ ftrace replay -format wall ftrace.data old.data`,
		Flags: slices.Concat(t.flags(), []cli.Flag{
			&cli.BoolFlag{Name: "group", Destination: &t.Group, Usage: "write goroutine by goroutine, not by time"},
			o.childrenFlag(), o.traceFlag(),
		}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		err = t.parse()
		if err == nil && t.Repeats && t.Group {
			err = command.Usagef("-repeats groups by goroutine itself, where it must: leave -group out")
		}
		if err != nil {
			return 0, err
		}
		all := o
		together := o.children || len(a.All()) > 1
		if together { // times are since the first recording began
			all.from, all.to = moment{}, moment{}
		}
		family, _, err := all.openFamily(a.All())
		if err != nil {
			return 0, err
		}
		if together {
			if t.From, t.To, err = o.times(family[0].Recording); err != nil {
				return 0, err
			}
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
		err = replay(&o, t.Options, family, together, out)
		complain(family...)
		return 0, err
	})
}

// replay writes the text of a family, or its lines of JSON.
func replay(o *options, t text.Options, family []walk.Source, together bool, out *output) error {
	switch {
	case together && o.json:
		return text.JSONFamily(family, t, out)
	case together:
		return text.ReplayFamily(family, t, out)
	case o.json:
		return text.JSON(family[0], out)
	}
	return text.Replay(family[0], t, out)
}
