package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// An Insertion is statements that are put into a function of a package from outside: at its entry,
// and where it returns, or around one of its statements. In their text, {recv} is the receiver,
// {p0}, {p1}, ... are the parameters, {r0}, {r1}, ... the results. They are put on existing lines,
// in the function's own frame.
type Insertion struct {
	// Func is the function's name in the compiler's form: "F", "(*T).M". Type is its type, without
	// names, as the source spells it: "func([]byte) error". If the function has another type the
	// statements would not fit.
	Func, Type string
	// Entry comes first in the function's body.
	Entry string
	// Exit comes before each return, when the results have their values. What Entry declares
	// is in scope.
	Exit string
	// Around, if it is not "", is a statement of the function, as the source spells it. It must be
	// there once. Entry comes before it then, and Exit after it. The names in it are in scope.
	Around string
}

// A Field is a field that is added to a struct type, after those that it has; or one that it must
// have.
type Field struct {
	Type string // the struct type's name
	Text string // "name type", to be added
	Has  string // a name, of a field that must be there
}

// insertedPrefix is the prefix of the names that Insert gives to parameters and results without
// one. In a trace they still have none.
const insertedPrefix = "_ftraced_"

// Insert makes insertions in a package, and adds fields to its types. It returns the new text of
// each file, nil where nothing changed. If something in the package is not as the insertions and
// fields need it, Insert changes nothing and returns what is missing. If a file does not parse, the
// error wraps [ErrSyntax].
func Insert(files []File, insertions []Insertion, fields []Field) (changed [][]byte, missing []string, err error) {
	p := &pkg{fset: token.NewFileSet(), prefix: insertedPrefix}
	for _, f := range files {
		tree, err := parser.ParseFile(p.fset, f.Name, f.Source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %v", ErrSyntax, err)
		}
		p.files = append(p.files, newFile(p, f, tree))
	}
	p.declarations()
	for _, in := range insertions {
		if problem := p.insert(in); problem != "" {
			missing = append(missing, problem)
		}
	}
	for _, field := range fields {
		if problem := p.addField(field); problem != "" {
			missing = append(missing, problem)
		}
	}
	if missing != nil {
		return nil, missing, nil
	}
	changed = make([][]byte, len(files))
	for i, f := range p.files {
		if len(f.edits.edits) > 0 {
			changed[i] = f.edits.bytes()
		}
	}
	return changed, nil, nil
}

// insert queues the edits of an insertion, or returns why it can't be made.
func (p *pkg) insert(in Insertion) (problem string) {
	for _, f := range p.files {
		for _, decl := range f.tree.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil || f.declName(d) != in.Func {
				continue
			}
			sig := f.signature(d.Recv, d.Type, nil)
			if t := funcType(sig, d); t != in.Type {
				return fmt.Sprintf("%s is a %s, not a %s", in.Func, t, in.Type)
			}
			around := f.statements(d.Body, in.Around)
			switch {
			case in.Around != "" && len(around) != 1:
				return fmt.Sprintf("%s has %q %d times", in.Func, in.Around, len(around))
			case in.Around == "" && in.Exit != "" && !returnsPlainly(d):
				return in.Func + " does not return plainly"
			}
			sig.nameAll()
			names := sig.places(d)
			if in.Around != "" {
				f.edits.insert(f.offset(around[0].Pos()), names.Replace(in.Entry))
				f.edits.insert(f.offset(around[0].End()), ";"+names.Replace(in.Exit))
				return ""
			}
			f.edits.insert(f.offset(d.Body.Lbrace)+1, names.Replace(in.Entry))
			if in.Exit == "" {
				return ""
			}
			exit := names.Replace(in.Exit)
			f.exits(d, sig, "return", exit)
			if len(sig.results) == 0 {
				f.edits.insert(f.offset(d.Body.Rbrace), ";"+exit)
			}
			return ""
		}
	}
	return "there is no " + in.Func
}

// statements lists the statements in the blocks of a body that are spelled so, without those of
// function literals in it.
func (f *file) statements(body *ast.BlockStmt, spelled string) []ast.Stmt {
	var found []ast.Stmt
	in := func(list []ast.Stmt) {
		for _, s := range list {
			if f.text(s) == spelled {
				found = append(found, s)
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			in(n.List)
		case *ast.CaseClause:
			in(n.Body)
		case *ast.CommClause:
			in(n.Body)
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return found
}

// places replaces the places of parameters and results by their names.
func (s *signature) places(d *ast.FuncDecl) *strings.Replacer {
	var pairs []string
	params := s.params
	if d.Recv != nil {
		pairs = append(pairs, "{recv}", params[0].name)
		params = params[1:]
	}
	for i, v := range params {
		pairs = append(pairs, fmt.Sprintf("{p%d}", i), v.name)
	}
	for i, v := range s.results {
		pairs = append(pairs, fmt.Sprintf("{r%d}", i), v.name)
	}
	return strings.NewReplacer(pairs...)
}

// funcType spells the function's type without names.
func funcType(s *signature, d *ast.FuncDecl) string {
	list := func(values []*variable) string {
		var types []string
		for _, v := range values {
			types = append(types, v.typ)
		}
		return strings.Join(types, ", ")
	}
	params := s.params
	if d.Recv != nil {
		params = params[1:]
	}
	t := "func(" + list(params) + ")"
	switch len(s.results) {
	case 0:
		return t
	case 1:
		return t + " " + list(s.results)
	}
	return t + " (" + list(s.results) + ")"
}

// addField queues the edit that adds a field to a struct type, or returns why it can't be made.
func (p *pkg) addField(field Field) (problem string) {
	t, ok := p.types[field.Type].(*ast.StructType)
	if !ok {
		return "there is no struct type " + field.Type
	}
	if field.Has != "" && !hasField(t, field.Has) {
		return fmt.Sprintf("%s has no field %s", field.Type, field.Has)
	}
	for _, f := range p.files {
		at := t.Fields.Closing
		if field.Text == "" || at < f.tree.FileStart || f.tree.FileEnd <= at {
			continue
		}
		text := field.Text
		if n := len(t.Fields.List); n > 0 && f.tok.Line(t.Fields.List[n-1].End()) == f.tok.Line(at) {
			text = ";" + text
		}
		f.edits.insert(f.offset(at), text)
	}
	return ""
}

// hasField reports whether a struct type has a field of this name, declared by name or as an
// embedded type.
func hasField(t *ast.StructType, name string) bool {
	for _, field := range t.Fields.List {
		if id, ok := field.Type.(*ast.Ident); len(field.Names) == 0 && ok && id.Name == name {
			return true
		}
		for _, id := range field.Names {
			if id.Name == name {
				return true
			}
		}
	}
	return false
}
