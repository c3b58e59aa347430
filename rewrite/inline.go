package rewrite

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Costs of cmd/compile/internal/inline: a function is inlined up to a cost of 80. A call costs 57
// more than its own node, a literal 15.
const (
	inlineBudget = 80
	callCost     = 57
	// smallCallCost is about the cost of functions such as strings.HasPrefix, which are inlined.
	smallCallCost = 25
	literalCost   = 15
	lockCost      = 75 // of a sync.Mutex's methods
	newErrorCost  = 6  // of errors.New, the one imported function that is used everywhere
	neverInlined  = 1 << 20
)

// inlinable estimates whether the compiler would inline d.
func (p *pkg) inlinable(d *ast.FuncDecl, directives []string) bool {
	return d.Body != nil && !slices.Contains(directives, "//go:noinline") && p.cost(d) <= inlineBudget
}

// noinline reports whether d's own comment keeps it from being inlined.
func noinline(d *ast.FuncDecl) bool {
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return c.Text == "//go:noinline" })
}

// cost estimates what the compiler's inliner charges for d: one for nearly each node of its own
// tree; and for a call also what the callee costs if that is inlined, else a call's cost.
//
// It is an estimate because types are not known. It is exact except for implicit conversions,
// promoted fields, and calls of methods and of other packages' functions. Most of these are taken
// for calls that are not inlined.
func (p *pkg) cost(d *ast.FuncDecl) int { return p.estimate(d, callCost, p.costs) }

// leastCost is cost, but takes calls of unknown functions for calls of small ones.
func (p *pkg) leastCost(d *ast.FuncDecl) int { return p.estimate(d, smallCallCost, p.leastCosts) }

// estimate returns the cost of d, given what a call of an unknown function costs beyond its node.
// known has those already estimated.
func (p *pkg) estimate(d *ast.FuncDecl, unknown int, known map[*ast.FuncDecl]int) int {
	if cost, ok := known[d]; ok {
		return cost
	}
	known[d] = neverInlined // while it is being computed: a recursive function is not inlined
	e := estimate{pkg: p, fn: d, unknown: unknown, known: known, results: d.Type.Results.NumFields(), local: map[string]ast.Expr{}}
	e.fields(d.Recv)
	e.fields(d.Type.Params)
	e.fields(d.Type.Results)
	e.stmt(d.Body)
	known[d] = e.cost
	return e.cost
}

// An estimate is the inlining cost of a function being added up.
type estimate struct {
	pkg     *pkg
	fn      *ast.FuncDecl
	unknown int                   // what a call of an unknown function costs beyond its node
	known   map[*ast.FuncDecl]int // costs of functions already estimated
	cost    int
	results int                 // of the function
	local   map[string]ast.Expr // the names declared so far in the function, with their types if these were spelt
}

func (e *estimate) isLocal(name string) bool {
	_, ok := e.local[name]
	return ok
}

func (e *estimate) fields(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			e.local[name.Name] = field.Type
		}
	}
}

// declare notes a variable declared in a statement: a declaration with its name.
func (e *estimate) declare(x ast.Expr, typ ast.Expr) {
	if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
		e.local[id.Name] = typ
		e.cost += 2
	}
}

func (e *estimate) exprs(list []ast.Expr) {
	for _, x := range list {
		e.expr(x)
	}
}

func (e *estimate) stmts(list []ast.Stmt) {
	for _, s := range list {
		e.stmt(s)
	}
}

