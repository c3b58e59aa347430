package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/inspect"
)

// listVerb is "ftrace-wrap list [-tests] [-json] [BUILD FLAGS] [PATTERNS]".
func listVerb(args []string) (status int, err error) {
	asJSON, tests := false, false
	var build []string
	flags, patterns := gocmd.SplitFlags(args)
	for _, flag := range flags {
		switch flag {
		case "-json", "--json":
			asJSON = true
		case "-tests", "--tests":
			tests = true
		default:
			build = append(build, flag)
		}
	}
	return 0, inspect.List(stdout, tests, asJSON, build, patterns)
}
