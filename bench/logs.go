package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// logWays are the columns of the table of log lines. What is traced is a function that is not called while it is measured, so that what is on is weaving.
var logWays = []way{
	{"plain", false, nil, nil},
	{"off", true, nil, nil},
	{"on, unwoven", true, nil, []string{"FTRACE=logs.file=call", "FTRACE_WEAVE=off"}},
	{"woven", true, nil, []string{"FTRACE=logs.file=call"}},
	{"woven, JSON", true, nil, []string{"FTRACE=logs.file=call", "FTRACE_FORMAT=json"}},
}

// measureLogs prints nanoseconds a log line, by logger and way. The trace, the logs and stderr are files of the same disk.
func measureLogs(w io.Writer, dir, wrap string, rounds int, short bool) error {
	exe := map[bool]string{}
	for _, wrapped := range []bool{false, true} {
		exe[wrapped] = filepath.Join(dir, fmt.Sprint("logs", wrapped))
		args := []string{"test", "-c", "-o", exe[wrapped]}
		if wrapped {
			args = append(args, "-toolexec="+wrap)
		}
		const pkg = "github.com/ftrace-wrap/ftrace-wrap/bench/logs"
		if err := command("", []string{"FTRACE_PACKAGES=" + pkg}, "go", append(args, pkg)...).Run(); err != nil {
			return fmt.Errorf("building the benchmarks: %v", err)
		}
	}
	duration := "300ms"
	if short {
		duration = "1ms"
	}
	times := map[string][][]float64{} // benchmark, way, round
	allocs := map[string][]int{}
	for range rounds {
		for i, way := range logWays {
			results, err := runLogs(exe[way.wrapped], dir, duration, way.run)
			if err != nil {
				return fmt.Errorf("%s: %v", way.name, err)
			}
			for _, r := range results {
				if times[r.name] == nil {
					times[r.name], allocs[r.name] = make([][]float64, len(logWays)), make([]int, len(logWays))
				}
				times[r.name][i] = append(times[r.name][i], r.ns)
				allocs[r.name][i] = r.allocs
			}
		}
	}
	names := []string{"ns a line"}
	for _, way := range logWays {
		names = append(names, way.name)
	}
	fmt.Fprintf(w, "| %s | allocations |\n|---%s|--:|\n", strings.Join(names, " | "), strings.Repeat("|--:", len(logWays)))
	for _, name := range slices.Sorted(maps.Keys(times)) {
		fmt.Fprintf(w, "| %s |", name)
		for _, t := range times[name] {
			fmt.Fprintf(w, " %.0f |", median(t))
		}
		fmt.Fprintf(w, " %s |\n", strings.Trim(fmt.Sprint(allocs[name]), "[]"))
	}
	return nil
}

// runLogs runs the benchmarks once, with stderr and the trace in new files.
func runLogs(exe, dir, duration string, env []string) ([]result, error) {
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(stderr.Name())
	defer stderr.Close()
	trace := filepath.Join(dir, "trace")
	defer os.Remove(trace)
	var out bytes.Buffer
	cmd := command(dir, append([]string{"FTRACE_OUT=" + trace, "TMPDIR=" + dir}, env...), exe, "-test.bench=.", "-test.benchtime="+duration)
	cmd.Stdout, cmd.Stderr = &out, stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%v\n%s", err, out.String())
	}
	return parse(out.String()), nil
}
