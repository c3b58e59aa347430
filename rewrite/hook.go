package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

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

// returns lists the return statements of a body without function literals.
func returns(body *ast.BlockStmt) []*ast.ReturnStmt {
	var found []*ast.ReturnStmt
	ast.Inspect(body, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok {
			found = append(found, ret)
		}
		return true
	})
	return found
}

// hookInlined says whether d gets inline hooks: if the compiler would inline it and still can with them, and if a hook in front of each
// return sees every way that it leaves but by panic.
func (p *pkg) hookInlined(d *ast.FuncDecl, directives []string) bool {
	if !p.inlinable(d, directives) || d.Recv == nil && (d.Name.Name == "init" || d.Name.Name == "main") {
		return false
	}
	return p.hookedCost(d) <= inlineBudget && !p.declared("delete")
}

// hookCost is what inline hooks add to the inlining cost of d.
func hookCost(d *ast.FuncDecl) int {
	const check, deletion, value, assignment = 4, 4, 2, 2
	results := d.Type.Results.NumFields()
	cost := check + deletion + value*(d.Recv.NumFields()+d.Type.Params.NumFields())
	for _, ret := range returns(d.Body) {
		cost += check + deletion + value*results
		if len(ret.Results) > 0 {
			cost += assignment * results
		}
	}
	if results == 0 {
		cost += check + deletion
	}
	return cost
}

// returnsPlainly says whether d can be given a hook in front of each return: nothing runs behind a return, the results can be assigned by
// their names there, and no return is within the body of a range loop, which may be a call of an iterator.
func returnsPlainly(d *ast.FuncDecl) bool {
	plain := true
	names := []string{"delete", "nil"}
	if d.Type.Results != nil {
		for _, field := range d.Type.Results.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	shadows := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" && slices.Contains(names, id.Name) {
			plain = false
		}
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt, *ast.SelectStmt, *ast.LabeledStmt:
			plain = false
		case *ast.ReturnStmt:
			plain = plain && (len(n.Results) == 0 || d.Type.Results.NumFields() > 0) // else the compiler has something to report
		case *ast.RangeStmt:
			plain = plain && len(returns(n.Body)) == 0
			if n.Tok == token.DEFINE {
				shadows(n.Key)
				shadows(n.Value)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					shadows(e)
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				shadows(name)
			}
		case *ast.TypeSpec:
			shadows(n.Name)
		}
		return plain
	})
	return plain && !signatureNames(d.Recv, d.Type, "delete")
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
