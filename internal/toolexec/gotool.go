package toolexec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// errGoTool is that -toolexec is 'go tool ftrace-wrap'. The go command runs the compiler in the
// directories of packages, and go tool finds ftrace-wrap only in those of the module that names it.
// It runs the version's question in the user's directory, so here that can still be said.
var errGoTool = errors.New(`-toolexec='go tool ftrace-wrap' can't work: the go command runs it also in directories of other modules, where there is no such tool: ` +
	`run go tool ftrace-wrap go build (or test, run), or give -toolexec="$(go tool -n ftrace-wrap)"`)

// underGoTool reports whether "go tool ftrace-wrap" has started this process.
func underGoTool() bool {
	self, err := os.Executable()
	if err != nil || !strings.HasSuffix(filepath.Dir(self), "-d") { // go tool runs what is in the go command's cache
		return false
	}
	parent := os.Getppid()
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
	if err != nil {
		line, _ = exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(parent)).Output()
	}
	args := strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 || r == ' ' })
	return slices.Contains(args, "tool")
}
