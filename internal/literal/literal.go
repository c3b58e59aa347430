// Package literal writes recorded values as Go expressions.
//
// In comes a [recording.Datum] and the type that it has in the sources. Out comes text for a file
// of a package, or the reason why there is none. Packages gentest and doubles call it.
package literal

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
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

var (
	errStale    = errors.New("its type is not what it was when it was recorded")
	errIdentity = errors.New("it has fields that only its package can set")
)

// A Writer writes values for one file of a package. It notes which packages the file needs. It is
// not for several goroutines at once.
type Writer struct {
	Pkg     *types.Package
	Imports map[string]string // names by paths, as the file has them
	Names   map[string]string // what the text needs: names by paths
	Others  []*types.Package  // that the file may import, beside those that the package imports

	// Hidden is called for a secret, and StandIn for a struct with fields that only its package can
	// set. They report whether "***" or a zero value, or the struct without these fields, is to be
	// written. If they are nil, there is no such literal.
	Hidden  func() bool
	StandIn func(t types.Type) bool
}

// Literal returns a value as an expression of a type. zero reports whether it is the zero value.
// typed means that what is around it gives it the type. It fails if the value is not known as a
// whole.
func (w *Writer) Literal(t types.Type, d *recording.Datum, typed bool) (text string, zero bool, err error) {
	if types.IsInterface(t) {
		return w.dynamic(t, d)
	}
	if d.Type == nil {
		return "", false, errStale
	}
	if d.Lack != "" && !(d.Type.Secret && w.Hidden != nil && w.Hidden()) {
		return "", false, errors.New(d.Lack)
	}
	name, err := w.TypeName(t)
	if err != nil {
		return "", false, err
	}
	if d.Type.Secret {
		return w.hidden(name, t)
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
		constant := err == nil && u.Info()&types.IsInteger != 0 && !strings.ContainsAny(text[:1], "-0123456789") // it has the type
		if !typed && !constant && !slices.Contains([]string{"int", "string", "bool"}, name) {
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
		text, _, err = w.Literal(u.Elem(), d.Parts[0], false)
		if err == nil && !strings.HasSuffix(text, "}") { // no composite literal
			elem, err := w.TypeName(u.Elem())
			return "func(v " + elem + ") *" + elem + " { return &v }(" + text + ")", false, err
		}
		return "&" + text, false, err
	case *types.Slice:
		switch {
		case d.Type.Kind != reflect.Slice:
			return "", false, errStale
		case d.Nil:
			return convert("nil"), true, nil
		case isByte(u.Elem()) && len(d.Parts) == 0:
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
		text, err = w.entries(name, u, d.Parts)
		return text, false, err
	case *types.Struct:
		if name == "time.Time" && d.Text != "" {
			return w.time(d.Text)
		}
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
func (w *Writer) basic(t types.Type, b *types.Basic, d *recording.Datum) (text string, zero bool, err error) {
	if strings.ToLower(b.Name()) != d.Type.Kind.String() && !(b.Name() == "byte" && d.Type.Kind == reflect.Uint8 || b.Name() == "rune" && d.Type.Kind == reflect.Int32) {
		return "", false, errStale
	}
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		return strconv.FormatBool(d.Number != 0), d.Number == 0, nil
	case b.Kind() == types.Uintptr:
		text = w.constant(t, constant.MakeUint64(d.Number), "")
		if text == "" {
			return "", false, errors.New("a uintptr may be an address")
		}
		return text, d.Number == 0, nil
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
		return quote(d.Text), d.Text == "", nil
	}
	return "", false, fmt.Errorf("values of %s can't be built", b)
}

// quote returns a string as a literal, of several lines if it has these.
func quote(s string) string {
	if strings.Contains(s, "\n") && strconv.CanBackquote(strings.ReplaceAll(s, "\n", "")) {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

// constant returns the name of the constant of a type with that value, or else the number.
func (w *Writer) constant(t types.Type, v constant.Value, number string) string {
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
		if pkg == w.Pkg {
			return name
		}
		if c.Exported() {
			return w.qualify(pkg) + "." + name
		}
	}
	return number
}

// list returns a composite literal with elements.
func (w *Writer) list(name string, elem types.Type, parts []*recording.Datum) (string, error) {
	var b strings.Builder
	b.WriteString(name + "{")
	for i, part := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		text, _, err := w.Literal(elem, part, true)
		if err != nil {
			return "", fmt.Errorf("[%d]: %v", i, err)
		}
		b.WriteString(w.elide(elem, text))
	}
	return b.String() + "}", nil
}

// entries returns a composite literal with the entries of a map, whose parts are keys and values in
// turn.
func (w *Writer) entries(name string, m *types.Map, parts []*recording.Datum) (string, error) {
	var list []string
	for i := 0; i+1 < len(parts); i += 2 {
		key, _, err := w.Literal(m.Key(), parts[i], true)
		if err != nil {
			return "", fmt.Errorf("a key: %w", err)
		}
		value, _, err := w.Literal(m.Elem(), parts[i+1], true)
		if err != nil {
			return "", fmt.Errorf("[%s]: %w", key, err)
		}
		list = append(list, w.elide(m.Key(), key)+": "+w.elide(m.Elem(), value))
	}
	return name + "{" + strings.Join(list, ", ") + "}", nil
}

// time returns an instant, given the arguments of time.Date.
func (w *Writer) time(text string) (string, bool, error) {
	pkg := w.Need("time", "time")
	if text == "0" {
		return pkg + ".Time{}", true, nil
	}
	fields := strings.SplitN(text, ", ", 8)
	month, err := strconv.Atoi(fields[1])
	if err != nil || len(fields) != 8 {
		return "", false, errStale
	}
	fields[1] = pkg + "." + time.Month(month).String()
	fields[7] = pkg + "." + fields[7]
	return pkg + ".Date(" + strings.Join(fields, ", ") + ")", false, nil
}

// hidden returns what stands for a secret.
func (w *Writer) hidden(name string, t types.Type) (text string, zero bool, err error) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0 && name == "string":
			return strconv.Quote(recording.Hidden), false, nil
		case u.Info()&types.IsString != 0:
			return name + "(" + strconv.Quote(recording.Hidden) + ")", false, nil
		case u.Info()&types.IsNumeric != 0:
			return "0", true, nil
		}
		return "false", true, nil
	case *types.Struct, *types.Array:
		return name + "{}", true, nil
	}
	return "nil", true, nil
}

