// Fetch adds up numbers that it reads from a file, and one that it gets from a server on the same
// machine, which answers late.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: fetch FILE")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go serve(l)
	fmt.Println(fromFile(os.Args[1]) + fromServer(l.Addr().String()))
}

// fromFile returns the sum of the numbers in a file.
func fromFile(name string) int {
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	return sum(f)
}

// fromServer returns the sum of the numbers that a server sends.
func fromServer(address string) int {
	c, err := net.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	return sum(c)
}

// sum returns the sum of the numbers in lines.
func sum(r io.Reader) (n int) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		number, err := strconv.Atoi(lines.Text())
		if err != nil {
			log.Fatal(err)
		}
		n += number
	}
	return n
}

// serve sends a number to the first who connects, after a while.
func serve(l net.Listener) {
	c, err := l.Accept()
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	time.Sleep(250 * time.Millisecond)
	fmt.Fprintln(c, 100)
}
