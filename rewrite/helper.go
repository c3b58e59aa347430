package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// A helper is a function of the rewritten package by which hooks hand their values to the core. It
// takes them as they are and makes interface values of them in its own frame, which exists only
// while a function is traced. Inlined hooks would each need room for them in the function's frame,
// since the compiler lets no two share it.
//
// Hooks with values of the same types have one helper. Its caller is the traced function, which the
// core finds by the frame pointer.

// A help is what a helper does.
type help int

const (
	helpEntry     help = iota // the entry of a function that is traced at its returns
	helpEntryOnly             // the same, for a function whose results can't be replaced
	helpExit                  // a return
	helpEnter                 // the entry of a function with a deferred hook
	helpLeave                 // the deferred call
)

// helper returns the expression that hooks of this signature call to do what.
func (s *signature) helper(what help) string {
	x := s.file.pkg.prefix
	params, results := s.handed(s.params, "p", ""), s.handed(s.results, "r", "")
	hook := x + "h *interface{}"
	entered, instance := params.names(), s.instance()
	if instance != "" {
		entered = fmt.Sprintf(",[]interface{}{%s}[:%d]...", strings.TrimPrefix(entered+","+instance, ","), len(params))
	}
	var text string
	switch what {
	case helpEntry:
		is := x + "is"
		onlyFails := ""
		if s.mayFail() {
			onlyFails = fmt.Sprintf("if %s;%so{return};", s.onlyFails("*"), x)
		}
		call := fmt.Sprintf("%s=%she(%sh,%%s%s)", is, x, x, entered)
		switch len(results) {
		case 0:
			text = fmt.Sprintf("(%s%s) (%s bool) {%s;return}", hook, params, is, fmt.Sprintf(call, "nil"))
		case 1:
			text = fmt.Sprintf("(%s%s) (%s,%s bool) {%s%s;return}", hook, params, results.String()[1:], is, onlyFails, fmt.Sprintf(call, "&"+results[0].name))
		default:
			var fields, values strings.Builder
			for i, r := range results {
				fmt.Fprintf(&fields, "r%d %s;", i, r.typ)
				fmt.Fprintf(&values, "%sv.r%d,", x, i)
			}
			text = fmt.Sprintf("(%s%s) (%s,%s bool) {%svar %sv struct{%s};%s;return %s%s}",
				hook, params, results.String()[1:], is, onlyFails, x, &fields, fmt.Sprintf(call, "&"+x+"v"), &values, is)
		}
	case helpEntryOnly:
		text = fmt.Sprintf("(%s%s) {%she(%sh,nil%s)}", hook, params, x, x, params.names())
	case helpExit:
		var types []string
		var back handed
		for i, v := range s.results {
			if v.back {
				types, back = append(types, results[i].typ), append(back, results[i])
			}
		}
		exit := fmt.Sprintf("%shx(%sh%s)", x, x, results.names())
		if s.mayFail() {
			exit = fmt.Sprintf("if %s;!%so||%s!=nil{%s}", s.onlyFails("*"), x, results[len(results)-1].name, exit)
		}
		ret := strings.Replace(back.names(), ",", ";return ", 1)
		text = fmt.Sprintf("(%s%s) (%s) {%s%s}", hook, results, strings.Join(types, ","), exit, ret)
	case helpEnter:
		onlyFails := ""
		if s.mayFail() && len(params) > 0 {
			onlyFails = fmt.Sprintf("if %s;%so{return %shenter(%sh)};", s.onlyFails(""), x, x, x)
		}
		text = fmt.Sprintf("(%sh interface{}%s) int {%sreturn %shenter(%sh%s)}", x, params, onlyFails, x, x, entered)
	case helpLeave:
		text = fmt.Sprintf("(%sc int%s) {%sexit(%sc%s)}", x, s.handed(s.results, "r", "*"), x, x, results.names())
	}
	declared, args, _ := s.file.spellTypeParams()
	// What another file imports may have another meaning there.
	local := strings.Contains(params.String()+results.String()+declared+instance, ".") || s.file.importsDot()
	return s.file.helper(declared+text, local) + args
}

// mayFail reports whether the last result is an error, as far as the source shows it.
func (s *signature) mayFail() bool {
	n := len(s.results)
	return n > 0 && s.results[n-1].typ == "error" && s.results[n-1].kind == "!"
}

// onlyFails returns the statement that finds out whether the hook shows only failures, which the
// variable o says, see internal/guest/arm/quota.go. Such a hook is of a type that no other has. To
// find that out here takes a tenth of the time that it takes to call the core. The operator is "*"
// if the helper has a pointer to the hook.
func (s *signature) onlyFails(operator string) string {
	x := s.file.pkg.prefix
	return fmt.Sprintf("_,%so:=(%s%sh).(func())", x, operator, x)
}

// instance returns the expression by which helpers at the entry of a generic function, or of a
// literal in one, tell which instantiation is called. Its type is a function of the type arguments
// that returns the function. It is "" for other functions, and for methods, whose receivers tell.
//
// It lies after the values, where only package mock's part of the core looks for it.
func (s *signature) instance() string {
	d, ok := s.file.decl.(*ast.FuncDecl)
	if !ok || d.Type.TypeParams == nil {
		return ""
	}
	_, args, _ := s.file.spellTypeParams()
	return fmt.Sprintf("(func(%s) func(%s) (%s))(nil)", strings.Trim(args, "[]"), spell(s.params), spell(s.results))
}

// spell writes the types of variables as those of parameters or results.
func spell(values []*variable) string {
	var all []string
	for _, v := range values {
		all = append(all, v.typ)
	}
	return strings.Join(all, ",")
}

