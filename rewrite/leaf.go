package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// The inlining costs of cmd/compile/internal/inline: a function is inlined up to a cost of 80, a call costs 57 more than its
// own node, and a call of a function parameter 17.
const (
	inlineBudget = 80
	callCost     = 57
	// leafHookCost is what the hook adds to a leaf, measured with -gcflags=-m=2 on the generated code.
	leafHookCost = 38
)

// isLeaf says whether d is traced through a wrapper: a small function that calls nothing, so that no one can see the
// wrapper's frame between it and its caller, and which the compiler can still inline with the hook in it.
func (p *pkg) isLeaf(d *ast.FuncDecl) bool {
	if p.values["nil"] || p.decls["nil"] != nil || len(typeParams(d)) > 0 || d.Name.Name == "init" || d.Name.Name == "main" {
		return false
	}
	return p.callsNothing(d) && p.cost(d) <= inlineBudget-leafHookCost
}

// callsNothing says whether d's body has only expressions that can't reach another function. It must be sure, so what could
// be either a conversion or a call counts as a call.
func (p *pkg) callsNothing(d *ast.FuncDecl) bool {
	local := localNames(d)
	leaf := true
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			leaf = leaf && p.isConversionOrBuiltin(n.Fun, local)
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.LabeledStmt, *ast.RangeStmt, *ast.ForStmt:
			// A range statement may call an iterator; a channel operation, like a call, may run other code in between.
			leaf = false
		case *ast.UnaryExpr:
			leaf = leaf && n.Op != token.ARROW
		}
		return leaf
	})
	return leaf && !local["nil"]
}

// isConversionOrBuiltin says whether calling fun surely calls no function: it converts to a predeclared type or to a type of
// this package, or it is a builtin that runs no user's code.
func (p *pkg) isConversionOrBuiltin(fun ast.Expr, local map[string]bool) bool {
	switch fun := fun.(type) {
	case *ast.ParenExpr:
		return p.isConversionOrBuiltin(fun.X, local)
	case *ast.Ident:
		if local[fun.Name] || p.decls[fun.Name] != nil || p.values[fun.Name] {
			return false
		}
		if _, ok := p.types[fun.Name]; ok {
			return true
		}
		return leafBuiltins[fun.Name]
	case *ast.ArrayType, *ast.StarExpr, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType:
		return true
	}
	return false
}

// leafBuiltins are the predeclared types and those builtin functions that are compiled to plain code. Others, such as panic,
// start something that looks at the stack.
var leafBuiltins = map[string]bool{
	"len": true, "cap": true, "min": true, "max": true, "complex": true, "real": true, "imag": true,
	"bool": true, "byte": true, "rune": true, "string": true, "uintptr": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true,
}

// localNames returns every name that d declares anywhere within it, parameters included.
func localNames(d *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	note := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				note(id)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					note(e)
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				note(id)
			}
		case *ast.TypeSpec:
			note(n.Name)
		}
		return true
	})
	return names
}

// inlinable estimates whether the compiler would inline d.
func (p *pkg) inlinable(d *ast.FuncDecl) bool { return d.Body != nil && p.cost(d) <= inlineBudget }

// cost estimates what the compiler's inliner charges for d: one for each node, and for calls what they cost there. It is an
// estimate because names are not resolved: a call of a function of this package that is itself cheap is charged its cost, any
// other call a call's cost.
func (p *pkg) cost(d *ast.FuncDecl) int {
	if cost, ok := p.costs[d]; ok {
		return cost
	}
	p.costs[d] = inlineBudget + 1 // while it is being computed: a recursive function is not inlined
	local := localNames(d)
	cost := 0
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt, *ast.FuncLit:
			cost += inlineBudget
		case *ast.CallExpr:
			cost += p.callCost(n, local)
		case *ast.BlockStmt, *ast.ExprStmt, *ast.ParenExpr, *ast.BasicLit, *ast.Field, *ast.FieldList:
			return true // no node of their own in the compiler's tree
		}
		cost++
		return cost <= inlineBudget
	})
	p.costs[d] = cost
	return cost
}

