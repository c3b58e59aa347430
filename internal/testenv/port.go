package testenv

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Port returns a port of 127.0.0.1 on which nobody listens, for a program that is to listen there.
// It is none of those that Linux gives to whoever connects, or listens on any. So nobody gets it
// meanwhile, and nobody who connects to it before the program listens is connected to itself.
func Port() (port int, err error) {
	for range 100 {
		port = 20000 + rand.IntN(12000)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}
