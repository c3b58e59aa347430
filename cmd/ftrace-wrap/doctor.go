package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/doctor"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// doctorVerb tries what works on this machine.
func doctorVerb() *cli.Command {
	var file string
	return command.Verb(&cli.Command{
		Name: "doctor", ArgsUsage: "[-o FILE]", Usage: "try what works on this machine",
		Description: `
Doctor builds a small program, without and with hooks, and tries on it what works
here: traces, recordings, command ftrace, attach, SQL. It is for a machine on which
something does not work, and for platforms that few have tried. The settings of the
environment whose names begin with FTRACE do not count for what is tried.

A line says of each whether it works or FAILS, or that it is untried, since what it
needs does not work. The exit status is 1 if something fails.

-o writes all that was run and printed to FILE, as Markdown, for an issue. It has names
of directories, and settings: read it first.`,
		UsageText: `
	$ ftrace-wrap doctor
	$ ftrace-wrap doctor -o report.md`,
		Flags: []cli.Flag{&cli.StringFlag{Name: "o", Destination: &file, TakesFile: true, Usage: "write a report to `FILE`"}},
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if args := a.All(); len(args) > 0 {
			return 0, command.Usagef("%s: doctor takes no arguments", strings.Join(args, " "))
		}
		self, err := os.Executable()
		if err != nil {
			return 0, fmt.Errorf("finding the file of ftrace-wrap: %v", err)
		}
		toolexec, err := gocmd.ToolexecFlag("build", nil)
		if err != nil {
			return 0, err
		}
		var report *os.File
		if file != "" {
			if report, err = os.Create(file); err != nil {
				return 0, err
			}
			defer report.Close()
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		var trials []doctor.Trial
		err = doctor.Examine(ctx, self, toolexec, func(t doctor.Trial) {
			trials = append(trials, t)
			if t.Outcome == doctor.Fails {
				status = 1
			}
			fmt.Fprintf(stdout, "%-16s  %-7v  %s\n", t.Name, t.Outcome, t.Found)
		})
		if err == nil && report != nil {
			err = doctor.Report(report, trials)
		}
		return status, err
	})
}
