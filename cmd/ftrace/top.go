package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/top"
)

// topVerb shows the functions of a running program.
func topVerb() *cli.Command {
	o := top.Options{Sort: "total", Budget: 1e6}
	var kept source.RecordingOptions
	return command.Verb(&cli.Command{
		Name: "top", ArgsUsage: "[FLAGS] [PID|NAME|RECORDING]", Usage: "the functions of a running program as a live table",
		Description: `
Top shows the functions of a running program, how often they were called and how long
they took, and goes on showing it. If the program traces nothing, the functions that
are shown are counted while top is open: but for those that are called most, if all
together are called more than -budget times a second. Functions are turned on and off
by key; what is turned on stays so when top ends. ? lists the keys.

With -waits, or by the key w, it shows how the time of each function divides into
running, runnable and waiting by kind, and what most goroutines wait for now. Waits
are observed as long as that is shown.`,
		UsageText: `
	$ ftrace top server
	$ ftrace top -sort rate -filter http. 4242
	$ ftrace top -waits server`,
		Flags: append([]cli.Flag{
			&cli.DurationFlag{Name: "every", Value: time.Second, Destination: &o.Every, Usage: "look once in this `TIME`"},
			command.Choice(&o.Sort, "sort", "sort by `COLUMN`, with -waits by self where there is none of that name", top.Columns()...),
			&cli.BoolFlag{Name: "waits", Destination: &o.Waits, Usage: "show how times divide, and what goroutines wait for"},
			&cli.FloatFlag{Name: "budget", Value: o.Budget, Destination: &o.Budget, Usage: "count at most `N` calls a second of functions that nobody turned on, 0: none"},
			&cli.StringFlag{Name: "filter", Destination: &o.Filter, Usage: "show functions with this `TEXT` in their names"},
		}, recordingFlags(&kept)...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		switch {
		case len(args) > 1:
			return 0, command.Usagef("there is more than one process or recording: %s: name one", strings.Join(args, " "))
		case o.Every < 50*time.Millisecond:
			return 0, command.Usagef("-every %v is less than 50ms, the shortest", o.Every)
		}
		catalog, err := openCatalog(args, kept)
		if err != nil {
			return 0, err
		}
		defer catalog.Close()
		if err := noneFound(catalog, args); err != nil {
			return 0, err
		}
		sources := catalog.Sources()
		if len(sources) != 1 {
			return 0, fmt.Errorf("%d programs called %s are running: name one by its number, which ftrace list tells", len(sources), args[0])
		}
		out, _ := files()
		if !atTerminal() {
			return 0, errors.New("stdout is no terminal: ftrace sql and ftrace report write to files")
		}
		return 0, top.Run(sources[0], o, out)
	})
}
