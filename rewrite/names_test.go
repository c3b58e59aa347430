package rewrite

import (
	"fmt"
	"go/importer"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// namesSource is a program whose functions and literals print what the runtime calls them, and
// their lines.
const namesSource = `package main

import "runtime"

func here() {
	pc, _, _, _ := runtime.Caller(1)
	f := runtime.FuncForPC(pc)
	_, line := f.FileLine(f.Entry())
	println(line, f.Name())
}

const debug = false

var first = func() int {
	here()
	func() {
		here()
	}()
	return 1
}()

type T struct{}

func (T) Value() {
	here()
	defer func() {
		here()
	}()
}

func (*T) Pointer() {
	here()
	if debug || false {
		func() {
			here()
		}()
	} else {
		func() {
			here()
		}()
	}
	func() {
		here()
		x := func(f func()) {
			here()
			f()
		}
		x(func() {
			here()
		})
	}()
}

type G[A any] struct{ a A }

func (g *G[A]) Generic() {
	here()
	func() {
		here()
	}()
}

func Generic[A, B any](a A, b B) {
	here()
	func() {
		here()
	}()
}

func seq(yield func(int) bool) {
	here()
	_ = yield(1) && yield(2)
}

func Range() {
	here()
	func() {
		here()
	}()
	for range seq {
		func() {
			here()
			for range seq {
				func() {
					here()
				}()
			}
		}()
	}
	func() {
		here()
	}()
}

func init() {
	here()
	func() {
		here()
	}()
}

func init() {
	here()
}

func main() {
	here()
	T{}.Value()
	new(T).Pointer()
	new(G[int]).Generic()
	Generic(1, "")
	Range()
	second()
}

var second = func() {
	here()
}
`

// TestNames compares the names of functions with those that the compiler gives them.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "main.go")
	if err := os.WriteFile(name, []byte(namesSource), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-gcflags=-l", name)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := Package(Options{ImportPath: "main", Symbol: "main"}, []File{{name, []byte(namesSource)}})
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, fn := range r.Funcs {
		ours = append(ours, fmt.Sprintf("%d main.%s", fn.Line, fn.Name))
	}
	said := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		said[line] = true
		if !slices.Contains(ours, line) && !renumbered(line) {
			t.Errorf("the runtime says %q", line)
		}
	}
	for _, line := range ours {
		if !said[line] && !strings.HasSuffix(line, "main.here") && !renumbered(line) {
			t.Errorf("we say %q", line)
		}
	}
}

// TestOddBytes rewrites sources that no archive can hold.
func TestOddBytes(t *testing.T) {
	const plain = "package p\n\n//go:nosplit\n\nfunc f() int { return 1 }\n\nfunc g(int) string {\n\tprintln(1)\n\treturn `a\nb`\n}\n\nfunc h() {\n\tdefer g(1)\n} // end\n"
	want := "f skipped g inline h deferred "
	for name, source := range map[string]string{
		"plain":           plain,
		"CRLF":            strings.ReplaceAll(plain, "\n", "\r\n"),
		"BOM":             "\uFEFF" + plain,
		"no last newline": strings.TrimSuffix(plain, "\n"),
		"no last comment": strings.TrimSuffix(plain, " // end\n"),
	} {
		t.Run(name, func(t *testing.T) {
			files := []File{{"/src/a.go", []byte(source)}}
			r, err := Package(Options{ImportPath: "p", Symbol: "p"}, files)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, fn := range r.Funcs {
				got += fn.Name + " " + string(fn.How) + " "
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if err := typeCheck(importer.Default(), "p", rewritten(files, r)[1:]); err == nil {
				t.Error("type-checks without the registering file")
			}
			out := rewritten(files, r)
			if err := typeCheck(importer.Default(), "p", out); err != nil {
				t.Errorf("%v in:\n%s", err, out[1])
			}
			text, _, _ := strings.Cut(string(out[1]), "\n//line ftrace-wrap/helpers.go:1") // what is behind is at no place of the file
			if n, m := strings.Count(source, "\n"), strings.Count(text, "\n"); n+1 != m {
				t.Errorf("%d lines became %d", n, m-1)
			}
		})
	}
}

// renumbered reports whether a line speaks of a literal in a function with loops over iterators,
// which each release numbers in another way; we number them as Go 1.26 does (doc.go, limits).
func renumbered(line string) bool {
	return strings.Contains(line, "main.Range") && !strings.HasPrefix(runtime.Version(), "go1.26")
}
