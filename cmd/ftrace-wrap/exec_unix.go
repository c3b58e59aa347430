//go:build unix

package main

import (
	"os"
	"syscall"
)

// execTool becomes the tool: nothing is to be done after it.
func execTool(tool string, args []string) int {
	err := syscall.Exec(tool, append([]string{tool}, args...), os.Environ())
	return fail(&os.PathError{Op: "exec", Path: tool, Err: err})
}
