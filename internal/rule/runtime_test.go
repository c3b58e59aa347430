package rule_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// The compiler has a mode for package runtime that refuses hidden allocations.
func TestCompilesAsRuntime(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rule.go")
	source := regexp.MustCompile(`(?m)^package rule$`).ReplaceAll(rule.Source, []byte("package runtime"))
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "compile", "-+", "-p", "runtime", "-o", filepath.Join(dir, "rule.o"), file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Top-level names are renamed by text when the package goes into package runtime,
// so they must not be used for anything else.
func TestNamesAreUnique(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rule.go", rule.Source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Imports) > 0 {
		t.Error("it imports packages, package runtime cannot")
	}
	top := map[string]bool{}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				top[decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					top[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						top[name.Name] = true
					}
				}
			}
		}
	}
	// By design of the API.
	delete(top, "Detail")
	delete(top, "Error")

	refuse := func(name *ast.Ident) {
		if name != nil && top[name.Name] {
			t.Errorf("offset %d: %s is also a top-level name", name.Pos(), name.Name)
		}
	}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
			refuse(fn.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				refuse(name)
			}
		case *ast.SelectorExpr:
			refuse(n.Sel)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					refuse(name)
				}
			}
		case *ast.DeclStmt:
			for _, spec := range n.Decl.(*ast.GenDecl).Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					refuse(name)
				}
			}
		case *ast.RangeStmt:
			if name, ok := n.Key.(*ast.Ident); ok {
				refuse(name)
			}
		case *ast.KeyValueExpr:
			if name, ok := n.Key.(*ast.Ident); ok {
				refuse(name)
			}
		}
		return true
	})
}
