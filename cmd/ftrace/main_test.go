package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be ftrace, under which name testscript puts it on the scripts'
// PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ftrace": main, "look": look, "receive": receive, "jaeger": jaeger, "spans": spans, "logs": logs, "metrics": metrics})
}

// TestScript runs testdata/script/*.txtar, each a module of its own. $TOOLEXEC is the flag that
// puts ftrace-wrap into a go command, $ROOT the root of this module. The condition [all] reports
// whether all tests are to run; a script that takes long is skipped without. Beyond testscript's
// commands they have
//
//	sametrace A B
//
// which compares two traces, goroutine by goroutine, without the tracer's own lines.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	testenv.NeedTarget(t)
	toolexec, root := testenv.Toolexec(t, testenv.Build(t, "ftrace-wrap")), testenv.Root(t)
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Split(strings.TrimSpace(string(out)), "\n")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"sametrace": sameTrace},
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "all":
				return testenv.All(), nil
			case "root":
				return os.Geteuid() == 0, nil
			case "for_windows":
				return testenv.ForWindows(), nil
			case "for_macos":
				return testenv.ForMacOS(), nil
			case "namespaces":
				return exec.Command("unshare", "--map-root-user", "--mount", "--pid", "--fork", "true").Run() == nil, nil
			case "adminer":
				return haveAdminer() == nil, nil
			case "readers":
				return haveReaders() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, testenv.Target()...)
			env.Vars = append(env.Vars,
				"GOCACHE="+strings.TrimSpace(dirs[0]), "GOMODCACHE="+strings.TrimSpace(dirs[1]), "GOPATH="+strings.TrimSpace(dirs[2]),
				"HOME="+os.Getenv("HOME"),
				"GOENV=off", "GOFLAGS=", "GOWORK=", "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GO111MODULE=",
				"FTRACE_PACKAGES=", "FTRACE_INLINE=", "FTRACE_CACHE=", "FTRACE_GO="+os.Getenv("FTRACE_GO"), "FTRACE_FORMAT=", "NO_COLOR=1", "PAGER=",
				"TOOLEXEC="+toolexec, "ROOT="+root, "READERS="+os.Getenv("READERS"),
			)
			return nil
		},
	})
}

// TestPrograms: where tests are the gate, what scripts are skipped without is there.
func TestPrograms(t *testing.T) {
	testenv.Programs(t, filepath.Join("testdata", "script"))
	if err := errors.Join(haveAdminer(), haveReaders()); err != nil {
		t.Errorf("%v: .ci/run installs it", err)
	}
}

// haveReaders returns an error if there are no readers of exported formats, most of them from npm,
// in the directory that $READERS names, or nothing that they run in.
func haveReaders() (err error) {
	for _, name := range []string{"argent/assets/trace-processor", "node_modules/@paulirish/trace_engine", "node_modules/@duckdb/node-api", "speedscope/dist", "otelcol/otelcol", "jaeger/jaeger"} {
		_, missing := os.Stat(filepath.Join(os.Getenv("READERS"), name))
		err = errors.Join(err, missing)
	}
	for _, name := range []string{"node", "chromium"} {
		_, missing := exec.LookPath(name)
		err = errors.Join(err, missing)
	}
	return err
}

// haveAdminer returns an error if there is no Adminer, or nothing that runs and asks it.
func haveAdminer() error {
	_, err := os.Stat("/usr/share/adminer/adminer/index.php")
	for _, name := range []string{"php", "curl"} {
		_, missing := exec.LookPath(name)
		err = errors.Join(err, missing)
	}
	return err
}

// sameTrace is the scripts' command of that name.
func sameTrace(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sametrace A B")
	}
	a, b := byGoroutine(ts.ReadFile(args[0])), byGoroutine(ts.ReadFile(args[1]))
	if a == "" {
		ts.Fatalf("%s shows no calls", args[0])
	}
	diff := cmp.Diff(strings.Split(a, "\n"), strings.Split(b, "\n"))
	if (diff != "") != neg {
		ts.Fatalf("-%s +%s:\n%s", args[0], args[1], diff)
	}
}

var (
	goroutineLine = regexp.MustCompile(`^G(\d+) `)
	goroutineName = regexp.MustCompile(`^G\d+ *|from G\d+`)
)

// byGoroutine puts the lines of each goroutine of a trace together, in the order of their numbers,
// which it makes 1, 2 and so on.
func byGoroutine(trace string) string {
	traced := map[int][]string{}
	for line := range strings.Lines(trace) {
		if m := goroutineLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			traced[n] = append(traced[n], line)
		}
	}
	order := slices.Sorted(maps.Keys(traced))
	var b strings.Builder
	for _, n := range order {
		for _, line := range traced[n] {
			b.WriteString(goroutineName.ReplaceAllStringFunc(line, func(name string) string {
				from, number, _ := strings.Cut(name, "G")
				n, _ := strconv.Atoi(strings.TrimSpace(number))
				return fmt.Sprintf("%sG%-3d", from, slices.Index(order, n)+1)
			}))
		}
	}
	return b.String()
}
