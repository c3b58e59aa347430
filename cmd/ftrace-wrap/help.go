package main

import "fmt"

const usage = `ftrace-wrap makes Go programs that can show every function call they make.

Run a program and see its calls:

	ftrace-wrap run ./cmd/app

Or build it, and say when it runs what is traced:

	go build -toolexec=ftrace-wrap ./cmd/app
	FTRACE='main.*' ./app

Commands:

	run      build a program and run it, tracing on
	test     run go test, tracing on
	go       run any go command, with ftrace-wrap in it
	list     list the functions that a build hooks, and why others are not
	show     show the source that is compiled in place of yours
	sweep    run tests with each function failing that can, and see what comes of it
	version  print versions
	help     say more about a command: ftrace-wrap help run

Settings, from the environment, of a build:

	FTRACE_PACKAGES  what is instrumented; not set, the main module and workspace
	FTRACE_INLINE    keep: leave functions alone that the compiler would inline
	FTRACE_CACHE     directory for compiled packages, or off

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
	FTRACE_TIMER     by what calls are timed: cycle, nanosecond, ...
	FTRACE_PROTOCOL  test_trace: what is said to MySQL and Redis servers is written down
`

// helpTexts has the text of each command.
var helpTexts = map[string]string{
	"run": `usage: ftrace-wrap run [BUILD FLAGS] PKG|FILES.go [ARGS]

Run builds a program in a temporary directory and runs it with FTRACE=1, unless
FTRACE is set. Arguments are those of go run: flags of go build come first, and
what follows the package or the files is for the program. The exit status is the
program's, or 128 and the signal's number if a signal ended it.

	$ ftrace-wrap run ./examples/hello
	$ FTRACE='main.*' FTRACE_OUT=hello.trace ftrace-wrap run -race ./examples/hello
`,
	"test": `usage: ftrace-wrap test [GO TEST ARGUMENTS]

Test runs go test with FTRACE=1, unless FTRACE is set. Test files are traced like
the rest of the main module. The packages of functions that they replace by package
mock are added to FTRACE_PACKAGES, unless you exclude them there, and not traced.

The trace goes to the stderr of each test program. Of a test that passes, go test
drops that, so without FTRACE_OUT the flag -v is added, unless you give -v or
-json yourself. Better send long traces to a file. A relative name is relative to
the directory you are in, although go test runs each test in its package's; %p in
it keeps the tests of several packages apart.

	$ FTRACE='strconv_test.*' ftrace-wrap test -run TestAtoi .
	$ FTRACE_OUT=trace.%p ftrace-wrap test ./...
`,
	"go": `usage: ftrace-wrap go VERB [ARGS]

Go runs the go command. Where VERB compiles (build, fix, install, list, run, test,
vet) it adds -toolexec=ftrace-wrap, by the full name of this program. What is built
runs untraced until FTRACE says otherwise. For test, the packages of functions that
the tests replace are added to FTRACE_PACKAGES.

	$ ftrace-wrap go build -o app ./cmd/app
	$ FTRACE='main.*' ./app

This is the same as go build -toolexec=ftrace-wrap, or GOFLAGS=-toolexec=ftrace-wrap,
with ftrace-wrap in PATH.
`,
	"list": `usage: ftrace-wrap list [-tests] [-json] [BUILD FLAGS] [PATTERNS]

List prints every function of the packages that PATTERNS match, ./... if there are
none. In columns: its name, as traces and FTRACE have it; how it is hooked; where
it is; and if it is not hooked, why.

	frame    hooked at the entry; while it is traced, a deferred call sees it leave
	inline   small enough for the compiler to inline, also with a hook at the entry
	         and one in front of each return
	skipped  not hooked

A package that FTRACE_PACKAGES does not select is listed as if it were, under a
heading that says so. With -tests, test files are listed too. With -json, each
package is a JSON object.

	$ ftrace-wrap list ./examples/hello
	$ FTRACE_PACKAGES=std ftrace-wrap list net/http | grep skipped
`,
	"show": `usage: ftrace-wrap show [-func NAME] [BUILD FLAGS] FILE|PKG

Show prints the source that is compiled in place of yours: of a package, every file
and the one that registers its functions; or of one file. It is formatted here; what
the compiler gets has your lines and comments where you put them.

With -func, only the functions called NAME, and their entries in the table. NAME
is what list prints, or a part: "example.com/x.(*T).Get", "(*T).Get" or "Get".

	$ ftrace-wrap show -func main ./examples/hello
	$ ftrace-wrap show server.go
`,
	"sweep": `usage: ftrace-wrap sweep [FLAGS] [PACKAGES] [-- TEST FLAGS]

Sweep runs each test once for each function that it reaches and whose last result is
an error, with the first call of that function failing, and says which failures no
one handled:

	panic   the program panicked, or the runtime ended it; but not where the
	        code that panics is in a test file
	hang    the test did not end in ten times its time, and in 5 seconds; but not
	        where the test has failed and waits in its cleanup
	lost    the test passes all the same

A test that fails or is skipped is as it should be. One that is lost need not be
wrong: what was tried again, or may well fail, ends in the same way. Read those.

PACKAGES are patterns of the go command, the one in the current directory if there
are none. Functions are those of packages that FTRACE_PACKAGES selects, but not those
of test files. A test that fails without a failure is left out, and named.

	-time DURATION  end after that time, builds not included; each function fails
	                once before any fails twice, and tests are left out that
	                take more than a twentieth of it
	-report FILE    append a line of JSON there for each run; what is there
	                already is not run again while the test program is the same
	-run REGEXP     tests to run
	-func RULES     functions to fail, as FTRACE has them but without settings
	-always         let all calls of the function fail, not only the first
	-p N            N runs at a time; 1 by default, for tests may share a port

Other flags are those of go test -c, such as -race and -tags. TEST FLAGS are for the
test programs: -test.short, -update. An interrupt ends it as -time does.

The exit status is 1 if there was a panic or a hang, 2 for wrong usage and for tests
that can't be built, else 0.

	$ ftrace-wrap sweep -time 10m -report sweep.jsonl ./...
	$ ftrace-wrap sweep -run TestSave -func 'store.*;!*.Close' ./store
`,
	"version": `usage: ftrace-wrap version

Version prints the version of ftrace-wrap, the Go release that built it, and the Go
releases whose programs it can instrument.
`,
	"help": `usage: ftrace-wrap help [COMMAND]

Help says what a command does, or lists the commands.

	$ ftrace-wrap help run
`,
}

// helpVerb is "ftrace-wrap help [COMMAND]".
func helpVerb(args []string) (status int, err error) {
	if len(args) == 0 {
		stdout.WriteString(usage)
		return 0, nil
	}
	text, ok := helpTexts[args[0]]
	if !ok {
		return 1, fmt.Errorf("help: %s: there is no such command: ftrace-wrap help lists them", args[0])
	}
	stdout.WriteString(text)
	return 0, nil
}

// wantsHelp reports whether a command's arguments ask what it does.
func wantsHelp(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch args[0] {
	case "-h", "-help", "--help":
		return true
	}
	return false
}
