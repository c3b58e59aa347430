package main

import (
	"os"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
)

// testVerb is "ftrace-wrap test ARGS": go test with tracing on.
func testVerb(args []string) (status int, err error) {
	flag, err := gocmd.ToolexecFlag("test", args)
	if err != nil {
		return 0, err
	}
	flags := []string{flag}
	if os.Getenv("FTRACE_OUT") == "" && !slices.ContainsFunc(args, isVerbose) {
		flags = append(flags, "-v") // go test drops what a passing test prints to stderr otherwise
	}
	if added := targets.Select(args); len(added) > 0 && os.Getenv("FTRACE") == "" {
		os.Setenv("FTRACE", "1;!pkg:"+strings.Join(added, ";!pkg:")) // who replaces a function need not want its package's calls
	}
	if err := traceOn(); err != nil {
		return 0, err
	}
	gocmd.AnnounceFirst()
	return gocmd.Exec(gocmd.InsertFlags(append([]string{"test"}, args...), flags...))
}

// isVerbose recognises the flags that settle how much go test shows.
func isVerbose(arg string) bool {
	name, _, _ := gocmd.FlagName(arg)
	return name == "v" || name == "test.v" || name == "json"
}
