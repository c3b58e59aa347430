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
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
)

// What this program prints itself goes through these, so that names in sources never reach a
// terminal as they are. Programs that it runs have os.Stdout and os.Stderr.
var (
	stdout = screen.New(os.Stdout, screen.Text)
	stderr = screen.New(os.Stderr, screen.Text)
)

// verbs has the front end's. Each gets the arguments after its name and returns the exit status.
var verbs = map[string]func(args []string) (status int, err error){
	"go":      goVerb,
	"run":     runVerb,
	"test":    testVerb,
	"list":    listVerb,
	"show":    showVerb,
	"sweep":   sweepVerb,
	"version": versionVerb,
}

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		stderr.WriteString(usage)
		os.Exit(2)
	}
	if strings.ContainsAny(args[0], `/\`) { // the go command gives tools by path
		exit(toolexec.Run(args[0], args[1:]))
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		exit(helpVerb(args[1:]))
	}
	verb, ok := verbs[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "ftrace-wrap: unknown command %q\n\n%s", args[0], usage)
		os.Exit(2)
	}
	if wantsHelp(args[1:]) && args[0] != "go" {
		exit(helpVerb(args[:1]))
	}
	exit(verb(args[1:]))
}

// exit ends the program with a status, or after an error with 1, or the status if there is one.
func exit(status int, err error) {
	if err != nil {
		fmt.Fprintf(stderr, "ftrace-wrap: %v\n", err)
		status = max(status, 1)
	}
	os.Exit(status)
}
