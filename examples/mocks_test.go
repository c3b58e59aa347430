package examples

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestMocks runs the tests of the shop and the examples of package mock with hooks. Without, they are
// skipped.
func TestMocks(t *testing.T) {
	testenv.NeedAll(t)
	wrap := filepath.Join(testenv.Build(t, "ftrace-wrap"), "ftrace-wrap"+testenv.Exe())
	cmd := exec.Command(wrap, "go", "test", "-count=1", "-v", "-run", "^Test", "./shop", "../mock")
	cmd.Env = testenv.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") || strings.Count(string(out), "\nok ") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}
