package selection

import (
	"os/exec"
	"strings"
	"testing"
)

// goOutput runs the go command of the toolchain under test.
func goOutput(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

func TestRuntimeDeps(t *testing.T) {
	deps, err := RuntimeDeps(goOutput(t, "env", "GOROOT"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(goOutput(t, "list", "-deps", "runtime")) {
		if !deps[path] {
			t.Errorf("%s is missing", path)
		}
	}
	for _, path := range runtimeSupport {
		if !deps[path] {
			t.Errorf("%s is missing", path)
		}
	}
	for _, path := range []string{
		"C", "sync", "sync/atomic", "internal/sync", "errors", "internal/poll", "syscall", "os", "fmt", "io", "time",
		"strings", "bytes", "strconv", "internal/reflectlite", "internal/godebug", "internal/oserror", "unique", "sort",
		"runtime/pprof", "runtime/debug", "runtime/trace", "runtime/metrics", "runtime/coverage",
	} {
		if deps[path] {
			t.Errorf("%s can be instrumented, and is taken for a dependency of runtime", path)
		}
	}
	if t.Failed() {
		t.Log(deps)
	}
}

// Packages that the tracer's neighbours need on other systems must be covered too.
func TestRuntimeDepsOfOtherPlatforms(t *testing.T) {
	deps, err := RuntimeDeps(goOutput(t, "env", "GOROOT"))
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{"windows/amd64", "darwin/arm64", "js/wasm", "plan9/386", "aix/ppc64"} {
		goos, goarch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "list", "-deps", "runtime")
		cmd.Env = append(cmd.Environ(), "GOOS="+goos, "GOARCH="+goarch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(string(out)) {
			if !deps[path] {
				t.Errorf("%s: %s is missing", platform, path)
			}
		}
	}
}

func TestRuntimeDepsWithoutGOROOT(t *testing.T) {
	if _, err := RuntimeDeps(t.TempDir()); err == nil {
		t.Error("no error for a GOROOT without runtime")
	}
}

func BenchmarkRuntimeDeps(b *testing.B) {
	root := goOutput(b, "env", "GOROOT")
	for b.Loop() {
		if _, err := RuntimeDeps(root); err != nil {
			b.Fatal(err)
		}
	}
}
