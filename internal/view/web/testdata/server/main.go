// Server is a program that goes on until a file named end is there: workers handle jobs and wait for
// each other, once a file named lock is there two goroutines wait for each other for good, and with FAST a loop calls a small
// function all the time. What its values and labels say looks like markup.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"sync"
	"time"
)

type job struct {
	id   int
	name string
}

var (
	store       sync.Mutex
	total       int
	left, right sync.Mutex
)

//go:noinline
func parse(s string) (n int) {
	for _, c := range s {
		n += int(c)
	}
	return n
}

//go:noinline
func save(j job, n int) error {
	store.Lock()
	defer store.Unlock()
	total += n
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
	if j.id%17 == 0 {
		return fmt.Errorf("job %d: no room", j.id)
	}
	return nil
}

//go:noinline
func handle(j job) error {
	n := 0
	for range 3 {
		n += parse(j.name)
	}
	time.Sleep(time.Duration(rand.IntN(8000)) * time.Microsecond)
	return save(j, n)
}

//go:noinline
func work(jobs <-chan job) {
	for j := range jobs {
		if err := handle(j); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

//go:noinline
func both(first, second *sync.Mutex) {
	first.Lock()
	time.Sleep(50 * time.Millisecond)
	second.Lock()
}

//go:noinline
func spin() {
	for n := 0; ; n++ {
		parse("x")
	}
}

func main() {
	jobs := make(chan job)
	for n := range 4 {
		go pprof.Do(context.Background(), pprof.Labels("worker", fmt.Sprintf("<b>%d</b>", n)), func(context.Context) { work(jobs) })
	}
	if os.Getenv("FAST") != "" {
		go spin()
	}
	for id := 0; ; id++ {
		jobs <- job{id, fmt.Sprintf("<img src=x onerror=window.pwned=1> %d", id)}
		if _, err := os.Stat("end"); err == nil {
			return
		}
		if os.Remove("lock") == nil {
			go both(&left, &right)
			go both(&right, &left)
		}
	}
}
