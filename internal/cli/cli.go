// Package cli is what the command lines of ftrace-wrap and ftrace have in common: how verbs and
// their flags are declared, read, completed and explained, and how errors are shown.
//
// In come a tree of commands, made by New and Verb, and the arguments of the program. Run calls the
// verb's function and returns the exit status. Help, manual pages and completions are made from the
// same declarations. Flags look as those of the go command do: one dash or two. The package does no
// work of a verb, and packages of the work do not import it.
//
// The library below is urfave/cli. The other well-kept one, spf13/cobra, imports package net, which
// makes the program dynamically linked wherever there is a C compiler. That, and its manual pages'
// Markdown parser, cost 1.5 ms at each start; ftrace-wrap is started for each step of a build.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// New returns the root of a program's commands. short says what the program does in one line, long
// how to begin, and settings which variables of the environment it heeds. What the program prints
// itself goes to stdout and stderr.
func New(name, short, long, settings string, stdout, stderr io.Writer, verbs ...*cli.Command) *cli.Command {
	root := &cli.Command{
		Name: name, ArgsUsage: "COMMAND [ARGUMENTS]", Usage: short, Description: long,
		Metadata:              map[string]any{settingsKey: settings},
		Commands:              verbs,
		Writer:                stdout,
		ErrWriter:             stderr,
		HideHelp:              true,
		SkipFlagParsing:       true,
		ShellComplete:         completeVerbs,
		EnableShellCompletion: true,
		ConfigureShellCompletionCommand: func(c *cli.Command) {
			c.Hidden = false
			c.ArgsUsage = "bash|zsh|fish|pwsh"
			c.Usage = "print a script that lets a shell complete commands and flags"
			c.Description = strings.ReplaceAll(completion, "NAME", name)
		},
	}
	cli.HelpPrinter = func(w io.Writer, _ string, c any) { writeHelp(w, c.(*cli.Command)) } // of "completion"
	root.Commands = append(root.Commands, man(root), help(root))
	return root
}

const completion = `
Completion prints a script for a shell, which then completes commands and their flags.

	source <(NAME completion bash)    in ~/.bashrc
	source <(NAME completion zsh)     in ~/.zshrc
	NAME completion fish >~/.config/fish/completions/NAME.fish
`

// settingsKey is the root's metadatum that has the text about the environment.
const settingsKey = "settings"

// Verb completes the declaration of a verb: run is given the arguments after its name, all of them,
// and returns the exit status. It reads them by Parse, or hands them on.
func Verb(c *cli.Command, run func(args []string) (status int, err error)) *cli.Command {
	c.SkipFlagParsing = true
	c.HideHelp = true
	if c.ShellComplete == nil {
		c.ShellComplete = completeFlags
	}
	c.Action = func(_ context.Context, c *cli.Command) error {
		args := c.Args().Slice()
		if len(args) > 0 && isHelp(args[0]) {
			writeHelp(c.Root().Writer, c)
			return nil
		}
		status, err := run(args)
		if err != nil || status != 0 {
			return &exit{status, err}
		}
		return nil
	}
	return c
}

// exit is how a verb has ended.
type exit struct {
	status int
	err    error // or nil
}

func (e *exit) Error() string { return fmt.Sprint("exit status ", e.status) }

// A UsageError says that a command was used wrongly. The exit status is 2.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// isHelp reports whether an argument wants to know what a command does.
func isHelp(arg string) bool { return slices.Contains([]string{"-h", "-help", "--help"}, arg) }

// Run runs the verb that args name, and returns the program's exit status. An error is printed to
// stderr after the program's name. That the reader of the output has gone is none.
func Run(root *cli.Command, args []string) int {
	if len(args) == 0 {
		writeHelp(root.ErrWriter, root)
		return 2
	}
	if isHelp(args[0]) {
		args = append([]string{"help"}, args[1:]...)
	}
	if find(root, args[0]) == nil && args[0] != "completion" && args[len(args)-1] != "--generate-shell-completion" {
		fmt.Fprintf(root.ErrWriter, "%s: unknown command %q%s\n", root.Name, args[0], meant(root, args[0]))
		return 2
	}
	err := root.Run(context.Background(), append([]string{root.Name}, args...))
	status := 0
	if e := (*exit)(nil); errors.As(err, &e) {
		status, err = e.status, e.err
	}
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return status
	}
	fmt.Fprintf(root.ErrWriter, "%s: %v\n", root.Name, err)
	if errors.As(err, new(UsageError)) {
		return 2
	}
	return max(status, 1)
}

// find returns a command by its name, nil if there is none.
func find(root *cli.Command, name string) *cli.Command {
	if i := slices.IndexFunc(root.Commands, func(c *cli.Command) bool { return c.Name == name }); i >= 0 {
		return root.Commands[i]
	}
	return nil
}

// meant says which commands an unknown one may be a misspelling of, or where to look.
func meant(root *cli.Command, name string) string {
	var names []string
	for _, c := range root.Commands {
		names = append(names, c.Name)
	}
	if near := words.Near(name, names); len(near) > 0 {
		return ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return ": " + root.Name + " help lists them"
}