// callCost estimates what the inliner charges for a call beyond its node.
func (p *pkg) callCost(call *ast.CallExpr, local map[string]bool) int {
	if p.isConversionOrBuiltin(call.Fun, local) {
		return 0
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok || local[id.Name] {
		return callCost
	}
	switch id.Name {
	case "recover":
		return inlineBudget
	case "append", "copy", "clear", "delete", "make", "new", "panic", "print", "println", "close":
		return 1
	}
	if d := p.decls[id.Name]; d != nil && d.Body != nil {
		if cost := p.cost(d); cost <= inlineBudget {
			return min(cost, callCost)
		}
	}
	return callCost
}

// hookLeaf inserts the hook of a leaf and appends its wrapper to the file.
func (f *file) hookLeaf(fn *Func, d *ast.FuncDecl, sig *signature) {
	body := f.text(d.Body)
	sig.nameAll()
	p := f.pkg.prefix
	id := fmt.Sprint(fn.index)
	args := sig.list(func(v *variable) string {
		if v.variadic {
			return v.name + "..."
		}
		return v.name
	})
	ret, after := "return ", ""
	if len(sig.results) == 0 {
		ret, after = "", ";return"
	}
	cur := p + "p"
	f.edits.insert(f.offset(d.Body.Lbrace)+1, fmt.Sprintf("if %s:=%sh%s.cur;%s!=nil{%s%sc%s(%s)%s};",
		cur, p, id, cur, ret, p, id, joinArgs(cur, args), after))

	params := sig.list((*variable).declare)
	types := "func(" + sig.list((*variable).spell) + ")" + sig.resultTypes()
	position := fmt.Sprintf("//line %s:%d\n", fn.File, fn.Line)
	fmt.Fprintf(&f.tail, "%svar %sh%s = struct{cur, wrap %s}{wrap: %sa%s}\n", position, p, id, types, p, id)
	fmt.Fprintf(&f.tail, "%sfunc %sc%s(%s)%s {%s%s(%s)}\n", position, p, id, joinArgs(cur+" "+types, params), sig.resultTypes(), ret, cur, args)
	fmt.Fprintf(&f.tail, "//go:linkname %sa%s %s.%sw%s\n", p, id, linkPath(f.pkg.opt.Symbol), p, id)
	fmt.Fprintf(&f.tail, "func %sa%s(%s)%s\n", p, id, params, sig.resultTypes())
	at := f.position(d.Body.Lbrace)
	fmt.Fprintf(&f.tail, "%sfunc %sw%s(%s)%s {%s/*line %s:%d:%d*/%s\n", position, p, id, params, sig.namedResults(),
		f.pkg.frameHook(fn.index, sig), at.Filename, at.Line, at.Column+1, body[1:])
}

func joinArgs(first, rest string) string {
	if rest == "" {
		return first
	}
	return first + ", " + rest
}

// list writes the parameters one by one, comma-separated.
func (s *signature) list(write func(*variable) string) string {
	parts := make([]string, len(s.params))
	for i, v := range s.params {
		parts[i] = write(v)
	}
	return strings.Join(parts, ", ")
}

func (v *variable) declare() string { return v.name + " " + v.spell() }

// spell returns the type as it stands in a parameter list.
func (v *variable) spell() string {
	if v.variadic {
		return "..." + v.typ
	}
	return v.typ
}

func (s *signature) resultTypes() string {
	types := make([]string, len(s.results))
	for i, v := range s.results {
		types[i] = v.typ
	}
	return wrapResults(types)
}

func (s *signature) namedResults() string {
	named := make([]string, len(s.results))
	for i, v := range s.results {
		named[i] = v.declare()
	}
	return wrapResults(named)
}

func wrapResults(results []string) string {
	if len(results) == 0 {
		return ""
	}
	return " (" + strings.Join(results, ", ") + ")"
}
