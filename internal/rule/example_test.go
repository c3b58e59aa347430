package rule_test

import (
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// The last clause that matches a function decides for it.
func Example() {
	clauses, err, ok := rule.Parse(`
		main.*                     # everything in package main
		!main.noisy                # but this
		net/http/... = call,min=1ms
	`)
	if !ok {
		fmt.Println(err)
		return
	}
	for _, f := range []rule.Func{
		{Package: "main", ImportPath: "example.com/cmd/app", Name: "serve"},
		{Package: "main", ImportPath: "example.com/cmd/app", Name: "noisy"},
		{Package: "net/http", ImportPath: "net/http", Name: "(*Client).Do"},
		{Package: "os", ImportPath: "os", Name: "Open"},
	} {
		if i := rule.Decide(clauses, &f); i >= 0 {
			fmt.Printf("%s.%s: %v, by %q\n", f.Package, f.Name, clauses[i].Detail, clauses[i].Text)
		} else {
			fmt.Printf("%s.%s: no clause\n", f.Package, f.Name)
		}
	}
	// Output:
	// main.serve: args, by "main.*"
	// main.noisy: off, by "!main.noisy"
	// net/http.(*Client).Do: call, by "net/http/... = call,min=1ms"
	// os.Open: no clause
}

// An error knows the text at fault.
func ExampleParse_error() {
	const text = "main.*=agrs,first=10"
	_, err, _ := rule.Parse(text)
	fmt.Println(err)
	fmt.Println(text)
	fmt.Println(strings.Repeat(" ", err.Offset) + strings.Repeat("^", err.Length))
	// Output:
	// unknown setting "agrs" (did you mean "args"?)
	// main.*=agrs,first=10
	//        ^^^^
}
