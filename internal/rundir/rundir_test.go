package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMake: the directory of an earlier run is replaced, any other that is not empty is left alone.
func TestMake(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := Make(dir, "flake", "-o"); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Fatalf("%d entries, %v, want the marker alone", len(entries), err)
		}
		if err := os.WriteFile(filepath.Join(dir, "recording"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Make(dir, "test", "-keep"); err == nil || !strings.Contains(err.Error(), "name another directory with -keep") {
		t.Errorf("over another verb's directory: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "recording")); err != nil {
		t.Error(err)
	}
	if err := Make(filepath.Join(dir, "recording"), "test", "-keep"); err == nil {
		t.Error("over a file: no error")
	}
}
