package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"
)

// man is the verb that writes the manual pages.
func man(root *cli.Command) *cli.Command {
	return Verb(&cli.Command{
		Name: "man", ArgsUsage: "DIR", Usage: "write manual pages into a directory",
		Description: "Man writes a manual page for each command into DIR.",
		UsageText:   fmt.Sprintf("\t$ %s man ~/.local/share/man/man1\n\t$ man %[1]s", root.Name),
	}, Mixed, func(a Args) (status int, err error) {
		if len(a.Rest) != 1 {
			return 0, UsageError{fmt.Errorf("%d directories: name one to write to", len(a.Rest))}
		}
		for _, c := range append([]*cli.Command{root}, root.Commands...) {
			if err := os.WriteFile(filepath.Join(a.Rest[0], title(c)+".1"), page(c), 0o666); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
}

// title returns the name of a command's page.
func title(c *cli.Command) string { return strings.ReplaceAll(c.FullName(), " ", "-") }

// page returns the manual page of a command in roff.
func page(c *cli.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %q 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n.SH DESCRIPTION\n",
		strings.ToUpper(title(c)), roff(title(c)), roff(c.Usage), roff(synopsis(c)))
	b.WriteString(paragraphs(c.Description))
	if len(c.Flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
	}
	for _, flag := range c.Flags {
		value, usage := describe(flag)
		fmt.Fprintf(&b, ".TP\n\\fB\\-%s\\fR %s\n%s\n", roff(flag.Names()[0]), roff(value), roff(usage))
	}
	if len(c.Commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	for _, v := range c.Commands {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", roff(title(v)), roff(v.Usage))
	}
	if c.UsageText != "" {
		b.WriteString(".SH EXAMPLES\n" + paragraphs(c.UsageText))
	}
	if text, _ := c.Metadata[settingsKey].(string); text != "" {
		b.WriteString(".SH ENVIRONMENT\n" + paragraphs(text))
	}
	if root := c.Root(); root != c {
		fmt.Fprintf(&b, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", roff(root.Name))
	}
	return b.Bytes()
}

// paragraphs returns a text of help in roff. Lines with a tab in front stay as they are.
func paragraphs(text string) string {
	var b strings.Builder
	literal := false
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "\t")
		switch {
		case line == "" && !literal:
			b.WriteString(".PP\n")
			continue
		case indented && !literal:
			b.WriteString(".RS 4\n.nf\n")
		case line != "" && !indented && literal:
			b.WriteString(".fi\n.RE\n.PP\n")
		}
		literal = indented || literal && line == ""
		b.WriteString(roff(strings.TrimPrefix(line, "\t")) + "\n")
	}
	if literal {
		b.WriteString(".fi\n.RE\n")
	}
	return b.String()
}

// roff escapes a line: a backslash, a dash that must not become a hyphen, and what would be taken
// for a request at the beginning.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
