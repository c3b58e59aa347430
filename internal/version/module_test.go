package version_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// released is this module as a version of it would be in a proxy.
var released = module.Version{Path: "github.com/ftrace-wrap/ftrace-wrap", Version: "v0.0.1"}

// proxy returns the URL of a module proxy that has this module and no other.
func proxy(t *testing.T) string {
	t.Helper()
	root := testenv.Root(t)
	dir := t.TempDir()
	at := filepath.Join(dir, filepath.FromSlash(released.Path), "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(at, released.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := zip.CreateFromDir(f, released, root); err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		released.Version + ".mod":  string(gomod),
		released.Version + ".info": `{"Version": "` + released.Version + `"}`,
		"list":                     released.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(dir)
}

// goCommand runs the go command in a directory.
func goCommand(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(testenv.Environ(), "GOENV=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOSUMDB=off", "GOFLAGS=-mod=mod -modcacherw"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestImport: a module that imports the public packages needs no other module than this one:
// neither in its go.sum, nor to build, nor for go mod tidy, which looks at the tests of what is
// imported too.
func TestImport(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command on a module of its own")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/user\n\ngo 1.25.0\n",
		"main.go": `package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
	"github.com/ftrace-wrap/ftrace-wrap/loglevel/levelhttp"
	"github.com/ftrace-wrap/ftrace-wrap/probe"
	"github.com/ftrace-wrap/ftrace-wrap/protocol"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

var (
	_ loglevel.Level
	_ = levelhttp.Handler
	_ = probe.New0
	_ protocol.Args
)

func main() { println(ftrace.Active()) }
`,
		"main_test.go": `package main

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func TestMain(t *testing.T) { _ = mock.Hooked }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"GOPROXY=" + proxy(t), "GOMODCACHE=" + t.TempDir()}
	goCommand(t, dir, env, "get", released.Path+"@"+released.Version)
	goCommand(t, dir, env, "mod", "tidy")
	goCommand(t, dir, env, "vet", "./...")
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(sum)), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], released.Path+" ") || !strings.HasPrefix(lines[1], released.Path+" ") {
		t.Errorf("go.sum has more than this module:\n%s", sum)
	}
}

// TestInstall: go install takes the commands from a proxy, and they know their version. It refuses
// a module whose go.mod replaces or excludes others. The larger command is not compiled once more,
// for which all that it consists of would be: go install says what it would do.
func TestInstall(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(gomod.Replace)+len(gomod.Exclude) > 0 {
		t.Error("go.mod replaces or excludes modules: go install refuses that")
	}
	testenv.NeedAll(t)
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	// With -trimpath the go command finds what it compiled earlier, although the module cache is
	// another.
	env := []string{
		"GOPROXY=" + proxy(t) + ",file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")),
		"GOMODCACHE=" + t.TempDir(), "GOBIN=" + bin, "GOFLAGS=-modcacherw -trimpath",
	}
	goCommand(t, bin, env, "install", released.Path+"/cmd/ftrace-wrap@"+released.Version)
	out, err := exec.Command(filepath.Join(bin, "ftrace-wrap"+testenv.Exe()), "version").Output()
	if want := "ftrace-wrap " + released.Version + "\n"; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("ftrace-wrap version: %v, %q, want %q first", err, out, want)
	}
	goCommand(t, bin, env, "install", "-n", released.Path+"/cmd/...@"+released.Version)
}
