package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/reach"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// reachVerb tells which tests reach a function.
func reachVerb() *cli.Command {
	var changed bool
	return command.Verb(&cli.Command{
		Name: "reach", ArgsUsage: "FUNC | -changed [REF]", Usage: "which tests reach a function, or what has changed",
		Description: `
Reach tells which tests reach the functions that FUNC, a GLOB of rules, names: how
often, and the parameters and results of three calls that differ. -changed prints
commands that run the tests which reach what differs from REF, a commit of git, HEAD
if none is named: functions, and all of a package whose declarations have changed.

It looks into the index of the module, which ftrace-wrap test -index makes. That runs
tests and records all calls. It replaces what the index had of these tests.`,
		UsageText: `
	$ ftrace-wrap test -index ./...
	$ ftrace-wrap reach '(*Conn).Read'
	$ ftrace-wrap reach -changed main | sh`,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "changed", Destination: &changed, Usage: "print commands for the tests that reach what has changed"}},
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args := a.All()
		switch {
		case len(args) > 1:
			return 0, command.Usagef("%s: name one", strings.Join(args, " "))
		case len(args) == 0 && !changed:
			return 0, command.Usagef("no function given: name one, as in ftrace-wrap reach main.parse, or give -changed")
		}
		index, err := openIndex()
		if err != nil {
			return 0, err
		}
		if len(index.Tests) == 0 {
			return 0, errors.New("there is no index of this module: ftrace-wrap test -index ./... makes it")
		}
		if changed {
			n, err := index.Changed(stdout, append(args, "HEAD")[0])
			if n == 0 && err == nil {
				fmt.Fprintln(stderr, "ftrace-wrap: reach: no test in the index reaches what has changed")
			}
			return 0, err
		}
		n, err := index.Write(stdout, args[0])
		if n == 0 && err == nil {
			meant := "ftrace-wrap list has their names"
			if near := words.Near(args[0][strings.LastIndexByte(args[0], '.')+1:], index.Functions()); len(near) > 0 {
				meant = "did you mean " + words.Or(near) + "?"
			}
			return 0, fmt.Errorf("%s: no test in the index reaches a function of that name: %s", args[0], meant)
		}
		return 0, err
	})
}

// openIndex opens the index of the module or workspace that the user is in.
func openIndex() (*reach.Index, error) {
	goCommand, err := gocmd.Path()
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(context.Background(), goCommand, "env", "GOWORK", "GOMOD").Output()
	files := strings.Fields(string(out))
	if err != nil || len(files) == 0 || files[0] == os.DevNull {
		return nil, errors.New("looking for go.mod: this is no directory of a module")
	}
	return reach.Open(filepath.Dir(files[0]))
}

// indexTests runs go test, and takes what the tests reach into the index.
func indexTests(args []string) (status int, err error) {
	index, err := openIndex()
	if err != nil {
		return 0, err
	}
	temp, err := os.MkdirTemp("", "ftrace-wrap-index-")
	if err != nil {
		return 0, fmt.Errorf("making a directory for what the tests record: %v: set TMPDIR to a writable one", err)
	}
	defer os.RemoveAll(temp)
	for name, value := range map[string]string{"FTRACE_RECORD": filepath.Join(strings.ReplaceAll(temp, "%", "%%"), "%p"), "FTRACE_OUT": ""} {
		if err := os.Setenv(name, value); err != nil {
			return 0, err
		}
	}
	status, err = gocmd.Child(args)
	if err != nil {
		return status, err
	}
	recordings, err := os.ReadDir(temp)
	if err != nil {
		return status, err
	}
	for _, r := range recordings {
		if err := index.Add(filepath.Join(temp, r.Name())); err != nil {
			fmt.Fprintf(stderr, "ftrace-wrap: test: -index: %v: it is not in the index\n", err)
		}
	}
	if len(recordings) == 0 && status == 0 {
		fmt.Fprintln(stderr, "ftrace-wrap: test: -index: no test ran: -count=1 runs tests whose results go test has cached")
	}
	return status, index.Save()
}
