// Traced has goroutines that stop for each reason, and lets the runtime record them too: it writes
// trace, and the profiles block and mutex, into the directory that is its argument.
package main

import (
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

var (
	mu   sync.Mutex
	rw   sync.RWMutex
	once sync.Once
)

const short = 2 * time.Millisecond

// lock makes a convoy.
func lock() {
	for range 4 {
		mu.Lock()
		time.Sleep(short)
		mu.Unlock()
	}
}

func share() {
	rw.RLock()
	time.Sleep(short)
	rw.RUnlock()
	rw.Lock()
	time.Sleep(short)
	rw.Unlock()
}

func first() { once.Do(func() { time.Sleep(short) }) }

func produce(c chan int) {
	for n := range 8 {
		c <- n
	}
	time.Sleep(short)
	close(c)
}

func consume(c chan int) {
	for range c {
		time.Sleep(short)
	}
}

func choose(c chan int) {
	for range 4 {
		select {
		case <-c:
		case <-time.After(short):
		}
	}
}

func signal(c *sync.Cond) {
	time.Sleep(short)
	c.L.Lock()
	c.Broadcast()
	c.L.Unlock()
}

// compute runs for longer than the scheduler lets it without others.
func compute() {
	n := 0
	for begun := time.Now(); time.Since(begun) < 60*time.Millisecond; {
		for i := range 1 << 16 {
			n += i
		}
	}
	runtime.KeepAlive(n)
}

func read(fd int) {
	if n, err := syscall.Read(fd, make([]byte, 1)); n != 1 {
		log.Fatal(err)
	}
}

func work() {
	var all sync.WaitGroup
	for range 3 {
		all.Go(lock)
		all.Go(share)
		all.Go(first)
		all.Go(compute)
	}
	c := make(chan int)
	all.Go(func() { produce(c) })
	all.Go(func() { consume(c) })
	all.Go(func() { choose(make(chan int)) })
	cond := sync.NewCond(new(sync.Mutex))
	cond.L.Lock()
	all.Go(func() { signal(cond) })
	cond.Wait()
	cond.L.Unlock()
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	fd := int(r.Fd())
	if err := syscall.SetNonblock(fd, false); err != nil {
		log.Fatal(err)
	}
	all.Go(func() { read(fd) })
	time.Sleep(20 * time.Millisecond)
	if _, err := w.Write([]byte{0}); err != nil {
		log.Fatal(err)
	}
	all.Wait()
}

func main() {
	runtime.GOMAXPROCS(2)
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	file := func(name string) *os.File {
		f, err := os.Create(filepath.Join(os.Args[1], name))
		if err != nil {
			log.Fatal(err)
		}
		return f
	}
	if err := trace.Start(file("trace")); err != nil {
		log.Fatal(err)
	}
	work()
	trace.Stop()
	for _, name := range []string{"block", "mutex"} {
		if err := pprof.Lookup(name).WriteTo(file(name), 0); err != nil {
			log.Fatal(err)
		}
	}
}
