package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// The inliner's budget of 80 has little room for hooks, least of all in a function into which
// others with hooks were inlined. But for functions that a profile calls hot it is 2000. So the
// compiler gets a profile in the form that "go tool preprofile" writes: a call graph, in which an
// edge makes its callee hot, and the line of the call in its caller (PGOInlinePrologue of
// cmd/compile/internal/inline).
//
// The two are looked up separately, by name. So there is an edge to each function that is to be
// inlined, and one from each line with a call, to and from nowhere: what is called there need not
// be known. Edges are ordered, and all that come before 99% of the weight is reached are hot. Ours
// come first and weigh nothing, so that a profile of the user's can follow with its meaning
// unchanged.
const (
	profileHeader = "GO PREPROFILE V1\n"
	nowhere       = "ftrace"
)

// A callSite is a line on which a function calls others, counted from the line on which the
// function begins.
type callSite struct {
	caller string
	line   int
}

// callsIn notes the lines of calls in body. It belongs to the function called name that begins at
// pos.
func (f *file) callsIn(name string, pos token.Pos, body ast.Node) {
	start := f.position(pos).Line
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			// The compiler's position of a call in a chain of several lines is one of these.
			for _, at := range []token.Pos{n.Pos(), n.Fun.End(), n.Lparen} {
				f.pkg.noteCall(callSite{name, f.position(at).Line - start})
			}
		}
		return true
	})
}

func (p *pkg) noteCall(site callSite) {
	if !p.noted[site] {
		p.noted[site] = true
		p.sites = append(p.sites, site)
	}
}

// profile returns the package's profile. It is nil if none is needed, or if the user's has another
// form.
func (p *pkg) profile() []byte {
	inlined := slices.ContainsFunc(p.funcs, func(fn Func) bool { return fn.How == Inline })
	if !inlined && len(p.sites) == 0 {
		return nil
	}
	var b strings.Builder
	symbol := escapedPath(p.opt.Symbol) + "."
	for _, fn := range p.funcs {
		if fn.How == Inline {
			fmt.Fprintf(&b, "%s\n%s%s\n0 0\n", nowhere, symbol, fn.Name)
		}
	}
	for _, site := range p.sites {
		fmt.Fprintf(&b, "%s%s\n%s\n%d 0\n", symbol, site.caller, nowhere, site.line)
	}
	return Profile(b.String(), p.opt.Profile)
}

// Profile puts edges before the user's profile, if there is one. It returns nil if that has another
// form.
func Profile(edges string, users []byte) []byte {
	rest, ok := strings.CutPrefix(string(users), profileHeader)
	switch {
	case !ok && len(users) > 0:
		return nil
	case rest == "":
		rest = fmt.Sprintf("%s\n%s\n0 1\n", nowhere, nowhere) // a profile that weighs nothing is ignored
	}
	return []byte(profileHeader + edges + rest)
}

// escapedPath returns the form of an import path in symbols, see cmd/internal/objabi.PathToPrefix.
func escapedPath(path string) string {
	slash := strings.LastIndexByte(path, '/')
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c <= ' ' || c == '.' && i > slash || c == '%' || c == '"' || c >= 0x7F:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
