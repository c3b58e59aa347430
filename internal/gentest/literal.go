package gentest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var (
	errStale    = errors.New("its type is not what it was when it was recorded")
	errIdentity = errors.New("it has fields that only its package can set")
)

// literal returns a value as an expression of a type. zero reports whether it is the zero value.
// typed means that what is around it gives it the type. It fails if the value is not known as a
// whole.
func (w *writer) literal(t types.Type, d *datum, typed bool) (text string, zero bool, err error) {
	if types.IsInterface(t) {
		return w.dynamic(t, d)
	}
	if d.Type == nil {
		return "", false, errStale
	}
	if d.Lack != "" {
		return "", false, errors.New(d.Lack)
	}
	name, err := w.typeName(t)
	if err != nil {
		return "", false, err
	}
	convert := func(text string) string {
		if typed {
			return text
		}
		if strings.HasPrefix(name, "*") || strings.HasPrefix(name, "<-") || strings.HasPrefix(name, "func") {
			return "(" + name + ")(" + text + ")"
		}
		return name + "(" + text + ")"
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		text, zero, err = w.basic(t, u, d)
		if !typed && !slices.Contains([]string{"int", "string", "bool"}, name) {
			text = convert(text)
		}
		return text, zero, err
	case *types.Pointer:
		switch {
		case d.Type.Kind != reflect.Pointer:
			return "", false, errStale
		case d.Nil:
			return convert("nil"), true, nil
		case len(d.Parts) != 1:
			return "", false, errors.New("what the pointer leads to was not recorded")
		}
		text, _, err = w.literal(u.Elem(), d.Parts[0], false)
		return "&" + text, false, err
	case *types.Slice:
		switch {
		case d.Type.Kind != reflect.Slice:
			return "", false, errStale
		case d.Nil:
			return convert("nil"), true, nil
		case isByte(u.Elem()):
			return name + "(" + strconv.Quote(d.Text) + ")", false, nil
		}
		text, err = w.list(name, u.Elem(), d.Parts)
		return text, false, err
	case *types.Array:
		if d.Type.Kind != reflect.Array || int64(len(d.Parts)) != u.Len() {
			return "", false, errStale
		}
		text, err = w.list(name, u.Elem(), d.Parts)
		return text, false, err
	case *types.Map:
		switch {
		case d.Type.Kind != reflect.Map:
			return "", false, errStale
		case d.Nil:
			return convert("nil"), true, nil
		}
		return name + "{}", false, nil
	case *types.Struct:
		return w.structure(name, t, u, d)
	case *types.Signature, *types.Chan:
		if !d.Nil {
			return "", false, errStale
		}
		return convert("nil"), true, nil
	}
	return "", false, fmt.Errorf("values of %s can't be built", name)
}

func isByte(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

// basic returns a boolean, a number or a string.
func (w *writer) basic(t types.Type, b *types.Basic, d *datum) (text string, zero bool, err error) {
	if strings.ToLower(b.Name()) != d.Type.Kind.String() && !(b.Name() == "byte" && d.Type.Kind == reflect.Uint8 || b.Name() == "rune" && d.Type.Kind == reflect.Int32) {
		return "", false, errStale
	}
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		return strconv.FormatBool(d.Number != 0), d.Number == 0, nil
	case b.Kind() == types.Uintptr:
		return "", false, errors.New("a uintptr may be an address")
	case info&types.IsUnsigned != 0:
		text = strconv.FormatUint(d.Number, 10)
		return w.constant(t, constant.MakeUint64(d.Number), text), d.Number == 0, nil
	case info&types.IsInteger != 0:
		text = strconv.FormatInt(int64(d.Number), 10)
		return w.constant(t, constant.MakeInt64(int64(d.Number)), text), d.Number == 0, nil
	case info&types.IsFloat != 0:
		v := real(d.Float)
		if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 && math.Signbit(v) {
			return "", false, fmt.Errorf("%v has no literal", v)
		}
		bits := 64
		if b.Kind() == types.Float32 {
			bits = 32
		}
		return strconv.FormatFloat(v, 'g', -1, bits), v == 0, nil
	case info&types.IsString != 0:
		if strings.Contains(d.Text, "\n") && strconv.CanBackquote(strings.ReplaceAll(d.Text, "\n", "")) {
			return "`" + d.Text + "`", false, nil
		}
		return strconv.Quote(d.Text), d.Text == "", nil
	}
	return "", false, fmt.Errorf("values of %s can't be built", b)
}

