package sweep

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
)

// source tells from functions' source whether they can fail at all. It looks at no types: what it
// is not sure of may fail.
type source struct {
	list     func(importPath string) (dir string)
	packages map[string]map[string]*returned // by import path and function
}

// returned is what a function returns as its error.
type returned struct {
	none  bool // nil
	made  bool // an error that the return statement itself makes
	other bool
	calls []string // what functions of the same package return
}

// why returns why a function need not fail, or "".
func (s *source) why(fn string) string {
	importPath, name := funcname.Split(fn)
	importPath = strings.ReplaceAll(importPath, "%2e", ".")
	if base := name[strings.LastIndexByte(name, '.')+1:]; base != name && (base == "Unwrap" || base == "Cause") {
		return "they return an error that they are about"
	}
	functions, ok := s.packages[importPath]
	if !ok {
		if s.packages == nil {
			s.packages = map[string]map[string]*returned{}
		}
		functions = parseReturns(s.list(importPath))
		s.packages[importPath] = functions
	}
	r := functions[name]
	if r == nil {
		return ""
	}
	switch all := r.all(functions, map[*returned]bool{}); {
	case all.none && !all.made && !all.other:
		return "their error is always nil"
	case all.made && !all.none && !all.other:
		return "they always return an error"
	}
	return ""
}

// all returns what r returns by itself and by the functions that it calls for that.
func (r *returned) all(functions map[string]*returned, seen map[*returned]bool) returned {
	sum := *r
	seen[r] = true
	for _, name := range r.calls {
		called := functions[name]
		switch {
		case called == nil:
			sum.other = true
		case !seen[called]:
			x := called.all(functions, seen)
			sum.none, sum.made, sum.other = sum.none || x.none, sum.made || x.made, sum.other || x.other
		}
	}
	return sum
}

// parseReturns parses the package in dir, and returns what its functions return, by the names that
// they have in stack traces.
func parseReturns(dir string) map[string]*returned {
	found := map[string]*returned{}
	if dir == "" {
		return found
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names {
		file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if file == nil || strings.HasSuffix(name, "_test.go") {
			continue // of what does not parse, nothing is known
		}
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Type.Results == nil {
				continue
			}
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiverName(d.Recv.List[0].Type) + "." + name
			}
			r := returnsOf(d)
			if before := found[name]; before != nil { // for another system
				r.none, r.made, r.other = r.none || before.none, r.made || before.made, r.other || before.other
				r.calls = append(r.calls, before.calls...)
			}
			found[name] = r
		}
	}
	return found
}

// receiverName returns a receiver's type as it is in the names of methods.
func receiverName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return "(*" + receiverName(t.X) + ")"
	case *ast.ParenExpr:
		return receiverName(t.X)
	case *ast.IndexExpr:
		return receiverName(t.X) + "[...]"
	case *ast.IndexListExpr:
		return receiverName(t.X) + "[...]"
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// returnsOf returns what the return statements of a function have last.
func returnsOf(d *ast.FuncDecl) *returned {
	r := &returned{}
	local := map[string]bool{} // names that may stand for something of the function's own
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			local[name.Name] = true
		}
	}
	results := d.Type.Results.NumFields()
	named := len(d.Type.Results.List[0].Names) > 0 // they may be assigned, by deferred calls too
	r.other = named || d.Body == nil
	if d.Body == nil {
		return r
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if x, ok := e.(*ast.Ident); ok {
					local[x.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, x := range n.Names {
				local[x.Name] = true
			}
		}
		return true
	})
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if k := len(n.Results); k > 0 {
				r.add(n.Results[k-1], local, k == results)
			}
		}
		return true
	})
	return r
}

// add adds an expression that is returned; single says that it is the error alone.
func (r *returned) add(e ast.Expr, local map[string]bool, single bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "nil" {
			r.none = true
			return
		}
	case *ast.CompositeLit:
		r.made = true
		return
	case *ast.UnaryExpr:
		if _, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			r.made = true
			return
		}
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			if !local[f.Name] {
				r.calls = append(r.calls, f.Name)
				return
			}
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok && single && !local[x.Name] && (x.Name == "errors" && f.Sel.Name == "New" || x.Name == "fmt" && f.Sel.Name == "Errorf") {
				r.made = true
				return
			}
		}
	}
	r.other = true
}
