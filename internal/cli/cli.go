// Package cli is what the command lines of ftrace-wrap and ftrace have in common: how verbs and
// their flags are declared, read, completed and explained, and how errors are shown.
//
// In come a tree of commands, made by New and Verb, and the arguments of the program. Run reads the
// verb's flags, calls its function and returns the exit status. Help, manual pages and completions
// are made from the same declarations. Flags look as those of the go command do: one dash or two.
// The package does no work of a verb, and packages of the work do not import it.
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
		ShellComplete:         completeNames,
		EnableShellCompletion: true,
		ConfigureShellCompletionCommand: func(c *cli.Command) {
			c.Hidden = false
			c.ArgsUsage = "SHELL"
			c.ShellComplete = completeNames
			c.SkipFlagParsing, c.HideHelp = true, true
			c.Usage = "print a script that lets a shell complete commands and flags"
			c.Description = strings.ReplaceAll(completion, "NAME", name)
			var shells []string
			c.Commands = slices.DeleteFunc(c.Commands, func(shell *cli.Command) bool { return !useScript(shell, name) })
			for _, shell := range c.Commands {
				shells = append(shells, shell.Name)
			}
			c.Action = func(_ context.Context, c *cli.Command) error {
				if c.NArg() > 0 && !isHelp(c.Args().First()) {
					return &exit{verb: c.Name, err: Usagef("%s: there is no script for this shell: those are for %s", c.Args().First(), words.Or(shells))}
				}
				writeHelp(c.Root().Writer, c)
				return nil
			}
		},
	}
	cli.HelpPrinter = func(w io.Writer, _ string, c any) { writeHelp(w, c.(*cli.Command)) } // of "completion"
	root.Commands = append(root.Commands, man(root), help(root))
	return root
}

// settingsKey is the root's metadatum that has the text about the environment.
const settingsKey = "settings"

// Verb completes the declaration of a verb. Its arguments are taken apart as style says. run is
// given those that are no flags of the verb, and returns the exit status. What is wrong is said
// after the verb's name.
func Verb(c *cli.Command, style Style, run func(a Args) (status int, err error)) *cli.Command {
	c.SkipFlagParsing = true
	c.HideHelp = true
	if c.ShellComplete == nil {
		c.ShellComplete = style.complete
	}
	c.Action = func(_ context.Context, c *cli.Command) error {
		args := c.Args().Slice()
		if len(args) > 0 && isHelp(args[0]) {
			writeHelp(c.Root().Writer, c)
			return nil
		}
		a, err := style.Parse(c.Flags, args)
		if unknown := (unknownFlag{}); errors.As(err, &unknown) {
			if isHelp(unknown.arg) {
				writeHelp(c.Root().Writer, c)
				return nil
			}
			err = UsageError{fmt.Errorf("%s%s", unknown.arg, unknown.meant(c))}
		}
		status := 0
		if err == nil {
			status, err = run(a)
		}
		if err != nil || status != 0 {
			return &exit{c.Name, status, err}
		}
		return nil
	}
	return c
}

// exit is how a verb has ended.
type exit struct {
	verb   string
	status int
	err    error // or nil
}

func (e *exit) Error() string { return fmt.Sprint("exit status ", e.status) }

// A UsageError says that a command was used wrongly. The exit status is 2, and the message ends
// with the command that explains the verb.
type UsageError struct{ Err error }

// Usagef returns a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// isHelp reports whether an argument wants to know what a command does.
func isHelp(arg string) bool { return slices.Contains([]string{"-h", "-help", "--help"}, arg) }

// completing is the last argument where a shell asks what the one before may become.
const completing = "--generate-shell-completion"

// Completing reports whether a shell asks what the end of a command line may become. Nothing is to
// be run then.
func Completing(args []string) bool { return len(args) > 0 && args[len(args)-1] == completing }

// Run runs the verb that args name, and returns the program's exit status. Where they begin with a
// path or a flag it is the root's DefaultCommand, if there is one. An error is printed to stderr
// after the program's and the verb's name. That the reader of the output has gone is none.
func Run(root *cli.Command, args []string) int {
	if len(args) == 0 {
		writeHelp(root.ErrWriter, root)
		return 2
	}
	switch {
	case isHelp(args[0]):
		args = append([]string{"help"}, args[1:]...)
	case args[0] == "-version" || args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	}
	if first := args[0]; root.DefaultCommand != "" && first != completing && (strings.HasPrefix(first, "-") || strings.ContainsAny(first, `/\`)) {
		args = append([]string{root.DefaultCommand}, args...)
	}
	if find(root, args[0]) == nil && args[0] != "completion" && !Completing(args) {
		fmt.Fprintf(root.ErrWriter, "%s: unknown command %q%s", root.Name, args[0], meant(root, args[0]))
		if root.DefaultCommand != "" {
			fmt.Fprintf(root.ErrWriter, " (%s %s %s runs a program of that name)", root.Name, root.DefaultCommand, args[0])
		}
		fmt.Fprintln(root.ErrWriter)
		return 2
	}
	err := root.Run(context.Background(), append([]string{root.Name}, args...))
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{verb: args[0], err: err}
	}
	if e.err == nil || errors.Is(e.err, syscall.EPIPE) {
		return e.status
	}
	message := fmt.Sprintf("%s: %s: %v", root.Name, e.verb, e.err)
	if !errors.As(e.err, new(UsageError)) {
		fmt.Fprintln(root.ErrWriter, message)
		return max(e.status, 1)
	}
	switch {
	case e.verb == "help":
		fmt.Fprintln(root.ErrWriter, message)
		return 2
	case strings.Contains(message, "\n"): // it shows a place in rules
		message += "\n"
	case strings.HasSuffix(message, "?"):
		message += " "
	default:
		message += ": "
	}
	fmt.Fprintf(root.ErrWriter, "%s%s help %s\n", message, root.Name, e.verb)
	return 2
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
		return ": did you mean " + words.Or(near) + "?"
	}
	return ": " + root.Name + " help lists them"
}
