package gentest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/dst"
	"github.com/dave/dst/decorator"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
)

// mark is in the comment of tests that were made here: cases are added to these.
const mark = "ftrace-wrap gentest"

// A testFile is the file that gets the test.
type testFile struct {
	name    string
	src     []byte // nil: there is no such file
	pkg     string
	test    string            // name of the test
	adds    bool              // the test is there, and gets more cases
	imports map[string]string // names of imported packages, by path
	named   map[string]bool   // names of its cases
}

// openFile decides which file and which test gets the cases.
func openFile(f *function, name string) (*testFile, error) {
	dir := filepath.Dir(f.file)
	t := &testFile{pkg: f.pkg.Name, imports: map[string]string{}, named: map[string]bool{}}
	type declared struct {
		file  string
		marks bool
	}
	tests, clauses := map[string]declared{}, map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("reading the package's tests: %v", err)
		}
		clauses[file] = parsed.Name.Name
		for _, d := range parsed.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && parsed.Name.Name == f.pkg.Name {
				tests[d.Name.Name] = declared{file, strings.Contains(d.Doc.Text(), mark)}
			}
		}
	}
	t.test = f.testName()
	if tests[t.test].file != "" && !tests[t.test].marks {
		t.test += "Recorded"
	}
	there := tests[t.test]
	base := strings.TrimSuffix(f.file, ".go")
	t.name = base + "_test.go"
	if clause := clauses[t.name]; clause != "" && clause != t.pkg {
		t.name = base + "_recorded_test.go"
	}
	if there.file != "" {
		t.name = there.file
	}
	if name != "" {
		if t.name, err = filepath.Abs(name); err != nil {
			return nil, err
		}
	}
	clause := clauses[t.name]
	switch {
	case filepath.Dir(t.name) != dir || !strings.HasSuffix(t.name, "_test.go"):
		return nil, fmt.Errorf("-o %s: the test of %s belongs into a file of %s whose name ends in _test.go", name, f.shown, dir)
	case clause != "" && clause != t.pkg:
		return nil, fmt.Errorf("-o %s: it is of package %s, where a test can't call what %s does not export: name another file", name, clause, t.pkg)
	case there.file != "" && (!there.marks || there.file != t.name):
		return nil, fmt.Errorf("%s already declares %s: rename that", there.file, t.test)
	}
	t.adds = there.file != ""
	if t.src, err = os.ReadFile(t.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the test: %v", err)
	}
	return t, t.read()
}

// read notes the file's imports and the names of the test's cases.
func (t *testFile) read() error {
	if t.src == nil {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), t.name, t.src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, spec := range parsed.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		t.imports[p] = path.Base(p)
		if spec.Name != nil {
			t.imports[p] = spec.Name.Name
		} else if base := path.Base(p); len(base) > 1 && base[0] == 'v' && base[1] <= '9' || strings.ContainsAny(base, ".-") {
			delete(t.imports, p) // its name is not known: it is imported by name as well
		}
	}
	for _, d := range parsed.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == t.test && d.Recv == nil {
			ast.Inspect(d, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					text, _ := strconv.Unquote(l.Value)
					t.named[text] = true
				}
				return true
			})
		}
	}
	return nil
}

