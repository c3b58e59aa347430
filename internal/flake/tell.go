package flake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/paths"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// tell writes what came of the runs, and where the one that failed differs from those that passed.
// It reports whether a run failed.
func (f *flaker) tell(stdout, stderr io.Writer) (failed bool, err error) {
	fmt.Fprintf(stdout, "%d runs: %d passed, %d failed\n", f.passed+f.failed, f.passed, f.failed)
	if f.bad == nil {
		f.advise(stdout)
		return false, os.RemoveAll(f.Dir)
	}
	fmt.Fprintf(stdout, "\nRun %d failed:\n", f.bad.n)
	for line := range strings.Lines(string(excerpt(f.bad.output))) {
		fmt.Fprint(stdout, "  ", strings.TrimRight(line, "\n"), "\n")
	}
	fmt.Fprintf(stdout, "\nThe same again, in %s:\n  %s\n", paths.Short(f.in), f.again())
	if f.bad.busy {
		fmt.Fprintf(stdout, "while %d others, such as yes >/dev/null, keep the processors busy.\n", spinners())
	}
	var names []string
	for i, g := range f.good {
		name := fmt.Sprintf("good%d", i+1)
		names = append(names, name)
		if err := os.Rename(g.recording, filepath.Join(f.Dir, name)); err != nil {
			return true, fmt.Errorf("naming a recording: %v", err)
		}
	}
	if err := os.Rename(f.bad.recording, filepath.Join(f.Dir, "bad")); err != nil {
		return true, fmt.Errorf("naming a recording: %v: was the program built with hooks?", err)
	}
	if len(f.good) == 0 {
		fmt.Fprintf(stdout, "\nNo run passed: there is nothing to compare with. The recording of run %d is %s.\n", f.bad.n, paths.Short(filepath.Join(f.Dir, "bad")))
		return true, nil
	}
	args := append([]string{"diff", "-n", "10"}, append(names, "bad")...)
	fmt.Fprintf(stdout, "\nWhere it parts from %d runs that passed, in %s: ftrace %s\n\n", len(names), paths.Short(f.Dir), strings.Join(args, " "))
	command, err := ftrace()
	if err != nil {
		return true, err
	}
	cmd := exec.Command(command, args...)
	cmd.Dir = f.Dir
	cmd.Stdout, cmd.Stderr = stdout, stderr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case err == nil:
		fmt.Fprintln(stdout, "\nNo call differs that is the same in all runs that passed: record more of them, such as with FTRACE_PACKAGES, or read the output.")
	case !errors.As(err, &exit) || exit.ExitCode() != 1:
		return true, fmt.Errorf("%s diff: %v", command, err)
	}
	return true, nil
}

// advise says how more of the time goes into a test that is much shorter than the run of it, if it
// never failed.
func (f *flaker) advise(w io.Writer) {
	mean := f.spent / time.Duration(max(1, f.passed))
	if mean < 50*time.Millisecond && !slices.ContainsFunc(f.Args, func(arg string) bool { return strings.Contains(arg, "test.count") }) {
		fmt.Fprintf(w, "A run took %v. A test that is that short fails sooner if each run repeats it: -- -test.count=50\n", mean.Round(time.Millisecond))
	}
}

// again returns the command that runs the tests as they failed.
func (f *flaker) again() string {
	words := f.bad.env()
	if f.bad.seed > 0 { // calls are shaken that are armed
		words = append(words, "FTRACE_RECORD=again")
		if f.Funcs != "" {
			words = append(words, "FTRACE="+quote(f.Funcs))
		}
	}
	words = append(words, paths.Short(f.program))
	for _, arg := range f.args() {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// ftrace returns the command that compares: the one beside this, or the one in PATH.
func ftrace() (string, error) {
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), "ftrace")); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath("ftrace")
	if err != nil {
		return "", fmt.Errorf("the command ftrace compares recordings: install it beside ftrace-wrap, and run what is above: %v", err)
	}
	return path, nil
}

// excerpt returns what of a program's output says why it failed, in whole lines: the first report
// of a data race, if there is one, and the end.
func excerpt(output []byte) []byte {
	const most, end = 40, 5
	lines := bytes.SplitAfter(output, []byte("\n"))
	first := slices.IndexFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte("WARNING: DATA RACE")) })
	if first < 0 {
		return bytes.Join(lines[max(0, len(lines)-most):], nil)
	}
	after := first + 1
	for after < len(lines) && after-first < most && !bytes.HasPrefix(lines[after], []byte("=======")) {
		after++
	}
	rest := max(after, len(lines)-end)
	shown := slices.Clone(lines[first:after])
	if rest > after {
		shown = append(shown, []byte("...\n"))
	}
	return bytes.Join(append(shown, lines[rest:]...), nil)
}

// plain matches what a shell takes as it is.
var plain = words.Regexp(`^[\w@%+=:,./-]+$`)

// quote returns a word as a shell reads it.
func quote(word string) string {
	if plain().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
