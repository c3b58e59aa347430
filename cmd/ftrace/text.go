package main

import (
	"flag"
	"os"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// textOptions are how a trace is written, as flags say it.
type textOptions struct {
	text.Options
	format string
	fold   bool
}

// textFlags adds the flags that say how a trace is written.
func textFlags(flags *flag.FlagSet) *textOptions {
	t := &textOptions{}
	flags.StringVar(&t.format, "format", formatOfEnvironment(), "")
	flags.BoolVar(&t.fold, "fold", false, "")
	flags.BoolVar(&t.Repeats, "repeats", false, "")
	return t
}

// parse takes in what the flags say.
func (t *textOptions) parse() (err error) {
	if t.Format, err = text.ParseFormat(t.format); err != nil {
		return usageError{err}
	}
	t.Format.Fold = t.Format.Fold || t.fold
	return nil
}

// formatOfEnvironment returns FTRACE_FORMAT, without what a recording does not have.
func formatOfEnvironment() string {
	items := strings.Split(os.Getenv("FTRACE_FORMAT"), ",")
	return strings.Join(slices.DeleteFunc(items, func(item string) bool { return item == "tid" || strings.HasPrefix(item, "tid=") }), ",")
}
