// Leaks is a service in which some goroutines never go on. docs/waits.md finds out which, and what
// they wait for.
package main

import (
	"fmt"
	"sync"
	"time"
)

// A store passes on what is added to it.
type store struct {
	mu      sync.Mutex
	items   []string
	changes chan string
}

var items = &store{changes: make(chan string, 1)}

func main() {
	fmt.Println(ask("a", "b", "c"), "answered")
	go items.add("first")
	time.Sleep(20 * time.Millisecond)
	go items.add("second")
	time.Sleep(20 * time.Millisecond)
	for range 3 {
		go items.count()
	}
	time.Sleep(20 * time.Second) // and then it gives up
}

// ask returns the first of the replicas that answers. The others have nobody to answer to.
func ask(replicas ...string) string {
	answers := make(chan string)
	for _, name := range replicas {
		go func() { answers <- name }()
	}
	return <-answers
}

// add has the store locked until somebody takes the change.
func (s *store) add(item string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, item)
	s.changes <- item
}

func (s *store) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}
