package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// InlineFlag is the flag with which rewritten packages are to be compiled, unless nothing is to be
// inlined. It makes the inliner charge 1 for a call instead of 57, and changes nothing else. So
// generic functions, whose instances the profile can't name, still have room for hooks.
const InlineFlag = "-l=4"

// A hook writes the text of one function's hooks.
type hook struct {
	pkg    *pkg
	name   string // expression for the hook
	sig    *signature
	helped bool // values go to the core through helpers
}

// deferred returns the statement that traces a function whichever way it ends.
func (h hook) deferred() string {
	x := h.pkg.prefix
	enter, exit := x+"enter", x+"exit"
	if h.helped {
		enter, exit = h.sig.helper(helpEnter), h.sig.helper(helpLeave)
	}
	return fmt.Sprintf("if %[2]s!=nil{%[1]sc:=%[4]s(%[2]s%[3]s);defer %[6]s(%[1]sc%[5]s);if %[1]sc<0{return}};",
		x, h.name, boxes(h.sig.params, ""), enter, boxes(h.sig.results, "&"), exit)
}

// fixedArity is the largest number of values for which the core has a function of its own, which
// takes them in registers.
const fixedArity = 4

// entry returns the statement at the entry of a function that is traced at its returns.
func (h hook) entry(how How) string {
	v, is := h.pkg.prefix+"v", h.pkg.prefix+"is"
	declare, result, values := "", "nil", ""
	switch results := h.sig.results; {
	case len(results) == 0:
	case h.helped:
		var names []string
		for i := range results {
			names = append(names, v+strconv.Itoa(i))
		}
		values = strings.Join(names, ",")
	case len(results) == 1:
		declare, result, values = "var "+v+" "+results[0].typ+";", "&"+v, v
	default:
		var fields, names []string
		for i, r := range results {
			fields = append(fields, fmt.Sprintf("r%d %s", i, r.typ))
			names = append(names, fmt.Sprintf("%s.r%d", v, i))
		}
		declare, result, values = "var "+v+" struct{"+strings.Join(fields, ";")+"};", "&"+v, strings.Join(names, ",")
	}
	ret := strings.TrimSpace("return " + values)
	if how == Outline {
		ret = "if " + h.pkg.prefix + "never{recover()};" + ret // what calls recover is not inlined
	}
	if !h.helped || len(h.sig.params)+len(h.sig.results) == 0 && h.sig.instance() == "" {
		return fmt.Sprintf("if %s!=nil{%sif %s{%s}};", h.name, declare, h.call("e", ","+result, h.sig.params), ret)
	}
	if values != "" {
		declare, is = values+","+is+":=", ";"+is
	} else {
		is = ""
	}
	return fmt.Sprintf("if %s!=nil{if %s%s(&%s%s)%s{%s}};", h.name, declare, h.sig.helper(helpEntry), h.name, boxes(h.sig.params, ""), is, ret)
}

// entryOnly returns the statement at the entry of a function whose results can't be replaced.
func (h hook) entryOnly() string {
	if h.helped && len(h.sig.params) > 0 {
		return fmt.Sprintf("if %s!=nil{%s(&%s%s)};", h.name, h.sig.helper(helpEntryOnly), h.name, boxes(h.sig.params, ""))
	}
	return fmt.Sprintf("if %s!=nil{%s};", h.name, h.call("e", ",nil", h.sig.params))
}

// exit returns the statement before a function's return.
func (h hook) exit() string {
	if h.helped && len(h.sig.results) > 0 {
		var back []*variable
		for _, v := range h.sig.results {
			if v.back {
				back = append(back, v)
			}
		}
		assign := strings.TrimPrefix(boxes(back, ""), ",")
		if assign != "" {
			assign += "="
		}
		return fmt.Sprintf("if %s!=nil{%s%s(&%s%s)};", h.name, assign, h.sig.helper(helpExit), h.name, boxes(h.sig.results, ""))
	}
	return fmt.Sprintf("if %s!=nil{%s};", h.name, h.call("x", "", h.sig.results))
}

