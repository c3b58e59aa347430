// Package targets finds the packages of functions that tests replace by package mock, since these
// must have hooks.
//
// In come the arguments of go test. Select reads the tests' sources, type-checks them as far as
// that goes, and adds the packages to FTRACE_PACKAGES. The verbs test, go and sweep of command
// ftrace-wrap call it. It reports no errors: what does not load, go test reports, and what is not
// found, package mock reports when the test runs.
package targets

import (
	"cmp"
	"context"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/paths"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/selection"
)

const (
	ownModule   = "github.com/ftrace-wrap/ftrace-wrap"
	mockPackage = ownModule + "/mock"
)

// Select adds the packages of the functions that tests replace to FTRACE_PACKAGES, given the
// arguments of go test, and returns those that were not there. What the user excludes stays out.
// Those whose variables tests set by name it adds to FTRACE_VARIABLES, too.
func Select(args []string) (added []string) {
	a := parseTest(args)
	goroot, found, variables := a.loadTargets()
	if len(found) == 0 {
		return nil
	}
	if len(variables) > 0 {
		os.Setenv("FTRACE_VARIABLES", strings.Join(append(variables, os.Getenv("FTRACE_VARIABLES")), ","))
	}
	env := a.environment(goroot)
	selected, err := selection.Resolve(env)
	if err != nil || selected.Key() == "off" {
		return nil
	}
	patterns := strings.Trim(cmp.Or(os.Getenv("FTRACE_PACKAGES"), "main"), ", ")
	if strings.HasPrefix(patterns, "!") {
		patterns = "main," + patterns // as it is understood there
	}
	below, _ := selection.RuntimeDeps(goroot) // what package mock replaces of these needs no hooks
	for _, p := range found {
		pkg := selection.Package{ImportPath: p.ID, Dir: p.Dir, Std: paths.Within(p.Dir, filepath.Join(goroot, "src"))}
		if selected.Contains(pkg) || pkg.Std && below[p.PkgPath] {
			continue
		}
		env.Patterns = p.PkgPath + "," + patterns // a later pattern overrides an earlier one, and the user is to have the last word
		if s, err := selection.Resolve(env); err == nil && s.Contains(pkg) && s.Validate() == nil {
			added = append(added, p.PkgPath)
		}
	}
	if len(added) == 0 {
		return nil
	}
	slices.Sort(added)
	os.Setenv("FTRACE_PACKAGES", strings.Join(added, ",")+","+patterns)
	return added
}

// LoadFlags returns those of the arguments of go test that decide which files belong to packages.
func LoadFlags(args []string) []string { return parseTest(args).flags }

// testArgs are the arguments of go test that say which packages are tested.
type testArgs struct {
	dir      string   // -C
	modfile  string   // -modfile
	flags    []string // of go list
	packages []string
}

// testValueFlags are the flags of go test whose value may be the next argument, beside
// gocmd.ValueFlags.
var testValueFlags = []string{
	"bench", "benchtime", "blockprofile", "blockprofilerate", "count", "coverprofile", "cpu", "cpuprofile", "fuzz", "fuzzminimizetime", "fuzztime", "list",
	"memprofile", "memprofilerate", "mutexprofile", "mutexprofilefraction", "outputdir", "parallel", "run", "shuffle", "skip", "timeout", "trace",
}

// loadFlags are the flags of go test that decide which files belong to the packages.
var loadFlags = []string{"asan", "compiler", "mod", "modfile", "msan", "overlay", "race", "tags"}

// parseTest reads the arguments as go test does: packages are those that stand together, between
// flags.
func parseTest(args []string) testArgs {
	var a testArgs
	for i := 0; i < len(args); i++ {
		name, value, inline := gocmd.FlagName(args[i])
		if args[i] == "--" || name == "args" {
			break
		}
		if name == "" {
			if len(a.packages) > 0 && args[i-1] != a.packages[len(a.packages)-1] {
				break // the test's own
			}
			a.packages = append(a.packages, args[i])
			continue
		}
		name = strings.TrimPrefix(name, "test.")
		flag := []string{args[i]}
		if !inline && i+1 < len(args) && (slices.Contains(gocmd.ValueFlags, name) || slices.Contains(testValueFlags, name)) {
			i++
			value = args[i]
			flag = append(flag, value)
		}
		switch {
		case name == "C":
			a.dir = value
			continue
		case name == "modfile":
			a.modfile = value
		}
		if slices.Contains(loadFlags, name) {
			a.flags = append(a.flags, flag...)
		}
	}
	if len(a.packages) == 0 {
		a.packages = []string{"."}
	}
	return a
}

