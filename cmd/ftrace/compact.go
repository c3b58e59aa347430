package main

import (
	"fmt"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/compact"
)

// compactVerb makes a recording smaller.
func compactVerb() *cli.Command {
	o := options{verb: "compact"}
	var to string
	return command.Verb(&cli.Command{
		Name: "compact", ArgsUsage: "[-o DIR] [-json] [DIR]", Usage: "make a recording three to eight times smaller",
		Description: `
Compact makes a recording three to eight times smaller, and the recordings of child
processes within it. All commands read it as before, and show the same; other tools
do not: ftrace export -format ctf makes what they read, and copies a part. Compact
replaces the recording, unless -o names a new directory. What is damaged, or is still
being written, is not replaced.`,
		UsageText: `
	$ ftrace compact -o small.data ftrace.data
	$ ftrace compact`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Destination: &to, Usage: "make the new directory `DIR`, and leave the recording as it is"},
			o.jsonFlag(),
		},
	}, command.Mixed, func(a command.Args) (status int, err error) {
		r, err := o.open(a.All())
		if err != nil {
			return 0, err
		}
		before, after, err := compact.Make(r, compact.Options{To: to, Progress: bar("compact"), Warn: stderr})
		if err != nil {
			return 0, err
		}
		if o.json {
			_, err = fmt.Fprintf(stdout, "{\"before\":%d,\"after\":%d}\n", before, after)
		} else {
			_, err = fmt.Fprintf(stdout, "%d bytes, were %d: %.0f %%\n", after, before, 100*float64(after)/float64(max(before, 1)))
		}
		return 0, err
	})
}
