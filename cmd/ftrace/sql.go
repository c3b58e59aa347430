package main

import (
	"flag"
	"io"
	"os"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/sql"
)

// sqlCommand is "ftrace sql [FLAGS] [PID|NAME|RECORDING ...] [QUERY]".
func sqlCommand(args []string) int {
	flags := flag.NewFlagSet("sql", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var o sql.Options
	flags.BoolVar(&o.JSON, "json", false, "")
	flags.BoolVar(&o.Batch, "batch", false, "")
	file := flags.String("test", "", "")
	options := recordingFlags(flags)
	rest, err := parseMixed(flags, args)
	if err == nil && o.JSON && o.Batch {
		err = usagef("-json and -batch do not go together")
	}
	if err != nil {
		return fail("sql", err)
	}
	if n := len(rest); n > 0 && strings.ContainsAny(strings.TrimSpace(rest[n-1]), " ;\n\t") && !isDir(rest[n-1]) {
		o.Query, rest = rest[n-1], rest[:n-1]
	}
	catalog, err := openCatalog(rest, *options)
	if err != nil {
		return fail("sql", err)
	}
	defer catalog.Close()
	if err := noneFound(catalog, rest); err != nil {
		return fail("sql", err)
	}
	catalog.Test = *file
	out := stdout
	if o.JSON {
		out = stdout.As(screen.JSON)
	}
	status, err := sql.Run(catalog, o, os.Stdin, sql.Output{Out: out, Err: stderr, Exit: os.Exit})
	if err != nil {
		return fail("sql", err)
	}
	return status
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// recordingFlags adds the flags that say how much of a recording is kept.
func recordingFlags(flags *flag.FlagSet) *schema.RecordingOptions {
	o := &schema.RecordingOptions{}
	flags.IntVar(&o.HistoryLong, "history-long", 0, "")
	flags.IntVar(&o.History, "history", 0, "")
	return o
}

// parseMixed reads flags and other arguments in any order, and returns the others.
func parseMixed(flags *flag.FlagSet, args []string) ([]string, error) {
	o := &options{flags: flags, colour: "auto"}
	return o.parse(args)
}
