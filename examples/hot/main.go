// Hot has a function that is called millions of times: docs/record.md records it within a budget,
// and docs/live.md attaches to it.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	n := 40
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	fmt.Println(fib(n))
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
