//go:build unix

package toolexec

import (
	"os"
	"syscall"
)

// Exec becomes the tool. It returns only if that fails.
func Exec(tool string, args []string) (status int, err error) {
	err = syscall.Exec(tool, append([]string{tool}, args...), os.Environ())
	return 0, &os.PathError{Op: "exec", Path: tool, Err: err}
}
