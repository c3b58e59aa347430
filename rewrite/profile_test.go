package rewrite

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProfile checks the profile of a package, without and with one of the user's.
func TestProfile(t *testing.T) {
	source := []byte(`package p

type T struct{ n int }

func (t *T) Get() int { return t.n }

func Large(t *T) (n int) {
	for range 10 { println(t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get(), t.Get()) }
	f := func() int {
		return t.
			Get()
	}
	return f()
}
`)
	const ours = `GO PREPROFILE V1
ftrace
example.com/a.b/c%2ed.(*T).Get
0 0
ftrace
example.com/a.b/c%2ed.Large.func1
0 0
example.com/a.b/c%2ed.Large.func1
ftrace
1 0
example.com/a.b/c%2ed.Large.func1
ftrace
2 0
example.com/a.b/c%2ed.Large
ftrace
1 0
example.com/a.b/c%2ed.Large
ftrace
6 0
`
	for _, test := range []struct{ users, want string }{
		{"", ours + "ftrace\nftrace\n0 1\n"},
		{"GO PREPROFILE V1\n", ours + "ftrace\nftrace\n0 1\n"},
		{"GO PREPROFILE V1\na.F\na.G\n3 70\n", ours + "a.F\na.G\n3 70\n"},
		{"\x1f\x8b...", ""}, // not of this form
	} {
		opt := Options{ImportPath: "example.com/a.b/c.d", Symbol: "example.com/a.b/c.d", Profile: []byte(test.users)}
		r, err := Package(opt, []File{{"/src/p.go", source}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(r.Profile)); diff != "" {
			t.Errorf("with %q (- want, + got):\n%s", test.users, diff)
		}
	}
}

// TestProfileOfCalls: a package that has nothing to be inlined calls what others have.
func TestProfileOfCalls(t *testing.T) {
	source := []byte("package p\n\nimport \"reflect\"\n\n//go:noinline\nfunc F(v reflect.Value) *reflect.MapIter {\n\treturn v.MapRange()\n}\n")
	r, err := Package(Options{ImportPath: "p", Symbol: "p"}, []File{{"/src/p.go", source}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "GO PREPROFILE V1\np.F\nftrace\n1 0\nftrace\nftrace\n0 1\n"
	if diff := cmp.Diff(want, string(r.Profile)); diff != "" {
		t.Error(diff)
	}
}
