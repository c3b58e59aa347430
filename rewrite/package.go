package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// Options say how one package is rewritten.
type Options struct {
	// ImportPath is the package's import path, also for a main package ("example.com/cmd/x").
	ImportPath string
	// Symbol is the path that the compiler gives the package's symbols (its -p flag): "main" for a
	// main package.
	Symbol string
	// KeepInlinable leaves functions alone that the compiler would inline.
	KeepInlinable bool
	// Variables has the package list its variables, for tests that set them by name.
	Variables bool
	// Shown returns the name of a file as traces show it (the compiler's -trimpath); nil leaves
	// names as they are.
	Shown func(name string) string
	// Unhooked names functions that must stay as they are, each with the reason.
	Unhooked map[string]string
	// Profile is the user's profile for the package (-pgo), in the form of "go tool preprofile";
	// nil if there is none.
	Profile []byte
}

// A File is one source file of a package.
type File struct {
	// Name is the file's name as positions show it, usually an absolute path.
	Name string
	// Source is the file's text.
	Source []byte
}

// How says in which way a function is hooked.
type How string

const (
	// Skipped functions are not hooked; Func.Reason says why.
	Skipped How = "skipped"
	// Inline functions, which the compiler may inline, are traced at their entry and before each
	// return.
	Inline How = "inline"
	// Outline functions are traced likewise, but are not inlined.
	Outline How = "outline"
	// Deferred functions are traced at their entry, and, whichever way they end, by a deferred
	// call.
	Deferred How = "deferred"
)

// A Func is one function of a rewritten package: a declaration or a literal.
type Func struct {
	// Name is the function's name as the compiler and the runtime know it, without the package:
	// "F", "(*T).M", "F.func1".
	Name string
	// File and Line are where it begins, as positions show it.
	File string
	Line int
	// How it is hooked and, if it is not, why.
	How    How
	Reason string
	// Params has the names of parameters and results and the type, as the core reads them:
	// "a,b;err!;func(int,string)(error)". It is empty if the function is not hooked.
	Params string

	index int // place in the table of hooked functions
	file  int // place in the table of file names
}

// A Result is a rewritten package.
type Result struct {
	// Files holds the new text of each file, nil where nothing changed, in the order of the input.
	Files [][]byte
	// Register is the source of one more file, which must be given to the compiler before the
	// others. It is nil if no function was hooked.
	Register []byte
	// Profile is the profile to compile the package by (-pgoprofile), so that hooks keep no
	// function from being inlined. It includes the user's profile. It is nil if that alone is
	// enough, or has an unknown form.
	Profile []byte
	// Funcs lists every function of the package, hooked or not, in source order.
	Funcs []Func
}

// ErrSyntax is the error of a package that does not parse. Leave it to the compiler to tell the
// user why.
var ErrSyntax = errors.New("rewrite: syntax error")

// Package rewrites a package: all files that the compiler gets, of one package. If a file does not
// parse, the error wraps [ErrSyntax]; there are no other errors. Package may be called from several
// goroutines at once.
func Package(opt Options, files []File) (*Result, error) {
	p := &pkg{opt: opt, fset: token.NewFileSet(), prefix: freePrefix(files)}
	for _, f := range files {
		// Go drops the carriage returns of raw strings. Before 1.26, go/ast then takes such a
		// string to end too early.
		f.Source = bytes.ReplaceAll(f.Source, []byte("\r\n"), []byte("\n"))
		tree, err := parser.ParseFile(p.fset, f.Name, f.Source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrSyntax, err)
		}
		p.files = append(p.files, newFile(p, f, tree))
	}
	p.declarations()
	p.refused = p.refuse()
	result := &Result{Files: make([][]byte, len(files))}
	for i, f := range p.files {
		result.Files[i] = f.rewrite()
	}
	if p.invalid != nil {
		return nil, fmt.Errorf("%w: %v", ErrSyntax, p.invalid)
	}
	result.Funcs = p.funcs
	if p.hooked > 0 {
		result.Register = p.register()
		result.Profile = p.profile()
	}
	return result, nil
}

