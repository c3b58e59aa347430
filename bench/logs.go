package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// logWays are the columns of the table of log lines. What is traced is the function that calls the
// loggers in a loop, so that what is on while it is measured is weaving. The trace goes to a file
// of its own unless it is said to go to stderr, where the log goes.
var logWays = []way{
	{"plain", false, nil, nil},
	{"off", true, nil, nil},
	{"on, unwoven", true, nil, []string{"FTRACE=logs.Run=call", "FTRACE_WEAVE=off"}},
	{"one stream", true, nil, []string{"FTRACE=logs.Run=call", "FTRACE_OUT=stderr"}},
	{"one stream, JSON", true, nil, []string{"FTRACE=logs.Run=call", "FTRACE_OUT=stderr", "FTRACE_FORMAT=json"}},
	{"groups", true, nil, []string{"FTRACE=logs.Run=call", "FTRACE_GROUP=on"}},
	{"two streams", true, nil, []string{"FTRACE=logs.Run=call"}},
	{"two streams, JSON", true, nil, []string{"FTRACE=logs.Run=call", "FTRACE_FORMAT=json"}},
}

// logBenchmarks are the rows: Write writes a line that is made already, SlogFile writes to a file,
// SlogDiscard nowhere but to the trace, and the others to stderr.
var logBenchmarks = []string{"Write", "Println", "Log", "SlogText", "SlogJSON", "SlogFile", "SlogDiscard", "Zap", "Zerolog"}

// measureLogs prints nanoseconds of processor time a log line, by logger and way: half of it is
// spent in system calls, whose waiting does not count. The trace, the logs and stderr are files of
// the same disk.
func measureLogs(w io.Writer, dir, wrap string, rounds int, short bool) error {
	source, err := benchDir()
	if err != nil {
		return err
	}
	exe := map[bool]string{}
	for _, wrapped := range []bool{false, true} {
		exe[wrapped] = filepath.Join(dir, fmt.Sprint("logs", wrapped))
		args := []string{"test", "-c", "-o", exe[wrapped]}
		if wrapped {
			args = append(args, "-toolexec="+wrap)
		}
		if err := command(filepath.Join(source, "logs"), []string{"FTRACE_PACKAGES=main"}, "go", append(args, ".")...).Run(); err != nil {
			return fmt.Errorf("building the benchmarks: %v", err)
		}
	}
	lines := 100000
	if short {
		lines = 100
	}
	names := []string{"ns of CPU a line"}
	for _, way := range logWays {
		names = append(names, way.name)
	}
	fmt.Fprintf(w, "| %s |\n|---%s|\n", strings.Join(names, " | "), strings.Repeat("|--:", len(logWays)))
	allocs := make([]int, len(logWays))
	for _, benchmark := range logBenchmarks {
		times := make([][]float64, len(logWays))
		for range rounds {
			for i, way := range logWays {
				one, _, err := runLogs(exe[way.wrapped], dir, benchmark, 1, way.run)
				if err != nil {
					return fmt.Errorf("%s: %v", way.name, err)
				}
				all, results, err := runLogs(exe[way.wrapped], dir, benchmark, lines, way.run)
				if err != nil {
					return fmt.Errorf("%s: %v", way.name, err)
				}
				times[i] = append(times[i], float64(all-one)/float64(lines))
				allocs[i] = max(allocs[i], results[0].allocs)
			}
		}
		fmt.Fprintf(w, "| %s |", benchmark)
		for _, t := range times {
			fmt.Fprintf(w, " %.0f |", median(t))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nHeap allocations a line at most, by way: %s.\n\n", strings.Trim(fmt.Sprint(allocs), "[]"))
	return measureSpaced(w, dir, exe, rounds, short)
}

// measureSpaced prints what a line of package log takes of which there are some every 10 ms, and
// what the process takes in that time.
func measureSpaced(w io.Writer, dir string, exe map[bool]string, rounds int, short bool) error {
	ticks := 100
	if short {
		ticks = 2
	}
	fmt.Fprintf(w, "| lines every 10 ms | a line, plain ns | two streams | µs of CPU in 10 ms, plain | two streams |\n|--:|--:|--:|--:|--:|\n")
	for _, lines := range []string{"1", "4", "16", "64"} {
		var times, costs [2][]float64
		for range 2 * rounds {
			for i, way := range []way{logWays[0], logWays[6]} {
				one, _, err := runLogs(exe[way.wrapped], dir, "Spaced$/^"+lines, 1, way.run)
				if err != nil {
					return fmt.Errorf("%s: %v", way.name, err)
				}
				all, results, err := runLogs(exe[way.wrapped], dir, "Spaced$/^"+lines, ticks+1, way.run)
				if err != nil {
					return fmt.Errorf("%s: %v", way.name, err)
				}
				times[i], costs[i] = append(times[i], results[0].ns), append(costs[i], float64((all-one).Microseconds())/float64(ticks))
			}
		}
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f |\n", lines, median(times[0]), median(times[1]), median(costs[0]), median(costs[1]))
	}
	return nil
}

// runLogs runs a benchmark for so many lines, with stderr and the trace in new files, and returns
// the processor time and what the benchmark says.
func runLogs(exe, dir, benchmark string, lines int, env []string) (time.Duration, []result, error) {
	stderr, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return 0, nil, err
	}
	defer os.Remove(stderr.Name())
	defer stderr.Close()
	trace := filepath.Join(dir, "trace")
	defer os.Remove(trace)
	var out bytes.Buffer
	cmd := command(dir, append([]string{"FTRACE_OUT=" + trace, "TMPDIR=" + dir}, env...), exe,
		"-test.cpu=1", "-test.bench=^Benchmark"+benchmark+"$", fmt.Sprintf("-test.benchtime=%dx", lines))
	cmd.Stdout, cmd.Stderr = &out, stderr
	if err := cmd.Run(); err != nil {
		return 0, nil, fmt.Errorf("%v\n%s", err, out.String())
	}
	results := parse(out.String())
	if len(results) == 0 {
		return 0, nil, fmt.Errorf("there is no result in\n%s", out.String())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), results, nil
}
