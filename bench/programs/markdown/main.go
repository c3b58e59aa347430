// Markdown renders a large document several times.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

func main() {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "# Section %d\n\nSome *emphasis*, **strong** text, `code` and a [link](https://example.com/%d).\n\n", i, i)
		fmt.Fprintf(&text, "* item one\n* item %d\n  1. nested\n\n> quoted\n\n```go\nfunc f%d() {}\n```\n\n| a | b |\n|---|---|\n| 1 | %d |\n\n", i, i, i)
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	size := 0
	for range 8 {
		var out bytes.Buffer
		if err := md.Convert([]byte(text.String()), &out); err != nil {
			log.Fatal(err)
		}
		n, _ := io.Copy(io.Discard, &out)
		size += int(n)
	}
	fmt.Println(size)
}