// merged returns the file with the test, or with more cases in it.
func (t *testFile) merged(w *writer, cases []*testCase) ([]byte, error) {
	src := t.src
	if src == nil {
		src = []byte("package " + t.pkg + "\n")
	}
	file, err := decorator.Parse(src)
	if err != nil {
		return nil, err
	}
	text := w.source(t.test, cases)
	made, err := decorator.Parse("package p\n\n" + text)
	if err != nil {
		return nil, fmt.Errorf("the test that was made is no Go: %v\n%s", err, text)
	}
	test := made.Decls[0].(*dst.FuncDecl)
	if t.adds {
		if err := t.add(file, test, cases); err != nil {
			return nil, err
		}
	} else {
		test.Decs.Before = dst.EmptyLine
		file.Decls = append(file.Decls, test)
	}
	restorer := decorator.NewRestorer()
	restored, err := restorer.RestoreFile(file)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	ast.Inspect(restored, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	for p, name := range w.Names {
		if !used[name] {
			continue
		}
		if name == path.Base(p) {
			name = ""
		}
		astutil.AddNamedImport(restorer.Fset, restored, name, p)
	}
	ast.SortImports(restorer.Fset, restored)
	var b bytes.Buffer
	if err := format.Node(&b, restorer.Fset, restored); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// add adds the cases of a test to that of the file. Those that are there take the names that they
// have there.
func (t *testFile) add(file *dst.File, made *dst.FuncDecl, cases []*testCase) error {
	var there *dst.CompositeLit
	for _, d := range file.Decls {
		if d, ok := d.(*dst.FuncDecl); ok && d.Name.Name == t.test && d.Recv == nil {
			there = table(d)
		}
	}
	more := table(made)
	if there == nil || shape(there.Type) != shape(more.Type) {
		return fmt.Errorf("the table of %s in %s has other fields than %s has parameters and results now: remove the test, so that it is made anew", t.test, t.name, t.test)
	}
	known := map[string]string{}
	for _, e := range there.Elts {
		known[unnamed(e)] = caseName(e)
	}
	for i, e := range more.Elts {
		if name := known[unnamed(e)]; name != "" {
			cases[i].name, cases[i].there = name, true
		} else {
			there.Elts = append(there.Elts, dst.Clone(e).(dst.Expr))
		}
	}
	return nil
}

// table returns the literal of a test's table.
func table(d *dst.FuncDecl) (found *dst.CompositeLit) {
	for _, s := range d.Body.List {
		if s, ok := s.(*dst.AssignStmt); ok && len(s.Rhs) == 1 && found == nil {
			if l, ok := s.Rhs[0].(*dst.CompositeLit); ok {
				found = l
			}
		}
	}
	return found
}

// shape returns the text of a type, without comments.
func shape(e dst.Expr) string {
	var b strings.Builder
	dst.Inspect(e, func(n dst.Node) bool {
		switch n := n.(type) {
		case *dst.Ident:
			b.WriteString(n.Name)
		case *dst.BasicLit:
			b.WriteString(n.Value)
		}
		fmt.Fprintf(&b, "%T;", n)
		return true
	})
	return b.String()
}

// caseName returns the name of an element, or "".
func caseName(e dst.Expr) string {
	if l, ok := e.(*dst.CompositeLit); ok && len(l.Elts) > 0 {
		if field, ok := l.Elts[0].(*dst.KeyValueExpr); ok {
			if text, ok := field.Value.(*dst.BasicLit); ok {
				name, _ := strconv.Unquote(text.Value)
				return name
			}
		}
	}
	return ""
}

// unnamed returns the text of an element without its name.
func unnamed(e dst.Expr) string {
	l, ok := e.(*dst.CompositeLit)
	if !ok || len(l.Elts) == 0 {
		return shape(e)
	}
	var b strings.Builder
	for _, field := range l.Elts[1:] {
		b.WriteString(shape(field))
	}
	return b.String()
}

// source returns the test.
func (w *writer) source(test string, cases []*testCase) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("// %s compares what recorded calls returned with what they return now, see %s.", test, mark)
	p("func %s(t *%s.T) {", test, w.Need("testing", "testing"))
	p("\ttests := []struct {\n\t\t%s string", w.name)
	for _, c := range w.table {
		p("\t\t%s %s", c.name, c.typ)
	}
	p("\t}{")
	for _, tc := range cases {
		fields := []string{w.name + ": " + strconv.Quote(tc.name)}
		for i, v := range tc.values {
			if v != "" {
				fields = append(fields, w.table[i].name+": "+v)
			}
		}
		if line := strings.Join(fields, ", "); len(line) <= lineMax {
			p("\t\t{%s},", line)
		} else {
			p("\t\t{\n\t\t\t%s,\n\t\t},", strings.Join(fields, ",\n\t\t\t"))
		}
	}
	p("\t}\n\tfor _, tt := range tests {\n\t\tt.Run(tt.%s, func(t *%s.T) {", w.name, w.Need("testing", "testing"))
	w.body(p)
	p("\t\t})\n\t}\n}")
	return b.String()
}

// lineMax is how long a case may be that stands in one line.
const lineMax = 110

// body writes the call, and the comparisons.
func (w *writer) body(p func(format string, args ...any)) {
	var args, results []string
	var compare [][2]string // condition, and what is said
	callee := w.f.decl.Name.Name
	for i, c := range w.table {
		switch {
		case c.result:
			got := "got"
			if c.err {
				got = "err"
			}
			if slices.Contains(results, got) {
				got = fmt.Sprint(got, i)
			}
			results = append(results, got)
			want := "tt." + c.name
			basic, isBasic := c.of.Type().Underlying().(*types.Basic)
			switch verb := "%v"; {
			case c.err:
				compare = append(compare, [2]string{
					fmt.Sprintf(`(%s == nil) != (%s == "") || %s != nil && %s.Error() != %s`, got, want, got, got, want),
					fmt.Sprintf("%q, %s, %s", w.label(c)+" = %v, want %q", got, want),
				})
			case isBasic:
				if basic.Info()&types.IsString != 0 {
					verb = "%q"
				}
				compare = append(compare, [2]string{got + " != " + want, fmt.Sprintf("%q, %s, %s", w.label(c)+" = "+verb+", want "+verb, got, want)})
			default:
				compare = append(compare, [2]string{
					fmt.Sprintf("!%s.DeepEqual(%s, %s)", w.Need("reflect", "reflect"), got, want),
					fmt.Sprintf("%q, %s, %s", w.label(c)+" = %+v, want %+v", got, want),
				})
			}
		case i == 0 && w.f.decl.Recv != nil:
			callee = "tt." + c.name + "." + callee
		default:
			args = append(args, "tt."+c.name)
		}
	}
	if w.f.signature.Variadic() {
		args[len(args)-1] += "..."
	}
	p("\t\t\t%s := %s(%s)", strings.Join(results, ", "), callee, strings.Join(args, ", "))
	for _, c := range compare {
		p("\t\t\tif %s {\n\t\t\t\tt.Errorf(%s)\n\t\t\t}", c[0], c[1])
	}
}

// label returns what a result is called when it is wrong.
func (w *writer) label(c column) string {
	if name := c.of.Name(); name != "" && name != "_" {
		return name
	}
	return w.f.decl.Name.Name
}

// write writes the file if the test in it passes. Until then the go command is given it as an
// overlay.
func (t *testFile) write(w *writer, cases []*testCase, build []string) error {
	src, err := t.merged(w, cases)
	if err != nil {
		return err
	}
	temp, remove, err := temporary()
	if err != nil {
		return err
	}
	defer remove()
	overlay, err := t.overlay(src, temp)
	if err != nil {
		return err
	}
	if out, err := t.goTest(slices.Concat([]string{overlay}, build, []string{"-run", "^" + t.test + "$"})); err != nil {
		return fmt.Errorf("go test -run '^%s$' fails, and so %s is as it was before: %v\n%s", t.test, t.name, err, out)
	}
	if err := os.WriteFile(t.name, src, 0o644); err != nil {
		return fmt.Errorf("writing the test: %v", err)
	}
	return nil
}

// overlay returns the flag by which the go command takes src for what the file has.
func (t *testFile) overlay(src []byte, temp string) (flag string, err error) {
	made := filepath.Join(temp, "made_test.go")
	if err := os.WriteFile(made, src, 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {t.name: made}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(temp, "overlay.json")
	return "-overlay=" + list, os.WriteFile(list, overlay, 0o600)
}

// goTest runs go test in the file's package, and returns what it prints.
func (t *testFile) goTest(flags []string) (out []byte, err error) {
	goCommand, err := gocmd.Path()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(goCommand, slices.Concat([]string{"test"}, flags, []string{"."})...)
	cmd.Dir = filepath.Dir(t.name)
	out, err = cmd.CombinedOutput()
	return bytes.TrimSpace(out), err
}

// temporary makes a directory for what is built.
func temporary() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", "ftrace-wrap-gentest-")
	if err != nil {
		return "", nil, fmt.Errorf("making a directory to build the test in: %v: set TMPDIR to a writable one", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
