// Services is three services that a request passes through: a shop, which serves HTTP, asks a stock
// by gRPC, which asks a database. Without -stock it is the stock, otherwise the shop. Without -dsn
// the stock has its numbers in memory. Each prints its address and serves until it is interrupted.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
)

func main() {
	stock := flag.String("stock", "", "be the shop, and ask the stock at this `ADDRESS`")
	dsn := flag.String("dsn", "", "`NAME` of the MariaDB database that has the stock, as in user@tcp(127.0.0.1:3306)/shop")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	failed := make(chan error, 1)
	if *stock != "" {
		go func() { failed <- serveShop(listener, *stock) }()
	} else {
		go func() { failed <- serveStock(listener, *dsn) }()
	}
	select {
	case err := <-failed:
		log.Fatal(err)
	case <-interrupted:
	}
}
