// Circle is a program that never gets done: a bus line whose last stop leads back to its first.
// docs/live.md finds out where it runs.
package main

import "fmt"

// A stop of a bus line.
type stop struct {
	name string
	next *stop // nil: the line ends here
}

func main() {
	harbour, market, church := &stop{name: "Harbour"}, &stop{name: "Market"}, &stop{name: "Church"}
	harbour.next, market.next, church.next = market, church, market
	announce(harbour)
}

// announce says where a bus goes.
func announce(from *stop) {
	fmt.Printf("%s to %s\n", from.name, terminus(from).name)
}

// terminus returns the last stop.
func terminus(s *stop) *stop {
	for ; s.next != nil; s = s.next {
	}
	return s
}
