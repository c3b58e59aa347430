package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// runVerb is "ftrace-wrap run [BUILD FLAGS] PKG|FILES.go [ARGS]": go run with tracing on.
func runVerb(args []string) (status int, err error) {
	if err := traceOn(); err != nil {
		return 0, err
	}
	return gocmd.Run(args)
}

// traceOn arms the program that is started next, unless the user has said what to trace. Where the
// trace goes is relative to the directory that the user is in: go test runs each test in its
// package's.
func traceOn() error {
	if os.Getenv("FTRACE") == "" {
		os.Setenv("FTRACE", "1")
	}
	switch out := os.Getenv("FTRACE_OUT"); out {
	case "", "stdout", "stderr":
		return nil
	default:
		path, err := filepath.Abs(out)
		if err != nil {
			return fmt.Errorf("FTRACE_OUT: %s: %v: give an absolute path", out, err)
		}
		return os.Setenv("FTRACE_OUT", path)
	}
}
