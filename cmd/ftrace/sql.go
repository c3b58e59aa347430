package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/sql"
)

// sqlVerb asks in SQL.
func sqlVerb() *cli.Command {
	var o sql.Options
	var kept source.RecordingOptions
	var file string
	return command.Verb(&cli.Command{
		Name: "sql", ArgsUsage: "[FLAGS] [PID|NAME|RECORDING ...] [QUERY]", Usage: "ask running programs and recordings in SQL: the Performance Schema",
		Description: `
Sql queries running programs and recordings in SQL, as MySQL spells it, and turns
instruments, which are functions, on and off by UPDATE. NAME is the name of an
executable: it means all its processes, also those that start later. Live processes are
in the schema performance_schema; each recording is a schema of its own. QUERY is
statements separated by semicolons; without, they are read from stdin, on a terminal
with a history and completion. docs/performance-schema.md describes the tables.`,
		UsageText: `
	$ ftrace sql server 'UPDATE setup_instruments SET ENABLED="YES" WHERE NAME LIKE "%/http/%"'
	$ ftrace sql good.data bad.data
	$ echo 'SHOW TABLES' | ftrace sql 4242`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "json", Destination: &o.JSON, Usage: "write rows as JSON lines, not as tables"},
			&cli.BoolFlag{Name: "batch", Destination: &o.Batch, Usage: "write rows separated by tabs"},
			testFlag(&file),
		}, recordingFlags(&kept)...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if o.JSON && o.Batch {
			return 0, command.Usagef("-json and -batch do not go together: leave one out")
		}
		args := a.All()
		if n := len(args); n > 0 && strings.ContainsAny(strings.TrimSpace(args[n-1]), " ;\n\t") && !isDir(args[n-1]) {
			o.Query, args = args[n-1], args[:n-1]
		}
		catalog, err := openCatalog(args, kept)
		if err != nil {
			return 0, err
		}
		defer catalog.Close()
		if err := noneFound(catalog, args); err != nil {
			return 0, err
		}
		catalog.Test = file
		out := stdout
		if o.JSON {
			out = stdout.As(screen.JSON)
		}
		return sql.Run(catalog, o, os.Stdin, sql.Output{Out: out, Err: stderr, Exit: os.Exit})
	})
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// recordingFlags declares the flags that say how much of a recording is kept.
func recordingFlags(o *source.RecordingOptions) []cli.Flag {
	o.Keep = true
	return []cli.Flag{
		&cli.IntFlag{Name: "history-long", Destination: &o.HistoryLong, Usage: "keep the last `N` calls of a recording, 10000 if not set"},
		&cli.IntFlag{Name: "history", Destination: &o.History, Usage: "keep the last `N` calls of each goroutine of a recording, 10 if not set"},
	}
}

// testFlag declares the flag that names the file of the user's own tables.
func testFlag(file *string) cli.Flag {
	return &cli.StringFlag{Name: "test", Destination: file, Usage: "keep the schema test, for tables of your own, in `FILE`"}
}
