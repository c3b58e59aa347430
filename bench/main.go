// Bench measures what ftrace-wrap costs, as ratios against plain Go in the same run: machines are
// shared and noisy, so the ways are run in turn, several times, and medians taken. It prints the
// tables of docs/performance.md, and with -update writes them there.
//
//	go run ./bench -update             # everything
//	go run ./bench -only calls         # one part: calls, tracers, mocks, programs, budget, builds, frames, memory, logs, schema, probes or waits
//	go run ./bench -short              # a smoke run
//	go run ./bench -goawk DIR          # the programs with goawk, from a checkout
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

type options struct {
	short  bool
	only   string
	goawk  string
	rounds int
	wrap   string
	update bool
}

func main() {
	var opt options
	flag.BoolVar(&opt.short, "short", false, "one quick round, of one program and no builds")
	flag.StringVar(&opt.only, "only", "", "measure one part: calls, tracers, mocks, programs, budget, builds, frames, memory, logs, schema, probes or waits")
	flag.StringVar(&opt.goawk, "goawk", "", "a checkout of goawk, to be measured with the programs")
	flag.IntVar(&opt.rounds, "rounds", 5, "how often each way is run")
	flag.StringVar(&opt.wrap, "wrap", "", "the ftrace-wrap to measure; default: built from this module")
	flag.BoolVar(&opt.update, "update", false, "write the tables that are measured into docs/performance.md")
	flag.Parse()
	if opt.short {
		opt.rounds = 1
	}
	if err := run(opt); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(opt options) error {
	dir, err := os.MkdirTemp("", "ftrace-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if opt.wrap == "" {
		opt.wrap = filepath.Join(dir, "ftrace-wrap")
		if err := command("", nil, "go", "build", "-o", opt.wrap, "github.com/ftrace-wrap/ftrace-wrap/cmd/ftrace-wrap").Run(); err != nil {
			return fmt.Errorf("building ftrace-wrap: %v", err)
		}
	}
	if opt.wrap, err = filepath.Abs(opt.wrap); err != nil {
		return err
	}
	if opt.wrap, err = words.QuoteGoFlag(opt.wrap); err != nil { // it becomes part of a flag, and no more
		return err
	}
	parts := []struct {
		name    string
		measure func(w io.Writer) error
	}{
		{"calls", func(w io.Writer) error { return measureCalls(w, dir, opt.wrap, opt.rounds, opt.short) }},
		{"tracers", func(w io.Writer) error { return measureTracers(w, dir, opt) }},
		{"mocks", func(w io.Writer) error { return measureMocks(w, dir, opt.wrap, opt.rounds, opt.short) }},
		{"programs", func(w io.Writer) error { return measurePrograms(w, dir, opt.wrap, opt.programs(), opt.rounds) }},
		{"budget", func(w io.Writer) error { return measureBudget(w, dir, opt.wrap, opt.budgetPrograms(), opt.rounds) }},
		{"builds", func(w io.Writer) error { return measureAllBuilds(w, dir, opt) }},
		{"frames", func(w io.Writer) error { return measureFrames(w, dir, opt) }},
		{"memory", func(w io.Writer) error { return measureIdle(w, dir, opt.wrap) }},
		{"probes", func(w io.Writer) error {
			return measureWays(w, dir, opt.wrap, "probes", "ns", probeWays, firesPerOp, opt.rounds, opt.short)
		}},
		{"waits", func(w io.Writer) error {
			if err := measureWays(w, dir, opt.wrap, "waits", "ns", waitWays, waitsPerOp, opt.rounds, opt.short); err != nil {
				return err
			}
			fmt.Fprintln(w)
			if err := measureBlocked(w, dir, opt.wrap, opt.short); err != nil {
				return err
			}
			fmt.Fprintln(w)
			return measureServer(w, dir, opt.wrap, waitServerWays, max(opt.rounds/5, 1), opt.short)
		}},
		{"logs", func(w io.Writer) error { return measureLogs(w, dir, opt.wrap, opt.rounds, opt.short) }},
		{"schema", func(w io.Writer) error { return measureSchema(w, dir, opt.wrap, opt.rounds, opt.short) }},
	}
	found := false
	for _, part := range parts {
		if opt.only != "" && opt.only != part.name {
			continue
		}
		found = true
		var rows, table bytes.Buffer
		if err := part.measure(&rows); err != nil {
			return fmt.Errorf("%s: %v", part.name, err)
		}
		if rows.Len() == 0 {
			continue // a smoke run leaves it out
		}
		fmt.Fprintf(&table, "%s %s/%s, %d CPUs, medians of %d rounds:\n\n%s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), opt.rounds, rows.Bytes())
		fmt.Printf("%s\n", table.Bytes())
		if opt.update {
			if err := update(part.name, table.Bytes()); err != nil {
				return fmt.Errorf("%s: %v", part.name, err)
			}
		}
	}
	if !found {
		return fmt.Errorf("-only: there is no part %q", opt.only)
	}
	return nil
}

// update puts a table between the comments in docs/performance.md that name its part.
func update(part string, table []byte) error {
	dir, err := benchDir()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "..", "docs", "performance.md")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte("<!-- "+part+" -->\n"))
	_, after, ok2 := bytes.Cut(rest, []byte("<!-- end -->\n"))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no <!-- %s --> with an <!-- end --> behind it", file, part)
	}
	return os.WriteFile(file, fmt.Appendf(nil, "%s<!-- %s -->\n%s<!-- end -->\n%s", before, part, table, after), 0o666)
}

// benchDir returns the folder of this program's source.
func benchDir() (string, error) {
	out, err := command("", nil, "go", "list", "-f", "{{.Dir}}", "github.com/ftrace-wrap/ftrace-wrap/bench").Output()
	return strings.TrimSpace(string(out)), err
}

// programs lists the programs to measure.
func (opt options) programs() []program {
	if opt.goawk != "" {
		if dir, err := filepath.Abs(opt.goawk); err == nil {
			return append([]program{goawkProgram(dir)}, programs...)
		}
	}
	if opt.short {
		return programs[:1]
	}
	return programs
}

// measureAllBuilds measures builds of esbuild, which a smoke run leaves out, and of packages with
// many functions.
func measureAllBuilds(w io.Writer, tmp string, opt options) error {
	if opt.short {
		return measureManyFunctions(w, tmp, opt.wrap, []int{100}, 1)
	}
	dir, err := benchDir()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "programs")
	src, err := command(dir, nil, "go", "list", "-f", "{{.Module.Dir}}", "github.com/evanw/esbuild/cmd/esbuild").Output()
	if err != nil {
		return err
	}
	if err := measureBuilds(w, tmp, opt.wrap, strings.TrimSpace(string(src)), "cmd/esbuild", opt.rounds); err != nil {
		return err
	}
	return measureManyFunctions(w, tmp, opt.wrap, []int{1_000, 3_000, 10_000}, opt.rounds)
}

// command prepares a command with more environment, whose messages go to stderr.
func command(dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return cmd
}
