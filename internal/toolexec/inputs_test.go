package toolexec

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/store"
)

// keyStep is a directory with the files of a compile step, and its arguments.
type keyStep struct {
	t    *testing.T
	dir  string // with the tool in goroot/pkg/tool/x, and the package's source in src
	work string
	args []string
}

func newKeyStep(t *testing.T, dir, work string) *keyStep {
	s := &keyStep{t: t, dir: dir, work: filepath.Join(t.TempDir(), work)}
	t.Setenv("GOROOT", filepath.Join(dir, "goroot"))
	s.write(filepath.Join(dir, "goroot/VERSION"), "go1.x")
	s.write(s.tool(), "compiler")
	if err := os.Chtimes(s.tool(), time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	s.write(s.source(), "package p")
	s.write(s.in("_cgo_gotypes.go"), "package p // generated")
	s.write(s.in("symabis"), "def F ABI0")
	s.write(s.in("pgo"), "profile")
	s.write(s.in("q.a"), "!<arch>\nbuild id \"action/content\"\n")
	s.write(s.in("importcfg"), "# import config\nimportmap r=q\npackagefile q="+s.in("q.a")+"\n")
	s.write(filepath.Join(dir, "src/data"), "embedded")
	s.write(s.in("embedcfg"), fmt.Sprintf(`{"Patterns": {"data*": ["data"]}, "Files": {"data": %q}}`, filepath.Join(dir, "src/data")))
	s.args = []string{"-o", s.in("_pkg_.a"), "-trimpath", s.work + "=>", "-p", "p", "-complete", "-buildid", "a/a", "-c=4", "-symabis", s.in("symabis"),
		"-pgoprofile=" + s.in("pgo"), "-nolocalimports", "-importcfg", s.in("importcfg"), "-embedcfg", s.in("embedcfg"), "-pack", "-asmhdr", s.in("go_asm.h"),
		s.source(), s.in("_cgo_gotypes.go")}
	return s
}

func (s *keyStep) in(name string) string { return filepath.Join(s.work, name) }
func (s *keyStep) tool() string          { return filepath.Join(s.dir, "goroot/pkg/tool/x/compile") }
func (s *keyStep) source() string        { return filepath.Join(s.dir, "src/p.go") }

func (s *keyStep) write(name, content string) {
	s.t.Helper()
	if old, err := os.ReadFile(name); err == nil && string(old) == content {
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// set changes an argument.
func (s *keyStep) set(from, to string) {
	for i, arg := range s.args {
		if arg == from {
			s.args[i] = to
			return
		}
	}
	s.t.Fatalf("no argument %s", from)
}

func (s *keyStep) key() (store.Key, bool) {
	s.t.Helper()
	c, err := parseCompile(s.tool(), s.args)
	if err != nil {
		s.t.Fatal(err)
	}
	return c.inputsKey(c.files)
}

// TestInputsKey changes one input after the other. Each must give another key; but what is
// different in each build must not.
func TestInputsKey(t *testing.T) {
	dir := t.TempDir()
	first, ok := newKeyStep(t, dir, "b001").key()
	if !ok {
		t.Fatal("the step is not one for the store")
	}
	for _, test := range []struct {
		name   string
		change func(s *keyStep)
		same   bool
	}{
		{"nothing but the work directory", func(s *keyStep) {}, true},
		{"-buildid", func(s *keyStep) { s.set("a/a", "b/b") }, true},
		{"-c", func(s *keyStep) { s.set("-c=4", "-c=1") }, true},
		{"an end of the flags", func(s *keyStep) { s.args = slices.Insert(s.args, slices.Index(s.args, s.source()), "--") }, true},
		{"a dependency's action ID", func(s *keyStep) { s.write(s.in("q.a"), "!<arch>\nbuild id \"other/content\"\n") }, true},
		{"a variable of the wrapper", func(s *keyStep) { s.t.Setenv("FTRACE_PACKAGES", "all") }, true},
		{"a dependency", func(s *keyStep) { s.write(s.in("q.a"), "!<arch>\nbuild id \"action/other\"\n") }, false},
		{"an import", func(s *keyStep) { s.write(s.in("importcfg"), "packagefile q="+s.in("q.a")+"\n") }, false},
		{"a source", func(s *keyStep) { s.write(s.source(), "package p // other") }, false},
		{"a generated source", func(s *keyStep) { s.write(s.in("_cgo_gotypes.go"), "package p // other") }, false},
		{"a source's name", func(s *keyStep) {
			s.write(filepath.Join(s.dir, "src/o.go"), "package p")
			s.set(s.source(), filepath.Join(s.dir, "src/o.go"))
		}, false},
		{"one source less", func(s *keyStep) { s.args = s.args[:len(s.args)-1] }, false},
		{"-p", func(s *keyStep) { s.set("p", "main") }, false},
		{"-complete", func(s *keyStep) { s.set("-complete", "-N") }, false},
		{"-asmhdr", func(s *keyStep) { s.set("-asmhdr", "-o"); s.set(s.in("go_asm.h"), s.in("_pkg_.a")) }, false},
		{"-trimpath", func(s *keyStep) { s.set(s.work+"=>", filepath.Join(s.dir, "src")+"=>p;"+s.work+"=>") }, false},
		{"-symabis", func(s *keyStep) { s.write(s.in("symabis"), "ref F ABI0") }, false},
		{"-pgoprofile", func(s *keyStep) { s.write(s.in("pgo"), "other") }, false},
		{"an embedded file", func(s *keyStep) { s.write(filepath.Join(s.dir, "src/data"), "other") }, false},
		{"an embedded file's name", func(s *keyStep) {
			s.write(s.in("embedcfg"), fmt.Sprintf(`{"Patterns": {"data*": ["data"]}, "Files": {"datb": %q}}`, filepath.Join(s.dir, "src/data")))
		}, false},
		{"a pattern", func(s *keyStep) {
			s.write(s.in("embedcfg"), fmt.Sprintf(`{"Patterns": {"dat*": ["data"]}, "Files": {"data": %q}}`, filepath.Join(s.dir, "src/data")))
		}, false},
		{"GOAMD64", func(s *keyStep) { s.t.Setenv("GOAMD64", "v3") }, false},
		{"the compiler", func(s *keyStep) { s.write(s.tool(), "compiler 2") }, false},
		{"the release", func(s *keyStep) { s.write(filepath.Join(s.dir, "goroot/VERSION"), "go1.y") }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			step := newKeyStep(t, dir, "b002")
			test.change(step)
			if key, ok := step.key(); !ok || (key == first) != test.same {
				t.Errorf("known: %t, same key: %t, want %t", ok, key == first, test.same)
			}
		})
	}
}

// TestInputsUnknown: such steps are not for the store.
func TestInputsUnknown(t *testing.T) {
	dir := t.TempDir()
	for name, change := range map[string]func(s *keyStep){
		"a flag":                  func(s *keyStep) { s.set("-complete", "-new") },
		"a flag with a value":     func(s *keyStep) { s.set("-complete", "-linkobj=x.o") },
		"debugging":               func(s *keyStep) { s.set("-complete", "-d=ssa/check/on") },
		"debugging, environment":  func(s *keyStep) { s.t.Setenv("GOSSAFUNC", "main") },
		"no -importcfg":           func(s *keyStep) { s.set("-importcfg", "-symabis") },
		"a file that is not read": func(s *keyStep) { os.Remove(s.in("symabis")) },
		"an import without file":  func(s *keyStep) { os.Remove(s.in("q.a")) },
		"a work directory in it":  func(s *keyStep) { s.write(s.in("_cgo_gotypes.go"), "//line "+s.in("x.go")+":1\npackage p") },
		"a relative name":         func(s *keyStep) { s.set(s.source(), "p.go") },
	} {
		t.Run(name, func(t *testing.T) {
			step := newKeyStep(t, dir, "b001")
			change(step)
			if _, ok := step.key(); ok {
				t.Error("the step has a key")
			}
		})
	}
}

// TestCompileOnce: of steps that make the same at the same time, one runs the compiler, and the
// others have what it made.
func TestCompileOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the compiler is a shell script")
	}
	dir := t.TempDir()
	const compiler = `#!/bin/sh
echo compiled >>"$(dirname "$0")/log"
sleep 0.2
while test $# -gt 0; do
	case $1 in
	-o) out=$2 ;;
	-asmhdr) header=$2 ;;
	-buildid) id=$2 ;;
	esac
	shift
done
echo "build id \"$id\"" >"$out" && echo header >"$header"
`
	objects, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	steps := make([]*keyStep, 4)
	for i := range steps {
		steps[i] = newKeyStep(t, dir, fmt.Sprintf("b%03d", i))
	}
	steps[0].write(steps[0].tool(), compiler)
	if err := os.Chmod(steps[0].tool(), 0o777); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i, step := range steps {
		id := fmt.Sprintf("a%d/a%d", i, i)
		step.set("a/a", id)
		c, err := parseCompile(step.tool(), step.args)
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			if status, err := c.run(c.files, objects); status != 0 || err != nil {
				t.Errorf("exit status %d, %v", status, err)
			}
			if made, err := os.ReadFile(c.output); err != nil || string(made) != "build id \""+id+"\"\n" {
				t.Errorf("it made %q, %v", made, err)
			}
		})
	}
	group.Wait()
	log, err := os.ReadFile(filepath.Join(dir, "goroot/pkg/tool/x/log"))
	if err != nil || string(log) != "compiled\n" {
		t.Errorf("the compiler's log: %q, %v", log, err)
	}
}
