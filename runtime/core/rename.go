package core

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
)

// renamed returns a package's only file as part of another package: its package clause says pkg, and every name it declares at
// package level has the prefix.
func renamed(source []byte, pkg, prefix string) ([]byte, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", source, 0)
	if err != nil {
		return nil, err
	}
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset }
	keys := fieldKeys(tree)
	var at []int
	ast.Inspect(tree, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && id.Obj != nil && tree.Scope.Lookup(id.Name) == id.Obj && !keys[id] {
			at = append(at, offset(id.Pos()))
		}
		return true
	})
	sort.Ints(at)
	var out bytes.Buffer
	out.WriteString("package " + pkg)
	from := offset(tree.Name.End())
	for _, i := range at {
		out.Write(source[from:i])
		out.WriteString(prefix)
		from = i
	}
	out.Write(source[from:])
	return out.Bytes(), nil
}

// fieldKeys returns the identifiers that are field names in struct literals. The parser can't tell them from names of
// package level; keys of array, slice and map literals are such names.
func fieldKeys(tree *ast.File) map[*ast.Ident]bool {
	keys := map[*ast.Ident]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch lit.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			return true
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok {
					keys[id] = true
				}
			}
		}
		return true
	})
	return keys
}
