// Echo is an HTTP server and its clients, which send it small requests over loopback connections
// that are kept.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
)

const (
	clients  = 4
	requests = 5000 // of each
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		io.Copy(w, r.Body)
	}))
	url := fmt.Sprintf("http://%s/echo", listener.Addr())
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = clients
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for i := range requests {
				body := fmt.Sprintf("client %d request %d", c, i)
				resp, err := http.Post(url, "text/plain", strings.NewReader(body))
				if err != nil {
					log.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || string(got) != body {
					log.Fatalf("sent %q, got %q, %v", body, got, err)
				}
			}
		})
	}
	all.Wait()
}
