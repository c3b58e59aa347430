// Orders is two services that speak by NATS. The shop serves HTTP: for GET /items/{item} it asks
// how many there are, and for POST /orders/{item} it publishes an order. With -stock it is the
// stock instead, which answers the one, handles the other and publishes that it is packed. The shop
// prints its address, the stock that it is ready. They serve until they are interrupted.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

func main() {
	server := flag.String("nats", nats.DefaultURL, "`URL` of the NATS server")
	stock := flag.Bool("stock", false, "be the stock")
	flag.Parse()
	nc, err := nats.Connect(*server)
	if err != nil {
		log.Fatal(err)
	}
	failed := make(chan error, 1)
	if *stock {
		if err := serveStock(nc); err != nil {
			log.Fatal(err)
		}
		fmt.Println("ready")
	} else {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(listener.Addr())
		go func() { failed <- serveShop(listener, nc) }()
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	select {
	case err := <-failed:
		log.Fatal(err)
	case <-interrupted:
	}
	// What has come is handled before the program ends.
	closed := make(chan struct{})
	nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
	if err := nc.Drain(); err != nil {
		log.Fatal(err)
	}
	<-closed
}

func serveShop(listener net.Listener, nc *nats.Conn) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{item}", func(w http.ResponseWriter, r *http.Request) {
		answer, err := nc.Request("stock.count", []byte(r.PathValue("item")), 10*time.Second)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintf(w, "%s of %s\n", answer.Data, r.PathValue("item"))
	})
	mux.HandleFunc("POST /orders/{item}", func(w http.ResponseWriter, r *http.Request) {
		if err := nc.Publish("orders."+r.PathValue("item")+".new", nil); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	return http.Serve(listener, mux)
}

func serveStock(nc *nats.Conn) error {
	items := map[string]int{"bread": 5, "cheese": 6}
	_, err := nc.Subscribe("stock.count", func(m *nats.Msg) {
		if err := m.Respond(fmt.Append(nil, items[string(m.Data)])); err != nil {
			log.Print(err)
		}
	})
	if err != nil {
		return err
	}
	_, err = nc.QueueSubscribe("orders.*.new", "packers", func(m *nats.Msg) {
		item := strings.Split(m.Subject, ".")[1]
		if err := nc.Publish("orders."+item+".packed", nil); err != nil {
			log.Print(err)
		}
	})
	if err != nil {
		return err
	}
	return nc.Flush()
}
