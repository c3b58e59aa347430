// Ftrace records what a program built with ftrace-wrap does, and shows recordings: as the text of a
// trace, as tables of functions, and in the formats of other tools.
//
//	ftrace record ./app        internal/view/live
//	ftrace replay              internal/recording -> internal/view/walk -> internal/view/text
//	ftrace report              internal/recording -> internal/view/walk -> internal/view/report
//	ftrace waits               internal/recording -> internal/view/walk -> internal/view/waits
//	ftrace web                 internal/recording -> internal/view/walk -> internal/view/web
//	ftrace attach, waits PID   internal/live -> internal/view/live
//	ftrace -n PROGRAM          internal/dtrace -> internal/view/probes
//	ftrace exporter            internal/schema -> internal/view/exporter
//	ftrace forward             internal/recording -> internal/view/export -> internal/view/forward
//
// Each verb has a file, which declares its flags and its help, and calls one view. What is printed
// passes screen.go. This command is the reading side: nothing of it is linked into the programs
// that it records.
package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/heap"
	"github.com/ftrace-wrap/ftrace-wrap/internal/version"
)

func main() {
	heap.Late()
	os.Exit(run(os.Args[1:]))
}

// run runs the verb that the arguments name.
func run(args []string) (status int) {
	if asksProbes(args) {
		args = append([]string{"probes"}, args...)
	}
	return command.Run(commands(), args)
}

// commands returns the verbs. What is none of them, but a path or a flag, is for live.
func commands() *cli.Command {
	root := command.New("ftrace", "record what programs do that were built with ftrace-wrap, and show it", begin, settings, stdout, stderr,
		recordVerb(), liveVerb(), replayVerb(), reportVerb(), graphVerb(), showVerb(), waitsVerb(), diffVerb(), infoVerb(), exportVerb(), compactVerb(),
		listVerb(), attachVerb(), topVerb(), probesVerb(), sqlVerb(), serveVerb(), exporterVerb(), forwardVerb(), webVerb(), versionVerb())
	root.DefaultCommand = "live"
	return root
}

const begin = `
ftrace records what programs do that were built with ftrace-wrap, and shows it.

Build a program, and see its calls as it runs:

	go build -toolexec=ftrace-wrap ./cmd/app
	ftrace ./app

Or record, and look at it afterwards in as many ways as you like:

	ftrace record ./app
	ftrace replay -f 'main.handle=tree'
	ftrace report

Or run probes, predicates and one-liners in D, the language of DTrace:

	ftrace -n 'call:main:*:entry { @[probefunc] = count(); }' -c ./app

The commands that read take the directory of a recording, ftrace.data if none is named.
`

const settings = `
Settings, from the environment:

	FTRACE           what record and live trace, if -f does not say it
	FTRACE_FORMAT    how lines look, if -format does not say it
	FTRACE_PASSWORD  of ftrace serve; FTRACE_READER_PASSWORD is that of its reader
	PAGER            shows what goes to a terminal; not set, less does
	NO_COLOR         if it is set, there are no colours
`

// versionVerb tells which build this is.
func versionVerb() *cli.Command {
	return command.Verb(&cli.Command{
		Name: "version", Usage: "print the version and what it was built with",
		Description: `
Version prints the version of ftrace, the commit that it was built from if that is
known, and the Go release and platform that it was built with.`,
	}, command.Mixed, func(command.Args) (status int, err error) {
		_, err = fmt.Fprint(stdout, version.String("ftrace"))
		return 0, err
	})
}
