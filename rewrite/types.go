package rewrite

import (
	"go/ast"
	"go/token"
	"strings"
)

// The type of a function, in the form in which package mock compares it with a replacement's:
// func(*T,[]uint8,net/http.Header)(int,error), the receiver first. Types of other packages begin
// with the import path, and those of this package with nothing. _ is a type that only the compiler
// can determine. Before it stands what told returns.

// told returns what the text of a function's type begins with if its hook tells the instantiation:
// +, or ++ if the type is the same for several.
func (f *file) told(d *ast.FuncDecl, typeParams map[string]bool) string {
	named := map[string]bool{}
	ast.Inspect(d.Type, func(n ast.Node) bool {
		if n == d.Type.TypeParams {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && typeParams[id.Name] {
			named[id.Name] = true
		}
		return true
	})
	if len(named) < len(typeParams) && d.Name.Name != "_" {
		return "++"
	}
	return "+"
}

// typeText returns the text of a function's type.
func (f *file) typeText(d *ast.FuncDecl, typeParams map[string]bool) string {
	w := typeWriter{file: f, typeParams: typeParams, local: d.Name.Name == "_"}
	var recv []*ast.Field
	if d.Recv != nil {
		recv = d.Recv.List
	}
	w.function(recv, d.Type)
	return w.String()
}

// typeWriter writes types.
type typeWriter struct {
	strings.Builder
	file       *file
	typeParams map[string]bool
	local      bool // names may be declared in a surrounding function
}

func (w *typeWriter) function(recv []*ast.Field, t *ast.FuncType) {
	w.WriteString("func(")
	w.fields(append(recv[:len(recv):len(recv)], t.Params.List...))
	w.WriteByte(')')
	if t.Results.NumFields() > 0 {
		w.WriteByte('(')
		w.fields(t.Results.List)
		w.WriteByte(')')
	}
}

func (w *typeWriter) fields(list []*ast.Field) {
	n := 0
	for _, field := range list {
		for range max(1, len(field.Names)) {
			if n > 0 {
				w.WriteByte(',')
			}
			n++
			w.expr(field.Type)
		}
	}
}

func (w *typeWriter) expr(t ast.Expr) {
	switch t := t.(type) {
	case *ast.ParenExpr:
		w.expr(t.X)
	case *ast.StarExpr:
		w.prefixed("*", t.X)
	case *ast.Ellipsis:
		w.prefixed("...", t.Elt)
	case *ast.ArrayType:
		lit, ok := t.Len.(*ast.BasicLit)
		switch {
		case t.Len == nil:
			w.prefixed("[]", t.Elt)
		case ok && strings.Trim(lit.Value, "0123456789") == "" && lit.Value[0] != '0':
			w.prefixed("["+lit.Value+"]", t.Elt)
		default:
			w.WriteByte('_')
		}
	case *ast.MapType:
		w.prefixed("map[", t.Key)
		w.prefixed("]", t.Value)
	case *ast.ChanType:
		w.prefixed(map[ast.ChanDir]string{ast.SEND: "chan<- ", ast.RECV: "<-chan "}[t.Dir]+map[bool]string{true: "chan "}[t.Dir == ast.SEND|ast.RECV], t.Value)
	case *ast.FuncType:
		w.function(nil, t)
	case *ast.InterfaceType:
		w.WriteString(map[bool]string{true: "any", false: "_"}[t.Methods.NumFields() == 0])
	case *ast.StructType:
		w.WriteString(map[bool]string{true: "struct{}", false: "_"}[t.Fields.NumFields() == 0])
	case *ast.Ident:
		w.WriteString(w.named(t.Name))
	case *ast.SelectorExpr:
		w.WriteString(w.imported(t))
	default:
		w.WriteByte('_')
	}
}

func (w *typeWriter) prefixed(prefix string, t ast.Expr) {
	w.WriteString(prefix)
	w.expr(t)
}

// named returns the text for the name of a type without a package.
func (w *typeWriter) named(name string) string {
	p := w.file.pkg
	switch {
	case w.typeParams[name] || p.aliases[name]:
		return "_"
	case w.local && w.file.declaresType(name):
		return "_"
	case p.types[name] != nil:
		return name
	}
	switch name {
	case "byte":
		return "uint8"
	case "rune":
		return "int32"
	case "any", "bool", "complex128", "complex64", "error", "float32", "float64", "int", "int16", "int32", "int64", "int8", "string", "uint", "uint16",
		"uint32", "uint64", "uint8", "uintptr":
		return name
	}
	return "_"
}

// declaresType reports whether the declaration at work declares a type called name, which literals
// in it may then mean.
func (f *file) declaresType(name string) bool {
	if f.decl != f.typesOf {
		f.typesOf, f.localTypes = f.decl, map[string]bool{}
		ast.Inspect(f.decl, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				f.localTypes[spec.Name.Name] = true
			}
			return true
		})
	}
	return f.localTypes[name]
}

// imported returns the text for a type of another package.
func (w *typeWriter) imported(t *ast.SelectorExpr) string {
	if x, ok := t.X.(*ast.Ident); ok {
		for _, spec := range w.file.tree.Imports {
			if name, path := importName(spec); name == x.Name && path != "C" && path != "unsafe" && token.IsExported(t.Sel.Name) {
				return path + "." + t.Sel.Name
			}
		}
	}
	return "_"
}
