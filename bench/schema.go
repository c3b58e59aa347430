package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// schemaWays are what the Performance Schema keeps of a call, the one with less first: the rows of the first table.
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
	return []string{"FTRACE=calls.*=" + detail, "FTRACE_OUT=off", "FTRACE_CONSUMERS=" + list}
}

// measureSchema prints what a call costs with each consumer, and what a server under load costs with the schema out, in and off, in and on.
func measureSchema(w io.Writer, dir, wrap string, rounds int, short bool) error {
	if err := measureConsumers(w, dir, wrap, rounds, short); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return measureServer(w, dir, wrap, rounds, short)
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
	// Short runs, many of them: the least time is that in which nothing else of the machine took part.
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

// processorMHz returns the frequency of the first processor, as the kernel says it, 0 if it does not.
func processorMHz() float64 {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if m := regexp.MustCompile(`(?m)^cpu MHz\s*: ([0-9.]+)$`).FindSubmatch(text); m != nil {
		mhz, _ := strconv.ParseFloat(string(m[1]), 64)
		return mhz
	}
	return 0
}

// A serverWay is a cell of the table of throughput: how the server is built and run.
type serverWay struct {
	exe string
	run []string
}

// measureServer prints requests a second. The load comes from another process, built plainly, on the same processors.
func measureServer(w io.Writer, dir, wrap string, rounds int, short bool) error {
	const program = "github.com/ftrace-wrap/ftrace-wrap/bench/served"
	packages := []struct{ name, list, rules string }{
		{"package main", "main", "main.*"},
		{"and net/http", "main,net/http", "main.*;net/http.*"},
	}
	plain := filepath.Join(dir, "served")
	if err := command("", nil, "go", "build", "-o", plain, program).Run(); err != nil {
		return fmt.Errorf("building the server: %v", err)
	}
	var cells []serverWay
	for i, p := range packages {
		exe := filepath.Join(dir, fmt.Sprint("served", i))
		if err := command("", []string{"FTRACE_PACKAGES=" + p.list}, "go", "build", "-toolexec="+wrap, "-o", exe, program).Run(); err != nil {
			return fmt.Errorf("building the server: %v", err)
		}
		on := []string{"FTRACE=" + p.rules, "FTRACE_OUT=off"}
		cells = append(cells, serverWay{plain, nil}, serverWay{exe, nil}, serverWay{exe, on}, serverWay{exe, append(on, "FTRACE_CONSUMERS=summary")})
	}
	duration := "2s"
	if short {
		duration = "50ms"
	}
	costs, answered := make([][]float64, len(cells)), make([][]float64, len(cells))
	for range rounds {
		for i, c := range cells {
			cost, n, err := c.measure(plain, duration)
			if err != nil {
				return err
			}
			costs[i], answered[i] = append(costs[i], cost), append(answered[i], n)
		}
	}
	fmt.Fprintf(w, "| a request: µs of the server's CPU; requests a second | out | in and off | in and on | in and on, the global summary alone |\n|---|--:|--:|--:|--:|\n")
	for i, p := range packages {
		fmt.Fprintf(w, "| %s", p.name)
		for k := 4 * i; k < 4*i+4; k++ {
			fmt.Fprintf(w, " | %.1f", median(costs[k]))
			if k > 4*i {
				fmt.Fprintf(w, " (%+.0f %%)", (median(costs[k])/median(costs[4*i])-1)*100)
			}
			fmt.Fprintf(w, "; %.0f", median(answered[k]))
		}
		fmt.Fprintln(w, " |")
	}
	return nil
}

// measure runs the server, and the load on it. It returns the microseconds of processor time that the server took for a request, which what else runs on the machine changes least, and the
// requests a second.
func (c serverWay) measure(load, duration string) (cost, answered float64, err error) {
	server := command("", c.run, c.exe)
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := server.Start(); err != nil {
		return 0, 0, err
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			server.Process.Kill()
			server.Wait()
		}
	}
	defer end()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("the server says no address: %v", err)
	}
	text, err := command("", nil, load, "-load", strings.TrimSpace(address), "-for", duration).Output()
	if err != nil {
		return 0, 0, fmt.Errorf("the load: %v", err)
	}
	var requests, seconds float64
	if _, err := fmt.Sscan(string(text), &requests, &seconds); err != nil {
		return 0, 0, fmt.Errorf("the load says %q: %v", text, err)
	}
	end()
	cpu := server.ProcessState.UserTime() + server.ProcessState.SystemTime()
	return float64(cpu.Microseconds()) / requests, requests / seconds, nil
}
