package probe_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/probe"
)

// Probes are package variables. The compiler checks the types of their arguments where they fire.
var (
	requestStart = probe.New2[string, int]("example", "request-start", "path", "bytes")
	requestDone  = probe.New2[string, error]("example", "request-done", "path", "err")
)

// A server with two probes. FTRACE='probe/example/*' prints
//
//   - example:::request-start(path="/index.html", bytes=120)
//   - example:::request-done(path="/index.html", err=*errors.errorString("not found"))
func Example() {
	requestStart.Fire("/index.html", 120)
	requestDone.Fire("/index.html", errors.New("not found"))
	fmt.Println("on:", requestStart.Enabled())
	// Output: on: false
}

// The arguments are computed only if somebody watches.
func ExampleProbe1_Enabled() {
	headers := probe.New1[string]("example", "headers", "text")
	if headers.Enabled() {
		headers.Fire(strings.Join([]string{"Host: x", "Accept: */*"}, "\n"))
	}
	fmt.Println(headers.Enabled())
	// Output: false
}

// A probe without arguments marks a moment.
func ExampleNew0() {
	ready := probe.New0("example", "ready")
	ready.Fire()
	// Output:
}

// Arguments of any types and any number.
func ExampleNew() {
	event := probe.New("example", "event", "kind", "id", "state")
	event.Fire("cache", 7, []string{"cold"})
	// Output:
}

// The same probe can be declared in several places; other arguments are a mistake.
func ExampleNew2() {
	again := probe.New2[string, int]("example", "request-start", "path", "bytes")
	fmt.Println(again == requestStart)
	defer func() { fmt.Println(recover()) }()
	probe.New1[string]("example", "request-start", "path")
	// Output:
	// true
	// probe: example:::request-start is declared as request-start(path string), and was as request-start(path string, bytes int)
}
