// Command log logs with log.
package main

import (
	"errors"
	"log"
	"os"
	"sync"
)

func main() {
	log.SetFlags(log.Lmsgprefix) // without time: the same each time
	log.SetPrefix("shop: ")
	log.Print("open on :8080")
	var done sync.WaitGroup
	done.Go(func() { sell("tea", 3) })
	done.Wait() // the lines come in the same order each time
	done.Go(func() { sell("milk", 0) })
	done.Wait()
	log.New(os.Stderr, "[end] ", 0).Printf("closed\nfor today")
}

func sell(item string, pieces int) {
	log.Printf("order of %d %s", pieces, item)
	sum, err := quote(item, pieces)
	if err != nil {
		log.Printf("refused: %v", err)
		return
	}
	log.Printf("%s sold out for %d", item, sum)
}

func quote(item string, pieces int) (int, error) {
	log.Print("looking up ", item)
	if pieces == 0 {
		return 0, errors.New("nothing ordered")
	}
	return pieces * price(item), nil
}

func price(item string) int { return len(item) }