// environment is what decides which packages the go command with these arguments instruments.
func (a testArgs) environment(goroot string) selection.Environment {
	env := selection.FromOS(goroot)
	if dir, err := os.Getwd(); err == nil { // we are no child of the go command
		env.Dir = dir
	}
	switch {
	case filepath.IsAbs(a.dir):
		env.Dir = a.dir
	case a.dir != "":
		env.Dir = filepath.Join(env.Dir, a.dir)
	}
	if a.modfile != "" {
		env.GOFLAGS += " '-modfile=" + a.modfile + "'"
	}
	return env
}

// loadTargets returns GOROOT, the packages of what the tests replace, and the import paths of those
// whose variables they set by name.
func (a testArgs) loadTargets() (goroot string, found []*packages.Package, variables []string) {
	if s, err := selection.Resolve(a.environment("")); err != nil || !s.MayImport(ownModule) {
		return "", nil, nil // as for most, who are not to wait for it
	}
	goroot, err := gocmd.Goroot(context.Background())
	if err != nil {
		return "", nil, nil
	}
	all, err := packages.Load(&packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps,
		Dir:        a.dir,
		BuildFlags: a.flags,
		Tests:      true,
	}, a.packages...)
	if err != nil {
		return goroot, nil, nil
	}
	f := &targetFinder{
		fset:      token.NewFileSet(),
		users:     map[*packages.Package]bool{},
		types:     map[*packages.Package]*types.Package{},
		sources:   map[*types.Package]*packages.Package{},
		values:    map[types.Object][]value{},
		targets:   map[*types.Func]parameter{},
		found:     map[string]*packages.Package{},
		variables: map[string]bool{},
	}
	packages.Visit(all, nil, f.visit)
	if len(f.users) == 0 {
		return goroot, nil, nil
	}
	f.findAll()
	for _, p := range f.found {
		found = append(found, p)
	}
	return goroot, found, slices.Sorted(maps.Keys(f.variables))
}

// A targetFinder looks for functions that are given to package mock.
type targetFinder struct {
	fset      *token.FileSet
	all       []*packages.Package
	users     map[*packages.Package]bool // those that import package mock, directly or not
	types     map[*packages.Package]*types.Package
	sources   map[*types.Package]*packages.Package
	calls     []targetCall
	values    map[types.Object][]value     // what variables of these packages get
	targets   map[*types.Func]parameter    // functions that replace others, and which parameter says what
	found     map[string]*packages.Package // by import path
	variables map[string]bool              // import paths of packages whose variables are set by name
}

// replaced has the packages whose functions are replaced by functions of package mock that name no
// target.
var replaced = map[string][]string{"Clock": {"time"}, "Seed": {"math/rand", "math/rand/v2"}}

// A parameter of a function says what is replaced.
type parameter struct {
	index int
	kind  string // target: a function or its name; pattern: of functions' names; variable: its name
}

// A targetCall is a call in a package that may replace functions.
type targetCall struct {
	*ast.CallExpr
	info   *types.Info
	callee *types.Func
	caller *types.Func // the function whose declaration has the call, or nil
}

// A value is what a variable gets: an expression, or one of the results of a call.
type value struct {
	ast.Expr
	info   *types.Info
	result int
}

// visit notes a package, after those that it imports.
func (f *targetFinder) visit(p *packages.Package) {
	f.all = append(f.all, p)
	for _, imported := range p.Imports {
		if imported.PkgPath == mockPackage || f.users[imported] {
			f.users[p] = true
		}
	}
}

// findAll type-checks the packages that use package mock, and finds the targets of all calls in
// them. A function whose parameter is a target replaces functions as well.
func (f *targetFinder) findAll() {
	for _, p := range f.all {
		if f.users[p] {
			f.check(p)
		}
	}
	for n := -1; n != len(f.targets); {
		n = len(f.targets)
		for _, c := range f.calls {
			if pkg := c.callee.Pkg(); pkg != nil && pkg.Path() == mockPackage {
				for _, path := range replaced[c.callee.Name()] {
					f.named(path + ".")
				}
			}
			if p, ok := f.targets[c.callee]; ok && p.index < len(c.Args) {
				f.target(c, c.Args[p.index], p.kind)
			}
		}
	}
}

