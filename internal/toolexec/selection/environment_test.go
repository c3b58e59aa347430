package selection

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// toolLog makes the test binary a toolexec program that appends to this file what
// each step finds out.
const toolLog = "SELECTION_TEST_LOG"

func TestMain(m *testing.M) {
	if name := os.Getenv(toolLog); name != "" {
		os.Exit(runTool(name, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func runTool(logName string, args []string) int {
	step := filepath.Base(args[0])
	if slices.Contains(args, "-V=full") {
		step += " -V"
	}
	env := FromOS("")
	log, err := os.OpenFile(logName, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return 2
	}
	fmt.Fprintf(log, "%s|%s|%s|%s\n", step, os.Getenv("TOOLEXEC_IMPORTPATH"), env.Dir, env.GOWORK)
	log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

// Every step must find the directory of the go command, by the name that the go
// command has for it.
func TestToolexec(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	toolexec, err := words.Toolexec(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"real", "real/sub", "link"} {
		t.Run(strings.ReplaceAll(dir, "/", "-"), func(t *testing.T) {
			root := tree(t, map[string]string{
				"real/go.mod":       "module example.com/app\ngo 1.25\n",
				"real/main.go":      "package main\nimport \"example.com/app/sub\"\nfunc main() { sub.F() }\n",
				"real/main_test.go": "package main\nimport \"testing\"\nfunc TestX(*testing.T) {}\n",
				"real/x_test.go":    "package main_test\nimport \"testing\"\nfunc TestY(*testing.T) {}\n",
				"real/sub/sub.go":   "package sub\nfunc F()\n",
				"real/sub/sub.s":    "TEXT ·F(SB),4,$0-0\n\tRET\n",
				"goenv":             "# comment\nGOWORK=off\n",
			})
			if err := os.Symlink(filepath.Join(root, "real"), filepath.Join(root, "link")); err != nil {
				if runtime.GOOS == "windows" {
					t.Skip(err) // it takes a privilege there
				}
				t.Fatal(err)
			}
			log := filepath.Join(root, "log")
			cmd := exec.Command("go", "test", "-count=1", "-vet=off", "-run=^$", toolexec, "example.com/app/...")
			cmd.Dir = filepath.Join(root, dir)
			cmd.Env = append(cmd.Environ(), toolLog+"="+log, "GOENV="+filepath.Join(root, "goenv"), "GOFLAGS=", "GOWORK=")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkToolLog(t, log, cmd.Dir)
		})
	}
}

func checkToolLog(t *testing.T, name, dir string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		step, path, got, work := fields[0], fields[1], fields[2], fields[3]
		if work != "off" {
			t.Errorf("%s %s: GOWORK is %q", step, path, work)
		}
		switch {
		case step == "compile" || strings.HasSuffix(step, " -V"):
			if got != dir {
				t.Errorf("%s %s: directory is %s, want %s", step, path, got, dir)
			}
		case step == "asm" && runtime.GOOS == "linux":
			if !sameDir(got, dir) {
				t.Errorf("%s %s: directory is %s, want %s", step, path, got, dir)
			}
		}
		seen[step+" "+path] = true
	}
	for _, step := range []string{
		"compile -V ", "compile example.com/app [example.com/app.test]",
		"compile example.com/app_test [example.com/app.test]", "compile example.com/app.test", "compile example.com/app/sub",
		"asm example.com/app/sub",
	} {
		if !seen[step] {
			t.Errorf("no step %q", step)
		}
	}
}

func TestFromOS(t *testing.T) {
	root := tree(t, map[string]string{"env": "GOWORK=/w/go.work\nGOFLAGS=-modfile=a.mod\n\n#GOPATH=/no\nGOMODCACHE=/c"})
	for _, name := range []string{"GOWORK", "GOFLAGS", "GOPATH", "GOMODCACHE", "GO111MODULE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", root)
	t.Setenv("GOENV", filepath.Join(root, "env"))
	t.Setenv("FTRACE_PACKAGES", "std")
	env := FromOS("/goroot")
	if env.GOWORK != "/w/go.work" || env.GOFLAGS != "-modfile=a.mod" || env.GOMODCACHE != "/c" || env.GOROOT != "/goroot" || env.Patterns != "std" {
		t.Errorf("from the file: %+v", env)
	}
	if runtime.GOOS == "linux" && env.GOPATH != filepath.Join(root, "go") {
		t.Errorf("GOPATH is %s", env.GOPATH)
	}
	t.Setenv("GOWORK", "off")
	if env := FromOS(""); env.GOWORK != "off" {
		t.Errorf("the environment doesn't override the file: %+v", env)
	}
	t.Setenv("GOWORK", "")
	t.Setenv("GOENV", "off")
	if env := FromOS(""); env.GOWORK != "" || env.GOMODCACHE != "" {
		t.Errorf("GOENV=off: %+v", env)
	}
}

func TestModFileFlag(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                 "",
		"-v -race":                         "",
		"-modfile=x.mod":                   "x.mod",
		"  -v\t--modfile=x.mod ":           "x.mod",
		"'-modfile=/a b/x.mod' -v":         "/a b/x.mod",
		`-modfile=a "-modfile=/c'd/x.mod"`: "/c'd/x.mod",
		"'-modfile=unterminated":           "unterminated",
		"-ldflags=-modfile=x":              "",
	} {
		env := Environment{GOFLAGS: flags}
		if got := env.modFile(); got != want {
			t.Errorf("%q: %q, want %q", flags, got, want)
		}
	}
}
