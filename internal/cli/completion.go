package cli

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

const completion = `
Completion prints a script for a shell, which then completes commands and their flags.

	source <(NAME completion bash)    in ~/.bashrc
	source <(NAME completion zsh)     in ~/.zshrc, after compinit
	NAME completion fish >~/.config/fish/completions/NAME.fish
`

// scripts are for the shells, one each. The library's own evaluate what is being typed, with its
// substitutions of commands; need a package of functions for bash; complete no files in fish; and
// for PowerShell run the word that is being completed.
//
//go:embed scripts
var scripts embed.FS

// useScript lets the command that prints a shell's script print ours, and reports whether there is
// one.
func useScript(shell *cli.Command, program string) bool {
	text, err := scripts.ReadFile("scripts/complete." + shell.Name)
	if err != nil {
		return false
	}
	shell.Usage = "print the script for " + shell.Name
	shell.SkipFlagParsing, shell.HideHelp = true, true
	shell.Description = "It prints the script for " + shell.Name + "."
	shell.Action = func(_ context.Context, c *cli.Command) error {
		if isHelp(c.Args().First()) {
			writeHelp(c.Root().Writer, c)
			return nil
		}
		_, err := fmt.Fprint(c.Root().Writer, strings.ReplaceAll(string(text), "PROGRAM", program))
		return err
	}
	return true
}

// offer writes what a word may become, for the shell's script.
func offer(c *cli.Command, word, usage string) { fmt.Fprintf(c.Root().Writer, "%s:%s\n", word, usage) }

// complete completes the last argument of a verb: a flag, or one of a few values. Others are files
// and directories, which are the shell's to complete.
func (s Style) complete(_ context.Context, c *cli.Command) {
	args := c.Args().Slice()
	if len(args) == 0 || s.raw {
		return
	}
	before, typed := args[:len(args)-1], args[len(args)-1]
	var valued cli.Flag // that the next argument is the value of
	for _, arg := range before {
		switch name, _, inline, isFlag := cut(arg); {
		case valued != nil:
			if arg != "=" { // a word of its own in bash
				valued = nil
			}
		case !isFlag && s.front:
			return
		case isFlag && !inline:
			if f := named(c.Flags, name); f != nil && takesValue(f) {
				valued = f
			}
		}
	}
	name, value, inline, isFlag := cut(typed)
	switch {
	case valued != nil:
		offerValues(c, valued, "", typed)
	case isFlag && inline:
		offerValues(c, named(c.Flags, name), strings.TrimSuffix(typed, value), value)
	case strings.HasPrefix(typed, "-"):
		dashes := typed[:len(typed)-len(strings.TrimLeft(typed, "-"))]
		for _, flag := range c.Flags {
			if word := dashes + flag.Names()[0]; strings.HasPrefix(word, typed) {
				_, usage := describe(flag)
				offer(c, word, usage)
			}
		}
	}
}

// offerValues offers those values of a flag that begin with what is typed.
func offerValues(c *cli.Command, flag cli.Flag, before, typed string) {
	if flag, ok := flag.(*choice); ok {
		for _, value := range flag.of {
			if strings.HasPrefix(value, typed) {
				offer(c, before+value, "")
			}
		}
	}
}

// completeNames completes the name of a command, the only argument: of a verb, or of those below a
// verb that has some.
func completeNames(_ context.Context, c *cli.Command) {
	list := c.Commands
	if len(list) == 0 {
		list = c.Root().Commands
	}
	for _, named := range list {
		if c.NArg() <= 1 && strings.HasPrefix(named.Name, c.Args().First()) {
			offer(c, named.Name, named.Usage)
		}
	}
}
