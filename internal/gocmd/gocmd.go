// Package gocmd knows the go command: where it is, what its flags are, and how ftrace-wrap is put
// into it.
//
// In come the arguments of a go command, as the user gave them; out come the same arguments with
// -toolexec (ToolexecFlag, InsertFlags), or what they say (SplitFlags, FlagName). The verbs of
// command ftrace-wrap that go commands are made of call it, and so do packages inspect, targets and
// sweep. It does not choose what is traced: it sets no variables of the environment.
package gocmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Exec becomes the go command, so that signals and the exit status are its own.
func Exec(args []string) (status int, err error) {
	path, err := Path()
	if err != nil {
		return 0, err
	}
	return toolexec.Exec(path, args)
}

// Path returns the go command's file.
func Path() (string, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("looking for the go command: %v: install Go from https://go.dev/dl or add its bin directory to PATH", err)
	}
	return path, nil
}

// Goroot returns the root of the go command's tree.
func Goroot(ctx context.Context) (string, error) {
	path, err := Path()
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %v: see what go env says", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// ToolexecFlag returns the flag that puts this program into a go command with the given arguments.
// One of the user's is an error: the go command takes only one.
func ToolexecFlag(verb string, args []string) (string, error) {
	if verb == "run" {
		args, _ = SplitFlags(args) // the program may have a flag of that name
	}
	for _, arg := range args {
		name, _, _ := FlagName(arg)
		if arg == "--" || name == "args" {
			break
		}
		if name == "toolexec" {
			return "", fmt.Errorf("%s: the go command takes one -toolexec, and ftrace-wrap gives it itself: leave it out, or run plain go %s -toolexec=ftrace-wrap",
				arg, verb)
		}
	}
	for _, flag := range words.GoFlags(os.Getenv("GOFLAGS")) {
		name, value, _ := FlagName(flag)
		if name == "toolexec" && strings.TrimSuffix(filepath.Base(value), ".exe") != "ftrace-wrap" {
			return "", fmt.Errorf("GOFLAGS has %s: the go command takes one -toolexec, and ftrace-wrap gives it itself: take it out of GOFLAGS", flag)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the file of ftrace-wrap: %v: run plain go %s -toolexec=ftrace-wrap", err, verb)
	}
	flag, err := words.Toolexec(self)
	if err != nil {
		return "", fmt.Errorf("-toolexec: %v: install ftrace-wrap in another directory", err)
	}
	return flag, nil
}
