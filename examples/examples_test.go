package examples

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write each example's trace to its expected.txt")

// TestTraces runs each example as it is, built with ftrace-wrap, and traced. It must print the same three times, and the trace must be that of
// expected.txt.
func TestTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	examples := []struct {
		name       string
		concurrent bool // the order of lines of different goroutines is chance
	}{
		{"hello", false},
		{"parser", false},
		{"workers", true},
		{"httpecho", true},
	}
	watch(t, ".")
	plain, wrapped := t.TempDir(), t.TempDir()
	toolexec := testenv.Toolexec(t, testenv.Build(t, "ftrace-wrap"))
	build(t, "-o", plain+string(filepath.Separator), "./...")
	build(t, "-o", wrapped+string(filepath.Separator), toolexec, "./...")

	t.Run("levels", func(t *testing.T) {
		t.Parallel()
		// It says itself what is traced, and logs in the trace's form: built plainly it logs the same lines without the place where they stand.
		want := run(t, filepath.Join(plain, "levels"))
		got := run(t, filepath.Join(wrapped, "levels"))
		if diff := cmp.Diff(want.Stdout, got.Stdout); diff != "" {
			t.Errorf("output when built with ftrace-wrap (-plain +wrapped):\n%s", diff)
		}
		compare(t, filepath.Join("levels", "expected.txt"), normalize(got.Stderr, false))
		unwoven := run(t, filepath.Join(wrapped, "levels"), "FTRACE_WEAVE=off")
		logged := place.ReplaceAllString(callLines.ReplaceAllString(unwoven.Stderr, ""), "- ")
		if diff := cmp.Diff(want.Stderr, logged); diff != "" {
			t.Errorf("lines logged when built with ftrace-wrap (-plain +wrapped):\n%s", diff)
		}
	})
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			want := run(t, filepath.Join(plain, example.name))
			off := run(t, filepath.Join(wrapped, example.name))
			if diff := cmp.Diff(want, off); diff != "" {
				t.Errorf("output when built with ftrace-wrap (-plain +wrapped):\n%s", diff)
			}
			on := run(t, filepath.Join(wrapped, example.name), "FTRACE=1")
			if diff := cmp.Diff(want.Stdout, on.Stdout); diff != "" {
				t.Errorf("output when traced (-plain +traced):\n%s", diff)
			}
			compare(t, filepath.Join(example.name, "expected.txt"), normalize(on.Stderr, example.concurrent))
		})
	}
}

var (
	callLines = regexp.MustCompile(`(?m)^G\d+ +[+}] .*\n`) // where calls begin and end
	place     = regexp.MustCompile(`(?m)^G\d+ +- `)        // what stands in front of lines that are logged
)

// compare compares a trace with what a file has, or writes it there.
func compare(t *testing.T, file, trace string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(trace), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	expected, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: go test ./examples -update writes it", err)
	}
	if diff := cmp.Diff(lines(string(expected)), lines(trace)); diff != "" {
		t.Errorf("trace (-%s +now; go test ./examples -update accepts it):\n%s", file, diff)
	}
}

// watch opens directories of what this test builds besides ftrace-wrap; see testenv.Build.
func watch(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// build runs go build, without the settings of a build or a trace that this test may itself be part of.
func build(t *testing.T, args ...string) {
	t.Helper()
	buildIn(t, ".", args...)
}

// buildIn is build in a directory.
func buildIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	// Without the stamp of version control a commit does not make another ftrace-wrap, for which everything would be compiled anew.
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(testenv.Environ(), "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

// printed is what a program prints.
type printed struct{ Stdout, Stderr string }

// run runs a program that is to succeed.
func run(t *testing.T, program string, env ...string) printed {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program+testenv.Exe())
	cmd.Env = append(testenv.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.String())
	}
	return printed{stdout.String(), stderr.String()}
}