// helper returns the name of the function whose text, after its name, is this. local means that the
// text has a meaning in this file alone.
func (f *file) helper(text string, local bool) string {
	known := f.pkg.helpers
	if local {
		known = f.helpers
	}
	name, ok := known[text]
	if !ok {
		name = fmt.Sprintf("%sh%d", f.pkg.prefix, f.pkg.helped)
		f.pkg.helped++
		known[text] = name
		fmt.Fprintf(&f.helperText, "\n\n//go:noinline\nfunc %s%s", name, text)
	}
	return name
}

// importsDot reports whether names without a package may be another package's.
func (f *file) importsDot() bool {
	return slices.ContainsFunc(f.tree.Imports, func(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "." })
}

// handed are values that a helper takes, with the names that it has for them.
type handed []struct{ name, typ string }

// handed returns the parameters by which a helper takes values, or takes pointers to them with
// operator "*".
func (s *signature) handed(values []*variable, letter, operator string) handed {
	var all handed
	for i, v := range values {
		typ := v.typ
		if elem, ok := strings.CutPrefix(typ, "..."); ok {
			typ = "[]" + elem
		}
		all = append(all, struct{ name, typ string }{fmt.Sprintf("%s%s%d", s.file.pkg.prefix, letter, i), operator + typ})
	}
	return all
}

// String declares the values as further parameters.
func (h handed) String() string {
	var b strings.Builder
	for _, v := range h {
		b.WriteString("," + v.name + " " + v.typ)
	}
	return b.String()
}

// names writes the values as further arguments.
func (h handed) names() string {
	var b strings.Builder
	for _, v := range h {
		b.WriteString("," + v.name)
	}
	return b.String()
}

// small reports whether values of type t are at most a few words large. For another package's type
// that is a guess.
func (p *pkg) small(t ast.Expr) bool {
	for range 100 { // a cycle of types is the compiler's to report
		switch e := t.(type) {
		case *ast.ParenExpr:
			t = e.X
		case *ast.StructType:
			return e.Fields.NumFields() <= 1
		case *ast.ArrayType:
			return e.Len == nil
		case *ast.IndexExpr, *ast.IndexListExpr:
			return false
		case *ast.Ident:
			if p.types[e.Name] == nil {
				return true
			}
			t = p.types[e.Name]
		default:
			return true
		}
	}
	return false
}

// spellTypeParams returns the type parameters that helpers of the function at work have, and the
// arguments for these. It reports whether a helper can have them: the constraints of a receiver's
// type parameters may be in another file.
func (f *file) spellTypeParams() (params, args string, ok bool) {
	d, isFunc := f.decl.(*ast.FuncDecl)
	if !isFunc {
		return "", "", true
	}
	var names []string
	if d.Type.TypeParams != nil {
		for _, field := range d.Type.TypeParams.List {
			for _, name := range field.Names {
				if name.Name == "_" {
					return "", "", false
				}
				names = append(names, name.Name)
			}
		}
		return f.text(d.Type.TypeParams), "[" + strings.Join(names, ",") + "]", true
	}
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return "", "", true
	}
	set := map[string]bool{}
	addReceiverTypeParams(d.Recv.List[0].Type, set)
	if len(set) == 0 {
		return "", "", true
	}
	base, _, _ := receiver(d.Recv.List[0].Type)
	declared := f.pkg.typeParams[base]
	if declared == nil {
		return "", "", false
	}
	var list []string
	for _, field := range declared.List {
		id, ok := field.Type.(*ast.Ident)
		for _, name := range field.Names {
			if !ok || id.Name != "any" && id.Name != "comparable" || f.pkg.declared(id.Name) || !set[name.Name] {
				return "", "", false
			}
			list = append(list, name.Name+" "+id.Name)
			names = append(names, name.Name)
		}
	}
	if len(names) != len(set) {
		return "", "", false
	}
	return "[" + strings.Join(list, ",") + "]", "[" + strings.Join(names, ",") + "]", true
}

// helped reports whether the types of d's signature mean the same outside of any function.
func (f *file) helped(d *ast.FuncDecl, typeParams map[string]bool) bool {
	if len(typeParams) > 0 {
		if _, _, ok := f.spellTypeParams(); !ok {
			return false
		}
	}
	var locals map[string]bool
	if d.Name.Name == "_" {
		locals = f.locals(d.Type.Pos())
	}
	helped := true
	for _, fields := range []*ast.FieldList{d.Recv, d.Type.Params, d.Type.Results} {
		if fields == nil {
			continue
		}
		for _, field := range fields.List {
			ast.Inspect(field.Type, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				helped = helped && (!ok || !locals[id.Name])
				return helped
			})
		}
	}
	return helped
}

// locals returns the names to which the function at work, and the literals around pos in it, give
// meanings of their own.
func (f *file) locals(pos token.Pos) map[string]bool {
	found := map[string]bool{}
	add := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok {
			found[id.Name] = true
		}
	}
	fields := func(lists ...*ast.FieldList) {
		for _, list := range lists {
			if list == nil {
				continue
			}
			for _, field := range list.List {
				for _, name := range field.Names {
					add(name)
				}
			}
		}
	}
	ast.Inspect(f.decl, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		around := n.Pos() <= pos && pos < n.End()
		switch n := n.(type) {
		case *ast.FuncDecl:
			fields(n.Recv, n.Type.Params, n.Type.Results)
		case *ast.FuncLit:
			if around {
				fields(n.Type.Params, n.Type.Results)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, x := range n.Lhs {
					add(x)
				}
			}
		case *ast.RangeStmt:
			if around && n.Tok == token.DEFINE {
				add(n.Key)
				add(n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.LabeledStmt, *ast.DeclStmt, *ast.GenDecl:
			return true
		}
		return around
	})
	return found
}
