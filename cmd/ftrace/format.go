package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// format is how lines look: FTRACE_FORMAT's options.
type format struct {
	seq, wall, elapsed, duration, pos, fold, paths, colour, colourSet bool
	values                                                            recording.ValueFormat
}

// parseFormat reads options as FTRACE_FORMAT has them.
func parseFormat(s string) (format, error) {
	f := format{values: recording.DefaultFormat}
	for item := range strings.SplitSeq(s, ",") {
		if item == "" {
			continue
		}
		if err := f.option(item); err != nil {
			return f, err
		}
	}
	return f, nil
}

// formatOfEnvironment returns FTRACE_FORMAT, without what a recording does not have.
func formatOfEnvironment() string {
	items := strings.Split(os.Getenv("FTRACE_FORMAT"), ",")
	return strings.Join(slices.DeleteFunc(items, func(item string) bool { return item == "tid" || strings.HasPrefix(item, "tid=") }), ",")
}

func (f *format) option(item string) error {
	name, value, _ := strings.Cut(item, "=")
	switch name {
	case "color", "colour":
		f.colour, f.colourSet = value == "always", value != "auto"
		if value == "always" || value == "never" || value == "auto" {
			return nil
		}
	case "tid":
		return fmt.Errorf("-format: tid: the operating system's threads are not recorded")
	}
	flags := map[string]*bool{"seq": &f.seq, "wall": &f.wall, "elapsed": &f.elapsed, "duration": &f.duration, "pos": &f.pos, "fold": &f.fold, "path": &f.paths, "errors": &f.values.Messages}
	if flag := flags[name]; flag != nil && (value == "" || value == "on" || value == "off") {
		*flag = value != "off"
		return nil
	}
	numbers := map[string]*int{"line": &f.values.Line, "str": &f.values.String, "slice": &f.values.Elements, "nest": &f.values.Nest}
	if number := numbers[name]; number != nil {
		if n, err := strconv.ParseUint(value, 10, 31); err == nil {
			*number = int(n)
			return nil
		}
	}
	return fmt.Errorf("-format: unknown option %q; known are seq, wall, elapsed, duration, pos, fold, path, errors=on|off, color=auto|always|never, line=N, str=N, slice=N, nest=N", item)
}