// stmt adds the cost of a statement. It gives up on a function that is too expensive already.
func (e *estimate) stmt(s ast.Stmt) {
	if e.cost > inlineBudget {
		return
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		e.stmts(s.List)
		return
	case *ast.ExprStmt:
		e.expr(s.X)
		return
	case *ast.LabeledStmt:
		e.stmt(s.Stmt)
	case *ast.DeclStmt:
		e.decl(s)
		return
	case nil, *ast.EmptyStmt:
		return
	case *ast.DeferStmt, *ast.GoStmt:
		e.cost = neverInlined
	case *ast.AssignStmt:
		e.assign(s)
	case *ast.IncDecStmt:
		e.expr(s.X)
		e.cost++ // the 1
	case *ast.ReturnStmt:
		e.exprs(s.Results)
		if len(s.Results) == 1 && e.results > 1 {
			e.cost += 4 * e.results // f's results are assigned to variables, and these returned
		}
	case *ast.SendStmt:
		e.expr(s.Chan)
		e.expr(s.Value)
	case *ast.IfStmt:
		e.stmt(s.Init)
		switch e.pkg.staticBool(s.Cond, e.isLocal) {
		case -1:
			e.stmt(s.Else)
			return
		case 1:
			e.stmt(s.Body)
			return
		}
		e.expr(s.Cond)
		e.stmt(s.Body)
		e.stmt(s.Else)
	case *ast.ForStmt:
		e.stmt(s.Init)
		e.expr(s.Cond)
		e.stmt(s.Body)
		e.stmt(s.Post)
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{s.Key, s.Value} {
			if x != nil && s.Tok == token.DEFINE {
				e.declare(x, nil)
			}
			e.expr(x)
		}
		e.expr(s.X)
		e.stmt(s.Body)
	case *ast.SwitchStmt:
		e.stmt(s.Init)
		e.expr(s.Tag)
		e.stmt(s.Body)
	case *ast.TypeSwitchStmt:
		e.stmt(s.Init)
		e.cost++ // the guard
		if a, ok := s.Assign.(*ast.AssignStmt); ok {
			e.expr(a.Rhs[0].(*ast.TypeAssertExpr).X)
		} else if x, ok := s.Assign.(*ast.ExprStmt); ok {
			e.expr(x.X.(*ast.TypeAssertExpr).X)
		}
		e.stmt(s.Body)
	case *ast.SelectStmt:
		e.stmt(s.Body)
	case *ast.CaseClause:
		e.exprs(s.List)
		e.stmts(s.Body)
	case *ast.CommClause:
		e.stmt(s.Comm)
		e.stmts(s.Body)
	}
	e.cost++
}

func (e *estimate) assign(s *ast.AssignStmt) {
	if s.Tok == token.DEFINE {
		for i, x := range s.Lhs {
			var typ ast.Expr
			if len(s.Rhs) == len(s.Lhs) {
				typ = literalType(s.Rhs[i])
			}
			e.declare(x, typ)
		}
	}
	e.exprs(s.Lhs)
	e.exprs(s.Rhs)
}

// literalType returns the type of a composite literal, or of a pointer to one, without the star.
func literalType(x ast.Expr) ast.Expr {
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		x = u.X
	}
	if lit, ok := x.(*ast.CompositeLit); ok {
		return lit.Type
	}
	return nil
}

func (e *estimate) decl(s *ast.DeclStmt) {
	d := s.Decl.(*ast.GenDecl)
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			e.local[spec.Name.Name] = nil
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if d.Tok == token.CONST {
					e.local[name.Name] = nil
					continue
				}
				e.declare(name, spec.Type)
				e.expr(name)
			}
			if d.Tok == token.VAR {
				e.cost++
				e.exprs(spec.Values)
			}
		}
	}
}

// expr adds the cost of an expression.
func (e *estimate) expr(x ast.Expr) {
	switch x := x.(type) {
	case nil, *ast.ArrayType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType, *ast.MapType, *ast.StructType:
		return
	case *ast.ParenExpr:
		e.expr(x.X)
		return
	case *ast.Ident:
		if _, isLocal := e.local[x.Name]; !isLocal && e.pkg.types[x.Name] != nil {
			return
		}
	case *ast.SelectorExpr:
		if e.importPath(x.X) == "" {
			e.expr(x.X)
		}
	case *ast.FuncLit:
		e.cost += literalCost
	case *ast.CompositeLit:
		e.composite(x)
	case *ast.KeyValueExpr:
		e.expr(x.Key)
		e.expr(x.Value)
		return
	case *ast.IndexExpr:
		e.expr(x.X)
		e.expr(x.Index)
	case *ast.IndexListExpr:
		e.expr(x.X)
	case *ast.SliceExpr:
		e.expr(x.X)
		e.expr(x.Low)
		e.expr(x.High)
		e.expr(x.Max)
		if lit, ok := x.Low.(*ast.BasicLit); ok && lit.Value == "0" {
			e.cost--
		}
	case *ast.TypeAssertExpr:
		e.expr(x.X)
	case *ast.StarExpr:
		e.expr(x.X)
	case *ast.UnaryExpr:
		if e.constant(x.X) {
			break
		}
		e.expr(x.X)
	case *ast.BinaryExpr:
		if e.constant(x) {
			break
		}
		if y, ok := x.X.(*ast.BinaryExpr); ok && x.Op == token.ADD && y.Op == token.ADD && hasString(x) {
			e.cost-- // strings that are added up are one node
		}
		e.expr(x.X)
		e.expr(x.Y)
	case *ast.CallExpr:
		e.call(x)
		return
	}
	e.cost++
}

