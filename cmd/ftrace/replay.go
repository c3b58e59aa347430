package main

import (
	"cmp"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// replayCommand is "ftrace replay [FLAGS] [DIR]": the text of the trace.
func replayCommand(args []string) int {
	o := newOptions("replay")
	formatText := o.flags.String("format", formatOfEnvironment(), "")
	fold := o.flags.Bool("fold", false, "")
	repeats := o.flags.Bool("repeats", false, "")
	group := o.flags.Bool("group", false, "")
	args, err := o.parse(args)
	if err != nil {
		return fail("replay", err)
	}
	f, err := parseFormat(*formatText)
	if err != nil {
		return fail("replay", usageError{err})
	}
	f.fold = f.fold || *fold
	if *repeats && *group {
		return fail("replay", usagef("-repeats groups by goroutine itself, where it must: not with -group"))
	}
	r, err := o.open(args)
	if err != nil {
		return fail("replay", err)
	}
	w, err := o.walker(r)
	if err != nil {
		return fail("replay", err)
	}
	out := o.output()
	defer out.close()
	if !f.colourSet {
		f.colour = o.coloured(out.terminal)
	}
	if f.colour && !o.json {
		out.Writer = out.As(screen.Coloured)
	}
	family, err := o.family(r)
	if err != nil {
		return fail("replay", err)
	}
	if out.terminal {
		w.verb = "" // there the text shows how far it is
		o.verb = ""
	}
	switch {
	case o.children && o.json:
		err = replayFamilyJSON(o, family, out)
	case o.children:
		err = replayFamily(o, family, f, *repeats, *group, out)
	case o.json:
		err = replayJSON(w, o.window(r), out)
		complain(r, nil)
	default:
		err = replay(w, o.window(r), f, *repeats, *group, out)
	}
	if err != nil {
		return fail("replay", err)
	}
	return 0
}

// replay writes the text of a recording.
func replay(w *walker, window recording.Window, f format, repeats, group bool, out io.Writer) error {
	lines := newLines(out, group)
	if !repeats {
		if done, err := replayParts(w, window, f, lines); done {
			complain(w.r, nil)
			return cmp.Or(err, lines.close())
		}
	}
	t := newText(w, f, lines)
	finish := t.finish
	if repeats {
		finish = newRepeats(t).finish
	}
	s := w.events(window)
	for e := s.Next(); lines.err == nil && e != nil; e = s.Next() {
		w.event(e)
	}
	finish()
	s.Close()
	complain(w.r, s.Stream)
	return lines.close()
}
