package main

import (
	"bufio"
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// exportCommand is "ftrace export -format FORMAT [FLAGS] [DIR]".
func exportCommand(args []string) int {
	o := newOptions("export")
	name := o.flags.String("format", "", "")
	file := o.flags.String("o", "", "")
	args, err := o.parse(args)
	if err != nil {
		return fail("export", err)
	}
	format, ok := export.Named(*name)
	if !ok {
		return fail("export", usagef("-format is %s, not %q", export.Names, *name))
	}
	from, err := o.openSource(args...)
	if err != nil {
		return fail("export", err)
	}
	if from.Rules != nil && from.Rules.HasMin() {
		fmt.Fprintln(stderr, "ftrace: export: -f: min= chooses in replay and report; shorter calls are exported too")
	}
	if *file == "" && atTerminal() {
		if format.Form == screen.Binary {
			return fail("export", usagef("-format %s is no text for a terminal: -o names a file", *name))
		}
		from.Progress = nil // a progress bar would be between the lines
	}
	switch {
	case !format.IsDir():
		err = exportTo(format, from, *file)
	case *file == "":
		err = usagef("-format %s is a directory: -o names it", *name)
	default:
		err = format.WriteDir(from, *file)
	}
	if err != nil {
		return fail("export", err)
	}
	complain(from)
	return 0
}

// exportTo writes a recording to a file, or to stdout.
func exportTo(format export.Format, from walk.Source, file string) error {
	to, end := stdout.As(format.Form), func() error { return nil }
	if file != "" {
		f, err := ownfile.Create(file) // what programs were given may be secret
		if err != nil {
			return err
		}
		defer f.Close()
		to, end = screen.New(f, format.Form), f.Close
	}
	b := bufio.NewWriterSize(to, 1<<16)
	if err := format.Write(from, b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return end()
}
