package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
)

// TestMisfits tries a release in whose package runtime a line is worded anew, and one is gone.
func TestMisfits(t *testing.T) {
	ctx := context.Background()
	known, err := find(ctx, "local")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := misfits(ctx, known, known); err != nil || len(found) > 0 {
		t.Fatalf("of %s nothing fits: %v, %v", known.version, found, err)
	}
	dir := t.TempDir()
	link := func(from, to string, but ...string) {
		if err := os.MkdirAll(to, 0o777); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
	entries:
		for _, e := range entries {
			for _, name := range but {
				if e.Name() == name {
					continue entries
				}
			}
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				if runtime.GOOS == "windows" {
					t.Skip(err)
				}
				t.Fatal(err)
			}
		}
	}
	link(known.root, dir, "src")
	link(filepath.Join(known.root, "src"), filepath.Join(dir, "src"), "runtime")
	link(filepath.Join(known.root, "src/runtime"), filepath.Join(dir, "src/runtime"), "proc.go")
	source, err := os.ReadFile(filepath.Join(known.root, "src/runtime/proc.go"))
	if err != nil {
		t.Fatal(err)
	}
	for old, now := range map[string]string{
		"\nfunc goexit1() {":   "\nfunc goexit1(code int) {",
		"\tmcall(park_m)\n":    "",
		"\nfunc dropg() {\n\t": "\nfunc dropg() {\n",
	} {
		if !bytes.Contains(source, []byte(old)) {
			t.Fatalf("proc.go has no %q", old)
		}
		source = bytes.Replace(source, []byte(old), []byte(now), 1)
	}
	if err := os.WriteFile(filepath.Join(dir, "src/runtime/proc.go"), source, 0o666); err != nil {
		t.Fatal(err)
	}
	later, err := find(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := misfits(ctx, later, known)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 {
		t.Fatalf("%d changes do not fit, not 2: %v", len(found), found)
	}
	var b strings.Builder
	for _, m := range found {
		if strings.Join(m.targets, " ") != strings.Join(inject.Targets, " ") {
			t.Errorf("%s: %v", m.Problem, m.targets)
		}
		m.write(&b)
	}
	for _, want := range []string{
		"\nruntime: proc.go has \"func goexit1() {\" 0 times, not once (linux/amd64, ",
		"\n  was:\n", ": func goexit1() {\n", "\n  is perhaps:\n", ": func goexit1(code int) {\n",
		"\nruntime: proc.go has \"mcall(park_m)\" 0 times, not once (", ": \tmcall(park_m)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
