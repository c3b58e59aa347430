// Command goldmark renders the Markdown files named as arguments to HTML with every extension on.
package main

import (
	"fmt"
	"os"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
)

func main() {
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.DefinitionList, extension.Footnote,
			extension.Typographer, extension.CJK),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithAttribute()),
		goldmark.WithRendererOptions(html.WithXHTML(), html.WithUnsafe(), html.WithHardWraps()),
	)
	for _, name := range os.Args[1:] {
		src, err := os.ReadFile(name)
		if err == nil {
			err = md.Convert(src, os.Stdout)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}
