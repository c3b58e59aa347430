package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/top"
)

// topCommand is "ftrace top [FLAGS] [PID|NAME|RECORDING]".
func topCommand(args []string) int {
	flags := flag.NewFlagSet("top", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var o top.Options
	flags.DurationVar(&o.Every, "every", time.Second, "")
	flags.StringVar(&o.Sort, "sort", "total", "")
	flags.StringVar(&o.Filter, "filter", "", "")
	options := recordingFlags(flags)
	rest, err := parseMixed(flags, args)
	switch {
	case err != nil:
	case len(rest) > 1:
		err = usagef("there is more than one process or recording: %s", strings.Join(rest, " "))
	case o.Every < 50*time.Millisecond:
		err = usagef("-every %v is less than 50ms", o.Every)
	case !top.Sortable(o.Sort):
		err = usagef("-sort %s: there is no such column", o.Sort)
	}
	if err != nil {
		return fail("top", err)
	}
	catalog, err := openCatalog(rest, *options)
	if err != nil {
		return fail("top", err)
	}
	defer catalog.Close()
	if catalog.Find != nil {
		catalog.Find()
	}
	sources := catalog.Sources()
	if len(sources) != 1 {
		return fail("top", fmt.Errorf("%d programs called %s are running: ftrace list", len(sources), rest[0]))
	}
	out, _ := files()
	if !isatty.IsTerminal(out.Fd()) {
		return fail("top", errors.New("stdout is no terminal: ftrace sql and ftrace report write to files"))
	}
	if err := top.Run(sources[0], o, out); err != nil {
		return fail("top", err)
	}
	return 0
}
