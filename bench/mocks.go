package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// A mocker is one column of the table of mocks: a package of bench/mocks, and how it must be built.
type mocker struct {
	name, pkg string
	wrapped   bool
	flags     []string
}

var mockers = []mocker{
	{"plain", "plain", false, nil},
	{"ftrace-wrap", "ftrace", true, nil},
	{"gomonkey", "gomonkey", false, []string{"-gcflags=all=-l"}},
	{"mockey", "mockey", false, []string{"-gcflags=all=-N -l"}},
}

// mockRows are the benchmarks, in the table's order, and what it calls them.
var mockRows = [][2]string{
	{"Small", "a call, not replaced, of a function that is inlined"},
	{"Large", "a call, not replaced, of one that is not"},
	{"Everywhere", "a replaced call, in all goroutines"},
	{"Scoped", "a replaced call, in this goroutine only"},
	{"Counted", "a replaced call, in this goroutine only, counted"},
	{"Pointed", "a replaced call, in all goroutines, with a parameter that points to the stack"},
	{"Deferred", "a replaced call, in all goroutines, of a function with a deferred call"},
	{"Recorded", "a replaced call, in this goroutine only, with arguments and results kept"},
	{"Restore", "to replace and restore"},
}

// measureMocks prints what replaced calls cost with this and other tools.
func measureMocks(w io.Writer, tmp, wrap string, rounds int, short bool) error {
	dir, err := benchDir()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "mocks")
	for _, m := range mockers {
		args := append([]string{"test", "-c", "-o", filepath.Join(tmp, "mock-"+m.pkg)}, m.flags...)
		if m.wrapped {
			args = append(args, "-toolexec="+wrap)
		}
		if err := command(dir, nil, "go", append(args, "./"+m.pkg)...).Run(); err != nil {
			return fmt.Errorf("building the benchmarks of %s: %v", m.name, err)
		}
	}
	duration := "100ms"
	if short {
		duration = "1ms"
	}
	times := map[string]map[string][]float64{} // benchmark, mocker
	for range rounds {
		for _, m := range mockers {
			var out bytes.Buffer
			cmd := command(tmp, nil, filepath.Join(tmp, "mock-"+m.pkg), "-test.bench=.", "-test.benchmem", "-test.benchtime="+duration)
			cmd.Stdout = &out
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %v\n%s", m.name, err, out.String())
			}
			for _, r := range parse(out.String()) {
				if times[r.name] == nil {
					times[r.name] = map[string][]float64{}
				}
				times[r.name][m.name] = append(times[r.name][m.name], r.ns)
			}
		}
	}
	header := []string{"ns"}
	for _, m := range mockers {
		header = append(header, m.name)
	}
	fmt.Fprintf(w, "| %s |\n|---%s|\n", strings.Join(header, " | "), strings.Repeat("|--:", len(mockers)))
	for _, row := range mockRows {
		cells := []string{row[1]}
		for _, m := range mockers {
			cell := ""
			if values := times[row[0]][m.name]; len(values) > 0 {
				cell = fmt.Sprintf("%.1f", median(values))
			}
			cells = append(cells, cell)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	return nil
}
