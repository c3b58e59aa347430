package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// textOptions are how a trace is written, as flags say it.
type textOptions struct {
	text.Options
	format string
	fold   bool
}

// flags declares the flags that say how a trace is written.
func (t *textOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: formatOfEnvironment(), HideDefault: true, Destination: &t.format,
			Usage: "write lines with these `OPTIONS`, by default those of FTRACE_FORMAT: seq, wall, elapsed, duration, pos, path, fold, line=N, str=N, slice=N, nest=N"},
		&cli.BoolFlag{Name: "fold", Destination: &t.fold, Usage: "write a call that shows no others in one line"},
		&cli.BoolFlag{Name: "repeats", Destination: &t.Repeats,
			Usage: "show of consecutive calls that call the same functions the first, and how many they are (x1000); so of recursion (x5 deep)"},
	}
}

// parse takes in what the flags say.
func (t *textOptions) parse() (err error) {
	if t.Format, err = text.ParseFormat(t.format); err != nil {
		return command.UsageError{Err: err}
	}
	t.Format.Fold = t.Format.Fold || t.fold
	return nil
}

// formatOfEnvironment returns FTRACE_FORMAT, without what a recording does not have.
func formatOfEnvironment() string {
	items := strings.Split(os.Getenv("FTRACE_FORMAT"), ",")
	return strings.Join(slices.DeleteFunc(items, func(item string) bool { return item == "tid" || strings.HasPrefix(item, "tid=") }), ",")
}