// staticBool returns 1 for a condition that is always true and -1 for one that is always false, as
// far as names show it; 0 for any other.
func (p *pkg) staticBool(x ast.Expr, local func(string) bool) int {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.staticBool(x.X, local)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return -p.staticBool(x.X, local)
		}
	case *ast.Ident:
		value := p.bools[x.Name]
		if !p.declared(x.Name) {
			value = literalBool(x)
		}
		if value != 0 && !local(x.Name) {
			return value
		}
	case *ast.BinaryExpr:
		a, b := p.staticBool(x.X, local), p.staticBool(x.Y, local)
		switch {
		case x.Op == token.LAND && (a < 0 || b < 0), x.Op == token.LOR && a < 0 && b < 0:
			return -1
		case x.Op == token.LOR && (a > 0 || b > 0), x.Op == token.LAND && a > 0 && b > 0:
			return 1
		}
	}
	return 0
}

// hasString reports whether x is a sum with a string literal in it.
func hasString(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BinaryExpr:
		return x.Op == token.ADD && (hasString(x.Y) || hasString(x.X))
	case *ast.BasicLit:
		return x.Kind == token.STRING
	}
	return false
}

// composite adds the cost of a composite literal's elements. In a struct each is a node, and keys
// cost nothing.
func (e *estimate) composite(x *ast.CompositeLit) {
	typ := x.Type
	if id, ok := typ.(*ast.Ident); ok {
		typ = e.pkg.types[id.Name]
	}
	_, isArray := typ.(*ast.ArrayType)
	_, isMap := typ.(*ast.MapType)
	if isArray {
		e.cost++
	}
	for _, element := range x.Elts {
		if isArray || isMap || typ == nil {
			e.expr(element)
			continue
		}
		e.cost++
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			element = kv.Value
		}
		e.expr(element)
	}
}

// constant reports whether x is a constant expression, which is one node however long it is.
func (e *estimate) constant(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		_, isLocal := e.local[x.Name]
		return !isLocal && e.pkg.consts[x.Name]
	case *ast.ParenExpr:
		return e.constant(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.AND && x.Op != token.ARROW && e.constant(x.X)
	case *ast.BinaryExpr:
		return e.constant(x.X) && e.constant(x.Y)
	}
	return false
}

// importPath returns the path of the package that x names, or "" if it names none.
func (e *estimate) importPath(x ast.Expr) string {
	id, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	if _, isLocal := e.local[id.Name]; isLocal || e.pkg.values[id.Name] || e.pkg.decls[id.Name] != nil || e.pkg.types[id.Name] != nil {
		return ""
	}
	return e.pkg.imports[id.Name]
}

// call adds the cost of a call or conversion.
func (e *estimate) call(call *ast.CallExpr) {
	e.exprs(call.Args)
	fun := ast.Unparen(call.Fun)
	switch index := fun.(type) {
	case *ast.IndexExpr:
		fun = index.X
	case *ast.IndexListExpr:
		fun = index.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		e.callName(fun)
	case *ast.SelectorExpr:
		e.callSelector(fun)
	case *ast.ArrayType, *ast.MapType:
		e.cost++
	case *ast.StarExpr, *ast.ChanType, *ast.FuncType, *ast.InterfaceType:
		// a conversion without code
	case *ast.FuncLit:
		e.cost += 2 + literalCost + callCost
	default:
		e.expr(fun)
		e.cost += 1 + callCost
	}
}

// literal returns the function literal that the local variable called name always is, or nil.
func (e *estimate) literal(name string) *ast.FuncLit {
	var lit *ast.FuncLit
	assigned := 0
	ast.Inspect(e.fn.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, x := range assign.Lhs {
			if id, ok := x.(*ast.Ident); ok && id.Name == name {
				assigned++
				if assign.Tok == token.DEFINE && len(assign.Lhs) == len(assign.Rhs) {
					lit, _ = assign.Rhs[i].(*ast.FuncLit)
				}
			}
		}
		return true
	})
	if assigned != 1 {
		return nil
	}
	return lit
}

