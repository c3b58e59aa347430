// Httpecho is an HTTP server and its client in one process. Its trace shows the handlers at work in
// goroutines of net/http, and what Note adds to lines that otherwise have little but pointers.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: routes()}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	})

	url := "http://" + listener.Addr().String()
	for _, r := range []struct{ path, body string }{
		{"/echo", "Is anybody there?"},
		{"/shout", "Is anybody there?"},
		{"/shout", ""},
	} {
		reply, err := post(url+r.path, r.body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.path, reply)
	}

	if err := server.Shutdown(context.Background()); err != nil {
		log.Fatal(err)
	}
	serving.Wait()
}

// routes says who answers what.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", echo)
	mux.HandleFunc("POST /shout", shout)
	return mux
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(w, r.Body)
	if err != nil {
		log.Print(err)
	}
	ftrace.Note(n, "bytes from", r.UserAgent())
}

// shout answers in capitals.
func shout(w http.ResponseWriter, r *http.Request) {
	text, err := read(r)
	if err != nil {
		ftrace.Note(http.StatusBadRequest)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, strings.ToUpper(text))
}

// read returns the body of a request, which must have one.
func read(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) == 0 {
		err = errors.New("nothing to say")
	}
	return string(body), err
}

// post sends text and returns the answer with its status.
func post(url, text string) (string, error) {
	resp, err := http.Post(url, "text/plain", strings.NewReader(text))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(string(answer))), err
}
