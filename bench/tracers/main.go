// Tracers calls a function with one scalar parameter and result N times, and prints how long a call
// took: for other tracers beside ours. scalar.c is the same in C.
//
//	tracers N          the call alone
//	tracers N region   within a region of a runtime/trace, which goes to /dev/null
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/trace"
	"strconv"
	"time"
)

//go:noinline
func scalar(n int) int { return n + 1 }

//go:noinline
func scalarInRegion(ctx context.Context, n int) int {
	defer trace.StartRegion(ctx, "scalar").End()
	return n + 1
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if len(os.Args) > 2 {
		regions(n)
		return
	}
	sum := 0
	start := time.Now()
	for i := range n {
		sum += scalar(i)
	}
	report(time.Since(start), n, sum)
}

func regions(n int) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		err = trace.Start(null)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	defer trace.Stop()
	ctx, sum := context.Background(), 0
	start := time.Now()
	for i := range n {
		sum += scalarInRegion(ctx, i)
	}
	report(time.Since(start), n, sum)
}

func report(lasted time.Duration, n, sum int) {
	fmt.Printf("%.2f ns a call (%d)\n", float64(lasted.Nanoseconds())/float64(n), sum)
}
