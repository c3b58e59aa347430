package rewrite

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// overlay rewrites packages of the standard library and writes them into a temporary directory. It returns the results and
// the file that tells the go command to build them in place of the originals.
func overlay(t testing.TB, paths ...string) (results map[string]*Result, file string) {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(name string, source []byte) {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(to, source, 0o666); err != nil {
			t.Fatal(err)
		}
		replace[name] = to
	}
	results = map[string]*Result{}
	for _, path := range paths {
		_, files := parsePackage(t, path)
		r, err := Package(Options{ImportPath: path, Symbol: path}, files)
		if err != nil {
			t.Fatal(err)
		}
		results[path] = r
		for i, source := range r.Files {
			if source != nil {
				put(files[i].Name, source)
			}
		}
		if r.Register != nil {
			put(filepath.Join(filepath.Dir(files[0].Name), "0register.go"), r.Register)
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return results, file
}

// TestHooksStayInlinable checks that the compiler inlines every function with inline hooks in it, and how much that adds to what it
// charges.
func TestHooksStayInlinable(t *testing.T) {
	paths := []string{"strings", "bytes", "go/ast", "go/token", "text/template/parse", "encoding/json", "net/http"}
	results, file := overlay(t, paths...)
	hooked, most := 0, 0
	for _, path := range paths {
		plain := verdicts(t, "", path)
		after := verdicts(t, "", "-overlay="+file, path)
		p, _ := parsePackage(t, path)
		decls := map[string]*ast.FuncDecl{}
		for _, f := range p.files {
			for _, d := range f.tree.Decls {
				if d, ok := d.(*ast.FuncDecl); ok {
					at := p.fset.Position(d.Name.Pos())
					decls[fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)] = d
				}
			}
		}
		for _, fn := range results[path].Funcs {
			if fn.How != Inline || strings.Contains(fn.Name, "[...]") { // the compiler has several of a generic function
				continue
			}
			hooked++
			at := fmt.Sprintf("%s:%d", filepath.Base(fn.File), fn.Line)
			before, after, d := plain[at], after[at], decls[at]
			if !before.inlined || !after.inlined {
				t.Errorf("%s.%s (%s): plainly %+v, estimate %d; hooked %+v, estimate %d", path, fn.Name, at, before, p.cost(d), after, p.hookedCost(d))
			}
			if os.Getenv("ESTIMATES") != "" {
				t.Logf("params %d results %d adds %d; estimates %d, %d; %s", d.Recv.NumFields()+d.Type.Params.NumFields(), d.Type.Results.NumFields(), after.cost-before.cost, p.cost(d)-before.cost, hookCost(d), fn.Name)
			}
			most = max(most, after.cost)
		}
	}
	t.Logf("%d functions with inline hooks, the most expensive one costs %d", hooked, most)
}
