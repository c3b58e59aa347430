package reach

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// changes are what differs between a commit and the files that are there.
type changes struct {
	functions map[[2]string]bool // by file, from the root of the repository, and name
	files     map[string]bool    // that changed outside of functions: constants, types, imports
}

// Changed writes the go test commands that run the tests which reach what has changed since a
// commit of git. It returns how many tests these are.
func (x *Index) Changed(out io.Writer, commit string) (n int, err error) {
	top, err := git("", "rev-parse", "--show-toplevel")
	if err != nil {
		return 0, err
	}
	root := strings.TrimSpace(string(top))
	c, err := changedSince(root, commit)
	if err != nil {
		return 0, err
	}
	run := map[string]map[string]bool{} // names of tests, by package
	add := func(pkg, name string) {
		if run[pkg] == nil {
			run[pkg] = map[string]bool{}
		}
		if !run[pkg][name] {
			run[pkg][name] = true
			n++
		}
	}
	for _, t := range x.Tests {
		for _, r := range t.Reached {
			if c.concern(r) {
				add(t.Package, t.Name)
				break
			}
		}
	}
	for f := range c.functions { // tests that the index does not have yet
		if strings.HasSuffix(f[0], "_test.go") && testName().MatchString(f[1]) {
			if pkg := x.packageOf(filepath.Join(root, f[0])); pkg != "" {
				add(pkg, f[1])
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(run)) {
		if _, err := fmt.Fprintf(out, "go test -run '^(%s)$' %s\n", strings.Join(slices.Sorted(maps.Keys(run[pkg])), "|"), pkg); err != nil {
			return n, err
		}
	}
	return n, nil
}

// packageOf returns the package of the tests in the directory of a file, "" if it is not known.
func (x *Index) packageOf(file string) string {
	for _, t := range x.Tests {
		for _, r := range t.Reached {
			if strings.TrimSuffix(r.ImportPath, "_test") == t.Package && filepath.Dir(r.File) == filepath.Dir(file) {
				return t.Package
			}
		}
	}
	return ""
}

// concern reports whether a function has changed, or anything in its file outside of functions.
func (c *changes) concern(r *Reached) bool {
	name := plainName(r.Name)
	for f := range c.functions {
		if isFile(r.File, f[0]) && (name == f[1] || strings.HasPrefix(name, f[1]+".")) {
			return true
		}
	}
	for f := range c.files {
		if isFile(filepath.Dir(r.File), path.Dir(f)) { // what is declared there is for all of the package
			return true
		}
	}
	return false
}

// isFile reports whether a file of the index is one of the repository.
func isFile(file, inRepository string) bool {
	file = filepath.ToSlash(file)
	return inRepository == "." || file == inRepository || strings.HasSuffix(file, "/"+inRepository)
}

// plainName returns the name of a function without type arguments.
func plainName(name string) string {
	if i := strings.IndexByte(name, '['); i >= 0 {
		if j := strings.LastIndexByte(name, ']'); j > i {
			return name[:i] + name[j+1:]
		}
	}
	return name
}

var hunk = words.Regexp(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// changedSince finds what differs.
func changedSince(root, commit string) (*changes, error) {
	c := &changes{functions: map[[2]string]bool{}, files: map[string]bool{}}
	diff, err := git(root, "diff", "--no-color", "--no-ext-diff", "--unified=0", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", commit, "--", "*.go", "go.mod")
	if err != nil {
		return nil, err
	}
	var file string
	var before, after *source
	for line := range strings.Lines(string(diff)) {
		line = strings.TrimRight(line, "\r\n")
		if name, ok := strings.CutPrefix(line, "diff --git a/"); ok {
			file = name[:(len(name)-len(" b/"))/2]
			old, _ := git(root, "show", commit+":"+file) // none: the file is new
			now, _ := os.ReadFile(filepath.Join(root, file))
			before, after = parse(old), parse(now)
		}
		m := hunk().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for i, s := range []*source{before, after} {
			from, _ := strconv.Atoi(m[1+2*i])
			n := 1
			if m[2+2*i] != "" {
				n, _ = strconv.Atoi(m[2+2*i])
			}
			s.changed(c, file, from, n)
		}
	}
	others, err := git(root, "ls-files", "--others", "--exclude-standard", "--", "*.go")
	for file := range strings.Lines(string(others)) {
		file = strings.TrimSpace(file)
		now, _ := os.ReadFile(filepath.Join(root, file))
		parse(now).changed(&changes{c.functions, map[string]bool{}}, file, 1, 1<<30) // what is declared there is used elsewhere, or in its functions
	}
	return c, err
}

// A source is a version of a file.
type source struct {
	text      []byte
	lines     [][]byte
	functions []lines
}

// lines are those of a function.
type lines struct {
	name     string
	from, to int
}

func parse(text []byte) *source {
	s := &source{text: text, lines: bytes.Split(text, []byte("\n"))}
	set := token.NewFileSet()
	f, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution|parser.ParseComments) // what can be parsed is there
	if f == nil {
		return s
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			s.functions = append(s.functions, lines{nameOf(fn), set.Position(from).Line, set.Position(fn.End()).Line})
		}
	}
	return s
}

// nameOf returns the name of a function as the index has it, without type parameters.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	star, typ := false, fn.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			star, typ = true, t.X
		case *ast.ParenExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			if star {
				return "(*" + t.Name + ")." + fn.Name.Name
			}
			return t.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// changed notes that n lines have changed.
func (s *source) changed(c *changes, file string, from, n int) {
	for i := from; i < from+n && i <= len(s.lines); i++ {
		at := slices.IndexFunc(s.functions, func(f lines) bool { return f.from <= i && i <= f.to })
		text := bytes.TrimSpace(s.lines[max(i-1, 0)])
		switch {
		case at >= 0:
			c.functions[[2]string{file, s.functions[at].name}] = true
		case len(text) > 0 && !bytes.HasPrefix(text, []byte("//")):
			c.files[file] = true
		}
	}
}

// git runs git in a directory.
func git(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}
