// Idle is a program of some size that does nothing.
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {})
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}