// constant returns the name of the constant of a type with that value, or else the number.
func (w *writer) constant(t types.Type, v constant.Value, number string) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return number
	}
	pkg := named.Obj().Pkg()
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if !ok || name == "_" || !types.Identical(c.Type(), t) || !constant.Compare(constant.ToInt(c.Val()), token.EQL, v) {
			continue
		}
		if pkg == w.f.pkg.Types {
			return name
		}
		if c.Exported() {
			return w.qualify(pkg) + "." + name
		}
	}
	return number
}

// list returns a composite literal with elements.
func (w *writer) list(name string, elem types.Type, parts []*datum) (string, error) {
	var b strings.Builder
	b.WriteString(name + "{")
	for i, part := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		text, _, err := w.literal(elem, part, true)
		if err != nil {
			return "", fmt.Errorf("[%d]: %v", i, err)
		}
		b.WriteString(w.elide(elem, text))
	}
	return b.String() + "}", nil
}

// elide leaves out the type of an element of a composite literal, as gofmt -s does.
func (w *writer) elide(elem types.Type, text string) string {
	prefix := ""
	if p, ok := elem.(*types.Pointer); ok {
		elem, prefix = p.Elem(), "&"
	}
	if name, err := w.typeName(elem); err == nil {
		if rest, ok := strings.CutPrefix(text, prefix+name+"{"); ok {
			return "{" + rest
		}
	}
	return text
}

// structure returns a composite literal with the fields that are not zero.
func (w *writer) structure(name string, t types.Type, s *types.Struct, d *datum) (string, bool, error) {
	if d.Type.Kind != reflect.Struct || len(d.Parts) != s.NumFields() {
		return "", false, errStale
	}
	var fields []string
	for i, part := range d.Parts {
		f := s.Field(i)
		if d.Type.Fields[i].Name != f.Name() {
			return "", false, errStale
		}
		if f.Name() == "_" {
			continue
		}
		text, zero, err := w.literal(f.Type(), part, true)
		switch {
		case err != nil:
			return "", false, fmt.Errorf("%s: %w", f.Name(), err)
		case zero && !types.IsInterface(f.Type()) || text == "nil":
		case !f.Exported() && f.Pkg() != w.f.pkg.Types:
			return "", false, fmt.Errorf("%s: %w", f.Name(), errIdentity)
		default:
			fields = append(fields, f.Name()+": "+text)
		}
	}
	return name + "{" + strings.Join(fields, ", ") + "}", len(fields) == 0, nil
}

// contexts are the types of contexts that have neither values nor an end.
var contexts = map[string]string{"context.backgroundCtx": "Background()", "context.todoCtx": "TODO()"}

// dynamic returns what is in an interface.
func (w *writer) dynamic(t types.Type, d *datum) (text string, zero bool, err error) {
	if d.Type != nil && d.Type.Kind == reflect.Interface && len(d.Parts) == 1 {
		d = d.Parts[0]
	}
	switch {
	case d.Type == nil && d.Nil:
		return "nil", true, nil
	case d.Type == nil:
		return "", false, errors.New(d.Lack)
	case contexts[d.Type.Name] != "" && d.Text == "":
		return w.need("context", "context") + "." + contexts[d.Type.Name], false, nil
	case d.Lack != "":
		return "", false, errors.New(d.Lack)
	}
	expr, err := parser.ParseExpr(d.Type.Name)
	if err != nil {
		return "", false, fmt.Errorf("the type %s can't be written", d.Type.Name)
	}
	of, err := w.resolve(expr)
	if err != nil {
		return "", false, err
	}
	if !types.AssignableTo(of, t) {
		return "", false, errStale
	}
	text, _, err = w.literal(of, d, false)
	if err != nil {
		err = fmt.Errorf("%s: %w", d.Type.Name, err)
	}
	return text, false, err
}

