package main

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// The other ways, and longer ones, are for CI.
func TestTorture(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds a program, and looks into it while it runs, which is for linux")
	}
	wrap := filepath.Join(testenv.Build(t, "ftrace-wrap"), "ftrace-wrap"+testenv.Exe())
	if err := run(2*time.Second, "plain", wrap, false, t.Output()); err != nil {
		t.Fatal(err)
	}
}
