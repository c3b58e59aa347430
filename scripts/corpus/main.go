// Command corpus runs the tests of Go modules three ways and prints the tests that differ:
//
//	plain  go test -json
//	off    go test -json -toolexec=ftrace-wrap, no run-time FTRACE variable set
//	armed  the same binaries with FTRACE='*=args,first=200' and FTRACE_OUT to a file
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/corpus [options] DIR...
//
// Each DIR is the checkout of a module; only that module is tested, not modules nested in it
// (GOWORK is off unless the environment sets it). Compared are the final actions (pass, fail, skip)
// of every package, test, subtest and example, packages that do not build, and tests that one of
// the ways did not run or finish. What a difference explains is not listed again: a parent or
// package that fails only because a test of it does, the tests of a package that does not build.
// Addresses and times in the names of subtests do not make them different.
//
// What is tested:
//
//	-n PATTERN         packages to test, repeatable (default ./...); names within the module
//	-run, -skip RE     passed to go test, as are -short and -timeout; -count=1 always
//	-goflags FLAGS     more flags for go test and go build, space-separated, such as '-race -p=1'
//	-program 'CMD ARGS'  repeatable: build CMD plainly and wrapped, run it three ways in DIR, compare
//	                   standard output and exit code byte by byte. CMD is a package folder within DIR or a
//	                   .go file (within DIR or the current directory; built inside DIR's module). ARGS may
//	                   be quoted as in a shell; $TMP in ARGS is a folder that is empty before each run.
//	-notest            run the programs only
//
// How it is wrapped:
//
//	-wrap PATH         the ftrace-wrap binary (default: built from cmd/ftrace-wrap of this repository)
//	-packages PATTERN  set FTRACE_PACKAGES (default: unset, which instruments the main module)
//	-all               set FTRACE_PACKAGES=all
//	-nested            pass -toolexec in GOFLAGS, so that go commands run by tests use it too
//	-first N           print the first N calls of each function (default 200; 0: no limit of ours)
//	-rule RULE         the whole value of FTRACE instead
//
// What is reported:
//
//	-repeat-flaky      re-run the tests that differ 3 times plainly; those which do not always give the
//	                   first plain outcome are reported as "flaky plain", not as differences; the others
//	                   are re-run 3 times their own way, to show how often they differ
//	-md                print a Markdown table, one row per module, after the differences
//	-v                 print the output of the tests that differ
//	-keep DIR          keep the JSON streams, standard errors and program outputs in DIR/MODULE/
//
// FTRACE* variables of the environment but FTRACE_GO are not passed on; all others are
// (TEST_FREELIST_TYPE=array, PATH). Wall times include building; "in tests" is the sum of the
// packages' own times. Trace files are counted and removed. Exit status: 0 no differences, 1
// differences, 2 a module could not be tested (go run turns both into 1).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// listFlag is a repeatable string flag.
type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

type options struct {
	patterns, programs             listFlag
	run, skip, timeout, goflags    string
	short, notest                  bool
	wrap, packages, rule           string
	all, nested                    bool
	first                          int
	repeatFlaky, markdown, verbose bool
	keep                           string
	dirs                           []string
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := new(options)
	fs := flag.NewFlagSet("corpus", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: corpus [options] DIR...")
		fs.PrintDefaults()
	}
	fs.Var(&o.patterns, "n", "`pattern` of packages to test, repeatable (default ./...)")
	fs.Var(&o.programs, "program", "`'CMD ARGS'` to build and run three ways, repeatable")
	fs.StringVar(&o.run, "run", "", "run only tests matching `regexp`")
	fs.StringVar(&o.skip, "skip", "", "skip tests matching `regexp`")
	fs.StringVar(&o.timeout, "timeout", "", "`duration` that a test binary or program may take (default 10m)")
	fs.StringVar(&o.goflags, "goflags", "", "more `flags` for go test and go build")
	fs.BoolVar(&o.short, "short", false, "pass -short to go test")
	fs.BoolVar(&o.notest, "notest", false, "run the programs only")
	fs.StringVar(&o.wrap, "wrap", "", "`path` of ftrace-wrap (default: build it)")
	fs.StringVar(&o.packages, "packages", "", "value of FTRACE_PACKAGES, a `pattern`")
	fs.BoolVar(&o.all, "all", false, "set FTRACE_PACKAGES=all")
	fs.BoolVar(&o.nested, "nested", false, "pass -toolexec in GOFLAGS, for go commands that tests run")
	fs.IntVar(&o.first, "first", 200, "print the first `N` calls of each function, 0 for no limit of ours")
	fs.StringVar(&o.rule, "rule", "", "value of FTRACE when armed, instead of '*=args,first=N'")
	fs.BoolVar(&o.repeatFlaky, "repeat-flaky", false, "re-run what differs, to tell flaky tests")
	fs.BoolVar(&o.markdown, "md", false, "print a Markdown table, one row per module")
	fs.BoolVar(&o.verbose, "v", false, "print the output of tests that differ")
	fs.StringVar(&o.keep, "keep", "", "keep streams and outputs in `dir`")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	o.dirs = fs.Args()
	return o, o.check()
}

