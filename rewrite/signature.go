package rewrite

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// A signature is a function's parameters and results, the receiver first, with the edits that give
// each a name.
type signature struct {
	file    *file
	params  []*variable
	results []*variable
	edits   []func() // of the parameters, then of the results
	nparams int      // edits of the parameters
}

// A variable is one parameter or result.
type variable struct {
	name  string // as the hook writes it: the user's, or a generated one
	shown string // as a trace shows it: "_" for a blank one, "" for an unnamed one
	kind  string // what a trace must know of its static type, see staticKind
	typ   string // its type's text
	back  bool   // the helper at a return hands it back, so that it need not be kept while the helper runs
}

// signature takes a function's parameters and results apart.
func (f *file) signature(recv *ast.FieldList, t *ast.FuncType, typeParams map[string]bool) *signature {
	s := &signature{file: f}
	if recv != nil {
		s.fields(recv, "p", &s.params, typeParams)
	}
	s.fields(t.Params, "p", &s.params, typeParams)
	s.nparams = len(s.edits)
	if t.Results != nil {
		s.fields(t.Results, "r", &s.results, typeParams)
		if !t.Results.Opening.IsValid() && len(t.Results.List) == 1 {
			s.parenthesise(t.Results.List[0])
		}
	}
	return s
}

// fields appends the variables of a list. An unnamed or blank one gets a generated name, made of
// letter and its place.
func (s *signature) fields(list *ast.FieldList, letter string, to *[]*variable, typeParams map[string]bool) {
	for _, field := range list.List {
		names := field.Names
		if len(names) == 0 {
			names = []*ast.Ident{nil}
		}
		for _, name := range names {
			v := &variable{kind: s.file.pkg.staticKind(field.Type, typeParams), typ: s.file.text(field.Type), back: s.file.pkg.small(field.Type)}
			if e, ok := field.Type.(*ast.Ellipsis); ok { // a new line may lie between, where [] can have none
				v.typ = "..." + s.file.text(e.Elt)
			}
			s.name(v, name, field, fmt.Sprintf("%s%s%d", s.file.pkg.prefix, letter, len(*to)))
			*to = append(*to, v)
		}
	}
}

// name decides the name of v, and queues the edit that a generated name needs.
func (s *signature) name(v *variable, user *ast.Ident, field *ast.Field, generated string) {
	f := s.file
	switch {
	case user == nil:
		if !isType(field.Type) {
			f.pkg.invalid = fmt.Errorf("%s: %s is no type", f.position(field.Type.Pos()), v.typ)
		}
		v.name = generated
		at := f.offset(field.Type.Pos())
		s.edits = append(s.edits, func() { f.edits.insert(at, generated+" ") })
	case user.Name == "_":
		v.name, v.shown = generated, "_"
		start, end := f.offset(user.Pos()), f.offset(user.End())
		s.edits = append(s.edits, func() { f.edits.replace(start, end, generated) })
	case strings.HasPrefix(user.Name, insertedPrefix): // Insert has named it
		v.name = user.Name
	default:
		v.name, v.shown = user.Name, user.Name
	}
}

// isType reports whether an expression may be a type after a name too. Without one, package parser
// takes T[a^b] for an element of an array.
func isType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BadExpr, *ast.BasicLit, *ast.BinaryExpr, *ast.CallExpr, *ast.CompositeLit, *ast.FuncLit, *ast.KeyValueExpr, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.UnaryExpr:
		return false
	case *ast.SelectorExpr:
		_, ok := e.X.(*ast.Ident)
		return ok
	case *ast.ParenExpr:
		return isType(e.X)
	case *ast.StarExpr:
		return isType(e.X)
	case *ast.IndexExpr:
		return isType(e.X) && isType(e.Index)
	case *ast.IndexListExpr:
		return isType(e.X) && !slices.ContainsFunc(e.Indices, func(e ast.Expr) bool { return !isType(e) })
	}
	return true
}

// parenthesise puts parentheses around a single unparenthesised result, which can't have a name
// without them.
func (s *signature) parenthesise(field *ast.Field) {
	f := s.file
	start, end := f.offset(field.Type.Pos()), f.offset(field.Type.End())
	name := s.edits[len(s.edits)-1]
	s.edits[len(s.edits)-1] = func() {
		f.edits.insert(start, "(")
		name()
		f.edits.insert(end, ")")
	}
}

// nameAll makes the edits that give every parameter and result a name.
func (s *signature) nameAll() {
	for _, edit := range s.edits {
		edit()
	}
}

// nameParams makes the edits that give every parameter a name.
func (s *signature) nameParams() {
	for _, edit := range s.edits[:s.nparams] {
		edit()
	}
}

// names returns what the core is told of the signature: for each parameter its name and its static
// kind, separated by commas, then, after a semicolon, the same for the results. Another semicolon
// and the function's type follow in the table.
func (s *signature) names() string {
	var b strings.Builder
	for i, v := range s.params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.shown + v.kind)
	}
	b.WriteByte(';')
	for i, v := range s.results {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.shown + v.kind)
	}
	return b.String()
}

// staticKind returns what the core can't see in a value that reaches it as an interface{}: whether
// its static type is an interface, so that the dynamic type is worth showing. "!" means that it is,
// and "" that it is not. ":Name" means that it is unless the value's type is called Name; it is for
// types of other packages, which are not analysed.
func (p *pkg) staticKind(t ast.Expr, typeParams map[string]bool) string {
	for range 100 { // a cycle of types is the compiler's to report
		switch e := t.(type) {
		case *ast.ParenExpr:
			t = e.X
		case *ast.InterfaceType:
			return "!"
		case *ast.SelectorExpr:
			return ":" + e.Sel.Name
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			declared, ok := p.types[e.Name]
			switch {
			case typeParams[e.Name]:
				return ""
			case ok:
				t = declared
			case e.Name == "error" || e.Name == "any":
				return "!"
			default:
				return ""
			}
		default:
			return ""
		}
	}
	return ""
}
