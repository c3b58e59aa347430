package inject

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"testing"
)

// A name that no function has any more would be without effect, and nobody would see.
func TestHotFunctionsAreThere(t *testing.T) {
	files, err := runtimeFiles("go1.26", "linux", "amd64")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	for _, file := range files {
		if path.Ext(file.Name) != ".go" {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file.Name, file.Source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				declared[symbolOf(fn)] = true
			}
		}
	}
	for name := range hot {
		if !declared[name] {
			t.Errorf("hot: there is no function %s", name)
		}
	}
	for name := range apart {
		if !hot[name] {
			t.Errorf("apart: %s is not hot", name)
		}
	}
}