// call writes a call of the core's function for hooks at entries (e) or exits (x) with these
// values.
func (h hook) call(function, result string, values []*variable) string {
	arity := "n"
	if n := len(values); n <= fixedArity {
		arity = strconv.Itoa(n)
	}
	h.pkg.calls[function+arity] = true
	return fmt.Sprintf("%s%s%s(&%s%s%s)", h.pkg.prefix, function, arity, h.name, result, boxes(values, ""))
}

// boxes writes variables as further elements or arguments, each of which becomes an interface
// value.
func boxes(values []*variable, operator string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString("," + operator + v.name)
	}
	return b.String()
}

// hook adds the hooks of d, which may stand for a literal, in the way of fn.How.
func (f *file) hook(fn *Func, d *ast.FuncDecl, typeParams map[string]bool) {
	sig := f.signature(d.Recv, d.Type, typeParams)
	literal := returnedLiteral(d)
	if fn.How != Inline {
		literal = nil
	}
	helped := f.helped(d, typeParams)
	fn.Params = sig.names() + ";"
	if literal != nil {
		fn.Params += "!" // it can't be replaced
	} else {
		if helped && sig.instance() != "" {
			fn.Params += f.told(d, typeParams)
		}
		fn.Params += f.typeText(d, typeParams)
	}
	*fn = f.pkg.add(*fn)
	f.hooked++
	h := hook{f.pkg, f.pkg.hookName(fn.index), sig, helped}
	open := f.offset(d.Body.Lbrace) + 1
	if literal != nil {
		sig.nameParams()
		sig.results[0].back = false // a second assignment would hide from the compiler which literal it is
		f.edits.insert(open, h.entryOnly())
		at, name := f.offset(literal.Return), sig.results[0].name
		f.edits.replace(at, at+len("return"), name+":=")
		f.edits.insert(f.offset(literal.End()), ";"+h.exit()+"return "+name)
		return
	}
	sig.nameAll()
	switch {
	case fn.How == Deferred:
		f.edits.insert(open, h.deferred())
	case sharesExit(d):
		f.edits.insert(open, h.entry(fn.How)+"{")
		label := f.pkg.prefix + "l"
		f.exits(d, sig, "goto "+label, "")
		f.edits.insert(f.offset(d.Body.Rbrace), "};"+label+":"+h.exit()+"return ")
	default:
		f.edits.insert(open, h.entry(fn.How))
		f.exits(d, sig, "return", h.exit())
		if len(sig.results) == 0 {
			f.edits.insert(f.offset(d.Body.Rbrace), ";"+h.exit())
		}
	}
}

