package main

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// waitWays are the columns of the table of waits.
var waitWays = []way{
	{"plain", false, nil, nil},
	{"off", true, nil, nil},
	{"locks", true, nil, []string{"FTRACE_LOCKS=on"}},
	{"count", true, nil, []string{"FTRACE=wait/*=count"}},
	{"summary", true, nil, []string{"FTRACE=wait/*", "FTRACE_OUT=off", "FTRACE_CONSUMERS=summary"}},
	{"kept", true, nil, []string{"FTRACE=wait/*", "FTRACE_OUT=off"}},
	{"ring", true, nil, []string{"FTRACE=wait/*", "FTRACE_RECORD=ring", "FTRACE_CONSUMERS=none"}},
	{"file", true, nil, []string{"FTRACE=wait/*", "FTRACE_RECORD=" + recorded}},
}

// waitsPerOp says how many stops, locks or messages an operation of each benchmark is.
func waitsPerOp(benchmark string) float64 {
	if benchmark == "Stop" {
		return 2000
	}
	return 1000
}

// measureBlocked prints what it takes to list the goroutines of a program with very many: the first
// time, and then.
func measureBlocked(w io.Writer, dir, wrap string, short bool) error {
	const goroutines = 100_000
	program, ftrace := filepath.Join(dir, "blocked"), filepath.Join(dir, "ftrace")
	for _, args := range [][]string{
		{"build", "-o", program, "-toolexec=" + wrap, "github.com/ftrace-wrap/ftrace-wrap/bench/blocked"},
		{"build", "-o", ftrace, "github.com/ftrace-wrap/ftrace-wrap/cmd/ftrace"},
	} {
		if err := command("", []string{"FTRACE_PACKAGES="}, "go", args...).Run(); err != nil {
			return fmt.Errorf("building the program with blocked goroutines: %v", err)
		}
	}
	starts, again := 5, 5
	if short {
		starts, again = 1, 1
	}
	var list [2]listings // the first of each start, and the others
	for range starts {
		if err := list[0].start(program, ftrace, goroutines, again, &list[1]); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "| listing %d blocked goroutines, of %d starts | ms | ms of the program's CPU | ms of the reader's CPU | longest stop of the world, µs | by the collector |\n|---|--:|--:|--:|--:|--:|\n", goroutines, starts)
	for i, name := range []string{"the first time", "then"} {
		l := &list[i]
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.0f | %.0f |\n", name, median(l.took), median(l.program), median(l.reader), slices.Max(l.stopped), slices.Max(l.collected))
	}
	return nil
}

// listings are what was measured of listing the goroutines: ms, but stopped and collected, the
// longest stops of the world, are µs.
type listings struct{ took, program, reader, stopped, collected []float64 }

// start starts the program, and lists its goroutines, then again as often.
func (l *listings) start(program, ftrace string, goroutines, again int, then *listings) error {
	process := command("", nil, program, fmt.Sprint(goroutines))
	in, err := process.StdinPipe()
	if err != nil {
		return err
	}
	pipe, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	defer process.Wait()
	defer in.Close()
	out := bufio.NewReader(pipe)
	if _, err := out.ReadString('\n'); err != nil {
		return err
	}
	for i := range 1 + again {
		if i > 0 {
			l = then
		}
		if err := l.list(process.Process.Pid, ftrace, goroutines); err != nil {
			return err
		}
		fmt.Fprintln(in)
		line, err := out.ReadString('\n')
		if err != nil {
			return err
		}
		for i, text := range strings.Fields(line) {
			stop, err := time.ParseDuration(text)
			if err != nil {
				return err
			}
			to := []*[]float64{&l.collected, &l.stopped}[i]
			*to = append(*to, float64(stop)/1e3)
		}
	}
	return nil
}

// list lists the goroutines once.
func (l *listings) list(pid int, ftrace string, goroutines int) error {
	before, err := processorTime(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	reader := command("", nil, ftrace, "waits", fmt.Sprint(pid))
	text, err := reader.Output()
	if err != nil {
		return fmt.Errorf("listing the goroutines: %v", err)
	}
	took := time.Since(began)
	after, err := processorTime(pid)
	if err != nil {
		return err
	}
	if listed := fmt.Sprintf("%d goroutines\n", goroutines+1); !strings.HasPrefix(string(text), listed) {
		return fmt.Errorf("ftrace waits lists %.20q, not %q", text, listed)
	}
	const ms = 1e6
	l.took = append(l.took, float64(took)/ms)
	l.program = append(l.program, float64(after-before)/ms)
	l.reader = append(l.reader, float64(reader.ProcessState.UserTime()+reader.ProcessState.SystemTime())/ms)
	return nil
}
