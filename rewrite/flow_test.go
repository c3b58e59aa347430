package rewrite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// typeErrors returns what the type checker says of a file.
func typeErrors(t *testing.T, source string) (*ast.File, string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "a.go", source, 0)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	var errs []string
	config := types.Config{Error: func(err error) { errs = append(errs, err.Error()) }}
	config.Check("a", fset, []*ast.File{f}, nil)
	return f, strings.Join(errs, "\n")
}

// TestTerminates: the type checker reports a missing return exactly where terminates reports that a
// statement is none, but for panic.
func TestTerminates(t *testing.T) {
	for _, c := range []struct {
		body string
		want bool
	}{
		{"return", true},
		{"x++", false},
		{"{ return }", true},
		{"{ { } }", false},
		{"{ }", false},
		{"L: return", true},
		{"L: goto L", true},
		{"if b { return } else { return }", true},
		{"if b { return }", false},
		{"if b { return } else if b { return }", false},
		{"if b { return } else if b { return } else { return }", true},
		{"if b { x++ } else { return }", false},
		{"for { }", true},
		{"for x = 0; ; x++ { }", true},
		{"for b { }", false},
		{"for true { }", false},
		{"for range 3 { return }", false},
		{"for range 3 { }", false},
		{"for { break }", false},
		{"for { if b { break } }", false},
		{"for { for { break } }", true},
		{"for { for b { break } }", true},
		{"for { switch { case b: break } }", true},
		{"for { select { default: break } }", true},
		{"for { for range 3 { break } }", true},
		{"for { switch any(x).(type) { case int: break } }", true},
		{"for { func() { for { break } }() }", true},
		{"L: for { break L }", false},
		{"L: for { for { break L } }", false},
		{"L: for { switch { case b: break L } }", false},
		{"L: for { select { default: break L } }", false},
		{"L: for { for range 3 { break L } }", false},
		{"L: for { M: for { if b { break M }; if b { continue L } } }", true},
		{"L: for { continue L }", true},
		{"L: { goto L }", true},
		{"switch { }", false},
		{"switch { default: return }", true},
		{"switch x { case 1: return }", false},
		{"switch x { case 1: return; default: return }", true},
		{"switch x { case 1: default: return }", false},
		{"switch x { case 1: fallthrough; default: return }", true},
		{"switch x { case 1: x++; fallthrough; case 2: return; default: return }", true},
		{"switch x { case 1: if b { break }; fallthrough; default: return }", false},
		{"switch x { case 1: break; default: return }", false},
		{"switch x { case 1: if b { break }; return; default: return }", false},
		{"switch x { case 1: for { break }; return; default: return }", true},
		{"L: switch x { case 1: for { break L }; default: return }", false},
		{"L: switch x { case 1: for { }; default: return }", true},
		{"L: switch { default: for { if b { break L } } }", false},
		{"switch x { case 1: { return }; default: for { } }", true},
		{"switch any(x).(type) { case int: return }", false},
		{"switch any(x).(type) { case int: return; default: return }", true},
		{"switch y := any(x).(type) { case int: y++; break; default: return }", false},
		{"L: switch any(x).(type) { default: for { break L } }", false},
		{"select { }", true},
		{"select { case <-c: return }", true},
		{"select { case <-c: }", false},
		{"select { case <-c: return; default: }", false},
		{"select { case <-c: return; case c <- 1: for { } }", true},
		{"select { case <-c: if b { break }; return }", false},
		{"select { case <-c: for { break }; return }", true},
		{"L: select { case <-c: for { break L } }", false},
		{"L: select { case <-c: for { } }", true},
		{"func() { return }()", false},
		{"go func() { return }()", false},
		{"defer func() { return }()", false},
		{"x, b = 1, true", false},
		{"var _ = x", false},
		{"panic(x)", false},
		{"{ panic(x) }", false},
	} {
		// With no result a return has no value, with one it has.
		source := "package a\nfunc f(x int, b bool, c chan int) (r int) {\n" + c.body + "\n}\n"
		f, errs := typeErrors(t, source)
		body := f.Decls[0].(*ast.FuncDecl).Body
		if got := terminates(body.List[len(body.List)-1], ""); got != c.want {
			t.Errorf("%s: got %v", c.body, got)
		}
		if truth := !strings.Contains(errs, "missing return"); truth != c.want && !strings.Contains(c.body, "panic") {
			t.Errorf("%s: the type checker disagrees: %s", c.body, errs)
		}
	}
}

// TestRedeclares: where a name is declared anew, a value of another type in its place at the end of
// the body shows that to the type checker.
func TestRedeclares(t *testing.T) {
	for _, c := range []struct {
		body string
		want bool
	}{
		{"", false},
		{"p = 1", false},
		{"p := \"\"; _ = p", true},
		{"p, q := \"\", 1; _, _ = p, q", true},
		{"q, p := 1, \"\"; _, _ = p, q", true},
		{"q := 1; _ = q", false},
		{"r := \"\"; _ = r", true},
		{"t := \"\"; _ = t", true},
		{"_ = \"\"", false},
		{"var p string; _ = p", true},
		{"var q, p string; _, _ = p, q", true},
		{"var ( q int; p string ); _, _ = p, q", true},
		{"var q = p; _ = q", false},
		{"const p = \"\"", true},
		{"const ( q = 1; p = \"\" )", true},
		{"type p string", true},
		{"type q string", false},
		{"type ( q int; p string )", true},
		{"type q struct { p string }", false},
		{"{ p := \"\"; _ = p }", false},
		{"if p := \"\"; p == \"\" { }", false},
		{"for p := \"\"; p != \"\"; { }", false},
		{"for p := range 3 { _ = p }", false},
		{"for p, r := range \"ab\" { _, _ = p, r }", false},
		{"switch p := any(p).(type) { case string: _ = p }", false},
		{"switch p := \"\"; p { }", false},
		{"select { case p := <-c: _ = p; default: }", false},
		{"func(p string) { }(\"\")", false},
		{"f := func() { p := \"\"; _ = p }; f()", false},
		{"goto p; p: p = 1", false},
		{"L: for { break L }", false},
		{"goto L; L: p, q := \"\", 1; _, _ = p, q", true},
		{"goto M; M: N: var p string; _ = p; goto N", true},
		{"goto L; L: { p := \"\"; _ = p }", false},
	} {
		// With an exit that returns share, the body is in a block of its own: there what is
		// declared anew is no longer the parameter, whose type is another.
		source := func(open, close string) string {
			return "package a\nfunc (t T) f(p int, c chan string, _ bool) (r int) {" + open + "\n" + c.body +
				"\n_, _, _ = p + number, r + number, t.n + number\n" + close + "return\n}\ntype T struct{ n int }\nvar number int\n"
		}
		f, _ := typeErrors(t, source("", ""))
		_, errs := typeErrors(t, source("{", "}\n"))
		d := f.Decls[0].(*ast.FuncDecl)
		if got := redeclares(d.Body, d.Recv, d.Type.Params, d.Type.Results); got != c.want {
			t.Errorf("%s: got %v", c.body, got)
		}
		truth := strings.Contains(errs, "number") || strings.Contains(errs, "p (type) is not an expression") || strings.Contains(errs, "t.n undefined")
		if truth != c.want {
			t.Errorf("%s: the type checker disagrees: %s", c.body, errs)
		}
	}
}
