package sweep

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// source tells from functions' source whether they can fail at all. It looks at no types: what it
// is not sure of may fail.
type source struct {
	list     func(importPath string) (dir string)
	packages map[string]map[string]*returned // by import path and function
	dirs     map[string]string               // of those packages; "": there is none with this path
	messages map[string]string               // their error variables, by the text that makes them
	mu       sync.Mutex
}

// returned is what a function returns as its error.
type returned struct {
	none  bool // nil
	made  bool // an error that the return statement itself makes
	other bool
	calls []string // what functions of the same package return

	// The errors by name, as FTRACE_FAIL has them, and functions of the package whose errors may be
	// among them: returned as they are, wrapped, or by way of variables.
	errors, from []string
	noError      bool // its last result is no error
}

// why returns why a function need not fail, or "".
func (s *source) why(fn string) string {
	_, name := funcname.Split(fn)
	if base := name[strings.LastIndexByte(name, '.')+1:]; base != name && (base == "Unwrap" || base == "Cause") {
		return "they return an error that they are about"
	}
	functions, r := s.find(fn)
	if r == nil {
		return ""
	}
	switch all := r.all(functions, map[*returned]bool{}); {
	case all.none && !all.made && !all.other:
		return "their error is always nil"
	case all.made && !all.none && !all.other:
		return "they always return an error"
	}
	return ""
}

// find returns what a function returns, or nil if its source is not there, and the same of its
// package.
func (s *source) find(fn string) (functions map[string]*returned, r *returned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	importPath := s.packageOf(fn)
	functions = s.packages[importPath]
	return functions, functions[strings.TrimPrefix(fn[len(importPath):], ".")]
}

// packageOf returns the import path of a function's package, which is parsed then; "" if there is
// none. The last element of the path may have dots.
func (s *source) packageOf(fn string) string {
	if s.packages == nil {
		s.packages, s.dirs, s.messages = map[string]map[string]*returned{}, map[string]string{}, map[string]string{}
	}
	for i := strings.LastIndexByte(fn[:strings.IndexAny(fn+"([", "([")], '/') + 1; i < len(fn) && fn[i] != '(' && fn[i] != '['; i++ {
		if fn[i] != '.' {
			continue
		}
		importPath := fn[:i]
		dir, asked := s.dirs[importPath]
		if !asked {
			dir = s.list(importPath)
			s.dirs[importPath] = dir
		}
		if dir == "" {
			continue
		}
		if s.packages[importPath] == nil {
			s.packages[importPath] = s.parseReturns(importPath, dir)
		}
		return importPath
	}
	return ""
}

// file returns the path of a source file of a function's package.
func (s *source) file(fn, base string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return filepath.Join(s.dirs[s.packageOf(fn)], base)
}

