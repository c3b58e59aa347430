package rewrite

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Traces show the values of integer types by the names of the package's constants. Their values are
// worked out here: package types is given the declarations, but none of the imported packages, so a
// constant that depends on one of those has no value and is left out.

// constantsMax is the number of constants of a type that are named.
const constantsMax = 256

// constants returns the constants of the package's integer types, in the form of
// format.Package.Constants.
func (p *pkg) constants() string {
	wanted := p.enumerations()
	if len(wanted) == 0 {
		return ""
	}
	var files []*ast.File
	for _, f := range p.files {
		files = append(files, f.tree)
	}
	conf := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Importer: noImports{}, Error: func(error) {}}
	checked, _ := conf.Check(p.opt.ImportPath, p.fset, files, nil)
	if checked == nil {
		return ""
	}
	found := map[string][]*types.Const{}
	for _, name := range checked.Scope().Names() {
		c, ok := checked.Scope().Lookup(name).(*types.Const)
		if !ok || c.Val() == nil || c.Val().Kind() != constant.Int {
			continue
		}
		if t, ok := c.Type().(*types.Named); ok && t.Obj().Pkg() == checked && wanted[t.Obj().Name()] {
			found[t.Obj().Name()] = append(found[t.Obj().Name()], c)
		}
	}
	var lines []string
	for name, list := range found {
		slices.SortFunc(list, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
		seen := map[int64]bool{}
		var texts []string
		for _, c := range list {
			value, exact := constant.Int64Val(c.Val())
			if !exact {
				unsigned, _ := constant.Uint64Val(c.Val())
				value = int64(unsigned)
			}
			if !seen[value] && len(texts) < constantsMax {
				texts = append(texts, fmt.Sprintf("%d %s", value, c.Name()))
			}
			seen[value] = true
		}
		if len(texts) > 1 { // a single one is a limit or a default, not one of the kinds of something
			lines = append(lines, name+" "+strings.Join(texts, ",")+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }

// enumerations returns the names of the types that constants are declared with. A name that is also
// declared within a function is left out, since the running program could not tell the types apart.
func (p *pkg) enumerations() map[string]bool {
	wanted := map[string]bool{}
	for _, f := range p.files {
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, s := range d.Specs {
					if id, ok := s.(*ast.ValueSpec).Type.(*ast.Ident); ok && p.types[id.Name] != nil && !p.aliases[id.Name] {
						wanted[id.Name] = true
					}
				}
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for _, f := range p.files {
		for _, d := range f.tree.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				ast.Inspect(d, func(n ast.Node) bool {
					if spec, ok := n.(*ast.TypeSpec); ok {
						delete(wanted, spec.Name.Name)
					}
					return true
				})
			}
		}
	}
	return wanted
}
