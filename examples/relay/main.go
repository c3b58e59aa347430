// Relay is two processes that one request passes through. Without -next it serves prices. With it,
// it serves a basket, of which it asks the other process for the prices, each by a goroutine. It
// asks itself for the basket once, and ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
)

func main() {
	next := flag.String("next", "", "`URL` of the process that serves prices")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	own := "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	if *next == "" {
		mux.HandleFunc("GET /price/{item}", price)
		fmt.Println(own)
		log.Fatal(http.Serve(listener, mux))
	}
	mux.HandleFunc("GET /basket", func(w http.ResponseWriter, r *http.Request) { basket(w, *next) })
	go http.Serve(listener, mux)
	fmt.Println(get(own + "/basket"))
}

func price(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s costs %d", r.PathValue("item"), len(r.PathValue("item")))
}

func basket(w io.Writer, next string) {
	items := []string{"bread", "cheese"}
	prices := make([]string, len(items))
	var wg sync.WaitGroup
	for i, item := range items {
		wg.Go(func() { prices[i] = get(next + "/price/" + item) })
	}
	wg.Wait()
	fmt.Fprint(w, strings.Join(prices, ", "))
}

// get makes a request.
func get(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	return string(body)
}
