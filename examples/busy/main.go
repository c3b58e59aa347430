// Busy has more to compute than there are processors, and reads a pipe in a way in which the
// thread waits, not only the goroutine: docs/waits.md tells where its time goes.
package main

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"sync"
	"time"
)

func main() {
	runtime.GOMAXPROCS(2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { sum(50 * time.Millisecond) })
	}
	all.Go(func() { fmt.Println(answer()) })
	all.Wait()
}

// sum computes for that time.
func sum(d time.Duration) (n int) {
	for begun := time.Now(); time.Since(begun) < d; {
		for i := range 1 << 16 {
			n += i
		}
	}
	return n
}

// answer returns what it reads from a pipe.
func answer() string {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	r.Fd() // from now on the file blocks
	time.AfterFunc(30*time.Millisecond, func() { w.WriteString("yes") })
	b := make([]byte, 3)
	if _, err := r.Read(b); err != nil {
		log.Fatal(err)
	}
	return string(b)
}
