// Package words makes parts of messages: numbers of things, and what a misspelt name may have meant.
package words

import "fmt"

// Count returns "1 run" or "2 runs".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}
