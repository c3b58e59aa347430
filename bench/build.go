package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A build is one column of the table of builds.
type build struct {
	name string
	args []string
	env  []string
}

// measureBuild prints how long the module in dir takes to build: with an empty build cache, again without a change, and after an edit of
// one file of its main package; and how large the program is. The folder must hold a main package.
func measureBuild(tmp, wrap, dir string, rounds int) error {
	builds := []build{
		{"plain", nil, nil},
		{"main module", []string{"-toolexec=" + wrap}, nil},
		{"all packages", []string{"-toolexec=" + wrap}, []string{"FTRACE_PACKAGES=all"}},
	}
	fmt.Printf("\n| %s | cold s | warm s | edit s | bytes |\n|---|--:|--:|--:|--:|\n", filepath.Base(dir))
	edited := filepath.Join(dir, "ftrace_bench_edit.go")
	defer os.Remove(edited)
	times := make([][3][]float64, len(builds))
	sizes := make([]int64, len(builds))
	for range rounds {
		for i, b := range builds {
			cache, err := os.MkdirTemp(tmp, "cache-")
			if err != nil {
				return err
			}
			out := filepath.Join(tmp, "program")
			env := append([]string{"GOCACHE=" + cache, "GOFLAGS=-buildvcs=false"}, b.env...)
			os.Remove(edited)
			for step := range 3 {
				if step == 2 {
					if err := os.WriteFile(edited, fmt.Appendf(nil, "package main\n\nfunc ftraceBenchEdit() int { return %d }\n", time.Now().UnixNano()), 0o666); err != nil {
						return err
					}
				}
				start := time.Now()
				if err := command(dir, env, "go", append(append([]string{"build", "-o", out}, b.args...), ".")...).Run(); err != nil {
					return fmt.Errorf("building %s (%s): %v", dir, b.name, err)
				}
				times[i][step] = append(times[i][step], time.Since(start).Seconds())
			}
			info, err := os.Stat(out)
			if err != nil {
				return err
			}
			sizes[i] = info.Size()
			os.RemoveAll(cache)
		}
	}
	for i, b := range builds {
		fmt.Printf("| %s |", b.name)
		for step := range 3 {
			fmt.Printf(" %.2f (%.2f) |", median(times[i][step]), median(times[i][step])/median(times[0][step]))
		}
		fmt.Printf(" %d (%.2f) |\n", sizes[i], float64(sizes[i])/float64(sizes[0]))
	}
	return nil
}
