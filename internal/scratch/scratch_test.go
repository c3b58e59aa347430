package scratch

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestKilled: what a killed process has left is removed; what a living one has, or is young, or is
// something else, is not.
func TestKilled(t *testing.T) {
	if os.Getenv("SCRATCH_TEST") != "" {
		dir, _, err := New()
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, "data"), []byte("data"), 0o600)
		os.Stdout.WriteString(dir)
		os.Stdout.Close()
		io.Copy(io.Discard, os.Stdin)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("directories are not locked on Windows, and what is left stays")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	start := func() (dir string, stop func(kill bool)) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "SCRATCH_TEST=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), func(kill bool) {
			if kill {
				cmd.Process.Kill()
			}
			in.Close()
			cmd.Wait()
		}
	}
	killed, kill := start()
	living, end := start()
	defer end(false)
	other := filepath.Join(temp, "ftrace-other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	exists := func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	}
	kill(true)
	sweep(temp, time.Now().Add(-young))
	if !exists(killed) {
		t.Error("a young directory was removed")
	}
	sweep(temp, time.Now().Add(young))
	if exists(killed) || !exists(living) || !exists(filepath.Join(living, "data")) || !exists(other) {
		t.Errorf("that of the killed process is there: %v, of the living one: %v, another: %v", exists(killed), exists(living), exists(other))
	}
}

// TestNew: a directory is for its user alone, and goes with what is in it.
func TestNew(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir, remove, err := New()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove()
	if _, err := os.Stat(dir); err == nil {
		t.Error("it is still there")
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "nothere"))
	if _, _, err := New(); runtime.GOOS != "windows" && err == nil {
		t.Error("there is a directory in one that is not there")
	}
}
