package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/doubles"
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rundir"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
)

// testVerb is go test that shows the calls of tests which fail.
func testVerb() *cli.Command {
	return command.Verb(&cli.Command{
		Name: "test", ArgsUsage: "[-lines N] [-keep DIR] [-summary FILE] [-index] [-record-doubles DIR -border BORDER] [GO TEST ARGUMENTS]", Usage: "run go test, and show the calls of tests that fail",
		Description: `
Test runs go test with hooks. Tests that pass print what they always do. A test that
fails has the calls that led to it above "--- FAIL", folded to N lines, 60 if -lines
does not say: the path to where it failed, and of the others those that matter most.
Calls are kept in memory until then. FTRACE_ON_ERROR=N does the same with plain go test.
With -keep DIR a recording of the last calls is kept of each test that fails, named
after its package and itself, for command ftrace. The next run replaces DIR.

FTRACE chooses what is traced, and then each call is shown when it is made, whether
the test passes or not, unless you give -lines. FTRACE=1 shows all. If one of
FTRACE_OUT, FTRACE_RECORD, FTRACE_STATS and FTRACE_SHOW is set, FTRACE is 1. The
trace goes to the stderr of each test program. Of a test that passes, go test drops
that, so without FTRACE_OUT the flag -v is added, unless you give -v or -json
yourself. Better send long traces to a file. A relative name is relative to the
directory you are in, although go test runs each test in its package's; %p in it
keeps the tests of several packages apart.

Test files are traced like the rest of the main module. The packages of functions
that they replace by package mock are added to FTRACE_PACKAGES, unless you exclude
them there, and not traced, unless FTRACE names them.

With -summary a summary of the run in Markdown is appended to FILE, as GitHub Actions
shows it: -summary "$GITHUB_STEP_SUMMARY". It has the packages that failed, and each
test that failed with its message and its calls. What go test prints stays as it is.

With -index nothing is printed: what the tests reach goes into the index that
ftrace-wrap reach looks into.

With -record-doubles DIR the calls are recorded that the tests of the package in DIR make
across a border, and written as Go to DIR/doubles_test.go. DIR may also be a file in the
package, whose name ends in _test.go. Tests that call useDoubles(t) then replay these
calls without what is beyond the border. Each -border names a package, an interface, a
type or a function: store, store.Cache, net/http.(*Client).Do. With database/sql it is
what is said to databases. The file is written if all tests pass. One that
-record-doubles has not made is never replaced.`,
		UsageText: `
	$ ftrace-wrap test ./...
	$ ftrace-wrap test -keep failed ./...
	$ ftrace-wrap test -record-doubles shop -border example.com/app/store ./...
	$ FTRACE='strconv_test.*' ftrace-wrap test -run TestAtoi .
	$ FTRACE=1 FTRACE_OUT=trace.%p ftrace-wrap test ./...
	$ ftrace-wrap test -summary "$GITHUB_STEP_SUMMARY" ./...`,
	}, command.Raw, func(a command.Args) (int, error) { return runTest(a.Rest) })
}

// testFlags are those of the verb that are not go test's.
type testFlags struct {
	index   bool
	lines   int    // 0: not given
	keep    string // directory for recordings of tests that fail; "": none is kept
	summary string // a file, or ""
	doubles doubles.Options
}

const (
	defaultLines = 60
	maxLines     = 1000 // the limit of FTRACE_ON_ERROR

	defaultBudget = "10%"
)

// parseTest takes the verb's own flags out of the arguments.
func parseTest(args []string) (flags testFlags, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, inline := gocmd.FlagName(args[i])
		if slices.Contains([]string{"lines", "keep", "summary", "record-doubles", "border"}, name) && !inline {
			if i++; i < len(args) {
				value = args[i]
			}
		}
		switch {
		case name == "args":
			rest, i = append(rest, args[i:]...), len(args)
		case name == "index" && !inline:
			flags.index = true
		case name == "lines":
			if flags.lines, err = strconv.Atoi(value); err != nil || flags.lines < 1 || flags.lines > maxLines {
				return flags, nil, command.UsageError{Err: fmt.Errorf("-lines: %q is not a number of lines from 1 to %d", value, maxLines)}
			}
		case name == "keep":
			if flags.keep = value; value == "" {
				return flags, nil, command.Usagef("-keep: no directory is named")
			}
		case name == "summary":
			if flags.summary = value; value == "" {
				return flags, nil, command.Usagef("-summary: no file is named")
			}
		case name == "record-doubles":
			if flags.doubles.To = value; value == "" {
				return flags, nil, command.Usagef("-record-doubles: no directory is named")
			}
		case name == "border":
			if value == "" {
				return flags, nil, command.Usagef("-border: no package, interface, type or function is named")
			}
			flags.doubles.Borders = append(flags.doubles.Borders, value)
		default:
			rest = append(rest, args[i])
		}
	}
	if (flags.doubles.To == "") != (len(flags.doubles.Borders) == 0) {
		return flags, nil, command.Usagef("-record-doubles and -border go together: one says where to, the other what is recorded")
	}
	return flags, rest, nil
}

