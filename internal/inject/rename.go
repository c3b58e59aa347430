package inject

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
)

// renamed returns a package's only file as part of another package: its package clause says pkg,
// and every name that it declares at package level has the prefix. No struct may embed a type of
// the package: the field's name would differ from that in selectors.
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
		if s, ok := n.(*ast.StructType); ok && err == nil {
			err = checkFields(fset, tree, s)
		}
		id, ok := n.(*ast.Ident)
		if ok && id.Obj != nil && tree.Scope.Lookup(id.Name) == id.Obj && !keys[id] {
			at = append(at, offset(id.Pos()))
		}
		return true
	})
	if err != nil {
		return nil, err
	}
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

// checkFields returns an error if the struct embeds a type declared at package level.
func checkFields(fset *token.FileSet, tree *ast.File, s *ast.StructType) error {
	for _, field := range s.Fields.List {
		if field.Names != nil {
			continue
		}
		t := field.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		switch generic := t.(type) {
		case *ast.IndexExpr:
			t = generic.X
		case *ast.IndexListExpr:
			t = generic.X
		}
		if id, ok := t.(*ast.Ident); ok && tree.Scope.Lookup(id.Name) != nil {
			return fmt.Errorf("%v: embeds %s, which is to be renamed: give the field a name", fset.Position(field.Pos()), id.Name)
		}
	}
	return nil
}

// fieldKeys returns the identifiers that are field names in struct literals. The parser can't tell
// them from names of package level, which keys of array, slice and map literals can be.
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
