package gocmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// SelectVersioned has the packages of modules get hooks that "go install PKG@VERSION" and "go run
// PKG@VERSION" build, unless FTRACE_PACKAGES is set. There is no main module then, so without it
// nothing would have hooks.
func SelectVersioned(args []string) error {
	if len(args) == 0 || args[0] != "install" && args[0] != "run" || os.Getenv("FTRACE_PACKAGES") != "" {
		return nil
	}
	_, rest := SplitFlags(args[1:])
	if args[0] == "run" {
		rest = rest[:min(1, len(rest))]
	}
	var patterns []string
	for _, arg := range rest {
		name, version, ok := strings.Cut(arg, "@")
		if !ok {
			continue
		}
		module, err := moduleOf(name, version)
		if err != nil {
			return err
		}
		if pattern := module + "/..."; !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	return errors.Join(os.Setenv("GOMOD", os.DevNull), os.Setenv("FTRACE_PACKAGES", strings.Join(patterns, ",")))
}

// moduleOf returns the path of the module that a package of this version is in: the longest that
// there is.
func moduleOf(pkg, version string) (module string, err error) {
	goCommand, err := Path()
	if err != nil {
		return "", err
	}
	var first string
	for module = strings.TrimSuffix(pkg, "/..."); strings.Contains(module, "/") || strings.Contains(module, "."); module = path.Dir(module) {
		cmd := exec.Command(goCommand, "list", "-m", module+"@"+version)
		cmd.Dir = os.TempDir() // outside of any module, as these commands are
		cmd.Env = append(cmd.Environ(), "GO111MODULE=on", "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		if err == nil {
			return module, nil
		}
		if first = cmp.Or(first, strings.TrimSpace(string(out))); !strings.Contains(module, "/") {
			break
		}
	}
	return "", fmt.Errorf("%s@%s: looking for its module, whose packages are to have hooks: %s: name them by FTRACE_PACKAGES", pkg, version, first)
}
