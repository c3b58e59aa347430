package text

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// Format is how lines look: FTRACE_FORMAT's options.
type Format struct {
	Fold      bool // a call that shows no others takes one line
	Colour    bool
	ColourSet bool // Colour was chosen, by always or never
	Values    recording.ValueFormat

	seq, wall, elapsed, duration, pos, paths bool
}

// ParseFormat reads options as FTRACE_FORMAT has them.
func ParseFormat(s string) (Format, error) {
	f := Format{Values: recording.DefaultFormat}
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

func (f *Format) option(item string) error {
	name, value, _ := strings.Cut(item, "=")
	switch name {
	case "color", "colour":
		f.Colour, f.ColourSet = value == "always", value != "auto"
		if value == "always" || value == "never" || value == "auto" {
			return nil
		}
	case "lines": // a limit while the program runs
		if _, err := strconv.ParseUint(value, 10, 31); err == nil || value == "all" {
			return nil
		}
	case "tid":
		return fmt.Errorf("-format: tid: the operating system's threads are not recorded: leave it out")
	}
	flags := map[string]*bool{"seq": &f.seq, "wall": &f.wall, "elapsed": &f.elapsed, "duration": &f.duration, "pos": &f.pos, "fold": &f.Fold, "path": &f.paths, "errors": &f.Values.Messages}
	if flag := flags[name]; flag != nil && (value == "" || value == "on" || value == "off") {
		*flag = value != "off"
		return nil
	}
	numbers := map[string]*int{"line": &f.Values.Line, "str": &f.Values.String, "slice": &f.Values.Elements, "nest": &f.Values.Nest}
	if number := numbers[name]; number != nil {
		if n, err := strconv.ParseUint(value, 10, 31); err == nil {
			*number = int(n)
			return nil
		}
	}
	return fmt.Errorf("-format: unknown option %q; known are seq, wall, elapsed, duration, pos, fold, path, errors=on|off, color=auto|always|never, line=N, str=N, slice=N, nest=N", item)
}