// resolve returns the type that a recording calls so.
func (w *writer) resolve(e ast.Expr) (types.Type, error) {
	elem := func(e ast.Expr, make func(types.Type) types.Type) (types.Type, error) {
		t, err := w.resolve(e)
		if err != nil {
			return nil, err
		}
		return make(t), nil
	}
	switch e := e.(type) {
	case *ast.Ident:
		if o, ok := types.Universe.Lookup(e.Name).(*types.TypeName); ok {
			return o.Type(), nil
		}
	case *ast.StarExpr:
		return elem(e.X, func(t types.Type) types.Type { return types.NewPointer(t) })
	case *ast.ArrayType:
		if e.Len == nil {
			return elem(e.Elt, func(t types.Type) types.Type { return types.NewSlice(t) })
		}
	case *ast.MapType:
		key, err := w.resolve(e.Key)
		if err != nil {
			return nil, err
		}
		return elem(e.Value, func(t types.Type) types.Type { return types.NewMap(key, t) })
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			return w.lookup(id.Name, e.Sel.Name)
		}
	}
	return nil, fmt.Errorf("the type %s can't be written", types.ExprString(e))
}

// lookup returns the type of a package with that name: the function's, or one that it imports. The
// recording does not tell packages of the same name apart.
func (w *writer) lookup(pkg, name string) (types.Type, error) {
	candidates := append([]*types.Package{w.f.pkg.Types}, w.f.pkg.Types.Imports()...)
	var found types.Type
	for _, p := range candidates {
		o, ok := p.Scope().Lookup(name).(*types.TypeName)
		if p.Name() != pkg || !ok {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s.%s is a type of two packages", pkg, name)
		}
		found = o.Type()
		if n, ok := found.(*types.Named); ok && n.TypeParams().Len() > 0 {
			return nil, fmt.Errorf("%s.%s is generic", pkg, name)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s.%s is no type of the function's package or of one that it imports", pkg, name)
	}
	return found, nil
}

// message returns the message of an error, as an expression.
func (w *writer) message(d *datum) (string, error) {
	if d.Type != nil && d.Type.Kind == reflect.Interface && len(d.Parts) == 1 {
		d = d.Parts[0]
	}
	switch {
	case d.Type == nil && d.Nil:
		return "", nil
	case d.HasMessage && d.Message != "":
		return strconv.Quote(d.Message), nil
	}
	text, _, err := w.dynamic(types.Universe.Lookup("error").Type(), d)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(text, "&") {
		text = "(" + text + ")"
	}
	return text + ".Error()", nil
}

// typeName returns a type as the test writes it.
func (w *writer) typeName(t types.Type) (string, error) {
	hidden := ""
	name := types.TypeString(t, func(p *types.Package) string {
		if p == w.f.pkg.Types {
			return ""
		}
		return w.qualify(p)
	})
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("*[](){}, ", r) }) {
		if pkg, typ, ok := strings.Cut(part, "."); ok && pkg != "" && typ != "" && !ast.IsExported(typ) {
			hidden = part
		}
	}
	if hidden != "" {
		return "", fmt.Errorf("%s can't be named outside its package", hidden)
	}
	return name, nil
}

func (w *writer) qualify(p *types.Package) string { return w.need(p.Path(), p.Name()) }

// need notes that the test needs a package, and returns its name in the file.
func (w *writer) need(path, name string) string {
	if known := w.imports[path]; known != "" && known != "_" && known != "." {
		return known
	}
	if w.f.pkg.Types.Scope().Lookup(name) != nil {
		name += "pkg"
	}
	w.names[path] = name
	return name
}
