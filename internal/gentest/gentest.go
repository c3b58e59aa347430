// Package gentest makes a table test of a function from its recorded calls.
//
// In come a function's name and a recording. Its calls are read (calls.go), their values become Go
// literals by the types that the function has now (package literal), the test is merged into a file
// of the function's package (file.go), and of the calls those stay that pass and that together
// reach the most statements (choose.go). Command ftrace-wrap calls it for its verb gentest. It
// writes that one file, and only when the test in it passes.
package gentest

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ftrace-wrap/ftrace-wrap/internal/literal"
)

// Options say what is made.
type Options struct {
	Func      string   // the function's name, as traces show it
	Recording string   // its directory
	File      string   // to write to; "": beside the function's
	All       bool     // keep calls that reach nothing new
	Build     []string // flags of go test
}

// Run makes the test, and says what is in it and what is not. It reports whether a test was
// written.
func Run(stdout io.Writer, o *Options) (written bool, err error) {
	found, err := readCalls(o.Recording, o.Func)
	if err != nil {
		return false, err
	}
	f, err := load(found, o.Build)
	if err != nil {
		return false, err
	}
	if f.signature.Results().Len() == 0 {
		return false, fmt.Errorf("%s has no results to compare", f.shown)
	}
	file, err := openFile(f, o.File)
	if err != nil {
		return false, err
	}
	w := &writer{f: f, Writer: literal.Writer{Pkg: f.pkg.Types, Imports: file.imports, Names: map[string]string{}}}
	if err := w.columns(); err != nil {
		return false, err
	}
	cases, left := w.cases(found.calls, file.named)
	all := len(cases)
	if all > 0 {
		cases, err = choose(f, file, w, cases, &left, o)
		if err != nil {
			return false, err
		}
	}
	if len(cases) == 0 {
		fmt.Fprintf(stdout, "No test of %s: none of its calls can be a case\n", f.shown)
		left.write(stdout)
		return false, nil
	}
	if err := file.write(w, cases, o.Build); err != nil {
		return false, err
	}
	fmt.Fprintf(stdout, "%s: %s: %d of %d calls of %s", relative(file.name), file.test, len(cases), len(found.calls), f.shown)
	if f.statements > 0 {
		fmt.Fprintf(stdout, ", which reach %d of its %d statements", f.reached, f.statements)
	}
	fmt.Fprintln(stdout)
	left.write(stdout)
	return true, nil
}

// leftOut counts calls that are no cases, by the reason.
type leftOut struct {
	reasons []string
	calls   map[string]int
}

func (l *leftOut) add(reason string) {
	if l.calls == nil {
		l.calls = map[string]int{}
	}
	if l.calls[reason]++; l.calls[reason] == 1 {
		l.reasons = append(l.reasons, reason)
	}
}

func (l *leftOut) write(to io.Writer) {
	for _, reason := range l.reasons {
		calls := "calls"
		if l.calls[reason] == 1 {
			calls = "call"
		}
		fmt.Fprintf(to, "left out: %d %s: %s\n", l.calls[reason], calls, reason)
	}
}

func relative(name string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}

// function is the function that is tested, as it is in the sources now.
type function struct {
	shown     string // as traces show it
	pkg       *packages.Package
	decl      *ast.FuncDecl
	signature *types.Signature
	file      string

	first, last         int // lines of its body
	statements, reached int // by the chosen cases
}

// load finds the function in the sources.
func load(found *recorded, build []string) (*function, error) {
	path, name := found.importPath, found.name
	all, err := packages.Load(&packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
		BuildFlags: build,
	}, path)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %v", path, err)
	}
	if len(all) != 1 || len(all[0].Errors) > 0 {
		problem := errors.New("there is no such package")
		if len(all) > 0 && len(all[0].Errors) > 0 {
			problem = all[0].Errors[0]
		}
		return nil, fmt.Errorf("loading %s: %v: run this in the directory of its module", path, problem)
	}
	p := all[0]
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || declName(decl) != name {
				continue
			}
			f := &function{shown: found.shown, pkg: p, decl: decl}
			f.signature = p.TypesInfo.Defs[decl.Name].Type().(*types.Signature)
			begin, end := p.Fset.Position(decl.Pos()), p.Fset.Position(decl.End())
			f.file, f.first, f.last = begin.Filename, begin.Line, end.Line
			if strings.HasSuffix(f.file, "_test.go") {
				return nil, fmt.Errorf("%s is a function of a test", f.shown)
			}
			return f, nil
		}
	}
	if strings.Contains(name, ".func") || strings.Contains(name, "[") {
		return nil, fmt.Errorf("%s is a function literal or generic: a test can't call it as it was called", found.shown)
	}
	return nil, fmt.Errorf("%s is not in the sources of %s: record it anew", found.shown, path)
}