// errors returns the errors that a function returns, by the names that FTRACE_FAIL has for them:
// its own before those of what it calls, and last those that often mean no fault.
func (s *source) errors(fn string) (names []string) {
	functions, r := s.find(fn)
	if r == nil {
		return nil
	}
	queue, seen := []*returned{r}, map[*returned]bool{}
	for len(queue) > 0 {
		r, queue = queue[0], queue[1:]
		if r == nil || seen[r] {
			continue
		}
		seen[r] = true
		names = append(names, r.errors...)
		for _, name := range r.from {
			queue = append(queue, functions[name])
		}
	}
	benign := func(name string) int {
		if name == "io.EOF" || benignName().MatchString(name) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(names, func(a, b string) int { return benign(a) - benign(b) })
	var unique []string
	for _, name := range names {
		if !slices.Contains(unique, name) {
			unique = append(unique, name)
		}
	}
	return unique
}

var benignName = words.Regexp(`\.(Err)?(Skip|Help)[^.]*$`)

// all returns what r returns by itself and by the functions that it calls for that.
func (r *returned) all(functions map[string]*returned, seen map[*returned]bool) returned {
	sum := *r
	seen[r] = true
	for _, name := range r.calls {
		called := functions[name]
		switch {
		case called == nil:
			sum.other = true
		case !seen[called]:
			x := called.all(functions, seen)
			sum.none, sum.made, sum.other = sum.none || x.none, sum.made || x.made, sum.other || x.other
		}
	}
	return sum
}

// parseReturns parses the package in dir, and returns what its functions return, by the names that
// they have in stack traces.
func (s *source) parseReturns(importPath, dir string) map[string]*returned {
	found := map[string]*returned{}
	if dir == "" {
		return found
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names {
		file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if file == nil || strings.HasSuffix(name, "_test.go") {
			continue // of what does not parse, nothing is known
		}
		known := &scope{importPath: importPath, imports: map[string]string{}}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			name := versioned().ReplaceAllString(path, "")
			name = name[strings.LastIndexByte(name, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			known.imports[name] = path
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
				s.addMessages(importPath, d)
			}
			d, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiverName(d.Recv.List[0].Type) + "." + name
			}
			r := returnsOf(d, known)
			if before := found[name]; before != nil { // for another system
				r.none, r.made, r.other = r.none || before.none, r.made || before.made, r.other || before.other
				r.calls = append(r.calls, before.calls...)
				r.errors, r.from = append(r.errors, before.errors...), append(r.from, before.from...)
				r.noError = r.noError && before.noError
			}
			found[name] = r
		}
	}
	return found
}

// addMessages notes variables that are made of a text: by errors.New, say.
func (s *source) addMessages(importPath string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		for i := range min(len(v.Names), len(v.Values)) {
			if call, ok := v.Values[i].(*ast.CallExpr); ok && len(call.Args) == 1 {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					s.messages[text] = importPath + "." + v.Names[i].Name
				}
			}
		}
	}
}

// versioned matches the end of an import path that is not in the package's name.
var versioned = words.Regexp(`[/.]v\d+$`)

// receiverName returns a receiver's type as it is in the names of methods.
func receiverName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return "(*" + receiverName(t.X) + ")"
	case *ast.ParenExpr:
		return receiverName(t.X)
	case *ast.IndexExpr:
		return receiverName(t.X) + "[...]"
	case *ast.IndexListExpr:
		return receiverName(t.X) + "[...]"
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// returnsOf returns what the return statements of a function have last.
func returnsOf(d *ast.FuncDecl, x *scope) *returned {
	r := &returned{}
	results := d.Type.Results.NumFields()
	if results == 0 {
		r.noError = true
		return r
	}
	last := d.Type.Results.List[len(d.Type.Results.List)-1]
	switch t := last.Type.(type) {
	case *ast.Ident:
		r.noError = types.Universe.Lookup(t.Name) != nil && t.Name != "error"
	default:
		_, r.noError = t.(*ast.StarExpr)
	}
	local := map[string]bool{} // names that may stand for something of the function's own
	x.local = local
	if d.Recv != nil {
		for _, field := range d.Recv.List {
			for _, name := range field.Names {
				local[name.Name] = true
			}
		}
	}
	for _, field := range d.Type.Params.List {
		for _, name := range field.Names {
			local[name.Name] = true
		}
	}
	named := len(d.Type.Results.List[0].Names) > 0 // they may be assigned, by deferred calls too
	r.other = named || d.Body == nil
	if d.Body == nil {
		return r
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if x, ok := e.(*ast.Ident); ok {
					local[x.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, x := range n.Names {
				local[x.Name] = true
			}
		}
		return true
	})
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if k := len(n.Results); k > 0 {
				r.add(n.Results[k-1], local, k == results)
				if id, ok := ast.Unparen(n.Results[k-1]).(*ast.Ident); ok && local[id.Name] {
					x.returned = id.Name
					x.assigned(d.Body, r)
				} else {
					x.collect(n.Results[k-1], r)
				}
			} else if len(last.Names) > 0 {
				x.returned = last.Names[len(last.Names)-1].Name
				x.assigned(d.Body, r)
			}
		}
		return true
	})
	return r
}

// scope is what names mean in a function.
type scope struct {
	importPath string
	imports    map[string]string // paths by name
	local      map[string]bool   // the function's own
	returned   string            // the variable that it returns
}

