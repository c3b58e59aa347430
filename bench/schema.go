package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// schemaWays are what the Performance Schema keeps of a call, the one with less first: the rows of
// the first table.
var schemaWays = []way{
	{"plain", false, nil, nil},
	{"not enabled", true, nil, nil},
	{"enabled, no consumer", true, nil, consumers("call", "none")},
	{"`events_calls_current`", true, nil, consumers("call", "current")},
	{"and `events_calls_history`", true, nil, consumers("call", "current,history")},
	{"and `events_calls_history_long`", true, nil, consumers("call", "current,history,history_long")},
	{"and the global summary, as at the start", true, nil, consumers("call", "current,history,history_long,summary")},
	{"the same, not timed", true, nil, consumers("call,untimed", "current,history,history_long,summary")},
	{"the global summary alone", true, nil, consumers("call", "summary")},
	{"and those by thread, caller and instance", true, nil, consumers("call", "summary,by_goroutine,by_caller,by_receiver")},
	{"all of these", true, nil, consumers("call", "all")},
	{"and `events_calls_values`", true, nil, []string{"FTRACE=calls.*=args", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=all"}},
}

func consumers(detail, list string) []string {
	return []string{"FTRACE=calls.*=" + detail, "FTRACE_OUT=off", "FTRACE_BUDGET=off", "FTRACE_CONSUMERS=" + list}
}

// measureSchema prints what a call costs with each consumer, and what a server under load costs
// with the schema out, in and off, in and on.
func measureSchema(w io.Writer, dir, wrap string, rounds int, short bool) error {
	if err := measureConsumers(w, dir, wrap, rounds, short); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return measureServer(w, dir, wrap, serverWays, rounds, short)
}

func measureConsumers(w io.Writer, dir, wrap string, rounds int, short bool) error {
	exe := map[bool]string{}
	for _, wrapped := range []bool{false, true} {
		exe[wrapped] = filepath.Join(dir, fmt.Sprint("consumers", wrapped))
		args := []string{"test", "-c", "-o", exe[wrapped]}
		if wrapped {
			args = append(args, "-toolexec="+wrap)
		}
		if err := command("", []string{"FTRACE_PACKAGES=github.com/ftrace-wrap/ftrace-wrap/bench/calls"}, "go", append(args, "github.com/ftrace-wrap/ftrace-wrap/bench/calls")...).Run(); err != nil {
			return fmt.Errorf("building the benchmarks: %v", err)
		}
	}
	duration := "50ms"
	if short {
		duration = "1ms"
	}
	// Short runs, many of them: the least time is that in which nothing else of the machine took
	// part.
	times := make([][]float64, len(schemaWays))
	for range 10 * rounds {
		for i, way := range schemaWays {
			var out bytes.Buffer
			cmd := command(dir, append(way.run, "GOMAXPROCS=1"), exe[way.wrapped], "-test.bench=^BenchmarkScalar$", "-test.benchtime="+duration)
			cmd.Stdout = &out
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %v\n%s", way.name, err, out.String())
			}
			for _, r := range parse(out.String()) {
				times[i] = append(times[i], r.ns/callsPerOp(r.name))
			}
		}
	}
	mhz := processorMHz()
	fmt.Fprintf(w, "| a call, of %d runs in turn | ns, median | ns, least | cycles at %.0f MHz, least |\n|---|--:|--:|--:|\n", 10*rounds, mhz)
	for i, way := range schemaWays {
		least := slices.Min(times[i])
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.0f |\n", way.name, median(times[i]), least, least*mhz/1000)
	}
	return nil
}

// processorMHz returns the frequency of the first processor, as the kernel says it, 0 if it does
// not.
func processorMHz() float64 {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^cpu MHz\s*: ([0-9.]+)$`).FindSubmatch(text); m != nil {
		mhz, _ := strconv.ParseFloat(string(m[1]), 64)
		return mhz
	}
	return 0
}
