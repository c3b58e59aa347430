package testenv

import (
	"path/filepath"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// TestToolexec: the go command gets the wrapper's path from the flag, whatever is in it.
func TestToolexec(t *testing.T) {
	for _, dir := range []string{"/bin", "/a directory", "/it's a directory"} {
		flag := Toolexec(t, dir)[len("-toolexec="):]
		if got, want := words.GoFlags(flag), filepath.Join(dir, "ftrace-wrap"+Exe()); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q to the go command, not %q", flag, got, want)
		}
	}
}
