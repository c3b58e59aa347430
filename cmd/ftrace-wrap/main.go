// Ftrace-wrap makes Go programs that can show every function call they make.
//
// It stands between the go command and the compiler:
//
//	go build -toolexec=ftrace-wrap ./...
//
// The go command then starts it once for each compile, assemble and link step (package
// internal/toolexec). It is also a front end that puts itself into go commands, and shows what it
// does: each file here is a verb, which reads its flags and calls the package that does the work.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
)

// What this program prints itself goes through these, so that names in sources never reach a
// terminal as they are. Programs that it runs have os.Stdout and os.Stderr.
var (
	stdout = screen.New(os.Stdout, screen.Text)
	stderr = screen.New(os.Stderr, screen.Text)
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && strings.TrimSuffix(filepath.Base(args[0]), ".exe") == "tinygo" {
		fmt.Fprintln(stderr, "ftrace-wrap: tinygo has a compiler of its own, for which there are no hooks: build with the go command")
		os.Exit(2)
	}
	if len(args) > 0 && strings.ContainsAny(args[0], `/\`) && !command.Completing(args) { // the go command gives tools by path
		status, err := toolexec.Run(args[0], args[1:])
		if err != nil {
			fmt.Fprintf(stderr, "ftrace-wrap: %v\n", err)
			status = 1
		}
		os.Exit(status)
	}
	os.Exit(command.Run(commands(), args))
}

// commands returns the front end's verbs.
func commands() *cli.Command {
	return command.New("ftrace-wrap", "make Go programs that can show every function call", begin, settings, stdout, stderr,
		runVerb(), testVerb(), goVerb(), listVerb(), showVerb(), sweepVerb(), flakeVerb(), reachVerb(), gentestVerb(), doctorVerb(), versionVerb())
}

const begin = `
ftrace-wrap makes Go programs that can show every function call they make.

Run a program and see its calls:

	ftrace-wrap run ./cmd/app

Or build it, and say when it runs what is traced:

	go build -toolexec=ftrace-wrap ./cmd/app
	FTRACE='main.*' ./app
`

const settings = `
Settings, from the environment, of a build:

	FTRACE_PACKAGES  what is instrumented; not set, the main module and workspace
	FTRACE_INLINE    keep: leave functions alone that the compiler would inline
	FTRACE_VARIABLES packages whose variables tests set by name (docs/mock.md)
	FTRACE_CACHE     directory for compiled packages, or off
	FTRACE_GO        allow: try a Go release that came after this ftrace-wrap

and of a program when it runs, which rebuild nothing (docs/rules.md):

	FTRACE           what is traced; not set, nothing
	FTRACE_OUT       where to: stderr, stdout, off, or a file (%p is the process ID)
	FTRACE_FORMAT    how lines look
	FTRACE_WEAVE     off: what the program writes is not in the trace; only: there alone
	FTRACE_GROUP     on: the lines of a goroutine's outermost call stay together
	FTRACE_STATS     count the calls of each function, at the end
	FTRACE_SHOW      list the instrumented functions
	FTRACE_FAIL      which functions fail that return an error (docs/mock.md)
	FTRACE_RECORD    record calls, in a directory, for the command ftrace, or in rings
	FTRACE_ON_ERROR  N: print the last N calls, when something goes wrong
	FTRACE_CONSUMERS what is kept in memory of armed functions' calls
	FTRACE_MEMORY    off: no one can look into the program; or how much is kept
	FTRACE_BUDGET    limits what recording costs, such as 3% of the processor time
	FTRACE_LOCKS     notes who holds which lock, and potential deadlocks
	FTRACE_TIMER     by what calls are timed: cycle, nanosecond, ...
	FTRACE_PROPAGATE on: requests and messages carry their trace (traceparent); sql: statements too
	FTRACE_SHAKE     a seed: calls let other goroutines run, at places that it chooses
	FTRACE_PROTOCOL  test_trace: what is said to MySQL and Redis servers is written down
`
