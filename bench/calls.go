package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A way is one column of the table of calls: how the benchmarks are built and run.
type way struct {
	name    string
	wrapped bool
	build   []string // environment
	run     []string // environment
}

var ways = []way{
	{"plain", false, nil, nil},
	{"keep, off", true, []string{"FTRACE_INLINE=keep"}, nil},
	{"off", true, nil, nil},
	{"count", true, nil, []string{"FTRACE=calls.*=count"}},
	{"call, not shown", true, nil, []string{"FTRACE=calls.*=call,first=1", "FTRACE_OUT=/dev/null"}},
	{"call", true, nil, []string{"FTRACE=calls.*=call,first=0", "FTRACE_OUT=/dev/null"}},
	{"args", true, nil, []string{"FTRACE=calls.*=args,first=0", "FTRACE_OUT=/dev/null"}},
	{"summary", true, nil, []string{"FTRACE=calls.*=call", "FTRACE_OUT=off", "FTRACE_BUDGET=off", "FTRACE_CONSUMERS=summary"}},
	{"kept", true, nil, []string{"FTRACE=calls.*=call", "FTRACE_OUT=off", "FTRACE_BUDGET=off"}},
	{"ring, untimed", true, nil, []string{"FTRACE=calls.*=call,untimed", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"ring, args, untimed", true, nil, []string{"FTRACE=calls.*=args,untimed", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"ring, call", true, nil, []string{"FTRACE=calls.*=call", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"ring, args", true, nil, []string{"FTRACE=calls.*=args", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"file, args", true, nil, []string{"FTRACE=calls.*=args", "FTRACE_RECORD=" + recorded}},
}

// recorded is the directory of a recording, which grows by some gigabytes a minute.
const recorded = "recorded"

// callsPerOp says how many calls an operation of each benchmark makes.
func callsPerOp(benchmark string) float64 {
	if benchmark == "Fib" {
		return 1973
	}
	return 1000
}

// measureCalls prints nanoseconds a call, by benchmark and way.
func measureCalls(w io.Writer, dir, wrap string, rounds int, short bool) error {
	return measureWays(w, dir, wrap, "calls", "ns a call", ways, callsPerOp, rounds, short)
}

// measureWays prints nanoseconds of each benchmark in bench/NAME, by way, divided by how many times
// an operation does it.
func measureWays(w io.Writer, dir, wrap, name, what string, ways []way, perOp func(benchmark string) float64, rounds int, short bool) error {
	pkg := "github.com/ftrace-wrap/ftrace-wrap/bench/" + name
	for i, way := range ways {
		args := []string{"test", "-c", "-o", filepath.Join(dir, fmt.Sprint(name, i))}
		if way.wrapped {
			args = append(args, "-toolexec="+wrap)
		}
		if err := command("", append(way.build, "FTRACE_PACKAGES="+pkg), "go", append(args, pkg)...).Run(); err != nil {
			return fmt.Errorf("building the benchmarks: %v", err)
		}
	}
	duration := "100ms"
	if short {
		duration = "1ms"
	}
	times := map[string][][]float64{} // benchmark, way, round
	allocs := 0
	for range rounds {
		for i, way := range ways {
			var out bytes.Buffer
			cmd := command(dir, way.run, filepath.Join(dir, fmt.Sprint(name, i)), "-test.bench=.", "-test.benchtime="+duration)
			cmd.Stdout = &out
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %v\n%s", way.name, err, out.String())
			}
			if err := os.RemoveAll(filepath.Join(dir, recorded)); err != nil {
				return err
			}
			for _, r := range parse(out.String()) {
				if times[r.name] == nil {
					times[r.name] = make([][]float64, len(ways))
				}
				times[r.name][i] = append(times[r.name][i], r.ns/perOp(r.name))
				allocs += r.allocs
			}
		}
	}
	printWays(w, what, ways, times)
	fmt.Fprintf(w, "\nHeap allocations in all ways together: %d.\n", allocs)
	return nil
}

type result struct {
	name   string
	ns     float64
	allocs int
}

var line = regexp.MustCompile(`(?m)^Benchmark([\w/]+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op.*?(\d+) allocs/op`)

func parse(out string) []result {
	var results []result
	for _, m := range line.FindAllStringSubmatch(out, -1) {
		ns, _ := strconv.ParseFloat(m[2], 64)
		allocs, _ := strconv.Atoi(m[3])
		results = append(results, result{m[1], ns, allocs})
	}
	return results
}

func printWays(w io.Writer, what string, ways []way, times map[string][][]float64) {
	names := []string{what}
	for _, way := range ways {
		names = append(names, way.name)
	}
	fmt.Fprintf(w, "| %s |\n|---%s|\n", strings.Join(names, " | "), strings.Repeat("|--:", len(ways)))
	for _, name := range slices.Sorted(maps.Keys(times)) {
		cells := []string{name}
		for _, t := range times[name] {
			cells = append(cells, fmt.Sprintf("%.2f", median(t)))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
