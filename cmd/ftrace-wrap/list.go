package main

import (
	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/inspect"
)

// listVerb lists every function of packages, with how it is hooked.
func listVerb() *cli.Command {
	var tests, asJSON bool
	return command.Verb(&cli.Command{
		Name: "list", ArgsUsage: "[FLAGS] [BUILD FLAGS] [PATTERNS]", Usage: "list the functions that a build hooks, and why others are not",
		Description: `
List prints every function of the packages that PATTERNS match, ./... if there are
none. In columns: its name, as traces and FTRACE have it; how it is hooked; where
it is; and if it is not hooked, why. A function with parameters or results that
traces hide as secrets has their names there, as traces have them: password=***.
ret0 is the first result if it has no name. FTRACE_REDACT changes what is hidden.

	inline    small enough for the compiler to inline, also with a hook at the
	          entry and one before each return
	outline   hooked in the same way, but too large to be inlined
	deferred  hooked at the entry; while it is traced, a deferred call sees it leave
	skipped   not hooked

A package that FTRACE_PACKAGES does not select is listed as if it were, under a
heading that says so.`,
		UsageText: `
	$ ftrace-wrap list ./examples/hello
	$ FTRACE_PACKAGES=std ftrace-wrap list net/http | grep skipped`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tests", Usage: "list test files too", Destination: &tests},
			&cli.BoolFlag{Name: "json", Usage: "write each package as a JSON object", Destination: &asJSON},
		},
	}, command.Foreign(gocmd.ValueFlags), func(a command.Args) (status int, err error) {
		return 0, inspect.List(stdout, tests, asJSON, a.Foreign, a.All())
	})
}
