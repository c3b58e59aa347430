package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ftrace-wrap/ftrace-wrap/"

// shared are the packages that all views may use.
var shared = []string{"walk", "text"}

// uses are the views that use others, and why.
var uses = map[string][]string{
	"probes":  {"live"},                                      // a D program runs over what Start and Tail record, as text does
	"web":     {"diff", "export", "live", "report", "waits"}, // the page has tables, profiles, says where two recordings part and who waits for whom, and follows what Session records
	"forward": {"export", "live"},                            // it sends what is exported, also of what Tail follows
}

// files calls f with each file of the views, but for tests.
func files(t *testing.T, f func(view, name string, file *ast.File)) {
	t.Helper()
	names, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		view := filepath.Dir(name)
		if strings.HasSuffix(name, "_test.go") || view == "viewtest" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		f(view, name, file)
	}
}

// TestImports: no import runs backwards, and a view uses no other one without a reason.
func TestImports(t *testing.T) {
	views := map[string]bool{}
	files(t, func(view, name string, file *ast.File) {
		views[view] = true
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			own, ok := strings.CutPrefix(path, module)
			other, isView := strings.CutPrefix(own, "internal/view/")
			switch {
			case !ok:
			case strings.HasPrefix(own, "cmd/"):
				t.Errorf("%s imports %s, which calls it", name, own)
			case isView && view == "walk":
				t.Errorf("%s imports %s: all views are above walk", name, own)
			case isView && view == "text" && other != "walk":
				t.Errorf("%s imports %s: the other views are above text", name, own)
			case isView && !slices.Contains(shared, other) && !slices.Contains(uses[view], other):
				t.Errorf("%s imports %s: views share walk and text alone", name, own)
			}
		}
	})
	for view, others := range uses {
		for _, other := range others {
			if !views[view] || !views[other] {
				t.Errorf("%s uses %s: there is no such view", view, other)
			}
		}
	}
}

// TestDocs: each view says what comes in, what goes out and who calls it.
func TestDocs(t *testing.T) {
	docs := map[string]string{}
	files(t, func(view, _ string, file *ast.File) { docs[view] += file.Doc.Text() })
	for view, doc := range docs {
		if !strings.HasPrefix(doc, "Package "+view+" ") || !strings.Contains(doc, "takes") || !strings.Contains(doc, "cmd/ftrace") {
			t.Errorf("package %s says of itself %q", view, doc)
		}
	}
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && f.Name() != "viewtest" && docs[f.Name()] == "" {
			t.Errorf("%s has no package comment", f.Name())
		}
	}
}