func (o *options) check() error {
	switch {
	case len(o.dirs) == 0:
		return fmt.Errorf("no directory given")
	case o.all && o.packages != "":
		return fmt.Errorf("-all and -packages exclude each other")
	case o.notest && len(o.programs) == 0:
		return fmt.Errorf("-notest leaves nothing to do without -program")
	case strings.Contains(os.Getenv("GOFLAGS"), "-toolexec"):
		return fmt.Errorf("GOFLAGS sets -toolexec: the plain run would not be plain")
	}
	if o.timeout != "" {
		if _, err := time.ParseDuration(o.timeout); err != nil {
			return fmt.Errorf("-timeout: %v", err)
		}
	}
	if o.all {
		o.packages = "all"
	}
	if len(o.patterns) == 0 {
		o.patterns = listFlag{"./..."}
	}
	if o.rule == "" {
		o.rule = "*=args"
		if o.first > 0 {
			o.rule = fmt.Sprintf("*=args,first=%d", o.first)
		}
	}
	return nil
}

// limit is the time that one program may take.
func (o *options) limit() time.Duration {
	if d, err := time.ParseDuration(o.timeout); err == nil && d > 0 {
		return d
	}
	return 10 * time.Minute
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseFlags(args, stderr)
	if err == flag.ErrHelp {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "corpus:", err)
		return 2
	}
	scratch, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		fmt.Fprintln(stderr, "corpus:", err)
		return 2
	}
	defer os.RemoveAll(scratch)
	if o.wrap, err = wrapper(ctx, o.wrap, scratch); err != nil {
		fmt.Fprintln(stderr, "corpus:", err)
		return 2
	}
	code := 0
	var reports []*report
	for _, dir := range o.dirs {
		r, err := testModule(ctx, o, dir, scratch, stderr)
		if err != nil {
			fmt.Fprintf(stderr, "corpus: %s: %v\n", dir, err)
			code = 2
			continue
		}
		r.print(stdout, o.verbose)
		reports = append(reports, r)
		if r.different() {
			code = max(code, 1)
		}
	}
	if o.markdown && len(reports) > 0 {
		printTable(stdout, reports)
	}
	return code
}

// wrapper returns the absolute path of the ftrace-wrap binary, which it builds if none was named.
func wrapper(ctx context.Context, path, scratch string) (string, error) {
	if path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("-wrap: %v", err)
		}
		return filepath.Abs(path)
	}
	root, err := repository()
	if err != nil {
		return "", err
	}
	path = filepath.Join(scratch, "ftrace-wrap")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/ftrace-wrap")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building ftrace-wrap: %v\n%s", err, out)
	}
	return path, nil
}

// repository finds the root of the repository that this program was built from.
func repository() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if _, err := os.Stat(filepath.Join(root, "cmd", "ftrace-wrap")); !ok || err != nil {
		return "", fmt.Errorf("cannot find cmd/ftrace-wrap (looked in %s): use -wrap", root)
	}
	return root, nil
}