// exits turns each return statement of d into an assignment to the results, the statement exit, and
// leave.
func (f *file) exits(d *ast.FuncDecl, sig *signature, leave, exit string) {
	var names []string
	for _, v := range sig.results {
		names = append(names, v.name)
	}
	for _, ret := range returns(d.Body) {
		at, end := f.offset(ret.Return), f.offset(ret.Return)+len("return")
		if len(ret.Results) == 0 {
			f.edits.replace(at, end, exit+leave)
			continue
		}
		f.edits.replace(at, end, strings.Join(names, ",")+"=")
		f.edits.insert(f.offset(ret.Results[len(ret.Results)-1].End()), ";"+exit+leave)
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

// choose decides how d, which may stand for a literal, is hooked. It is hooked at its returns if it
// can end in no other way, except by a panic, which the core notices.
//
// What the compiler would not inline must not be inlined with hooks: the names of its closures
// would change, and what it calls may count frames. To take a function for inlined that is not does
// no harm.
func (f *file) choose(d *ast.FuncDecl, typeParams map[string]bool) How {
	p := f.pkg
	if !returnsPlainly(d) || !f.helped(d, typeParams) && !p.spellsResults(d) {
		return Deferred
	}
	if p.declared("recover") || signatureNames(d.Recv, d.Type, "recover") {
		return Deferred
	}
	cost := p.leastCost
	if hasClosures(d) {
		cost = p.cost
	}
	if cost(d) <= inlineBudget && !noinline(d) {
		return Inline
	}
	return Outline
}

// returnedLiteral returns the return statement of a function that in the end only returns a
// literal; else nil. Where such a function is inlined the compiler knows its result and inlines
// that as well, on which loops over iterators depend. It would not do so if a hook could assign to
// a variable for the result.
func returnedLiteral(d *ast.FuncDecl) *ast.ReturnStmt {
	all := returns(d.Body)
	if len(all) != 1 || len(all[0].Results) != 1 || d.Type.Results.NumFields() != 1 || len(d.Type.Results.List[0].Names) != 0 {
		return nil
	}
	if _, ok := all[0].Results[0].(*ast.FuncLit); !ok {
		return nil
	}
	return all[0]
}

// sharesExit reports whether all returns of d can jump to one exit after its body, which is then a
// block of its own. That is smaller. It must not make an invalid program valid: one that lacks a
// return, or declares a parameter twice.
func sharesExit(d *ast.FuncDecl) bool {
	list := d.Body.List
	if len(returns(d.Body)) < 2 {
		return false
	}
	if d.Type.Results.NumFields() > 0 && !terminates(list[len(list)-1], "") {
		return false
	}
	return !redeclares(d.Body, d.Recv, d.Type.Params, d.Type.Results)
}

// terminates reports whether s, with that label, is a terminating statement as the language defines
// it. A call of panic does not count: to recognise it takes types.
func terminates(s ast.Stmt, label string) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.GOTO
	case *ast.BlockStmt:
		return endTerminates(s.List)
	case *ast.LabeledStmt:
		return terminates(s.Stmt, s.Label.Name)
	case *ast.IfStmt:
		return s.Else != nil && terminates(s.Body, "") && terminates(s.Else, "")
	case *ast.ForStmt:
		return s.Cond == nil && !breaks(s.Body, label, true)
	case *ast.SwitchStmt:
		return clausesTerminate(s.Body, label)
	case *ast.TypeSwitchStmt:
		return clausesTerminate(s.Body, label)
	case *ast.SelectStmt:
		for _, clause := range s.Body.List {
			list := clause.(*ast.CommClause).Body
			if !endTerminates(list) || breaks(&ast.BlockStmt{List: list}, label, true) {
				return false
			}
		}
		return true
	}
	return false
}

// endTerminates reports whether a list ends in a terminating statement.
func endTerminates(list []ast.Stmt) bool {
	return len(list) > 0 && terminates(list[len(list)-1], "")
}

// clausesTerminate reports whether a switch statement with this body is a terminating statement.
func clausesTerminate(body *ast.BlockStmt, label string) bool {
	hasDefault := false
	for _, s := range body.List {
		clause := s.(*ast.CaseClause)
		hasDefault = hasDefault || clause.List == nil
		list := clause.Body
		if n := len(list); n > 0 {
			if branch, ok := list[n-1].(*ast.BranchStmt); ok && branch.Tok == token.FALLTHROUGH {
				list = nil
			}
		}
		if list == nil && len(clause.Body) > 0 {
			list = []ast.Stmt{&ast.ReturnStmt{}}
		}
		if !endTerminates(list) || breaks(&ast.BlockStmt{List: clause.Body}, label, true) {
			return false
		}
	}
	return hasDefault
}

// breaks reports whether body has a break statement that refers to the statement around it, which
// has that label: by the label, or, if own, without one.
func breaks(body *ast.BlockStmt, label string, own bool) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if n.Tok == token.BREAK {
				found = found || n.Label == nil && own || n.Label != nil && n.Label.Name == label
			}
		case *ast.ForStmt:
			found = found || breaks(n.Body, label, false)
			return false
		case *ast.RangeStmt:
			found = found || breaks(n.Body, label, false)
			return false
		case *ast.SwitchStmt:
			found = found || breaks(n.Body, label, false)
			return false
		case *ast.TypeSwitchStmt:
			found = found || breaks(n.Body, label, false)
			return false
		case *ast.SelectStmt:
			found = found || breaks(n.Body, label, false)
			return false
		}
		return !found
	})
	return found
}