// elide leaves out the type of an element of a composite literal, as gofmt -s does.
func (w *Writer) elide(elem types.Type, text string) string {
	prefix := ""
	if p, ok := elem.(*types.Pointer); ok {
		elem, prefix = p.Elem(), "&"
	}
	if name, err := w.TypeName(elem); err == nil {
		if rest, ok := strings.CutPrefix(text, prefix+name+"{"); ok {
			return "{" + rest
		}
	}
	return text
}

// structure returns a composite literal with the fields that are not zero.
func (w *Writer) structure(name string, t types.Type, s *types.Struct, d *recording.Datum) (string, bool, error) {
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
		if part.Type != nil && part.Type.Kind == reflect.Invalid { // only whether it is zero is known
			if !part.Nil && (w.StandIn == nil || !w.StandIn(t)) {
				return "", false, fmt.Errorf("%s: %w", f.Name(), errIdentity)
			}
			continue
		}
		text, zero, err := w.Literal(f.Type(), part, true)
		switch {
		case err != nil:
			return "", false, fmt.Errorf("%s: %w", f.Name(), err)
		case zero && !types.IsInterface(f.Type()) || text == "nil":
		case !f.Exported() && f.Pkg() != w.Pkg:
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
func (w *Writer) dynamic(t types.Type, d *recording.Datum) (text string, zero bool, err error) {
	if d.Type != nil && d.Type.Kind == reflect.Interface && len(d.Parts) == 1 {
		d = d.Parts[0]
	}
	switch {
	case d.Type == nil && d.Nil:
		return "nil", true, nil
	case d.Type == nil:
		return "", false, errors.New(d.Lack)
	case contexts[d.Type.Name] != "" && d.Text == "":
		return w.Need("context", "context") + "." + contexts[d.Type.Name], false, nil
	case d.Lack != "":
		return "", false, errors.New(d.Lack)
	}
	if d.Type.Name == kept.Stream {
		quoted := quote
		if strings.Contains(d.Text, `"`) && strconv.CanBackquote(d.Text) { // such as JSON
			quoted = func(s string) string { return "`" + s + "`" }
		}
		return w.Need("io", "io") + ".NopCloser(" + w.Need("strings", "strings") + ".NewReader(" + quoted(d.Text) + "))", false, nil
	}
	if d.Variable != "" {
		return w.variable(d.Variable)
	}
	if d.HasMessage && w.wraps(d) {
		return w.made(d)
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
	text, _, err = w.Literal(of, d, false)
	if err != nil {
		err = fmt.Errorf("%s: %w", d.Type.Name, err)
	}
	return text, false, err
}

// variable returns a variable, named by import path and name.
func (w *Writer) variable(of string) (string, bool, error) {
	dot := strings.LastIndexByte(of, '.')
	path, name := of[:dot], of[dot+1:]
	if path == w.Pkg.Path() {
		return name, false, nil
	}
	for _, p := range w.Pkg.Imports() {
		if p.Path() == path {
			return w.qualify(p) + "." + name, false, nil
		}
	}
	return w.Need(path, path[strings.LastIndexByte(path, '/')+1:]) + "." + name, false, nil
}

// wraps reports whether a datum is an error that package errors or fmt makes of a message.
func (w *Writer) wraps(d *recording.Datum) bool {
	return slices.Contains([]string{"*errors.errorString", "*fmt.errorString", "*fmt.wrapError"}, d.Type.Name)
}

// made returns a call that makes an error, which perhaps wraps another.
func (w *Writer) made(d *recording.Datum) (string, bool, error) {
	message := strconv.Quote(d.Message)
	if d.Type.Name != "*fmt.wrapError" {
		return w.Need("errors", "errors") + ".New(" + message + ")", false, nil
	}
	if len(d.Parts) != 1 || d.Text == "" {
		return "", false, errors.New("what the error wraps was not recorded")
	}
	inner, _, err := w.dynamic(types.Universe.Lookup("error").Type(), d.Parts[0])
	return w.Need("fmt", "fmt") + ".Errorf(" + strconv.Quote(d.Text) + ", " + inner + ")", false, err
}

// Type returns the type that a recording calls name, as the file writes it.
func (w *Writer) Type(name string) (string, error) {
	expr, err := parser.ParseExpr(name)
	if err != nil {
		return "", fmt.Errorf("the type %s can't be written", name)
	}
	t, err := w.resolve(expr)
	if err != nil {
		return "", err
	}
	return w.TypeName(t)
}

// resolve returns the type that a recording calls so.
func (w *Writer) resolve(e ast.Expr) (types.Type, error) {
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
func (w *Writer) lookup(pkg, name string) (types.Type, error) {
	near := append([]*types.Package{w.Pkg}, w.Pkg.Imports()...)
	var found types.Type
	for i, p := range slices.Concat(near, w.Others) {
		if i == len(near) && found != nil {
			break
		}
		o, ok := p.Scope().Lookup(name).(*types.TypeName)
		if p.Name() != pkg || !ok || found != nil && types.Identical(found, o.Type()) {
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

// Message returns the message of an error, as an expression.
func (w *Writer) Message(d *recording.Datum) (string, error) {
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

// TypeName returns a type as the test writes it.
func (w *Writer) TypeName(t types.Type) (string, error) {
	hidden := ""
	name := types.TypeString(t, func(p *types.Package) string {
		if p == w.Pkg {
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

func (w *Writer) qualify(p *types.Package) string { return w.Need(p.Path(), p.Name()) }

// Need notes that the test needs a package, and returns its name in the file.
func (w *Writer) Need(path, name string) string {
	if known := w.Imports[path]; known != "" && known != "_" && known != "." {
		return known
	}
	if w.Pkg.Scope().Lookup(name) != nil {
		name += "pkg"
	}
	w.Names[path] = name
	return name
}
