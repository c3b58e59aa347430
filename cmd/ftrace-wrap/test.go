package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
)

// testVerb is go test with tracing on.
func testVerb() *cli.Command {
	return command.Verb(&cli.Command{
		Name: "test", ArgsUsage: "[GO TEST ARGUMENTS]", Usage: "run go test, tracing on",
		Description: `
Test runs go test with FTRACE=1, unless FTRACE is set. Test files are traced like
the rest of the main module. The packages of functions that they replace by package
mock are added to FTRACE_PACKAGES, unless you exclude them there, and not traced.

The trace goes to the stderr of each test program. Of a test that passes, go test
drops that, so without FTRACE_OUT the flag -v is added, unless you give -v or
-json yourself. Better send long traces to a file. A relative name is relative to
the directory you are in, although go test runs each test in its package's; %p in
it keeps the tests of several packages apart.`,
		UsageText: `
	$ FTRACE='strconv_test.*' ftrace-wrap test -run TestAtoi .
	$ FTRACE_OUT=trace.%p ftrace-wrap test ./...`,
	}, command.Raw, func(a command.Args) (int, error) { return runTest(a.Rest) })
}

func runTest(args []string) (status int, err error) {
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
