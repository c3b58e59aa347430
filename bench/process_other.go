//go:build !linux

package main

import (
	"errors"
	"math"
	"os"
	"time"
)

// peakMemory is not known here.
func peakMemory(*os.ProcessState) float64 { return math.NaN() }

// processorTime is not known here before a process ends.
func processorTime(int) (time.Duration, error) {
	return 0, errors.New("the processor time of a running process is measured on Linux only")
}
