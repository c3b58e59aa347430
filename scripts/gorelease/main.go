// Command gorelease tries a Go release that ftrace-wrap does not know, and shows what there is to
// do for it.
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/gorelease [-against TOOLCHAIN] [-std PACKAGES] [-keep DIR] TOOLCHAIN
//
// TOOLCHAIN is a value of GOTOOLCHAIN, such as go1.28rc1, or a directory with a Go tree that is
// built. First each change to Go's sources is tried, for all targets. Of one that does not fit
// gorelease shows the place in the release of -against, a known one (default: local), and what is
// most like it in the new one. If all fit, gorelease checks the core within the new packages, tries
// what ftrace-wrap doctor does, runs .ci/release, and compares tests of the standard library. It
// ends with a table. What steps print is in files in the directory of -keep.
//
// The exit status is 0 if there is nothing to do, and 1 if there is.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	against := flag.String("against", "local", "a known release, as a `TOOLCHAIN`")
	std := flag.String("std", "bytes,encoding/json,errors,io,log/slog,os,sort,strings,sync,time", "`packages` of the standard library whose tests are compared")
	keep := flag.String("keep", "", "the `directory` for what steps print (default: a temporary one)")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "gorelease: name one toolchain, such as go1.28rc1")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := try(ctx, os.Stdout, flag.Arg(0), *against, strings.Split(*std, ","), *keep)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gorelease:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// A toolchain is a Go release that can be run.
type toolchain struct {
	name          string   // what says it: a value of GOTOOLCHAIN, or a directory
	env           []string // makes the go command that of the release
	goFile        string   // the go command: that of the directory, or the one in PATH, which becomes it
	root, version string
}

// find returns the toolchain of a name.
func find(ctx context.Context, name string) (toolchain, error) {
	t := toolchain{name: name, env: []string{"GOTOOLCHAIN=" + name}, goFile: "go"}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		dir, err := filepath.Abs(name)
		if err != nil {
			return t, err
		}
		bin := filepath.Join(dir, "bin")
		t.env = []string{"GOTOOLCHAIN=local", "GOROOT=" + dir, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
		t.goFile = filepath.Join(bin, "go")
	}
	out, err := t.output(ctx, nil, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return t, err
	}
	t.root, t.version, _ = strings.Cut(strings.TrimSpace(out), "\n")
	return t, nil
}

// output runs the go command with more of an environment, and returns what it prints on stdout.
func (t toolchain) output(ctx context.Context, env []string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, t.goFile, args...)
	c.Env = append(append(os.Environ(), t.env...), env...)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %v: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}

// A step is a row of the table.
type step struct {
	name, result string
	took         time.Duration
	log          string // a file
}

// try tries a release, and reports whether there is nothing to do for it.
func try(ctx context.Context, w io.Writer, name, against string, std []string, keep string) (bool, error) {
	known, err := find(ctx, against)
	if err != nil {
		return false, err
	}
	t, err := find(ctx, name)
	if err != nil {
		return false, err
	}
	if keep == "" {
		if keep, err = os.MkdirTemp("", "gorelease-"); err != nil {
			return false, err
		}
	} else if err := os.MkdirAll(keep, 0o777); err != nil {
		return false, err
	}
	fmt.Fprintf(w, "%s, against %s\n", t.version, known.version)
	began := time.Now()
	moved, err := misfits(ctx, t, known)
	if err != nil {
		return false, err
	}
	for _, m := range moved {
		m.write(w)
	}
	steps := []step{{"changes to Go's sources", "fit", time.Since(began), ""}}
	ok := len(moved) == 0
	if !ok {
		steps[0].result = fmt.Sprintf("%d do not fit", len(moved))
	} else {
		more, err := t.runSteps(ctx, w, std, keep)
		if err != nil {
			return false, err
		}
		steps = append(steps, more...)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range steps {
		ok = ok && (s.result == "fit" || s.result == "passes")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.name, s.result, s.took.Round(time.Second), s.log)
	}
	return ok, errors.Join(table.Flush(), ctx.Err())
}

// runSteps runs what needs a core that can be built.
func (t toolchain) runSteps(ctx context.Context, w io.Writer, std []string, keep string) ([]step, error) {
	bin, err := os.MkdirTemp("", "gorelease-bin-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bin)
	if _, err := t.output(ctx, nil, "build", "-o", bin, "./cmd/..."); err != nil {
		return nil, err
	}
	wrapper := filepath.Join(bin, "ftrace-wrap")
	checked := t.name
	if t.goFile != "go" {
		checked = "local"
	}
	compare := []string{t.goFile, "run", "./scripts/corpus", "-wrap", wrapper, "-packages", "std", "-short", "-first", "50", "-repeat-flaky"}
	for _, p := range std {
		compare = append(compare, "-n", p)
	}
	compare = append(compare, filepath.Join(t.root, "src"))
	var steps []step
	for _, s := range []struct {
		name string
		args []string
	}{
		{"the core in the packages", []string{t.goFile, "run", "./scripts/corecheck", "-vet", checked}},
		{"doctor", []string{wrapper, "doctor"}},
		{"tests of this repository", []string{".ci/release"}},
		{"tests of the standard library", compare},
	} {
		log := filepath.Join(keep, strings.ReplaceAll(s.name, " ", "-")+".txt")
		began := time.Now()
		fmt.Fprintf(w, "%s ...\n", s.name)
		result, err := t.run(ctx, log, s.args)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{s.name, result, time.Since(began), log})
	}
	return steps, nil
}

// run runs a command, which prints to a file, and returns what came of it.
func (t toolchain) run(ctx context.Context, log string, args []string) (result string, err error) {
	f, err := os.Create(log)
	if err != nil {
		return "", err
	}
	defer f.Close()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(append(os.Environ(), t.env...), "FTRACE_GO=allow", "ALL_TESTS=norace")
	c.Stdout, c.Stderr = f, f
	switch err := c.Run(); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "FAILS: " + err.Error(), nil
	}
	return "passes", nil
}
