package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// runVerb is go run with tracing on.
func runVerb() *cli.Command {
	return command.Verb(&cli.Command{
		Name: "run", ArgsUsage: "[BUILD FLAGS] PKG[@VERSION]|FILES.go [ARGS]", Usage: "build a program and run it, tracing on",
		Description: `
Run builds a program in a temporary directory and runs it with FTRACE=1, unless
FTRACE is set. Arguments are those of go run: flags of go build come first, and
what follows the package or the files is for the program. PKG may be PKG@VERSION: the
packages of that module have hooks then, unless FTRACE_PACKAGES is set. The exit
status is the program's, or 128 and the signal's number if a signal ended it.`,
		UsageText: `
	$ ftrace-wrap run ./examples/hello
	$ FTRACE='main.*' FTRACE_OUT=hello.trace ftrace-wrap run -race ./examples/hello`,
	}, command.Raw, func(a command.Args) (status int, err error) {
		if err := traceOn(); err != nil {
			return 0, err
		}
		if status, err = gocmd.Run(a.Rest); errors.As(err, new(gocmd.ArgumentError)) {
			err = command.UsageError{Err: err}
		}
		return status, err
	})
}

// traceOn arms the program that is started next, unless the user has said what to trace. Where the
// trace goes is relative to the directory that the user is in: go test runs each test in its
// package's.
func traceOn() error {
	if os.Getenv("FTRACE") == "" {
		os.Setenv("FTRACE", "1")
	}
	switch out := os.Getenv("FTRACE_OUT"); out {
	case "", "stdout", "stderr":
		return nil
	default:
		path, err := filepath.Abs(out)
		if err != nil {
			return fmt.Errorf("FTRACE_OUT: %s: %v: give an absolute path", out, err)
		}
		return os.Setenv("FTRACE_OUT", path)
	}
}
