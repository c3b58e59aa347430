package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// tablePackage returns the fields of format.Package, and room for what the core adds to them. Names
// begin with x, as all in the registering file do: the package may declare something called unsafe.
func tablePackage(x string) string {
	var b strings.Builder
	for _, f := range reflect.VisibleFields(reflect.TypeFor[format.Package]()) {
		fmt.Fprintf(&b, "\t%-7s %s\n", strings.ToLower(f.Name), strings.Replace(f.Type.String(), "unsafe.", x+"unsafe.", 1))
	}
	fmt.Fprintf(&b, "\t%-7s [%d]uint64\n", "core", format.PackageWords)
	return b.String()
}

// registerText is the file that gives a package its table of functions. The compiler sees it first.
// Its last variable is the first whose initialiser runs, so that calls made by the package's own
// initialisers are traced.
//
// The layout of pkg is that of format.Package, which the core's ftracePkg begins with. The table
// itself belongs to the core. It is filled in, from the text, only once something is armed: until
// then it takes no memory.
const registerText = `//line ftrace-wrap/register.go:1
package %[2]s

import %[1]sunsafe "unsafe"

//go:linkname %[1]sregister runtime.ftrace_register
func %[1]sregister(p *%[1]spkg) uintptr

//go:linkname %[1]senter runtime.ftrace_enter
//go:noescape
func %[1]senter(hook interface{}, params ...interface{}) int

//go:linkname %[1]sexit runtime.ftrace_exit
//go:noescape
func %[1]sexit(token int, results ...interface{})

//go:linkname %[1]she runtime.ftrace_he
//go:noescape
func %[1]she(hook *interface{}, result interface{}, values ...interface{}) bool

//go:linkname %[1]shx runtime.ftrace_hx
//go:noescape
func %[1]shx(hook *interface{}, values ...interface{})

//go:linkname %[1]shenter runtime.ftrace_henter
//go:noescape
func %[1]shenter(hook interface{}, params ...interface{}) int

type %[1]spkg struct {
%[3]s}

var %[1]snever bool

`

// register returns the source of the registering file.
func (p *pkg) register() []byte {
	var b strings.Builder
	x := p.prefix
	fmt.Fprintf(&b, registerText, x, p.files[0].tree.Name.Name, tablePackage(x))
	for _, call := range slices.Sorted(maps.Keys(p.calls)) {
		params, result := "hook *interface{}", ""
		if call[0] == 'e' {
			params, result = params+", result interface{}", " bool"
		}
		if arity := call[1:]; arity == "n" {
			params += ", values ...interface{}"
		} else {
			for i := range arity[0] - '0' {
				params += fmt.Sprintf(", v%d interface{}", i)
			}
		}
		fmt.Fprintf(&b, "//go:linkname %[1]s%[2]s runtime.ftrace_%[2]s\n//go:noescape\nfunc %[1]s%[2]s(%[3]s)%[4]s\n\n", x, call, params, result)
	}
	// They are an array, since the compiler looks a struct's fields up one after another.
	fmt.Fprintf(&b, "// The hooks: nil, or what the core is to be called with.\nvar %sf [%d]interface{}\n\n", x, p.hooked)
	fmt.Fprintf(&b, "// The functions: line, file, name, parameters and results.\nconst %sfuncs = `", x)
	for _, fn := range p.funcs {
		if fn.How != Skipped {
			fmt.Fprintf(&b, "%d %d %s %s\n", fn.Line, fn.file, fn.Name, fn.Params)
		}
	}
	for _, fn := range p.funcs { // to tell why a function that is named has no hook
		if fn.How == Skipped && fn.Reason != keptInlinable && fn.Name != "_" {
			fmt.Fprintf(&b, "! %s %s\n", fn.Name, fn.Reason)
		}
	}
	if slices.ContainsFunc(p.funcs, func(fn Func) bool { return fn.Reason == keptInlinable }) { // they may be most
		b.WriteString("! * FTRACE_INLINE=keep\n")
	}
	b.WriteString("`\n\n// Room for the core's table: in each entry a pointer, and words that the garbage collector does not see as pointers.\n")
	fmt.Fprintf(&b, "var %[1]st [%[2]d]struct{mocks %[1]sunsafe.Pointer; core [%[3]d]uint64}\n\nvar %[1]sfiles = [...]string{\n", x, p.hooked, format.EntryWords)
	for _, name := range p.fileNames {
		fmt.Fprintf(&b, "\t%s,\n", strconv.Quote(name))
	}
	b.WriteString("}\n\n")
	lists := "nil"
	list := func(method string, lines []string) {
		if lists == "nil" {
			lists = x + "lists{}"
			fmt.Fprintf(&b, "type %slists struct{}\n\n", x)
		}
		fmt.Fprintf(&b, "func (%slists) %s() []interface{} {\n\treturn []interface{}{\n%s\t}\n}\n\n", x, method, strings.Join(lines, ""))
	}
	if errors := p.errors(); len(errors) > 0 || p.opt.Variables {
		list("Errors", errors)
	}
	if p.opt.Variables {
		list("Variables", p.variables(func(*ast.ValueSpec, int) bool { return true }))
	}
	fmt.Fprintf(&b, `var %[1]spackage = %[1]spkg{version: %[2]d, path: %[3]q, symbol: %[4]q, clause: %[7]q, files: %[1]sfiles[:], funcs: %[1]sfuncs, constants: %[6]q, lists: %[8]s, nfuncs: %[5]d, hooks: %[1]sunsafe.Pointer(&%[1]sf), table: %[1]sunsafe.Pointer(&%[1]st)}

var _ = %[1]sregister(&%[1]spackage)
`, x, format.TableVersion, p.opt.ImportPath, p.opt.Symbol, p.hooked, p.constants(), p.files[0].tree.Name.Name, lists)
	return []byte(b.String())
}

// errors returns lines of the table of errors: package-level variables that are errors by their
// type, by what makes them or by their name, and types with a method Error. The core sees whether
// they are errors in truth.
func (p *pkg) errors() []string {
	lines := p.variables(func(s *ast.ValueSpec, i int) bool {
		return isError(s.Type) || len(s.Values) == len(s.Names) && makesError(s.Values[i]) || strings.HasPrefix(strings.ToLower(s.Names[i].Name), "err")
	})
	for _, name := range slices.Sorted(maps.Keys(p.methods["Error"])) {
		if p.types[name] != nil && p.typeParams[name] == nil && !p.aliases[name] {
			lines = append(lines, fmt.Sprintf("\t\t%q, (*%s)(nil),\n", name, name))
		}
	}
	return lines
}

// variables returns a line for each package-level variable that is wanted: name i of a declaration.
func (p *pkg) variables(wanted func(s *ast.ValueSpec, i int) bool) (lines []string) {
	for _, f := range p.files {
		for _, d := range f.tree.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok || d.Tok != token.VAR {
				continue
			}
			for _, s := range d.Specs {
				s := s.(*ast.ValueSpec)
				for i, n := range s.Names {
					if n.Name != "_" && wanted(s, i) {
						lines = append(lines, fmt.Sprintf("\t\t%q, &%s,\n", n.Name, n.Name))
					}
				}
			}
		}
	}
	return lines
}

// isError reports whether a type is error, by the word.
func isError(t ast.Expr) bool { return isIdent(t, "error") }

// makesError reports whether an expression is a call such as errors.New or fmt.Errorf.
func makesError(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (f.Sel.Name == "Errorf" || isIdent(f.X, "errors") && f.Sel.Name == "New")
}

func isIdent(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
