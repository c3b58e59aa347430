package examples

import (
	"os"
	"runtime"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestKubernetes decodes the manifests as Kubernetes' API does, and runs the commands in them.
func TestKubernetes(t *testing.T) {
	testenv.NeedAll(t)
	if runtime.GOOS != "linux" {
		t.Skip("the commands are those of Linux")
	}
	watch(t, "kubernetes", "../testdata/recordings/workers")
	bin := testenv.Build(t, "ftrace")
	testIn(t, "kubernetes", []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}, ".")
}
