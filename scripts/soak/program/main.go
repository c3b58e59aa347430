// Program is the server of scripts/soak: its requests call one function very often and others now
// and then, wait for a lock, read a file, and fail at times. It ends when stdin does.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s := &server{seen: map[int]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /item/{n}", s.item)
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

type server struct {
	mu   sync.Mutex
	seen map[int]int
}

func (s *server) item(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err == nil {
		err = check(n)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	parts := make(chan uint64)
	for i := range 2 {
		go func() { parts <- part(n, i) }()
	}
	fmt.Fprintln(w, <-parts+<-parts, s.count(n), size())
}

var errUnlucky = errors.New("an unlucky number")

func check(n int) error {
	if n%50 == 13 {
		return fmt.Errorf("item %d: %w", n, errUnlucky)
	}
	return nil
}

// part mixes a thousand numbers.
func part(n, i int) uint64 {
	sum := uint64(0)
	for k := range 1000 {
		sum = mix(sum, uint64(n+i+k))
	}
	return sum
}

//go:noinline
func mix(sum, k uint64) uint64 {
	for range 8 {
		sum = (sum ^ k) * 0x9E3779B97F4A7C15
	}
	return sum
}

// count counts an item. It is known up to 100 items.
func (s *server) count(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[n%100]++
	return s.seen[n%100]
}

func size() int {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	return len(text)
}
