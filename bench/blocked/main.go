// Blocked is a program with very many goroutines that wait for a channel. What it takes to list
// them is measured with it.
//
//	blocked 100000   # writes a line when they all wait; then, for each line that it reads, the longest times for which the world was stopped: by the collector, and by others
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"
)

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	never := make(chan int)
	for range n {
		all.Add(1)
		go wait(&all, never)
	}
	all.Wait()
	before := pauses()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		after := pauses()
		fmt.Println(longest(&before[0], &after[0]), longest(&before[1], &after[1]))
	}
}

func wait(all *sync.WaitGroup, c chan int) {
	all.Done()
	<-c
}

// pauses returns how long the world was stopped, how often, for the collector and for others.
func pauses() []metrics.Sample {
	samples := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}, {Name: "/sched/pauses/total/other:seconds"}}
	metrics.Read(samples)
	return samples
}

// longest returns the longest time for which the world was stopped between the two.
func longest(before, after *metrics.Sample) (most time.Duration) {
	was, is := before.Value.Float64Histogram(), after.Value.Float64Histogram()
	for bucket, n := range is.Counts {
		if n > was.Counts[bucket] {
			most = max(most, time.Duration(is.Buckets[bucket+1]*1e9))
		}
	}
	return most
}
