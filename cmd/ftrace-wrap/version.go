package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/version"
)

// versionVerb tells which build this is, and what it can be used with.
func versionVerb() *cli.Command {
	return command.Verb(&cli.Command{
		Name: "version", Usage: "print versions",
		Description: `
Version prints the version of ftrace-wrap, the Go release that built it, and the Go
releases whose programs it can instrument.`,
	}, command.Mixed, func(command.Args) (status int, err error) {
		fmt.Fprint(stdout, version.String("ftrace-wrap"))
		fmt.Fprintf(stdout, "instruments programs of %s\n", strings.Join(inject.Releases, ", "))
		return 0, nil
	})
}