// check returns the types of a package, as far as they can be told. Only of those that use package
// mock the functions' bodies are of interest.
func (f *targetFinder) check(p *packages.Package) *types.Package {
	if p.PkgPath == "unsafe" {
		return types.Unsafe
	}
	if t := f.types[p]; t != nil {
		return t
	}
	uses := f.users[p]
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	if !uses {
		info = nil
	}
	config := types.Config{
		Importer: importerFunc(func(path string) (*types.Package, error) {
			if imported := p.Imports[path]; imported != nil {
				return f.check(imported), nil
			}
			return types.NewPackage(path, ""), nil
		}),
		IgnoreFuncBodies: !uses,
		FakeImportC:      true,
		Error:            func(error) {},
	}
	files := f.parse(p.GoFiles)
	t, _ := config.Check(p.PkgPath, f.fset, files, info)
	f.types[p], f.sources[t] = t, p
	if p.PkgPath == mockPackage {
		f.replacers(t)
	}
	for _, file := range files {
		if uses {
			f.collect(file, info)
		}
	}
	return t
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// parse parses files, as far as they can be.
func (f *targetFinder) parse(names []string) []*ast.File {
	var files []*ast.File
	for _, name := range names {
		if file, _ := parser.ParseFile(f.fset, name, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
		}
	}
	return files
}

// replacers notes the functions of package mock that replace something: they have a parameter
// target, or name for a function's name, or pattern, or variable for a variable's name.
func (f *targetFinder) replacers(mock *types.Package) {
	for _, name := range mock.Scope().Names() {
		fn, ok := mock.Scope().Lookup(name).(*types.Func)
		if !ok || !fn.Exported() {
			continue
		}
		params := fn.Signature().Params()
		for i := range params.Len() {
			switch name := params.At(i).Name(); {
			case name == "target", name == "name":
				f.targets[fn] = parameter{i, "target"}
			case name == "pattern", name == "variable" && types.Identical(params.At(i).Type(), types.Typ[types.String]):
				f.targets[fn] = parameter{i, name}
			}
		}
	}
}

// collect notes the calls in a file, and what its variables get.
func (f *targetFinder) collect(file *ast.File, info *types.Info) {
	for _, d := range file.Decls {
		var caller *types.Func
		if d, ok := d.(*ast.FuncDecl); ok {
			caller, _ = info.Defs[d.Name].(*types.Func)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if callee := function(n.Fun, info); callee != nil {
					f.calls = append(f.calls, targetCall{n, info, callee, caller})
					params := callee.Signature().Params()
					for i := range min(params.Len(), len(n.Args)) {
						f.gets(params.At(i), value{n.Args[i], info, 0})
					}
				}
			case *ast.AssignStmt:
				f.assigned(n.Lhs, n.Rhs, info)
			case *ast.ValueSpec:
				var names []ast.Expr
				for _, name := range n.Names {
					names = append(names, name)
				}
				f.assigned(names, n.Values, info)
			case *ast.KeyValueExpr:
				f.gets(variable(n.Key, info), value{n.Value, info, 0})
			}
			return true
		})
	}
}

// assigned notes what the variables on the left get.
func (f *targetFinder) assigned(left, right []ast.Expr, info *types.Info) {
	for i, x := range left {
		switch {
		case len(right) == len(left):
			f.gets(variable(x, info), value{right[i], info, 0})
		case len(right) == 1:
			f.gets(variable(x, info), value{right[0], info, i})
		}
	}
}

// gets notes what a variable gets. Only interfaces are of interest.
func (f *targetFinder) gets(v types.Object, x value) {
	if v != nil && v.Type() != nil && types.IsInterface(v.Type()) {
		f.values[v] = append(f.values[v], x)
	}
}

// variable returns the variable, the parameter or the field that an expression names, or nil.
func variable(e ast.Expr, info *types.Info) types.Object {
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return variable(x.Sel, info)
	case *ast.Ident:
		if v, ok := info.ObjectOf(x).(*types.Var); ok {
			return v.Origin()
		}
	}
	return nil
}

// dynamic calls found with each type, not an interface, that a value has as far as the sources show
// it. What a function returns as an interface may be of each type of its package that implements
// that.
func (f *targetFinder) dynamic(x value, seen map[types.Object]bool, found func(types.Type)) {
	t := x.info.TypeOf(x.Expr)
	if results, ok := t.(*types.Tuple); ok && x.result < results.Len() {
		t = results.At(x.result).Type()
	}
	if t != nil && !types.IsInterface(t) {
		found(t)
		return
	}
	if call, ok := ast.Unparen(x.Expr).(*ast.CallExpr); ok && x.info.Types[call.Fun].IsType() && len(call.Args) == 1 {
		f.dynamic(value{call.Args[0], x.info, 0}, seen, found)
	} else if ok && t != nil {
		returned(function(call.Fun, x.info), t, found)
	}
	if v := variable(x.Expr, x.info); v != nil && !seen[v] {
		seen[v] = true
		for _, x := range f.values[v] {
			f.dynamic(x, seen, found)
		}
	}
}

