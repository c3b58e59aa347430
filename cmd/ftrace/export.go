package main

import (
	"bufio"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// exportVerb writes a recording for other tools.
func exportVerb() *cli.Command {
	o := options{verb: "export", within: named}
	var name, file string
	least := time.Millisecond
	return command.Verb(&cli.Command{
		Name: "export", ArgsUsage: "-format FORMAT [-o FILE] [FLAGS] [DIR]", Usage: "write a recording in the formats of other tools",
		Description: `
Export writes a recording in the format of another tool, to stdout or to FILE:

	perfetto    a trace for https://ui.perfetto.dev and trace_processor: a track for
	            each goroutine, values as arguments, arrows to what go starts
	chrome      trace events (JSON) for chrome://tracing and what else reads these
	pprof       a profile for go tool pprof: calls, and time in each function itself
	folded      stacks and their time in ns, for flamegraph.pl and others
	speedscope  for https://www.speedscope.app: the calls in the order of time
	json        a line of JSON for each event
	mermaid     a sequence diagram between packages and types, of at most 500
	            messages: choose by -f and the like
	otlp        spans of OpenTelemetry, lines of JSON, as its collector's otlpjsonfile
	            receiver reads them: requests, statements, and calls that lasted for
	            -min, with those around them. ftrace forward sends them
	parquet     a directory, which -o names, of tables for DuckDB, ClickHouse, pandas and
	            others: calls, waits, goroutines, functions, lines, probes
	arrow       the same tables in Arrow's IPC format, for what reads no Parquet
	uftrace     a directory for uftrace -d DIR, which -o names; a goroutine is a task
	ctf         a directory, which -o names, that is a recording again, of what the
	            flags leave: for ftrace, babeltrace2, Trace Compass. Of a compact
	            recording it is one that these read

What min= in -f would leave out for being short is exported.`,
		UsageText: `
	$ ftrace export -format perfetto -from 2s -to 2.1s -o app.pftrace
	$ ftrace export -format parquet -o app.parquet
	$ ftrace export -format ctf -f 'main.handle=tree' -o handle.data
	$ ftrace export -format otlp -min 5ms -o app.jsonl
	$ ftrace export -format pprof -o app.pprof && go tool pprof -top app.pprof
	$ ftrace export -format folded | flamegraph.pl >app.svg`,
		Flags: append([]cli.Flag{
			command.Choice(&name, "format", "write this `FORMAT`", export.Names...),
			&cli.StringFlag{Name: "o", Destination: &file, Usage: "write to `FILE`, or make this directory"},
			leastFlag(&least),
		}, o.sourceFlags()...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if name == "" {
			return 0, command.Usagef("no format given: -format is %s", words.Or(export.Names))
		}
		if least != time.Millisecond && name != "otlp" {
			return 0, command.Usagef("-min is for -format otlp: -f chooses for others")
		}
		format := export.Named(name)
		from, err := o.openSource(a.All()...)
		if err != nil {
			return 0, err
		}
		if from.Rules != nil && from.Rules.HasMin() {
			fmt.Fprintln(stderr, "ftrace: export: -f: min= chooses in replay and report; shorter calls are exported too")
		}
		if file == "" && atTerminal() {
			if format.Form == screen.Binary {
				return 0, command.Usagef("-format %s is no text for a terminal: -o names a file", name)
			}
			from.Progress = nil // a progress bar would be between the lines
		}
		switch {
		case !format.IsDir():
			err = exportTo(format, from, file, least)
		case file == "":
			err = command.Usagef("-format %s is a directory: -o names it", name)
		default:
			err = format.WriteDir(from, file)
		}
		if err == nil {
			complain(from)
		}
		return 0, err
	})
}

// leastSpan is how long calls last that are spans, if nothing else is said.
const leastSpan = time.Millisecond

// leastFlag declares the flag that says which calls are spans of OpenTelemetry.
func leastFlag(least *time.Duration) cli.Flag {
	return &cli.DurationFlag{Name: "min", Value: leastSpan, Destination: least, Validator: func(d time.Duration) error {
		if d < 0 {
			return fmt.Errorf("%v is less than 0", d)
		}
		return nil
	}, Usage: "make spans of calls that lasted for `TIME` or longer"}
}

// exportTo writes a recording to a file, or to stdout.
func exportTo(format export.Format, from walk.Source, file string, least time.Duration) error {
	to, end := stdout.As(format.Form), func() error { return nil }
	if file != "" {
		f, err := ownfile.Replace(file) // what programs were given may be secret
		if err != nil {
			return err
		}
		defer f.Close()
		to, end = screen.New(f, format.Form), f.Commit
	}
	b := bufio.NewWriterSize(to, 1<<16)
	if err := format.Write(from, b, least); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return end()
}
