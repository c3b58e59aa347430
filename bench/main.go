// Bench measures what ftrace-wrap costs, as ratios against plain Go in the same run: machines are shared and noisy, so the ways are run in
// turn, several times, and medians taken. It prints the tables of docs/performance.md.
//
//	go run ./bench                     # everything
//	go run ./bench -short              # a smoke run
//	go run ./bench -build DIR          # build times of the module in DIR as well
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

func main() {
	short := flag.Bool("short", false, "one quick round")
	build := flag.String("build", "", "measure builds of the module in this folder")
	rounds := flag.Int("rounds", 5, "how often each way is run")
	wrap := flag.String("wrap", "", "the ftrace-wrap to measure; default: built from this module")
	flag.Parse()
	if *short {
		*rounds = 1
	}
	if err := run(*wrap, *build, *rounds, *short); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(wrap, build string, rounds int, short bool) error {
	dir, err := os.MkdirTemp("", "ftrace-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if wrap == "" {
		wrap = filepath.Join(dir, "ftrace-wrap")
		if err := command("", nil, "go", "build", "-o", wrap, "github.com/ftrace-wrap/ftrace-wrap/cmd/ftrace-wrap").Run(); err != nil {
			return fmt.Errorf("building ftrace-wrap: %v", err)
		}
	}
	if wrap, err = filepath.Abs(wrap); err != nil {
		return err
	}
	fmt.Printf("%s %s/%s, %d CPUs, medians of %d rounds\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
	if err := measureCalls(dir, wrap, rounds, short); err != nil {
		return err
	}
	if build == "" {
		return nil
	}
	return measureBuild(dir, wrap, build, rounds)
}

// command prepares a command with more environment, whose messages go to stderr.
func command(dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	return cmd
}
