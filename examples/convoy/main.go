// Convoy is a program that takes long, for three reasons: its workers queue for one lock, nobody
// takes the last of their results, and a file is slow. docs/waits.md finds them.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A cache loads what it does not have, with the lock held.
type cache struct {
	mu    sync.Mutex
	items map[int]string
}

func (c *cache) get(key int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; !ok {
		c.items[key] = load(key)
	}
	return c.items[key]
}

func load(key int) string {
	time.Sleep(3 * time.Millisecond) // a query, say
	return fmt.Sprint("item ", key)
}

func work(c *cache, jobs <-chan int, results chan<- string) {
	for key := range jobs {
		results <- c.get(key)
	}
}

// first collects some results. It forgets that there are more.
func first(n int, results <-chan string) (list []string) {
	for range n {
		list = append(list, <-results)
	}
	return list
}

// settings reads a file to which another process writes, in its own time.
func settings(file io.Reader) string {
	text, err := io.ReadAll(file)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func main() {
	c := &cache{items: map[int]string{}}
	jobs, results := make(chan int, 16), make(chan string)
	for key := range 16 {
		jobs <- key
	}
	close(jobs)
	for range 4 {
		go work(c, jobs, results)
	}
	fmt.Println(len(first(12, results)), "results")

	file, other, err := os.Pipe()
	if err != nil {
		fmt.Println(err)
		return
	}
	time.AfterFunc(50*time.Millisecond, func() {
		io.WriteString(other, "verbose")
		other.Close()
	})
	fmt.Println(settings(file))
}
