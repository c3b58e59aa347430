// Hot has a function that is called millions of times: docs/record.md records it within a budget.
package main

import "fmt"

func main() { fmt.Println(fib(40)) }

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
