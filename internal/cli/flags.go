package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// Args are the arguments of a verb other than its own flags.
type Args struct {
	Rest    []string // what is no flag
	Foreign []string // flags that the verb has not declared, with their values
	After   []string // what stands after "--"
}

// Parse sets a verb's flags by its arguments, and returns the others. Flags have one dash or two,
// have their value after "=" or in the next argument, and stand in any order with other arguments.
// Flags that are not declared are for the go command or the like: valued has the names of those
// whose value may be the next argument. If it is nil they are errors.
func Parse(flags []cli.Flag, args, valued []string) (Args, error) {
	known := map[string]cli.Flag{}
	for _, flag := range flags {
		if err := flag.PreParse(); err != nil { // sets the default
			return Args{}, err
		}
		known[flag.Names()[0]] = flag
	}
	var a Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, isFlag := strings.CutPrefix(arg, "-")
		if arg == "--" {
			a.After = args
			break
		}
		if !isFlag || name == "" {
			a.Rest = append(a.Rest, arg)
			continue
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		flag := known[name]
		if flag == nil && valued == nil {
			return a, UsageError{fmt.Errorf("%s is no flag of this command", arg)}
		}
		needsValue := flag != nil && takesValue(flag) || flag == nil && slices.Contains(valued, name)
		switch {
		case needsValue && !inline && len(args) == 0:
			return a, UsageError{fmt.Errorf("%s needs a value", arg)}
		case flag == nil:
			a.Foreign = append(a.Foreign, arg)
			if needsValue && !inline {
				a.Foreign = append(a.Foreign, args[0])
				args = args[1:]
			}
			continue
		case needsValue && !inline:
			value, args = args[0], args[1:]
		case !inline:
			value = "true"
		}
		if err := flag.Set(name, value); err != nil {
			return a, UsageError{fmt.Errorf("-%s: %w", name, err)}
		}
	}
	return a, nil
}

// takesValue reports whether a flag has a value: one that is true or false needs none.
func takesValue(f cli.Flag) bool { return f.(cli.DocGenerationFlag).TakesValue() }

// describe returns what a flag's value is called, "" if it has none, and what the flag does. The
// name of the value stands in backquotes in the flag's usage.
func describe(f cli.Flag) (value, usage string) {
	value, usage = flag.UnquoteUsage(&flag.Flag{Usage: f.(cli.DocGenerationFlag).GetUsage()})
	if !takesValue(f) {
		value = ""
	}
	return value, usage
}

// completeFlags completes the flags of a verb for the shell, and leaves other arguments to it: they
// are files and directories.
func completeFlags(_ context.Context, c *cli.Command) {
	args := c.Args().Slice()
	if len(args) == 0 || !strings.HasPrefix(args[len(args)-1], "-") {
		return
	}
	typed := args[len(args)-1]
	dashes := typed[:len(typed)-len(strings.TrimLeft(typed, "-"))]
	for _, flag := range c.Flags {
		if name := dashes + flag.Names()[0]; strings.HasPrefix(name, typed) {
			_, usage := describe(flag)
			fmt.Fprintf(c.Root().Writer, "%s:%s\n", name, usage)
		}
	}
}

// completeVerbs completes the name of a verb.
func completeVerbs(_ context.Context, c *cli.Command) {
	if c.NArg() > 0 {
		return
	}
	for _, verb := range c.Root().Commands {
		fmt.Fprintf(c.Root().Writer, "%s:%s\n", verb.Name, verb.Usage)
	}
}
