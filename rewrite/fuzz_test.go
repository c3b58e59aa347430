package rewrite

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// typeCheck parses and checks a package and returns the first error.
func typeCheck(imports types.Importer, path string, sources [][]byte) error {
	_, err := initOrder(imports, path, sources)
	return err
}

// initOrder does the same and also returns the order in which the package's variables are
// initialised, without the generated ones.
func initOrder(imports types.Importer, path string, sources [][]byte) ([]string, error) {
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, source := range sources {
		tree, err := parser.ParseFile(fset, "", source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	config := types.Config{Importer: imports, FakeImportC: true, Sizes: types.SizesFor("gc", "amd64")}
	info := &types.Info{}
	_, err := config.Check(path, fset, trees, info)
	var order []string
	for _, init := range info.InitOrder {
		name := init.Lhs[0].Name()
		if !strings.HasPrefix(name, "_ftrace_") && !strings.Contains(init.String(), "_ftrace_register") {
			order = append(order, init.String())
		} else if len(order) > 0 {
			return nil, fmt.Errorf("%s is initialised behind %s", name, order[len(order)-1])
		}
	}
	return order, err
}

// rewritten returns all sources of a rewritten package, the registering file first.
func rewritten(files []File, r *Result) [][]byte {
	var sources [][]byte
	if r.Register != nil {
		sources = append(sources, r.Register)
	}
	for i, f := range files {
		if r.Files[i] != nil {
			sources = append(sources, r.Files[i])
		} else {
			sources = append(sources, f.Source)
		}
	}
	return sources
}

// FuzzPackage rewrites any file. The result must parse, with each comment where it was, and it must
// type-check if the file did. Most interesting files import nothing or little.
func FuzzPackage(f *testing.F) {
	imports := importer.Default()
	imported := map[string]bool{}
	add := func(source string, keep bool) {
		f.Add(source, keep)
		tree, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
		if err != nil {
			return
		}
		for _, spec := range tree.Imports { // that may compile it, for which an input has no time
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && !imported[path] {
				imported[path] = true
				imports.Import(path)
			}
		}
	}
	for _, g := range goldens(f) {
		for _, file := range g.files {
			add(string(file.Source), false)
		}
	}
	for _, dir := range []string{"internal/types/testdata/check", "internal/types/testdata/fixedbugs", "internal/types/testdata/spec", "sort", "unicode/utf8"} {
		names, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", dir, "*.go"))
		for _, name := range names {
			if source, err := os.ReadFile(name); err == nil && len(source) < 20000 {
				add(string(source), true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, source string, keep bool) {
		files := []File{{"/src/p/a.go", []byte(source)}}
		r, err := Package(Options{ImportPath: "p", Symbol: "p", KeepInlinable: keep}, files)
		if errors.Is(err, ErrSyntax) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		out := rewritten(files, r)
		for _, text := range out {
			if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments); err != nil {
				t.Fatalf("%v in:\n%s", err, text)
			}
		}
		if !typeChecks(imports, []byte(source)) {
			return
		}
		if err := typeCheck(imports, "p", out); err != nil {
			t.Fatalf("%v in:\n%s", err, out)
		}
	})
}

// TestNoTypes: what package parser takes for a type where it has no name, and not behind one, is
// left to the compiler.
func TestNoTypes(t *testing.T) {
	for text, valid := range map[string]bool{
		"func (T[i^t]) m() {}": false, "func f(T[1]) {}": false, "func f(T[U[!x]], int) {}": false, "func f(T[*U[a(b)]]) {}": false, "func f(int) (T[a.b.c], error) { panic(0) }": false, "func f(T[int, (U[2])]) {}": false,
		"func (T[P]) m() {}": true, "func f(T[*U[[1 + 2]int]], T[func(int), p.U]) (T[map[string]chan int], error) { panic(0) }": true,
	} {
		source := "package p\n" + text
		if _, err := parser.ParseFile(token.NewFileSet(), "", source, 0); err != nil {
			t.Fatalf("%s does not parse: %v", text, err)
		}
		files := []File{{"/src/p/a.go", []byte(source)}}
		r, err := Package(Options{ImportPath: "p", Symbol: "p"}, files)
		if valid && err != nil || !valid && !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil {
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", r.Files[0], 0); err != nil {
			t.Errorf("%v in %s", err, r.Files[0])
		}
	}
}

// typeChecks reports whether source is a valid package. Package go/types panics on some that are
// not.
func typeChecks(imports types.Importer, source []byte) (valid bool) {
	defer func() {
		if recover() != nil {
			valid = false
		}
	}()
	return typeCheck(imports, "p", [][]byte{source}) == nil
}

// TestStandardLibrary rewrites the packages of the standard library. What comes out must type-check
// and have its variables initialised in the same order, behind the registration.
func TestStandardLibrary(t *testing.T) {
	root := filepath.Join(build.Default.GOROOT, "src")
	imports := importer.ForCompiler(token.NewFileSet(), "source", nil)
	packages, functions := 0, 0
	err := filepath.WalkDir(root, func(dir string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() || (testing.Short() || !testenv.All()) && packages >= 40 {
			return err
		}
		path, _ := filepath.Rel(root, dir)
		if name := d.Name(); name == "testdata" || name[0] == '_' || path == "builtin" || path == "cmd" || path == "runtime" || path == "vendor" {
			return filepath.SkipDir
		}
		bp, err := build.Default.ImportDir(dir, 0)
		if err != nil || len(bp.CgoFiles) > 0 || strings.HasPrefix(path, "internal/runtime") {
			return nil
		}
		_, files := parsePackage(t, path)
		r, err := Package(Options{ImportPath: path, Symbol: path}, files)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		var sources [][]byte
		for _, f := range files {
			sources = append(sources, fmt.Appendf(nil, "//line %s:1\n%s", f.Name, f.Source))
		}
		plain, err := initOrder(imports, path, sources)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		hooked, err := initOrder(imports, path, rewritten(files, r))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if len(plain) != len(hooked) {
			t.Errorf("%s: %d variables are initialised, %d when rewritten", path, len(plain), len(hooked))
		}
		for i := range min(len(plain), len(hooked)) {
			if a, b := variables(plain[i]), variables(hooked[i]); a != b {
				t.Errorf("%s: %s is initialised where %s was", path, b, a)
				break
			}
		}
		packages++
		functions += len(r.Funcs)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d packages, %d functions", packages, functions)
}

// variables returns the left side of an initialiser.
func variables(init string) string {
	left, _, _ := strings.Cut(init, " = ")
	return left
}

func BenchmarkPackage(b *testing.B) {
	_, files := parsePackage(b, "net/http")
	size := 0
	for _, f := range files {
		size += len(f.Source)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Package(Options{ImportPath: "net/http", Symbol: "net/http"}, files); err != nil {
			b.Fatal(err)
		}
	}
}
