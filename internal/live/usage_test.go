//go:build linux

package live

import (
	"os"
	"testing"
	"time"
)

func TestProcessorTime(t *testing.T) {
	for stat, want := range map[string]time.Duration{
		"7 (a) b) c) R 1 2 3 4 5 6 7 8 9 10 250 50 13 14\n": 3 * time.Second,
		"7 (a) R 1 2 3":                  0,
		"":                               0,
		"7 (a) R 1 2 3 4 5 6 7 8 9 10 x": 0,
	} {
		if got := processorTime(stat); got != want {
			t.Errorf("%q: %v, not %v", stat, got, want)
		}
	}
	p := &Process{PID: os.Getpid()}
	before := p.ProcessorTime()
	for end := time.Now().Add(10 * time.Second); p.ProcessorTime() < before+100*time.Millisecond; {
		if time.Now().After(end) {
			t.Fatalf("it stays %v", before)
		}
	}
}
