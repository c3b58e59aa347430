package main

import (
	"runtime"
	"testing"
	"time"
)

// The other ways, and longer ones, are for CI.
func TestTorture(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds a program, and looks into it while it runs, which is for linux")
	}
	if err := run(2*time.Second, "plain", "", false, t.Output()); err != nil {
		t.Fatal(err)
	}
}
