package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A tracer is a row of the table of tracers: a program that calls a function with one scalar
// parameter and result, and is traced.
type tracer struct {
	name  string
	needs []string // commands without which it is left out
	build []string // a command
	dir   string   // where build is run; "": in the folder of the programs
	env   []string // of the run
	run   []string // in front of the program
	more  []string // behind the number of calls
	calls int
	of    string // the program, in the temporary directory
}

// Runs are short, and the shortest of a few counts: others use the machine too.
const (
	tracedCalls = 300_000
	tracedRuns  = 5
)

const delveVersion = "v1.27.2"

func tracers(tmp, wrap string) []tracer {
	here := func(name string) string { return filepath.Join(tmp, name) }
	wrapped := []string{"go", "build", "-toolexec=" + wrap, "-o", here("wrapped"), "."}
	return []tracer{
		{name: "plain Go", build: []string{"go", "build", "-o", here("plain"), "."}, of: "plain"},
		{name: "ftrace, off", build: wrapped, of: "wrapped"},
		{name: "ftrace, in a ring, without values", build: wrapped, of: "wrapped", env: []string{"FTRACE=main.scalar=call", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
		{name: "ftrace, in a ring, with values", build: wrapped, of: "wrapped", env: []string{"FTRACE=main.scalar=args", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
		{name: "ftrace, in a file, without values", build: wrapped, of: "wrapped", env: []string{"FTRACE=main.scalar=call", "FTRACE_RECORD=" + here(recorded), "FTRACE_CONSUMERS=none"}},
		{name: "ftrace, in a file, with values", build: wrapped, of: "wrapped", env: []string{"FTRACE=main.scalar=args", "FTRACE_RECORD=" + here(recorded), "FTRACE_CONSUMERS=none"}},
		{name: "ftrace, in a file, with values, histories and summaries", build: wrapped, of: "wrapped", env: []string{"FTRACE=main.scalar=args", "FTRACE_RECORD=" + here(recorded), "FTRACE_CONSUMERS=current,history,history_long,summary"}},
		{name: "runtime/trace region", build: []string{"go", "build", "-o", here("plain"), "."}, of: "plain", more: []string{"region"}},
		{name: "dlv trace, with values", needs: []string{"go"}, build: []string{"go", "install", "github.com/go-delve/delve/cmd/dlv@" + delveVersion}, dir: tmp, of: "plain",
			run: []string{here("dlv"), "trace", "--exec"}, calls: 300},
		{name: "plain C", needs: []string{"gcc"}, build: []string{"gcc", "-O2", "-o", here("c"), "scalar.c"}, of: "c"},
		{name: "uftrace record, without values", needs: []string{"gcc", "uftrace"}, build: []string{"gcc", "-O2", "-g", "-pg", "-o", here("pg"), "scalar.c"}, of: "pg",
			run: []string{"uftrace", "record", "--no-libcall", "-d", here(recorded)}},
		{name: "uftrace record, with values", needs: []string{"gcc", "uftrace"}, build: []string{"gcc", "-O2", "-g", "-pg", "-o", here("pg"), "scalar.c"}, of: "pg",
			run: []string{"uftrace", "record", "--no-libcall", "-d", here(recorded), "-A", "scalar@arg1", "-R", "scalar@retval"}},
		{name: "XRay, flight data recorder, without values", needs: []string{"clang"}, of: "xray",
			build: []string{"clang", "-O2", "-fxray-instrument", "-fxray-instruction-threshold=1", "-o", here("xray"), "scalar.c"},
			env:   []string{"XRAY_OPTIONS=patch_premain=true xray_mode=xray-fdr verbosity=0 xray_logfile_base=" + here("xray-log.")}},
	}
}

var nsCall = regexp.MustCompile(`([\d.]+) ns a call`)

// measureTracers prints nanoseconds a call with our recordings and with other tracers.
func measureTracers(w io.Writer, tmp string, opt options) error {
	dir, err := benchDir()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "tracers")
	list := tracers(tmp, opt.wrap)
	times := make([][]float64, len(list))
	skipped := make([]string, len(list))
	for i, t := range list {
		if skipped[i] = t.prepare(dir, tmp); skipped[i] != "" {
			fmt.Fprintf(os.Stderr, "bench: %s: left out: %s\n", t.name, skipped[i])
		}
	}
	for range opt.rounds {
		for i, t := range list {
			if skipped[i] != "" {
				continue
			}
			least := math.Inf(1)
			for range tracedRuns {
				ns, err := t.measure(tmp, opt.short)
				if err != nil {
					return fmt.Errorf("%s: %v", t.name, err)
				}
				least = min(least, ns)
			}
			times[i] = append(times[i], least)
		}
	}
	fmt.Fprint(w, "| a call with one scalar parameter and result | ns | more than plain |\n|---|--:|--:|\n")
	plain := 0.0
	for i, t := range list {
		switch {
		case skipped[i] != "":
			fmt.Fprintf(w, "| %s | left out: %s | |\n", t.name, skipped[i])
		case strings.HasPrefix(t.name, "plain"):
			plain = median(times[i])
			fmt.Fprintf(w, "| %s | %.1f | |\n", t.name, plain)
		default:
			ns := median(times[i])
			fmt.Fprintf(w, "| %s | %.1f | %.1f |\n", t.name, ns, ns-plain)
		}
	}
	return nil
}

// prepare builds the program. It returns why that can't be.
func (t *tracer) prepare(dir, tmp string) (why string) {
	for _, name := range t.needs {
		if _, err := exec.LookPath(name); err != nil {
			return "there is no " + name
		}
	}
	if t.dir != "" {
		dir = t.dir
	}
	cmd := exec.Command(t.build[0], t.build[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOBIN="+tmp, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("%s: %v: %s", t.build[0], err, lastLine(out))
	}
	return ""
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// measure runs the program and returns the nanoseconds that it says.
func (t *tracer) measure(tmp string, short bool) (float64, error) {
	n := tracedCalls
	if short {
		n = 10_000
	}
	if t.calls != 0 {
		n = t.calls
	}
	args := append(append([]string{}, t.run...), filepath.Join(tmp, t.of))
	if len(t.run) > 1 && t.run[1] == "trace" { // dlv has the function behind the program
		args = append(args, "^main.scalar$", "--")
	}
	args = append(append(args, strconv.Itoa(n)), t.more...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = tmp
	cmd.Env = append(os.Environ(), t.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v\n%s", err, out[:min(len(out), 2000)])
	}
	if err := clean(tmp); err != nil {
		return 0, err
	}
	m := nsCall.FindSubmatch(bytes.ReplaceAll(out, []byte("\r"), nil))
	if m == nil {
		return 0, fmt.Errorf("it says nothing of ns a call:\n%s", out[:min(len(out), 2000)])
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// clean removes what was recorded.
func clean(tmp string) error {
	logs, _ := filepath.Glob(filepath.Join(tmp, "xray-log.*"))
	for _, name := range append(logs, filepath.Join(tmp, recorded), filepath.Join(tmp, recorded+".old")) {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}
