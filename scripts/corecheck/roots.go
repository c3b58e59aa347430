package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// rootsFile is added to each package, for staticcheck.
const rootsFile = "ftrace_roots.go"

var (
	linkname = regexp.MustCompile(`(?m)^//go:linkname (\w+)( \S+)?$`)
	word     = regexp.MustCompile(`\w+`)
)

// roots returns a file that uses what is used in ways that staticcheck does not see: names of the
// added files that other packages link to, and those in the text that the core puts into Go's
// functions, of which package runtime has many that only its assembly code calls.
func roots(pkg string, added []inject.File, spliced string) (inject.File, error) {
	linked, pulled := map[string]bool{}, map[string]bool{}
	for _, f := range added {
		for _, m := range linkname.FindAllSubmatch(f.Source, -1) {
			linked[string(m[1])] = true
			pulled[string(m[1])] = len(m[2]) > 0
		}
	}
	called := map[string]bool{}
	for _, w := range word.FindAllString(spliced, -1) {
		called[w] = true
	}
	var uses []string
	fset := token.NewFileSet()
	for _, f := range added {
		if filepath.Ext(f.Name) != ".go" {
			continue
		}
		tree, err := parser.ParseFile(fset, f.Name, f.Source, parser.SkipObjectResolution)
		if err != nil {
			return inject.File{}, err
		}
		for _, decl := range tree.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				name := decl.Name.Name
				if decl.Recv == nil && name != "init" && (called[name] || linked[name] && decl.Body != nil) {
					if types := decl.Type.TypeParams.NumFields(); types > 0 {
						name += "[int" + strings.Repeat(", int", types-1) + "]"
					}
					uses = append(uses, "var _ = "+name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if called[spec.Name.Name] {
							uses = append(uses, "var _ *"+spec.Name.Name)
						}
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							if called[id.Name] || linked[id.Name] && !pulled[id.Name] {
								uses = append(uses, "var _ = "+id.Name)
							}
						}
					}
				}
			}
		}
	}
	slices.Sort(uses)
	return inject.File{Name: rootsFile, Source: fmt.Appendf(nil, "package %s\n\n%s\n", pkg, strings.Join(uses, "\n"))}, nil
}