// redeclares reports whether the outermost block of body declares a name of one of the lists anew.
func redeclares(body *ast.BlockStmt, lists ...*ast.FieldList) bool {
	for _, s := range body.List {
		for {
			labeled, ok := s.(*ast.LabeledStmt)
			if !ok {
				break
			}
			s = labeled.Stmt
		}
		nodes := []ast.Node{s}
		if decl, ok := s.(*ast.DeclStmt); ok {
			for _, spec := range decl.Decl.(*ast.GenDecl).Specs {
				nodes = append(nodes, spec)
			}
		}
		for _, n := range nodes {
			if _, ok := n.(*ast.RangeStmt); ok {
				continue // its variables are in a block of their own
			}
			if slices.ContainsFunc(lists, func(list *ast.FieldList) bool { return declaresNameOf(list, n) }) {
				return true
			}
		}
	}
	return false
}

// declaresNameOf reports whether the statement or specification n gives another meaning to a name
// in the list.
func declaresNameOf(list *ast.FieldList, n ast.Node) bool {
	if list == nil {
		return false
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			if name.Name != "_" && declares(n, name.Name) {
				return true
			}
		}
	}
	return false
}

// spellsResults reports whether the types of d's results mean the same in its body, and on one
// line.
func (p *pkg) spellsResults(d *ast.FuncDecl) bool {
	if d.Type.Results == nil {
		return true
	}
	spells := true
	for _, field := range d.Type.Results.List {
		tok := p.fset.File(field.Type.Pos())
		spells = spells && tok.PositionFor(field.Type.Pos(), false).Line == tok.PositionFor(field.Type.End(), false).Line
		ast.Inspect(field.Type, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			spells = spells && (!ok || !names(id.Name, d.Recv, d.Type.Params, d.Type.Results))
			return spells
		})
	}
	return spells
}

// hasClosures reports whether the compiler makes closures for d: for literals, and for the bodies
// of loops that may be over iterators.
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

// returnsPlainly reports whether d can have a hook before each return. Nothing may run after a
// return, and the results must be assignable there by their names. And no return may be within a
// loop over an iterator, whose calls are still under way there.
func returnsPlainly(d *ast.FuncDecl) bool {
	plain := true
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			plain = false
		case *ast.ReturnStmt:
			plain = plain && (len(n.Results) == 0 || d.Type.Results.NumFields() > 0) // else the compiler has something to report
		case *ast.RangeStmt:
			plain = plain && (len(returns(n.Body)) == 0 || !mayIterate(d, n.X))
		}
		plain = plain && !declares(n, "nil") && !declaresNameOf(d.Type.Results, n)
		return plain
	})
	return plain
}

// mayIterate reports whether a range loop over x in d may well call an iterator: x is the result of
// a call, unless that gives a number, or a parameter that is a function or of another package's
// type. If there is an iterator in another case, the call of d is shown to end late, without its
// results.
func mayIterate(d *ast.FuncDecl, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		called, ok := x.Fun.(*ast.Ident)
		return !ok || !slices.Contains([]string{"len", "cap", "min", "max", "int"}, called.Name)
	case *ast.FuncLit:
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

// declared reports whether the package or one of its files gives name a meaning of its own.
func (p *pkg) declared(name string) bool {
	return p.values[name] || p.decls[name] != nil || p.types[name] != nil || p.imports[name] != ""
}

// hookName returns the expression for a function's hook.
func (p *pkg) hookName(index int) string { return fmt.Sprintf("%sf[%d]", p.prefix, index) }
