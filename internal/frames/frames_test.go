package frames

import (
	"bytes"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

func TestRead(t *testing.T) {
	const plain = `# example.com/p
example.com/p.F STEXT size=40 args=0x8 locals=0x0 funcid=0x0 align=0x0 leaf
	0x0000 00000 (p.go:1)	RET
example.com/p.(*T[go.shape.struct { X int }]).M STEXT dupok size=40 args=0x8 locals=0x18 funcid=0x0 align=0x0
	0x0000 00000 (p.go:1)	MOVQ	AX, example.com/p.x+8(SP)
`
	const hooked = `# example.com/p
example.com/p.F STEXT size=80 args=0x8 locals=0x10 funcid=0x0 align=0x0
example.com/p.(*T[go.shape.struct { X int }]).M STEXT dupok size=90 args=0x8 locals=0x38 funcid=0x0 align=0x0
	0x0000 00000 (p.go:1)	MOVQ	AX, example.com/p.x+8(SP)
	0x0000 00000 (p.go:1)	MOVQ	AX, example.com/p.y.ptr+16(SP)
	0x0000 00000 (p.go:1)	MOVQ	AX, example.com/p.y.len-24(SP)
	0x0000 00000 (p.go:1)	MOVQ	AX, example.com/p..autotmp_7+24(SP)
example.com/p.helper STEXT size=90 args=0x8 locals=0x38 funcid=0x0 align=0x0
`
	before, err := Read(strings.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	after, err := Read(strings.NewReader(hooked))
	if err != nil {
		t.Fatal(err)
	}
	all := Compare(before, after, 0)
	if len(all) != 2 || all[0].Bytes() != 32 || all[1].Bytes() != 24 || all[1].Ratio() != 4 {
		t.Errorf("got %+v", all)
	}
	if got, want := all[0].Reason(), "2 of y, 1 of temporaries"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
	if n := len(Compare(before, after, 40)); n != 1 {
		t.Errorf("%d functions with a frame of 40 bytes, want 1", n)
	}
	if got := Percentile(all, 99, Growth.Bytes); got != 32 {
		t.Errorf("99th percentile %d, want 32", got)
	}
	if _, err := Read(strings.NewReader("p.F STEXT size=what\n")); err == nil {
		t.Error("no error for a function without a frame size")
	}
}

// TestFrames guards what hooks add to the frames of functions of the standard library. A release of
// the compiler does the same on every machine.
func TestFrames(t *testing.T) {
	testenv.NeedAll(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("the figures are those of amd64")
	}
	paths := []string{"archive/tar", "encoding/json", "encoding/xml", "go/parser", "go/printer", "text/template"}
	config := importConfig(t, paths)
	before, after := map[string]Frame{}, map[string]Frame{}
	for _, path := range paths {
		bp, err := build.Default.Import(path, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		var files []rewrite.File
		for _, name := range bp.GoFiles {
			name = filepath.Join(bp.Dir, name)
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, rewrite.File{Name: name, Source: source})
		}
		compile(t, before, path, config, files, nil)
		r, err := rewrite.Package(rewrite.Options{ImportPath: path, Symbol: path}, files)
		if err != nil {
			t.Fatal(err)
		}
		for i, source := range r.Files {
			if source != nil {
				files[i].Source = source
			}
		}
		files = append([]rewrite.File{{Name: "register.go", Source: r.Register}}, files...)
		compile(t, after, path, config, files, r.Profile)
	}
	all, framed := Compare(before, after, 0), Compare(before, after, 64)
	if len(framed) < 500 {
		t.Fatalf("only %d functions with frames were found in both", len(framed))
	}
	median, p99 := Percentile(all, 50, Growth.Bytes), Percentile(framed, 99, Growth.Ratio)
	t.Logf("%d functions: median growth %d bytes; of %d with a frame of 64 bytes the 99th percentile grew to %.2f times", len(all), median, len(framed), p99)
	for _, g := range all[:10] {
		t.Logf("%s: %d to %d bytes: %s", g.Name, g.Before.Size, g.After.Size, g.Reason())
	}
	if median > maxMedian {
		t.Errorf("the median function's frame grows by %d bytes, want at most %d", median, maxMedian)
	}
	if p99 > maxRatio {
		t.Errorf("one in a hundred frames grows to more than %.2f times, want at most %.2f", p99, maxRatio)
	}
}

const (
	maxMedian = 16
	maxRatio  = 2.3 // the goal is 2, see docs/performance.md
)

// importConfig writes a file that tells the compiler where the packages are that those imports.
func importConfig(t *testing.T, paths []string) string {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}"}, paths...)
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	file := filepath.Join(t.TempDir(), "importcfg")
	if err := os.WriteFile(file, out, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// compile compiles a package of the standard library and adds the frames of its functions.
func compile(t *testing.T, to map[string]Frame, path, config string, files []rewrite.File, profile []byte) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"tool", "compile", "-S", "-std", "-p", path, "-importcfg", config, "-o", filepath.Join(dir, "a.o")}
	if profile != nil {
		name := filepath.Join(dir, "profile")
		if err := os.WriteFile(name, profile, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-pgoprofile="+name, rewrite.InlineFlag)
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.Base(f.Name))
		if err := os.WriteFile(name, f.Source, 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("compiling %s: %v\n%.2000s", path, err, out)
	}
	found, err := Read(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range found {
		to[path+name] = f
	}
}
