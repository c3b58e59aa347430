//go:build !linux

package main

import (
	"math"
	"os"
)

// peakMemory is not known here.
func peakMemory(*os.ProcessState) float64 { return math.NaN() }
