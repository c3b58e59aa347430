package main

import (
	"cmp"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/inspect"
)

// showVerb shows what the compiler gets in place of a package's sources.
func showVerb() *cli.Command {
	var name string
	return command.Verb(&cli.Command{
		Name: "show", ArgsUsage: "[FLAGS] [BUILD FLAGS] FILE|PKG", Usage: "show the source that is compiled in place of yours",
		Description: `
Show prints the source that is compiled in place of yours: of a package, every file
and the one that registers its functions; or of one file. It is formatted here; what
the compiler gets has your lines and comments where you put them.`,
		UsageText: `
	$ ftrace-wrap show -func main ./examples/hello
	$ ftrace-wrap show server.go`,
		Flags: []cli.Flag{&cli.StringFlag{
			Name: "func", Destination: &name,
			Usage: "show only the functions called `NAME`, and their entries in the table; " +
				`it is what list prints, or a part: "example.com/x.(*T).Get", "(*T).Get" or "Get"`,
		}},
	}, command.Foreign(gocmd.ValueFlags), func(a command.Args) (status int, err error) {
		switch targets := a.All(); {
		case name == "" && len(targets) == 0:
			return 0, command.Usagef("nothing given: name a package or a file of one, as in ftrace-wrap show ./cmd/app")
		case len(targets) > 1:
			return 0, command.Usagef("%s: one package or file at a time", strings.Join(targets, " "))
		}
		return 0, inspect.Show(stdout, name, a.Foreign, cmp.Or(strings.Join(a.All(), ""), "."))
	})
}
