package rewrite

import (
	"bytes"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the rewriter does into testdata/golden")

// A golden is a package in testdata/golden with what becomes of it. The archive's comment may set
// options: "keep" or "variables" on a line by itself, "path IMPORT/PATH".
type golden struct {
	file  string
	name  string
	input *txtar.Archive
	opt   Options
	files []File
}

// goldens reads all of them. The sources are named /src/NAME/FILE.
func goldens(t testing.TB) []*golden {
	t.Helper()
	names, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no goldens: ", err)
	}
	var all []*golden
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		g := &golden{file: name, name: strings.TrimSuffix(filepath.Base(name), ".txtar"), input: &txtar.Archive{Comment: archive.Comment}}
		g.opt = Options{ImportPath: "example.com/" + g.name}
		for line := range strings.Lines(string(archive.Comment)) {
			line = strings.TrimSpace(line)
			if path, ok := strings.CutPrefix(line, "path "); ok {
				g.opt.ImportPath = path
			}
			g.opt.KeepInlinable = g.opt.KeepInlinable || line == "keep"
			g.opt.Variables = g.opt.Variables || line == "variables"
		}
		g.opt.Symbol = g.opt.ImportPath
		for _, f := range archive.Files {
			if strings.HasPrefix(f.Name, "want/") {
				continue
			}
			g.input.Files = append(g.input.Files, f)
			if strings.HasSuffix(f.Name, ".go") {
				g.files = append(g.files, File{"/src/" + g.name + "/" + f.Name, f.Data})
			}
		}
		if g.name == "main" {
			g.opt.Symbol = "main"
		}
		all = append(all, g)
	}
	return all
}

// want returns the golden as it should be.
func (g *golden) want(r *Result) []byte {
	archive := &txtar.Archive{Comment: g.input.Comment, Files: g.input.Files[:len(g.input.Files):len(g.input.Files)]}
	add := func(name string, data []byte) {
		archive.Files = append(archive.Files, txtar.File{Name: "want/" + name, Data: data})
	}
	add("funcs", []byte(list(r)))
	for i, f := range g.files {
		if r.Files[i] != nil {
			add(filepath.Base(f.Name), r.Files[i])
		}
	}
	if r.Register != nil {
		// The part in front of the table is the same for all.
		_, table, _ := bytes.Cut(r.Register, []byte("never bool\n\n"))
		add("register.go", table)
	}
	return txtar.Format(archive)
}

// list writes a result's functions one a line.
func list(r *Result) string {
	var b strings.Builder
	for _, fn := range r.Funcs {
		fmt.Fprintf(&b, "%s:%d %s %s", fn.File, fn.Line, fn.Name, fn.How)
		if fn.Reason != "" {
			fmt.Fprintf(&b, ": %s", fn.Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			r, err := Package(g.opt, g.files)
			if err != nil {
				t.Fatal(err)
			}
			want := g.want(r)
			if *update {
				if err := os.WriteFile(g.file, want, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(g.file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(want)); diff != "" {
				t.Errorf("run go test -update if this is right (- as it was, + as it is):\n%s", diff)
			}
			sameLines(t, g.files, r)
		})
	}
}

// sameLines checks that every comment of the original is where it was.
func sameLines(t testing.TB, files []File, r *Result) {
	t.Helper()
	for i, f := range files {
		if r.Files[i] == nil {
			continue
		}
		var at [2][]string
		for k, source := range [][]byte{f.Source, r.Files[i]} {
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, f.Name, source, parser.ParseComments)
			if err != nil {
				t.Fatalf("%s: %v\n%s", f.Name, err, source)
			}
			for _, group := range tree.Comments {
				for _, c := range group.List {
					if p := fset.Position(c.Pos()); !strings.HasPrefix(c.Text, "//line ") {
						at[k] = append(at[k], fmt.Sprintf("%s:%d %s", filepath.Base(p.Filename), p.Line, c.Text))
					}
				}
			}
		}
		for k, want := range at[0] {
			if k >= len(at[1]) || at[1][k] != want {
				t.Errorf("%s: comment %q has moved", f.Name, want)
				break
			}
		}
	}
}

// writeModule writes rewritten packages into a module, a folder each, and returns its directory.
func writeModule(t testing.TB, all []*golden) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", []byte("module example.com\n\ngo 1.25\n"))
	for _, g := range all {
		g.opt.ImportPath = "example.com/" + g.name
		if g.opt.Symbol != "main" {
			g.opt.Symbol = g.opt.ImportPath
		}
		r, err := Package(g.opt, g.files)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range g.input.Files {
			write(g.name+"/"+f.Name, f.Data)
		}
		for i, f := range g.files {
			if r.Files[i] != nil {
				write(g.name+"/"+filepath.Base(f.Name), r.Files[i])
			}
		}
		if r.Register != nil {
			write(g.name+"/0register.go", r.Register)
		}
	}
	return dir
}

// TestGoldenCompiles gives what the goldens become to the compiler.
func TestGoldenCompiles(t *testing.T) {
	cmd := exec.Command("go", "list", "-export", "-gcflags=-e", "./...") // builds, but links nothing
	cmd.Dir = writeModule(t, goldens(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}
