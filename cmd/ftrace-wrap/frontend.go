package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// The front end of go commands: it saves the user the -toolexec flag, and for run and test the environment variable too.

// toolexecVerbs are the verbs of the go command that compile, so that -toolexec makes sense.
var toolexecVerbs = []string{"build", "fix", "install", "list", "run", "test", "vet"}

// goCommand is "ftrace-wrap go VERB ARGS": the go command with us as -toolexec.
func goCommand(args []string) int {
	if len(args) > 0 && slices.Contains(toolexecVerbs, args[0]) {
		flag, err := toolexecFlag(args[0], args[1:])
		if err != nil {
			return fail(err)
		}
		if args[0] == "test" {
			selectTargets(args[1:])
		}
		args = insertFlags(args, flag)
		announceFirst()
	}
	return execGo(args)
}

// testCommand is "ftrace-wrap test ARGS": go test with tracing on.
func testCommand(args []string) int {
	flag, err := toolexecFlag("test", args)
	if err != nil {
		return fail(err)
	}
	flags := []string{flag}
	if os.Getenv("FTRACE_OUT") == "" && !slices.ContainsFunc(args, isVerbose) {
		flags = append(flags, "-v") // go test drops what a passing test prints to stderr otherwise
	}
	if added := selectTargets(args); len(added) > 0 && os.Getenv("FTRACE") == "" {
		os.Setenv("FTRACE", "1;!pkg:"+strings.Join(added, ";!pkg:")) // to replace a function is not to ask for its package's calls
	}
	if err := traceOn(); err != nil {
		return fail(err)
	}
	announceFirst()
	return execGo(insertFlags(append([]string{"test"}, args...), flags...))
}

// isVerbose recognises the flags that settle how much go test shows.
func isVerbose(arg string) bool {
	name, _, _ := flagName(arg)
	return name == "v" || name == "test.v" || name == "json"
}

// traceOn arms the program that is started next, unless the user has said what to trace. Where the trace goes is relative to the
// directory that the user is in: go test runs each test in its package's.
func traceOn() error {
	if os.Getenv("FTRACE") == "" {
		os.Setenv("FTRACE", "1")
	}
	switch out := os.Getenv("FTRACE_OUT"); out {
	case "", "stdout", "stderr":
		return nil
	default:
		path, err := filepath.Abs(out)
		if err != nil {
			return fmt.Errorf("FTRACE_OUT: %s: %v: give an absolute path", out, err)
		}
		return os.Setenv("FTRACE_OUT", path)
	}
}

// announceFirst says on a terminal why the first build takes long. (The go command shows nothing of what its tools print when they are asked for their
// version, and repeats with each build what they print when they compile, so with a plain -toolexec it can't be said.)
func announceFirst() {
	info, err := os.Stderr.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	objects, err := openStore()
	if err == nil && objects != nil && objects.First(inject.Hash()) {
		fmt.Fprintln(stderr, "ftrace-wrap: the first build compiles the standard library with the tracer in it; this happens once")
	}
}

// execGo becomes the go command, so that signals and the exit status are its own.
func execGo(args []string) int {
	path, err := goPath()
	if err != nil {
		return fail(err)
	}
	return execTool(path, args)
}

func goPath() (string, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("looking for the go command: %v: install Go from https://go.dev/dl or add its bin directory to PATH", err)
	}
	return path, nil
}

// toolexecFlag returns the flag that puts this program into a go command with the given arguments. One of the user's is an error: the
// go command takes only one.
func toolexecFlag(verb string, args []string) (string, error) {
	if verb == "run" {
		args, _ = splitFlags(args) // the program may have a flag of that name
	}
	for _, arg := range args {
		name, _, _ := flagName(arg)
		if arg == "--" || name == "args" {
			break
		}
		if name == "toolexec" {
			return "", fmt.Errorf("go %s: %s: the go command takes one -toolexec, and ftrace-wrap gives it itself: leave it out, or run plain go %s -toolexec=ftrace-wrap",
				verb, arg, verb)
		}
	}
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		name, value, _ := flagName(strings.Trim(flag, `'"`))
		if name == "toolexec" && strings.TrimSuffix(filepath.Base(value), ".exe") != "ftrace-wrap" {
			return "", fmt.Errorf("go %s: GOFLAGS has %s: the go command takes one -toolexec, and ftrace-wrap gives it itself: take it out of GOFLAGS", verb, flag)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("go %s: finding the file of ftrace-wrap: %v: run plain go %s -toolexec=ftrace-wrap", verb, err, verb)
	}
	quoted, err := quoteField(self)
	if err != nil {
		return "", fmt.Errorf("go %s: %v", verb, err)
	}
	return "-toolexec=" + quoted, nil
}

// quoteField quotes a file's name for cmd/internal/quoted.Split, which has no escapes.
func quoteField(name string) (string, error) {
	switch {
	case !strings.ContainsAny(name, " \t\r\n"):
		return name, nil
	case !strings.Contains(name, "'"):
		return "'" + name + "'", nil
	case !strings.Contains(name, `"`):
		return `"` + name + `"`, nil
	}
	return "", errors.New("-toolexec can't name " + name + ": it has spaces and both kinds of quotes: install ftrace-wrap in another directory")
}

// insertFlags puts flags behind the verb in args, and behind -C, which must come first.
func insertFlags(args []string, flags ...string) []string {
	at := 1
	if len(args) > 1 {
		switch name, _, inline := flagName(args[1]); {
		case name == "C" && inline:
			at = 2
		case name == "C":
			at = min(3, len(args))
		}
	}
	return slices.Insert(slices.Clone(args), at, flags...)
}

// flagName takes "-name=value" apart; name is "" for what is not a flag.
func flagName(arg string) (name, value string, inline bool) {
	rest, ok := strings.CutPrefix(arg, "-")
	if !ok {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(rest, "-"), "=")
}

// valueFlags are the build flags whose value may be the next argument.
var valueFlags = []string{
	"C", "asmflags", "buildmode", "compiler", "covermode", "coverpkg", "debug-actiongraph", "debug-runtime-trace", "debug-trace", "exec",
	"gccgoflags", "gcflags", "installsuffix", "ldflags", "mod", "modfile", "o", "overlay", "p", "pgo", "pkgdir", "tags", "toolexec",
}

// splitFlags splits the build flags off that come first.
func splitFlags(args []string) (flags, rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, inline := flagName(args[i])
		switch {
		case args[i] == "--":
			return args[:i], args[i+1:]
		case name == "":
			return args[:i], args[i:]
		case !inline && slices.Contains(valueFlags, name):
			i++
		}
	}
	return args, nil
}
