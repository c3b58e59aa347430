// Ftrace-wrap makes Go programs that can show every function call they make.
//
// It stands between the go command and the compiler:
//
//	go build -toolexec=ftrace-wrap ./...
//
// The go command then starts it once for each compile, assemble and link step (toolexec.go). When a package is compiled it
// rewrites the package's sources on their way to the compiler (compile.go); everything else passes through. It is also a front end that
// puts itself into go commands (frontend.go) and shows what it does (list.go, show.go).
package main

import (
	"fmt"
	"os"
	"strings"
)

// commands are the front end's verbs. Each gets the arguments behind its name and returns the exit status.
var commands = map[string]func(args []string) int{
	"go":      goCommand,
	"run":     runCommand,
	"test":    testCommand,
	"list":    listCommand,
	"show":    showCommand,
	"sweep":   sweepCommand,
	"version": versionCommand,
}

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		stderr.WriteString(usage)
		os.Exit(2)
	}
	if strings.ContainsAny(args[0], `/\`) { // the go command gives tools by path
		os.Exit(toolexec(args[0], args[1:]))
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		os.Exit(helpCommand(args[1:]))
	}
	command, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "ftrace-wrap: unknown command %q\n\n%s", args[0], usage)
		os.Exit(2)
	}
	if wantsHelp(args[1:]) && args[0] != "go" {
		os.Exit(helpCommand(args[:1]))
	}
	os.Exit(command(args[1:]))
}

// fail reports an error and returns the exit status for it.
func fail(err error) int {
	fmt.Fprintf(stderr, "ftrace-wrap: %v\n", err)
	return 1
}
