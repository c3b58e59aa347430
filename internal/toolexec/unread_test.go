package toolexec

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestUnread: a package that does not parse here, and compiles, is of a later release. It has no
// hooks, and the user is told.
func TestUnread(t *testing.T) {
	accepts, err := exec.LookPath("true") // a compiler that accepts everything
	if err != nil {
		t.Skip("no command true")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.go")
	if err := os.WriteFile(source, []byte("package p\n\nfunc later {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TOOLEXEC_IMPORTPATH", "example.com/p")
	t.Setenv("FTRACE_PACKAGES", "all")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	status, err := compile(accepts, []string{"-p", "example.com/p", "-o", filepath.Join(dir, "p.a"), source})
	os.Stderr = stderr
	w.Close()
	told, _ := io.ReadAll(r)
	if status != 0 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	if want := "ftrace-wrap: package example.com/p has no hooks: " + source + ":3:"; !strings.HasPrefix(string(told), want) || !strings.Contains(string(told), "built by "+runtime.Version()+";") {
		t.Errorf("%q, want %q...", told, want)
	}
}