// pkg is the package at work.
type pkg struct {
	opt        Options
	fset       *token.FileSet
	prefix     string // of every generated name
	files      []*file
	types      map[string]ast.Expr                 // package-level types by name
	typeParams map[string]*ast.FieldList           // of package-level types
	aliases    map[string]bool                     // which of them are aliases
	decls      map[string]*ast.FuncDecl            // functions, without methods, by name
	methods    map[string]map[string]*ast.FuncDecl // by name and receiver's type
	values     map[string]bool                     // package-level variables and constants
	consts     map[string]bool                     // package-level constants
	imports    map[string]string                   // paths by name, of all files
	bools      map[string]int                      // package-level constants that are true (1) or false (-1)
	costs      map[*ast.FuncDecl]int               // inlining costs already estimated
	leastCosts map[*ast.FuncDecl]int
	refused    string // why no function can be hooked, or ""
	invalid    error  // what no compiler accepts, though package parser does

	funcs     []Func
	hooked    int
	helped    int               // helpers made
	helpers   map[string]string // their names by what follows them
	inits     int               // functions named init seen
	literals  int               // literals in package-level initialisers seen
	fileNames []string          // of hooked functions
	fileIndex map[string]int
	calls     map[string]bool // the core's functions that hooks at returns call: "e2", "xn"
	sites     []callSite
	noted     map[callSite]bool // those in sites
}

// freePrefix returns a prefix for generated names that does not appear in any file.
func freePrefix(files []File) string {
	prefix := "_ftrace_"
	for i := 1; mentioned(files, prefix); i++ {
		prefix = fmt.Sprintf("_ftrace%d_", i)
	}
	return prefix
}

func mentioned(files []File, text string) bool {
	for _, f := range files {
		if bytes.Contains(f.Source, []byte(text)) {
			return true
		}
	}
	return false
}

// declarations notes the package-level declarations that later decisions need.
func (p *pkg) declarations() {
	p.types = map[string]ast.Expr{}
	p.aliases = map[string]bool{}
	p.typeParams = map[string]*ast.FieldList{}
	p.decls = map[string]*ast.FuncDecl{}
	p.methods = map[string]map[string]*ast.FuncDecl{}
	p.values = map[string]bool{}
	p.consts = map[string]bool{}
	p.imports = map[string]string{}
	p.bools = map[string]int{}
	p.costs = map[*ast.FuncDecl]int{}
	p.leastCosts = map[*ast.FuncDecl]int{}
	p.fileIndex = map[string]int{}
	p.calls = map[string]bool{}
	p.helpers = map[string]string{}
	p.noted = map[callSite]bool{}
	for _, f := range p.files {
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				p.function(d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						p.types[s.Name.Name] = s.Type
						p.aliases[s.Name.Name] = s.Assign.IsValid()
						p.typeParams[s.Name.Name] = s.TypeParams
					case *ast.ValueSpec:
						for i, n := range s.Names {
							p.values[n.Name] = true
							if d.Tok == token.CONST && i < len(s.Values) {
								p.bools[n.Name] = literalBool(s.Values[i])
							}
							p.consts[n.Name] = d.Tok == token.CONST
						}
					case *ast.ImportSpec:
						name, path := importName(s)
						p.imports[name] = path
					}
				}
			}
		}
	}
}

// literalBool returns 1 for true, -1 for false and 0 for any other expression.
func literalBool(x ast.Expr) int {
	if id, ok := x.(*ast.Ident); ok {
		switch id.Name {
		case "true":
			return 1
		case "false":
			return -1
		}
	}
	return 0
}

// function notes a function or method.
func (p *pkg) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Recv == nil || len(d.Recv.List) == 0 {
		p.decls[name] = d
		return
	}
	if p.methods[name] == nil {
		p.methods[name] = map[string]*ast.FuncDecl{}
	}
	base, _, _ := receiver(d.Recv.List[0].Type)
	p.methods[name][base] = d
}

// add appends a function to the package's list. If it is hooked, add gives it its place in the
// table.
func (p *pkg) add(fn Func) Func {
	if fn.How != Skipped {
		fn.index = p.hooked
		p.hooked++
		index, ok := p.fileIndex[fn.File]
		if !ok {
			index = len(p.fileNames)
			p.fileIndex[fn.File] = index
			p.fileNames = append(p.fileNames, p.shown(fn.File))
		}
		fn.file = index
	}
	p.funcs = append(p.funcs, fn)
	return fn
}

func (p *pkg) shown(name string) string {
	if p.opt.Shown == nil {
		return name
	}
	return p.opt.Shown(name)
}
