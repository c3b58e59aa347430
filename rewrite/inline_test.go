package rewrite

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// verdict is what the compiler says about inlining a function.
type verdict struct {
	inlined bool
	cost    int // 0 if it does not say
	why     string
}

var verdictLine = regexp.MustCompile(`^([^:]+\.go):(\d+)(?::\d+)?: (can|cannot) inline (\S+?)(?: with cost (\d+) as|: (?:function too complex: cost (\d+) exceeds)?|$)(.*)`)

// generated matches functions that share their position with the one around them.
var generated = regexp.MustCompile(`\.func|\.deferwrap|\.gowrap|-range`)

// verdicts compiles packages with -m=2 and returns what the compiler says, by "file:line" of the
// functions' names, the file without its directory. It does so outside of any module and with an
// empty module cache: what lies in the cache can't be overlaid, and there lies the standard library
// of a toolchain that the go command has downloaded.
func verdicts(t *testing.T, args ...string) map[string]verdict {
	t.Helper()
	cmd := exec.Command("go", append([]string{"build", "-gcflags=-m=2"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOMODCACHE="+t.TempDir(), "GOTOOLCHAIN=local", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%.2000s", err, out)
	}
	found := map[string]verdict{}
	for line := range strings.Lines(string(out)) {
		m := verdictLine.FindStringSubmatch(line)
		if m == nil || generated.MatchString(m[4]) {
			continue
		}
		cost, _ := strconv.Atoi(m[5] + m[6])
		found[filepath.Base(m[1])+":"+m[2]] = verdict{m[3] == "can", cost, m[7]}
	}
	return found
}

// parsePackage makes a pkg of the files of a package of the standard library.
func parsePackage(t testing.TB, path string) (*pkg, []File) {
	t.Helper()
	bp, err := build.Default.Import(path, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var files []File
	for _, name := range append(bp.GoFiles, bp.CgoFiles...) {
		source, err := os.ReadFile(filepath.Join(bp.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{filepath.Join(bp.Dir, name), source})
	}
	return parseFiles(t, files), files
}

// parseFiles makes a pkg of files.
func parseFiles(t testing.TB, files []File) *pkg {
	t.Helper()
	p := &pkg{fset: token.NewFileSet()}
	for _, f := range files {
		tree, err := parser.ParseFile(p.fset, f.Name, f.Source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, newFile(p, f, tree))
	}
	p.declarations()
	return p
}

// TestInlineEstimate compares the estimate of which functions the compiler would inline with what
// it does.
func TestInlineEstimate(t *testing.T) {
	var total [2][2]int
	unsaid := 0 // functions of which the compiler says nothing
	for _, path := range []string{"strings", "bytes", "go/ast", "net/http", "encoding/json"} {
		var table [2][2]int // [compiler's][ours]
		said := verdicts(t, path)
		p, _ := parsePackage(t, path)
		for _, f := range p.files {
			for _, d := range f.tree.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || d.Body == nil {
					continue
				}
				at := p.fset.Position(d.Name.Pos())
				v, ok := said[fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)]
				if !ok && d.Name.Name != "_" {
					unsaid++
				}
				if !ok || strings.Contains(v.why, "go:noinline") {
					continue
				}
				ours := p.inlinable(d, nil)
				table[b2i(v.inlined)][b2i(ours)]++
				total[b2i(v.inlined)][b2i(ours)]++
				if os.Getenv("ESTIMATES") != "" && (v.cost != 0 && v.cost < 120 && v.cost != p.cost(d) || v.inlined != ours) {
					t.Logf("%s: %s: compiler %v, estimate %d", at, d.Name.Name, v, p.cost(d))
				}
			}
		}
		t.Logf("%-14s inlined: %4d right %4d wrong; not inlined: %4d right %4d wrong", path, table[1][1], table[1][0], table[0][0], table[0][1])
	}
	right, wrong := total[0][0]+total[1][1], total[0][1]+total[1][0]
	// If the compiler came to say it in other words, nothing would be compared, and nothing would
	// disagree.
	if right+wrong < 1000 || unsaid*20 > right+wrong {
		t.Fatalf("of %d functions the compiler reports whether it inlines them, of %d it does not", right+wrong, unsaid)
	}
	agreement := float64(right) / float64(right+wrong)
	t.Logf("agreement %.1f%%", 100*agreement)
	if agreement < 0.9 {
		t.Errorf("estimate agrees with the compiler on %.1f%% of the functions, want 90%%", 100*agreement)
	}
}

// TestCosts checks that the estimate is exact for what needs no types.
func TestCosts(t *testing.T) {
	file := File{filepath.Join(t.TempDir(), "costs.go"), []byte(`package costs

func parameter(n int, f func(int)) { f(n) }
func variable(n int) { var f func(rune); f(rune(n)) }
func assigned(n int) { var f func(int); f = func(i int) { n = i }; f(n) }
func literal(n int) int { f := func(i int) int { return i + n }; return f(n) }
func twice(n int) int { f := func(i int) int { return i + n }; if n > 0 { f = nil }; return f(n) }
func loop(list []int) (sum int) { for _, n := range list { sum += n }; return sum }
func branches(n int) int { switch { case n < 0: return -1; case n > 0: return 1 }; return 0 }
`)}
	if err := os.WriteFile(file.Name, file.Source, 0o666); err != nil {
		t.Fatal(err)
	}
	said := verdicts(t, file.Name)
	p := parseFiles(t, []File{file})
	for name, d := range p.decls {
		line := p.fset.Position(d.Pos()).Line
		if want := said[fmt.Sprintf("costs.go:%d", line)].cost; p.cost(d) != want {
			t.Errorf("%s: estimate %d, compiler %d", name, p.cost(d), want)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
