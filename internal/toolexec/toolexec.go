// Package toolexec is what the go command runs in place of each tool of a build:
//
//	go build -toolexec=ftrace-wrap  ->  ftrace-wrap /path/to/compile ARGS
//
// In comes the path of a tool and its arguments; out comes what the tool makes, and its exit
// status. The compiler (compile.go) is given rewritten copies of a package's files, and the
// assembler (asm.go) one function more. Every other tool runs as it is. The answers to -V=full
// (buildid.go) carry our key, so that the go command keeps what we make apart. Objects that were
// made before come from a store (objects.go), by a hash of all that the compiler reads (inputs.go).
//
// Command ftrace-wrap calls it. It runs once for each step of a build, so it must start in a few
// milliseconds, and print nothing but what the tool prints: the go command repeats that whenever
// it takes the step's result from its cache.
package toolexec

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A transform is what is done to a tool of the go command.
type transform struct {
	run     func(tool string, args []string) (status int, err error)
	version func(tool, line string) (string, error) // what it answers to -V=full, where the tool itself answers line
}

// transforms has what is done, by the tool's name. A tool that is not here runs as if we were not.
var transforms = map[string]transform{
	"compile": {compile, compilerVersion},
	"asm":     {assemble, assemblerVersion},
}

// Run runs one tool of the go command, and returns its exit status.
func Run(tool string, args []string) (status int, err error) {
	name := strings.TrimSuffix(filepath.Base(tool), ".exe")
	transform, ok := transforms[name]
	if !ok {
		return Exec(tool, args)
	}
	if len(args) == 1 && args[0] == "-V=full" {
		return toolVersion(tool, transform)
	}
	return transform.run(tool, args)
}

// runTool runs a tool with our standard files and returns its exit status.
func runTool(tool string, args []string) (status int, err error) {
	cmd := exec.Command(tool, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return ExitStatus(cmd.Run())
}

// ExitStatus returns the exit status that the error of exec.Cmd.Run tells of. It returns the error
// if the command could not be run.
func ExitStatus(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

// goroot returns the root of the Go tree that a tool is part of:
// GOROOT/pkg/tool/GOOS_GOARCH/compile.
func goroot(tool string) string {
	if root := os.Getenv("GOROOT"); root != "" {
		return root
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(tool))))
}
