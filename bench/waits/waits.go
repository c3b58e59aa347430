// Package waits has goroutines that stop and go on, for the benchmarks of waits.
package waits

import "sync"

// A Pair is two goroutines that hand a number to each other.
type Pair struct{ to, from chan int }

// NewPair starts the second goroutine, which ends when Close is called.
func NewPair() *Pair {
	p := &Pair{make(chan int), make(chan int)}
	go func() {
		for n := range p.to {
			p.from <- n + 1
		}
	}()
	return p
}

// Hand hands a number over and returns what comes back. On one processor each of the two stops
// once for it.
func (p *Pair) Hand(n int) int {
	p.to <- n
	return <-p.from
}

// Close ends the second goroutine.
func (p *Pair) Close() { close(p.to) }

// A Counter is guarded by a mutex.
type Counter struct {
	mu sync.Mutex
	n  int
}

// Add counts. Nobody else holds the lock.
func (c *Counter) Add() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

// A Table is guarded by an RWMutex.
type Table struct {
	mu sync.RWMutex
	n  int
}

// Get reads. Nobody else holds the lock.
func (t *Table) Get() int {
	t.mu.RLock()
	n := t.n
	t.mu.RUnlock()
	return n
}

// A Pool is counters, under a lock of its own.
type Pool struct {
	mu sync.Mutex
	c  Counter
}

// Add counts, with one lock held while the other is taken.
func (p *Pool) Add() {
	p.mu.Lock()
	p.c.Add()
	p.mu.Unlock()
}

// A Queue has room for one number.
type Queue chan int

// Pass sends a number and receives it, neither of which stops.
func (q Queue) Pass(n int) int {
	q <- n
	return <-q
}
