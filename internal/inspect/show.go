package inspect

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/paths"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// Show writes what the compiler gets in place of a package's sources: of the package or file that
// target names. If name is not empty, only the functions of that name are shown.
func Show(w io.Writer, name string, buildFlags []string, target string) error {
	l, err := newLoader()
	if err != nil {
		return err
	}
	l.buildFlags = buildFlags
	p, file, err := l.find(target)
	if err != nil {
		return err
	}
	v, err := newView(p)
	if err != nil {
		return err
	}
	if name != "" {
		return v.writeFuncs(w, name, file)
	}
	return v.writeFiles(w, file)
}

// find loads the package that target names, or that the file it names is part of.
func (l *loader) find(target string) (p *loadedPackage, file string, err error) {
	if !strings.HasSuffix(target, ".go") {
		loaded, err := l.load(target)
		switch {
		case err != nil:
		case len(loaded) == 0:
			err = fmt.Errorf("%s: it has no Go files but tests: name one of those", target)
		case len(loaded) > 1:
			err = fmt.Errorf("%s: matches %s: name one", target, words.Count(len(loaded), "package"))
		}
		if err != nil {
			return nil, "", err
		}
		return loaded[0], "", nil
	}
	file, err = filepath.Abs(target)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %v", target, err)
	}
	if _, err := os.Stat(file); err != nil {
		return nil, "", err
	}
	l.tests = strings.HasSuffix(file, "_test.go")
	loaded, err := l.load("file=" + file)
	if err != nil {
		return nil, "", err
	}
	for _, p := range loaded {
		if slices.ContainsFunc(p.files, func(f rewrite.File) bool { return f.Name == file }) {
			return p, file, nil
		}
	}
	return nil, "", fmt.Errorf("%s: no package has this file in a build with these settings: check its build constraints, GOOS, GOARCH and -tags", target)
}

// A view is a rewritten package, parsed.
type view struct {
	*loadedPackage
	fset     *token.FileSet
	trees    []*ast.File // of each file, nil where nothing changed
	register *ast.File
	prefix   string // of the names that were generated
	slots    []int  // place of each of result.Funcs in the table, -1 if it has none
}

var packageVariable = words.Regexp(`(?m)^var (\w+)package = `)

func newView(p *loadedPackage) (*view, error) {
	if p.refused != "" {
		return nil, fmt.Errorf("%s is never instrumented: %s", p.importPath, p.refused)
	}
	v := &view{loadedPackage: p, fset: token.NewFileSet(), trees: make([]*ast.File, len(p.files))}
	if m := packageVariable().FindSubmatch(p.result.Register); m != nil {
		v.prefix = string(m[1])
	}
	slot := 0
	for _, fn := range p.result.Funcs {
		if fn.How == rewrite.Skipped {
			v.slots = append(v.slots, -1)
			continue
		}
		v.slots = append(v.slots, slot)
		slot++
	}
	for i, source := range p.result.Files {
		if source == nil {
			source = p.files[i].Source
		}
		tree, err := v.parse(p.files[i].Name, source)
		if err != nil {
			return nil, err
		}
		v.trees[i] = tree
	}
	if p.result.Register == nil {
		return v, nil
	}
	var err error
	v.register, err = v.parse("register.go", p.result.Register)
	return v, err
}

// parse parses a rewritten file. The directives that map its lines to the original's are for the
// compiler, not for readers.
func (v *view) parse(name string, source []byte) (*ast.File, error) {
	tree, err := parser.ParseFile(v.fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("the instrumented form of %s does not parse: %v: this is a fault of ftrace-wrap", name, err)
	}
	for _, group := range tree.Comments {
		group.List = slices.DeleteFunc(group.List, func(c *ast.Comment) bool {
			return strings.HasPrefix(c.Text, "//line ") || strings.HasPrefix(c.Text, "/*line ")
		})
	}
	tree.Comments = slices.DeleteFunc(tree.Comments, func(g *ast.CommentGroup) bool { return len(g.List) == 0 })
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			n.Doc = keepDoc(n.Doc)
		case *ast.GenDecl:
			n.Doc = keepDoc(n.Doc)
		}
		return true
	})
	return tree, nil
}

// keepDoc drops a comment that is empty now.
func keepDoc(doc *ast.CommentGroup) *ast.CommentGroup {
	if doc == nil || len(doc.List) == 0 {
		return nil
	}
	return doc
}

