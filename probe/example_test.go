package probe_test

import (
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/probe"
)

// Probes are package variables; the types of their arguments are checked where they fire.
var (
	requestStart = probe.New2[string, int]("example", "request-start", "path", "bytes")
	requestDone  = probe.New2[string, error]("example", "request-done", "path", "err")
)

func Example() {
	requestStart.Fire("/index.html", 120)
	requestDone.Fire("/index.html", nil)
	fmt.Println("on:", requestStart.Enabled())
	// Output: on: false
}

// Arguments that cost something to compute are computed only for who asks.
func ExampleProbe1_Enabled() {
	headers := probe.New1[string]("example", "headers", "text")
	if headers.Enabled() {
		headers.Fire(strings.Join([]string{"Host: x", "Accept: */*"}, "\n"))
	}
}