// shows reports whether an environment variable says what is shown of tests that pass, too.
func shows() bool {
	return slices.ContainsFunc([]string{"FTRACE", "FTRACE_OUT", "FTRACE_RECORD", "FTRACE_STATS", "FTRACE_SHOW"}, func(name string) bool { return os.Getenv(name) != "" })
}

func runTest(args []string) (status int, err error) {
	own, args, err := parseTest(args)
	if err != nil {
		return 0, err
	}
	flag, err := gocmd.ToolexecFlag("test", args)
	if err != nil {
		return 0, err
	}
	run, flags := gocmd.Build, []string{flag}
	if own.summary != "" {
		run = func(args []string) (int, error) { return sumUp(own.summary, args) }
	}
	var beyond []string // packages beyond a border
	if own.doubles.To != "" && !own.index {
		r, more, err := prepareDoubles(&own, args)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		flags, beyond = append(flags, more...), r.Packages()
		tests := run
		if own.summary == "" {
			tests = gocmd.Child // Build does not always come back
		}
		run = func(args []string) (int, error) { return writeDoubles(r, tests, args) }
	}
	switch {
	case own.index && own.doubles.To != "":
		return 0, command.Usagef("-record-doubles: with -index nothing is recorded: leave one out")
	case own.index && own.keep != "":
		return 0, command.Usagef("-keep: with -index no recordings are made: leave one out")
	case own.index && own.summary != "":
		return 0, command.Usagef("-summary: with -index nothing is printed that could be summed up: leave one out")
	case own.index:
		run = indexTests
	case own.lines > 0 || os.Getenv("FTRACE_ON_ERROR") == "" && (own.keep != "" || !shows()):
		os.Setenv("FTRACE_ON_ERROR", strconv.Itoa(cmp.Or(own.lines, defaultLines)))
		if os.Getenv("FTRACE_BUDGET") == "" {
			os.Setenv("FTRACE_BUDGET", defaultBudget)
		}
	case os.Getenv("FTRACE_ON_ERROR") == "" && os.Getenv("FTRACE_OUT") == "" && !slices.ContainsFunc(args, isVerbose):
		flags = append(flags, "-v") // go test drops what a passing test prints to stderr otherwise
	}
	if own.keep != "" {
		dir, err := filepath.Abs(own.keep) // go test runs each test in its package's directory
		if err == nil {
			err = rundir.Make(dir, "test", "-keep")
		}
		if err != nil {
			return 0, err
		}
		os.Setenv("FTRACE_KEEP", dir)
	}
	if added := append(targets.Select(args), beyond...); len(added) > 0 && (os.Getenv("FTRACE") == "" || os.Getenv("FTRACE") == "1") {
		os.Setenv("FTRACE", "1;!pkg:"+strings.Join(added, ";!pkg:")) // who replaces a function need not want its package's calls
	}
	if err := traceOn(); err != nil {
		return 0, err
	}
	return run(gocmd.InsertFlags(append([]string{"test"}, args...), flags...))
}

// prepareDoubles makes what the tests need to record calls across a border: flags, and packages
// with hooks.
func prepareDoubles(own *testFlags, args []string) (r *doubles.Run, flags []string, err error) {
	for _, arg := range args {
		if name, _, _ := gocmd.FlagName(arg); name == "overlay" || name == "C" {
			return nil, nil, command.Usagef("-%s: it does not go with -record-doubles", name)
		}
	}
	own.doubles.Build = targets.LoadFlags(args)
	if r, err = doubles.Prepare(&own.doubles); err != nil {
		return nil, nil, err
	}
	patterns := cmp.Or(os.Getenv("FTRACE_PACKAGES"), "main")
	if strings.HasPrefix(patterns, "!") {
		patterns = "main," + patterns // as it is understood there
	}
	os.Setenv("FTRACE_PACKAGES", strings.Join(append(r.Packages(), patterns), ",")) // a later pattern overrides an earlier one: the user has the last word
	return r, r.Flags(), nil
}

// writeDoubles runs the tests, and writes what they recorded.
func writeDoubles(r *doubles.Run, tests func(args []string) (int, error), args []string) (status int, err error) {
	if status, err = tests(args); err != nil || status != 0 {
		if err == nil {
			fmt.Fprintln(os.Stderr, "ftrace-wrap: test: no doubles were written, since go test failed")
		}
		return status, err
	}
	written, err := r.Write(stdout)
	if err == nil && !written {
		status = 1
	}
	return status, err
}

// isVerbose recognises the flags that settle how much go test shows.
func isVerbose(arg string) bool {
	name, _, _ := gocmd.FlagName(arg)
	return name == "v" || name == "test.v" || name == "json"
}
