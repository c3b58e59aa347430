package rewrite

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// file is one source file at work.
type file struct {
	pkg        *pkg
	name       string
	tree       *ast.File
	tok        *token.File
	edits      editBuffer
	hooked     int
	decl       ast.Decl          // at work
	typesOf    ast.Decl          // whose types localTypes are
	localTypes map[string]bool   // the types that it declares
	helpers    map[string]string // names of those with a meaning in this file alone, by what follows the name
	helperText strings.Builder
	reason     string // why literals of the function at work can't be hooked
}

func newFile(p *pkg, f File, tree *ast.File) *file {
	return &file{pkg: p, name: f.Name, tree: tree, tok: p.fset.File(tree.FileStart), edits: editBuffer{src: f.Source}, helpers: map[string]string{}}
}

// offset returns where pos is in the file's text, whatever its //line directives say.
func (f *file) offset(pos token.Pos) int { return f.tok.Offset(pos) }

// text returns the text of a part of the file.
func (f *file) text(n ast.Node) string {
	return string(f.edits.src[f.offset(n.Pos()):f.offset(n.End())])
}

// position returns the position of pos according to //line directives.
func (f *file) position(pos token.Pos) token.Position { return f.pkg.fset.Position(pos) }

// rewrite hooks the file's functions and returns its new text, or nil if there is nothing to
// change.
func (f *file) rewrite() []byte {
	last := f.tree.Name.End()
	for _, d := range f.tree.Decls {
		f.decl = d
		switch d := d.(type) {
		case *ast.FuncDecl:
			f.funcDecl(d, f.directives(last, d.Name.Pos()))
		case *ast.GenDecl:
			f.reason = ""
			f.literals(d, "init", ".func", &f.pkg.literals, nil)
		}
		last = d.End()
	}
	if f.hooked == 0 {
		return nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "//line %s:1\n", f.name)
	out.Write(bytes.TrimPrefix(f.edits.bytes(), []byte("\uFEFF"))) // a byte order mark may only come first
	if f.helperText.Len() > 0 {
		out.WriteString("\n//line ftrace-wrap/helpers.go:1" + f.helperText.String() + "\n")
	}
	return []byte(out.String())
}

// funcDecl hooks a declared function with these directives, and the literals in it.
func (f *file) funcDecl(d *ast.FuncDecl, directives []string) {
	name := f.declName(d)
	fn := Func{Name: name}
	f.place(&fn, d.Name.Pos())
	fn.Reason = f.pkg.skipReason(d, name, directives)
	if fn.Reason != "" {
		fn.How = Skipped
		f.pkg.add(fn)
	} else {
		fn.How = f.choose(d, typeParams(d))
		f.hook(&fn, d, typeParams(d))
	}
	if d.Body != nil && name != "_" {
		literals := 0
		f.reason = ""
		if fn.Reason == nilTaken || f.pkg.opt.Unhooked[name] != "" {
			f.reason = fn.Reason
		}
		f.literals(d.Body, name, ".func", &literals, typeParams(d))
		f.callsIn(name, d.Pos(), d.Body)
	}
}

// literals hooks the function literals below n, naming them as the compiler does: outer function,
// suffix, running number. A literal within a literal is numbered within it (F.func1.2).
func (f *file) literals(n ast.Node, outer, suffix string, count *int, params map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			if declares(n, "nil") {
				f.reason = nilTaken
			}
			if s, ok := n.(*ast.IfStmt); ok && f.staticBool(s) != 0 {
				f.liveBranch(s, func(n ast.Node) { f.literals(n, outer, suffix, count, params) })
				return false
			}
			return true
		}
		*count++
		fn := Func{Name: fmt.Sprintf("%s%s%d", outer, suffix, *count)}
		f.place(&fn, lit.Pos())
		if signatureNames(nil, lit.Type, "nil") {
			f.reason = nilTaken
		}
		if fn.Reason = f.literalReason(fn.Name); fn.Reason != "" {
			fn.How = Skipped
			f.pkg.add(fn)
		} else {
			d := &ast.FuncDecl{Name: ast.NewIdent("_"), Type: lit.Type, Body: lit.Body}
			fn.How = f.choose(d, params)
			f.hook(&fn, d, params)
		}
		inner := 0
		f.literals(lit.Body, fn.Name, ".", &inner, params)
		f.callsIn(fn.Name, lit.Pos(), lit.Body)
		return false
	})
}

// staticBool returns 1 for an if statement whose condition is always true, -1 for always false.
func (f *file) staticBool(s *ast.IfStmt) int {
	return f.pkg.staticBool(s.Cond, func(name string) (local bool) {
		if f.decl != nil {
			ast.Inspect(f.decl, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				local = local || declares(n, name) || ok && slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == name })
				return !local
			})
		}
		return local
	})
}

// liveBranch calls visit for the parts of an if statement that the compiler looks at. If the
// condition is constant these are not all: literals in the rest are not numbered.
func (f *file) liveBranch(s *ast.IfStmt, visit func(ast.Node)) {
	if s.Init != nil {
		visit(s.Init)
	}
	visit(s.Cond)
	if f.staticBool(s) > 0 {
		visit(s.Body)
	} else if s.Else != nil {
		visit(s.Else)
	}
}

// literalReason returns why a literal can't be hooked, or "".
func (f *file) literalReason(name string) string {
	if reason, ok := f.pkg.opt.Unhooked[name]; ok {
		return reason
	}
	return cmp.Or(f.pkg.refused, f.reason)
}

// place notes where fn begins.
func (f *file) place(fn *Func, pos token.Pos) {
	at := f.position(pos)
	fn.File, fn.Line = at.Filename, at.Line
}

// declName returns the name that the compiler gives a declared function's symbol, without the
// package.
func (f *file) declName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		switch {
		case d.Name.Name == "init":
			f.pkg.inits++
			return fmt.Sprintf("init.%d", f.pkg.inits-1)
		case d.Type.TypeParams != nil:
			return d.Name.Name + "[...]"
		}
		return d.Name.Name
	}
	base, pointer, generic := receiver(d.Recv.List[0].Type)
	if generic {
		base += "[...]"
	}
	if pointer {
		base = "(*" + base + ")"
	}
	return base + "." + d.Name.Name
}

// receiver takes a receiver's type apart.
func receiver(t ast.Expr) (base string, pointer, generic bool) {
	for {
		switch e := t.(type) {
		case *ast.ParenExpr:
			t = e.X
		case *ast.StarExpr:
			pointer = true
			t = e.X
		case *ast.IndexExpr:
			generic = true
			t = e.X
		case *ast.IndexListExpr:
			generic = true
			t = e.X
		case *ast.Ident:
			return e.Name, pointer, generic
		default:
			return "?", pointer, generic
		}
	}
}

// typeParams returns the names of the type parameters in scope in d.
func typeParams(d *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	if d.Type.TypeParams != nil {
		for _, field := range d.Type.TypeParams.List {
			for _, n := range field.Names {
				names[n.Name] = true
			}
		}
	}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		addReceiverTypeParams(d.Recv.List[0].Type, names)
	}
	return names
}

func addReceiverTypeParams(t ast.Expr, names map[string]bool) {
	var indices []ast.Expr
	switch e := t.(type) {
	case *ast.ParenExpr:
		addReceiverTypeParams(e.X, names)
	case *ast.StarExpr:
		addReceiverTypeParams(e.X, names)
	case *ast.IndexExpr:
		indices = []ast.Expr{e.Index}
	case *ast.IndexListExpr:
		indices = e.Indices
	}
	for _, i := range indices {
		if id, ok := i.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
}
