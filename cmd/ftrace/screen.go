package main

import (
	"os"
	"os/exec"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// What is printed goes through these: no other file of this package names os.Stdout or os.Stderr
// (TestScreen). What programs made up never reaches a terminal as it is.
var (
	stdout = screen.New(os.Stdout, screen.Text)
	stderr = screen.New(os.Stderr, screen.Text)
)

// files are those of the terminal itself: to ask what they are, for programs that are run, and for
// what is no text.
func files() (out, err *os.File) { return os.Stdout, os.Stderr }

// atTerminal reports whether stdout is a terminal.
func atTerminal() bool { return screen.Terminal(os.Stdout) }

// program returns the program that a verb's arguments say to run.
func program(a command.Args) (*exec.Cmd, error) {
	if args := a.All(); len(args) > 0 {
		return shared(args), nil
	}
	return nil, command.Usagef("no program given: name it by its path, and its arguments")
}

// shared returns the command of these words, which has the terminal that this program has.
func shared(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	inherits(cmd)
	return cmd
}

// inherits lets a program that is run have what this one has.
func inherits(cmd *exec.Cmd) { cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr }

// form returns how text is printed that may have colours.
func form(coloured bool) screen.Form {
	if coloured {
		return screen.Coloured
	}
	return screen.Text
}
