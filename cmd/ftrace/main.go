// Ftrace records what a program built with ftrace-wrap does, and shows recordings: as the text of a
// trace, as tables of functions, and in the formats of other tools.
//
//	ftrace record ./app        internal/view/live
//	ftrace replay              internal/recording -> internal/view/walk -> internal/view/text
//	ftrace report              internal/recording -> internal/view/walk -> internal/view/report
//	ftrace attach PID          internal/live -> internal/view/live
//	ftrace -n PROGRAM          internal/dtrace -> internal/view/probes
//
// A file a verb reads flags into options and calls one view. What is printed passes screen.go. It
// is the reading side: nothing of it is linked into the programs that it records.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/version"
)

// commands are the verbs. Each gets the arguments after its name and returns the exit status.
var commands = map[string]func(args []string) int{
	"record":  recordCommand,
	"live":    liveCommand,
	"replay":  replayCommand,
	"report":  reportCommand,
	"graph":   graphCommand,
	"diff":    diffCommand,
	"info":    infoCommand,
	"export":  exportCommand,
	"compact": compactCommand,
	"list":    listCommand,
	"attach":  attachCommand,
	"top":     topCommand,
	"sql":     sqlCommand,
	"serve":   serveCommand,
	"version": versionCommand,
}

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		stderr.WriteString(usage)
		os.Exit(2)
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		os.Exit(helpCommand(args[1:]))
	}
	if asksProbes(args) {
		os.Exit(probesCommand(args))
	}
	command, ok := commands[args[0]]
	if !ok {
		// The default verb is live: what is no verb is a program.
		if !strings.ContainsAny(args[0], `/\`) && !strings.HasPrefix(args[0], "-") {
			fmt.Fprintf(stderr, "ftrace: unknown command %q: to run a program of that name, ftrace live %s\n\n%s", args[0], args[0], usage)
			os.Exit(2)
		}
		os.Exit(liveCommand(args))
	}
	if len(args) > 1 && (args[1] == "-h" || args[1] == "-help" || args[1] == "--help") {
		os.Exit(helpCommand(args[:1]))
	}
	os.Exit(command(args[1:]))
}

// versionCommand is "ftrace version".
func versionCommand([]string) int {
	fmt.Fprint(stdout, version.String("ftrace"))
	return 0
}

// fail reports an error of a verb and returns the exit status for it. That the reader of the output
// has gone is none.
func fail(verb string, err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return 0
	}
	var wrong usageError
	if errors.As(err, &wrong) {
		fmt.Fprintf(stderr, "ftrace: %s: %v: ftrace help %s\n", verb, err, verb)
		return 2
	}
	fmt.Fprintf(stderr, "ftrace: %s: %v\n", verb, err)
	return 1
}

// usageError says that a command was used wrongly.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
