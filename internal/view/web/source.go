package web

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A listing is the source of a function, with the values of one call at its lines.
type listing struct {
	details
	Path  string   `json:"path"` // on this machine
	First int      `json:"first"`
	Lines []string `json:"lines"`
	Notes []note   `json:"notes"`
	Newer bool     `json:"newer"` // the file was written after the recording had begun
	Error string   `json:"error,omitempty"`
}

// A note is what is shown at a line.
type note struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// source returns the source of the function that was called. The question names a call, as that for
// its details does, or the place of its beginning in the trace, but never a file.
func (s *shown) source(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	g, wrong := strconv.ParseUint(q.Get("g"), 10, 64)
	if wrong != nil {
		err = fmt.Errorf("%q is no goroutine", q.Get("g"))
	}
	depth, begin, end := number(q, "depth", &err), number(q, "begin", &err), number(q, "end", &err)
	at, wrong := parsePlace(q.Get("at"), &s.index.clock)
	if err == nil {
		err = wrong
	}
	s.reading(w, r, err, func(reader *recording.Recording) {
		var d details
		var err error
		if at.ticks > 0 {
			d, err = callAt(reader, g, at.ticks)
		} else {
			d, err = call(reader, g, int(depth), begin, end)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		l := listing{details: d}
		if err := l.read(reader.Function(d.key), s.o.Source); err != nil {
			l.Error = err.Error()
		}
		first, _ := reader.Clocks()
		if info, err := os.Stat(l.Path); err == nil {
			l.Newer = info.ModTime().After(s.index.clock.Wall(first.Ticks))
		}
		reply(w, l)
	})
}

// read fills in the source of a function, or says why it cannot.
func (l *listing) read(f *recording.Function, dir string) error {
	if f.File == "" || f.Line == 0 {
		return errors.New("the recording does not have the file of this function")
	}
	var err error
	for _, path := range places(f.File, dir) {
		info, wrong := os.Stat(path)
		if wrong != nil {
			continue
		}
		l.Path = path
		if err = l.readFile(path, info, f); err == nil {
			return nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s is not on this machine: start ftrace web in the directory of the module, or name that with -src", f.File)
	}
	return err
}

// places returns where a file may be that the recording names: where it was when the program was
// built, in the module cache, in GOROOT, and in the module in a directory.
func places(file, dir string) (list []string) {
	if !strings.HasSuffix(file, ".go") {
		return nil
	}
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		cache = filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "pkg", "mod")
	}
	add := func(root, rest string) {
		if rest = filepath.FromSlash(rest); root != "" && filepath.IsLocal(rest) {
			list = append(list, filepath.Join(root, rest))
		}
	}
	if filepath.IsAbs(file) {
		list = append(list, filepath.Clean(file))
		if _, rest, ok := strings.Cut(filepath.ToSlash(file), "/pkg/mod/"); ok {
			add(cache, rest)
		}
		// The program was built elsewhere: how much of the path was above the module is not known.
		for _, rest, ok := strings.Cut(filepath.ToSlash(file), "/"); ok; _, rest, ok = strings.Cut(rest, "/") {
			add(dir, rest)
		}
		return list
	}
	// With -trimpath it is PATH@VERSION/FILE, IMPORTPATH/FILE in the main module, or in GOROOT.
	if mod, rest, ok := strings.Cut(file, "@"); ok {
		version, rest, _ := strings.Cut(rest, "/")
		mod, err := module.EscapePath(mod)
		if version, wrong := module.EscapeVersion(version); err == nil && wrong == nil {
			add(cache, mod+"@"+version+"/"+rest)
		}
		return list
	}
	if b, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
		if rest, ok := strings.CutPrefix(file, modfile.ModulePath(b)+"/"); ok {
			add(dir, rest)
		}
	}
	if build.Default.GOROOT != "" {
		add(filepath.Join(build.Default.GOROOT, "src"), file)
	}
	return list
}

// fileMax is how large a file of source is at most.
const fileMax = 16 << 20

// readFile takes the lines of a function out of a file, which is Go and has it where the recording
// says.
func (l *listing) readFile(path string, info os.FileInfo, f *recording.Function) error {
	if !info.Mode().IsRegular() || info.Size() > fileMax {
		return fmt.Errorf("%s is not a file of source", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	parsed, _ := parser.ParseFile(files, path, text, parser.SkipObjectResolution) // as much as is Go
	line := func(at token.Pos) int { return files.PositionFor(at, false).Line }
	var node ast.Node
	var typ *ast.FuncType
	var body *ast.BlockStmt
	if parsed != nil {
		ast.Inspect(parsed, func(n ast.Node) bool {
			if node != nil {
				return false
			}
			switch n := n.(type) {
			case *ast.FuncDecl:
				if line(n.Pos()) == f.Line && slices.Contains(strings.Split(strings.ReplaceAll(f.Name, "[...]", ""), "."), n.Name.Name) {
					node, typ, body = n, n.Type, n.Body
				}
			case *ast.FuncLit:
				if line(n.Pos()) == f.Line {
					node, typ, body = n, n.Type, n.Body
				}
			}
			return true
		})
	}
	if node == nil || body == nil {
		return fmt.Errorf("%s does not have %s at line %d: it has changed since the program was built", path, f.ShortName(), f.Line)
	}
	l.First = f.Line
	l.Lines = strings.Split(string(text), "\n")[f.Line-1 : line(node.End())]
	l.annotate(node, typ, body, line)
	return nil
}

// annotate notes each parameter where it is declared. The results are at the function's only
// return, or at its end.
func (l *listing) annotate(node ast.Node, typ *ast.FuncType, body *ast.BlockStmt, line func(token.Pos) int) {
	declared := map[string]int{}
	fields := slices.Clone(typ.Params.List)
	if method, ok := node.(*ast.FuncDecl); ok && method.Recv != nil {
		fields = append(fields, method.Recv.List...)
	}
	for _, field := range fields {
		for _, name := range field.Names {
			declared[name.Name] = line(name.Pos())
		}
	}
	for _, v := range l.params {
		at, text := declared[v.Name], v.Text
		if at == 0 {
			at = l.First
		}
		if v.Name != "" {
			text = v.Name + "=" + text
		}
		l.Notes = append(l.Notes, note{at, text})
	}
	if !l.Ended {
		return
	}
	var returns []int
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns = append(returns, line(n.Pos()))
		}
		return true
	})
	at := line(node.End())
	if len(returns) == 1 && l.Exit == "" {
		at = returns[0]
	}
	if l.Results != "" {
		l.Notes = append(l.Notes, note{at, l.Results})
	}
}
