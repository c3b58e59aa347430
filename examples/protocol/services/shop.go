package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// A shop serves what there is.
type shop struct{ stock *stockClient }

func serveShop(listener net.Listener, stock string) error {
	conn, err := grpc.NewClient(stock, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	s := shop{&stockClient{conn}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items", s.list)
	mux.HandleFunc("GET /items/{item}", s.show)
	return http.Serve(listener, mux)
}

// show says how many there are of an item.
func (s shop) show(w http.ResponseWriter, r *http.Request) {
	item := r.PathValue("item")
	n, err := s.stock.count(r.Context(), item)
	if err != nil {
		fail(w, err)
		return
	}
	fmt.Fprintf(w, "%d of %s\n", n, item)
}

// list says which items there are.
func (s shop) list(w http.ResponseWriter, r *http.Request) {
	var items []string
	err := s.stock.list(r.Context(), func(item string) { items = append(items, item) })
	if err != nil {
		fail(w, err)
		return
	}
	io.WriteString(w, strings.Join(items, "\n")+"\n")
}

func fail(w http.ResponseWriter, err error) {
	code := http.StatusBadGateway
	if status.Code(err) == codes.NotFound {
		code = http.StatusNotFound
	}
	http.Error(w, err.Error(), code)
}