// assigned collects the errors that are assigned to the variable that is returned.
func (x *scope) assigned(body ast.Node, r *returned) {
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for i, e := range a.Lhs {
				if id, ok := e.(*ast.Ident); ok && id.Name == x.returned {
					x.collect(a.Rhs[min(i, len(a.Rhs)-1)], r)
				}
			}
		}
		return true
	})
}

// collect adds the errors that an expression stands for.
func (x *scope) collect(e ast.Expr, r *returned) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name != "nil" && !x.local[e.Name] {
			r.errors = append(r.errors, x.importPath+"."+e.Name)
		}
	case *ast.SelectorExpr:
		if path := x.path(e); path != "" {
			r.errors = append(r.errors, path+"."+e.Sel.Name)
		}
	case *ast.CompositeLit:
		r.errors = x.appendType(r.errors, "", e.Type)
	case *ast.UnaryExpr:
		if lit, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			r.errors = x.appendType(r.errors, "*", lit.Type)
		}
	case *ast.CallExpr:
		switch f := ast.Unparen(e.Fun).(type) {
		case *ast.Ident:
			if !x.local[f.Name] {
				r.from = append(r.from, f.Name)
			}
		case *ast.SelectorExpr:
			switch path := x.path(f); {
			case path == "fmt" && f.Sel.Name == "Errorf", path == "errors" && f.Sel.Name == "Join":
				for _, arg := range e.Args { // what it wraps
					if _, ok := arg.(*ast.BasicLit); !ok {
						x.wrapped(arg, r)
					}
				}
			case usual[path] != "" && !strings.HasPrefix(f.Sel.Name, "New"):
				r.errors = append(r.errors, usual[path])
			}
		}
	}
}

// wrapped collects an argument of a function that wraps errors: a package-level variable with a
// name of errors.
func (x *scope) wrapped(arg ast.Expr, r *returned) {
	name := ""
	switch arg := arg.(type) {
	case *ast.Ident:
		name = arg.Name
	case *ast.SelectorExpr:
		name = arg.Sel.Name
	}
	if strings.HasPrefix(strings.ToLower(name), "err") && name != "err" {
		x.collect(arg, r)
	}
}

// path returns the import path of what a selector selects from, or "".
func (x *scope) path(e *ast.SelectorExpr) string {
	if id, ok := e.X.(*ast.Ident); ok && !x.local[id.Name] {
		return x.imports[id.Name]
	}
	return ""
}

// appendType appends the name of a type of errors.
func (x *scope) appendType(all []string, star string, t ast.Expr) []string {
	switch t := t.(type) {
	case *ast.Ident:
		return append(all, star+x.importPath+"."+t.Name)
	case *ast.SelectorExpr:
		if path := x.path(t); path != "" {
			return append(all, star+path+"."+t.Sel.Name)
		}
	}
	return all
}

// usual are errors that functions of Go's packages return.
var usual = map[string]string{
	"os": "io/fs.ErrPermission", "io/ioutil": "io/fs.ErrPermission", "path/filepath": "io/fs.ErrPermission", "io/fs": "io/fs.ErrPermission",
	"io": "io.ErrUnexpectedEOF", "bufio": "io.ErrUnexpectedEOF", "encoding/binary": "io.ErrUnexpectedEOF",
	"net": "syscall.ECONNRESET", "net/http": "syscall.ECONNRESET", "context": "context.Canceled", "database/sql": "database/sql/driver.ErrBadConn",
}

// add adds an expression that is returned; single says that it is the error alone.
func (r *returned) add(e ast.Expr, local map[string]bool, single bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if e.Name == "nil" {
			r.none = true
			return
		}
	case *ast.CompositeLit:
		r.made = true
		return
	case *ast.UnaryExpr:
		if _, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			r.made = true
			return
		}
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			if !local[f.Name] {
				r.calls = append(r.calls, f.Name)
				return
			}
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok && single && !local[x.Name] && (x.Name == "errors" && f.Sel.Name == "New" || x.Name == "fmt" && f.Sel.Name == "Errorf") {
				r.made = true
				return
			}
		}
	}
	r.other = true
}
