package doubles

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A target is a function of the border, or a method of an interface.
type target struct {
	fn     *types.Func
	shown  string   // as messages name it
	iface  bool     // it is a method of an interface
	names  []string // of the functions that it stands for, as stack traces have them
	params []*column
}

// inputs returns how many arguments there are.
func (t *target) inputs() int {
	return len(t.params) - t.fn.Signature().Results().Len()
}

// A column is an argument or a result: a field of recorded calls.
type column struct {
	of     *types.Var
	typ    types.Type
	name   string // of the field
	result bool
	secret bool   // by its name
	any    string // why it is neither recorded nor compared; "": it is
}

// A standIn is a type that is made for an interface, to be used where there is no real value.
type standIn struct {
	name  string
	iface *types.Named
}

// border adds the functions that a user's name for a border stands for.
func (r *Run) border(name string) error {
	before := len(r.targets) + len(r.skipped)
	switch pkgs := r.named(name); {
	case len(pkgs) > 1:
		var paths []string
		for _, p := range pkgs {
			paths = append(paths, p.PkgPath)
		}
		return fmt.Errorf("-border %s: it may be %s", name, words.Or(paths))
	case len(pkgs) == 1:
		p := pkgs[0]
		if p == r.pkg {
			return fmt.Errorf("-border %s: it is the package under test itself: name what it calls", name)
		}
		if imports(p, r.pkg, map[*packages.Package]bool{}) {
			return imported(name, r.pkg)
		}
		if p.PkgPath == sqlPackage {
			r.sql = true
			return nil
		}
		r.borders[p.PkgPath] = true
		r.packageBorder(p)
		if len(r.targets)+len(r.skipped) == before {
			return fmt.Errorf("-border %s: the package exports no functions and no methods", name)
		}
		return nil
	}
	found := map[types.Object]*packages.Package{}
	method := map[types.Object]string{}
	var near []string
	for _, p := range r.seen {
		rest, ok := within(p, name)
		if !ok && p == r.pkg && !strings.Contains(name, "/") {
			rest, ok = name, true
		}
		if !ok {
			continue
		}
		typ, m, _ := strings.Cut(strings.NewReplacer("(*", "", ")", "").Replace(rest), ".")
		if o := p.Types.Scope().Lookup(typ); o != nil && (p == r.pkg || o.Exported()) {
			found[o], method[o] = p, m
		}
		for _, n := range p.Types.Scope().Names() {
			if p == r.pkg || ast.IsExported(n) {
				near = append(near, p.Name+"."+n)
			}
		}
	}
	switch len(found) {
	case 0:
		for _, p := range r.seen {
			near = append(near, p.PkgPath)
		}
		hint := "name a package that the tests use, or an interface, type or function by its import path and name"
		if n := words.Near(name[strings.LastIndexAny(name, "./")+1:], near); len(n) > 0 {
			hint = "did you mean " + words.Or(n) + "?"
		}
		return fmt.Errorf("-border %s: the tests of %s use nothing of this name: %s", name, r.pkg.PkgPath, hint)
	case 1:
	default:
		var paths []string
		for o := range found {
			paths = append(paths, o.Pkg().Path()+"."+o.Name())
		}
		slices.Sort(paths)
		return fmt.Errorf("-border %s: it may be %s", name, words.Or(paths))
	}
	for o, p := range found {
		if p.PkgPath == sqlPackage {
			return fmt.Errorf("-border %s: its methods give rows to variables: name the package, %s", name, sqlPackage)
		}
		if p != r.pkg {
			if imports(p, r.pkg, map[*packages.Package]bool{}) {
				return imported(name, r.pkg)
			}
			r.borders[p.PkgPath] = true
		}
		if err := r.object(o, method[o]); err != nil {
			return fmt.Errorf("-border %s: %v", name, err)
		}
	}
	if len(r.targets) == 0 && len(r.skipped) > 0 {
		return fmt.Errorf("-border %s: %s", name, r.skipped[0])
	}
	return nil
}

// within returns what of a name follows a package's path, or its last elements.
func within(p *packages.Package, name string) (rest string, ok bool) {
	for from := p.PkgPath; ; {
		if rest, ok := strings.CutPrefix(name, from+"."); ok {
			return rest, true
		}
		_, after, ok := strings.Cut(from, "/")
		if !ok {
			break
		}
		from = after
	}
	return strings.CutPrefix(name, p.Name+".")
}

// named returns the packages that the tests use and that a name may mean: a directory, an import
// path, or its last elements.
func (r *Run) named(name string) (list []*packages.Package) {
	dir, _ := filepath.Abs(name)
	for _, p := range r.seen {
		switch {
		case p.PkgPath == name, strings.HasPrefix(name, ".") && p.Dir == dir:
			return []*packages.Package{p}
		case strings.HasSuffix(p.PkgPath, "/"+name):
			list = append(list, p)
		}
	}
	return list
}

func imported(name string, by *packages.Package) error {
	return fmt.Errorf("-border %s: its package imports %s, whose tests so can't name it: name an interface that these know", name, by.PkgPath)
}

