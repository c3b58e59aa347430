// Served is a small HTTP server, and the load on it: what the Performance Schema costs a server is
// measured with it.
//
//	served                          # serves, and writes its address
//	served -load ADDRESS -for 2s    # asks it over 8 connections, and writes how many requests it answered in how many seconds
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const connections = 8

func main() {
	address := flag.String("load", "", "ask the server at this address")
	duration := flag.Duration("for", time.Second, "how long")
	flag.Parse()
	if *address != "" {
		requests, seconds := load("http://"+*address+"/words?text=a+quick+brown+fox", *duration)
		fmt.Println(requests, seconds)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	http.HandleFunc("/words", handle)
	http.Serve(listener, nil)
}

// load returns how many requests were answered, and in how many seconds.
func load(url string, duration time.Duration) (requests int64, seconds float64) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	var answered atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range connections {
		all.Go(func() {
			for time.Since(began) < duration {
				res, err := client.Get(url)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				answered.Add(1)
			}
		})
	}
	all.Wait()
	return answered.Load(), time.Since(began).Seconds()
}

func handle(w http.ResponseWriter, r *http.Request) {
	words, err := parse(r.FormValue("text"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, describe(words))
}

func parse(text string) ([]string, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errEmpty{}
	}
	return words, nil
}

type errEmpty struct{}

func (errEmpty) Error() string { return "there are no words" }

func describe(words []string) string {
	return fmt.Sprintf("%d words, the longest is %s", len(words), longest(words))
}

func longest(words []string) (best string) {
	for _, word := range words {
		if len(word) > len(best) {
			best = word
		}
	}
	return best
}