// writeFiles writes the package's files, or the one given, and the file that registers its
// functions.
func (v *view) writeFiles(w io.Writer, only string) error {
	v.writeNote(w)
	for i, tree := range v.trees {
		name := v.files[i].Name
		if only != "" && name != only {
			continue
		}
		if v.result.Files[i] == nil {
			fmt.Fprintf(w, "// %s: unchanged, nothing in it is hooked.\n\n", escape.String(paths.Short(name)))
			continue
		}
		fmt.Fprintf(w, "// %s, as it is compiled (without the //line directives that keep its line numbers):\n\n", escape.String(paths.Short(name)))
		if err := v.write(w, tree, tree); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if only != "" || v.register == nil {
		return nil
	}
	fmt.Fprintf(w, "// One more file, compiled first, registers the functions of %s:\n\n", v.importPath)
	return v.write(w, v.register, v.register)
}

// writeNote writes a note if a build would not do what is shown.
func (v *view) writeNote(w io.Writer) {
	if !v.selected {
		fmt.Fprintf(w, "// A build leaves %s alone: %s.\n\n", v.importPath, v.unselected())
	}
}

// writeFuncs writes the functions that name matches, those of one file if only is not "", each with
// what was generated for it.
func (v *view) writeFuncs(w io.Writer, name, only string) error {
	var names []string
	found := false
	for i, fn := range v.result.Funcs {
		if only != "" && fn.File != only {
			continue
		}
		names = append(names, fn.Name)
		if !v.matches(fn.Name, name) {
			continue
		}
		if !found {
			v.writeNote(w)
		}
		found = true
		if err := v.writeFunc(w, i); err != nil {
			return err
		}
	}
	if found {
		return nil
	}
	where := v.importPath
	if only != "" {
		where = paths.Short(only)
	}
	if near := words.Near(lastPart(name), names); len(near) > 0 {
		return fmt.Errorf("-func %s: no such function in %s: is it %s?", name, where, strings.Join(near, " or "))
	}
	return fmt.Errorf("-func %s: no such function in %s: ftrace-wrap list %s has their names", name, where, v.importPath)
}

// matches reports whether the user's name is fn: with the package, as the compiler has it, or the
// last part alone.
func (v *view) matches(fn, name string) bool {
	if fn == name || lastPart(fn) == name || fn == name+"[...]" || name == "init" && initName().MatchString(fn) {
		return true
	}
	known := []string{v.symbol, v.importPath, v.importPath[strings.LastIndexByte(v.importPath, '/')+1:]}
	if len(v.trees) > 0 {
		known = append(known, v.trees[0].Name.Name)
	}
	for _, path := range known {
		if rest, ok := strings.CutPrefix(name, path+"."); ok && (rest == fn || rest+"[...]" == fn) {
			return true
		}
	}
	return false
}

// initName is what the compiler calls functions named init.
var initName = words.Regexp(`^init\.\d+$`)

// lastPart returns the method's name of "(*T).M", and without type parameters "F" of "F[...]".
func lastPart(fn string) string {
	fn = strings.TrimSuffix(fn, "[...]")
	return fn[strings.LastIndexByte(fn, '.')+1:]
}

// writeFunc writes a function and what was generated for it.
func (v *view) writeFunc(w io.Writer, i int) error {
	fn := v.result.Funcs[i]
	title := fmt.Sprintf("// %s.%s, %s:%d: %s", v.symbol, fn.Name, paths.Short(fn.File), fn.Line, fn.How)
	if fn.Reason != "" {
		title += ": " + fn.Reason
	}
	fmt.Fprintf(w, "%s\n\n", title)
	node, tree := v.node(i)
	if node == nil {
		return fmt.Errorf("%s: the function is not in the rewritten file: this is a fault of ftrace-wrap", fn.Name)
	}
	if err := v.write(w, node, tree); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}

// node finds the declaration or literal of a function by its hook, or by its place if it has none.
func (v *view) node(i int) (found ast.Node, in *ast.File) {
	fn := v.result.Funcs[i]
	for _, tree := range v.trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			var body *ast.BlockStmt
			var at token.Pos
			switch n := n.(type) {
			case *ast.FuncDecl:
				body, at = n.Body, n.Name.Pos()
			case *ast.FuncLit:
				body, at = n.Body, n.Pos()
			default:
				return found == nil
			}
			position := v.fset.Position(at)
			if v.slots[i] >= 0 && v.hooks(body, v.slots[i]) ||
				v.slots[i] < 0 && position.Filename == fn.File && position.Line == fn.Line && declares(n, lastPart(fn.Name)) {
				found, in = n, tree
			}
			return found == nil
		})
	}
	return found, in
}

// declares reports whether n is a literal or declares name; "init" has a number in its function's
// name.
func declares(n ast.Node, name string) bool {
	d, ok := n.(*ast.FuncDecl)
	return !ok || d.Name.Name == name || d.Name.Name == "init"
}

// hooks reports whether a body begins with the hook of a place in the table.
func (v *view) hooks(body *ast.BlockStmt, slot int) bool {
	if body == nil || len(body.List) == 0 {
		return false
	}
	statement, ok := body.List[0].(*ast.IfStmt)
	if !ok {
		return false
	}
	check, ok := statement.Cond.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	hook, ok := check.X.(*ast.IndexExpr)
	if !ok {
		return false
	}
	hooks, ok := hook.X.(*ast.Ident)
	index, literal := hook.Index.(*ast.BasicLit)
	return ok && literal && hooks.Name == v.prefix+"f" && index.Value == strconv.Itoa(slot)
}

// write formats a node of a file, or the file.
func (v *view) write(w io.Writer, node ast.Node, tree *ast.File) error {
	var what any = &printer.CommentedNode{Node: node, Comments: tree.Comments}
	if node == tree {
		what = tree
	}
	var b bytes.Buffer
	if err := format.Node(&b, v.fset, what); err != nil {
		return fmt.Errorf("formatting: %v", err)
	}
	out := bytes.TrimRight(b.Bytes(), "\n")
	_, err := w.Write(append(out, '\n'))
	return err
}