// imports reports whether a package needs another one.
func imports(p, other *packages.Package, seen map[*packages.Package]bool) bool {
	for _, i := range p.Imports {
		if i == other || !seen[i] && imports(i, other, seen) {
			return true
		}
		seen[i] = true
	}
	return false
}

// packageBorder adds the functions that a package exports, and the methods of its types.
func (r *Run) packageBorder(p *packages.Package) {
	for _, name := range p.Types.Scope().Names() {
		switch o := p.Types.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				r.function(o)
			}
		case *types.TypeName:
			if o.Exported() && !o.IsAlias() && !types.IsInterface(o.Type()) {
				r.methods(o, "")
			}
		}
	}
}

// object adds what a function, a type or a method of it stands for.
func (r *Run) object(o types.Object, method string) error {
	before := len(r.targets) + len(r.skipped)
	switch o := o.(type) {
	case *types.Func:
		r.function(o)
		return nil
	case *types.TypeName:
		named, ok := types.Unalias(o.Type()).(*types.Named)
		switch {
		case !ok:
		case types.IsInterface(named):
			if err := r.iface(named, method); err != nil {
				return err
			}
		default:
			r.methods(named.Obj(), method)
		}
		if len(r.targets)+len(r.skipped) == before {
			return fmt.Errorf("%s has no such methods", o.Name())
		}
		return nil
	}
	return fmt.Errorf("%s is neither an interface nor a type or a function", o.Name())
}

// methods adds the methods that a type declares: one, or those that are exported, or can be called
// in the package under test.
func (r *Run) methods(o *types.TypeName, only string) {
	r.handles[o] = r.handles[o] || only == ""
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	for m := range named.Methods() {
		if only == "" && (m.Exported() || m.Pkg() == r.pkg.Types) || only == m.Name() {
			r.function(m)
		}
	}
}

// function adds a function, or a method of a type that is no interface.
func (r *Run) function(fn *types.Func) {
	s := fn.Signature()
	generic := s.TypeParams() != nil || s.RecvTypeParams() != nil
	switch {
	case generic:
		r.skipped = append(r.skipped, fn.FullName()+" is generic")
		return
	case fn.Pkg() != r.pkg.Types && !fn.Exported():
		r.skipped = append(r.skipped, fn.FullName()+" is not exported")
		return
	}
	r.add(&target{fn: fn, shown: shortName(fn), names: []string{coreName(fn)}}, s.Recv())
}

// iface adds the methods of an interface, which are recorded in all types of the main module that
// implement it, and in those of its own package.
func (r *Run) iface(named *types.Named, only string) error {
	if named.TypeParams() != nil {
		return fmt.Errorf("%s is generic: name a type that implements it", named.Obj().Name())
	}
	iface := named.Underlying().(*types.Interface)
	si := &standIn{name: strings.ToLower(named.Obj().Name()[:1]) + named.Obj().Name()[1:] + "Double", iface: named}
	var implementations []*types.Named
	for _, p := range r.seen {
		if (p.Module == nil || !p.Module.Main) && p.Types != named.Obj().Pkg() {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			o, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || o.IsAlias() || types.IsInterface(o.Type()) || p == r.pkg && name == si.name {
				continue
			}
			if n, ok := o.Type().(*types.Named); ok && n.TypeParams() == nil && types.Implements(types.NewPointer(n), iface) {
				implementations = append(implementations, n)
			}
		}
	}
	if len(implementations) == 0 {
		return fmt.Errorf("no type of the main module that is used by the tests implements %s: name the package beyond it", named.Obj().Name())
	}
	for m := range iface.Methods() {
		if !m.Exported() && m.Pkg() != r.pkg.Types {
			return fmt.Errorf("%s has the method %s, which is not exported: name a type that implements it", named.Obj().Name(), m.Name())
		}
		if only != "" && m.Name() != only {
			continue
		}
		t := &target{fn: m, iface: true, shown: shortPackage(named.Obj().Pkg()) + named.Obj().Name() + "." + m.Name()}
		for _, n := range implementations {
			o, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, m.Pkg(), m.Name())
			fn, ok := o.(*types.Func)
			if !ok || types.IsInterface(fn.Signature().Recv().Type()) || fn.Signature().RecvTypeParams() != nil {
				continue
			}
			if name := coreName(fn); !slices.Contains(t.names, name) {
				t.names = append(t.names, name)
			}
		}
		t.names = append(t.names, r.pkg.PkgPath+"."+si.name+"."+m.Name())
		r.add(t, types.NewVar(0, nil, "", named))
	}
	if only == "" {
		r.ifaces = append(r.ifaces, si)
	}
	return nil
}

// coreName returns a function's name as stack traces have it.
func coreName(fn *types.Func) string { return fn.Pkg().Path() + "." + localName(fn) }

// localName returns a function's name without its package: F, T.F or (*T).F.
func localName(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	t := types.TypeString(recv.Type(), func(*types.Package) string { return "" })
	if strings.HasPrefix(t, "*") {
		t = "(" + t + ")"
	}
	return t + "." + fn.Name()
}

func shortPackage(p *types.Package) string { return p.Name() + "." }

// shortName returns a function's name as messages have it: store.Open, store.(*Store).Get.
func shortName(fn *types.Func) string { return shortPackage(fn.Pkg()) + localName(fn) }
