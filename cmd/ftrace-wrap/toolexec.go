package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A transform is what is done to a tool of the go command.
type transform struct {
	run     func(tool string, args []string) int
	version func(tool, line string) (string, error) // what it answers to -V=full, where the tool itself answers line
}

// transforms has what is done, by the tool's name. A tool that is not here runs as if we were not.
var transforms = map[string]transform{
	"compile": {compile, compilerVersion},
	"asm":     {assemble, assemblerVersion},
}

// toolexec runs one tool of the go command, and returns its exit status. Nothing is printed but what the tool prints: the go
// command repeats the output of a step whenever it takes the step's result from its cache.
func toolexec(tool string, args []string) int {
	name := strings.TrimSuffix(filepath.Base(tool), ".exe")
	transform, ok := transforms[name]
	if !ok {
		return execTool(tool, args)
	}
	if len(args) == 1 && args[0] == "-V=full" {
		return toolVersion(tool, transform)
	}
	return transform.run(tool, args)
}

// runTool runs a tool with our standard files and returns its exit status.
func runTool(tool string, args []string) int {
	cmd := exec.Command(tool, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return exitStatus(cmd.Run())
}

// exitStatus returns the status that err, of exec.Cmd.Run, stands for. A command that could not be run is reported.
func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	}
	return fail(err)
}

// goroot returns the root of the Go tree that a tool is part of: GOROOT/pkg/tool/GOOS_GOARCH/compile.
func goroot(tool string) string {
	if root := os.Getenv("GOROOT"); root != "" {
		return root
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(tool))))
}
