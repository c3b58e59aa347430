// Command print prints, to standard output and standard error.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

func main() {
	fmt.Println("shop is open on :8080")
	var done sync.WaitGroup
	done.Go(func() { sell("tea", 3) })
	done.Wait() // the lines come in the same order each time
	done.Go(func() { sell("milk", 0) })
	done.Wait()
	println("shop is closed")
}

func sell(item string, pieces int) {
	fmt.Printf("order: %s\n  pieces: %d\n", item, pieces)
	sum, err := quote(item, pieces)
	if err != nil {
		fmt.Fprintln(os.Stderr, "refused:", err)
		return
	}
	fmt.Fprintf(os.Stderr, "%s sold out for %d\n", item, sum)
}

func quote(item string, pieces int) (int, error) {
	if pieces == 0 {
		return 0, errors.New("nothing ordered")
	}
	return pieces * price(item), nil
}

func price(item string) int { return len(item) }
