package rewrite_test

import (
	"fmt"

	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// What becomes of a package's functions.
func ExamplePackage() {
	result, err := rewrite.Package(
		rewrite.Options{ImportPath: "example.com/shop", Symbol: "example.com/shop"},
		[]rewrite.File{{Name: "shop.go", Source: []byte(`package shop

func Price(item string) int { return len(item) }

func Sell(item string) (paid int) {
	defer func() { recover() }()
	return Price(item)
}

//go:nosplit
func tick() {}
`)}})
	if err != nil {
		fmt.Println(err) // the package does not parse
		return
	}
	for _, f := range result.Funcs {
		fmt.Println(f.Line, f.Name, f.How)
		if f.Reason != "" {
			fmt.Println("because", f.Reason)
		}
	}
	// Output:
	// 3 Price inline
	// 5 Sell deferred
	// 6 Sell.func1 outline
	// 11 tick skipped
	// because it may run where the stack can't grow (go:nosplit)
}

// Statements at the entry and the returns of a function.
func ExampleInsert() {
	changed, missing, err := rewrite.Insert(
		[]rewrite.File{{Name: "shop.go", Source: []byte("package shop\n\nfunc Price(item string) int { return len(item) }\n")}},
		[]rewrite.Insertion{{Func: "Price", Type: "func(string) int", Entry: "enter({p0})", Exit: "leave({r0})"}},
		nil)
	fmt.Println(len(changed), missing, err)
	// Output: 1 [] <nil>
}
