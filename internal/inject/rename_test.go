package inject

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRenamed(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"names of package level",
			"// Package p.\npackage p\n\nconst a, b = 1, a\n\nvar c = a\n\nfunc f() int { return c + b }\n",
			"package runtime\n\nconst x_a, x_b = 1, x_a\n\nvar x_c = x_a\n\nfunc x_f() int { return x_c + x_b }\n"},
		{"methods and fields keep their names",
			"package p\n\ntype T struct{ f, g int }\n\nfunc (t *T) f2() int { return t.f + t.m(t.g) }\n\nfunc (t T) m(int) int { return f() }\n\nfunc f() int { return T{f: g}.f }\n\nvar g int\n",
			"package runtime\n\ntype x_T struct{ f, g int }\n\nfunc (t *x_T) f2() int { return t.f + t.m(t.g) }\n\nfunc (t x_T) m(int) int { return x_f() }\n\nfunc x_f() int { return x_T{f: x_g}.f }\n\nvar x_g int\n"},
		{"local names hide those of package level",
			"package p\n\nvar a int\n\nfunc f(a int) int { return a }\n\nfunc g() int { a := a; return a }\n",
			"package runtime\n\nvar x_a int\n\nfunc x_f(a int) int { return a }\n\nfunc x_g() int { a := x_a; return a }\n"},
		{"keys of arrays and maps",
			"package p\n\nconst a = 0\n\nvar m = map[int]int{a: a}\n\nvar n = [...]string{a: \"a\"}\n",
			"package runtime\n\nconst x_a = 0\n\nvar x_m = map[int]int{x_a: x_a}\n\nvar x_n = [...]string{x_a: \"a\"}\n"},
		{"texts and comments stay",
			"package p\n\nfunc a() string { return \"a\" /* a */ } // a\n",
			"package runtime\n\nfunc x_a() string { return \"a\" /* a */ } // a\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := renamed([]byte(test.source), "runtime", "x_")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("renamed (-want +got):\n%s", diff)
			}
		})
	}
}

// The name of an embedded field is that of a type of package level, but selectors would keep
// theirs.
func TestRenamedEmbedded(t *testing.T) {
	for _, source := range []string{
		"package p\n\ntype T struct{}\n\ntype U struct{ T }\n",
		"package p\n\ntype T struct{}\n\ntype U struct{ *T }\n",
		"package p\n\ntype T[V any] struct{}\n\ntype U struct{ T[int] }\n",
	} {
		if got, err := renamed([]byte(source), "runtime", "x_"); err == nil {
			t.Errorf("renamed %q to %q, want an error", source, got)
		}
	}
}

// Guests import nothing but unsafe.
func TestGuests(t *testing.T) {
	for _, guest := range pure {
		tree, err := parser.ParseFile(token.NewFileSet(), guest.name+".go", guest.source, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range tree.Imports {
			if i.Path.Value != `"unsafe"` {
				t.Errorf("package %s imports %s: it can't become part of package runtime", guest.name, i.Path.Value)
			}
		}
	}
}