// declName returns a function's name as recordings have it: F, T.F or (*T).F.
func declName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		if d.Type.TypeParams != nil {
			return ""
		}
		return d.Name.Name
	}
	switch t := ast.Unparen(d.Recv.List[0].Type).(type) {
	case *ast.Ident:
		return t.Name + "." + d.Name.Name
	case *ast.StarExpr:
		if id, ok := ast.Unparen(t.X).(*ast.Ident); ok {
			return "(*" + id.Name + ")." + d.Name.Name
		}
	}
	return ""
}

// testName returns the name of the function's test.
func (f *function) testName() string {
	name := strings.NewReplacer("(*", "", ")", "", ".", "_").Replace(declName(f.decl))
	return "Test" + strings.ToUpper(name[:1]) + name[1:]
}

// inputs returns the receiver and the parameters.
func (f *function) inputs() []*types.Var {
	var list []*types.Var
	if r := f.signature.Recv(); r != nil {
		list = append(list, r)
	}
	return slices.AppendSeq(list, f.signature.Params().Variables())
}

// A column is a field of the table: a parameter, or a result.
type column struct {
	name   string
	of     *types.Var
	typ    string // in Go
	result bool
	err    bool // it is an error, whose message the table has
}

// writer writes the test.
type writer struct {
	literal.Writer
	f     *function
	table []column
	name  string // of the field that has a case's name
}

// columns decides what fields the table has.
func (w *writer) columns() error {
	taken := map[string]bool{"": true, "_": true, "t": true, "tt": true, "tests": true}
	add := func(v *types.Var, name, other string, result bool) error {
		if taken[name] {
			name = other
		}
		for base, n := name, 2; taken[name]; n++ {
			name = fmt.Sprint(base, n)
		}
		taken[name] = true
		c := column{name: name, of: v, result: result}
		if c.err = result && types.Identical(v.Type(), types.Universe.Lookup("error").Type()); c.err {
			c.typ = "string"
		} else {
			typ, err := w.TypeName(v.Type())
			if err != nil {
				return fmt.Errorf("%s: %s: %v", w.f.shown, name, err)
			}
			c.typ = typ
		}
		w.table = append(w.table, c)
		return nil
	}
	for _, v := range w.f.inputs() {
		if err := add(v, v.Name(), "arg", false); err != nil {
			return err
		}
	}
	for v := range w.f.signature.Results().Variables() {
		name := "want"
		switch {
		case types.Identical(v.Type(), types.Universe.Lookup("error").Type()):
			name = "wantErr"
		case v.Name() != "" && v.Name() != "_":
			name = "want" + strings.ToUpper(v.Name()[:1]) + v.Name()[1:]
		}
		if err := add(v, name, name, true); err != nil {
			return err
		}
	}
	w.name = "name"
	if taken[w.name] {
		w.name = "testCase"
	}
	return nil
}

// A testCase is a call as an element of the table.
type testCase struct {
	name   string
	values []string // by column; "": the zero value
	there  bool     // it is in the file already
}

// text returns the element without its name, by which equal ones are known.
func (c *testCase) text() string { return strings.Join(c.values, "\x00") }

// cases makes cases of calls, but of those not that named has.
func (w *writer) cases(calls []*call, named map[string]bool) (list []*testCase, left leftOut) {
	seen := map[string]bool{}
	inputs := len(w.f.inputs())
	for _, c := range calls {
		values, why := c.args, c.why
		if why == "" {
			values = slices.Concat(c.args, c.results)
			if len(c.args) != inputs || len(values) != len(w.table) {
				why = "the function's type is not what it was when it was recorded"
			}
		}
		tc := &testCase{name: fmt.Sprintf("call %d", c.number)}
		for i := range w.table {
			if why != "" {
				break
			}
			text, err := w.cell(&w.table[i], values[i])
			if err != nil {
				why = fmt.Sprintf("%s: %v", cmp.Or(w.table[i].of.Name(), w.table[i].name), err)
			}
			tc.values = append(tc.values, text)
		}
		switch {
		case why != "":
			left.add(why)
		case seen[tc.text()]:
			left.add("another one has the same values")
		case len(list) == casesMax:
			left.add(fmt.Sprintf("only the first %d that differ are tried", casesMax))
		default:
			seen[tc.text()] = true
			for base, n := tc.name, 2; named[tc.name]; n++ {
				tc.name = fmt.Sprintf("%s again %d", base, n)
			}
			named[tc.name] = true
			list = append(list, tc)
		}
	}
	return list, left
}

// casesMax is how many calls are tried: each is a run of the test.
const casesMax = 100

// cell returns a value as a field of the table.
func (w *writer) cell(c *column, d *datum) (string, error) {
	if c.err {
		return w.Message(d)
	}
	text, zero, err := w.Literal(c.of.Type(), d, true)
	if zero {
		text = ""
	}
	return text, err
}
