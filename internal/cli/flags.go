package cli

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Args are the arguments of a verb other than its own flags.
type Args struct {
	Rest    []string // what is no flag
	Foreign []string // flags that the verb has not declared, with their values
	After   []string // what stands after "--"
}

// All returns the arguments that are no flags, before and after "--".
func (a Args) All() []string { return slices.Concat(a.Rest, a.After) }

// A Style says how a verb's flags and its other arguments are told apart. A flag has one dash or
// two, and its value after "=" or in the next argument.
type Style struct {
	raw, front, letters bool
	foreign             []string
}

var (
	Mixed   = Style{}              // flags and other arguments in any order
	Letters = Style{letters: true} // the same, and flags of a letter each can be written as one: -qn
	Front   = Style{front: true}   // flags stand in front of a command and its arguments
	Raw     = Style{raw: true}     // there are no flags: all arguments are another program's
)

// Foreign is Mixed, where flags that are not declared are those of the go command or the like.
// valued has the names of those whose value may be the next argument.
func Foreign(valued []string) Style { return Style{foreign: valued} }

// Parse sets a verb's flags by its arguments, and returns the others.
func (s Style) Parse(flags []cli.Flag, args []string) (Args, error) {
	if s.raw {
		return Args{Rest: args}, nil
	}
	for _, flag := range flags {
		if err := flag.PreParse(); err != nil { // sets the default
			return Args{}, err
		}
	}
	var a Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			a.After = args
			break
		}
		name, value, inline, isFlag := cut(arg)
		if !isFlag {
			a.Rest = append(a.Rest, arg)
			if s.front {
				a.Rest = append(a.Rest, args...)
				break
			}
			continue
		}
		flag := named(flags, name)
		if flag == nil && s.letters && !inline && !strings.HasPrefix(arg, "--") && allNamed(flags, name) {
			for i := len(name) - 1; i >= 0; i-- {
				args = append([]string{"-" + name[i:i+1]}, args...)
			}
			continue
		}
		if flag == nil && (s.foreign == nil || isHelp(arg)) {
			return a, unknownFlag{arg, name}
		}
		needsValue := flag != nil && takesValue(flag) || flag == nil && slices.Contains(s.foreign, name)
		switch {
		case needsValue && !inline && len(args) == 0:
			return a, Usagef("%s needs a value", arg)
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
			return a, UsageError{invalid(flag, value, err)}
		}
	}
	return a, nil
}

// Configure sets a flag that no argument has set, by a setting from elsewhere.
func Configure(flags []cli.Flag, name, value string) error {
	flag := named(flags, name)
	switch {
	case flag == nil:
		return fmt.Errorf("there is no setting %q", name)
	case flag.IsSet():
		return nil
	}
	if err := flag.Set(name, value); err != nil {
		return invalid(flag, value, err)
	}
	return nil
}

// cut takes an argument apart that may be a flag.
func cut(arg string) (name, value string, inline, isFlag bool) {
	name, isFlag = strings.CutPrefix(arg, "-")
	if !isFlag || name == "" {
		return "", "", false, false
	}
	name, value, inline = strings.Cut(strings.TrimPrefix(name, "-"), "=")
	return name, value, inline, true
}

// named returns the flag of a name, nil if there is none.
func named(flags []cli.Flag, name string) cli.Flag {
	if i := slices.IndexFunc(flags, func(f cli.Flag) bool { return f.Names()[0] == name }); i >= 0 {
		return flags[i]
	}
	return nil
}

// allNamed reports whether each letter is the name of a flag.
func allNamed(flags []cli.Flag, letters string) bool {
	return !strings.ContainsFunc(letters, func(r rune) bool { return named(flags, string(r)) == nil })
}

// invalid returns the error of a value that a flag can't have. One of ours names the flag; that of
// the library, where a number is none, is strconv's and helps nobody.
func invalid(f cli.Flag, value string, err error) error {
	name := "-" + f.Names()[0]
	wants := map[string]string{"int": "a whole number", "duration": "a time such as 1.5s or 20ms", "bool": "true or false"}[f.(cli.DocGenerationFlag).TypeName()]
	switch {
	case strings.HasPrefix(err.Error(), name):
		return err
	case wants != "":
		return fmt.Errorf("%s is %s, not %q", name, wants, value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// An unknownFlag is the error of a flag that a verb has not declared.
type unknownFlag struct{ arg, name string }

func (e unknownFlag) Error() string { return e.arg + " is no flag of this command" }

// meant says which flag of the command c an unknown one may be, or which commands have it.
func (e unknownFlag) meant(c *cli.Command) string {
	var own, others []string
	for _, f := range c.Flags {
		own = append(own, f.Names()[0])
	}
	for _, other := range c.Root().Commands {
		if named(other.Flags, e.name) != nil {
			others = append(others, other.Name)
		}
	}
	if len(others) > 0 {
		return " is no flag of this command, but of " + strings.Join(others, ", ")
	}
	if near := words.Near(e.name, own); len(near) > 0 {
		return " is no flag of this command: did you mean -" + strings.Join(near, " or -") + "?"
	}
	return " is no flag of this command"
}

// A choice is a flag that has one of a few values.
type choice struct {
	cli.StringFlag
	of []string
}

// Choice declares a flag that sets to, which has its default, to one of a few values. usage goes on
// with them.
func Choice(to *string, name, usage string, of ...string) cli.Flag {
	return &choice{cli.StringFlag{Name: name, Usage: usage + ": " + words.Or(of), Value: *to, Destination: to}, of}
}

// Set sets the flag.
func (c *choice) Set(name, value string) error {
	if !slices.Contains(c.of, value) {
		return fmt.Errorf("-%s is %s, not %q", c.Name, words.Or(c.of), value)
	}
	return c.StringFlag.Set(name, value)
}

// takesValue reports whether a flag has a value: one that is true or false needs none.
func takesValue(f cli.Flag) bool { return f.(cli.DocGenerationFlag).TakesValue() }

// describe returns what a flag's value is called, "" if it has none, and what the flag does, with
// its default. The name of the value stands in backquotes in the flag's usage.
func describe(f cli.Flag) (value, usage string) {
	doc := f.(cli.DocGenerationFlag)
	value, usage = flag.UnquoteUsage(&flag.Flag{Usage: doc.GetUsage()})
	if !takesValue(f) {
		return "", usage
	}
	if standard := strings.Trim(doc.GetValue(), `"`); doc.IsDefaultVisible() && !slices.Contains([]string{"", "0", "0s"}, standard) {
		usage += " (" + standard + " if not set)"
	}
	return value, usage
}
