package rewrite

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// InlineFlag is the flag with which the compiler is to compile rewritten packages, unless it is to inline nothing. It makes the inliner
// charge 1 for a call, not 57, and changes nothing else; so functions that it would inline plainly are still within its budget
// with hooks in them. All others have a deferred call in their hooks, and are not inlined anyway.
const InlineFlag = "-l=4"

// A hook writes the text that one function's hooks consist of.
type hook struct {
	pkg  *pkg
	name string // of the hook variable
	sig  *signature
}

// frame is the statement that traces a function from its own frame, whatever way it leaves.
func (h hook) frame() string {
	x := h.pkg.prefix
	return fmt.Sprintf("if %s!=nil{defer %sexit(%senter(%s%s)%s)};", h.name, x, x, h.name, boxes(h.sig.params, ""), boxes(h.sig.results, "&"))
}

// enter is the inline hook at a function's entry, exit that in front of its return.
func (h hook) enter() string { return h.inline("n", h.sig.params) }
func (h hook) exit() string  { return h.inline("x", h.sig.results) }

func (h hook) inline(letter string, values []*variable) string {
	h.pkg.arity(letter, len(values)+1)
	return fmt.Sprintf("if %s!=nil{delete(%s%s%d,[%d]interface{}{%s%s})};", h.name, h.pkg.prefix, letter, len(values)+1, len(values)+1, h.name, boxes(values, ""))
}

// boxes writes variables as further arguments, each as an interface value.
func boxes(values []*variable, operator string) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, ",interface{}(%s%s)", operator, v.name)
	}
	return b.String()
}

// hookFrame gives a function its hook behind the opening brace of body.
func (f *file) hookFrame(fn *Func, body *ast.BlockStmt, sig *signature) {
	sig.nameAll()
	f.edits.insert(f.offset(body.Lbrace)+1, hook{f.pkg, f.pkg.hookName(fn.index), sig}.frame())
}

// hookInline gives a function a hook behind the opening brace and one in front of each return.
func (f *file) hookInline(fn *Func, body *ast.BlockStmt, sig *signature) {
	sig.nameAll()
	h := hook{f.pkg, f.pkg.hookName(fn.index), sig}
	f.edits.insert(f.offset(body.Lbrace)+1, h.enter())
	for _, ret := range returns(body) {
		at := f.offset(ret.Return)
		if len(ret.Results) == 0 {
			f.edits.insert(at, h.exit())
			continue
		}
		var names []string
		for _, v := range sig.results {
			names = append(names, v.name)
		}
		f.edits.replace(at, at+len("return"), strings.Join(names, ",")+"=")
		f.edits.insert(f.offset(ret.Results[len(ret.Results)-1].End()), ";"+h.exit()+"return")
	}
	if len(sig.results) == 0 {
		f.edits.insert(f.offset(body.Rbrace), ";"+h.exit())
	}
}

// returns lists the return statements of a body, without those of function literals in it.
func returns(body *ast.BlockStmt) []*ast.ReturnStmt {
	var found []*ast.ReturnStmt
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			found = append(found, n)
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return found
}

// hookInlined says whether d gets inline hooks: if the compiler may inline it, and if a hook in front of each return sees every way that it
// leaves but by panic. A function that is not inlined after all has no harm from them. But one with literals or loops over iterators in it
// must not be inlined if it is not plainly: the names of its closures would change.
func (p *pkg) hookInlined(d *ast.FuncDecl, directives []string) bool {
	if d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main") || slices.Contains(directives, "//go:noinline") {
		return false
	}
	cost := p.leastCost
	if hasClosures(d) {
		cost = p.cost
	}
	return cost(d) <= inlineBudget && !p.declared("delete") && returnsPlainly(d)
}

// hasClosures says whether the compiler makes closures for d: for literals, and for the bodies of loops that may be over iterators.
func hasClosures(d *ast.FuncDecl) bool {
	found := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			found = true
		case *ast.RangeStmt:
			found = found || mayIterate(d, n.X)
		}
		return !found
	})
	return found
}

// returnsPlainly says whether d can be given a hook in front of each return: nothing runs behind a return, the results can be assigned by
// their names there, and no return is within a loop over an iterator, whose calls are still under way there.
func returnsPlainly(d *ast.FuncDecl) bool {
	plain := !signatureNames(d.Recv, d.Type, "delete")
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt, *ast.LabeledStmt:
			plain = false
		case *ast.ReturnStmt:
			plain = plain && (len(n.Results) == 0 || d.Type.Results.NumFields() > 0) // else the compiler has something to report
		case *ast.RangeStmt:
			plain = plain && (len(returns(n.Body)) == 0 || !mayIterate(d, n.X))
		}
		plain = plain && !declares(n, "delete") && !declares(n, "nil") && !redeclaresResult(d, n)
		return plain
	})
	return plain
}

// redeclaresResult says whether the statement or specification n gives the name of one of d's results another meaning.
func redeclaresResult(d *ast.FuncDecl, n ast.Node) bool {
	if d.Type.Results == nil {
		return false
	}
	for _, field := range d.Type.Results.List {
		for _, name := range field.Names {
			if name.Name != "_" && declares(n, name.Name) {
				return true
			}
		}
	}
	return false
}

// mayIterate says whether a range loop over x in d may well call an iterator: x is the result of a call, or a parameter that is a function or of
// another package's type. If a variable is one after all the call of d is shown to end late, without its results.
func mayIterate(d *ast.FuncDecl, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr, *ast.FuncLit:
		return true
	case *ast.Ident:
		for _, field := range d.Type.Params.List {
			for _, name := range field.Names {
				if name.Name == x.Name {
					return mayBeFunc(field.Type)
				}
			}
		}
	}
	return false
}

func mayBeFunc(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.FuncType, *ast.SelectorExpr:
		return true
	case *ast.IndexExpr:
		return mayBeFunc(t.X)
	case *ast.IndexListExpr:
		return mayBeFunc(t.X)
	}
	return false
}

// declared says whether the package or one of its files gives name a meaning of its own.
func (p *pkg) declared(name string) bool {
	return p.values[name] || p.decls[name] != nil || p.types[name] != nil || p.imports[name] != ""
}

// hookName returns the name of a function's hook variable.
func (p *pkg) hookName(index int) string { return fmt.Sprintf("%sf%d", p.prefix, index) }

// arity notes that inline hooks with n values are needed.
func (p *pkg) arity(letter string, n int) {
	if p.arities == nil {
		p.arities = map[string]int{}
	}
	p.arities[fmt.Sprintf("%s%d", letter, n)] = n
}
