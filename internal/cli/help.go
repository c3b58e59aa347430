package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"
)

// writeHelp writes what a command does: of the root, which verbs it has, of a verb, its flags.
func writeHelp(w io.Writer, c *cli.Command) {
	if c.Root() != c {
		fmt.Fprintf(w, "usage: %s\n\n", synopsis(c))
	}
	fmt.Fprintln(w, strings.TrimSpace(c.Description))
	if len(c.Commands) > 0 {
		fmt.Fprint(w, "\nCommands:\n\n")
		writeTable(w, "\t", len(c.Commands), func(i int) (string, string) { return c.Commands[i].Name, c.Commands[i].Usage })
	}
	if len(c.Flags) > 0 {
		fmt.Fprint(w, "\nFlags:\n\n")
		writeTable(w, "\t", len(c.Flags), func(i int) (string, string) {
			value, usage := describe(c.Flags[i])
			return strings.TrimSpace("-" + c.Flags[i].Names()[0] + " " + value), usage
		})
	}
	if c.UsageText != "" {
		fmt.Fprintf(w, "\nExamples:\n\n%s\n", strings.Trim(c.UsageText, "\n"))
	}
	if text, _ := c.Metadata[settingsKey].(string); text != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
	}
}

// synopsis returns how a command is called.
func synopsis(c *cli.Command) string { return strings.TrimSpace(c.FullName() + " " + c.ArgsUsage) }

// writeTable writes n names, each with a text beside it that is broken into lines.
func writeTable(w io.Writer, indent string, n int, row func(i int) (name, text string)) {
	wide := 0
	for i := range n {
		name, _ := row(i)
		wide = max(wide, len(name))
	}
	for i := range n {
		name, text := row(i)
		line := ""
		for _, word := range strings.Fields(text) {
			if line != "" && wide+2+len(line)+1+len(word) > helpWidth {
				fmt.Fprintf(w, "%s%-*s  %s\n", indent, wide, name, line)
				name, line = "", ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		fmt.Fprintf(w, "%s%-*s  %s\n", indent, wide, name, line)
	}
}

// helpWidth is how long lines of a table are at most, without what is before the names.
const helpWidth = 82

// help is the verb that explains the others.
func help(root *cli.Command) *cli.Command {
	return Verb(&cli.Command{
		Name: "help", ArgsUsage: "[COMMAND]", Usage: "say more about a command: " + root.Name + " help NAME",
		Description:   "Help says what a command does, or lists the commands.",
		ShellComplete: completeNames,
	}, Mixed, func(a Args) (status int, err error) {
		about := root
		if len(a.Rest) > 0 {
			if about = find(root, a.Rest[0]); about == nil {
				return 0, Usagef("%s: there is no such command%s", a.Rest[0], meant(root, a.Rest[0]))
			}
		}
		writeHelp(root.Writer, about)
		return 0, nil
	})
}
