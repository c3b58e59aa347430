package main

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/web"
)

// followed are the flags of a running program that a page follows.
type followed struct {
	rules, budget string
	keep          int
	control       bool
}

// keepUsual is how many megabytes of what a program records a page keeps.
const keepUsual = 512

func (f *followed) flags() []cli.Flag {
	return []cli.Flag{
		rulesFlag(&f.rules, "of a running program record what FTRACE=`RULES` would show; without, what it has armed, or else everything"),
		&cli.StringFlag{Name: "budget", Destination: &f.budget, Usage: "leave out calls of the functions that a running program calls most, so that recording costs at most `N%` of its own processor time; off leaves out none; without, 10%"},
		&cli.IntFlag{Name: "keep", Value: keepUsual, Destination: &f.keep, Usage: "keep the last `N` megabytes of what a running program records"},
		&cli.BoolFlag{Name: "control", Destination: &f.control, Usage: "let the page change which functions of a running program are recorded; without, it only reads"},
	}
}

// none returns an error if one of them was given, which are not for recordings.
func (f *followed) none() error {
	if f.rules != "" || f.budget != "" || f.keep != keepUsual || f.control {
		return command.Usagef("-f, -budget, -keep and -control are for a running program, not for a recording: leave them out")
	}
	return nil
}

// run serves the page of the process of that number or name.
func (f *followed) run(name string, o web.Options) error {
	if err := checkBudget(f.budget); err != nil {
		return err
	}
	if f.keep < 1 || f.keep > 1<<20 {
		return command.Usagef("-keep: %d is not from 1 to %d", f.keep, 1<<20)
	}
	server, err := web.Follow(name, o, web.LiveOptions{Rules: f.rules, Budget: percent(cmp.Or(f.budget, defaultBudget)), Keep: int64(f.keep) << 20, Control: f.control, Warn: stderr})
	if err != nil {
		return wronglyUsed(err)
	}
	return server.Run(stdout, stderr)
}

// isProcess reports whether an argument means a process, and no recording.
func isProcess(name string) bool {
	return !isDir(name) && !strings.ContainsRune(name, filepath.Separator)
}
