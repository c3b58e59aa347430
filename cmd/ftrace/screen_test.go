package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestScreen: nothing is printed but through what package screen guards. No file of this package
// but screen.go, and none of the views, names os.Stdout or os.Stderr, or prints to them by other
// means.
func TestScreen(t *testing.T) {
	verbs, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	views, err := filepath.Glob("../../internal/view/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range slices.Concat(verbs, views) {
		if strings.HasSuffix(name, "_test.go") || name == "screen.go" {
			continue
		}
		looked++
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, _ := n.X.(*ast.Ident)
				if x == nil {
					break
				}
				switch x.Name + "." + n.Sel.Name {
				case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println", "log.Print", "log.Printf", "log.Println":
					t.Errorf("%s has %s.%s: a verb's stdout and stderr are what prints", name, x.Name, n.Sel.Name)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
					t.Errorf("%s has %s", name, f.Name)
				}
			}
			return true
		})
	}
	if len(verbs) < 20 || len(views) < 25 || looked < 40 {
		t.Errorf("%d files were looked at, of %d and %d", looked, len(verbs), len(views))
	}
}