// returned calls found with the types that a function may return as the interface t.
func returned(fn *types.Func, t types.Type, found func(types.Type)) {
	iface, ok := t.Underlying().(*types.Interface)
	if !ok || fn == nil || fn.Pkg() == nil {
		return
	}
	for _, name := range fn.Pkg().Scope().Names() {
		made, ok := fn.Pkg().Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		pointer := types.NewPointer(made.Type())
		if !types.IsInterface(made.Type()) && types.Implements(pointer, iface) { // as all do whose values do
			found(pointer)
		}
	}
}

// function returns the function or method that an expression names, perhaps instantiated, or nil.
func function(e ast.Expr, info *types.Info) *types.Func {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return function(x.X, info)
	case *ast.IndexListExpr:
		return function(x.X, info)
	case *ast.SelectorExpr:
		return function(x.Sel, info)
	case *ast.Ident:
		if fn, ok := info.Uses[x].(*types.Func); ok {
			return fn.Origin()
		}
	}
	return nil
}

// target notes what arg stands for, which says what the call c replaces.
func (f *targetFinder) target(c targetCall, arg ast.Expr, kind string) {
	if value := c.info.Types[arg].Value; value != nil && value.Kind() == constant.String {
		if kind == "pattern" {
			f.matching(constant.StringVal(value))
		} else if p := f.named(constant.StringVal(value)); p != nil && kind == "variable" {
			f.variables[p.PkgPath] = true
		}
		return
	}
	if fn := function(arg, c.info); fn != nil {
		if recv := fn.Signature().Recv(); recv == nil || !types.IsInterface(recv.Type()) {
			f.add(f.sources[fn.Pkg()])
			return
		}
		implements := func(t types.Type) {
			method, _, _ := types.LookupFieldOrMethod(t, true, fn.Pkg(), fn.Name())
			if method, ok := method.(*types.Func); ok {
				f.add(f.sources[method.Pkg()])
			}
		}
		if x, ok := ast.Unparen(arg).(*ast.SelectorExpr); ok && !c.info.Types[x.X].IsType() {
			f.dynamic(value{x.X, c.info, 0}, map[types.Object]bool{}, implements)
		}
		for _, x := range chosen(c) {
			f.dynamic(x, map[types.Object]bool{}, implements)
		}
		return
	}
	id, ok := ast.Unparen(arg).(*ast.Ident)
	if !ok || c.caller == nil {
		return
	}
	params := c.caller.Signature().Params()
	for i := range params.Len() {
		if params.At(i) == c.info.Uses[id] {
			f.targets[c.caller] = parameter{i, kind}
		}
	}
}

// chosen returns the values in a call's options that say which implementation of an interface is
// meant.
func chosen(c targetCall) (values []value) {
	for _, arg := range c.Args {
		option, ok := ast.Unparen(arg).(*ast.CallExpr)
		if !ok || len(option.Args) != 1 {
			continue
		}
		fn := function(option.Fun, c.info)
		if fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == mockPackage && (fn.Name() == "Implementation" || fn.Name() == "ForReceiver") {
			values = append(values, value{option.Args[0], c.info, 0})
		}
	}
	return values
}

// named adds the package of the function or variable with this name, and returns it, if it is in
// the program.
func (f *targetFinder) named(name string) *packages.Package {
	var longest *packages.Package
	for _, p := range f.all {
		if strings.HasPrefix(name, p.PkgPath+".") && (longest == nil || len(p.PkgPath) > len(longest.PkgPath)) {
			longest = p
		}
	}
	f.add(longest)
	return longest
}

// matching adds the packages that a pattern of functions names. One that names none, such as
// "*.Close", is about packages that have hooks anyway.
func (f *targetFinder) matching(pattern string) {
	clauses, _, _ := rule.Parse(pattern)
	for _, clause := range clauses {
		for _, s := range clause.Selectors {
			for _, p := range f.all {
				if clause.Detail != rule.Off && !s.Negated && namesPackage(s, p.PkgPath) {
					f.add(p)
				}
			}
		}
	}
}

// namesPackage reports whether a selector names the package with this path.
func namesPackage(s rule.Selector, path string) bool {
	switch s.Kind {
	case "pkg":
		return !strings.HasPrefix(s.Pattern, "...") && rule.MatchPackage(s.Pattern, path)
	case "func":
		slash := strings.LastIndexByte(s.Pattern, '/') + 1
		pkg, _, ok := strings.Cut(s.Pattern[slash:], ".")
		pkg = s.Pattern[:slash] + pkg
		return ok && strings.Trim(pkg, "*?(") != "" && rule.MatchFunc(pkg+".x", &rule.Func{Package: path, ImportPath: path, Name: "x"})
	}
	return false
}

// add notes a package that has a target.
func (f *targetFinder) add(p *packages.Package) {
	if p != nil {
		f.found[p.PkgPath] = p
	}
}
