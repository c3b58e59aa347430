package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestScript runs testdata/script/*.txtar, each a module of its own. Beyond testscript's commands
// they have
//
//	same go VERB [ARGS...]
//
// which runs the go command plainly, with the wrapper, and with the wrapper and everything traced
// and woven to a file, and compares exit status and output. Running times are not compared. "!
// same" wants the command to fail, in the same way each time. The output can then be looked at with
// stdout and stderr, the trace in $WORK/same.trace.
//
// The condition [all] reports whether all tests are to run; a script that takes long is skipped
// without. [cgo] reports whether there is a C compiler, [race] whether the race detector is to be
// used, [for_linux], [for_windows] and [for_macos] for which system programs are built, [setuid]
// whether this is root and a program in the temporary directory can be setuid. $TOOLEXEC is the
// flag that puts the wrapper, which is in PATH, into a go command, $ROOT the root of this module,
// $REPLACED the selection of scripts that replace functions of the standard library: one, because
// each compiles the library anew. go test does not vet, because it would vet the library anew too;
// script variants has it do so. Compiled packages go to the user's build cache and the wrapper's
// own store, where they are when FTRACE_CACHE is not set, so that after a change of ftrace-wrap
// only what the change concerns is compiled anew.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	testenv.NeedTarget(t)
	goenv := goEnv(t, "GOCACHE", "GOMODCACHE", "GOPATH")
	native := testenv.Target() == nil
	cgo := native && hasCgo(t) || os.Getenv("TEST_CC") != ""
	root, bin := testenv.Root(t), testenv.Build(t, "ftrace-wrap", "ftrace")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"same": same},
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "all":
				return testenv.All(), nil
			case "cgo":
				return cgo, nil
			case "race":
				return native && cgo && testenv.Race(), nil
			case "root":
				return os.Geteuid() == 0, nil
			case "for_linux":
				return testenv.ForLinux(), nil
			case "for_windows":
				return testenv.ForWindows(), nil
			case "for_macos":
				return testenv.ForMacOS(), nil
			case "setuid":
				return canSetuid(t), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Vars = append(env.Vars, goenv...)
			env.Vars = append(env.Vars, testenv.Target()...)
			env.Vars = append(env.Vars,
				"HOME="+os.Getenv("HOME"),
				"GOENV=off", "GOFLAGS=-vet=off -ldflags=-w", "GOWORK=", "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GO111MODULE=",
				"FTRACE_PACKAGES=", "FTRACE_INLINE=", "FTRACE_CACHE=", "FTRACE_GO="+os.Getenv("FTRACE_GO"), "CI="+os.Getenv("CI"),
				"FTRACE_WEAVE=off", // what scripts print is in their traces only where that is what they are about
				"TOOLEXEC=-toolexec=ftrace-wrap",
				"ROOT="+root,
				"REPLACED=main,math,math/rand,math/rand/v2,net,net/http,os,strings,sync,time",
			)
			return nil
		},
	})
}

// goEnv returns settings of the go command that runs the test, as NAME=VALUE.
func goEnv(t *testing.T, names ...string) []string {
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(strings.TrimRight(string(out), "\r\n"), "\n")
	for i, name := range names {
		names[i] = name + "=" + strings.TrimRight(values[i], "\r")
	}
	return names
}

// hasCgo reports whether packages that use cgo can be built; -race needs that too.
func hasCgo(t *testing.T) bool {
	settings := goEnv(t, "CGO_ENABLED", "CC")
	fields := strings.Fields(strings.TrimPrefix(settings[1], "CC="))
	if settings[0] != "CGO_ENABLED=1" || len(fields) == 0 {
		return false
	}
	_, err := exec.LookPath(fields[0])
	return err == nil
}

// canSetuid reports whether a copy of a program with root's setuid bit, run by another user, runs
// as root. It does not in a file system mounted nosuid, nor where no process may gain privileges.
func canSetuid(t *testing.T) bool {
	id, err := exec.LookPath("id")
	if err != nil || os.Geteuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "ftrace-wrap-setuid-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program, err := os.ReadFile(id)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "id")
	if err := os.WriteFile(name, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{dir, name} {
		if err := os.Chmod(file, 0o755|os.ModeSetuid); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups", name, "-u").Output()
	return err == nil && string(out) == "0\n"
}

// same is the scripts' command of that name.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || args[0] != "go" {
		ts.Fatalf("usage: same go VERB [ARGS...]")
	}
	plain := outcome(ts, neg, args)
	wrapped := append([]string{"go", args[1], ts.Getenv("TOOLEXEC")}, args[2:]...)
	if got := outcome(ts, neg, wrapped); got != plain {
		ts.Fatalf("with the wrapper:\n%s\nplainly:\n%s", got, plain)
	}
	ts.Setenv("FTRACE", "1")
	ts.Setenv("FTRACE_OUT", filepath.Join(ts.Getenv("WORK"), "same.trace"))
	ts.Setenv("FTRACE_WEAVE", "")
	if got := outcome(ts, neg, wrapped); got != plain {
		ts.Fatalf("with everything traced:\n%s\nplainly:\n%s", got, plain)
	}
	ts.Setenv("FTRACE", "")
	ts.Setenv("FTRACE_OUT", "")
	ts.Setenv("FTRACE_WEAVE", "off")
}

var runningTime = regexp.MustCompile(`\b[0-9]+\.[0-9]+s\b|\(cached\)`)

// outcome runs a command and returns what it did.
func outcome(ts *testscript.TestScript, neg bool, args []string) string {
	err := ts.Exec(args[0], args[1:]...)
	if (err != nil) != neg {
		ts.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	status := "exit status 0"
	if err != nil {
		status = err.Error()
	}
	out := ts.ReadFile("stdout") + "--- stderr\n" + ts.ReadFile("stderr") + "--- " + status + "\n"
	return runningTime.ReplaceAllString(out, "TIME")
}

// TestPrograms: where tests are the gate, what scripts are skipped without is there.
func TestPrograms(t *testing.T) { testenv.Programs(t, filepath.Join("testdata", "script")) }