// callName adds the cost of a call of what a name stands for.
func (e *estimate) callName(fun *ast.Ident) {
	p := e.pkg
	_, isLocal := e.local[fun.Name]
	switch {
	case isLocal && names(fun.Name, e.fn.Recv, e.fn.Type.Params):
		e.cost += 2 + paramCallCost
	case isLocal:
		if lit := e.literal(fun.Name); lit != nil {
			e.cost += 2
			e.callTo(&ast.FuncDecl{Name: fun, Type: lit.Type, Body: lit.Body})
			return
		}
		e.cost += 2 + callCost
	case p.decls[fun.Name] != nil:
		e.cost += 2
		e.callTo(p.decls[fun.Name])
	case p.types[fun.Name] != nil:
		// Mostly a conversion without code, as between a named type and its underlying one.
	case p.values[fun.Name]:
		e.cost += 2 + callCost
	case fun.Name == "recover":
		e.cost = neverInlined
	case fun.Name == "panic":
		e.cost += 2
	case predeclared[fun.Name]:
		e.cost++
	default: // of a dot-import
		e.cost += 2 + callCost
	}
}

// callSelector adds the cost of a call of another package's function, or of a method.
func (e *estimate) callSelector(fun *ast.SelectorExpr) {
	switch path := e.importPath(fun.X); {
	case path == "unsafe":
		if fun.Sel.Name != "Pointer" {
			e.cost++
		}
	case intrinsics[path]:
		e.cost += 2
	case path == "errors" && fun.Sel.Name == "New":
		e.cost += 2 + newErrorCost
	case path != "":
		e.cost += 2 + e.unknown
	default:
		e.expr(fun.X)
		e.cost++
		d := e.method(fun)
		if name := fun.Sel.Name; d == nil && (name == "Lock" || name == "Unlock") {
			e.cost += lockCost
			return
		}
		e.callTo(d)
	}
}

// method returns the declaration of the method that a call names, if that can be determined.
func (e *estimate) method(fun *ast.SelectorExpr) *ast.FuncDecl {
	methods := e.pkg.methods[fun.Sel.Name]
	if id, ok := ast.Unparen(fun.X).(*ast.Ident); ok {
		if typ := e.local[id.Name]; typ != nil {
			base, _, _ := receiver(typ)
			if d := methods[base]; d != nil {
				return d
			}
		}
	}
	if len(methods) == 1 && !ast.IsExported(fun.Sel.Name) {
		for _, d := range methods {
			return d
		}
	}
	return nil
}

// callTo adds what a call of d, nil if that is not known, costs beyond its nodes.
func (e *estimate) callTo(d *ast.FuncDecl) {
	if d == nil {
		e.cost += e.unknown
		return
	}
	if d.Body != nil && !noinline(d) {
		if cost := e.pkg.estimate(d, e.unknown, e.known); cost <= inlineBudget {
			e.cost += cost
			return
		}
	}
	e.cost += callCost
}

// paramCallCost is what a call of a parameter costs beyond its nodes.
const paramCallCost = 17

// intrinsics are packages whose functions the compiler mostly replaces with instructions.
var intrinsics = map[string]bool{
	"sync/atomic": true, "math/bits": true, "internal/runtime/atomic": true, "internal/runtime/sys": true,
}

// predeclared are the functions and types of the universe that cost a node.
var predeclared = map[string]bool{
	"append": true, "cap": true, "clear": true, "close": true, "complex": true, "copy": true, "delete": true, "imag": true,
	"len": true, "make": true, "max": true, "min": true, "new": true, "print": true, "println": true, "real": true,
	"bool": true, "byte": true, "rune": true, "string": true, "uintptr": true, "any": true, "error": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true,
}

// importName guesses the name under which a file refers to an import.
func importName(spec *ast.ImportSpec) (name, path string) {
	path = strings.Trim(spec.Path.Value, "\"`")
	if spec.Name != nil {
		return spec.Name.Name, path
	}
	name = path[strings.LastIndexByte(path, '/')+1:]
	return name, path
}
